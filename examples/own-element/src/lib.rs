//! A transport of one's own. Its file is `constant_window.rs`; this line of its table is all else.

mod constant_window;

use forebay_elements::{TransportKind, Transports};
use forebay_parameters::{Entry, Registry};

/// The transports of this crate.
pub static TRANSPORTS: &[Entry<TransportKind>] = &[constant_window::ENTRY];

pub use constant_window::{ArrivalResult, WindowResult};

/// All that scenarios can choose from, those of this crate included.
///
/// # Panics
/// If there is a transport of one of these names already.
#[must_use]
pub fn registry() -> Registry {
    let mut all = forebay_elements::registry();
    all.add::<Transports>(TRANSPORTS).expect("names of one's own");
    all
}
