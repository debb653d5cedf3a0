//! The queues in which a host's frames wait to go onto a ringlet.

use std::collections::VecDeque;

use forebay_network::Packet;
use forebay_units::Time;

/// The frames of one class: a queue for each destination, served in turn, or one for all.
pub(super) struct HostQueues {
    queues: Vec<VecDeque<(Packet, Time)>>,
    /// Bytes of each queue.
    filled: Vec<u64>,
    by_destination: bool,
    /// Queue that is asked first.
    turn: usize,
    bytes: u64,
    packets: u32,
}

impl HostQueues {
    pub(super) fn new(by_destination: bool, stations: usize) -> Self {
        let count = if by_destination { stations - 1 } else { 1 };
        let (queues, filled) = (vec![VecDeque::new(); count], vec![0; count]);
        Self { queues, filled, by_destination, turn: 0, bytes: 0, packets: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    /// `packet` joins at `now`, its destination `ahead` spans away; false if its queue has not room
    /// for it within `limit` bytes.
    pub(super) fn push(&mut self, packet: &Packet, ahead: u16, limit: u64, now: Time) -> bool {
        let place = if self.by_destination { usize::from(ahead) - 1 } else { 0 };
        let filled = self.filled[place] + u64::from(packet.size);
        if filled > limit {
            return false;
        }
        self.filled[place] = filled;
        self.queues[place].push_back((*packet, now));
        self.bytes += u64::from(packet.size);
        self.packets += 1;
        true
    }

    /// The heads of the queues that hold frames, in the order in which they are asked.
    pub(super) fn heads(&self) -> impl Iterator<Item = (usize, &Packet)> {
        let count = self.queues.len();
        let places = (self.turn..count).chain(0..self.turn);
        places.filter_map(|place| self.queues[place].front().map(|(packet, _)| (place, packet)))
    }

    /// Take the head of queue `place`; the others have their turn before it. Since when it waited.
    pub(super) fn take(&mut self, place: usize) -> (Packet, Time) {
        let (packet, since) = self.queues[place].pop_front().expect("its head was asked for");
        self.filled[place] -= u64::from(packet.size);
        self.bytes -= u64::from(packet.size);
        self.packets -= 1;
        self.turn = (place + 1) % self.queues.len();
        (packet, since)
    }

    /// Returns the time since which the oldest frame waits.
    pub(super) fn waiting_since(&self) -> Option<Time> {
        if self.packets == 0 {
            return None;
        }
        self.queues.iter().filter_map(VecDeque::front).map(|(_, since)| *since).min()
    }
}
