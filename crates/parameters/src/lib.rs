//! Parameters are defined once, beside the mechanism that they belong to.
//!
//! [`parameters!`] turns a definition (name, type, default, meaning, source) into a Rust struct, a
//! reader that answers a wrong scenario with the key path and what is allowed, and the [`Field`]
//! list from which schema, reference pages and Python classes are generated. An [`Entry`] is all
//! that there is to know of a mechanism, and a [`Registry`] holds the entries that scenarios can
//! choose from. [`Node`] is the untyped tree that a scenario file becomes first; it knows lines,
//! not TOML.
#![doc = include_str!("../README.md")]

mod choose;
mod data_file;
#[doc(hidden)]
pub mod define;
mod field_type;
mod inner;
mod name;
mod node;
mod path;
mod registry;
mod section;
mod types;

pub use choose::{Chosen, choose, choose_all, choose_or};
pub use data_file::{DataFile, Fault};
pub use define::Parameters;
pub use field_type::FieldType;
pub use inner::Inner;
pub use name::{MAX_NAME_BYTES, name_fault};
pub use node::{Node, Problem, Table, Value, did_you_mean};
pub use path::{key, names_of};
pub use registry::{About, Category, Entry, Probe, Registry, Shelf};
pub use section::{Echo, Section};
pub use types::{Choice, Length, Parameter, Spread};

/// One parameter of a mechanism, as documentation and schema show it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Key in the scenario file.
    pub name: &'static str,
    /// Meaning, in words.
    pub meaning: &'static str,
    /// Kind of value that it takes, with an example.
    pub kind: &'static str,
    /// True if it takes a list of such values.
    pub list: bool,
    /// The words allowed and what each means, if the value is one of a closed set.
    pub choices: &'static [(&'static str, &'static str)],
    /// The category of the mechanisms that it takes, if its values are such.
    pub mechanism: Option<&'static str>,
    /// The default; `None` if the parameter must be given or may stay absent.
    pub default: Option<DefaultValue>,
    /// True if it may be left out.
    pub optional: bool,
    /// Source of definition and default.
    pub source: &'static str,
}

/// Default of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// One that is written where the parameter is defined.
    Written(fn() -> Value),
    /// One that became known at run time.
    Known(&'static Value),
}

impl DefaultValue {
    /// Returns the value.
    #[must_use]
    pub fn value(self) -> Value {
        match self {
            Self::Written(make) => make(),
            Self::Known(value) => value.clone(),
        }
    }
}

impl Field {
    /// A field without a name, to be filled.
    const NONE: Self = Self {
        name: "",
        meaning: "",
        kind: "",
        list: false,
        choices: &[],
        mechanism: None,
        default: None,
        optional: false,
        source: "",
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

    /// Values are read as a scenario states them, and defaults where it states none.
    #[test]
    fn values_and_defaults_are_read() {
        let sample = read(&[("rate", "34 Mbit/s".into()), ("limit", "45 kB".into())]).unwrap();
        assert_eq!(sample.rate.bps(), 34_000_000);
        assert_eq!(sample.delay, Span::from_ms(10));
        assert_eq!(sample.colour, Colour::Green);
        assert_eq!(sample.limit, Some(Length::Bytes(45_000)));
    }

    /// A wrong value names its key, and what is allowed there.
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

    parameters! {
        /// Parameters that kinds of sample share.
        pub struct Shared {
            /// True if it is gentle.
            gentle: bool = false, "RFC 1";
            /// Number of times.
            count: u32 = 3, "RFC 1";
        }
    }

    parameters! {
        /// A group that takes another one in, between parameters of its own.
        pub struct Whole {
            /// The first.
            first: u32, "RFC 0";
            ..shared: Shared { gentle = true, "RFC 2"; };
            /// The last.
            last: u32 = 9, "RFC 0";
        }
    }

    fn section<'a>(node: &'a Node, echo: &'a Echo) -> Section<'a> {
        Section::root(node, echo).unwrap()
    }

    fn table(entries: &[(&str, Value)]) -> Node {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        Node::new(Value::Table(entries.iter().map(node).collect()))
    }

    /// A shared group is part of the whole: keys stand side by side in the order of the definition,
    /// slips are found among all of them, and another default goes with another source.
    #[test]
    fn a_shared_group_is_part_of_the_whole() {
        let names: Vec<&str> = Whole::FIELDS.iter().map(|field| field.name).collect();
        assert_eq!(names, ["first", "gentle", "count", "last"]);
        let sources: Vec<&str> = Whole::FIELDS.iter().map(|field| field.source).collect();
        assert_eq!(sources, ["RFC 0", "RFC 2", "RFC 1", "RFC 0"]);
        let echo = Echo::default();
        let node = table(&[("first", 1.into()), ("count", 5.into())]);
        let whole = Whole::read(&section(&node, &echo)).unwrap();
        assert_eq!((whole.first, whole.shared.count, whole.last), (1, 5, 9));
        assert!(whole.shared.gentle, "the whole has another default than the group");
        assert_eq!(echo.borrow()["gentle"], "true");
        let alone = Shared::read(&Section::empty(String::new(), &echo)).unwrap();
        assert!(!alone.gentle);
        let node = table(&[("first", 1.into()), ("gentel", true.into())]);
        let problem = Whole::read(&section(&node, &echo)).unwrap_err();
        assert!(problem.message.contains("did you mean \"gentle\""), "{}", problem.message);
        assert!(problem.message.contains("first, gentle, count, last"), "{}", problem.message);
    }

    /// Numbers, for the test, made of what they add to.
    pub enum Numbers {}

    type Build = &'static (dyn Fn(&Section<'_>) -> Result<u32, Problem> + Send + Sync);

    impl Category for Numbers {
        const NAME: &'static str = "number";
        const CONTRACT: &'static str = "A number.";
        const PLACE: &'static str = "scenario";
        const KIND: &'static str = "number such as \"one\"";
        type Build = Build;
    }

    parameters! {
        /// A sum.
        pub struct Sum {
            /// Numbers that are added up.
            parts: Vec<Inner<Numbers>>, "RFC 0";
            /// Number that is taken away.
            less: Option<Inner<Numbers>>, "RFC 0";
        }
    }

    fn sum(section: &Section<'_>) -> Result<u32, Problem> {
        let sum = Sum::read(section)?;
        let mut total = 0;
        for part in &sum.parts {
            total += part.build(section, |build, inner| build(inner))?;
        }
        let less = sum.less.map(|less| less.build(section, |build, inner| build(inner)));
        Ok(total - less.transpose()?.unwrap_or(0))
    }

    fn entry(name: &'static str, fields: &'static [Field], build: Build) -> Entry<Build> {
        Entry { name, summary: "", source: "", example: "", fields, probes: &[], build }
    }

    fn registry() -> Registry {
        let mut registry = Registry::new();
        let one: Build = &|section| section.refuse_unknown(&[]).map(|()| 1);
        let entries = [entry("one", &[], one), entry("sum", Sum::FIELDS, &sum)];
        registry.add::<Numbers>(&entries).unwrap();
        registry
    }

    /// Mechanisms contain others of the registry, among them those of another crate, and their
    /// errors and their echo say where these stand.
    #[test]
    fn mechanisms_contain_those_of_the_registry() {
        let mut registry = registry();
        let two: Build = &|section| section.refuse_unknown(&[]).map(|()| 2);
        registry.add::<Numbers>(&[entry("two", &[], two)]).unwrap();
        let list = |items: &[Value]| {
            Value::List(items.iter().map(|item| Node::new(item.clone())).collect())
        };
        let inner = table(&[("parts", list(&["two".into(), "two".into()]))]);
        let nested = table(&[("sum", inner.value)]).value;
        let parts = list(&["one".into(), nested.clone()]);
        let node = table(&[("parts", parts), ("less", "two".into())]);
        let echo = Echo::default();
        let root = || section(&node, &echo).with_registry(&registry);
        assert_eq!(sum(&root()), Ok(3));
        let echoed: Vec<String> = echo.borrow().keys().cloned().collect();
        let expected = [
            "less.two",
            "parts[0].one",
            "parts[1].sum",
            "parts[1].sum.parts[0].two",
            "parts[1].sum.parts[1].two",
        ];
        assert!(expected.iter().all(|path| echoed.iter().any(|known| known == path)), "{echoed:?}");
        let wrong = table(&[("parts", list(&[nested, "tow".into()]))]);
        let problem = sum(&section(&wrong, &echo).with_registry(&registry)).unwrap_err();
        assert_eq!(problem.path, "parts[1]");
        assert_eq!(
            problem.message,
            "unknown \"tow\" (did you mean \"two\"?); one of: one, sum, two"
        );
        let missing = table(&[]);
        let problem = sum(&section(&missing, &echo).with_registry(&registry)).unwrap_err();
        assert_eq!((problem.path.as_str(), Sum::FIELDS[0].mechanism), ("parts", Some("number")));
        assert!(problem.message.starts_with("is missing; it takes a number"));
    }

    /// A name that a category has already is refused, so that it is clear which mechanism a
    /// scenario means; an addition to one copy of a registry does not reach others.
    #[test]
    fn names_are_unique_and_copies_apart() {
        let original = registry();
        let mut copy = original.clone();
        let again = copy.add::<Numbers>(&[entry("one", &[], &|_| Ok(7))]);
        assert_eq!(again.unwrap_err(), "there is a number \"one\" already");
        copy.add::<Numbers>(&[entry("three", &[], &|_| Ok(3))]).unwrap();
        assert!(copy.entry::<Numbers>("three").is_some());
        assert!(original.entry::<Numbers>("three").is_none());
        let shelves: Vec<(&str, usize)> =
            copy.shelves().map(|shelf| (shelf.name(), shelf.entries().len())).collect();
        assert_eq!(shelves, [("number", 3)]);
    }
}
