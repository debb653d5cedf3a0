//! Laws of a crate as a shared library: the macro [`export_law!`](crate::export_law), and what it
//! expands to.
//!
//! A law stays what it is, an entry and an implementation of a trait of `forebay_network`. Its
//! parameters are translated into the table of the library, and back into a section from which its
//! build function reads them, so that its own checks and messages hold. `raw` has all that is
//! unsafe; there is a file for each kind beside it.

mod conditioner;
mod control;
mod convert;
mod example;
mod fields;
mod impairment;
mod queue;
mod raw;
mod traffic;

use std::any::Any;
use std::sync::OnceLock;

use forebay_kernel::Stream;
use forebay_laws::LinkFacts;
use forebay_parameters::{Entry, Field, Node, Problem, Registry, Section, Table as Values, Value};
use forebay_units::Rate;

use crate::abi::{self, CreateFacts, flag};

pub use raw::Table;

/// Export laws from a crate with `crate-type = ["cdylib", "rlib"]`, which Forebay then loads as a
/// library: `export_law!(early_random::ENTRY, aimd::ENTRY);` at the root of the crate, once.
///
/// It takes the constants of entries of queues, congestion controls, conditioners, kinds of traffic
/// and impairments, of type [`Entry`](forebay_parameters::Entry). A queue is exported as what its
/// build function makes of the entry's example: a drop policy or a queue discipline.
///
/// Version 1 of the interface carries no mechanism inside a law, no data files, no parameters of
/// types of one's own, no [`QueueDisc::peek`](forebay_network::QueueDisc::peek), no requests,
/// videos, pauses or fresh connections of traffic. A library with such a law is refused when it is
/// loaded, with the name of the law. Of packets a law sees what queues go by (size, ECN field,
/// codepoint, colour, flow, kind), and neither numbers nor creation times; of the network no groups
/// of flows. A panic ends the run and names the law, where panics unwind.
#[macro_export]
macro_rules! export_law {
    (@table $host:expr; $($entry:path),+) => {{
        static TABLE: $crate::export::Table = $crate::export::Table::new();
        TABLE.get($host, || ::std::vec![$({
            struct This;
            impl $crate::export::Exported for This {
                const WORDS: usize = $crate::export::words($entry.fields);

                fn entry() -> &'static dyn ::core::any::Any {
                    &$entry
                }

                fn flags() -> &'static ::std::sync::OnceLock<u32> {
                    static FLAGS: ::std::sync::OnceLock<u32> = ::std::sync::OnceLock::new();
                    &FLAGS
                }
            }
            $crate::export::law::<This, _>(&$entry)
        }),+])
    }};
    ($($entry:path),+ $(,)?) => {
        /// Gives the table of the laws of this library.
        #[unsafe(no_mangle)]
        pub extern "C" fn forebay_laws_v1(
            host: ::core::option::Option<&'static $crate::abi::Host>,
        ) -> ::core::option::Option<&'static $crate::abi::Laws> {
            $crate::export_law!(@table host; $($entry),+)
        }
    };
}

/// A law that is exported: a type for each, of which the functions in its table are made.
#[doc(hidden)]
pub trait Exported: 'static {
    /// Words that its parameters take at the start of its state.
    const WORDS: usize;

    /// Its entry.
    fn entry() -> &'static dyn Any;

    /// The flags in its table, once that is made.
    fn flags() -> &'static OnceLock<u32>;
}

/// Words that parameters take at the start of a state.
#[doc(hidden)]
#[must_use]
pub const fn words(fields: &[Field]) -> usize {
    let (mut total, mut at) = (0, 0);
    while at < fields.len() {
        total += fields::words(&fields[at]);
        at += 1;
    }
    total
}

/// The table of a law.
///
/// # Errors
/// What the interface cannot carry of it, with its name.
#[doc(hidden)]
pub fn law<L: Exported, B: Build>(entry: &'static Entry<B>) -> Result<abi::Law, String> {
    fields::check(entry.fields)
        .and_then(|()| B::describe::<L>(entry))
        .map_err(|message| format!("law \"{}\": {message}", entry.name))
}

/// Maker of laws of a category.
#[doc(hidden)]
pub trait Build: Copy + Send + Sync + 'static {
    /// The table of the law of this `entry`.
    ///
    /// # Errors
    /// What the interface cannot carry of it.
    fn describe<L: Exported>(entry: &'static Entry<Self>) -> Result<abi::Law, String>;
}

/// A law of one kind, on the side of the library.
trait Guest: Sized + 'static {
    /// Maker of one.
    type Build: Copy + 'static;
    /// Facts of its decisions: a struct of `abi` that begins with a head.
    type Facts: raw::Facts;
    /// The kind.
    const KIND: u32;

    /// Make one.
    ///
    /// # Errors
    /// A wrong parameter.
    fn make(build: Self::Build, given: &Given<'_>) -> Result<Self, Problem>;

    /// The flags of the law.
    fn flags(&self) -> u32;

    /// The places of the decisions that it makes.
    fn decisions(&self) -> Vec<usize>;

    /// Make the decision at this place of `decide`.
    ///
    /// # Errors
    /// Why it cannot be answered.
    fn decide(
        &mut self,
        decision: usize,
        facts: &mut Self::Facts,
        stream: Option<&mut Stream>,
    ) -> Result<i32, String>;

    /// Visit its inner quantities.
    fn probes(&self, visit: &mut dyn FnMut(&str, f64));

    /// Refuse what the interface cannot carry, of one that was made for this alone.
    ///
    /// # Errors
    /// What it is.
    fn check(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// The material of a law.
struct Given<'a> {
    section: &'a Section<'a>,
    link: LinkFacts,
}

/// The result of `make` for parameters with these `values`, for the rate of a link.
fn build<T>(
    values: Values,
    rate: Rate,
    make: impl FnOnce(&Given<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    static NOTHING: Registry = Registry::new();
    let node = Node::new(Value::Table(values));
    let section = Section::root(&node, None)?.with_registry(&NOTHING);
    make(&Given { section: &section, link: LinkFacts::of(rate) })
}

/// The result of `make` for the example of `entry`.
fn of_example<B: Copy, T>(
    entry: &Entry<B>,
    make: impl FnOnce(B, &Given<'_>) -> Result<T, Problem>,
) -> Result<T, String> {
    // The link of which `Entry::example` speaks.
    const RATE: Rate = Rate::from_bps(1_000_000);
    let wrong = |message: String| format!("with the parameters of its example, {message}");
    let values = example::read(entry.example).map_err(wrong)?;
    raw::caught(|| build(values, RATE, |given| make(entry.build, given)))
        .map_err(wrong)?
        .map_err(|problem| wrong(problem.to_string()))
}

/// The table of a law of kind `G`.
fn describe<L: Exported, G: Guest>(entry: &'static Entry<G::Build>) -> Result<abi::Law, String> {
    let mut shown: G = of_example(entry, G::make)?;
    let (flags, decisions) = (shown.flags(), shown.decisions());
    raw::caught(move || shown.check())??;
    L::flags().get_or_init(|| flags);
    Ok(raw::table::<L, G>(entry, flags, &decisions))
}

/// Refuse a law with other flags than its example has: what an engine does for a law goes by them.
fn check_flags(own: u32, table: Option<u32>) -> Result<(), String> {
    // These only promise less than the law keeps.
    const PROMISES: u32 = flag::TRANSPARENT | flag::KEEPS_COLOURS;
    let table = table.unwrap_or(own);
    let broken = table & PROMISES & !own;
    let changed = (own ^ table) & !PROMISES;
    if broken | changed == 0 {
        return Ok(());
    }
    let names = flag::ALL.iter().filter(|(_, bit)| i64::from(broken | changed) & bit != 0);
    let names: Vec<&str> = names.map(|(name, _)| *name).collect();
    Err(format!(
        "with these parameters it is of another kind than with its example ({}), and a library \
         has one for all",
        names.join(", ")
    ))
}

/// The rate of the link in the facts of a creation.
fn link_rate(facts: &CreateFacts) -> Rate {
    Rate::from_bps(u64::try_from(facts.link_rate).unwrap_or(0))
}
