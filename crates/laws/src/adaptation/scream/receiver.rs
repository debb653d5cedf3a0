//! The receiver's half of SCReAM (RFC 8298, section 4.2): which packets arrived, when the one with
//! the highest number did, and how many were marked.

use forebay_network::SackBlocks;
use forebay_units::{Span, Time};

use super::super::{Arrival, MediaReceiver, Report};

/// Most ranges in a report: about the four chunks that section 4.2.1 takes for enough.
pub(super) const RANGES: usize = 4;

/// The word of a report: the lower 16 bits of the number of marks (n_ECN), and the lower 48 of a
/// time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Word(pub u64);

impl Word {
    const TIME: u64 = (1 << 48) - 1;

    pub(super) fn new(received: Time, marks: u64) -> Self {
        Self(((received.ps() / 1000) & Self::TIME) | (marks << 48))
    }

    /// The span from `sent` to the time, if it is less than 2^48 ns, 78 hours.
    pub(super) fn since(self, sent: Time) -> Span {
        let ns = self.0.wrapping_sub(sent.ps() / 1000) & Self::TIME;
        Span::from_ps(ns.saturating_mul(1000))
    }

    pub(super) fn marks(self) -> u16 {
        (self.0 >> 48) as u16
    }
}

#[derive(Default)]
pub(super) struct Receiver {
    /// Numbers that arrived, in ranges from their first to before their end, the highest first.
    arrived: Vec<(u64, u64)>,
    /// Time at which the highest arrived.
    received: Time,
    /// Packets that arrived marked.
    marks: u64,
}

impl Receiver {
    fn note(&mut self, number: u64) {
        let place = self.arrived.partition_point(|&(first, _)| first > number);
        if self.arrived.get(place).is_some_and(|&(_, end)| number < end) {
            return;
        }
        self.arrived.insert(place, (number, number + 1));
        if place + 1 < self.arrived.len() && self.arrived[place + 1].1 == number {
            self.arrived[place].0 = self.arrived.remove(place + 1).0;
        }
        if place > 0 && self.arrived[place - 1].0 == number + 1 {
            self.arrived[place - 1].0 = self.arrived.remove(place).0;
        }
        self.arrived.truncate(RANGES);
    }
}

impl MediaReceiver for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        if self.arrived.first().is_none_or(|&(_, end)| arrival.number >= end) {
            self.received = arrival.now;
        }
        self.note(arrival.number);
        self.marks += u64::from(arrival.marked);
    }

    fn report(&mut self, _now: Time) -> Report {
        let mut arrived = SackBlocks::default();
        self.arrived.iter().for_each(|&(first, end)| arrived.push(first, end));
        Report { word: Word::new(self.received, self.marks).0, arrived }
    }
}
