//! The catalogue: one entry a mechanism, and choosing among entries by name.

use crate::{Field, Node, Problem, Section, Value, nearest};

/// One mechanism in the table of its category.
///
/// `B` is the type of the function that builds it from its section.
pub struct Entry<B> {
    /// Name in scenario files.
    pub name: &'static str,
    /// One sentence: what it is.
    pub summary: &'static str,
    /// The publication that defines it.
    pub source: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    /// How to make one.
    pub build: B,
}

/// What documentation needs of an entry, whatever it builds.
pub trait Catalogued {
    /// Name in scenario files.
    fn name(&self) -> &'static str;
    /// One sentence: what it is.
    fn summary(&self) -> &'static str;
    /// The publication that defines it.
    fn source(&self) -> &'static str;
    /// Its parameters.
    fn fields(&self) -> &'static [Field];
}

impl<B> Catalogued for Entry<B> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn summary(&self) -> &'static str {
        self.summary
    }
    fn source(&self) -> &'static str {
        self.source
    }
    fn fields(&self) -> &'static [Field] {
        self.fields
    }
}

/// A mechanism chosen in a scenario: its entry, and the section of its parameters.
pub type Chosen<'t, 'a, B> = (&'t Entry<B>, Section<'a>);

/// Choose the mechanism named under `key`: `key = { red = { ... } }`, or `key = "droptail"` where
/// the defaults suffice. `None` if `key` is absent.
///
/// # Errors
/// An unknown name (with the nearest one), several names, or a value of another kind.
pub fn choose<'t, 'a, B>(
    section: &Section<'a>,
    key: &str,
    entries: &'t [Entry<B>],
) -> Result<Option<Chosen<'t, 'a, B>>, Problem> {
    section.node(key).map(|node| pick(section, key, node, entries)).transpose()
}

/// Choose a mechanism for each item of the list under `key`: `key = [{ red = { ... } },
/// "droptail"]`. No mechanisms if `key` is absent.
///
/// # Errors
/// As [`choose`], or if the value is not a list.
pub fn choose_all<'t, 'a, B>(
    section: &Section<'a>,
    key: &str,
    entries: &'t [Entry<B>],
) -> Result<Vec<Chosen<'t, 'a, B>>, Problem> {
    match section.node(key).map(|node| &node.value) {
        None => Ok(Vec::new()),
        Some(Value::List(items)) => items
            .iter()
            .enumerate()
            .map(|(at, node)| pick(section, &format!("{key}[{at}]"), node, entries))
            .collect(),
        Some(other) => Err(section.fail(key, format!("expected a list, found {}", other.show()))),
    }
}

fn pick<'t, 'a, B>(
    section: &Section<'a>,
    key: &str,
    node: &'a Node,
    entries: &'t [Entry<B>],
) -> Result<Chosen<'t, 'a, B>, Problem> {
    let allowed = || entries.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
    let fail = |message: String| section.fail_at(key, node, message);
    // A name stands where its value does, which may be below the key.
    let find = |name: &str, at: &Node| {
        entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let hint = nearest(name, entries.iter().map(|entry| entry.name))
                .map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
            let message = format!("unknown \"{name}\"{hint}; one of: {}", allowed());
            section.fail_at(key, at, message)
        })
    };
    let (entry, chosen) = match &node.value {
        Value::Text(name) => {
            let Problem { path, line, .. } = fail(String::new());
            (find(name, node)?, Section::empty_at(format!("{path}.{name}"), line, section.echo()))
        }
        Value::Table(table) if table.len() == 1 => {
            let (name, inner) = table.iter().next().expect("the table has one key");
            let entry = find(name, inner)?;
            (entry, section.inner(&format!("{key}.{name}"), inner)?)
        }
        Value::Table(table) => {
            let found: Vec<&str> = table.keys().map(String::as_str).collect();
            let read = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            return Err(fail(format!("expected one name, found {read}; one of: {}", allowed())));
        }
        other => {
            let read = other.show();
            return Err(fail(format!("expected a name, found {read}; one of: {}", allowed())));
        }
    };
    // A mechanism without parameters must show in the echo as well.
    section.echo().borrow_mut().insert(chosen.path().to_owned(), "chosen".to_owned());
    Ok((entry, chosen))
}
