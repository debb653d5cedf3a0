//! Mechanisms that there are: one entry each, by category.

use std::any::Any;
use std::sync::Arc;

use crate::Field;

/// One mechanism: all that there is to know of it.
///
/// `B` makes it from its section of a scenario: the [`Build`](Category::Build) of its category.
/// Texts live as long as the program; who makes an entry at run time leaks them.
#[derive(Clone, Copy)]
pub struct Entry<B> {
    /// Name in scenario files.
    pub name: &'static str,
    /// One sentence: what it is.
    pub summary: &'static str,
    /// The publication that defines it.
    pub source: &'static str,
    /// Parameters with which it works, as a scenario has them between braces:
    /// `limit = "100 packets", ecn = true`. Documentation shows them, and the tests that every
    /// mechanism must pass run with them: on a link of 1 Mbit/s that is offered twice as much it
    /// acts within some seconds.
    pub example: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    /// Its inner quantities, which recorded series show.
    pub probes: &'static [Probe],
    /// Maker of one.
    pub build: B,
}

/// An inner quantity of a mechanism that series can show.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Name of its column. Columns of several alike, as one for each precedence, end with a point
    /// and which of them it is: `average.0`.
    pub name: &'static str,
    /// Its unit: `packets`, `s`; `1` for a plain number.
    pub unit: &'static str,
    /// Meaning, in words.
    pub meaning: &'static str,
}

/// Mechanisms that can take each other's place.
///
/// A category has one name: that under which scenarios choose, which is also the name of the folder
/// and, in the plural, of the table of its mechanisms.
pub trait Category: 'static {
    /// The name.
    const NAME: &'static str;
    /// Requirement on its mechanisms, in a sentence.
    const CONTRACT: &'static str;
    /// The section of a scenario in which one is chosen: `links.NAME`.
    const PLACE: &'static str;
    /// Text to write for one, with an example.
    const KIND: &'static str;
    /// Maker of one of them from its section: a reference to a function, or to a closure, that
    /// lives as long as the program.
    type Build: Copy + Send + Sync + 'static;
}

/// Description of an entry, whatever it builds.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Name in scenario files.
    pub name: &'static str,
    /// One sentence: what it is.
    pub summary: &'static str,
    /// The publication that defines it.
    pub source: &'static str,
    /// Parameters with which it works.
    pub example: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    /// Its inner quantities.
    pub probes: &'static [Probe],
}

impl<B> Entry<B> {
    /// Returns the description of it.
    #[must_use]
    pub fn about(&self) -> About {
        let Self { name, summary, source, example, fields, probes, .. } = *self;
        About { name, summary, source, example, fields, probes }
    }
}

/// The mechanisms that scenarios can choose from, by category. Copies share what they hold.
#[derive(Clone, Default)]
pub struct Registry {
    shelves: Vec<Arc<dyn Shelf>>,
}

/// A category in a [`Registry`], whatever its mechanisms are.
pub trait Shelf: Any + Send + Sync {
    /// The name of the category.
    fn name(&self) -> &'static str;
    /// Requirement on its mechanisms.
    fn contract(&self) -> &'static str;
    /// The section of a scenario in which one is chosen.
    fn place(&self) -> &'static str;
    /// Its mechanisms, in the order in which they were added.
    fn entries(&self) -> Vec<About>;
}

struct Entries<C: Category>(Vec<Entry<C::Build>>);

impl<C: Category> Shelf for Entries<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }
    fn contract(&self) -> &'static str {
        C::CONTRACT
    }
    fn place(&self) -> &'static str {
        C::PLACE
    }
    fn entries(&self) -> Vec<About> {
        self.0.iter().map(Entry::about).collect()
    }
}

impl Registry {
    /// A registry without mechanisms.
    #[must_use]
    pub const fn new() -> Self {
        Self { shelves: Vec::new() }
    }

    /// Add `entries` to the mechanisms of category `C`.
    ///
    /// # Errors
    /// If the category has a mechanism of the same name: scenarios could not tell them apart.
    pub fn add<C: Category>(&mut self, entries: &[Entry<C::Build>]) -> Result<(), String> {
        let place = self.shelves.iter().position(|shelf| is::<C>(shelf.as_ref()));
        let mut all = self.entries::<C>().to_vec();
        for entry in entries {
            if all.iter().any(|known| known.name == entry.name) {
                return Err(format!("there is a {} \"{}\" already", C::NAME, entry.name));
            }
            all.push(*entry);
        }
        let shelf = Arc::new(Entries::<C>(all));
        match place {
            Some(place) => self.shelves[place] = shelf,
            None => self.shelves.push(shelf),
        }
        Ok(())
    }

    /// Take the mechanism that is called `name` out of category `C`, if it is there.
    pub fn remove<C: Category>(&mut self, name: &str) {
        if let Some(place) = self.shelves.iter().position(|shelf| is::<C>(shelf.as_ref())) {
            let mut left = self.entries::<C>().to_vec();
            left.retain(|entry| entry.name != name);
            self.shelves[place] = Arc::new(Entries::<C>(left));
        }
    }

    /// The mechanisms of category `C`, in the order in which they were added.
    #[must_use]
    pub fn entries<C: Category>(&self) -> &[Entry<C::Build>] {
        let found = self.shelves.iter().find_map(|shelf| {
            let any: &dyn Any = shelf.as_ref();
            any.downcast_ref::<Entries<C>>()
        });
        found.map_or(&[], |entries| &entries.0)
    }

    /// The mechanism of category `C` that is called `name`.
    #[must_use]
    pub fn entry<C: Category>(&self, name: &str) -> Option<&Entry<C::Build>> {
        self.entries::<C>().iter().find(|entry| entry.name == name)
    }

    /// The categories, in the order in which they were added.
    pub fn shelves(&self) -> impl Iterator<Item = &dyn Shelf> {
        self.shelves.iter().map(AsRef::as_ref)
    }
}

fn is<C: Category>(shelf: &dyn Shelf) -> bool {
    let any: &dyn Any = shelf;
    any.is::<Entries<C>>()
}
