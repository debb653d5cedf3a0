//! The packets that are in the network, each with its place.

use std::collections::BTreeMap;

use forebay_network::{Ecn, Packet, PacketKind};
use forebay_units::Time;

/// Identity of a packet among all that are under way.
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

/// Place of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whereabouts {
    /// On its way into an element, or in one that is no link.
    Between,
    /// Queued at a link, or on its way over it.
    Link(usize),
}

/// Degree to which a packet fits what is seen of it, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Fit {
    /// It is where that happens.
    There,
    /// It could have come there unseen.
    Near,
    /// It is elsewhere.
    Elsewhere,
}

impl Fit {
    /// Returns the fit of a packet that is there, or could be near.
    pub(crate) fn of(there: bool, near: bool) -> Self {
        match (there, near) {
            (true, _) => Self::There,
            (false, true) => Self::Near,
            (false, false) => Self::Elsewhere,
        }
    }
}

/// A packet that is in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The packet as it was seen last.
    pub(crate) packet: Packet,
    pub(crate) at: Whereabouts,
    /// Links of its route at which it was queued, and the last of them.
    pub(crate) hops: usize,
    pub(crate) last_link: Option<usize>,
    /// Time at which it was queued at the link that it is at.
    pub(crate) queued: Time,
    /// Codepoint, DSCP and precedence with which it was queued there.
    pub(crate) came: (Ecn, u8, u8),
    /// Its codepoint before the link marked it that it is about to be queued at.
    pub(crate) unmarked: Option<Ecn>,
    /// The element that received it last.
    pub(crate) element: Option<u32>,
}

impl Entry {
    /// Returns true if it has crossed `link`, and has not come to another.
    pub(crate) fn is_beyond(&self, link: usize) -> bool {
        self.at == Whereabouts::Between && self.last_link == Some(link)
    }
}

/// All packets that were sent and have not left.
#[derive(Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<Key, Entry>,
    next_copy: u32,
}

impl Ledger {
    /// Returns the number of packets under way.
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
        let (came, unmarked) = (marks(packet), None);
        let entry = Entry {
            packet: *packet,
            at,
            hops: 0,
            last_link: None,
            queued,
            came,
            unmarked,
            element: None,
        };
        self.entries.insert(key, entry);
    }

    /// The key of `packet`. Of several equal ones, of those that fit best: one that was seen last
    /// as `packet` is, if there is one, and that has been where it is longest.
    pub(crate) fn find(&self, packet: &Packet, fit: &dyn Fn(&Entry) -> Fit) -> Option<Key> {
        let rank = |(_, entry): &(&Key, &Entry)| {
            (fit(entry), marks(&entry.packet) != marks(packet), entry.queued)
        };
        self.equal(packet).min_by_key(rank).map(|(key, _)| *key)
    }

    /// Finds an entry as [`Ledger::find`] does. Which of equal packets was marked as it left a
    /// queue shows when they cross the link: those that came to it alike are told apart by their
    /// order alone.
    pub(crate) fn identify(&mut self, packet: &Packet, fit: &dyn Fn(&Entry) -> Fit) -> Option<Key> {
        let found = self.find(packet, fit)?;
        if self.equal(packet).nth(1).is_none() {
            return Some(found);
        }
        let came = self.entries[&found].came;
        let alike = |entry: &Entry| entry.came == came && fit(entry) == fit(&self.entries[&found]);
        let alike = self.equal(packet).filter(|(_, entry)| alike(entry));
        let first = *alike.min_by_key(|(_, entry)| entry.queued)?.0;
        let (held, other) = (self.entries[&first].packet, self.entries[&found].packet);
        self.entries.get_mut(&first)?.packet = other;
        self.entries.get_mut(&found)?.packet = held;
        Some(first)
    }

    /// All that are like `packet`.
    fn equal(&self, packet: &Packet) -> impl Iterator<Item = (&Key, &Entry)> {
        let first = Key::of(packet);
        self.entries.range(first..=Key { copy: u32::MAX, ..first })
    }

    /// There are two of the packet under `key` from now on.
    pub(crate) fn duplicate(&mut self, key: Key) {
        if let Some(entry) = self.entries.get(&key).copied() {
            self.next_copy += 1;
            self.entries.insert(Key { copy: self.next_copy, ..key }, entry);
        }
    }

    /// The same, to be read.
    pub(crate) fn get(&self, key: Key) -> Option<&Entry> {
        self.entries.get(&key)
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

/// Returns the fields of a packet that links may change.
pub(crate) fn marks(packet: &Packet) -> (Ecn, u8, u8) {
    (packet.ecn(), packet.dscp(), packet.precedence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};

    /// Equal packets at two places are two, told apart by their places.
    #[test]
    fn equal_packets_are_told_apart_by_their_places() {
        let packet = Packet::data(Time::from_ps(5), FlowId::new(1), 2, 100, RouteId::new(3));
        let mut ledger = Ledger::default();
        ledger.enter(&packet);
        ledger.enter(&packet);
        assert_eq!(ledger.len(), 2);
        let any = |_: &Entry| Fit::There;
        let at = |place: Whereabouts| {
            move |entry: &Entry| if entry.at == place { Fit::There } else { Fit::Elsewhere }
        };
        let first = ledger.find(&packet, &any).unwrap();
        ledger.entry(first).unwrap().at = Whereabouts::Link(4);
        let there = ledger.find(&packet, &at(Whereabouts::Link(4))).unwrap();
        let other = ledger.find(&packet, &at(Whereabouts::Between)).unwrap();
        assert!(there == first && other != first);
        // A queue between two links sends that first which came first, whichever is the copy.
        for (key, ps) in [(first, 9), (other, 7)] {
            let entry = ledger.entry(key).unwrap();
            (entry.at, entry.queued) = (Whereabouts::Link(4), Time::from_ps(ps));
        }
        let queued = at(Whereabouts::Link(4));
        assert_eq!(ledger.find(&packet, &queued), Some(other));
        // One of them was marked: it cannot be the other.
        ledger.entry(first).unwrap().packet = packet.with_ecn(Ecn::Ce);
        assert_eq!(ledger.find(&packet.with_ecn(Ecn::Ce), &queued), Some(first));
        assert!(ledger.leave(first).is_some() && ledger.leave(first).is_none());
        assert_eq!(ledger.find(&packet, &any), Some(other));
        // Another packet of the same flow is not there, nor is the same on another route.
        let created = Time::from_ps(5);
        for (number, route) in [(3, 3), (2, 4)] {
            let strange = Packet::data(created, FlowId::new(1), number, 100, RouteId::new(route));
            assert_eq!(ledger.find(&strange, &any), None);
        }
    }
}
