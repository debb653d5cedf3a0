//! From the text of a scenario file to a tree that knows its lines.

use forebay_parameters::{Node, Problem, Table, Value, key, names_of};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Read the text of a scenario file.
pub(crate) fn parse(text: &str) -> Result<Node, Problem> {
    if text.trim().is_empty() {
        return Err(problem(
            None,
            "the file is empty; a scenario needs at least duration, links and flows",
        ));
    }
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().map(|span| lines.at(span.start));
        let (line, what) = match error.message().trim() {
            TOO_DEEP => {
                let line = place.or_else(|| line_too_deep(text, &lines));
                (line, "tables or lists are nested too deeply")
            }
            other => (place, other),
        };
        problem(line, format!("not valid TOML: {what}"))
    })?;
    let line = Some(1);
    Ok(Node { value: Value::Table(convert_table(table.get_ref(), &lines)?), line })
}

/// Message of the parser about a dotted key, alone or in a header, that has too many parts; it does
/// not say where that is.
const TOO_DEEP: &str = "recursion limit";

/// The first line of `text` whose key is too deep: the number of lines from the start with which
/// the parser complains of one, found by bisection.
fn line_too_deep(text: &str, lines: &Lines) -> Option<u32> {
    let complains = |count: usize| {
        let end = lines.0.get(count).copied().unwrap_or(text.len());
        let (_, errors) = DeTable::parse_recoverable(&text[..end]);
        errors.iter().any(|error| error.message().trim() == TOO_DEEP)
    };
    let (mut without, mut with) = (0, lines.0.len());
    while with - without > 1 {
        let middle = usize::midpoint(without, with);
        if complains(middle) {
            with = middle;
        } else {
            without = middle;
        }
    }
    u32::try_from(with).ok()
}

/// Tables inside tables that `--set` makes at most: as many as TOML files may have.
const MAX_DEPTH: usize = 80;

/// Path and value of `--set PATH=VALUE`.
pub(crate) struct Assignment<'a> {
    /// The path as it was given.
    path: &'a str,
    /// The names of the tables and lists on the way.
    pub(crate) above: Vec<&'a str>,
    /// The name that gets the value.
    pub(crate) last: &'a str,
    /// The value as it was given.
    pub(crate) text: &'a str,
}

impl<'a> Assignment<'a> {
    /// Read `PATH=VALUE`.
    pub(crate) fn read(assignment: &'a str) -> Result<Self, Problem> {
        let Some((path, text)) = assignment.split_once('=') else {
            let message = format!(
                "--set takes PATH=VALUE such as links.a.rate=\"10 Mbit/s\", not \"{assignment}\""
            );
            return Err(problem(None, message));
        };
        let (path, text) = (path.trim(), text.trim());
        let (above, last) = names_above(path)?;
        if above.len() > MAX_DEPTH {
            let message = format!(
                "--set: \"{path}\" has {} keys; allowed are up to {}",
                above.len() + 1,
                MAX_DEPTH + 1
            );
            return Err(problem(None, message));
        }
        Ok(Self { path, above, last, text })
    }

    /// That the way cannot go through the name numbered `at`.
    pub(crate) fn no_way(&self, at: usize) -> Problem {
        let walked: Vec<_> = self.above[..=at].iter().map(|name| key(name)).collect();
        Problem {
            path: walked.join("."),
            line: None,
            message: format!("--set {}: there is no table at this place", self.path),
        }
    }

    /// That the place above the last name can hold no values by names.
    pub(crate) fn no_place(&self) -> Problem {
        let Self { path, last, .. } = self;
        problem(None, format!("--set {path}: the place above \"{last}\" is not a table"))
    }
}

/// The names of a path: all above the last, and that.
pub(crate) fn names_above(path: &str) -> Result<(Vec<&str>, &str), Problem> {
    names_of(path).and_then(|mut names| names.pop().map(|last| (names, last))).ok_or_else(|| {
        let message = format!(
            "--set: \"{path}\" is not a key path like links.a.rate; a name with a dot is in quotes"
        );
        problem(None, message)
    })
}

/// Apply `PATH=VALUE` to the tree. The value is read as TOML, or as a text if that fails, so that
/// `--set links.a.rate="10 Mbit/s"` needs no quotes inside quotes.
pub(crate) fn set(root: &mut Node, assignment: &str) -> Result<(), Problem> {
    let assignment = Assignment::read(assignment)?;
    let mut node = root;
    for (at, name) in assignment.above.iter().enumerate() {
        node = step(node, name).ok_or_else(|| assignment.no_way(at))?;
    }
    let (last, value) = (assignment.last, Node::new(value_of(assignment.text)));
    let place = match &mut node.value {
        Value::Table(table) => {
            table.insert(last.to_owned(), value);
            return Ok(());
        }
        Value::List(items) => last.parse::<usize>().ok().and_then(|at| items.get_mut(at)),
        _ => None,
    };
    *place.ok_or_else(|| assignment.no_place())? = value;
    Ok(())
}

/// `problem` as the user should see it who gave `assignments`: a value that one of them set stands
/// on no line of the file.
pub(crate) fn blame(problem: Problem, assignments: &[String]) -> Problem {
    let inside = |path: &str| {
        let keys: Vec<_> = names_of(path)?.into_iter().map(key).collect();
        let rest = problem.path.strip_prefix(&keys.join("."))?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then_some(())
    };
    let set = assignments
        .iter()
        .rev()
        .find(|assignment| assignment.split_once('=').and_then(|(path, _)| inside(path)).is_some());
    match set {
        Some(set) => Problem {
            line: None,
            message: format!("{} (from --set {set})", problem.message),
            ..problem
        },
        None => problem,
    }
}

/// One step down; a missing table is made, so that `--set` can add a mechanism. A word in the place
/// of a table (`queue = "droptail"`) gives way to a table.
fn step<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    match &mut node.value {
        Value::Table(table) => {
            let empty = || Node::new(Value::Table(Table::new()));
            let next = table.entry(key.to_owned()).or_insert_with(empty);
            if matches!(next.value, Value::Text(_)) {
                *next = empty();
            }
            Some(next)
        }
        Value::List(items) => items.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    }
}

/// The value that `text` gives a key: as TOML, or as a text if it is none.
pub(crate) fn value_of(text: &str) -> Value {
    let line = format!("value = {text}");
    let lines = Lines::of(&line);
    DeTable::parse(&line)
        .ok()
        .and_then(|table| convert_table(table.get_ref(), &lines).ok())
        .and_then(|mut table| table.remove("value").filter(|_| table.is_empty()))
        .map_or_else(|| Value::Text(text.to_owned()), |node| node.value)
}

pub(crate) fn problem(line: Option<u32>, message: impl Into<String>) -> Problem {
    Problem { path: String::new(), line, message: message.into() }
}

fn convert_table(table: &DeTable<'_>, lines: &Lines) -> Result<Table, Problem> {
    table
        .iter()
        .map(|(name, value)| {
            // A table's own span may begin at its first value: the key says where the user looks.
            let node = convert(value, lines.at(name.span().start), lines)
                .map_err(|problem| inside(&key(name.get_ref()), problem))?;
            Ok((name.get_ref().to_string(), node))
        })
        .collect()
}

/// A problem found below a key or in an entry of a list, with its path from there.
fn inside(key: &str, problem: Problem) -> Problem {
    let path = match problem.path.as_str() {
        "" => key.to_owned(),
        inner if inner.starts_with('[') => format!("{key}{inner}"),
        inner => format!("{key}.{inner}"),
    };
    Problem { path, ..problem }
}

fn convert(value: &Spanned<DeValue<'_>>, line: u32, lines: &Lines) -> Result<Node, Problem> {
    let refuse = |what: &str| problem(Some(line), what.to_owned());
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => Value::Integer(
            i64::from_str_radix(n.as_str(), n.radix())
                .map_err(|_| refuse("the whole number does not fit 64 bits"))?,
        ),
        DeValue::Float(x) => Value::Float(
            x.as_str().parse().map_err(|_| refuse(&format!("{} is not a number", x.as_str())))?,
        ),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(date) => {
            return Err(refuse(&format!(
                "read the date or time {date}; dates are not allowed in a scenario"
            )));
        }
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    convert(item, lines.at(item.span().start), lines)
                        .map_err(|problem| inside(&format!("[{index}]"), problem))
                })
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => Value::Table(convert_table(table, lines)?),
    };
    Ok(Node { value, line: Some(line) })
}

/// Offsets at which the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    fn at(&self, offset: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= offset)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get<'n>(node: &'n Node, path: &str) -> &'n Node {
        names_of(path).unwrap().into_iter().fold(node, |node, name| match &node.value {
            Value::Table(table) => &table[name],
            _ => panic!("no table above {name}"),
        })
    }

    /// Nodes know their lines, so that errors point at the right line of the user's file.
    #[test]
    fn nodes_know_their_lines() {
        let node = parse("a = 1\n\n[b]\nc = \"x\"\nd = [1,\n 2]\n").unwrap();
        assert_eq!(get(&node, "a").line, Some(1));
        assert_eq!(get(&node, "b").line, Some(3));
        assert_eq!(get(&node, "b.c").line, Some(4));
    }

    /// Assignments reach every place: `--set` can do what editing the file does.
    #[test]
    fn assignments_reach_every_place() {
        let mut node =
            parse("[links.a]\nrate = \"1 Mbit/s\"\nqueue = \"droptail\"\nx = [1, 2]").unwrap();
        set(&mut node, "links.a.rate=2 Mbit/s").unwrap();
        set(&mut node, "links.a.queue.red.weight = 0.5").unwrap();
        set(&mut node, "links.a.x.1=7").unwrap();
        assert_eq!(get(&node, "links.a.rate").value, Value::from("2 Mbit/s"));
        assert_eq!(get(&node, "links.a.queue.red.weight").value, Value::Float(0.5));
        assert!(set(&mut node, "nonsense").is_err());
        assert!(set(&mut node, ".a=1").is_err());
        assert!(set(&mut node, "links.a.rate.b=1").is_ok(), "a word gives way to a table");
        assert!(set(&mut node, "links.a.x.9=1").is_err());
    }

    /// Assignments reach names with dots, and an error in such a place names the assignment that
    /// set it.
    #[test]
    fn assignments_reach_names_with_dots() {
        let mut node = parse("[links.\"up.link 1\"]\nrate = \"1 Mbit/s\"").unwrap();
        let given = "links.'up.link 1'.rate=2 Mbit/s".to_owned();
        set(&mut node, &given).unwrap();
        assert_eq!(get(&node, "links.\"up.link 1\".rate").value, Value::from("2 Mbit/s"));
        let path = "links.\"up.link 1\".rate".to_owned();
        let wrong = Problem { path, ..problem(Some(2), "is wrong") };
        let blamed = blame(wrong, &[given]);
        assert_eq!(blamed.message, "is wrong (from --set links.'up.link 1'.rate=2 Mbit/s)");
        set(&mut node, "links.\"up.link 1\".\"a.b\"=1").unwrap();
        let refused = set(&mut node, "links.\"up.link 1\".\"a.b\".c.d=1").unwrap_err();
        assert_eq!(refused.path, "links.\"up.link 1\".\"a.b\".c");
        let unread = parse("[links.\"up.link 1\"]\nrate = 99999999999999999999").unwrap_err();
        assert_eq!(unread.path, "links.\"up.link 1\".rate");
    }
}
