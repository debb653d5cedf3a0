//! The untyped tree of a scenario, and problems found in it.

use std::borrow::Cow;
use std::collections::BTreeMap;

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
}

/// What a scenario file can hold.
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
    /// What was read and what is allowed.
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
    const MOST: usize = 800;
    let length = text.chars().count();
    if length <= MOST {
        return Cow::Borrowed(text);
    }
    let head: String = text.chars().take(MOST / 2).collect();
    let tail: String = text.chars().skip(length - MOST / 2).collect();
    Cow::Owned(format!("{head} ... {tail}"))
}

impl std::error::Error for Problem {}

/// The most names that an unknown one is answered with.
const MOST_NEAR: usize = 5;

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
    let allowed = (word.chars().count() / 3).max(1);
    let word = word.to_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (edits(&word, &name.to_lowercase()), name))
        .filter(|(distance, name)| {
            *distance <= allowed || (word.len() >= 3 && name.to_lowercase().contains(&word))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.dedup();
    near.into_iter().map(|(_, name)| name).take(MOST_NEAR).collect()
}

/// Edit distance that counts a swap of neighbours as one slip (optimal string alignment).
fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slip would be answered with something else than what was meant, or with a whole list.
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
        assert_eq!(told.matches('"').count(), 2 * MOST_NEAR, "{told}");
        assert!(told.ends_with("\"aa4\" or \"aa5\"?)"), "{told}");
    }
}
