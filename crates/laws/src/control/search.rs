//! SEARCH (Slow start Exit At Right CHokepoint, draft-chung-ccwg-search, version 3.0 of its
//! algorithm): slow start ends when a round trip no longer delivers twice as much as the one
//! before. Lines are those of the pseudo-code in section 3.
//!
//! The window returns to what it was two round trips earlier; lines 39 to 41 subtract what was
//! delivered since, which is the same where all of that opens the window. Left out are options of
//! other versions: bins of fewer bits, a restart after many bins without acknowledgements, and the
//! comparison with what was sent instead of delivered, with the drain phase behind it.

use std::collections::VecDeque;

use forebay_network::{RateSample, Window};
use forebay_units::{Span, Time};

/// `W`, and `BIN_DURATION` by the first round-trip time: `WINDOW_SIZE` is 3.5 of these (lines 1, 2
/// and 5).
const BINS: usize = 10;
const BIN: f64 = 3.5 / BINS as f64;
/// Bins by which the round-trip time may go back at most (line 3).
const EXTRA_BINS: usize = 15;
/// `THRESH` (line 6).
const THRESHOLD: f64 = 0.35;
/// Whole bins in two of the first round-trip time (line 39).
const OVERSHOT_BINS: usize = (2.0 / BIN) as usize;
/// Ends of bins that count: two windows as far apart as they can be, and one for the fraction.
const ENDS: usize = BINS + EXTRA_BINS + 2;

/// State of the first slow start of a connection.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Bytes delivered so far.
    delivered: u64,
    /// The duration of a bin, once a round-trip time was measured, and the end of the present one.
    bin: Option<Span>,
    end: Time,
    /// Bytes delivered until the end of each bin, and the window then; the last is the newest.
    ends: VecDeque<(u64, f64)>,
}

impl Search {
    /// An acknowledgement arrived in slow start. Whether that is over, with the window changed.
    pub(super) fn note(&mut self, window: &mut Window, sample: &RateSample) -> bool {
        self.delivered += sample.newly_delivered;
        match (self.bin, sample.rtt) {
            (None, Some(rtt)) => {
                let bin = rtt.scaled(BIN).max(Span::from_ps(1));
                (self.bin, self.end) = (Some(bin), sample.now + bin);
                self.ends.push_back((self.delivered, window.cwnd));
                false
            }
            (Some(bin), rtt) if sample.now > self.end => {
                self.pass_bins(bin, sample.now, window.cwnd);
                let over = rtt.is_some_and(|rtt| self.is_past_capacity(bin, rtt));
                if over {
                    window.cwnd = self.back(OVERSHOT_BINS).1;
                }
                over
            }
            _ => false,
        }
    }

    /// One bin has passed or more, the last with all that was delivered (lines 24 to 31).
    fn pass_bins(&mut self, bin: Span, now: Time, cwnd: f64) {
        let passed = now.since(self.end).ps() / bin.ps() + 1;
        self.end += bin.times(passed);
        let empty = self.back(0);
        for _ in 1..passed.min(ENDS as u64) {
            self.ends.push_back(empty);
        }
        self.ends.push_back((self.delivered, cwnd));
        self.ends.drain(..self.ends.len().saturating_sub(ENDS));
    }

    /// Returns what holds at the end of the bin that is `bins` before the newest.
    fn back(&self, bins: usize) -> (u64, f64) {
        self.ends[self.ends.len() - 1 - bins]
    }

    /// Returns true if the last window delivered too little: less by `THRESHOLD` than twice what
    /// that one round-trip time earlier did, which may begin and end within bins (lines 12 to 19,
    /// and 32 to 38).
    fn is_past_capacity(&self, bin: Span, rtt: Span) -> bool {
        let bins = usize::try_from(rtt.ps() / bin.ps()).unwrap_or(usize::MAX);
        if bins > EXTRA_BINS || self.ends.len() < bins + BINS + 2 {
            return false;
        }
        let fraction = (rtt.ps() % bin.ps()) as f64 / bin.ps() as f64;
        let until = |bins: usize| self.back(bins).0 as f64;
        let within = |bins| (1.0 - fraction) * until(bins) + fraction * until(bins + 1);
        let expected = 2.0 * (within(bins) - within(bins + BINS));
        let current = until(0) - until(BINS);
        expected > 0.0 && (expected - current) / expected >= THRESHOLD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::sample;
    use forebay_kernel::math::pow;

    /// Bytes that a path delivers in its first round-trip time, of 100 ms: bins have 35 ms.
    const FIRST: f64 = 1e6;

    /// A connection whose acknowledgements come at times in milliseconds.
    #[derive(Default)]
    struct Connection {
        law: Search,
        delivered: u64,
        cwnd: f64,
    }

    impl Connection {
        /// An acknowledgement at `ms` by which `total` bytes are delivered, with a round-trip time
        /// of `rtt_ms`. The window with which slow start ends, if it does; the window is what is
        /// delivered.
        fn acknowledge(&mut self, ms: u64, total: f64, rtt_ms: u64) -> Option<f64> {
            let newly_delivered = total as u64 - self.delivered;
            (self.delivered, self.cwnd) = (total as u64, total);
            let now = Time::ZERO + Span::from_ms(ms);
            let rtt = Some(Span::from_ms(rtt_ms));
            let mut window = Window { cwnd: self.cwnd, ssthresh: f64::INFINITY, smss: 1000.0 };
            let fact = RateSample { now, newly_delivered, rtt, ..sample() };
            self.law.note(&mut window, &fact).then_some(window.cwnd)
        }
    }

    /// Bytes delivered until `ms` by a path that is full from `full` ms on. Windows double in each
    /// round trip, and with them the rate.
    fn delivered(ms: u64, full: u64) -> f64 {
        let (rtts, full) = (ms as f64 / 100.0, full as f64 / 100.0);
        let doubled = |rtts: f64| FIRST * pow(2.0, rtts) / std::f64::consts::LN_2;
        doubled(rtts.min(full)) + FIRST * pow(2.0, full) * (rtts - full).max(0.0)
    }

    /// Slow start ends about two round trips behind capacity (section 4, THRESH), and not before:
    /// in units of what the full path delivers in a round trip it has delivered 1 / ln 2 when it
    /// gets full, and x more after x round trips. The last window of 3.5 has then 1 / ln 2 + x -
    /// 2^(x - 3.5) / ln 2, and the one before 1 / ln 2 + x - 1 - 2^(x - 4.5) / ln 2. With x = 2.11
    /// these are 3.002 and 2.277, and 1 - 3.002 / (2 * 2.277) = 0.341; with x = 2.26 3.093 and
    /// 2.397, 0.355. Bins end at 735 ms and each 35 ms; the acknowledgement that shows it comes 1
    /// ms later. The window is that of five bins, 175 ms, before.
    #[test]
    fn slow_start_ends_two_round_trips_behind_capacity() {
        let ends = |full: u64| {
            let mut connection = Connection::default();
            (0..2000).find_map(|ms| {
                let cwnd = connection.acknowledge(ms, delivered(ms, full), 100)?;
                assert_eq!(cwnd, delivered(ms - 175, full));
                Some(ms)
            })
        };
        assert_eq!(ends(736 - 226), Some(736));
        assert_eq!(ends(736 - 211), Some(771));
        assert_eq!(ends(2000), None);
    }

    /// Acknowledgements that come once in a round trip leave bins in between empty, and all that
    /// they report counts in the last (lines 24 to 31): bursts that double do not end slow start.
    /// Bursts of one size do: with one in each round trip, windows of three or four deliver as much
    /// as those before, half of twice that.
    #[test]
    fn bins_may_pass_without_acknowledgements() {
        let ends = |growth: f64| {
            let (mut connection, mut total, mut burst) = (Connection::default(), 0.0, 1e4);
            (0..20).find(|rtt| {
                total += burst;
                burst *= growth;
                connection.acknowledge(100 * rtt, total, 100).is_some()
            })
        };
        assert_eq!(ends(2.0), None);
        assert!(ends(1.0).is_some());
    }

    /// Two windows must have passed (lines 12 to 14). Delivery at one rate ends slow start as soon
    /// as they have: at 100 ms with bin 12, the thirteenth, which ends at 455 ms; at 559 ms, 15
    /// bins more than the last, with bin 25, which ends at 910 ms. At 560 ms, 16 bins, there is no
    /// telling.
    #[test]
    fn two_windows_must_have_passed() {
        let ends = |rtt_ms: u64| {
            let mut connection = Connection::default();
            (0..3000).find(|ms| {
                let rtt_ms = if *ms == 0 { 100 } else { rtt_ms };
                connection.acknowledge(*ms, 1000.0 * *ms as f64, rtt_ms).is_some()
            })
        };
        assert_eq!((ends(100), ends(559), ends(560)), (Some(456), Some(911), None));
    }

    /// A connection of which nothing arrives for long has nothing to compare with.
    #[test]
    fn silence_ends_nothing() {
        let mut connection = Connection::default();
        let ends =
            (0..500).any(|ms| connection.acknowledge(ms, delivered(ms, 5000), 100).is_some());
        let total = delivered(499, 5000);
        assert!(!ends && connection.acknowledge(60_000, total + 1000.0, 100).is_none());
    }
}
