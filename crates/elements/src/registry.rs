//! The registry of laws and elements.

use forebay_parameters::{Entry, Registry};

use crate::fabric::{SHAPES, Shapes};
use crate::link::{LINKS, LinkKinds};
use crate::subnetwork::{SubnetworkKind, Subnetworks};
use crate::transport::{TransportKind, Transports};
use crate::{calls, media, paced, ring, tcp, udp};

/// Every transport.
pub static TRANSPORTS: &[Entry<TransportKind>] =
    &[tcp::ENTRY, udp::ENTRY, media::ENTRY, calls::ENTRY, paced::ENTRY];

/// Every kind of subnetworks.
pub static SUBNETWORKS: &[Entry<SubnetworkKind>] = &[ring::plan::ENTRY];

/// Every law, and every element that scenarios choose: what they can choose from where nothing is
/// added.
///
/// # Panics
/// Never: a table has each name once.
#[must_use]
pub fn registry() -> Registry {
    let mut all = forebay_laws::registry();
    all.add::<Transports>(TRANSPORTS).expect("a table has each name once");
    all.add::<Subnetworks>(SUBNETWORKS).expect("a table has each name once");
    all.add::<LinkKinds>(LINKS).expect("a table has each name once");
    all.add::<Shapes>(SHAPES).expect("a table has each name once");
    all
}
