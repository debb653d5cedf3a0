//! Number of checks of each invariant, and the places at which one did not hold.

use forebay_units::Time;

use crate::Invariant;

/// Breaches that are kept; further ones are only counted.
const MAX_BREACHES: usize = 16;

/// Place at which something happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place<'a> {
    /// The network as a whole.
    Network,
    /// At a link, by number.
    Link(usize),
    /// A flow, by number.
    Flow(usize),
    /// An element, by number.
    Element(u32),
    /// At a part of a result, by name.
    Named(&'a str),
}

/// An invariant that did not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// Invariant that did not hold.
    pub invariant: Invariant,
    /// Name of the link or flow.
    pub place: String,
    /// Time of the breach.
    pub at: Time,
    /// The numbers that contradict it.
    pub numbers: String,
}

/// Findings of the checks.
#[derive(Clone, Debug)]
pub struct Report {
    checked: Vec<u64>,
    breached: Vec<u64>,
    /// The first breaches.
    breaches: Vec<Breach>,
}

impl Default for Report {
    fn default() -> Self {
        let none = vec![0; Invariant::ALL.len()];
        Self { checked: none.clone(), breached: none, breaches: Vec::new() }
    }
}

impl Report {
    /// Returns the number of times that `invariant` was checked.
    #[must_use]
    pub fn checked(&self, invariant: Invariant) -> u64 {
        self.checked[invariant as usize]
    }

    /// Returns the number of times that `invariant` did not hold.
    #[must_use]
    pub fn breached(&self, invariant: Invariant) -> u64 {
        self.breached[invariant as usize]
    }

    /// The first breaches, in the order in which they were found.
    #[must_use]
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// Returns the number of invariants that were checked at all.
    #[must_use]
    pub fn invariants(&self) -> usize {
        self.checked.iter().filter(|times| **times > 0).count()
    }

    /// `invariant` was checked once more, and `holds` or not.
    #[inline]
    pub(crate) fn count(&mut self, invariant: Invariant, holds: bool) {
        self.checked[invariant as usize] += 1;
        self.breached[invariant as usize] += u64::from(!holds);
    }

    /// Returns true if a further breach of `invariant` is to be described: the first of each, and
    /// others while there are few.
    pub(crate) fn wants(&self, invariant: Invariant) -> bool {
        self.breached(invariant) <= 1 || self.breaches.len() < MAX_BREACHES
    }

    /// Describe a breach.
    pub(crate) fn describe(&mut self, breach: Breach) {
        self.breaches.push(breach);
    }
}
