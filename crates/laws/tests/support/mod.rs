//! Sections of scenarios for the batteries, without a file.

use forebay_parameters::{Echo, Entry, Field, Node, Problem, Section, Table, Value};
use toml::de::{DeTable, DeValue};

/// The parameters with which the entry shows itself: the batteries run with these.
pub fn example<B>(entry: &Entry<B>) -> Value {
    parameters(entry.example)
}

/// Returns the parameters that `text` has between the braces of a mechanism: a key and its value on
/// each line.
pub fn parameters(text: &str) -> Value {
    let table = DeTable::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    plain(&DeValue::Table(table.into_inner()))
}

fn plain(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => Value::Integer(n.as_str().parse().expect("a whole number")),
        DeValue::Float(x) => Value::Float(x.as_str().parse().expect("a number")),
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::Datetime(_) => panic!("examples have no dates"),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| Node::new(plain(item.get_ref()))).collect())
        }
        DeValue::Table(inner) => {
            let node = |value| Node::new(plain(value));
            let rows =
                inner.iter().map(|(key, value)| (key.get_ref().to_string(), node(value.get_ref())));
            Value::Table(rows.collect())
        }
    }
}

/// A table.
pub fn table(entries: &[(&str, Value)]) -> Value {
    let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
    Value::Table(entries.iter().map(node).collect::<Table>())
}

/// A list.
pub fn list<T: Clone + Into<Value>>(items: &[T]) -> Value {
    Value::List(items.iter().map(|item| Node::new(item.clone().into())).collect())
}

/// `base` with another value under `key`.
pub fn with(base: &Value, key: &str, value: Value) -> Value {
    let Value::Table(table) = base else { panic!("parameters are a table") };
    let mut table = table.clone();
    table.insert(key.to_owned(), Node::new(value));
    Value::Table(table)
}

/// Builds what `build` makes of the section that holds `parameters`.
pub fn build<T>(
    parameters: &Value,
    build: impl FnOnce(&Section<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let (node, echo) = (Node::new(parameters.clone()), Echo::default());
    build(&Section::root(&node, &echo)?.with_registry(&forebay_laws::registry()))
}

/// `base` with each parameter in turn set to each of many strange values: wrong kinds, nothing,
/// one, the largest. The label says which.
pub fn strange(base: &Value, fields: &[Field]) -> Vec<(String, Value)> {
    let most = "18446744073709551615";
    let texts = [
        "0 B",
        "1 B",
        "20 B",
        "0 packets",
        "1 packets",
        "0 bit/s",
        "1 bit/s",
        "0 s",
        "1 ps",
        "",
        "x",
    ];
    let mut values: Vec<Value> = texts.map(Value::from).to_vec();
    for unit in ["B", "packets", "bit/s", "ps"] {
        values.push(Value::Text(format!("{most} {unit}")));
    }
    values.extend([0, 1, -1, i32::MAX].map(Value::from));
    values.extend([0.0, -0.5, 1e-300, 0.5, 1e300, f64::NAN, f64::INFINITY].map(Value::from));
    values.extend([true, false].map(Value::from));
    let lists: Vec<Value> = values
        .iter()
        .flat_map(|value| [0, 1, 64, 65].map(|n| list(&vec![value.clone(); n])))
        .collect();
    values.extend(lists);
    let choices = fields.iter().flat_map(|field| field.choices).map(|(word, _)| Value::from(*word));
    values.extend(choices);
    values.push(table(&[]));
    let set = |field: &Field, value: &Value| {
        (format!("{} = {value:?}", field.name), with(base, field.name, value.clone()))
    };
    fields.iter().flat_map(|field| values.iter().map(move |value| set(field, value))).collect()
}
