//! HyStart++ (RFC 9406): slow start ends when round-trip times grow, before the queue overflows.

use forebay_network::RateSample;
use forebay_units::Span;

/// `MIN_RTT_THRESH` and `MAX_RTT_THRESH` (section 4.3).
const MIN_THRESHOLD: Span = Span::from_ms(4);
const MAX_THRESHOLD: Span = Span::from_ms(16);
/// `MIN_RTT_DIVISOR`.
const DIVISOR: f64 = 8.0;
/// `N_RTT_SAMPLE`.
const SAMPLES: u32 = 8;
/// `CSS_GROWTH_DIVISOR` and `CSS_ROUNDS`.
const GROWTH: f64 = 4.0;
const ROUNDS: u32 = 5;
/// `L` for senders that are not paced: segments by which one acknowledgement may open the window.
const LIMIT: f64 = 8.0;

/// The state of the first slow start of a connection.
#[derive(Debug, Default)]
pub(super) struct HyStart {
    /// The least round-trip times of this and of the last round.
    current: Option<Span>,
    last: Option<Span>,
    samples: u32,
    /// The segment whose acknowledgement ends this round (windowEnd).
    end: u64,
    /// Conservative slow start: the least round-trip time when it was entered, and rounds in it.
    baseline: Option<Span>,
    rounds: u32,
}

impl HyStart {
    /// Returns the bytes by which an acknowledgement of `acked` bytes opens the window (section
    /// 4.2).
    pub(super) fn growth(&self, acked: f64, smss: f64) -> f64 {
        let growth = acked.min(LIMIT * smss);
        if self.baseline.is_some() { growth / GROWTH } else { growth }
    }

    /// An acknowledgement arrived in slow start. Whether slow start is over.
    pub(super) fn note(&mut self, sample: &RateSample) -> bool {
        if sample.una > self.end {
            self.end = sample.max;
            self.last = self.current.take();
            self.samples = 0;
            if self.baseline.is_some() {
                self.rounds += 1;
                if self.rounds >= ROUNDS {
                    return true;
                }
            }
        }
        let Some(rtt) = sample.rtt else { return false };
        let current = self.current.map_or(rtt, |current| current.min(rtt));
        self.current = Some(current);
        self.samples += 1;
        if self.samples < SAMPLES {
            return false;
        }
        match (self.baseline, self.last) {
            // The growth was no queue of its own: back to slow start.
            (Some(baseline), _) if current < baseline => {
                (self.baseline, self.rounds) = (None, 0);
            }
            (None, Some(last)) => {
                let eighth = Span::from_ps((last.ps() as f64 / DIVISOR) as u64);
                if current >= last + eighth.clamp(MIN_THRESHOLD, MAX_THRESHOLD) {
                    (self.baseline, self.rounds) = (Some(current), 0);
                }
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::sample;

    /// A round of `count` acknowledgements with a round-trip time of `ms`. Whether slow start ends.
    fn round(law: &mut HyStart, number: u64, count: u64, ms: u64) -> bool {
        let mut over = false;
        for at in 0..count {
            let una = 100 * number + at;
            let rtt = Some(Span::from_ms(ms));
            over |= law.note(&RateSample { una, max: 100 * number + 99, rtt, ..sample() });
        }
        over
    }

    /// Slow start ends when round-trip times grow, before the queue overflows, and not for a
    /// jitter: the threshold is an eighth of the last round's least round-trip time, at least 4 ms
    /// and at most 16 ms (section 4.2): at 100 ms 12.5 ms, at 10 ms 4 ms, at 400 ms 16 ms.
    #[test]
    fn growing_round_trip_times_end_slow_start() {
        for (base, short, enough) in [(100, 112, 113), (10, 13, 14), (400, 415, 416)] {
            for (ms, conservative) in [(short, false), (enough, true)] {
                let mut law = HyStart::default();
                round(&mut law, 1, 8, base);
                round(&mut law, 2, 7, ms);
                assert!(law.baseline.is_none(), "seven samples are too few");
                round(&mut law, 3, 8, base);
                round(&mut law, 4, 8, ms);
                assert_eq!(law.baseline.is_some(), conservative, "{base} ms, {ms} ms");
            }
        }
    }

    /// Conservative slow start grows at a quarter of the pace, lasts for five rounds, and is left
    /// when round-trip times fall again (section 4.2).
    #[test]
    fn conservative_slow_start_lasts_five_rounds() {
        let mut law = HyStart::default();
        assert_eq!(law.growth(3000.0, 1000.0), 3000.0);
        assert_eq!(law.growth(9000.0, 1000.0), 8000.0);
        round(&mut law, 1, 8, 100);
        round(&mut law, 2, 8, 120);
        assert_eq!(law.growth(1000.0, 1000.0), 250.0);
        let over: Vec<bool> = (3..=7).map(|n| round(&mut law, n, 8, 120)).collect();
        assert_eq!(over, [false, false, false, false, true]);
        let mut law = HyStart::default();
        round(&mut law, 1, 8, 100);
        round(&mut law, 2, 8, 120);
        round(&mut law, 3, 8, 119);
        assert_eq!(law.growth(1000.0, 1000.0), 1000.0);
    }
}
