//! Changes to the text of a scenario file: comments, order and layout stay as they are.

use forebay_parameters::{Problem, Value as Read};
use toml_edit::{Decor, DocumentMut, InlineTable, Item, Table, Value};

use crate::error::ScenarioError;
use crate::read::parse::{self, Assignment, problem};

/// The text of a scenario file without what stands at the key paths `removed`, and then with
/// `assignments` (`PATH=VALUE`, read as on the command line) made in it. All else of the text,
/// comments included, stays as it is. Only the syntax is checked: the result can be no scenario.
///
/// # Errors
/// If `text` is not valid TOML, an assignment is none, or a path leads nowhere; `file` is what the
/// text is called then.
pub fn edit(
    text: &str,
    file: &str,
    removed: &[String],
    assignments: &[String],
) -> Result<String, ScenarioError> {
    let fail = |problem: Problem| ScenarioError { file: file.to_owned(), problem };
    let mut document = text.parse::<DocumentMut>().map_err(|error| {
        let unread = || problem(None, format!("not valid TOML: {}", error.message().trim()));
        fail(parse::parse(text).err().unwrap_or_else(unread))
    })?;
    // Tables that are made below it then have headers of their own.
    document.as_table_mut().set_implicit(true);
    for path in removed {
        remove(document.as_item_mut(), path).map_err(fail)?;
    }
    for assignment in assignments {
        set(document.as_item_mut(), assignment).map_err(fail)?;
    }
    Ok(document.to_string())
}

fn set(root: &mut Item, assignment: &str) -> Result<(), Problem> {
    let assignment = Assignment::read(assignment)?;
    let mut item = root;
    for (at, name) in assignment.above.iter().enumerate() {
        item = step(item, name).ok_or_else(|| assignment.no_way(at))?;
    }
    put(item, assignment.last, literal(assignment.text)).ok_or_else(|| assignment.no_place())
}

/// One step down; a missing table is made, and a word gives way to a table, as `parse::set` has it.
fn step<'i>(item: &'i mut Item, name: &str) -> Option<&'i mut Item> {
    if is_list(item) {
        return item.get_mut(name.parse::<usize>().ok()?);
    }
    if !item.as_table_like()?.contains_key(name) {
        put(item, name, InlineTable::new().into())?;
        let made = item.get_mut(name)?;
        if let Some(table) = made.as_table_mut() {
            // Its header is left out unless it holds values itself.
            table.set_implicit(true);
        }
    }
    let next = item.get_mut(name)?;
    if next.is_str() {
        replace(next, InlineTable::new().into());
    }
    Some(next)
}

/// Put a value at `name` of a table, or in place of an entry of a list; `None` if `item` is neither
/// or has no such entry.
fn put(item: &mut Item, name: &str, value: Value) -> Option<()> {
    if is_list(item) {
        if !value.is_inline_table() {
            // A list of tables under headers can hold nothing else.
            item.make_value();
        }
        replace(item.get_mut(name.parse::<usize>().ok()?)?, value);
        return Some(());
    }
    if let Some(old) = item.as_table_like_mut()?.get_mut(name) {
        replace(old, value);
        return Some(());
    }
    match item {
        Item::Table(table) => {
            let new = match value {
                Value::InlineTable(inline) if has_headers(table) => {
                    Item::Table(inline.into_table())
                }
                value => Item::Value(value),
            };
            table.insert(name, new);
        }
        _ => keep_end(item.as_inline_table_mut()?, |table| {
            table.insert(name, value);
        }),
    }
    Some(())
}

/// Put a value where another one stands, with the space and the comments around it. A table under
/// a header of its own stays there.
fn replace(old: &mut Item, mut value: Value) {
    if let (Item::Table(known), Value::InlineTable(inline)) = (&mut *old, &value)
        && !known.is_implicit()
        && !known.is_dotted()
    {
        known.clear();
        known.extend(inline.clone().into_table());
        return;
    }
    if let Item::Value(known) = old {
        *value.decor_mut() = known.decor().clone();
    }
    *old = Item::Value(value);
}

fn remove(root: &mut Item, path: &str) -> Result<(), Problem> {
    let nothing = || Problem {
        path: path.to_owned(),
        line: None,
        message: "there is nothing at this place".to_owned(),
    };
    let (above, last) = parse::names_above(path)?;
    let mut item = root;
    for name in above {
        let at = name.parse::<usize>().ok().filter(|_| is_list(item));
        item = match at {
            Some(at) => item.get_mut(at),
            None => item.get_mut(name),
        }
        .ok_or_else(nothing)?;
    }
    if is_list(item) {
        let at = last.parse::<usize>().ok().filter(|at| item.get(*at).is_some());
        remove_entry(item, at.ok_or_else(nothing)?);
        return Ok(());
    }
    if item.get(last).is_none() {
        return Err(nothing());
    }
    match item {
        Item::Table(table) => {
            table.remove(last);
            if table.is_empty() && !table.is_dotted() {
                // An empty table is known by its header alone.
                table.set_implicit(false);
            }
        }
        _ => keep_end(item.as_inline_table_mut().ok_or_else(nothing)?, |table| {
            table.remove(last);
        }),
    }
    Ok(())
}

fn remove_entry(list: &mut Item, at: usize) {
    if let Some(tables) = list.as_array_of_tables_mut() {
        tables.remove(at);
    } else if let Some(values) = list.as_array_mut() {
        values.remove(at);
    }
}

/// Change an inline table with the space before its closing brace kept.
fn keep_end(table: &mut InlineTable, change: impl FnOnce(&mut InlineTable)) {
    let end = last_decor(table).map(|decor| decor.suffix().cloned().unwrap_or_default());
    if let Some(decor) = last_decor(table) {
        decor.set_suffix("");
    }
    change(table);
    if let (Some(decor), Some(end)) = (last_decor(table), end) {
        decor.set_suffix(end);
    }
}

fn last_decor(table: &mut InlineTable) -> Option<&mut Decor> {
    table.iter_mut().last().map(|(_, value)| value.decor_mut())
}

/// True if tables inside `table` stand under headers of their own.
fn has_headers(table: &Table) -> bool {
    table.is_implicit() && !table.is_dotted()
}

fn is_list(item: &Item) -> bool {
    item.is_array() || item.is_array_of_tables()
}

/// The value that a text is read as.
fn literal(text: &str) -> Value {
    if let Read::Text(words) = parse::value_of(text) {
        return words.into();
    }
    let line = format!("value = {text}").parse::<DocumentMut>();
    let value = line.ok().and_then(|mut line| line.remove("value")?.into_value().ok());
    value.map_or_else(|| text.into(), |value| value.decorated(" ", ""))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::catalogue::plain;

    const TEXT: &str = "\
# A line.
name = \"line\" # of a kind
duration = \"10 s\"

[links.wire]   # the only one
from = \"a\"
to = \"b\"
rate = \"10 Mbit/s\"   # the rate
queue = { red = { weight = 0.002, limit = \"50 packets\" } } # RED

# Who sends.
[flows.bulk]
from = \"a\"
to = \"b\"
";

    fn changed(text: &str, assignments: &[&str]) -> String {
        let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
        edit(text, "x.toml", &[], &assignments).unwrap()
    }

    fn without(text: &str, path: &str) -> String {
        edit(text, "x.toml", &[path.to_owned()], &[]).unwrap()
    }

    /// A value is changed where it stands: comments, layout and other lines stay.
    #[test]
    fn a_value_is_changed_where_it_stands() {
        let text = changed(TEXT, &["links.wire.rate=2 Mbit/s"]);
        assert_eq!(text, TEXT.replace("\"10 Mbit/s\" ", "\"2 Mbit/s\" "));
        let text = changed(TEXT, &["links.wire.queue.red.weight=0.5"]);
        assert_eq!(text, TEXT.replace("0.002", "0.5"));
        let text = changed(TEXT, &["links.wire.queue={ codel = {} }"]);
        let (red, codel) =
            ("{ red = { weight = 0.002, limit = \"50 packets\" } }", "{ codel = {} }");
        assert_eq!(text, TEXT.replace(red, codel));
        // One character inside a list, with the comments between its entries.
        let list = "x = [\n  1, # one\n  2,\n]\n";
        assert_eq!(changed(list, &["x.1=7"]), list.replace('2', "7"));
    }

    /// A key that the text does not have is added at the end of its table.
    #[test]
    fn a_new_key_stands_at_the_end_of_its_table() {
        let text = changed(TEXT, &["flows.bulk.count=3", "seed=2", "links.wire.delay=5 ms"]);
        let expected = TEXT.replace("\"10 s\"\n", "\"10 s\"\nseed = 2\n");
        let expected = expected.replace("# RED\n", "# RED\ndelay = \"5 ms\"\n") + "count = 3\n";
        assert_eq!(text, expected);
        let text = changed(TEXT, &["links.wire.queue.red.gentle=true"]);
        assert_eq!(text, TEXT.replace("packets\" } }", "packets\", gentle = true } }"));
        let text =
            changed(TEXT, &["record.series=1 ms", "flows.more={ from = \"b\", to = \"a\" }"]);
        let more = "\n[flows.more]\nfrom = \"b\"\nto = \"a\"\n";
        assert_eq!(text, format!("{TEXT}{more}\n[record]\nseries = \"1 ms\"\n"));
    }

    /// A word gives way to a table: a mechanism by its name alone gets parameters.
    #[test]
    fn a_word_gives_way_to_a_table() {
        let text = "[links.a]\nqueue = \"codel\" # short\n";
        let expected = "[links.a]\nqueue = { codel = { target = \"9 ms\" } } # short\n";
        assert_eq!(changed(text, &["links.a.queue.codel.target=9 ms"]), expected);
    }

    /// A table under a header is replaced: a mechanism does not stay beside the one in its place.
    #[test]
    fn a_table_under_a_header_is_replaced() {
        let text = "[links.a]\nto = \"b\"\n\n[links.a.queue.red]\nweight = 1\n\n[links.b]\n";
        let expected = "[links.a]\nto = \"b\"\nqueue = { codel = {} }\n\n[links.b]\n";
        assert_eq!(changed(text, &["links.a.queue={ codel = {} }"]), expected);
        let text = "# One.\n[a] # of two\nb = 1\n";
        assert_eq!(changed(text, &["a={ c = 2 }"]), "# One.\n[a] # of two\nc = 2\n");
    }

    /// Keys and sections are removed: a section that was removed in Python does not come back from
    /// its file.
    #[test]
    fn keys_and_sections_are_removed() {
        let text = without(TEXT, "links.wire.queue.red.limit");
        assert_eq!(text, TEXT.replace(", limit = \"50 packets\"", ""));
        let text = without(TEXT, "links.wire.rate");
        assert_eq!(text, TEXT.replace("rate = \"10 Mbit/s\"   # the rate\n", ""));
        assert_eq!(without("[a]\nx = 1\n[b]\ny = [1, 2]\n", "a"), "[b]\ny = [1, 2]\n");
        assert_eq!(without("[[a]]\nx = 1\n[[a]]\nx = 2\n", "a.0"), "[[a]]\nx = 2\n");
        // A table of which nothing is left is there still.
        assert_eq!(without("[a.b]\nx = 1\n", "a.b"), "[a]\n");
        let refused = edit(TEXT, "x.toml", &["links.other.rate".to_owned()], &[]).unwrap_err();
        assert_eq!(refused.to_string(), "x.toml: links.other.rate: there is nothing at this place");
    }

    /// An edit that leads nowhere is refused in the words of `--set`, and wherever that is refused.
    #[test]
    fn what_leads_nowhere_is_refused_as_on_the_command_line() {
        let text = "x = [1, 2]\nn = 1\n";
        for given in ["nonsense", ".a=1", "x.9=1", "n.a.b=1", "n.a=1", "x.a.b=1"] {
            let mut tree = parse::parse(text).unwrap();
            let expected = parse::set(&mut tree, given).unwrap_err();
            let found = edit(text, "x.toml", &[], &[given.to_owned()]).unwrap_err();
            assert_eq!(found.problem, expected, "{given}");
        }
        let wrong = edit("a = 1\nb =\n", "x.toml", &[], &[]).unwrap_err();
        assert_eq!(wrong.problem.line, Some(2));
    }

    /// The paths of all values in a document, and of all tables and lists.
    fn paths(value: &Read, above: &str, found: &mut Vec<String>) {
        let mut below = |name: &str, value: &Read| {
            let name = forebay_parameters::key(name);
            let path = if above.is_empty() { name.into() } else { format!("{above}.{name}") };
            paths(value, &path, found);
            found.push(path);
        };
        match value {
            Read::Table(table) => {
                table.iter().for_each(|(name, node)| below(name, &node.value));
            }
            Read::List(items) => {
                items.iter().enumerate().for_each(|(at, node)| below(&at.to_string(), &node.value));
            }
            _ => {}
        }
    }

    /// The text has the values of the tree: every value, list and table of real files, replaced by
    /// a word and by a table, and with a key of its own.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the files are those of the repository")]
    fn the_text_says_what_the_tree_has() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = ["examples", "lab/lessons", "bench/scenarios"];
        let files = folders.iter().flat_map(|folder| {
            std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path())
        });
        let mut count = 0;
        for file in files.filter(|path| path.extension().is_some_and(|end| end == "toml")) {
            let text = std::fs::read_to_string(&file).unwrap();
            let tree = parse::parse(&text).unwrap();
            let mut all = Vec::new();
            paths(&tree.value, "", &mut all);
            for path in all.iter().take(100) {
                for given in [format!("{path}=word"), format!("{path}={{ a.b = [1] }}")] {
                    let mut expected = tree.clone();
                    parse::set(&mut expected, &given).unwrap();
                    let edited = changed(&text, &[&given]);
                    let found = parse::parse(&edited).unwrap();
                    let place = file.display();
                    assert_eq!(plain(&found.value), plain(&expected.value), "{place}: {given}");
                    count += 1;
                }
            }
        }
        assert!(count > 2000, "{count}");
    }
}
