//! Examples of laws, read: a key and its value on each line, or between commas.

use forebay_parameters::{Node, Table, Value};

/// The parameters that `text` has. A library knows no TOML: these are the values of it that
/// parameters can have.
///
/// # Errors
/// What was read and what is allowed.
pub(super) fn read(text: &str) -> Result<Table, String> {
    let mut rest = Rest(text);
    let mut table = Table::new();
    loop {
        rest.skip(|char| char.is_whitespace() || char == ',');
        if rest.0.is_empty() {
            return Ok(table);
        }
        let key = rest.take(|char| char.is_alphanumeric() || char == '_' || char == '-');
        rest.skip(char::is_whitespace);
        if key.is_empty() || !rest.eat('=') {
            return Err(format!("expected \"key = value\" at {:?}", rest.start()));
        }
        table.insert(key.to_owned(), Node::new(rest.value()?));
    }
}

/// The rest of a text.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|char| !fits(char)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn skip(&mut self, fits: impl Fn(char) -> bool) {
        self.take(fits);
    }

    fn eat(&mut self, char: char) -> bool {
        let rest = self.0.strip_prefix(char);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// The line where it begins.
    fn start(&self) -> &'a str {
        self.0.lines().next().unwrap_or_default()
    }

    fn value(&mut self) -> Result<Value, String> {
        self.skip(char::is_whitespace);
        if self.eat('"') {
            return self.text().map(Value::Text);
        }
        if self.eat('[') {
            return self.list();
        }
        let start = self.start();
        let word = self.take(|char| char.is_alphanumeric() || "+-._".contains(char));
        let plain = word.replace('_', "");
        match word {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => plain
                .parse()
                .map(Value::Integer)
                .or_else(|_| plain.parse().map(Value::Float))
                .map_err(|_| {
                    format!("{start:?} is none of a text, a number, true, false and a list")
                }),
        }
    }

    /// The text of which the first mark has been read.
    fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.0.char_indices();
        while let Some((at, char)) = chars.next() {
            match char {
                '"' => {
                    self.0 = &self.0[at + 1..];
                    return Ok(text);
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, '"')) => text.push('"'),
                    Some((_, '\\')) => text.push('\\'),
                    _ => return Err(format!("an escape in {:?} is none of \\n \\t", self.start())),
                },
                char => text.push(char),
            }
        }
        Err(format!("the text {:?} has no end", self.start()))
    }

    /// The list of which the first bracket has been read.
    fn list(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            self.skip(|char| char.is_whitespace() || char == ',');
            if self.eat(']') {
                return Ok(Value::List(items));
            }
            if self.0.is_empty() {
                return Err("a list has no end".to_owned());
            }
            items.push(Node::new(self.value()?));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples are read as TOML has them: on lines or between commas, with the kinds of values
    /// that parameters have.
    #[test]
    fn examples_are_read_as_toml_has_them() {
        let read = read("\n  a = \"5 ms\"\n b = [1, -2.5]\n").unwrap();
        assert_eq!(read["a"].value, Value::Text("5 ms".to_owned()));
        let list = [Value::Integer(1), Value::Float(-2.5)].map(Node::new).to_vec();
        assert_eq!(read["b"].value, Value::List(list));
        let read = super::read("a = 1_000, b = true, c = 1e-3, d = \"\\\"x\"").unwrap();
        let of = |key: &str| read[key].value.clone();
        assert_eq!((of("a"), of("b")), (Value::Integer(1000), Value::Bool(true)));
        assert_eq!((of("c"), of("d")), (Value::Float(0.001), Value::Text("\"x".to_owned())));
        assert!(super::read("").unwrap().is_empty());
    }

    /// Texts that are no example are refused with what was read.
    #[test]
    fn what_is_no_example_is_refused() {
        for (text, told) in [
            ("a", "key = value"),
            ("a = \"x", "no end"),
            ("a = [1", "no end"),
            ("a = ?", "none of"),
            ("a = \"\\x\"", "escape"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(told), "{text}: {message}");
        }
    }
}
