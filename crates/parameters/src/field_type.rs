//! Types that a line of `parameters!` can have.

use crate::{DefaultValue, Parameter, Problem, Section};

/// Type that a line of [`parameters!`](crate::parameters) can have: a value ([`Parameter`]), or
/// mechanisms ([`Inner`](crate::Inner)).
pub trait FieldType: Sized {
    /// Text to write, with an example.
    const KIND: &'static str;
    /// The words allowed and what each means, for a closed set.
    const CHOICES: &'static [(&'static str, &'static str)] = &[];
    /// True if it is a list.
    const LIST: bool = false;
    /// True if it may be left out without a default.
    const OPTIONAL: bool = false;
    /// The category of the mechanisms that it takes, if its values are such.
    const MECHANISM: Option<&'static str> = None;

    /// Read what stands under `key`; without a value take `default`, or fail if there is none.
    ///
    /// # Errors
    /// Missing or wrong value.
    fn get(
        section: &Section<'_>,
        key: &str,
        default: Option<DefaultValue>,
    ) -> Result<Self, Problem>;
}

impl<T: Parameter> FieldType for T {
    const KIND: &'static str = T::KIND;
    const CHOICES: &'static [(&'static str, &'static str)] = T::CHOICES;
    const LIST: bool = T::LIST;
    const OPTIONAL: bool = T::OPTIONAL;

    fn get(
        section: &Section<'_>,
        key: &str,
        default: Option<DefaultValue>,
    ) -> Result<Self, Problem> {
        section.get(key, default)
    }
}
