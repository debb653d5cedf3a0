//! Names that a scenario may give: they become names of files, of random streams and of rows.

/// The longest name, in bytes: with what is added to it, a file name of it fits every file system.
pub const MAX_NAME_BYTES: usize = 100;

/// Fault of `name`, if it has one.
#[must_use]
pub fn name_fault(name: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Names hold nothing that a path or a terminal reads: a scenario of a stranger cannot write
    /// outside the folder of results, or send commands to the terminal that shows its messages.
    #[test]
    fn names_hold_nothing_that_a_path_or_a_terminal_reads() {
        for good in ["core", "S1-S2", "a_b.reverse", "tcp[1]", "two words", "été", &"x".repeat(100)]
        {
            assert_eq!(name_fault(good), None, "{good}");
        }
        for bad in ["x/../../y", "a\\b", "", " a", "a ", "a\nb", "\u{1b}[2J", "a:b", "\0"] {
            assert!(name_fault(bad).is_some(), "{bad:?}");
        }
        assert!(name_fault(&"x".repeat(101)).is_some_and(|text| text.contains("101 bytes")));
    }
}
