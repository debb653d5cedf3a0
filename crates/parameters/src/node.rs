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

/// The name among `names` that `word` most likely meant, if one is near enough.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    names
        .into_iter()
        .map(|name| (edits(&word.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, name)| {
            *distance <= allowed || (word.len() >= 3 && name.starts_with(word))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
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
