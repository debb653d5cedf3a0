//! The aggressive mode of IEEE 802.17: what a congested station sends is what others may.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::rpr::{Coefficients, Core, Options, PROBES};
use super::{BuildFairness, FairnessFactory, RingFacts};
use crate::fairness::{RingAccess, RingFairness, RingFrame, RingMessage, RingState};

pub(super) const ENTRY: Entry<BuildFairness> = Entry {
    name: "aggressive",
    summary: "IEEE 802.17, aggressive mode (reconstructed): a congested station tells those \
              upstream its own low-passed rate.",
    source: "IEEE 802.17-2004, clause 10 and its MIB; rules reconstructed after RFC 2892",
    example: "",
    fields: AggressiveParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Parameters of the aggressive mode.
    pub struct AggressiveParameters {
        ..common: Options;
    }
}

fn build(section: &Section<'_>, facts: &RingFacts) -> Result<FairnessFactory, Problem> {
    let parameters = AggressiveParameters::read(section)?;
    let coefficients = Coefficients::build(section, facts, parameters.common)?;
    Ok(Box::new(move |station| Box::new(Aggressive { core: Core::new(coefficients, station) })))
}

struct Aggressive {
    core: Core,
}

impl RingFairness for Aggressive {
    fn access(&self, frame: &RingFrame, state: &RingState, _now: Time) -> RingAccess {
        self.core.access(frame, state)
    }

    fn sent(&mut self, frame: &RingFrame, _now: Time) {
        self.core.sent(frame);
    }

    fn forwarded(&mut self, frame: &RingFrame, _now: Time) {
        self.core.forwarded(frame);
    }

    fn interval(&self) -> Option<Span> {
        Some(self.core.coefficients.interval)
    }

    fn interval_ended(&mut self, state: &RingState, now: Time) -> Option<RingMessage> {
        self.core.end_interval();
        let congested = self.core.congested(state, now);
        let fair = congested.then_some(self.core.add.smooth / self.core.weight);
        Some(self.core.follow(fair, false))
    }

    fn heard(&mut self, message: &RingMessage, _now: Time) -> bool {
        self.core.heard(message);
        false
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.core.probes(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{
        CALM, CROWDED, LINE, advertised, at, high, law, limit, low, oc12, probe, read, station,
    };
    use super::*;
    use forebay_parameters::Value;

    /// The coefficients are those of the standard's management information base: the newest value
    /// has weight 1 in 64. 6400 octets give 100, then (63 * 100 + 4800) / 64.
    #[test]
    fn a_congested_station_tells_its_low_passed_rate() {
        let mut law = law(&ENTRY, &[], &oc12(), &station());
        (0..64).for_each(|_| law.sent(&low(100, 1, 0), at(0.0)));
        assert_eq!(advertised(law.as_mut(), &CROWDED, 0.0), Some(100.0));
        assert_eq!(advertised(law.as_mut(), &CROWDED, 0.0), Some(173.4375));
    }

    /// Rates are advertised for a weight of 1 and followed by a station's own weight: a station of
    /// weight 4 advertises a quarter of its rate, and takes four times what it hears.
    #[test]
    fn rates_are_told_and_followed_by_weight() {
        let mut heavy = station();
        heavy.weights[0] = 4.0;
        let mut law = law(&ENTRY, &[], &oc12(), &heavy);
        (0..64).for_each(|_| law.sent(&low(100, 1, 0), at(0.0)));
        assert_eq!(advertised(law.as_mut(), &CROWDED, 0.0), Some(25.0));
        law.heard(&limit(2, Some(1000.0)), at(0.0));
        advertised(law.as_mut(), &CALM, 0.0);
        let share = probe(law.as_ref(), "allow_bps") / 622_080_000.0;
        assert!((share - 4000.0 / LINE).abs() < 1e-12, "{share}");
    }

    /// Frames that leave before the congestion point are free: a station throttles only
    /// low-priority traffic that meets the congestion.
    #[test]
    fn frames_that_leave_before_the_congestion_point_are_free() {
        let mut law = law(&ENTRY, &[], &oc12(), &station());
        law.heard(&limit(2, Some(0.0)), at(0.0));
        advertised(law.as_mut(), &CALM, 0.0);
        let access = |ahead| law.access(&low(1500, ahead, 0), &CALM, at(0.0));
        assert_eq!([1, 2, 3].map(access), [RingAccess::Open, RingAccess::Open, RingAccess::Closed]);
        assert_eq!(law.access(&high(1500, 3, 0), &CALM, at(0.0)), RingAccess::Open);
    }

    /// Recovery is the ramp of the standard: 1 - (63/64)^n of the line after n intervals without a
    /// limit.
    #[test]
    fn without_a_limit_the_rate_ramps_up() {
        let mut law = law(&ENTRY, &[], &oc12(), &station());
        law.heard(&limit(2, Some(0.0)), at(0.0));
        advertised(law.as_mut(), &CALM, 0.0);
        law.heard(&limit(2, None), at(0.0));
        let mut left = 1.0;
        for n in 1..=200 {
            advertised(law.as_mut(), &CALM, 0.0);
            left *= 63.0 / 64.0;
            let share = probe(law.as_ref(), "allow_bps") / 622_080_000.0;
            assert!((share - (1.0 - left)).abs() < 1e-12, "{n}: {share}");
        }
    }

    /// Congestion ends when the queue is low, and stations upstream are no more throttled.
    #[test]
    fn congestion_ends_when_the_queue_is_low() {
        let mut law = law(&ENTRY, &[], &oc12(), &station());
        law.sent(&low(1500, 1, 0), at(0.0));
        assert!(advertised(law.as_mut(), &CROWDED, 0.0).is_some());
        assert_eq!(advertised(law.as_mut(), &CALM, 0.0), None);
    }

    /// A station with one transit queue, which never fills, is congested by its low-passed rate
    /// against 0.95 * 0.9 of the line. The filter reaches that share of constant traffic at the
    /// line rate after n intervals with 1 - (63/64)^n > 0.855: n = 123 if the counter had its final
    /// value from the start. It begins empty, and reaches it within the time of ageing, 4 intervals
    /// later.
    #[test]
    fn a_single_queue_is_congested_by_its_rate() {
        let single = RingFacts { dual: false, ..oc12() };
        let mut law = law(&ENTRY, &[], &single, &station());
        let mut first = None;
        for n in 1..200 {
            (0..5).for_each(|_| law.forwarded(&low(1296, 2, 1), at(0.0)));
            law.sent(&low(1296, 2, 0), at(0.0));
            if advertised(law.as_mut(), &CROWDED, 0.0).is_some() && first.is_none() {
                first = Some(n);
            }
        }
        assert!((123..=127).contains(&first.unwrap()), "{first:?}");
    }

    /// Values that the standard excludes are refused.
    #[test]
    fn coefficients_out_of_range_are_refused() {
        let wrong: [(&str, Value); 7] = [
            ("age", 3.0.into()),
            ("ramp", 8.0.into()),
            ("low_pass", 1024.0.into()),
            ("low_threshold", 1.5.into()),
            ("high_threshold", 0.1.into()),
            ("rate_high", 1.0.into()),
            ("reserved", "622.08 Mbit/s".into()),
        ];
        for (key, value) in wrong {
            let problem = read(&ENTRY, &[(key, value)], &oc12()).err().unwrap();
            assert_eq!(problem.path, key);
        }
    }
}
