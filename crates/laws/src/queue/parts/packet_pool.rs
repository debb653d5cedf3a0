//! A pool of packets for many queues: linked lists through one array, so that no packet needs an
//! allocation of its own.

use forebay_network::Packet;
use forebay_units::Time;

/// No place in the pool.
const NONE: u32 = u32::MAX;

/// Packets that wait in any of many [`PacketList`]s.
#[derive(Default)]
pub(in crate::queue) struct PacketPool {
    places: Vec<Place>,
    /// The first of the places that hold no packet.
    free: Option<u32>,
}

struct Place {
    packet: Packet,
    /// Time at which it entered.
    entered: Time,
    /// The place of the packet behind it, or of the next free place.
    next: u32,
}

/// A queue, first in, first out, of packets in a [`PacketPool`].
#[derive(Clone, Copy)]
pub(in crate::queue) struct PacketList {
    first: u32,
    last: u32,
    bytes: u64,
}

impl Default for PacketList {
    fn default() -> Self {
        Self { first: NONE, last: NONE, bytes: 0 }
    }
}

impl PacketList {
    /// Returns the bytes of its packets.
    #[inline]
    pub(in crate::queue) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(in crate::queue) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// Returns true if the packet at `place` is the last.
    pub(in crate::queue) fn is_last(&self, place: u32) -> bool {
        self.last == place
    }
}

impl PacketPool {
    /// Append `packet`, which enters at `now`, to `list`.
    #[inline]
    pub(in crate::queue) fn push(&mut self, list: &mut PacketList, packet: &Packet, now: Time) {
        let place = Place { packet: *packet, entered: now, next: NONE };
        let at = match self.free {
            Some(at) => {
                let next = self.places[at as usize].next;
                self.free = (next != NONE).then_some(next);
                self.places[at as usize] = place;
                at
            }
            None => {
                let at = u32::try_from(self.places.len()).unwrap_or(NONE);
                assert!(at != NONE, "a queue holds fewer than 2^32 - 1 packets");
                self.places.push(place);
                at
            }
        };
        if list.is_empty() {
            list.first = at;
        } else {
            self.places[list.last as usize].next = at;
        }
        list.last = at;
        list.bytes += u64::from(packet.size);
    }

    /// Remove the first packet of `list`, with the time at which it entered.
    #[inline]
    pub(in crate::queue) fn pop(&mut self, list: &mut PacketList) -> Option<(Time, Packet)> {
        if list.is_empty() {
            return None;
        }
        let at = list.first;
        let place = &mut self.places[at as usize];
        let (entered, packet) = (place.entered, place.packet);
        list.first = place.next;
        place.next = self.free.unwrap_or(NONE);
        self.free = Some(at);
        list.bytes -= u64::from(packet.size);
        Some((entered, packet))
    }

    /// The packets of `list` with their places, from the first on.
    pub(in crate::queue) fn walk(&self, list: &PacketList) -> impl Iterator<Item = (u32, &Packet)> {
        let mut next = list.first;
        std::iter::from_fn(move || {
            let at = next;
            let place = self.places.get(at as usize)?;
            next = place.next;
            Some((at, &place.packet))
        })
    }

    /// Remove the packet at the place `at` of `list`, which comes behind the place `before`, or is
    /// the first.
    pub(in crate::queue) fn remove_behind(
        &mut self,
        list: &mut PacketList,
        before: Option<u32>,
        at: u32,
    ) -> Packet {
        let place = &mut self.places[at as usize];
        let (packet, next) = (place.packet, place.next);
        place.next = self.free.unwrap_or(NONE);
        self.free = Some(at);
        match before {
            Some(before) => self.places[before as usize].next = next,
            None => list.first = next,
        }
        if list.last == at {
            list.last = before.unwrap_or(NONE);
        }
        list.bytes -= u64::from(packet.size);
        packet
    }

    /// Remove the last packet of `list`, walking along it.
    pub(in crate::queue) fn pop_last(&mut self, list: &mut PacketList) -> Option<Packet> {
        if list.is_empty() || list.first == list.last {
            return self.pop(list).map(|(_, packet)| packet);
        }
        let mut before = list.first;
        while self.places[before as usize].next != list.last {
            before = self.places[before as usize].next;
        }
        Some(self.remove_behind(list, Some(before), list.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};
    use std::collections::VecDeque;

    /// Packets stay in their queue, in order and with their times: a pool of three lists behaves as
    /// three queues, whatever is added and removed, and reuses the places of packets that left.
    #[test]
    fn lists_are_queues() {
        let draws = &mut forebay_kernel::Streams::new(1, 0).named("lists");
        let (mut pool, mut lists) = (PacketPool::default(), [PacketList::default(); 3]);
        let mut queues = [VecDeque::new(), VecDeque::new(), VecDeque::new()];
        let mut most = 0;
        for number in 0..10_000 {
            let which = draws.below(3) as usize;
            if draws.happens(0.5) {
                let size = 1 + draws.below(1500) as u16;
                let packet =
                    Packet::data(Time::ZERO, FlowId::new(which), number, size, RouteId::new(0));
                pool.push(&mut lists[which], &packet, Time::from_ps(number));
                queues[which].push_back((Time::from_ps(number), packet));
            } else if draws.happens(0.2) {
                let last = queues[which].pop_back().map(|(_, packet)| packet);
                assert_eq!(pool.pop_last(&mut lists[which]), last);
            } else {
                assert_eq!(pool.pop(&mut lists[which]), queues[which].pop_front());
            }
            let bytes = queues[which].iter().map(|(_, packet)| u64::from(packet.size));
            assert_eq!(lists[which].bytes(), bytes.sum::<u64>());
            assert_eq!(lists[which].is_empty(), queues[which].is_empty());
            most = most.max(queues.iter().map(VecDeque::len).sum());
        }
        assert_eq!(pool.places.len(), most);
    }
}
