//! A queue and a congestion control that Forebay does not have, for scenarios that choose them
//! beside its own.
//!
//! Each law has a file: its entry, its parameters, the function that builds it, the law. Here is
//! what joins them to the others.

mod aimd;
mod early_random;

use forebay_mechanisms::control::Controls;
use forebay_mechanisms::queue::Queues;
use forebay_scenario::Registry;

/// All mechanisms of Forebay, and the two of this crate.
///
/// # Errors
/// If Forebay has a mechanism of the same name by now.
pub fn registry() -> Result<Registry, String> {
    let mut all = forebay_scenario::registry();
    all.add::<Queues>(&[early_random::ENTRY])?;
    all.add::<Controls>(&[aimd::ENTRY])?;
    Ok(all)
}
