//! Examples of laws, read.

use forebay_parameters::{Node, Table, Value};

/// The parameters that `text` has, as lines or as they stand between braces.
///
/// # Errors
/// What was read and what is allowed.
pub(super) fn read(text: &str) -> Result<Table, String> {
    let lines = text.parse::<toml::Table>();
    let table = lines.or_else(|error| {
        let inline = format!("all = {{ {} }}", text.trim());
        let mut all = inline.parse::<toml::Table>().map_err(|_| error.message().to_owned())?;
        match all.remove("all") {
            Some(toml::Value::Table(table)) => Ok(table),
            _ => Err(error.message().to_owned()),
        }
    })?;
    table.into_iter().map(|(key, value)| Ok((key, Node::new(plain(value)?)))).collect()
}

fn plain(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::Text(text),
        toml::Value::Integer(whole) => Value::Integer(whole),
        toml::Value::Float(number) => Value::Float(number),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Array(items) => {
            let items = items.into_iter().map(|item| plain(item).map(Node::new));
            Value::List(items.collect::<Result<_, String>>()?)
        }
        other => return Err(format!("a {} is no value of a parameter", other.type_str())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples are read as lines and as they stand between braces, as documentation shows both.
    #[test]
    fn examples_are_lines_or_stand_between_braces() {
        let read = |text: &str| super::read(text).unwrap();
        let lines = read("\n  a = \"5 ms\"\n b = [1, -2.5]\n");
        assert_eq!(lines["a"].value, Value::Text("5 ms".to_owned()));
        let list = [Value::Integer(1), Value::Float(-2.5)].map(Node::new).to_vec();
        assert_eq!(lines["b"].value, Value::List(list));
        let inline = read("a = 1_000, b = true, c = 1e-3");
        assert_eq!(inline["c"].value, Value::Float(0.001));
        assert_eq!(inline["a"].value, Value::Integer(1000));
        assert!(read("").is_empty());
    }

    /// Texts that are no example are refused, so that an export tells its author at once.
    #[test]
    fn texts_that_are_no_example_are_refused() {
        for text in ["a", "a = \"x", "a = [1", "a = ?", "a = 1979-05-27", "a = { b = 1 }"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
