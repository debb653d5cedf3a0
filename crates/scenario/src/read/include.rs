//! A scenario in several files: `include = ["common.toml"]`.
//!
//! The lines of all files are numbered through, those of a file after those of the files before it,
//! so that one number says where a value stands; [`Sources`] turns it back into a file and a line.

use forebay_parameters::{Node, Problem, Table, Value};

use crate::error::ScenarioError;
use crate::read::files::{Files, rebase};
use crate::read::parse::parse;

/// Files that include each other, the scenario itself counted, at most.
const MAX_DEPTH: usize = 8;
/// Files of a scenario, at most: so many times the largest has fewer lines than there are numbers.
const MAX_FILES: usize = 60;
/// Bytes of a file that is included, at most.
const MAX_FILE_BYTES: usize = 16_000_000;

/// The files that a scenario was read from.
pub(crate) struct Sources {
    /// Name of each, and how many lines stand before its first.
    files: Vec<(String, u32)>,
    lines: u32,
}

impl Sources {
    /// Those of a scenario in `text`, called `file`.
    pub(crate) fn of(text: &str, file: &str) -> Self {
        let mut sources = Self { files: Vec::new(), lines: 0 };
        sources.add(text, file.to_owned());
        sources
    }

    /// One more; how many lines stand before its first.
    fn add(&mut self, text: &str, file: String) -> u32 {
        let before = self.lines;
        self.files.push((file, before));
        let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
        self.lines = before.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        before
    }

    /// `problem` with the file that it is in, and the line there.
    pub(crate) fn locate(&self, problem: Problem) -> ScenarioError {
        let (file, line) = self.find(problem.line);
        ScenarioError { file: file.to_owned(), problem: Problem { line, ..problem } }
    }

    /// Place of the line `line` as messages give it.
    pub(crate) fn place(&self, line: Option<u32>) -> String {
        match self.find(line) {
            (_, None) => "--set".to_owned(),
            (file, Some(line)) if self.files.len() > 1 => format!("{file}, line {line}"),
            (_, Some(line)) => format!("line {line}"),
        }
    }

    fn find(&self, line: Option<u32>) -> (&str, Option<u32>) {
        let at = self.files.partition_point(|(_, before)| line.is_some_and(|line| line > *before));
        let (file, before) = &self.files[at.saturating_sub(1)];
        (file, line.map(|line| line - before))
    }
}

/// Put what the files hold that `root` includes, and those that these include, beside what it holds
/// itself. Each is read by `files`, by its path from the folder of the scenario.
pub(crate) fn include(
    root: &mut Node,
    sources: &mut Sources,
    files: Files<'_>,
) -> Result<(), Problem> {
    let Value::Table(table) = &mut root.value else { return Ok(()) };
    Reader { files, sources, open: Vec::new(), read: Vec::new() }.include(table, "")
}

struct Reader<'r> {
    files: Files<'r>,
    sources: &'r mut Sources,
    /// Paths of the files that are being read, each included by the one before it.
    open: Vec<String>,
    /// Paths of all that were begun.
    read: Vec<String>,
}

impl Reader<'_> {
    fn include(&mut self, table: &mut Table, folder: &str) -> Result<(), Problem> {
        let Some(node) = table.remove("include") else { return Ok(()) };
        for (name, line) in names(&node)? {
            let path = beside(folder, name);
            let fail = |message| Problem { path: "include".to_owned(), line, message };
            self.refuse(&path).map_err(fail)?;
            let found = (self.files)(&path);
            let text = found.map_err(|message| fail(format!("\"{name}\" {message}")))?.text;
            if text.len() > MAX_FILE_BYTES {
                return Err(fail(format!("\"{name}\" has more than {MAX_FILE_BYTES} bytes")));
            }
            let shown = beside(folder_of(&self.sources.files[0].0), &path);
            let before = self.sources.add(&text, shown);
            let mut inner = parse(&text).map_err(|problem| Problem {
                line: Some(before + problem.line.unwrap_or(1)),
                ..problem
            })?;
            shift(&mut inner, before);
            rebase(&mut inner, &|name| beside(folder_of(&path), name));
            let Value::Table(mut inner) = inner.value else { unreachable!("a file is a table") };
            self.open.push(path.clone());
            self.read.push(path.clone());
            self.include(&mut inner, folder_of(&path))?;
            self.open.pop();
            merge(table, inner, "", &mut |old| {
                let place = self.sources.place(old);
                format!("is also at {place}; files that are included add keys and change none")
            })?;
        }
        Ok(())
    }

    /// Refuse a file that must not be read, or not again.
    fn refuse(&self, path: &str) -> Result<(), String> {
        let own = self.sources.files[0].0.rsplit(['/', '\\']).next().unwrap_or("");
        if path == own || self.open.iter().any(|open| open == path) {
            let way = [&[own.to_owned()], &self.open[..], &[path.to_owned()]].concat();
            return Err(format!("goes round in a circle: {}", way.join(" -> ")));
        }
        if self.read.iter().any(|read| read == path) {
            return Err(format!("\"{path}\" is included twice; once is enough"));
        }
        if self.open.len() + 1 >= MAX_DEPTH {
            return Err(format!(
                "\"{path}\" is included by a file that is included, and so on; allowed are \
                 {MAX_DEPTH} files in a chain"
            ));
        }
        if self.read.len() + 1 >= MAX_FILES {
            return Err(format!("\"{path}\" is one file too many; allowed are {MAX_FILES}"));
        }
        Ok(())
    }
}

/// The files that the key `include` names, with their lines.
fn names<'n>(node: &'n Node) -> Result<Vec<(&'n str, Option<u32>)>, Problem> {
    let wrong = |node: &Node| Problem {
        path: "include".to_owned(),
        line: node.line,
        message: format!(
            "{} is not a list of files beside this one, such as [\"common.toml\"]",
            node.value.show()
        ),
    };
    let Value::List(items) = &node.value else { return Err(wrong(node)) };
    let name = |item: &'n Node| match &item.value {
        Value::Text(name) if !name.is_empty() => Ok((name.as_str(), item.line)),
        _ => Err(wrong(item)),
    };
    items.iter().map(name).collect()
}

/// Put the keys of `from` into `table`, at `path`. A table in both is filled from both; for any
/// other key that is in both, `clash` says where the one in `table` is that stands on a given line.
pub(crate) fn merge(
    table: &mut Table,
    from: Table,
    path: &str,
    clash: &mut dyn FnMut(Option<u32>) -> String,
) -> Result<(), Problem> {
    for (key, node) in from {
        let Some(own) = table.get_mut(&key) else {
            table.insert(key, node);
            continue;
        };
        let path = if path.is_empty() { key } else { format!("{path}.{key}") };
        match (&mut own.value, node.value) {
            (Value::Table(own), Value::Table(given)) => merge(own, given, &path, clash)?,
            _ => return Err(Problem { path, line: node.line, message: clash(own.line) }),
        }
    }
    Ok(())
}

/// The path of the file `name` that a file in `folder` names, without steps that lead back.
fn beside(folder: &str, name: &str) -> String {
    if folder.is_empty() && !name.contains("./") {
        return name.to_owned();
    }
    let whole = if name.starts_with('/') || folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !["", ".."].contains(last)) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The folder of a file, empty if it is that of the scenario.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Number the lines of `node` from `before` on.
fn shift(node: &mut Node, before: u32) {
    node.line = node.line.map(|line| line + before);
    match &mut node.value {
        Value::Table(table) => table.values_mut().for_each(|node| shift(node, before)),
        Value::List(items) => items.iter_mut().for_each(|node| shift(node, before)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths are made without detours: the same file has one path, and different files have
    /// different ones.
    #[test]
    fn paths_are_made_without_detours() {
        for (folder, name, path) in [
            ("", "a.toml", "a.toml"),
            ("", "./a.toml", "a.toml"),
            ("b", "a.toml", "b/a.toml"),
            ("b/c", "../a.toml", "b/a.toml"),
            ("b", "../../a.toml", "../a.toml"),
            ("", "../a.toml", "../a.toml"),
            ("b", "/c/a.toml", "/c/a.toml"),
            ("/b", "a.toml", "/b/a.toml"),
        ] {
            assert_eq!(beside(folder, name), path, "{folder} {name}");
        }
    }

    /// A line of the joined text leads back to its file and to its line there: messages name both.
    #[test]
    fn lines_are_found_again() {
        let mut sources = Sources::of("a = 1\nb = 2\n", "top.toml");
        assert_eq!(sources.place(Some(2)), "line 2");
        assert_eq!(sources.add("c = 3", "other.toml".to_owned()), 3);
        assert_eq!(sources.add("d = 4\n", "third.toml".to_owned()), 4);
        assert_eq!(sources.place(Some(2)), "top.toml, line 2");
        assert_eq!(sources.place(Some(4)), "other.toml, line 1");
        assert_eq!(sources.place(Some(5)), "third.toml, line 1");
        assert_eq!(sources.find(None), ("top.toml", None));
    }
}
