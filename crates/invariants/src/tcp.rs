//! Expected knowledge of the two ends of a TCP connection, given the packets that were seen.

use std::collections::BTreeMap;

use forebay_network::{Packet, RouteId};
use forebay_units::Time;

/// A TCP connection as it follows from its packets.
#[derive(Default)]
pub(crate) struct TcpModel {
    /// The next segment never sent.
    pub(crate) next_new: u64,
    /// The highest acknowledgement that reached the sender.
    pub(crate) acked: u64,
    /// Payload of the segments that were sent and are not acknowledged, by number, and in all.
    unacked: BTreeMap<u64, u64>,
    pub(crate) outstanding: u64,
    /// Timeouts, and acknowledgements that indicate a loss.
    pub(crate) causes: u64,
    /// The next segment that the receiver expects.
    pub(crate) expected: u64,
    /// Time at which a segment arrived last, and the segment expected before.
    pub(crate) before: (Time, u64),
    /// Payload of the segments above it that have arrived, by number.
    above: BTreeMap<u64, u64>,
    /// Payload of the segments below `expected`, once each, since counting began.
    pub(crate) in_order: u64,
    /// The same since the run began, and the bytes of the transfers that were completed.
    pub(crate) arrived: u64,
    pub(crate) transferred: u64,
    /// The routes of the segments: several, where routes change as links fail.
    pub(crate) routes: Vec<RouteId>,
}

impl TcpModel {
    /// Segment `number` with `payload` bytes was sent for the first time.
    pub(crate) fn send(&mut self, number: u64, payload: u64) {
        self.next_new = self.next_new.max(number + 1);
        if self.unacked.insert(number, payload).is_none() {
            self.outstanding += payload;
        }
    }

    /// All segments below `number` are acknowledged.
    pub(crate) fn acknowledge(&mut self, number: u64) {
        self.acked = self.acked.max(number);
        while let Some(first) = self.unacked.first_entry()
            && *first.key() < number
        {
            self.outstanding -= first.remove();
        }
    }

    /// A data packet with `payload` bytes was delivered to the receiver.
    pub(crate) fn deliver(&mut self, packet: &Packet, payload: u64, now: Time) {
        self.before = (now, self.expected);
        if !self.routes.contains(&packet.route) {
            self.routes.push(packet.route);
        }
        if packet.number < self.expected {
            return;
        }
        self.above.entry(packet.number).or_insert(payload);
        while let Some(payload) = self.above.remove(&self.expected) {
            self.expected += 1;
            self.in_order += payload;
            self.arrived += payload;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::FlowId;

    /// Bytes in order count once: neither repeated segments nor those behind a gap add to them.
    #[test]
    fn what_is_in_order_counts_once() {
        let mut model = TcpModel::default();
        let mut deliver = |number| {
            let (flow, route) = (FlowId::new(0), RouteId::new(0));
            model.deliver(&Packet::data(Time::ZERO, flow, number, 140, route), 100, Time::ZERO);
            (model.expected, model.in_order)
        };
        assert_eq!(deliver(0), (1, 100));
        assert_eq!(deliver(2), (1, 100));
        assert_eq!(deliver(2), (1, 100));
        assert_eq!(deliver(1), (3, 300));
        assert_eq!(deliver(0), (3, 300));
    }
}
