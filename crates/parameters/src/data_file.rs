//! Data files that a scenario names.

use crate::{Node, Parameter, Value};

/// A data file with its contents: once a scenario is read, these stand in place of the name.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// Its name; none if the scenario itself has the contents.
    name: Option<String>,
    /// Its contents.
    pub text: String,
    /// True if it lies outside the folder of the scenario: then nothing of it is shown.
    is_outside: bool,
}

/// Fault in a line of a data file.
pub struct Fault {
    /// Sentence that quotes what stands there.
    quoting: String,
    /// Without that, if that is another sentence.
    plain: Option<String>,
}

impl Fault {
    /// A fault that quotes the file in the sentence `quoting`, and not in `plain`.
    pub fn quoting(quoting: impl Into<String>, plain: impl Into<String>) -> Self {
        Self { quoting: quoting.into(), plain: Some(plain.into()) }
    }
}

/// A fault whose sentence quotes nothing.
impl From<String> for Fault {
    fn from(sentence: String) -> Self {
        Self { quoting: sentence, plain: None }
    }
}

/// As that of a `String`.
impl From<&str> for Fault {
    fn from(sentence: &str) -> Self {
        Self::from(sentence.to_owned())
    }
}

impl DataFile {
    /// The key beside `file` and `text` of what was read from outside the folder of the scenario.
    pub const OUTSIDE: &str = "outside";

    /// Returns the message of a fault in line `line`, counted from 1. A file outside the folder of
    /// the scenario is not quoted: a scenario from elsewhere could name any, and messages are
    /// passed on.
    #[must_use]
    pub fn wrong(&self, line: usize, fault: impl Into<Fault>) -> String {
        let Fault { quoting, plain } = fault.into();
        let message = match plain {
            Some(plain) if self.is_outside => format!(
                "{plain} (what stands there is not shown: the file is outside the folder of the \
                 scenario)"
            ),
            _ => quoting,
        };
        match &self.name {
            Some(name) => format!("\"{name}\", line {line}: {message}"),
            None => format!("line {line} of the text: {message}"),
        }
    }

    /// The lines that are neither empty nor a comment, with their numbers from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(self.text.lines().map(str::trim));
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    }

    /// Returns the place among `known` of each column of the table with this `header`; the first
    /// `required` of them must be there.
    ///
    /// # Errors
    /// What is wrong, and which columns there can be.
    pub fn columns(header: &str, known: &[&str], required: usize) -> Result<Vec<usize>, Fault> {
        let mut found = Vec::new();
        for name in header.split(',').map(str::trim) {
            let place = known.iter().position(|column| *column == name);
            let column = place.filter(|column| !found.contains(column)).ok_or_else(|| {
                let names = known.join(", ");
                let told = format!("is not a column, or there twice; columns are {names}");
                Fault::quoting(format!("\"{name}\" {told}"), format!("a name {told}"))
            })?;
            found.push(column);
        }
        match known[..required].iter().zip(0..).find(|(_, column)| !found.contains(column)) {
            Some((name, _)) => Err(format!("there is no column {name}").into()),
            None => Ok(found),
        }
    }
}

impl Parameter for DataFile {
    const KIND: &'static str =
        "file beside the scenario such as \"rates.csv\", or { text = \"...\" } with its contents";

    fn read(node: &Node) -> Result<Self, String> {
        let wrong = || format!("{} is not a {}", node.value.show(), Self::KIND);
        let Value::Table(table) = &node.value else { return Err(wrong()) };
        let entry = |key: &str| match table.get(key).map(|node| &node.value) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let known = table.keys().all(|key| ["file", "text", Self::OUTSIDE].contains(&key.as_str()));
        let text = entry("text").filter(|_| known).ok_or_else(wrong)?;
        Ok(Self { name: entry("file"), text, is_outside: table.contains_key(Self::OUTSIDE) })
    }

    /// Shows the contents of the file, not its name: they make a scenario what it is.
    fn show(&self) -> String {
        format!("contents {}", &blake3::hash(self.text.as_bytes()).to_hex()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of a scenario depends on the contents of its files, and not on their names.
    #[test]
    fn contents_are_what_counts() {
        let of = |name: Option<&str>, text: &str| {
            let name = name.map(str::to_owned);
            DataFile { name, text: text.to_owned(), is_outside: false }.show()
        };
        assert_eq!(of(Some("a"), "1"), of(None, "1"));
        assert_ne!(of(None, "1"), of(None, "2"));
    }

    /// A file from outside the folder of the scenario is not quoted, so a scenario of others cannot
    /// have a file of this machine told to whom its messages are shown; a file beside it is quoted,
    /// so that its author finds the place.
    #[test]
    fn a_file_from_elsewhere_is_not_quoted() {
        let columns = |header: &str| DataFile::columns(header, &["time_s", "rate_bps"], 2);
        let of = |is_outside| DataFile { name: Some("a".into()), text: String::new(), is_outside };
        let told = |is_outside| of(is_outside).wrong(1, columns("root:x, y").unwrap_err());
        let expected = "is not a column, or there twice; columns are time_s, rate_bps";
        assert_eq!(told(false), format!("\"a\", line 1: \"root:x\" {expected}"));
        assert!(told(true).starts_with(&format!("\"a\", line 1: a name {expected} (")));
        assert!(!told(true).contains("root"), "{}", told(true));
        assert_eq!(of(true).wrong(2, "no rows"), "\"a\", line 2: no rows");
    }
}
