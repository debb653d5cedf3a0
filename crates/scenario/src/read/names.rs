//! Names that a scenario may give: they become names of files, of random streams and of rows.

use std::collections::BTreeMap;

use forebay_elements::subnetwork_keys;
use forebay_parameters::{MAX_NAME_BYTES, Problem, Section, name_fault};

/// Kinds of places, as names of series begin: `links.ab`.
pub(crate) const LINKS: &str = "links";
pub(crate) const FLOWS: &str = "flows";
pub(crate) const AGGREGATES: &str = "aggregates";

/// The section of switches whose ports share a memory.
pub(crate) const SWITCHES: &str = "switches";

/// The section that lists sites.
pub(crate) const SITES: &str = "sites";

/// Refuse the keys of `section` that are no names.
pub(crate) fn check_names(section: &Section<'_>) -> Result<(), Problem> {
    section.keys().try_for_each(|name| match name_fault(name) {
        None => Ok(()),
        Some(fault) => {
            // The place is the section: a name that is refused is shown escaped, in the message.
            Err(problem_of(section, name, format!("{}: {fault}", shown(name))))
        }
    })
}

/// The problem that `section` has with its key `name`, on the line of the key.
fn problem_of(section: &Section<'_>, name: &str, message: String) -> Problem {
    Problem { line: section.fail(name, "").line, ..section.fail("", message) }
}

/// `name` as a message shows it: with control characters escaped, and cut.
fn shown(name: &str) -> String {
    let short: String = name.chars().take(MAX_NAME_BYTES).collect();
    format!("{short:?}")
}

/// The first section of subnetworks that `root` has.
fn subnetwork(root: &Section<'_>) -> &'static str {
    let keys = subnetwork_keys(root.registry());
    keys.into_iter().find(|key| root.node(key).is_some()).unwrap_or_default()
}

/// Refuse names of `links` and `flows`, these with how many flows they are, that other rows have
/// too: the second direction of link `x` is `x.reverse`, and flow 1 of the group `x` is `x[1]`.
pub(crate) fn check_unique(
    root: &Section<'_>,
    mut links: Vec<&str>,
    flows: &[(&str, u32)],
) -> Result<(), Problem> {
    links.sort_unstable();
    if let Some(pair) = links.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("two directions of links are called {:?}; rename one", pair[0]);
        return Err(match root.section("links")? {
            Some(section) => problem_of(&section, pair[0], message),
            None => root.fail(subnetwork(root), message),
        });
    }
    let counts: BTreeMap<&str, u32> = flows.iter().copied().collect();
    for (flow, _) in flows {
        let member = flow.strip_suffix(']').and_then(|name| name.rsplit_once('['));
        let Some((group, Ok(number))) = member.map(|(group, n)| (group, n.parse::<u32>())) else {
            continue;
        };
        if counts.get(group).is_some_and(|count| number < *count) {
            let message = format!(
                "two flows are called {:?}: this group, and flow {number} of {group:?}; rename one",
                flow
            );
            let section = root.section("flows")?.expect("there are flows");
            return Err(problem_of(&section, flow, message));
        }
    }
    Ok(())
}
