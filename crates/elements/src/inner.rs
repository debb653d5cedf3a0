//! Sections within those of elements, as entries of the registry list them.

use forebay_parameters::Field;

/// The keys of a section beside its parameters: categories of `laws`, and `sections` within.
pub(crate) fn keys_within(laws: &[&'static str], sections: &[InnerSection]) -> Vec<&'static str> {
    laws.iter().copied().chain(sections.iter().map(|inner| inner.key)).collect()
}

/// A section within that of an element: of a transport, a kind of link, a subnetwork.
#[derive(Clone, Copy)]
pub struct InnerSection {
    /// Its key.
    pub key: &'static str,
    /// Summary of it, a sentence.
    pub summary: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    /// Form in which its key holds it.
    pub form: InnerForm,
}

/// Form of a section within another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InnerForm {
    /// One.
    One,
    /// A list of such sections.
    List,
    /// Such sections by name; the word stands for a name in documentation.
    Named(&'static str),
}

impl InnerSection {
    /// The key as documentation writes it, in the section at `path`.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        match self.form {
            InnerForm::One => format!("{path}.{}", self.key),
            InnerForm::List => format!("{path}.{}[]", self.key),
            InnerForm::Named(word) => format!("{path}.{}.{word}", self.key),
        }
    }
}
