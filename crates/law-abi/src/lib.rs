//! Laws from outside the build of Forebay, by the C interface of `include/forebay_law.h`.
//!
//! [`load`] opens a shared library, [`read`] takes a table in memory, and [`LoadedLaws::add_to`]
//! adds what they have to a [`Registry`], where laws from outside stand beside those of the build:
//! scenarios choose them, and schema, catalogue and messages know them. Each kind has an adapter to
//! the trait that the engine asks. What a law may not do ends the run with a
//! [`LawFault`](forebay_network::LawFault).
#![doc = include_str!("../README.md")]

pub mod abi;
mod conditioner;
mod control;
mod decisions;
mod discipline;
pub mod export;
mod host;
mod impairment;
mod law;
mod queue;
mod raw;
mod scheduler;
mod shown;
mod traffic;
mod watch;

use std::path::Path;

use forebay_laws::conditioner::Conditioners;
use forebay_laws::control::Controls;
use forebay_laws::impairment::Impairments;
use forebay_laws::queue::Queues;
use forebay_laws::traffic::Traffics;
use forebay_parameters::Registry;

pub use host::host_address;
use law::OuterLaw;
pub use watch::{UnderWay, under_way};

/// The C header of the interface.
pub const HEADER: &str = include_str!("../include/forebay_law.h");

/// Laws that were loaded together.
pub struct LoadedLaws(Vec<&'static OuterLaw>);

/// A law, as those who ask what is loaded are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadedLaw {
    /// Category in which it is chosen.
    pub category: &'static str,
    /// Name in scenarios.
    pub name: &'static str,
    /// Hash of its source: 16 hexadecimal digits.
    pub contents: &'static str,
}

/// The laws of the shared library at `path`, whose hash is `contents`. It stays loaded, and its
/// code is run from here on.
///
/// # Errors
/// The reason why it cannot be loaded, or the fault of its table.
pub fn load(path: &Path, contents: &str) -> Result<LoadedLaws, String> {
    LoadedLaws::of(raw::open(path)?, contents)
}

/// The laws in the table at `address`, which must stay there as long as the program runs.
///
/// # Errors
/// The fault of the table.
pub fn read(address: usize) -> Result<LoadedLaws, String> {
    LoadedLaws::of(raw::read_at(address)?, "")
}

impl LoadedLaws {
    fn of(laws: Vec<raw::RawLaw>, contents: &str) -> Result<Self, String> {
        if laws.is_empty() {
            return Err("has no laws".to_owned());
        }
        let laws = laws.into_iter().map(|law| OuterLaw::of(law, contents));
        laws.collect::<Result<Vec<_>, String>>().map(Self)
    }

    /// Add them to `registry`, in place of laws of the same name of which `replaces` is true.
    ///
    /// # Errors
    /// A name that its category has already; then none is added.
    pub fn add_to(
        &self,
        registry: &mut Registry,
        replaces: impl Fn(&LoadedLaw) -> bool,
    ) -> Result<(), String> {
        let mut all = registry.clone();
        for law in self.laws().filter(replaces) {
            match law.category {
                "queue" => all.remove::<Queues>(law.name),
                "conditioner" => all.remove::<Conditioners>(law.name),
                "control" => all.remove::<Controls>(law.name),
                "traffic" => all.remove::<Traffics>(law.name),
                _ => all.remove::<Impairments>(law.name),
            }
        }
        for law in &self.0 {
            match law.raw.kind {
                abi::kind::QUEUE => all.add::<Queues>(&[queue::entry(law)]),
                abi::kind::DISCIPLINE => all.add::<Queues>(&[discipline::entry(law)]),
                abi::kind::SCHEDULER => all.add::<Queues>(&[scheduler::entry(law)]),
                abi::kind::CONDITIONER => all.add::<Conditioners>(&[conditioner::entry(law)]),
                abi::kind::CONTROL => all.add::<Controls>(&[control::entry(law)]),
                abi::kind::TRAFFIC => all.add::<Traffics>(&[traffic::entry(law)]),
                _ => all.add::<Impairments>(&[impairment::entry(law)]),
            }?;
        }
        *registry = all;
        Ok(())
    }

    /// Their descriptions.
    pub fn laws(&self) -> impl Iterator<Item = LoadedLaw> {
        self.0.iter().map(|law| LoadedLaw {
            category: decisions::category(law.raw.kind).unwrap_or_default(),
            name: law.raw.name,
            contents: law.contents,
        })
    }
}
