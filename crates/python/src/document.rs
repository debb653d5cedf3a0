//! The text of a result, as `forebay run --json` prints it.
//!
//! It is what `json.dumps(document, indent=1)` makes of it in Python: the command line prints it as
//! it comes, and nobody can tell it from a document that Python has read and written.

use std::fmt::Write;

use serde_json::{Map, Number, Value};

/// The JSON of a result, one line a value, and behind it the command that gives it again.
pub(crate) fn document(result: &Map<String, Value>, command: Option<&str>) -> String {
    let command = command.map(Value::from);
    let fields = result.iter().map(|(name, value)| (Some(name.as_str()), value));
    let mut writer = Writer { text: String::new(), depth: 0 };
    writer.list(['{', '}'], fields.chain(command.as_ref().map(|line| (Some("command"), line))));
    writer.text
}

struct Writer {
    text: String,
    /// How many lists it is in.
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => self.number(number),
            Value::String(words) => self.words(words),
            Value::Array(values) => self.list(['[', ']'], values.iter().map(|each| (None, each))),
            Value::Object(fields) => {
                self.list(
                    ['{', '}'],
                    fields.iter().map(|(name, each)| (Some(name.as_str()), each)),
                );
            }
        }
    }

    fn list<'a>(
        &mut self,
        [open, close]: [char; 2],
        entries: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
    ) {
        self.text.push(open);
        self.depth += 1;
        let mut is_empty = true;
        for (name, value) in entries {
            if !is_empty {
                self.text.push(',');
            }
            is_empty = false;
            self.line();
            if let Some(name) = name {
                self.words(name);
                self.text.push_str(": ");
            }
            self.value(value);
        }
        self.depth -= 1;
        if !is_empty {
            self.line();
        }
        self.text.push(close);
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', self.depth));
    }

    /// The digits are the same in both languages: the fewest that name the number. Python gives
    /// numbers below 1e-4 an exponent, others do below 1e-5; and its exponents have a sign and two
    /// digits at least.
    fn number(&mut self, number: &Number) {
        let shown = number.to_string();
        let is_small = number.as_f64().is_some_and(|value| value.abs() < 1e-4);
        if let Some((digits, exponent)) = shown.split_once('e') {
            let exponent: i32 = exponent.parse().expect("an exponent is a whole number");
            self.put(format_args!("{digits}e{exponent:+03}"));
        } else if let Some((sign, digits)) = shown.split_once("0.0000").filter(|_| is_small) {
            let (first, others) = digits.split_at(1);
            let point = if others.is_empty() { "" } else { "." };
            self.put(format_args!("{sign}{first}{point}{others}e-05"));
        } else {
            self.text.push_str(&shown);
        }
    }

    /// Characters beyond ASCII are escaped.
    fn words(&mut self, words: &str) {
        for character in Value::from(words).to_string().chars() {
            if matches!(character, ' '..='~') {
                self.text.push(character);
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    self.put(format_args!("\\u{unit:04x}"));
                }
            }
        }
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("memory takes all that is written");
    }
}
