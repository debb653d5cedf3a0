//! The packets that are in the network, each with its place.

use std::collections::BTreeMap;

use forebay_network::{Packet, PacketKind};
use forebay_units::Time;

/// What tells a packet from all others that are under way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    flow: u32,
    number: u64,
    created: u64,
    tag: u64,
    kind: u8,
    /// Tells equal packets apart that are under way at once.
    copy: u32,
}

impl Key {
    fn of(packet: &Packet) -> Self {
        let kind = packet.kind();
        // Ports rewrite the rates in resource-management cells; all else keeps its tag.
        let tag = if kind == PacketKind::ResourceCell { 0 } else { packet.tag };
        let again = u8::from(packet.is_retransmission());
        let (number, created) = (packet.number, packet.created.ps());
        // A cell that was turned around at its destination is on another route.
        let tag = tag ^ (u64::from(packet.route.number()) << 40).rotate_left(17);
        Self {
            flow: packet.flow.number(),
            number,
            created,
            tag,
            kind: kind as u8 * 2 + again,
            copy: 0,
        }
    }
}

/// Where a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whereabouts {
    /// On its way into an element, or in one that is no link.
    Between,
    /// Queued at a link, or on its way over it.
    Link(usize),
}

/// A packet that is in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The packet as it was seen last.
    pub(crate) packet: Packet,
    pub(crate) at: Whereabouts,
    /// Links of its route at which it was queued.
    pub(crate) hops: usize,
    /// When it was queued at the link where it is.
    pub(crate) queued: Time,
    /// The element that received it last.
    pub(crate) element: Option<u32>,
}

impl Entry {
    /// Whether it has crossed `link` of its `route`, and has not come to another.
    pub(crate) fn is_beyond(&self, link: usize, route: &[usize]) -> bool {
        let last = self.hops.checked_sub(1).and_then(|last| route.get(last));
        self.at == Whereabouts::Between && last == Some(&link)
    }
}

/// All packets that were sent and have not left.
#[derive(Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<Key, Entry>,
    next_copy: u32,
}

impl Ledger {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// `packet` was sent.
    pub(crate) fn enter(&mut self, packet: &Packet) {
        let mut key = Key::of(packet);
        if self.entries.contains_key(&key) {
            self.next_copy += 1;
            key.copy = self.next_copy;
        }
        let (at, queued) = (Whereabouts::Between, packet.created);
        self.entries.insert(key, Entry { packet: *packet, at, hops: 0, queued, element: None });
    }

    /// The key of `packet`; of several equal ones, the first that `suits`, or the first of all.
    pub(crate) fn find(&self, packet: &Packet, suits: &dyn Fn(&Entry) -> bool) -> Option<Key> {
        let first = Key::of(packet);
        let last = Key { copy: u32::MAX, ..first };
        let equal = || self.entries.range(first..=last);
        let found = equal().find(|(_, entry)| suits(entry));
        found.or_else(|| equal().next()).map(|(key, _)| *key)
    }

    /// There are two of the packet under `key` from now on.
    pub(crate) fn duplicate(&mut self, key: Key) {
        if let Some(entry) = self.entries.get(&key).copied() {
            self.next_copy += 1;
            self.entries.insert(Key { copy: self.next_copy, ..key }, entry);
        }
    }

    /// The entry under `key`, which [`Ledger::find`] gave.
    pub(crate) fn entry(&mut self, key: Key) -> Option<&mut Entry> {
        self.entries.get_mut(&key)
    }

    /// The packet under `key` leaves the network.
    pub(crate) fn leave(&mut self, key: Key) -> Option<Entry> {
        self.entries.remove(&key)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};

    /// Equal packets at two places would be taken for each other, or for one.
    #[test]
    fn equal_packets_are_told_apart_by_their_places() {
        let packet = Packet::data(Time::from_ps(5), FlowId::new(1), 2, 100, RouteId::new(3));
        let mut ledger = Ledger::default();
        ledger.enter(&packet);
        ledger.enter(&packet);
        assert_eq!(ledger.len(), 2);
        let first = ledger.find(&packet, &|_| true).unwrap();
        ledger.entry(first).unwrap().at = Whereabouts::Link(4);
        let there = ledger.find(&packet, &|entry| entry.at == Whereabouts::Link(4)).unwrap();
        let other = ledger.find(&packet, &|entry| entry.at == Whereabouts::Between).unwrap();
        assert!(there == first && other != first);
        assert!(ledger.leave(first).is_some() && ledger.leave(first).is_none());
        assert_eq!(ledger.find(&packet, &|_| true), Some(other));
        // Another packet of the same flow is not there, nor is the same on another route.
        let created = Time::from_ps(5);
        for (number, route) in [(3, 3), (2, 4)] {
            let strange = Packet::data(created, FlowId::new(1), number, 100, RouteId::new(route));
            assert_eq!(ledger.find(&strange, &|_| true), None);
        }
    }
}
