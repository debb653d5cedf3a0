//! Mechanisms inside mechanisms: what a parameter is whose value is one.

use crate::choose::{choose, choose_all};
use crate::{
    Category, Chosen, DefaultValue, Echo, Entry, FieldType, Problem, Registry, Section, Table,
};

/// A mechanism of category `C` that another one contains: chosen, and still to be built.
///
/// As the type of a parameter, `Inner<C>` must be given, `Option<Inner<C>>` may be left out, and
/// `Vec<Inner<C>>` is a list.
pub struct Inner<C: Category> {
    entry: Entry<C::Build>,
    path: String,
    line: Option<u32>,
    table: Table,
}

impl<C: Category> Inner<C> {
    fn of((entry, section): Chosen<'_, C>) -> Self {
        let (path, line, table) = section.into_parts();
        Self { entry: *entry, path, line, table: table.clone() }
    }

    /// Name of the mechanism.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Build it, where `outer` is the section of the mechanism that contains it: `make` is handed
    /// what the category builds with, and the section of this one.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn build<T>(
        &self,
        outer: &Section<'_>,
        make: impl FnOnce(C::Build, &Section<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.build_in(outer.registry(), outer.echo(), make)
    }

    /// Build it once more, in the course of a run, as [`build`](Self::build) has done before.
    ///
    /// # Errors
    /// Those of `make`; none if it does what it did.
    pub fn build_again<T>(
        &self,
        registry: &Registry,
        make: impl FnOnce(C::Build, &Section<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.build_in(registry, None, make)
    }

    fn build_in<T>(
        &self,
        registry: &Registry,
        echo: Option<&Echo>,
        make: impl FnOnce(C::Build, &Section<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let section = Section::of_parts((self.path.clone(), self.line, &self.table), echo);
        make(self.entry.build, &section.with_registry(registry))
    }
}

impl<C: Category> Clone for Inner<C> {
    fn clone(&self) -> Self {
        let (entry, line) = (self.entry, self.line);
        Self { entry, path: self.path.clone(), line, table: self.table.clone() }
    }
}

impl<C: Category> std::fmt::Debug for Inner<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.entry.name).field("parameters", &self.table).finish()
    }
}

fn missing<C: Category>(section: &Section<'_>, key: &str) -> Problem {
    section.fail(key, format!("is missing; it takes a {}", C::KIND))
}

impl<C: Category> FieldType for Inner<C> {
    const KIND: &'static str = C::KIND;
    const MECHANISM: Option<&'static str> = Some(C::NAME);

    fn get(
        section: &Section<'_>,
        key: &str,
        _default: Option<DefaultValue>,
    ) -> Result<Self, Problem> {
        choose::<C>(section, key)?.map(Self::of).ok_or_else(|| missing::<C>(section, key))
    }
}

impl<C: Category> FieldType for Option<Inner<C>> {
    const KIND: &'static str = C::KIND;
    const MECHANISM: Option<&'static str> = Some(C::NAME);
    const OPTIONAL: bool = true;

    fn get(
        section: &Section<'_>,
        key: &str,
        _default: Option<DefaultValue>,
    ) -> Result<Self, Problem> {
        Ok(choose::<C>(section, key)?.map(Inner::of))
    }
}

impl<C: Category> FieldType for Vec<Inner<C>> {
    const KIND: &'static str = C::KIND;
    const MECHANISM: Option<&'static str> = Some(C::NAME);
    const LIST: bool = true;

    fn get(
        section: &Section<'_>,
        key: &str,
        _default: Option<DefaultValue>,
    ) -> Result<Self, Problem> {
        match section.node(key) {
            None => Err(missing::<C>(section, key)),
            Some(_) => Ok(choose_all::<C>(section, key)?.into_iter().map(Inner::of).collect()),
        }
    }
}
