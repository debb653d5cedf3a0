//! The hosts between which flows are: nodes, or machines behind them that flows name.

use std::collections::BTreeMap;

use forebay_laws::FlowGroups;
use forebay_parameters::{Problem, Section, Value, name_fault};

use crate::plan::flows::FlowPlan;
use crate::plan::sections::FlowParameters;
use crate::plan::topology::Topology;

/// The keys of a group that name its hosts, where its flows begin and end, and those of their
/// nodes.
const ENDS: [(&str, &str); 2] = [("host", "from"), ("to_host", "to")];

/// The groups of `flows` with their hosts, which laws may go by. What is no table of groups, or no
/// name, is refused when flows are read.
pub(crate) fn groups_of(flows: Option<&Section<'_>>) -> FlowGroups {
    let group = |name: &str| {
        let section = flows.and_then(|flows| flows.section(name).ok().flatten());
        let text = |key: &str| match section.as_ref()?.node(key).map(|node| &node.value) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        (
            name.to_owned(),
            ENDS.map(|(host, node)| text(host).or_else(|| text(node)).unwrap_or_default()),
        )
    };
    FlowGroups::new(flows.into_iter().flat_map(Section::keys).map(group).collect())
}

impl FlowPlan {
    /// The hosts at which its flows begin and end, each with its node.
    pub(crate) fn hosts(&self) -> [(&str, &str); 2] {
        let FlowParameters { from, to, host, to_host, .. } = &self.parameters;
        [(host.as_deref().unwrap_or(from), from), (to_host.as_deref().unwrap_or(to), to)]
    }
}

/// The nodes of the hosts that groups have named so far.
#[derive(Default)]
pub(crate) struct HostNodes(BTreeMap<String, String>);

impl HostNodes {
    /// Add the hosts of `plan`, whose section is `section`.
    ///
    /// # Errors
    /// If one has a name that results cannot have, that a node has, or that a host of another node
    /// has.
    pub(crate) fn add(
        &mut self,
        plan: &FlowPlan,
        topology: &Topology,
        section: &Section<'_>,
    ) -> Result<(), Problem> {
        for ((key, _), (host, node)) in ENDS.into_iter().zip(plan.hosts()) {
            if host == node {
                continue;
            }
            if let Some(fault) = name_fault(host) {
                return Err(section.fail(key, format!("{host:?}: {fault}")));
            }
            if topology.require(host).is_ok() {
                let message = format!(
                    "\"{host}\" is a node of its own; a host behind \"{node}\" has another name"
                );
                return Err(section.fail(key, message));
            }
            let known = self.0.entry(host.to_owned()).or_insert_with(|| node.to_owned());
            if known != node {
                let message =
                    format!("\"{host}\" is behind \"{known}\" already; a host is behind one node");
                return Err(section.fail(key, message));
            }
        }
        Ok(())
    }
}

/// The hosts of `flows` by the key paths that can name them; with each, whether it is its node.
pub(crate) fn resolved(flows: &[FlowPlan]) -> Vec<(String, String, bool)> {
    let of_group = |flow: &FlowPlan| {
        let ends = ENDS.into_iter().zip(flow.hosts());
        let entry = |((key, _), (host, node)): ((&str, &str), (&str, &str))| {
            (format!("{}.{key}", flow.path), host.to_owned(), host == node)
        };
        ends.map(entry).collect::<Vec<_>>()
    };
    flows.iter().flat_map(of_group).collect()
}
