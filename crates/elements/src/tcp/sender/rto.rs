//! The retransmission timeout (RFC 6298): arithmetic alone.

use forebay_units::{Span, Time};

use crate::tcp::{RttGain, TcpParameters};

/// The constants of the computation.
#[derive(Clone, Copy, Debug)]
pub(super) struct RtoRules {
    /// Weight of each of several measurements of a round trip.
    pub(super) gain: RttGain,
    /// Clock granularity G; zero for an ideal clock.
    pub(super) tick: Span,
    /// Smallest timeout.
    pub(super) min: Span,
    /// Largest timeout.
    pub(super) max: Span,
    /// Timeout before the first measurement.
    pub(super) initial: Span,
}

/// SRTT after a measurement that is `share` of a round trip's (section 2.3).
#[inline]
pub(super) fn smooth(srtt: f64, rtt: f64, share: f64) -> f64 {
    srtt + share / 8.0 * (rtt - srtt)
}

impl RtoRules {
    pub(super) fn of(parameters: &TcpParameters) -> Self {
        Self {
            gain: parameters.rtt_gain,
            tick: parameters.rto_tick,
            min: parameters.rto_min,
            max: parameters.rto_max,
            initial: parameters.rto_initial,
        }
    }

    /// The share that one measurement in `expected` of a round trip has of the gains of one in a
    /// round trip.
    #[inline]
    pub(super) fn share_of(&self, expected: u64) -> f64 {
        match self.gain {
            RttGain::RoundTrip if expected > 1 => 1.0 / expected as f64,
            RttGain::RoundTrip | RttGain::Sample => 1.0,
        }
    }
}

/// Smoothed round-trip time, its variation, and the timeout that follows from them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rto {
    /// SRTT in ps; negative before the first measurement.
    srtt: f64,
    /// RTTVAR in ps.
    rttvar: f64,
    /// SRTT in whole ps, for readers: measurements are rarer than readings.
    whole: Span,
    /// RTO, backed off where timeouts have occurred.
    rto: Span,
}

impl Rto {
    /// Before any measurement.
    pub(super) fn new(rules: &RtoRules) -> Self {
        Self { srtt: -1.0, rttvar: 0.0, whole: Span::ZERO, rto: rules.initial }
    }

    /// The present timeout.
    pub(super) fn timeout(&self) -> Span {
        self.rto
    }

    /// The smoothed round-trip time, once measured.
    pub(super) fn srtt(&self) -> Option<Span> {
        (self.srtt >= 0.0).then_some(self.whole)
    }

    /// SRTT and RTTVAR in ps, once measured.
    pub(super) fn estimate(&self) -> Option<(f64, f64)> {
        (self.srtt >= 0.0).then_some((self.srtt, self.rttvar))
    }

    /// Returns the time that a clock of the given granularity measures between two instants: ticks
    /// that pass.
    pub(super) fn measure(rules: &RtoRules, from: Time, to: Time) -> Span {
        match rules.tick.ps() {
            0 => to.since(from),
            tick => Span::from_ps((to.ps() / tick).saturating_sub(from.ps() / tick) * tick),
        }
    }

    /// A measurement (sections 2.2 and 2.3), one of `expected` in this round trip. Ends any
    /// back-off.
    pub(super) fn sample(&mut self, rtt: Span, expected: u64, rules: &RtoRules) {
        let rtt = rtt.ps() as f64;
        if self.srtt < 0.0 {
            self.srtt = rtt;
            self.rttvar = rtt / 2.0;
        } else {
            let share = rules.share_of(expected);
            self.rttvar += share / 4.0 * ((self.srtt - rtt).abs() - self.rttvar);
            self.srtt = smooth(self.srtt, rtt, share);
        }
        self.renew(rules);
    }

    /// The first measurement `rtt` of what was unsent at a timeout that turned out to be spurious,
    /// before which SRTT and RTTVAR were those of `estimate` in ps (RFC 4015, section 3.2, step
    /// 11): the estimate stays above both.
    pub(super) fn adapt(&mut self, estimate: (f64, f64), rtt: Span, rules: &RtoRules) {
        let rtt = rtt.ps() as f64;
        (self.srtt, self.rttvar) = (estimate.0.max(rtt), estimate.1.max(rtt / 2.0));
        self.renew(rules);
    }

    /// SRTT or RTTVAR has changed: the timeout follows from them (sections 2.3 to 2.5).
    fn renew(&mut self, rules: &RtoRules) {
        self.whole = Span::from_ps(self.srtt as u64);
        let tick = rules.tick.ps();
        let raw = self.srtt + (4.0 * self.rttvar).max(tick as f64);
        // The cast rounds down; a fraction of a picosecond must not survive as a late tick.
        let mut rto = (raw as u64).max(rules.min.ps()).max(2 * tick);
        if tick > 0 {
            rto = rto.div_ceil(tick) * tick;
        }
        self.rto = Span::from_ps(rto.min(rules.max.ps()));
    }

    /// Data transmission begins without a measurement, as the SYN was sent more than once (section
    /// 5.7): 3 s.
    pub(super) fn begin_unmeasured(&mut self, rules: &RtoRules) {
        self.rto = Span::from_s(3).max(rules.min).min(rules.max);
    }

    /// The timer expired (section 5.5): double the timeout.
    pub(super) fn back_off(&mut self, rules: &RtoRules) {
        self.rto = self.rto.times(2).min(rules.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(tick: Span, min: Span) -> RtoRules {
        let (max, initial) = (Span::from_s(60), Span::from_s(1));
        RtoRules { gain: RttGain::RoundTrip, tick, min, max, initial }
    }

    /// The estimator follows RFC 6298, section 2: R = 100 ms gives SRTT 100 ms, RTTVAR 50 ms, RTO
    /// 100 + 4 * 50 = 300 ms. R' = 140 ms then gives RTTVAR = 3/4 * 50 + 1/4 * |100 - 140| = 47.5
    /// ms (with the old SRTT), SRTT = 7/8 * 100 + 1/8 * 140 = 105 ms, RTO = 105 + 190 = 295 ms.
    #[test]
    fn the_estimator_follows_rfc_6298() {
        let rules = rules(Span::ZERO, Span::ZERO);
        let mut rto = Rto::new(&rules);
        assert_eq!((rto.timeout(), rto.srtt()), (Span::from_s(1), None));
        rto.sample(Span::from_ms(100), 1, &rules);
        assert_eq!((rto.timeout(), rto.srtt()), (Span::from_ms(300), Some(Span::from_ms(100))));
        rto.sample(Span::from_ms(140), 1, &rules);
        assert_eq!((rto.timeout(), rto.srtt()), (Span::from_ms(295), Some(Span::from_ms(105))));
        assert_eq!(rto.rttvar, 47.5e9);
    }

    /// The timeout doubles up to the cap, and goes back to the computed value with the next
    /// measurement (RFC 6298, sections 2.4, 2.5 and 5.5): a lost connection is neither hammered nor
    /// given up.
    #[test]
    fn back_off_doubles_to_the_cap_until_a_measurement() {
        let rules = rules(Span::from_ms(1), Span::from_s(1));
        let mut rto = Rto::new(&rules);
        let series: Vec<u64> = (0..8)
            .map(|_| {
                rto.back_off(&rules);
                rto.timeout().ps() / 1_000_000_000_000
            })
            .collect();
        assert_eq!(series, [2, 4, 8, 16, 32, 60, 60, 60]);
        rto.sample(Span::from_ms(100), 1, &rules);
        assert_eq!(rto.timeout(), Span::from_s(1));
    }

    /// Coarse clocks count ticks, as stacks of the 1990s do: with 500 ms ticks, an RTT from 0.49 s
    /// to 0.51 s counts one tick and one from 0.51 s to 0.99 s none; the timeout comes in whole
    /// ticks and is at least two.
    #[test]
    fn coarse_clocks_count_ticks() {
        let rules = rules(Span::from_ms(500), Span::ZERO);
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        assert_eq!(Rto::measure(&rules, at(490), at(510)), Span::from_ms(500));
        assert_eq!(Rto::measure(&rules, at(510), at(990)), Span::ZERO);
        let mut rto = Rto::new(&rules);
        rto.sample(Span::ZERO, 1, &rules);
        assert_eq!(rto.timeout(), Span::from_s(1));
        // SRTT = 1/8 * 500 = 62.5 ms, RTTVAR = 1/4 * 500 = 125 ms: 62.5 + max(500, 500) = 562.5 ms,
        // two ticks. A second tick: RTTVAR = 3/4 * 125 + 1/4 * 437.5 = 203.125 ms, SRTT = 117.1875
        // ms: 117.1875 + 812.5 = 929.6875 ms, two ticks. A third: RTTVAR = 152.34375 + 95.703125 =
        // 248.046875 ms, SRTT = 165.0390625 ms: 1157.2265625 ms, three ticks.
        let half = Span::from_ms(500);
        let timeouts: Vec<u64> = (0..3)
            .map(|_| {
                rto.sample(half, 1, &rules);
                rto.timeout().ps() / half.ps()
            })
            .collect();
        assert_eq!(timeouts, [2, 2, 3]);
    }

    /// Many samples weigh less each, so that timestamps do not shorten the memory of the estimator
    /// from eight round trips to eight acknowledgements (RFC 7323, appendix G): with ten samples
    /// expected, alpha = 1/80, beta = 1/40: SRTT = 100 + 40/80 = 100.5 ms, RTTVAR = 50 + (40 -
    /// 50)/40 = 49.75 ms. Linux does not divide (`tcp_rtt_estimator`): SRTT = 105 ms, RTTVAR = 47.5
    /// ms, as with a sample alone.
    #[test]
    fn many_samples_weigh_less_each() {
        let rules = rules(Span::ZERO, Span::ZERO);
        let linux = RtoRules { gain: RttGain::Sample, ..rules };
        for (rules, srtt, rttvar) in [(rules, 100.5e9, 49.75e9), (linux, 105e9, 47.5e9)] {
            let mut rto = Rto::new(&rules);
            rto.sample(Span::from_ms(100), 10, &rules);
            rto.sample(Span::from_ms(140), 10, &rules);
            let told = format!("{:?}: {} and {}", rules.gain, rto.srtt, rto.rttvar);
            assert!((rto.srtt - srtt).abs() < 1e-3 && (rto.rttvar - rttvar).abs() < 1e-3, "{told}");
        }
    }
}
