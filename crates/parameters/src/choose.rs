//! Choosing among the mechanisms of a registry by name.

use crate::{Category, Entry, Node, Problem, Section, Value, did_you_mean};

/// A mechanism chosen in a scenario: its entry, and the section of its parameters.
pub type Chosen<'a, C> = (&'a Entry<<C as Category>::Build>, Section<'a>);

/// Choose the mechanism of category `C` named under `key`: `key = { red = { ... } }`, or
/// `key = "droptail"` where the defaults suffice. `None` if `key` is absent.
///
/// # Errors
/// An unknown name (with the nearest one), several names, or a value of another kind.
pub fn choose<'a, C: Category>(
    section: &Section<'a>,
    key: &str,
) -> Result<Option<Chosen<'a, C>>, Problem> {
    section.node(key).map(|node| pick::<C>(section, key, node)).transpose()
}

/// As [`choose`], or `default` with its own defaults if `key` is absent: both spell the same
/// scenario.
///
/// # Errors
/// As [`choose`].
pub fn choose_or<'a, C: Category>(
    section: &Section<'a>,
    key: &str,
    default: &'static Entry<C::Build>,
) -> Result<Chosen<'a, C>, Problem> {
    Ok(choose::<C>(section, key)?.unwrap_or_else(|| {
        let inner = section.absent(&format!("{key}.{}", default.name));
        note(&inner);
        (default, inner)
    }))
}

/// Choose a mechanism for each item of the list under `key`: `key = [{ red = { ... } },
/// "droptail"]`. No mechanisms if `key` is absent.
///
/// # Errors
/// As [`choose`], or if the value is not a list.
pub fn choose_all<'a, C: Category>(
    section: &Section<'a>,
    key: &str,
) -> Result<Vec<Chosen<'a, C>>, Problem> {
    match section.node(key).map(|node| &node.value) {
        None => Ok(Vec::new()),
        Some(Value::List(items)) => items
            .iter()
            .enumerate()
            .map(|(at, node)| pick::<C>(section, &format!("{key}[{at}]"), node))
            .collect(),
        Some(other) => Err(section.fail(key, format!("expected a list, found {}", other.show()))),
    }
}

fn pick<'a, C: Category>(
    section: &Section<'a>,
    key: &str,
    node: &'a Node,
) -> Result<Chosen<'a, C>, Problem> {
    let entries = section.registry().entries::<C>();
    let allowed = || entries.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
    let fail = |message: String| section.fail_at(key, node, message);
    // A name stands where its value does, which may be below the key.
    let find = |name: &str, at: &Node| {
        entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let hint = did_you_mean(name, entries.iter().map(|entry| entry.name));
            let message = format!("unknown \"{name}\"{hint}; one of: {}", allowed());
            section.fail_at(key, at, message)
        })
    };
    let (entry, chosen) = match &node.value {
        Value::Text(name) => {
            let inner = section.absent(&format!("{key}.{name}"));
            (find(name, node)?, inner.on(section.line_of(node)))
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
    note(&chosen);
    Ok((entry, chosen))
}

/// Echo that a mechanism was chosen: one without parameters must show as well.
fn note(chosen: &Section<'_>) {
    chosen.note(|| chosen.path().to_owned(), || "chosen".to_owned());
}
