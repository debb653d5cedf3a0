//! Data files that a scenario names: read once, with the scenario, and kept in its tree.
//!
//! The engine opens no files: [`Files`], handed in with the text of the scenario, says how a file
//! beside it is read. From then on its contents are part of the scenario, in whose hash they count.

use forebay_parameters::{DataFile, Node, Problem, Table, Value, key};

use crate::read::names::SITES;

/// Gives a file that is named in a scenario, or why it cannot be read.
pub type Files<'f> = &'f dyn Fn(&str) -> Result<FileText, String>;

/// Content of a file.
pub struct FileText {
    /// Its text.
    pub text: String,
    /// True if it lies outside the folder of the scenario: messages do not quote such a data file.
    pub is_outside: bool,
}

/// The text of a file beside the scenario.
impl From<String> for FileText {
    fn from(text: String) -> Self {
        Self { text, is_outside: false }
    }
}

/// Keys of a link, or of its way back, that name files.
const KEYS: [&str; 2] = ["schedule", "trace"];

/// Reads no files: for scenarios that come without a folder.
pub(crate) fn no_files(_path: &str) -> Result<FileText, String> {
    Err("cannot be read: this scenario has no folder; a data file can be { text = \"...\" }"
        .to_owned())
}

/// Put the contents of the files that the scenario `root` names in place of their names.
pub(crate) fn load(root: &mut Node, files: Files<'_>) -> Result<(), Problem> {
    for (name, flow) in below(root, "flows").and_then(table).into_iter().flatten() {
        for (traffic, section) in named_by(flow) {
            load_keys(
                (&format!("flows.{}.traffic.{traffic}", key(name)), &["file"]),
                section,
                files,
            )?;
        }
    }
    for (name, link) in below(root, "links").and_then(table).into_iter().flatten() {
        load_keys((&format!("links.{}", key(name)), &KEYS), link, files)?;
        if let Some(reverse) = below(link, "reverse") {
            load_keys((&format!("links.{}.reverse", key(name)), &KEYS), reverse, files)?;
        }
    }
    Ok(())
}

/// The sections of the traffic of `flow` that name files, each with its path: traffic as recorded,
/// and distributions of sizes.
fn named_by(flow: &mut Node) -> Vec<(String, &mut Node)> {
    let mut found = Vec::new();
    for (kind, section) in below(flow, "traffic").and_then(table).into_iter().flatten() {
        if kind == "trace" {
            found.push((kind.clone(), section));
        } else if let Some(cdf) = below(section, "sizes").and_then(|sizes| below(sizes, "cdf")) {
            found.push((format!("{kind}.sizes.cdf"), cdf));
        }
    }
    found
}

/// Have the files that `root` names, which was included, be found from the folder of the scenario:
/// `path` says how.
pub(crate) fn rebase(root: &mut Node, path: &dyn Fn(&str) -> String) {
    for flow in below(root, "flows").and_then(table).into_iter().flat_map(|it| it.values_mut()) {
        for (_, section) in named_by(flow) {
            rebase_keys(&["file"], section, path);
        }
    }
    for link in below(root, "links").and_then(table).into_iter().flat_map(|it| it.values_mut()) {
        rebase_keys(&KEYS, link, path);
        if let Some(reverse) = below(link, "reverse") {
            rebase_keys(&KEYS, reverse, path);
        }
    }
    match below(root, SITES).map(|sites| &mut sites.value) {
        Some(Value::List(groups)) => groups.iter_mut().for_each(|group| rebase(group, path)),
        Some(Value::Table(_)) => rebase(below(root, SITES).expect("it was found"), path),
        _ => {}
    }
}

fn rebase_keys(keys: &[&str], section: &mut Node, path: &dyn Fn(&str) -> String) {
    for key in keys {
        if let Some(Node { value: Value::Text(name), .. }) = below(section, key) {
            *name = path(name);
        }
    }
}

/// Load the files that `section`, which is at a path, names under some keys.
fn load_keys(
    (path, keys): (&str, &[&str]),
    section: &mut Node,
    files: Files<'_>,
) -> Result<(), Problem> {
    for key in keys {
        let Some(node) = below(section, key) else { continue };
        let Value::Text(name) = &node.value else { continue };
        let found = files(name).map_err(|message| Problem {
            path: format!("{path}.{key}"),
            line: node.line,
            message: format!("\"{name}\" {message}"),
        })?;
        let line = node.line;
        let entry = |value: Value| Node { value, line };
        let mut contents = Table::from([
            ("file".to_owned(), entry(Value::Text(name.clone()))),
            ("text".to_owned(), entry(Value::Text(found.text))),
        ]);
        if found.is_outside {
            contents.insert(DataFile::OUTSIDE.to_owned(), entry(Value::Bool(true)));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::parse::parse;
    use forebay_parameters::Parameter;

    const LINK: &str = "[links.a]\nschedule = \"rates.csv\"\n[links.a.reverse]\ntrace = \"up\"\n";

    /// Files of both directions are read once into the tree, and errors name their place.
    #[test]
    fn files_are_read_once_into_the_tree() {
        let mut root = parse(LINK).unwrap();
        load(&mut root, &|name| Ok(format!("what {name} holds").into())).unwrap();
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
        let text = "[flows.a.traffic]\ntransfers = { sizes = { cdf = { file = \"s.csv\" } } }\n\
                    [flows.b.traffic]\ntrace = { file = \"p.csv\" }\n";
        let named = |text: &str, name: &str| {
            let refuse = |file: &str| {
                if file == name { Err("no".to_owned()) } else { Ok(String::new().into()) }
            };
            load(&mut parse(text).unwrap(), &refuse).unwrap_err().path
        };
        assert_eq!(named(text, "s.csv"), "flows.a.traffic.transfers.sizes.cdf.file");
        assert_eq!(named(text, "p.csv"), "flows.b.traffic.trace.file");
    }
}
