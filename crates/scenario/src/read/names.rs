//! Names that a scenario may give: they become names of files, of random streams and of rows.

use std::collections::BTreeMap;

use forebay_parameters::{Problem, Section};

/// Kinds of places, as names of series begin: `links.ab`.
pub(crate) const LINKS: &str = "links";
pub(crate) const FLOWS: &str = "flows";
pub(crate) const AGGREGATES: &str = "aggregates";

/// The section that lists sites.
pub(crate) const SITES: &str = "sites";

/// The longest name, in bytes: with what is added to it, a file name of it fits every file system.
const MAX_NAME_BYTES: usize = 100;

/// Refuse the keys of `section` that are no names.
pub(crate) fn check_names(section: &Section<'_>) -> Result<(), Problem> {
    section.keys().try_for_each(|name| match fault(name) {
        None => Ok(()),
        Some(fault) => {
            // The place is the section: a name that is refused is shown escaped, in the message.
            Err(problem_of(section, name, format!("{}: {fault}", shown(name))))
        }
    })
}

/// Fault of `name`, if it has one.
pub(crate) fn fault(name: &str) -> Option<String> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        let read = name.len();
        return Some(format!(
            "read a name of {read} bytes; a name has 1 to {MAX_NAME_BYTES} bytes"
        ));
    }
    let is_allowed = |c: &char| c.is_alphanumeric() || "._-[] ".contains(*c);
    let wrong = name.chars().find(|c| !is_allowed(c));
    if wrong.is_some() || name.trim() != name {
        let what = wrong.map_or("a space at its end".to_owned(), |c| format!("{c:?}"));
        return Some(format!(
            "read {what} in a name; a name has letters, digits, ._-[] and spaces between them"
        ));
    }
    None
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
            None => root.fail("rings", message),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Names hold nothing that a path or a terminal reads: a scenario of a stranger cannot write
    /// outside the folder of results, or send commands to the terminal that shows its messages.
    #[test]
    fn names_hold_nothing_that_a_path_or_a_terminal_reads() {
        for good in ["core", "S1-S2", "a_b.reverse", "tcp[1]", "two words", "été", &"x".repeat(100)]
        {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in ["x/../../y", "a\\b", "", " a", "a ", "a\nb", "\u{1b}[2J", "a:b", "\0"] {
            assert!(fault(bad).is_some(), "{bad:?}");
        }
        assert!(fault(&"x".repeat(101)).is_some_and(|text| text.contains("101 bytes")));
    }
}
