//! Data files that a scenario names: read once, with the scenario, and kept in its tree.
//!
//! The engine opens no files: [`Files`], handed in with the text of the scenario, says how a file
//! beside it is read. From then on its contents are part of the scenario, in whose hash they count.

use forebay_parameters::{Node, Parameter, Problem, Table, Value};

use crate::sites::SITES;

/// Gives the text of a file that is named in a scenario, or why it cannot be read.
pub type Files<'f> = &'f dyn Fn(&str) -> Result<String, String>;

/// Keys of a link, or of its way back, that name files.
const KEYS: [&str; 2] = ["schedule", "trace"];

/// Reads no files: for scenarios that come without a folder.
pub(crate) fn no_files(_path: &str) -> Result<String, String> {
    Err("cannot be read: this scenario has no folder; a data file can be { text = \"...\" }"
        .to_owned())
}

/// Put the contents of the files that the scenario `root` names in place of their names.
pub(crate) fn load(root: &mut Node, files: Files<'_>) -> Result<(), Problem> {
    let Some(links) = below(root, "links").and_then(table) else { return Ok(()) };
    for (name, link) in links {
        load_section(&format!("links.{name}"), link, files)?;
        if let Some(reverse) = below(link, "reverse") {
            load_section(&format!("links.{name}.reverse"), reverse, files)?;
        }
    }
    Ok(())
}

/// Have the files that `root` names, which was included, be found from the folder of the scenario:
/// `path` says how.
pub(crate) fn rebase(root: &mut Node, path: &dyn Fn(&str) -> String) {
    if let Some(links) = below(root, "links").and_then(table) {
        for link in links.values_mut() {
            rebase_section(link, path);
            if let Some(reverse) = below(link, "reverse") {
                rebase_section(reverse, path);
            }
        }
    }
    match below(root, SITES).map(|sites| &mut sites.value) {
        Some(Value::List(groups)) => groups.iter_mut().for_each(|group| rebase(group, path)),
        Some(Value::Table(_)) => rebase(below(root, SITES).expect("it was found"), path),
        _ => {}
    }
}

fn rebase_section(section: &mut Node, path: &dyn Fn(&str) -> String) {
    for key in KEYS {
        if let Some(Node { value: Value::Text(name), .. }) = below(section, key) {
            *name = path(name);
        }
    }
}

fn load_section(path: &str, section: &mut Node, files: Files<'_>) -> Result<(), Problem> {
    for key in KEYS {
        let Some(node) = below(section, key) else { continue };
        let Value::Text(name) = &node.value else { continue };
        let text = files(name).map_err(|message| Problem {
            path: format!("{path}.{key}"),
            line: node.line,
            message: format!("\"{name}\" {message}"),
        })?;
        let line = node.line;
        let entry = |value: &str| Node { value: Value::Text(value.to_owned()), line };
        let pairs = [("file", entry(name)), ("text", entry(&text))];
        let contents: Table =
            pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        node.value = Value::Table(contents);
    }
    Ok(())
}

fn table(node: &mut Node) -> Option<&mut Table> {
    match &mut node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn below<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    table(node)?.get_mut(key)
}

/// A data file with its contents.
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    /// Its name; none if the scenario itself has the contents.
    name: Option<String>,
    pub(crate) text: String,
}

impl DataFile {
    /// What is wrong in line `line`, counted from 1.
    pub(crate) fn wrong(&self, line: usize, message: &str) -> String {
        match &self.name {
            Some(name) => format!("\"{name}\", line {line}: {message}"),
            None => format!("line {line} of the text: {message}"),
        }
    }

    /// The lines that are neither empty nor a comment, with their numbers from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(self.text.lines().map(str::trim));
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
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
    use crate::parse::parse;

    const LINK: &str = "[links.a]\nschedule = \"rates.csv\"\n[links.a.reverse]\ntrace = \"up\"\n";

    /// Files of one direction would be read and not those of the other, or an error name the wrong
    /// place.
    #[test]
    fn files_are_read_once_into_the_tree() {
        let mut root = parse(LINK).unwrap();
        load(&mut root, &|name| Ok(format!("what {name} holds"))).unwrap();
        let link = below(below(&mut root, "links").unwrap(), "a").unwrap();
        let schedule = DataFile::read(below(link, "schedule").unwrap()).unwrap();
        assert_eq!(schedule.text, "what rates.csv holds");
        assert_eq!(schedule.wrong(3, "no"), "\"rates.csv\", line 3: no");
        let trace = DataFile::read(below(below(link, "reverse").unwrap(), "trace").unwrap());
        assert_eq!(trace.unwrap().text, "what up holds");
        let mut root = parse(LINK).unwrap();
        let problem = load(&mut root, &|_| Err("is not there".to_owned())).unwrap_err();
        assert_eq!((problem.path.as_str(), problem.line), ("links.a.schedule", Some(2)));
        assert_eq!(problem.message, "\"rates.csv\" is not there");
    }

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
