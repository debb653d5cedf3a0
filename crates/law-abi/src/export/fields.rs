//! Parameters of a law in the table of its library, and their values as its build function reads
//! them.

use forebay_parameters::{Field, Length, Node, Parameter, Table, Value};
use forebay_units::quantity::{show_frequency, show_rate, show_size, show_span};
use forebay_units::{Frequency, Rate, Size, Span};

use crate::abi::{NEVER, parameter_flag, parameter_type};

/// The kinds of values that the interface carries: their texts in fields, and their types.
const KINDS: [(&str, u32); 10] = [
    (<f64 as Parameter>::KIND, parameter_type::NUMBER),
    (<u64 as Parameter>::KIND, parameter_type::WHOLE),
    (<bool as Parameter>::KIND, parameter_type::BOOL),
    ("word", parameter_type::WORD),
    (<Span as Parameter>::KIND, parameter_type::SPAN),
    (<Rate as Parameter>::KIND, parameter_type::RATE),
    (<Size as Parameter>::KIND, parameter_type::SIZE),
    (<Length as Parameter>::KIND, parameter_type::LENGTH),
    (<Frequency as Parameter>::KIND, parameter_type::FREQUENCY),
    (<String as Parameter>::KIND, parameter_type::TEXT),
];

/// The type of a field; none if the interface has no such type.
pub(super) fn type_of(field: &Field) -> Option<u32> {
    KINDS.iter().find(|(kind, _)| *kind == field.kind).map(|(_, number)| *number)
}

/// The flags of a field.
pub(super) fn flags(field: &Field) -> u32 {
    let list = if field.list { parameter_flag::LIST } else { 0 };
    list | if field.optional { parameter_flag::OPTIONAL } else { 0 }
}

/// Words that a value of a field takes in the state: a list is a pointer and a number.
pub(super) const fn words(field: &Field) -> usize {
    if field.list { 2 } else { width(field) }
}

/// Words that a value takes in a list.
pub(super) const fn width(field: &Field) -> usize {
    if equal(field.kind, <Length as Parameter>::KIND) { 2 } else { 1 }
}

/// `a == b`, while compiling.
const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Refuse fields that the interface cannot carry.
pub(super) fn check(fields: &[Field]) -> Result<(), String> {
    for field in fields {
        let refuse = |found: &str| {
            Err(format!(
                "parameter \"{}\" is {found}, which version 1 of the interface cannot carry; it \
                 carries numbers, whole numbers, true or false, words, durations, rates, sizes, \
                 queue lengths, frequencies, texts, and lists of these",
                field.name
            ))
        };
        if let Some(category) = field.mechanism {
            return refuse(&format!("a mechanism ({category})"));
        }
        match type_of(field) {
            None => return refuse(&format!("a \"{}\"", field.kind)),
            Some(parameter_type::WORD) if field.choices.is_empty() => {
                return refuse("a list of words");
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// A value, or the values of a list, as they stand in a state.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Found {
    /// Words, as many as they take.
    Words(Vec<u64>),
    /// Texts.
    Texts(Vec<String>),
    /// It is absent.
    Absent,
}

/// The parameters as a scenario would have them, in canonical texts.
///
/// # Errors
/// The parameter whose words are none of its type, and why.
pub(super) fn table(fields: &[Field], found: Vec<Found>) -> Result<Table, (String, String)> {
    let mut table = Table::new();
    for (field, found) in fields.iter().zip(found) {
        let values = match found {
            Found::Absent => continue,
            Found::Texts(texts) => Ok(texts.into_iter().map(Value::Text).collect()),
            Found::Words(words) if is_absent(field, &words) => continue,
            Found::Words(words) => {
                words.chunks(width(field)).map(|words| value(field, words)).collect()
            }
        };
        let mut values: Vec<Value> = values.map_err(|message| (field.name.to_owned(), message))?;
        let value = match values.pop() {
            Some(only) if !field.list => only,
            last => Value::List(values.into_iter().chain(last).map(Node::new).collect()),
        };
        table.insert(field.name.to_owned(), Node::new(value));
    }
    Ok(table)
}

/// True if these words of a single value say that it was left out.
fn is_absent(field: &Field, words: &[u64]) -> bool {
    if field.list || !field.optional {
        return false;
    }
    match type_of(field) {
        Some(parameter_type::NUMBER | parameter_type::FREQUENCY) => {
            f64::from_bits(words[0]).is_nan()
        }
        _ => words[0] as i64 == NEVER,
    }
}

/// The value that `words` are.
fn value(field: &Field, words: &[u64]) -> Result<Value, String> {
    let number = f64::from_bits(words[0]);
    let whole = words[0] as i64;
    let amount = u64::try_from(whole).map_err(|_| format!("{whole} is below 0"));
    Ok(match type_of(field) {
        Some(parameter_type::NUMBER) => Value::Float(number),
        Some(parameter_type::BOOL) => Value::Bool(whole != 0),
        Some(parameter_type::WORD) => {
            let word = usize::try_from(whole).ok().and_then(|at| field.choices.get(at));
            let most = field.choices.len();
            let (word, _) = word.ok_or_else(|| format!("word {whole} is none of {most}"))?;
            Value::Text((*word).to_owned())
        }
        Some(parameter_type::SPAN) => Value::Text(show_span(Span::from_ps(amount?))),
        Some(parameter_type::RATE) => Value::Text(show_rate(Rate::from_bps(amount?))),
        Some(parameter_type::SIZE) => Value::Text(show_size(Size::from_bytes(amount?))),
        Some(parameter_type::LENGTH) => {
            let amount = amount?;
            let length =
                if words[1] == 1 { Length::Packets(amount) } else { Length::Bytes(amount) };
            Value::Text(length.show())
        }
        Some(parameter_type::FREQUENCY) => {
            // A frequency is a whole number of millionths an hour, which this finds again.
            let micro = number * (3600 * Frequency::HOURLY) as f64 + 0.5;
            Value::Text(show_frequency(Frequency::from_micro_per_hour(micro as u64)))
        }
        _ => Value::Integer(whole),
    })
}

/// A default as JSON.
pub(super) fn json(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Integer(n) => n.to_string(),
        Value::Float(x) => format!("{x:?}"),
        Value::Bool(b) => b.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| json(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let row =
                |(key, node): (&String, &Node)| format!("{}: {}", quoted(key), json(&node.value));
            format!("{{{}}}", table.iter().map(row).collect::<Vec<_>>().join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            char if u32::from(char) < 0x20 => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(char)));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// The sentences of documentation as one line.
pub(super) fn words_of(meaning: &str) -> String {
    meaning.split_whitespace().collect::<Vec<_>>().join(" ")
}
