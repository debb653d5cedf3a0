//! A transport and a kind of link of one's own. Their files are `constant_window.rs` and
//! `slotted.rs`; a line of a table is all else.

mod constant_window;
mod slotted;

use forebay_elements::link::{LinkKind, LinkKinds};
use forebay_elements::{TransportKind, Transports};
use forebay_parameters::{Entry, Registry};

/// The transports of this crate.
pub static TRANSPORTS: &[Entry<TransportKind>] = &[constant_window::ENTRY];

/// The kinds of links of this crate.
pub static LINKS: &[Entry<LinkKind>] = &[slotted::ENTRY];

pub use constant_window::{ArrivalResult, WindowResult};

/// All that scenarios can choose from, those of this crate included.
///
/// # Panics
/// If there is a transport or a kind of link of one of these names already.
#[must_use]
pub fn registry() -> Registry {
    let mut all = forebay_elements::registry();
    all.add::<Transports>(TRANSPORTS).expect("names of one's own");
    all.add::<LinkKinds>(LINKS).expect("names of one's own");
    all
}
