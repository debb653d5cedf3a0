//! Explicit-rate allocation at a port: an element in front of a link that observes arrivals and
//! writes the allowed rates of their sources into backward resource-management cells.
//!
//! A backward cell does not pass the link itself, but the node at its near end: its route leads
//! through this element as well. No time passes in it.

use forebay_laws::explicit_rate::ExplicitRate;
use forebay_laws::explicit_rate::{CellRate, ResourceCell};
use forebay_network::{Context, Element, LogicalProcess, Packet, PacketKind};

/// Applies an explicit-rate law.
///
/// The routing table tells which packets take rates from it: those of a route that has a reverse
/// path at this element. Backward cells come on that path, whose own reverse path is the route of
/// the packets.
pub struct RateAllocator {
    law: Box<dyn ExplicitRate>,
}

impl RateAllocator {
    /// An allocator under `law`.
    #[must_use]
    pub fn new(law: Box<dyn ExplicitRate>) -> Self {
        Self { law }
    }

    /// Write the allowed rate into a backward cell, which carries the lowest rate of all ports.
    fn write_rate(&mut self, packet: &Packet, cell: ResourceCell, cx: &Context<'_>) -> Packet {
        let bits = packet.wire_size().bits() as f64;
        let explicit = CellRate::at_most(self.law.allows(packet.flow, cx.now()) / bits);
        ResourceCell { explicit: cell.explicit.min(explicit), ..cell }.written(*packet)
    }
}

impl LogicalProcess for RateAllocator {}

impl Element for RateAllocator {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        let mut packet = *packet;
        let cell = (packet.kind() == PacketKind::ResourceCell).then(|| ResourceCell::of(&packet));
        match (cx.reverse_route(packet.route), cell) {
            (None, _) => self.law.passes(&packet, now),
            (Some(_), None) => self.law.arrives(&packet, None, now),
            (Some(_), Some(cell)) if cell.backward => packet = self.write_rate(&packet, cell, cx),
            (Some(_), Some(cell)) => {
                let current = cell.current.per_second() * packet.wire_size().bits() as f64;
                self.law.arrives(&packet, Some(current), now);
            }
        }
        cx.forward(&packet);
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("an allocator sets no timer");
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.law.probes(visit);
    }
}
