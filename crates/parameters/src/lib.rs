//! Parameters are defined once, beside the mechanism that they belong to.
//!
//! [`parameters!`] turns a definition (name, type, default, meaning, source) into a Rust struct, a
//! reader that answers a wrong scenario with the key path and what is allowed, and the [`Field`]
//! list from which schema, reference pages and Python classes are generated. [`Node`] is the
//! untyped tree that a scenario file becomes first; it knows lines, not TOML.

mod node;
mod section;
mod table;
mod types;

pub use node::{Node, Problem, Table, Value, nearest};
pub use section::{Echo, Section};
pub use table::{Catalogued, Chosen, Entry, choose, choose_all};
pub use types::{Choice, Length, Parameter, Spread};

/// One parameter of a mechanism, as documentation and schema show it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Key in the scenario file.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What kind of value it takes, with an example.
    pub kind: &'static str,
    /// Whether it takes a list of such values.
    pub list: bool,
    /// The words allowed and what each means, if the value is one of a closed set.
    pub choices: &'static [(&'static str, &'static str)],
    /// The default; `None` if the parameter must be given or may stay absent.
    pub default: Option<fn() -> Value>,
    /// Whether it may be left out.
    pub optional: bool,
    /// Where definition and default come from.
    pub source: &'static str,
}

/// A group of parameters that can be read from a section of a scenario.
pub trait Parameters: Sized {
    /// Every parameter, in the order of its definition.
    const FIELDS: &'static [Field];

    /// Read all parameters; refuse unknown keys, except `others`, which somebody else reads.
    ///
    /// # Errors
    /// The first wrong, missing or unknown key.
    fn read_among(section: &Section<'_>, others: &[&str]) -> Result<Self, Problem>;

    /// Read all parameters; refuse unknown keys.
    ///
    /// # Errors
    /// The first wrong, missing or unknown key.
    fn read(section: &Section<'_>) -> Result<Self, Problem> {
        Self::read_among(section, &[])
    }
}

/// Define a struct of parameters; see the crate documentation.
///
/// Each line is `name: Type [= default], "source";` under its documentation. A type `Option<T>`
/// without default may be left out; any other type without default must be given.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:expr])+
                $field:ident : $type:ty $(= $default:expr)? , $source:expr ;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            $( $(#[doc = $doc])+ pub $field: $type, )*
        }

        impl $crate::Parameters for $name {
            const FIELDS: &'static [$crate::Field] = &[
                $( $crate::Field {
                    name: stringify!($field),
                    meaning: concat!($($doc, "\n"),+),
                    kind: <$type as $crate::Parameter>::KIND,
                    list: <$type as $crate::Parameter>::LIST,
                    choices: <$type as $crate::Parameter>::CHOICES,
                    default: $crate::parameters!(@default $($default)?),
                    optional: <$type as $crate::Parameter>::OPTIONAL,
                    source: $source,
                }, )*
            ];

            fn read_among(
                section: &$crate::Section<'_>,
                others: &[&str],
            ) -> ::core::result::Result<Self, $crate::Problem> {
                let mut names: Vec<&str> = vec![$(stringify!($field)),*];
                names.extend_from_slice(others);
                section.refuse_unknown(&names)?;
                Ok(Self { $(
                    $field: section.get(
                        stringify!($field),
                        $crate::parameters!(@default $($default)?),
                    )?,
                )* })
            }
        }
    };
    (@default) => { None };
    (@default $default:expr) => { Some(|| $crate::Value::from($default)) };
}

/// Define a closed set of words: `choice! { /// doc
/// pub enum Spacing { /// doc
/// Uniform = "uniform", ... } }`.
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:expr])+ $variant:ident = $word:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $crate::Choice for $name {
            const WORDS: &'static [(&'static str, &'static str)] =
                &[$(($word, concat!($($doc, "\n"),+))),+];
            fn from_word(word: &str) -> Option<Self> {
                match word { $( $word => Some(Self::$variant), )+ _ => None }
            }
            fn word(&self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_units::{Rate, Span};

    choice! {
        /// A colour for the test.
        pub enum Colour {
            /// Green.
            Green = "green",
            /// Red.
            Red = "red",
        }
    }

    parameters! {
        /// A test group.
        pub struct Sample {
            /// Rate of something.
            rate: Rate, "RFC 0";
            /// Delay of something.
            delay: Span = "10 ms", "RFC 0";
            /// Colour of something.
            colour: Colour = "green", "RFC 0";
            /// May be absent.
            limit: Option<Length>, "RFC 0";
        }
    }

    fn read(entries: &[(&str, Value)]) -> Result<Sample, Problem> {
        let mut table = Table::new();
        for (key, value) in entries {
            table.insert((*key).to_owned(), Node::new(value.clone()));
        }
        let node = Node::new(Value::Table(table));
        Sample::read(&Section::root(&node, &Echo::default()).unwrap())
    }

    /// Otherwise a scenario would run with other values than it states, or refuse its own defaults.
    #[test]
    fn values_and_defaults_are_read() {
        let sample = read(&[("rate", "34 Mbit/s".into()), ("limit", "45 kB".into())]).unwrap();
        assert_eq!(sample.rate.bps(), 34_000_000);
        assert_eq!(sample.delay, Span::from_ms(10));
        assert_eq!(sample.colour, Colour::Green);
        assert_eq!(sample.limit, Some(Length::Bytes(45_000)));
    }

    /// Otherwise a user could not tell which key was wrong and what would be right.
    #[test]
    fn wrong_values_name_the_key_and_what_is_allowed() {
        let missing = read(&[]).unwrap_err();
        assert_eq!(missing.path, "rate");
        let unknown = read(&[("rate", "1 Mbit/s".into()), ("dealy", "1 ms".into())]).unwrap_err();
        assert!(unknown.message.contains("did you mean \"delay\""), "{}", unknown.message);
        let bare = read(&[("rate", 34.0.into())]).unwrap_err();
        assert!(bare.message.contains("no unit"), "{}", bare.message);
        let word = read(&[("rate", "1 bit/s".into()), ("colour", "reed".into())]).unwrap_err();
        assert!(word.message.contains("did you mean \"red\""), "{}", word.message);
    }
}
