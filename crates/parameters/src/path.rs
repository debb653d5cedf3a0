//! Key paths: names with dots between them; one with a dot or a space in it is in quotes, as in
//! TOML (`links."up.link".rate`).

use std::borrow::Cow;

/// `name` as a key path has it: in quotes, unless it is letters, digits, `_` and `-` alone.
#[must_use]
pub fn key(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') || name.chars().all(is_plain) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("\"{name}\""))
    }
}

/// The names of a key path. Quotes of either kind of TOML's enclose a name; spaces around a name
/// are no part of it. `None` if a name is empty, or a quote has no end or something behind it.
#[must_use]
pub fn names_of(path: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = path;
    loop {
        rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| "\"'".contains(*c));
        let (name, behind) = match quote {
            Some(quote) => rest[1..].split_once(quote)?,
            None => {
                let (name, behind) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
                (name.trim_end(), behind)
            }
        };
        if name.is_empty() {
            return None;
        }
        names.push(name);
        rest = match behind.trim_start() {
            "" => return Some(names),
            behind => behind.strip_prefix('.')?,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path gives back the names that it is made of, those with a dot too, which `--set` reaches
    /// so.
    #[test]
    fn a_path_gives_back_the_names_that_it_is_made_of() {
        for names in [
            vec!["links", "up.link", "rate"],
            vec!["flows", "two words", "tcp", "ecn"],
            vec!["links", "été", "conditioners", "1", "cir"],
            vec!["a[0]"],
        ] {
            let path = names.iter().map(|name| key(name)).collect::<Vec<_>>().join(".");
            assert_eq!(names_of(&path), Some(names), "{path}");
        }
        assert_eq!(names_of(" links . 'a.b' .two words"), Some(vec!["links", "a.b", "two words"]));
    }

    /// A text that is no path is none, and a slip of the pen sets no key of another name.
    #[test]
    fn what_is_no_path_is_none() {
        for path in ["", ".", "a.", ".a", "a..b", "\"a", "a.\"b.c", "\"a\"b", "a.\"\"", "a. .b"] {
            assert_eq!(names_of(path), None, "{path}");
        }
    }
}
