//! The kinds of values that a parameter can take.

use forebay_units::quantity::{
    parse_frequency, parse_packets, parse_rate, parse_size, parse_span, show_frequency, show_rate,
    show_size, show_span,
};
use forebay_units::{Frequency, Rate, Size, Span};

use crate::{Node, Value, did_you_mean};

/// A value that a parameter can have.
pub trait Parameter: Sized {
    /// Text to write, with an example.
    const KIND: &'static str;
    /// The words allowed and what each means, for a closed set.
    const CHOICES: &'static [(&'static str, &'static str)] = &[];
    /// True if it is a list of values of this kind.
    const LIST: bool = false;
    /// True if it may be left out without a default.
    const OPTIONAL: bool = false;

    /// Read the value.
    ///
    /// # Errors
    /// What was read and what is allowed.
    fn read(node: &Node) -> Result<Self, String>;

    /// The canonical text of the value.
    fn show(&self) -> String;

    /// The value of an absent parameter, if it may be absent.
    fn absent() -> Option<Self> {
        None
    }
}

/// A closed set of words; define one with [`choice!`](crate::choice).
pub trait Choice: Sized {
    /// The words and what each means, in the order of their definition.
    const WORDS: &'static [(&'static str, &'static str)];
    /// The value of a word.
    fn from_word(word: &str) -> Option<Self>;
    /// The word of a value.
    fn word(&self) -> &'static str;
}

impl<T: Choice> Parameter for T {
    const KIND: &'static str = "word";
    const CHOICES: &'static [(&'static str, &'static str)] = T::WORDS;

    fn read(node: &Node) -> Result<Self, String> {
        let words = || T::WORDS.iter().map(|(word, _)| *word);
        let allowed = || words().collect::<Vec<_>>().join(", ");
        let Value::Text(word) = &node.value else {
            return Err(format!("{} is not one of {}", node.value.show(), allowed()));
        };
        T::from_word(word).ok_or_else(|| {
            let hint = did_you_mean(word, words());
            format!("\"{word}\" is not one of {}{hint}", allowed())
        })
    }

    fn show(&self) -> String {
        self.word().to_owned()
    }
}

/// A queue length: in bytes or in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// So many bytes.
    Bytes(u64),
    /// So many packets.
    Packets(u64),
}

impl Length {
    /// The number, in its own unit.
    #[must_use]
    pub fn amount(self) -> u64 {
        match self {
            Self::Bytes(n) | Self::Packets(n) => n,
        }
    }

    /// Returns true if it counts bytes.
    #[must_use]
    pub fn in_bytes(self) -> bool {
        matches!(self, Self::Bytes(_))
    }
}

fn quantity<T>(
    node: &Node,
    kind: &str,
    parse: impl Fn(&str) -> Result<T, forebay_units::quantity::QuantityError>,
) -> Result<T, String> {
    match &node.value {
        Value::Text(text) => parse(text).map_err(|error| error.0),
        Value::Integer(_) | Value::Float(_) => {
            Err(format!("{} has no unit; it takes a {kind}", node.value.show()))
        }
        other => Err(format!("{} is not a {kind}", other.show())),
    }
}

macro_rules! quantities {
    ($($type:ty, $kind:literal, $parse:expr, $show:expr;)*) => { $(
        impl Parameter for $type {
            const KIND: &'static str = $kind;
            fn read(node: &Node) -> Result<Self, String> {
                quantity(node, Self::KIND, $parse)
            }
            fn show(&self) -> String {
                ($show)(*self)
            }
        }
    )* };
}

quantities! {
    Span, "duration such as \"2.5 ms\"", parse_span, show_span;
    Rate, "data rate such as \"34 Mbit/s\"", parse_rate, show_rate;
    Size, "size such as \"1500 B\"", parse_size, show_size;
    Frequency, "frequency such as \"450 /h\"", parse_frequency, show_frequency;
    Length, "queue length such as \"45 kB\" or \"78 packets\"", parse_length, show_length;
}

fn parse_length(text: &str) -> Result<Length, forebay_units::quantity::QuantityError> {
    if text.contains('p') {
        parse_packets(text).map(Length::Packets)
    } else {
        parse_size(text).map(|size| Length::Bytes(size.bytes())).map_err(|mut error| {
            error.0.push_str(", or packets; in queues of links also BDP, and times such as ms");
            error
        })
    }
}

fn show_length(length: Length) -> String {
    match length {
        Length::Bytes(n) => show_size(Size::from_bytes(n)),
        Length::Packets(n) => format!("{n} packets"),
    }
}

/// A time, or a range of times of which each member of a group gets its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// The same for all.
    At(Span),
    /// Each has one drawn uniformly from this range.
    Uniform(Span, Span),
}

impl Spread {
    /// The time of one member; `uniform` gives a random number on [0, 1) and is asked only if there
    /// is something to draw.
    pub fn draw(self, uniform: impl FnOnce() -> f64) -> Span {
        match self {
            Self::At(at) => at,
            Self::Uniform(from, to) => from + (to - from).scaled(uniform()),
        }
    }

    /// The smallest time possible.
    #[must_use]
    pub fn least(self) -> Span {
        match self {
            Self::At(at) | Self::Uniform(at, _) => at,
        }
    }

    /// The largest time possible.
    #[must_use]
    pub fn most(self) -> Span {
        match self {
            Self::At(at) | Self::Uniform(_, at) => at,
        }
    }

    /// The mean time.
    #[must_use]
    pub fn mean(self) -> Span {
        self.draw(|| 0.5)
    }
}

impl Parameter for Spread {
    const KIND: &'static str =
        "time such as \"2 s\", or { uniform = [\"0 s\", \"1 s\"] } for random times";

    fn read(node: &Node) -> Result<Self, String> {
        let span = |node: &Node| <Span as Parameter>::read(node);
        match &node.value {
            Value::Table(table) if table.len() == 1 && table.contains_key("uniform") => {
                let Value::List(ends) = &table["uniform"].value else {
                    return Err("uniform takes a list of two times".to_owned());
                };
                let [from, to] = ends.as_slice() else {
                    return Err(format!("uniform takes two times, found {}", ends.len()));
                };
                let (from, to) = (span(from)?, span(to)?);
                if from > to {
                    return Err(format!(
                        "uniform runs from {} to {}: the first must not be later",
                        show_span(from),
                        show_span(to)
                    ));
                }
                Ok(Self::Uniform(from, to))
            }
            Value::Text(text) => parse_span(text).map(Self::At).map_err(|error| error.0),
            other => Err(format!("{} is not a {}", other.show(), Self::KIND)),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::At(at) => show_span(*at),
            Self::Uniform(from, to) => format!("uniform {} {}", show_span(*from), show_span(*to)),
        }
    }
}

impl Parameter for f64 {
    const KIND: &'static str = "number";
    fn read(node: &Node) -> Result<Self, String> {
        let number = match &node.value {
            Value::Float(x) => *x,
            Value::Integer(n) => *n as f64,
            other => return Err(format!("{} is not a number", other.show())),
        };
        if number.is_finite() {
            Ok(number)
        } else {
            Err(format!("{number} is not a finite number"))
        }
    }
    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl Parameter for u32 {
    const KIND: &'static str = "whole number";
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Integer(n) => Self::try_from(*n)
                .map_err(|_| format!("{n} is out of range; allowed are 0 to {}", Self::MAX)),
            other => Err(format!("{} is not a whole number", other.show())),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl Parameter for u64 {
    const KIND: &'static str = "whole number";
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Integer(n) => Self::try_from(*n)
                .map_err(|_| format!("{n} is out of range; allowed are 0 to {}", i64::MAX)),
            other => Err(format!("{} is not a whole number", other.show())),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl Parameter for bool {
    const KIND: &'static str = "true or false";
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Bool(b) => Ok(*b),
            other => Err(format!("{} is not true or false", other.show())),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl Parameter for String {
    const KIND: &'static str = "text";
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::Text(text) => Ok(text.clone()),
            other => Err(format!("{} is not a text", other.show())),
        }
    }
    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl<T: Parameter> Parameter for Vec<T> {
    const KIND: &'static str = T::KIND;
    const LIST: bool = true;
    fn read(node: &Node) -> Result<Self, String> {
        match &node.value {
            Value::List(items) => items.iter().map(T::read).collect(),
            other => Err(format!("{} is not a list of {}s", other.show(), T::KIND)),
        }
    }
    fn show(&self) -> String {
        let items: Vec<String> = self.iter().map(Parameter::show).collect();
        format!("[{}]", items.join(", "))
    }
}

impl<T: Parameter> Parameter for Option<T> {
    const KIND: &'static str = T::KIND;
    const CHOICES: &'static [(&'static str, &'static str)] = T::CHOICES;
    const LIST: bool = T::LIST;
    const OPTIONAL: bool = true;
    fn read(node: &Node) -> Result<Self, String> {
        T::read(node).map(Some)
    }
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "absent".to_owned(), Parameter::show)
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}
