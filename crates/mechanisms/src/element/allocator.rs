//! Explicit rates at a port: an element in front of a link that sees what arrives, and writes into
//! the resource-management cells that come back which rates their sources may have.
//!
//! A cell on its way back does not pass the link itself, but the node at its near end: its route
//! leads through this element as well. No time passes in it.

use forebay_network::{CellRate, Context, Element, ExplicitRate, Packet, ResourceCell};

/// Asks a law of explicit rates.
///
/// Whose packets take rates from it says the table of routes: those of a route to which a way back
/// was laid here. On that come cells back; its own way back is the route of the packets.
pub struct RateAllocator {
    law: Box<dyn ExplicitRate>,
}

impl RateAllocator {
    /// An allocator that asks `law`.
    #[must_use]
    pub fn new(law: Box<dyn ExplicitRate>) -> Self {
        Self { law }
    }

    /// A cell that comes back takes along the lowest rate of all ports.
    fn told(&mut self, packet: &Packet, cell: ResourceCell, cx: &Context<'_>) -> Packet {
        let bits = packet.wire_size().bits() as f64;
        let explicit = CellRate::at_most(self.law.allows(packet.flow, cx.now()) / bits);
        packet.with_resource_cell(ResourceCell { explicit: cell.explicit.min(explicit), ..cell })
    }
}

impl Element for RateAllocator {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        let mut packet = *packet;
        match (cx.way_back(packet.route), packet.resource_cell()) {
            (None, _) => self.law.passes(&packet, now),
            (Some(_), None) => self.law.arrives(&packet, None, now),
            (Some(_), Some(cell)) if cell.backward => packet = self.told(&packet, cell, cx),
            (Some(_), Some(cell)) => {
                let current = cell.current.per_second() * packet.wire_size().bits() as f64;
                self.law.arrives(&packet, Some(current), now);
            }
        }
        cx.forward(&packet);
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("it sets no timer");
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.law.gauges(tell);
    }
}
