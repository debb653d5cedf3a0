//! Tags: names that groups of flows, links or hosts have in common.

use forebay_parameters::{Node, Problem, Section, Value, name_fault};

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
        if let Some(fault) = name_fault(tag) {
            return Err(section.fail("tags", fault));
        }
        if tags[..at].contains(tag) {
            return Err(section.fail("tags", format!("\"{tag}\" is there twice")));
        }
    }
    Ok(tags)
}
