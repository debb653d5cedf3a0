//! Laws that Forebay does not have, for scenarios that choose them beside its own: linked in by
//! [`registry`], or loaded from the library that this crate becomes.
//!
//! Each law has a file: its entry, its parameters, the function that builds it, the law. Here is
//! what joins them to the others.

mod aimd;
mod codel;
mod copa;
mod early_random;

use forebay_laws::control::Controls;
use forebay_laws::queue::Queues;
use forebay_scenario::Registry;

forebay_law_abi::export_law!(early_random::ENTRY, codel::ENTRY, aimd::ENTRY, copa::ENTRY);

/// All mechanisms of Forebay, and those of this crate.
///
/// # Errors
/// If Forebay has a mechanism of the same name by now.
pub fn registry() -> Result<Registry, String> {
    let mut all = forebay_scenario::registry();
    all.add::<Queues>(&[early_random::ENTRY])?;
    all.add::<Controls>(&[aimd::ENTRY])?;
    all.add::<Queues>(&[codel::ENTRY])?;
    all.add::<Controls>(&[copa::ENTRY])?;
    Ok(all)
}
