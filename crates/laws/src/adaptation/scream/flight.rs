//! Packets in flight, and which of them are lost (RFC 8298, sections 4.1.2 and 4.1.2.4).

use std::collections::VecDeque;

use forebay_units::{Span, Time};

use super::receiver::RANGES;

/// Time of which the most bytes in flight bound the window (section 4.1.2.2).
const MEMORY: Span = Span::from_s(5);

/// Fate of a packet, by reports.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fate {
    Unknown,
    Arrived,
    /// It is missing since a time.
    Missing(Time),
    /// It counts as lost, and is missing since a time.
    Lost(Time),
}

struct Sent {
    size: u16,
    at: Time,
    fate: Fate,
}

/// News of a report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct News {
    /// Bytes from the highest number reported before to that of this report, lost ones among them.
    pub acked: u64,
    /// Time at which the packet with the highest number was sent, if it is a new one.
    pub sent: Option<Time>,
    /// True if a packet counts as lost from now on.
    pub lost: bool,
}

#[derive(Default)]
pub(super) struct Flight {
    /// Packets from `first` on.
    sent: VecDeque<Sent>,
    first: u64,
    /// The number after the highest that was reported.
    acked: u64,
    /// Packets before this one count no more as in flight.
    given_up: u64,
    /// Bytes in flight.
    bytes: u64,
    /// Bytes in flight within [`MEMORY`], with their times: falling, as less before more is of no
    /// use.
    most: VecDeque<(Time, u64)>,
    /// The reordering window.
    reordering: Span,
}

impl Flight {
    /// bytes_in_flight: all that was sent after the highest number reported.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn send(&mut self, number: u64, size: u16, now: Time) {
        debug_assert_eq!(number, self.first + self.sent.len() as u64);
        self.sent.push_back(Sent { size, at: now, fate: Fate::Unknown });
        self.bytes += u64::from(size);
        while self.most.back().is_some_and(|&(_, bytes)| bytes <= self.bytes) {
            self.most.pop_back();
        }
        self.most.push_back((now, self.bytes));
    }

    /// max_bytes_in_flight.
    pub(super) fn most(&mut self, now: Time) -> u64 {
        while self.most.front().is_some_and(|&(at, _)| now.since(at) > MEMORY) {
            self.most.pop_front();
        }
        self.most.front().map_or(0, |&(_, bytes)| bytes)
    }

    /// Take all that is in flight for lost: no report came.
    pub(super) fn give_up(&mut self) {
        self.given_up = self.first + self.sent.len() as u64;
        self.bytes = 0;
    }

    /// A report has come that lists what `arrived` in ranges; `longest` bounds the reordering
    /// window. `None` if it says nothing, or is older than one before.
    pub(super) fn report(
        &mut self,
        arrived: &[(u64, u64)],
        longest: Span,
        now: Time,
    ) -> Option<News> {
        let &(_, end) = arrived.first()?;
        if end < self.acked || end > self.first + self.sent.len() as u64 {
            return None;
        }
        let fresh = end > self.acked;
        let sent = fresh.then(|| self.sent[(end - 1 - self.first) as usize].at);
        let acked = self.pass(end, arrived, now);
        let lost = self.find_lost(arrived, longest, now);
        self.forget(longest, now);
        Some(News { acked, sent, lost })
    }

    /// Take packets up to `end` out of flight. Returns their bytes.
    fn pass(&mut self, end: u64, arrived: &[(u64, u64)], now: Time) -> u64 {
        let listed = |number: u64| arrived.iter().any(|&(from, to)| (from..to).contains(&number));
        // Below a full list, nothing is said.
        let silent = arrived.get(RANGES - 1).map_or(0, |&(first, _)| first);
        let mut acked = 0;
        for number in self.acked..end {
            let sent = &mut self.sent[(number - self.first) as usize];
            let came = number < silent || listed(number);
            sent.fate = if came { Fate::Arrived } else { Fate::Missing(now) };
            if number >= self.given_up {
                acked += u64::from(sent.size);
            }
        }
        self.acked = end;
        self.bytes -= acked;
        acked
    }

    /// Section 4.1.2.4. Returns true if a packet counts as lost that did not before.
    fn find_lost(&mut self, arrived: &[(u64, u64)], longest: Span, now: Time) -> bool {
        let mut lost = false;
        for (number, sent) in (self.first..self.acked).zip(&mut self.sent) {
            let (Fate::Missing(since) | Fate::Lost(since)) = sent.fate else { continue };
            if arrived.iter().any(|&(from, to)| (from..to).contains(&number)) {
                sent.fate = Fate::Arrived;
                self.reordering = now.since(since).min(longest);
            } else if sent.fate == Fate::Missing(since) && now.since(since) >= self.reordering {
                sent.fate = Fate::Lost(since);
                lost = true;
            }
        }
        lost
    }

    /// Forget packets of which nothing more is to be learnt.
    fn forget(&mut self, longest: Span, now: Time) {
        while self.first < self.acked {
            let known = match self.sent.front().map(|sent| sent.fate) {
                Some(Fate::Arrived) => true,
                Some(Fate::Lost(since)) => now.since(since) > longest,
                _ => false,
            };
            if !known {
                return;
            }
            self.sent.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
impl Flight {
    pub(super) fn reordering(&self) -> Span {
        self.reordering
    }
}
