//! The hosts between which flows are: nodes, or machines behind them that flows name.

use std::collections::{BTreeMap, BTreeSet};

use forebay_laws::{FlowGroups, NamedGroup, NamedHost};
use forebay_parameters::{Node, Parameters, Problem, Section, Value, did_you_mean, name_fault};

use crate::plan::flows::FlowPlan;
use crate::plan::node_names::NodeNames;
use crate::plan::sections::{FlowParameters, HostParameters};
use crate::plan::tags::{check_tags, tags_of};
use crate::plan::topology::Topology;
use crate::read::names::check_names;

/// The keys of a group that name its hosts, where its flows begin and end, and those of their
/// nodes.
const ENDS: [(&str, &str); 2] = [("host", "from"), ("to_host", "to")];

/// The groups of `flows` with their hosts, whose tags are in `hosts`, as laws may go by them. What
/// is no table of groups, or no name, is refused when flows and hosts are read.
pub(crate) fn groups_of(flows: Option<&Section<'_>>, hosts: Option<&Section<'_>>) -> FlowGroups {
    let group = |name: &str| {
        let section = flows.and_then(|flows| flows.section(name).ok().flatten());
        let text = |key: &str| match section.as_ref()?.node(key) {
            Some(node) if key.starts_with("from") || key == "to" => {
                NodeNames::of(node).map(|names| names.label())
            }
            Some(Node { value: Value::Text(text), .. }) => Some(text.clone()),
            _ => None,
        };
        let host = |(host, node): (&str, &str)| {
            let node = text(node).unwrap_or_default();
            let name = text(host).unwrap_or_else(|| node.clone());
            let own = hosts.and_then(|hosts| hosts.section(&name).ok().flatten());
            let mut tags = tags_of(own.as_ref());
            if name != node {
                tags.push(node);
            }
            NamedHost { name, tags }
        };
        NamedGroup { name: name.to_owned(), hosts: ENDS.map(host), tags: tags_of(section.as_ref()) }
    };
    FlowGroups::named(flows.into_iter().flat_map(Section::keys).map(group).collect())
}

impl FlowPlan {
    /// The hosts at which its flows begin and end, each with its node.
    pub(crate) fn hosts(&self) -> [(&str, &str); 2] {
        let FlowParameters { host, to_host, .. } = &self.parameters;
        let [from, to] = [&*self.labels[0], &*self.labels[1]];
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

/// Refuse tags of groups that are names of groups: who goes by a name means one of the two.
pub(crate) fn check_groups(flows: &[FlowPlan], section: &Section<'_>) -> Result<(), Problem> {
    let names: BTreeSet<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
    for flow in flows {
        if let Some(tag) = flow.tags.iter().find(|tag| names.contains(tag.as_str())) {
            let own = section.section(&flow.name)?.expect("it was read");
            let message = format!("\"{tag}\" is a group of flows; a tag has another name");
            return Err(own.fail("tags", message));
        }
    }
    Ok(())
}

/// The tags of the hosts of `flows`, by name.
pub(crate) struct HostTags(BTreeMap<String, Vec<String>>);

impl HostTags {
    /// The tags in the sections of hosts.
    ///
    /// # Errors
    /// If no flow of `flows` begins or ends at a host that has a section, or tags are no names, or
    /// names of hosts or nodes.
    pub(crate) fn read(root: &Section<'_>, flows: &[FlowPlan]) -> Result<Self, Problem> {
        let mut found = BTreeMap::new();
        let Some(section) = root.section("hosts")? else { return Ok(Self(found)) };
        check_names(&section)?;
        let ends = || flows.iter().flat_map(FlowPlan::hosts);
        let hosts: BTreeSet<&str> = ends().map(|(host, _)| host).collect();
        let nodes: BTreeSet<&str> = ends().map(|(_, node)| node).collect();
        for name in section.keys() {
            let inner = section.section(name)?.expect("the key is present");
            if !hosts.contains(name) {
                let hint = did_you_mean(name, hosts.iter().copied());
                let message = format!("no flow begins or ends at a host \"{name}\"{hint}");
                return Err(inner.fail("", message));
            }
            let HostParameters { tags } = HostParameters::read(&inner)?;
            let tags = check_tags(&inner, tags.as_ref())?;
            let is_name = |tag: &str| hosts.contains(tag) || nodes.contains(tag);
            if let Some(tag) = tags.iter().find(|tag| is_name(tag)) {
                let message = format!("\"{tag}\" is a host or a node; a tag has another name");
                return Err(inner.fail("tags", message));
            }
            found.insert(name.to_owned(), tags);
        }
        Ok(Self(found))
    }

    /// The tags of `host`.
    pub(crate) fn of(&self, host: &str) -> &[String] {
        self.0.get(host).map_or(&[], Vec::as_slice)
    }
}
