//! The conservative mode of IEEE 802.17: a congested station sets a rate for all, and waits for the
//! effect of each change before the next.

use forebay_parameters::{Entry, Parameters, Problem, Section, choice, parameters};
use forebay_units::{Size, Span, Time};

use super::rpr::{Coefficients, Core, Options, PROBES};
use super::{BuildFairness, FairnessFactory, RingFacts, StationFacts, check_divisor};
use crate::fairness::{RingAccess, RingClass, RingFairness, RingFrame, RingMessage, RingState};

pub(super) const ENTRY: Entry<BuildFairness> = Entry {
    name: "conservative",
    summary: "IEEE 802.17, conservative mode (reconstructed): a congested station sets a rate for \
              all that pass it, and changes it once in a round trip.",
    source: "IEEE 802.17-2004, clause 10 and its MIB; rules reconstructed",
    example: "",
    fields: ConservativeParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

choice! {
    /// The rate that a station sets when it becomes congested.
    pub enum FirstRate {
        /// The unreserved rate, shared by the weights of the active stations.
        Share = "share",
        /// Rate that it sends itself, low-passed.
        Own = "own",
    }
}

parameters! {
    /// Parameters of the conservative mode.
    pub struct ConservativeParameters {
        /// The rate that a station sets when it becomes congested.
        first: FirstRate = "share", "assumed: both are known of IEEE 802.17-2004, not which when";
        /// Number of intervals for which a station counts as active after a frame of it, 1 and
        /// above.
        active: u32 = 64,
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessActiveWeightsCoef (default; use \
             reconstructed)";
        ..common: Options;
    }
}

fn build(section: &Section<'_>, facts: &RingFacts) -> Result<FairnessFactory, Problem> {
    let parameters = ConservativeParameters::read(section)?;
    let coefficients = Coefficients::build(section, facts, parameters.common)?;
    check_divisor(section, "active", parameters.active)?;
    let active = coefficients.interval.times(u64::from(parameters.active));
    let first = parameters.first;
    Ok(Box::new(move |station| Box::new(Conservative::new(coefficients, first, active, station))))
}

struct Conservative {
    core: Core,
    first: FirstRate,
    active: Span,
    station: StationFacts,
    /// Times at which a low-priority frame of each station went onto the span that leaves here
    /// last, by distance upstream.
    seen: Vec<Option<Time>>,
    /// localFairRate of a weight of 1, and when it was set; `None` while not congested.
    fair: Option<(f64, Time)>,
}

impl Conservative {
    fn new(
        coefficients: Coefficients,
        first: FirstRate,
        active: Span,
        station: &StationFacts,
    ) -> Self {
        let seen = vec![None; station.weights.len()];
        let core = Core::new(coefficients, station);
        Self { core, first, active, station: station.clone(), seen, fair: None }
    }

    fn see(&mut self, frame: &RingFrame, now: Time) {
        if frame.class == RingClass::Low {
            self.seen[usize::from(frame.behind)] = Some(now);
        }
    }

    /// Distances upstream of the stations that are active.
    fn actives(&self, now: Time) -> impl Iterator<Item = usize> {
        let recent = move |seen: &Option<Time>| seen.is_some_and(|at| now.since(at) <= self.active);
        self.seen.iter().enumerate().filter(move |(_, seen)| recent(seen)).map(|(at, _)| at)
    }

    /// The first rate of a congestion, for a weight of 1.
    fn first_rate(&self, now: Time) -> f64 {
        let weights: f64 = self.actives(now).map(|at| self.station.weights[at]).sum();
        match self.first {
            FirstRate::Share if weights > 0.0 => self.core.coefficients.unreserved / weights,
            FirstRate::Share => self.core.coefficients.unreserved / self.core.weight,
            FirstRate::Own => self.core.add.smooth / self.core.weight,
        }
    }

    /// The time until a change shows here: a message to the farthest active station and its frames
    /// back (LRTT), and the wait of frames in transit (FDD), of which the part at this station is
    /// known.
    fn round_trip(&self, state: &RingState, now: Time) -> Span {
        let tail = self.actives(now).last().unwrap_or(0);
        let way = self.station.upstream[..tail].iter().fold(Span::ZERO, |sum, span| sum + *span);
        let line = self.core.coefficients.line;
        way.times(2) + line.transmission_time(Size::from_bytes(state.transit))
    }

    /// Set or change the fair rate of the span that leaves here.
    fn adjust(&mut self, state: &RingState, now: Time) {
        let Coefficients { rate_low, rate_high, ramp, unreserved, .. } = self.core.coefficients;
        let congested = self.core.congested(state, now);
        let Some((fair, since)) = self.fair else {
            self.fair = congested.then(|| (self.first_rate(now), now));
            return;
        };
        if now.since(since) < self.round_trip(state, now) {
            return;
        }
        let rate = self.core.transmitted.smooth;
        let next = if rate >= rate_high {
            fair - fair / ramp
        } else if rate < rate_low {
            fair + (unreserved - fair) / ramp
        } else {
            fair
        };
        // A rate that limits no station is no limit.
        let over = !congested && next >= rate_high;
        let changed = if next == fair { since } else { now };
        self.fair = (!over).then_some((next, changed));
    }
}

impl RingFairness for Conservative {
    fn access(&self, frame: &RingFrame, state: &RingState, _now: Time) -> RingAccess {
        self.core.access(frame, state)
    }

    fn sent(&mut self, frame: &RingFrame, now: Time) {
        self.core.sent(frame);
        self.see(frame, now);
    }

    fn forwarded(&mut self, frame: &RingFrame, now: Time) {
        self.core.forwarded(frame);
        self.see(frame, now);
    }

    fn interval(&self) -> Option<Span> {
        Some(self.core.coefficients.interval)
    }

    fn interval_ended(&mut self, state: &RingState, now: Time) -> Option<RingMessage> {
        self.core.end_interval();
        self.adjust(state, now);
        Some(self.core.follow(self.fair.map(|(rate, _)| rate), true))
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
        CALM, CROWDED, LINE, advertised, at, law, limit, low, oc12, read, station,
    };
    use super::*;

    /// The first rate is fair: three active stations of weights 1, 1 and 2 share the line as 1/4,
    /// 1/4 and 1/2. A fourth that has been silent for more than 64 intervals does not count.
    #[test]
    fn the_first_rate_is_the_share_of_the_active_stations() {
        let mut weighted = station();
        weighted.weights = vec![1.0, 1.0, 2.0, 5.0, 1.0, 1.0];
        let mut law = law(&ENTRY, &[], &oc12(), &weighted);
        law.forwarded(&low(1500, 1, 3), at(0.0));
        law.forwarded(&low(1500, 1, 1), at(500.0));
        law.forwarded(&low(1500, 1, 2), at(500.0));
        law.sent(&low(1500, 1, 0), at(500.0));
        let fair = advertised(law.as_mut(), &CROWDED, 6450.0).unwrap();
        assert!((fair - LINE / 4.0).abs() < 1e-9, "{fair}");
    }

    /// A change shows before the next follows, as otherwise rates oscillate. The farthest active
    /// station is 2 spans of 50 us away: a round trip of 200 us. The station carries little, so the
    /// rate then rises by a 64th of what is left, each 200 us.
    #[test]
    fn the_rate_changes_once_in_a_round_trip() {
        let mut law = law(&ENTRY, &[], &oc12(), &station());
        law.sent(&low(1500, 1, 0), at(0.0));
        law.forwarded(&low(1500, 1, 2), at(0.0));
        let mut expected = LINE / 2.0;
        assert_eq!(advertised(law.as_mut(), &CROWDED, 100.0), Some(expected));
        for n in 0..10 {
            let us = 200.0 + 200.0 * f64::from(n);
            assert_eq!(advertised(law.as_mut(), &CALM, us), Some(expected), "at {us} us");
            expected += (LINE - expected) / 64.0;
            assert_eq!(
                advertised(law.as_mut(), &CALM, us + 100.0),
                Some(expected),
                "after {us} us"
            );
        }
    }

    /// Congestion outlasts its cause, the hysteresis that sets this mode apart: the station stays
    /// congested after the queue is low, until the rate that it sets limits no station. From 1/2
    /// with 1 - (1 - 1/2) (63/64)^n >= 0.95 that takes n = 147 changes.
    #[test]
    fn congestion_outlasts_its_cause() {
        let mut law = law(&ENTRY, &[], &oc12(), &station());
        law.sent(&low(1500, 1, 0), at(0.0));
        law.forwarded(&low(1500, 1, 1), at(0.0));
        advertised(law.as_mut(), &CROWDED, 100.0);
        // One span away: a round trip is an interval.
        let free = (1..1000)
            .find(|n| advertised(law.as_mut(), &CALM, 100.0 + 100.0 * f64::from(*n)).is_none());
        assert_eq!(free, Some(147));
    }

    /// A station that asks others to hold back does so itself.
    #[test]
    fn the_congested_station_follows_its_own_rate() {
        let mut law = law(&ENTRY, &[("first", "own".into())], &oc12(), &station());
        law.sent(&low(1500, 1, 0), at(0.0));
        law.sent(&low(1500, 1, 0), at(0.0));
        // It has sent 3000 octets and low-passed 3000 / 64 of them, which is what it may.
        assert_eq!(advertised(law.as_mut(), &CROWDED, 100.0), Some(46.875));
        assert_eq!(law.access(&low(1500, 1, 0), &CALM, at(100.0)), RingAccess::Closed);
    }

    /// The lesser of own and received rate is advertised, so that the tighter of two congestions is
    /// known upstream.
    #[test]
    fn the_lesser_of_own_and_received_rate_is_advertised() {
        let mut law = law(&ENTRY, &[], &oc12(), &station());
        law.sent(&low(1500, 1, 0), at(0.0));
        law.forwarded(&low(1500, 1, 1), at(0.0));
        law.heard(&limit(3, Some(1000.0)), at(50.0));
        let message = law.interval_ended(&CROWDED, at(100.0)).unwrap();
        assert_eq!(message, limit(3, Some(1000.0)));
        law.heard(&limit(3, Some(20_000.0)), at(150.0));
        let message = law.interval_ended(&CROWDED, at(200.0)).unwrap();
        assert_eq!(message, limit(0, Some(LINE / 2.0)));
    }

    /// An activity of no intervals, with which no station ever counts as active, is refused.
    #[test]
    fn an_activity_of_no_intervals_is_refused() {
        let problem = read(&ENTRY, &[("active", 0.0.into())], &oc12()).err().unwrap();
        assert_eq!(problem.path, "active");
    }
}
