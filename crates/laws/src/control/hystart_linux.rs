//! HyStart as Linux has it (Ha and Rhee 2011; `net/ipv4/tcp_cubic.c`, `hystart_update`): slow start
//! ends when a round trip's acknowledgements come in a train as long as half the path, or when
//! round-trip times grow.

use forebay_network::{RateSample, Window};
use forebay_units::{Span, Time};

/// Segments of the window below which it is not asked (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// The longest gap between two acknowledgements of a train (`hystart_ack_delta_us`).
const GAP: Span = Span::from_ms(2);
/// Bytes that wait in the sender's host, at most as long as `MAX_WAIT` (`hystart_ack_delay`:
/// four packets of `sk_gso_max_size`, at the pacing rate).
const WAITING: f64 = 4.0 * 65_536.0;
const MAX_WAIT: Span = Span::from_ms(1);
/// Round-trip times of which the least counts (`HYSTART_MIN_SAMPLES`); the next one is judged.
const SAMPLES: u32 = 8;
/// The growth that ends slow start: an eighth of the least round-trip time, within these limits
/// (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const DIVISOR: f64 = 8.0;
const MIN_GROWTH: Span = Span::from_ms(4);
const MAX_GROWTH: Span = Span::from_ms(16);

/// State of a connection: its path, and the present round trip.
#[derive(Debug, Default)]
pub(super) struct HyStart {
    /// Slow start has ended.
    found: bool,
    /// The least round-trip time of the connection.
    least: Option<Span>,
    /// The segment whose acknowledgement is the last of this round.
    end: u64,
    began: Time,
    /// The last acknowledgement of the train that began with the round.
    train: Time,
    /// The least round-trip time of this round, and of how many.
    current: Option<Span>,
    samples: u32,
}

impl HyStart {
    /// An acknowledgement arrived, in slow start or not. Whether slow start is over.
    pub(super) fn note(&mut self, window: &Window, sample: &RateSample) -> bool {
        let Some(rtt) = sample.rtt else { return false };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.found || window.cwnd >= window.ssthresh {
            return false;
        }
        if sample.una > self.end {
            self.end = sample.max;
            (self.began, self.train) = (sample.now, sample.now);
            (self.current, self.samples) = (None, 0);
        }
        if window.cwnd < LOW_WINDOW * window.smss {
            return false;
        }
        self.found = self.is_long_train(window, sample, least);
        self.found |= self.has_grown(rtt, least);
        self.found
    }

    /// Returns true if acknowledgements have followed each other closely for half the least
    /// round-trip time since the round began; for all of it where pacing has spread the segments.
    fn is_long_train(&mut self, window: &Window, sample: &RateSample, least: Span) -> bool {
        if sample.now.since(self.train) > GAP {
            return false;
        }
        self.train = sample.now;
        let srtt = sample.srtt.unwrap_or(least).seconds();
        // Slow start sends two windows for each smoothed round-trip time
        // (`tcp_update_pacing_rate`).
        let factor = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
        let wait = Span::from_seconds((WAITING * srtt / (factor * window.cwnd)).min(1.0));
        let whole = least + wait.min(MAX_WAIT);
        let threshold = if sample.paced { whole } else { Span::from_ps(whole.ps() / 2) };
        sample.now.since(self.began) > threshold
    }

    /// Returns true if the least round-trip time of this round is that much longer than that of the
    /// path.
    fn has_grown(&mut self, rtt: Span, least: Span) -> bool {
        let current = self.current.map_or(rtt, |current| current.min(rtt));
        self.current = Some(current);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let eighth = Span::from_ps((least.ps() as f64 / DIVISOR) as u64);
        current > least + eighth.clamp(MIN_GROWTH, MAX_GROWTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::sample;

    const SMSS: f64 = 1000.0;

    fn window(segments: f64) -> Window {
        Window { cwnd: segments * SMSS, ssthresh: f64::INFINITY, smss: SMSS }
    }

    /// A path, on which rounds of acknowledgements arrive.
    struct Path {
        law: HyStart,
        round: u64,
        paced: bool,
    }

    impl Path {
        fn new() -> Self {
            Self { law: HyStart::default(), round: 0, paced: false }
        }

        /// A round of `count` acknowledgements, `gap_us` apart, of segments that took `rtt_us`, at
        /// a window of `segments`. The number of the one that ends slow start, from 1.
        fn round(&mut self, segments: f64, count: u64, gap_us: u64, rtt_us: u64) -> Option<u64> {
            self.round += 1;
            let start = Time::ZERO + Span::from_s(self.round);
            let (first, rtt) = (100_000 * self.round, Some(Span::from_us(rtt_us)));
            (0..count).find_map(|at| {
                let fact = RateSample {
                    now: start + Span::from_us(gap_us * at),
                    una: first + at,
                    max: first + 99_999,
                    rtt,
                    srtt: rtt,
                    paced: self.paced,
                    ..sample()
                };
                self.law.note(&window(segments), &fact).then_some(at + 1)
            })
        }
    }

    /// Slow start ends when round-trip times grow, before the queue overflows, and not for a
    /// jitter. Least round-trip time d, and 3 ms between acknowledgements, so that there is no
    /// train: the ninth of a round is judged, and ends slow start with more than d + d/8, at least
    /// 4 ms and at most 16 ms: more than 45 ms at 40 ms, 14 ms at 10 ms, 416 ms at 400 ms.
    #[test]
    fn growing_round_trip_times_end_slow_start() {
        for (base, threshold) in [(40_000, 45_000), (10_000, 14_000), (400_000, 416_000)] {
            for (rtt, found) in [(threshold, None), (threshold + 1, Some(9))] {
                let mut path = Path::new();
                assert_eq!(path.round(16.0, 20, 3000, base), None);
                assert_eq!(path.round(16.0, 8, 3000, rtt), None, "eight samples are too few");
                assert_eq!(path.round(16.0, 20, 3000, rtt), found, "{base} us, {rtt} us");
            }
        }
    }

    /// Slow start ends when the window fills half the path. Acknowledgements 500 us apart for 60 kB
    /// in flight on a path of 40 ms: 262,144 B at two windows for each round trip wait longer than
    /// the 1 ms at most, so that the train is too long beyond (40 + 1) / 2 = 20.5 ms: at the 43rd
    /// acknowledgement, 21 ms after the first. Paced, it is beyond 41 ms, at the 84th. 2001 us
    /// between two acknowledgements are no train; 2 ms are one, and the twelfth is 22 ms behind the
    /// first.
    #[test]
    fn a_train_of_half_the_path_ends_slow_start() {
        let found = |paced: bool, gap_us: u64| {
            let mut path = Path { paced, ..Path::new() };
            path.round(60.0, 200, gap_us, 40_000)
        };
        assert_eq!(found(false, 500), Some(43));
        assert_eq!(found(true, 500), Some(84));
        assert_eq!(found(false, 2001), None);
        assert_eq!(found(false, 2000), Some(12));
    }

    /// Data that wait in the host count for less at high rates: 30 MB in flight for each 1 ms are
    /// paced at 60 GB/s, at which 262,144 B take 4.37 us. The train is too long beyond half of
    /// 1004.37 us: with 1 us between acknowledgements at the 504th, 503 us after the first.
    #[test]
    fn the_wait_in_the_host_shrinks_with_the_rate() {
        assert_eq!(Path::new().round(30_000.0, 2000, 1, 1000), Some(504));
    }

    /// Small windows grow: below 16 segments nothing ends slow start, neither a train nor growth.
    /// Nor is slow start ended twice, or outside it.
    #[test]
    fn small_windows_are_let_grow() {
        let mut path = Path::new();
        assert_eq!(path.round(15.9, 200, 500, 40_000), None);
        assert_eq!(path.round(15.9, 200, 500, 80_000), None);
        assert_eq!(path.round(16.0, 200, 500, 40_000), Some(43));
        assert_eq!(path.round(16.0, 200, 500, 80_000), None);
        let (mut law, mut now) = (HyStart::default(), Time::ZERO);
        let avoiding = Window { ssthresh: 20_000.0, ..window(20.0) };
        for una in 1..200 {
            now += Span::from_us(500);
            let fact = RateSample { now, una, rtt: Some(Span::from_ms(40)), ..sample() };
            assert!(!law.note(&avoiding, &fact));
        }
    }
}
