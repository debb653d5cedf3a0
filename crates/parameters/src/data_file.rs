//! Data files that a scenario names.

use crate::{Node, Parameter, Value};

/// A data file with its contents: once a scenario is read, these stand in place of the name.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// Its name; none if the scenario itself has the contents.
    name: Option<String>,
    /// Its contents.
    pub text: String,
}

impl DataFile {
    /// What is wrong in line `line`, counted from 1.
    #[must_use]
    pub fn wrong(&self, line: usize, message: &str) -> String {
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

    /// Which of `known` each column of the table with this `header` is; the first `required` of
    /// them must be there.
    ///
    /// # Errors
    /// What is wrong, and which columns there can be.
    pub fn columns(header: &str, known: &[&str], required: usize) -> Result<Vec<usize>, String> {
        let mut found = Vec::new();
        for name in header.split(',').map(str::trim) {
            let place = known.iter().position(|column| *column == name);
            let column = place.filter(|column| !found.contains(column)).ok_or_else(|| {
                let names = known.join(", ");
                format!("\"{name}\" is not a column, or there twice; columns are {names}")
            })?;
            found.push(column);
        }
        match known[..required].iter().zip(0..).find(|(_, column)| !found.contains(column)) {
            Some((name, _)) => Err(format!("there is no column {name}")),
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
        let known = table.keys().all(|key| key == "file" || key == "text");
        let text = entry("text").filter(|_| known).ok_or_else(wrong)?;
        Ok(Self { name: entry("file"), text })
    }

    /// What a scenario is goes by what is in the file, not by its name.
    fn show(&self) -> String {
        format!("contents {}", &blake3::hash(self.text.as_bytes()).to_hex()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same scenario would have another hash where its file has another name, or another one
    /// the same hash.
    #[test]
    fn contents_are_what_counts() {
        let of = |name: Option<&str>, text: &str| {
            let name = name.map(str::to_owned);
            DataFile { name, text: text.to_owned() }.show()
        };
        assert_eq!(of(Some("a"), "1"), of(None, "1"));
        assert_ne!(of(None, "1"), of(None, "2"));
    }
}
