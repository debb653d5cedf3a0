//! The macros that define parameters and closed sets of words, and what they expand to.

use crate::{DefaultValue, Field, Problem, Section, Value};

/// A group of parameters that can be read from a section of a scenario.
pub trait Parameters: Sized {
    /// Every parameter, in the order of its definition.
    const FIELDS: &'static [Field];

    /// Read all parameters with the defaults that `fields` has for them, whatever other keys the
    /// section has.
    ///
    /// # Errors
    /// The first wrong or missing key.
    fn read_fields(section: &Section<'_>, fields: &[Field]) -> Result<Self, Problem>;

    /// Read all parameters; refuse unknown keys, except `others`, which are read elsewhere.
    ///
    /// # Errors
    /// The first wrong, missing or unknown key.
    fn read_among(section: &Section<'_>, others: &[&str]) -> Result<Self, Problem> {
        let own = Self::FIELDS.iter().map(|field| field.name);
        let names: Vec<&str> = own.chain(others.iter().copied()).collect();
        section.refuse_unknown(&names)?;
        Self::read_fields(section, Self::FIELDS)
    }

    /// Read all parameters; refuse unknown keys.
    ///
    /// # Errors
    /// The first wrong, missing or unknown key.
    fn read(section: &Section<'_>) -> Result<Self, Problem> {
        Self::read_among(section, &[])
    }
}

/// Another default for a parameter of a shared group: its name, the default, and the source of
/// that.
pub type OtherDefault = (&'static str, fn() -> Value, &'static str);

/// The default of the parameter `name` in `fields`.
#[must_use]
pub fn default_in(fields: &[Field], name: &str) -> Option<DefaultValue> {
    fields.iter().find(|field| field.name == name).and_then(|field| field.default)
}

/// Returns the number of fields that `parts` have together.
#[must_use]
pub const fn count(parts: &[&[Field]]) -> usize {
    let (mut total, mut part) = (0, 0);
    while part < parts.len() {
        total += parts[part].len();
        part += 1;
    }
    total
}

/// The `N` fields of `parts`, one part behind the other.
///
/// # Panics
/// While compiling, if two fields have the same name.
#[must_use]
pub const fn join<const N: usize>(parts: &[&[Field]]) -> [Field; N] {
    let mut all = [Field::NONE; N];
    let (mut part, mut filled) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            let field = parts[part][at];
            assert!(find(&all, field.name) == N, "two parameters have the same name");
            all[filled] = field;
            (at, filled) = (at + 1, filled + 1);
        }
        part += 1;
    }
    all
}

/// The `N` fields of a shared group, with other defaults for some.
///
/// # Panics
/// While compiling, if the group has no parameter of such a name.
#[must_use]
pub const fn with_defaults<const N: usize>(
    fields: &[Field],
    others: &[OtherDefault],
) -> [Field; N] {
    let mut all: [Field; N] = join(&[fields]);
    let mut at = 0;
    while at < others.len() {
        let (name, default, source) = others[at];
        let place = find(&all, name);
        assert!(place < N, "the group has no parameter of the name that gets another default");
        all[place].default = Some(DefaultValue::Written(default));
        all[place].source = source;
        at += 1;
    }
    all
}

/// The place of the field called `name`; one past the last if there is none.
const fn find(fields: &[Field], name: &str) -> usize {
    let mut at = 0;
    while at < fields.len() && !equal(fields[at].name, name) {
        at += 1;
    }
    at
}

/// `a == b`, which the language does not offer for texts while compiling.
const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Define a struct of parameters.
///
/// ```text
/// parameters! {
///     /// Parameters of a law.
///     pub struct LawParameters {
///         /// Rate of something.
///         rate: Rate, "RFC 0";
///         /// The queue of each class.
///         classes: Vec<Inner<Queues>>, "RFC 0";
///         ..options: RedOptions { gentle = true, "Floyd 2000"; };
///     }
/// }
/// ```
///
/// A line `name: Type [= default], "source";` under its documentation is one parameter. A type
/// `Option<T>` without default may be left out; any other type without default must be given.
/// [`Inner`](crate::Inner) of a category is a mechanism of it, and `Vec` of that a list of them.
///
/// A line `..name: Group [{ parameter = default, "source"; ... }];` takes in the parameters of
/// `Group`, itself defined by `parameters!`, at this place, some with other defaults than the group
/// has. A scenario shows no seam: they are keys beside the others.
#[macro_export]
macro_rules! parameters {
    // A shared group. Members of the struct and parts of the list of fields are gathered.
    (
        @gather $meta:tt $vis:tt $name:ident [$($members:tt)*] [$($parts:tt)*]
        .. $field:ident : $group:ty $({ $($other:ident = $default:expr, $source:expr;)* })? ;
        $($rest:tt)*
    ) => {
        $crate::parameters! {
            @gather $meta $vis $name
            [
                $($members)*
                #[doc = concat!("Those of [`", stringify!($group), "`].")]
                pub $field: $group,
            ]
            [$($parts)* $field (group ($group) ($($($other = $default, $source;)*)?))]
            $($rest)*
        }
    };
    // A parameter.
    (
        @gather $meta:tt $vis:tt $name:ident [$($members:tt)*] [$($parts:tt)*]
        $(#[doc = $doc:expr])+
        $field:ident : $type:ty $(= $default:expr)? , $source:expr ;
        $($rest:tt)*
    ) => {
        $crate::parameters! {
            @gather $meta $vis $name
            [$($members)* $(#[doc = $doc])+ pub $field: $type,]
            [$($parts)* $field (one $field ($type) ($($doc),+) ($($default)?) ($source))]
            $($rest)*
        }
    };
    // Nothing is left to gather.
    (
        @gather ($(#[$meta:meta])*) ($vis:vis) $name:ident
        [$($members:tt)*] [$($field:ident $part:tt)*]
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name { $($members)* }

        impl $crate::Parameters for $name {
            const FIELDS: &'static [$crate::Field] = {
                const PARTS: &[&[$crate::Field]] = &[$($crate::parameters!(@fields $part)),*];
                const ALL: [$crate::Field; $crate::define::count(PARTS)] =
                    $crate::define::join(PARTS);
                &ALL
            };

            fn read_fields(
                section: &$crate::Section<'_>,
                fields: &[$crate::Field],
            ) -> ::core::result::Result<Self, $crate::Problem> {
                // Without parameters there is nothing to read from them.
                let _ = (section, fields);
                Ok(Self { $( $field: $crate::parameters!(@read section fields $part)?, )* })
            }
        }
    };
    (@fields (one $field:ident ($type:ty) ($($doc:expr),+) ($($default:expr)?) ($source:expr))) => {
        &[$crate::Field {
            name: stringify!($field),
            meaning: concat!($($doc, "\n"),+),
            kind: <$type as $crate::FieldType>::KIND,
            list: <$type as $crate::FieldType>::LIST,
            choices: <$type as $crate::FieldType>::CHOICES,
            mechanism: <$type as $crate::FieldType>::MECHANISM,
            default: $crate::parameters!(@default $($default)?),
            optional: <$type as $crate::FieldType>::OPTIONAL,
            source: $source,
        }]
    };
    (@fields (group ($group:ty) ($($other:ident = $default:expr, $source:expr;)*))) => {
        &$crate::define::with_defaults::<{ <$group as $crate::Parameters>::FIELDS.len() }>(
            <$group as $crate::Parameters>::FIELDS,
            &[$((stringify!($other), || $crate::Value::from($default), $source)),*],
        )
    };
    (@read $section:ident $fields:ident (one $field:ident ($type:ty) $($rest:tt)*)) => {
        <$type as $crate::FieldType>::get(
            $section,
            stringify!($field),
            $crate::define::default_in($fields, stringify!($field)),
        )
    };
    (@read $section:ident $fields:ident (group ($group:ty) $others:tt)) => {
        <$group as $crate::Parameters>::read_fields($section, $fields)
    };
    (@default) => { None };
    (@default $default:expr) => {
        Some($crate::DefaultValue::Written(|| $crate::Value::from($default)))
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($body:tt)* }) => {
        $crate::parameters! { @gather ($(#[$meta])*) ($vis) $name [] [] $($body)* }
    };
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
