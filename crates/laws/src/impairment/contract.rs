//! The contract of impairments: what becomes of packets on the wire.

use forebay_kernel::Stream;
use forebay_network::{DropReason, Packet};
use forebay_units::{Span, Time};

/// Fate of a packet that has crossed a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passage {
    /// It arrives unchanged.
    Passes,
    /// It arrives later by so much.
    Delayed(Span),
    /// It does not arrive.
    Lost(DropReason),
    /// It arrives twice.
    Doubled,
}

/// Effect of the wire of a link on packets beside its propagation delay.
pub trait Impairment: Send {
    /// Decide on `packet`, which has reached the far end of the link at `now`.
    fn pass(&mut self, packet: &Packet, now: Time, stream: &mut Stream) -> Passage;

    /// Returns true if a packet waits for those before it. Asked once, before the first packet.
    fn keeps_order(&self) -> bool {
        true
    }

    /// Visit the internal quantities worth plotting, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}
