//! Tags: names that groups of flows, links or hosts have in common.

use std::collections::{BTreeMap, BTreeSet};

use forebay_parameters::{Node, Parameters, Problem, Section, Value, did_you_mean};

use crate::plan::flows::FlowPlan;
use crate::plan::sections::HostParameters;
use crate::read::names::{check_names, fault};

/// The tags in the section of a group, a link or a host. What is no list of names is refused when
/// the section is read.
pub(crate) fn tags_of(section: Option<&Section<'_>>) -> Vec<String> {
    let Some(node) = section.and_then(|section| section.node("tags")) else { return Vec::new() };
    let Value::List(tags) = &node.value else { return Vec::new() };
    let text = |tag: &Node| match &tag.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    tags.iter().filter_map(text).collect()
}

/// The tags `given` under the key `tags` of `section`.
///
/// # Errors
/// If one is no name, or stands there twice.
pub(crate) fn check_tags(
    section: &Section<'_>,
    given: Option<&Vec<String>>,
) -> Result<Vec<String>, Problem> {
    let tags = given.cloned().unwrap_or_default();
    for (at, tag) in tags.iter().enumerate() {
        if let Some(fault) = fault(tag) {
            return Err(section.fail("tags", fault));
        }
        if tags[..at].contains(tag) {
            return Err(section.fail("tags", format!("\"{tag}\" is there twice")));
        }
    }
    Ok(tags)
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
