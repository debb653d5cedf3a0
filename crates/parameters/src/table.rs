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

/// Choose the mechanism named under `key`: `key = { red = { ... } }`, or `key = "droptail"` where the
/// defaults suffice. Gives the entry and the section of its parameters; `None` if `key` is absent.
///
/// # Errors
/// An unknown name (with the nearest one), two names, or a value of another kind.
pub fn choose<'t, 'a, B>(
    section: &Section<'a>,
    key: &str,
    entries: &'t [Entry<B>],
) -> Result<Option<(&'t Entry<B>, Section<'a>)>, Problem> {
    let Some(Node { value, .. }) = section.node(key) else {
        return Ok(None);
    };
    let find = |name: &str| entries.iter().find(|entry| entry.name == name);
    let names = || entries.iter().map(|entry| entry.name);
    let unknown = |name: &str| {
        let hint = nearest(name, names())
            .map_or(String::new(), |near| format!(" (did you mean \"{near}\"?)"));
        let allowed: Vec<&str> = names().collect();
        section.fail(key, format!("unknown \"{name}\"{hint}; one of: {}", allowed.join(", ")))
    };
    match value {
        Value::Text(name) => {
            let entry = find(name).ok_or_else(|| unknown(name))?;
            let path = section.fail(key, "").path;
            let chosen = Section::empty(format!("{path}.{name}"), section.echo());
            mark(&chosen);
            Ok(Some((entry, chosen)))
        }
        Value::Table(table) if table.len() == 1 => {
            let inner = section.section(key)?.expect("the value under the key is a table");
            let name = inner.keys().next().expect("the table has one key");
            let entry = find(name).ok_or_else(|| unknown(name))?;
            let chosen = inner.section(name)?.expect("the key is present");
            mark(&chosen);
            Ok(Some((entry, chosen)))
        }
        Value::Table(table) => {
            let found: Vec<&str> = table.keys().map(String::as_str).collect();
            let read = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            let allowed: Vec<&str> = names().collect();
            let message =
                format!("expected one name, found {read}; one of: {}", allowed.join(", "));
            Err(section.fail(key, message))
        }
        other => {
            let allowed: Vec<&str> = names().collect();
            let message =
                format!("expected a name, found {}; one of: {}", other.show(), allowed.join(", "));
            Err(section.fail(key, message))
        }
    }
}

/// A mechanism without parameters must still show in the scenario's echo.
fn mark(section: &Section<'_>) {
    section.echo().borrow_mut().insert(section.path().to_owned(), "chosen".to_owned());
}
