//! Late packets: how many took much longer than the fastest of their flow.

use forebay_network::{DeliveryMeter, ElementCounters, columns};
use forebay_units::{Span, Time};
use serde::Serialize;

use crate::rows::{Row, RowKind, RowsOf};

/// Counts the packets of a flow that took longer than the fastest of all of them by more than some
/// time, the fastest being known only at the end.
///
/// Exact, though delays are not kept: a packet that is late by the smallest delay so far stays late
/// whatever comes, as that can only fall. Another may become late, but only if it took longer than
/// the smallest delay *possible* by that time. So what is kept lies in a band as wide as the
/// difference of the two, a few transmission times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lateness {
    after: Span,
    floor: Span,
    least: Span,
    late: u64,
    /// Delays that a smaller least delay would make late.
    near: Vec<Span>,
}

impl Lateness {
    /// Late is what takes longer than the fastest by more than `after`; nothing can be faster than
    /// `floor` (the transmission and propagation times of the route).
    #[must_use]
    pub const fn new(after: Span, floor: Span) -> Self {
        Self { after, floor, least: Span::MAX, late: 0, near: Vec::new() }
    }

    /// A packet took `delay`.
    #[inline]
    pub fn count(&mut self, delay: Span) {
        if delay < self.least {
            self.fall(delay);
        }
        if delay > self.least + self.after {
            self.late += 1;
        } else if delay > self.floor + self.after {
            self.near.push(delay);
        }
    }

    /// The least delay falls to `least`.
    #[cold]
    fn fall(&mut self, least: Span) {
        debug_assert!(least >= self.floor, "a packet was faster than its route");
        self.least = least;
        let limit = least + self.after;
        let before = self.near.len();
        self.near.retain(|delay| *delay <= limit);
        self.late += (before - self.near.len()) as u64;
    }

    /// Packets that were late.
    #[must_use]
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// The least delay; `None` if no packet was noted.
    #[must_use]
    pub fn least(&self) -> Option<Span> {
        (self.least < Span::MAX).then_some(self.least)
    }
}

impl ElementCounters for Lateness {
    fn reset(&mut self, _now: Time) {
        *self = Self::new(self.after, self.floor);
    }
}

impl DeliveryMeter for Lateness {
    #[inline]
    fn delivered(&mut self, delay: Span) {
        self.count(delay);
    }

    fn fresh(&self) -> Box<dyn DeliveryMeter> {
        Box::new(Self::new(self.after, self.floor))
    }
}

columns! {
    /// The late packets of a group of flows.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct LatenessResult {
        /// Name of the group.
        pub name: String = Word,
        /// Delivered packets that took longer than the fastest of their own flow by more than
        /// `late_after`.
        pub late_packets: u64 = Packets + headline as "late",
        /// The least one-way delay of any flow in seconds; null if no packet was delivered.
        pub least_delay_s: Option<f64> = Seconds + headline as "least delay",
        /// The largest of the least delays of the flows, in seconds; null as above.
        pub largest_least_delay_s: Option<f64> = Seconds,
    }
}

impl Row for LatenessResult {
    const KIND: RowKind = RowKind {
        name: "lateness",
        meaning: "A row a group of flows with `late_after`; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "late packets")],
        columns: Self::COLUMNS,
    };
}

impl LatenessResult {
    /// Over the flows that were counted so.
    #[must_use]
    pub fn of(name: String, flows: &[&Lateness]) -> Self {
        let least = || flows.iter().filter_map(|flow| flow.least());
        Self {
            name,
            late_packets: flows.iter().map(|flow| flow.late()).sum(),
            least_delay_s: least().min().map(Span::seconds),
            largest_least_delay_s: least().max().map(Span::seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    /// Lateness is exact though the minimum comes last, so it does not depend on the order of
    /// packets: it is counted here against all delays, kept, and their true minimum. Delays are
    /// from 100 to 160 us, the smallest possible is 95 us, and the fastest come late in the run.
    #[test]
    fn lateness_is_exact_though_the_minimum_comes_last() {
        let mut stream = Streams::new(3, 0).named("delays");
        for after in [0, 1, 20, 59, 60] {
            let after = Span::from_us(after);
            let mut lateness = Lateness::new(after, Span::from_us(95));
            let mut delays = Vec::new();
            for number in 0_u64..2000 {
                let least = 120 - number / 100;
                let delay = Span::from_us(least + stream.below(161 - least));
                delays.push(delay);
                lateness.count(delay);
            }
            let least = *delays.iter().min().unwrap();
            let late = delays.iter().filter(|delay| **delay > least + after).count() as u64;
            assert_eq!((lateness.late(), lateness.least()), (late, Some(least)), "{after:?}");
        }
    }

    /// A packet at the limit itself is in time, and a reset begins a count anew: 20 us above the
    /// least delay is not late, 20 us and 1 ps is.
    #[test]
    fn the_limit_itself_is_in_time() {
        let mut lateness = Lateness::new(Span::from_us(20), Span::ZERO);
        for ps in [100_000_000, 120_000_000, 120_000_001] {
            lateness.count(Span::from_ps(ps));
        }
        assert_eq!(lateness.late(), 1);
        lateness.reset(Time::ZERO);
        assert_eq!((lateness.late(), lateness.least()), (0, None));
    }
}
