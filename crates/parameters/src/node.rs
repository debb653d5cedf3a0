//! The untyped tree of a scenario, and problems found in it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use strsim::osa_distance;

/// Keys and values of a table, in alphabetical order so that nothing depends on the file's order.
pub type Table = BTreeMap<String, Node>;

/// A value with the line that it was read from.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Line in the file, counted from 1; `None` if it came from elsewhere (`--set`, a default).
    pub line: Option<u32>,
}

impl Node {
    /// A value that came from no file.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self { value, line: None }
    }

    /// The node under `key`, if it is a table that has one.
    #[must_use]
    pub fn child(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(table) => table.get(key),
            _ => None,
        }
    }

    /// The node under `key`, to be changed, if it is a table that has one.
    #[must_use]
    pub fn child_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.value {
            Value::Table(table) => table.get_mut(key),
            _ => None,
        }
    }
}

/// A value that a scenario file can hold.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A text, among them all quantities with units.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Value {
    /// The value as a user would write it, shortened, for messages.
    #[must_use]
    pub fn show(&self) -> String {
        match self {
            Self::Text(text) if text.chars().count() > 60 => {
                let head: String = text.chars().take(60).collect();
                format!("\"{head}...\"")
            }
            Self::Text(text) => format!("\"{text}\""),
            Self::Integer(n) => n.to_string(),
            Self::Float(x) => x.to_string(),
            Self::Bool(b) => b.to_string(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl From<i32> for Value {
    fn from(n: i32) -> Self {
        Self::Integer(i64::from(n))
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

/// Something wrong in a scenario: where, and what is allowed there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Key path such as `links.bottleneck.rate`; empty for the file as a whole.
    pub path: String,
    /// Line in the file, if known.
    pub line: Option<u32>,
    /// The value that was read and those that are allowed.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", abridged(&self.path))?;
        }
        f.write_str(&abridged(&self.message))
    }
}

/// `text`, without its middle if it is too long to be read: a message may quote a whole file.
fn abridged(text: &str) -> Cow<'_, str> {
    const MAX_CHARS: usize = 800;
    let length = text.chars().count();
    if length <= MAX_CHARS {
        return Cow::Borrowed(text);
    }
    let head: String = text.chars().take(MAX_CHARS / 2).collect();
    let tail: String = text.chars().skip(length - MAX_CHARS / 2).collect();
    Cow::Owned(format!("{head} ... {tail}"))
}

impl std::error::Error for Problem {}

/// Maximum number of names that an unknown one is answered with.
const MAX_NEAR: usize = 5;
/// Number of characters of a name, from its start, that are compared: a word may be a whole file.
const MAX_COMPARED: usize = 64;

/// ` (did you mean "x" or "y"?)` with the up to five of `names` that `word` most likely meant, the
/// nearest first; empty if none is near enough.
#[must_use]
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(word, names);
    let quoted: Vec<String> = near.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" (did you mean {only}?)"),
        Some((last, others)) => format!(" (did you mean {} or {last}?)", others.join(", ")),
    }
}

fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let start = |text: &str| text.to_lowercase().chars().take(MAX_COMPARED).collect::<String>();
    let word = start(word);
    let allowed = (word.chars().count() / 3).max(1);
    let near = |name: &'a str| {
        let own = start(name);
        // A swap of neighbours is one slip.
        let distance = osa_distance(&word, &own);
        let part = word.len() >= 3 && own.contains(&word);
        (distance <= allowed || part).then_some((distance, name))
    };
    let mut near: Vec<(usize, &str)> = names.into_iter().filter_map(near).collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.dedup();
    near.into_iter().map(|(_, name)| name).take(MAX_NEAR).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An unknown name is answered with the nearest ones that are allowed, and with no others.
    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        let names = ["codel", "cobalt", "cake", "fq_codel", "fq_pie", "pie", "red", "wred", "gred"];
        let of = |word: &str| did_you_mean(word, names);
        // One letter is missing: one edit from "codel", more than a third of the word from others.
        assert_eq!(of("codl"), " (did you mean \"codel\"?)");
        // Part of a name, the shorter one first; capitals do not count.
        assert_eq!(of("Code"), " (did you mean \"codel\" or \"fq_codel\"?)");
        // "red" is one edit from "rde"; "wred" and "gred" are two, and one is allowed.
        assert_eq!(of("rde"), " (did you mean \"red\"?)");
        assert_eq!(of("token_bucket"), "");
        let many = ["aa1", "aa2", "aa3", "aa4", "aa5", "aa6"];
        let told = did_you_mean("aa0", many);
        assert_eq!(told.matches('"').count(), 2 * MAX_NEAR, "{told}");
        assert!(told.ends_with("\"aa4\" or \"aa5\"?)"), "{told}");
    }
}
