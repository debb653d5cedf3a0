//! Parts of a network that are repeated: `[sites]` has a list of sites, and sections that each of
//! them gets, with its own names and values in place of `{site}`.

use forebay_parameters::{Node, Problem, Table, Value, did_you_mean};

use crate::read::include::{Sources, merge};
use crate::read::names::SITES;

/// The key of the list of sites.
const EACH: &str = "each";
/// Sections that a site can have.
const PARTS: [&str; 6] = ["links", "rings", "switches", "aggregates", "hosts", "flows"];
/// Placeholder for the name of a site that is given as a word.
const NAME: &str = "site";
/// Values that may be made, at most: some 100 million bytes.
const MAX_VALUES: usize = 1_000_000;

/// Replace `[sites]` of `root`, or each of several `[[sites]]`, by what its sites get.
pub(crate) fn expand(root: &mut Node, sources: &Sources) -> Result<(), Problem> {
    let Value::Table(table) = &mut root.value else { return Ok(()) };
    let Some(node) = table.remove(SITES) else { return Ok(()) };
    match node.value {
        Value::List(groups) => groups.into_iter().zip(0..).try_for_each(|(group, number)| {
            repeat(group, &format!("{SITES}[{number}]"), table, sources)
        }),
        _ => repeat(node, SITES, table, sources),
    }
}

fn repeat(group: Node, path: &str, root: &mut Table, sources: &Sources) -> Result<(), Problem> {
    let line = group.line;
    let fail = |line, path: &str, message| Problem { path: path.to_owned(), line, message };
    let Value::Table(mut block) = group.value else {
        let message = format!("expected a table, found {}", group.value.show());
        return Err(fail(line, path, message));
    };
    let Some(each) = block.remove(EACH) else {
        let message = "has no list of sites; give one, such as each = [\"north\", \"south\"]";
        return Err(fail(line, path, message.to_owned()));
    };
    for (key, node) in &block {
        if !PARTS.contains(&key.as_str()) {
            let hint = did_you_mean(key, PARTS.into_iter().chain([EACH]));
            let allowed = PARTS.join(", ");
            let message = format!("unknown key \"{key}\"{hint}; allowed here: {EACH}, {allowed}");
            return Err(fail(node.line, &format!("{path}.{key}"), message));
        }
    }
    let sites = read_sites(&each, &format!("{path}.{EACH}"))?;
    let block = Node { value: Value::Table(block), line };
    let values = size(&block).saturating_mul(sites.len());
    if values > MAX_VALUES {
        let message = format!("would make {values} values; allowed are up to {MAX_VALUES}");
        return Err(fail(line, path, message));
    }
    let mut used = vec![false; sites.first().map_or(0, |site| site.values.len())];
    for site in &sites {
        let copy = Filling { site, used: &mut used }.node(&block, path)?;
        let Value::Table(copy) = copy.value else { unreachable!("the block is a table") };
        merge(root, copy, "", &mut |old| {
            let place = sources.place(old);
            format!("is also at {place}; a name with {{site}} in it is another one for each site")
        })?;
    }
    let keys = sites.first().map_or(Vec::new(), |site| site.values.keys().collect());
    match keys.iter().zip(&used).find(|(_, used)| !**used) {
        Some((key, _)) => {
            let message = format!("sites have \"{key}\", and nothing has {{{key}}} in it");
            Err(fail(each.line, &format!("{path}.{EACH}"), message))
        }
        None => Ok(()),
    }
}

/// One site: what stands for each `{key}`.
struct Site {
    path: String,
    values: Table,
}

fn read_sites(each: &Node, path: &str) -> Result<Vec<Site>, Problem> {
    let wrong = |line, path: &str, read: &str| Problem {
        path: path.to_owned(),
        line,
        message: format!(
            "{read}; sites are names, or tables such as {{ site = \"north\", rate = \"1 Mbit/s\" }}"
        ),
    };
    let items = match &each.value {
        Value::List(items) if !items.is_empty() => items,
        Value::List(_) => return Err(wrong(each.line, path, "the list is empty")),
        other => {
            return Err(wrong(each.line, path, &format!("{} is not a list", other.show())));
        }
    };
    let mut sites: Vec<Site> = Vec::new();
    for (item, number) in items.iter().zip(0..) {
        let path = format!("{path}[{number}]");
        let values = match &item.value {
            Value::Text(_) => Table::from([(NAME.to_owned(), item.clone())]),
            Value::Table(table) if !table.is_empty() => table.clone(),
            other => {
                return Err(wrong(item.line, &path, &format!("{} is not a site", other.show())));
            }
        };
        if let Some(first) = sites.first()
            && !first.values.keys().eq(values.keys())
        {
            let names = |table: &Table| table.keys().cloned().collect::<Vec<_>>().join(", ");
            let message =
                format!("has {}, the first site {}", names(&values), names(&first.values));
            return Err(Problem { path, line: item.line, message });
        }
        sites.push(Site { path, values });
    }
    Ok(sites)
}

/// Number of values in `node`.
fn size(node: &Node) -> usize {
    1 + match &node.value {
        Value::Table(table) => table.values().map(size).sum::<usize>(),
        Value::List(items) => items.iter().map(size).sum(),
        _ => 0,
    }
}

/// Makes what a site gets.
struct Filling<'s> {
    site: &'s Site,
    /// Of each value of the site, whether anything asked for it.
    used: &'s mut [bool],
}

impl Filling<'_> {
    /// `node`, at `path`, with the values of the site.
    fn node(&mut self, node: &Node, path: &str) -> Result<Node, Problem> {
        let place = |message| Problem { path: path.to_owned(), line: node.line, message };
        let value = match &node.value {
            Value::Text(text) => self.text(text).map_err(place)?,
            Value::List(items) => {
                let inner = items.iter().zip(0..);
                let inner = inner.map(|(item, n)| self.node(item, &format!("{path}[{n}]")));
                Value::List(inner.collect::<Result<_, _>>()?)
            }
            Value::Table(table) => {
                let mut made = Table::new();
                for (key, inner) in table {
                    let path = format!("{path}.{key}");
                    let place = |message| Problem { path: path.clone(), line: inner.line, message };
                    let key = match self.text(key).map_err(place)? {
                        Value::Text(key) => key,
                        other => plain(&other).map_err(place)?,
                    };
                    let node = self.node(inner, &path)?;
                    if made.insert(key.clone(), node).is_some() {
                        let site = &self.site.path;
                        return Err(place(format!("is a second \"{key}\" for {site}")));
                    }
                }
                Value::Table(made)
            }
            other => other.clone(),
        };
        Ok(Node { value, line: node.line })
    }

    /// `text` with values in place of `{key}`: the value itself if `text` is nothing else.
    fn text(&mut self, text: &str) -> Result<Value, String> {
        let mut made = String::new();
        let mut rest = text;
        while let Some((head, key, tail)) = placeholder(rest) {
            let value = self.value(key)?;
            if key.len() + 2 == text.len() {
                return Ok(value);
            }
            made.push_str(head);
            made.push_str(&plain(&value)?);
            rest = tail;
        }
        made.push_str(rest);
        Ok(Value::Text(made))
    }

    fn value(&mut self, key: &str) -> Result<Value, String> {
        let values = &self.site.values;
        match values.keys().position(|known| known == key) {
            Some(at) => {
                self.used[at] = true;
                Ok(values[key].value.clone())
            }
            None => {
                let hint = did_you_mean(key, values.keys().map(String::as_str));
                let known: Vec<&str> = values.keys().map(String::as_str).collect();
                let path = &self.site.path;
                Err(format!("{path} has no \"{key}\"{hint}; it has {}", known.join(", ")))
            }
        }
    }
}

/// The first `{key}` of `text`: what is before it, the key, and what is behind.
fn placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let is_key = |key: &str| {
        key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    text.match_indices('{').find_map(|(at, _)| {
        let (key, tail) = text[at + 1..].split_once('}')?;
        is_key(key).then_some((&text[..at], key, tail))
    })
}

/// A value inside a text.
fn plain(value: &Value) -> Result<String, String> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Integer(n) => Ok(n.to_string()),
        Value::Float(x) => Ok(x.to_string()),
        Value::Bool(b) => Ok(b.to_string()),
        other => Err(format!("{} cannot stand inside a text", other.show())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Placeholders are found and filled: a value keeps its type, and a text that only looks alike
    /// is not changed.
    #[test]
    fn placeholders_are_found_and_filled() {
        let values = [("site", Value::from("north")), ("calls", Value::Integer(20))];
        let values = values.map(|(key, value)| (key.to_owned(), Node::new(value)));
        let site = Site { path: "sites.each[0]".to_owned(), values: Table::from(values) };
        let mut used = [false; 2];
        let mut filling = Filling { site: &site, used: &mut used };
        assert_eq!(filling.text("{calls}"), Ok(Value::Integer(20)));
        assert_eq!(filling.text("{site}-{calls} {{}"), Ok(Value::from("north-20 {{}")));
        assert_eq!(filling.text("{ site }"), Ok(Value::from("{ site }")));
        let wrong = filling.text("x{sit}").unwrap_err();
        assert_eq!(
            wrong,
            "sites.each[0] has no \"sit\" (did you mean \"site\"?); it has calls, site"
        );
        assert_eq!(used, [true, true]);
    }
}
