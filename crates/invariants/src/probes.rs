//! Inner quantities that elements show for series: what their names promise.

use forebay_network::LinkCount;
use forebay_units::Time;

use crate::Invariant as Must;
use crate::checker::Checker;
use crate::report::Place;

/// Probes that are probabilities or shares.
const PROBABILITIES: &[&str] = &[
    "drop_probability",
    "max_probability",
    "dynamic_probability",
    "middle_probability",
    "hit_frequency",
    "congested",
    "dropping",
    "blocking",
    "above_middle",
];
/// Probes that are averages of queues, or other amounts that are never negative.
const AMOUNTS: &[&str] = &[
    "average",
    "choke_average",
    "queue_packets",
    "queue_bytes",
    "shaper_packets",
    "shaper_bytes",
    "sojourn_s",
    "active_flows",
    "present_flows",
    "talking_flows",
    "conditioned_flows",
    "sessions",
    "load_factor",
];
/// Probes that are rates that the law of a ring allows.
const RING_RATES: &[&str] = &["allow_bps", "told_bps", "share_bps"];
/// Probes that are rates that a port gives.
const EXPLICIT_RATES: &[&str] = &["explicit_rate_bps", "fair_share_bps", "capacity_bps"];

/// Rounding of rates that are computed from octets in an interval.
const ROUNDING: f64 = 1e-9;

impl Checker {
    /// Checks the probes of the elements of link `number` at `now`, and what it has counted.
    pub fn link_probes(
        &mut self,
        now: Time,
        number: usize,
        probes: &[(String, f64)],
        count: &LinkCount,
    ) {
        self.now = self.now.max(now);
        let place = Place::Link(number);
        let ring = self.places.links[number].ring;
        let rate = self.places.links[number].rate.bps() as f64 * (1.0 + ROUNDING);
        // Whatever arrives is infinitely more than no capacity.
        let nothing = probes.iter().any(|(name, value)| name == "capacity_bps" && *value == 0.0);
        for (name, value) in probes {
            if !(nothing && name == "load_factor") {
                self.probe(place, name, *value);
            }
            let base = base(name);
            let fine = (0.0..=rate).contains(value);
            if ring.is_some() && RING_RATES.contains(&base) {
                self.check(Must::RingRates, place, fine, || format!("{name} = {value}"));
            } else if ring.is_none() && EXPLICIT_RATES.contains(&base) {
                let fine = fine || value.is_nan();
                self.check(Must::ExplicitRate, place, fine, || format!("{name} = {value}"));
            }
            if let Some(ring) = ring {
                let most = match base {
                    "transit_high_bytes" => Some(ring.buffers.0),
                    "transit_low_bytes" => Some(ring.buffers.1),
                    _ => None,
                };
                if let Some(most) = most {
                    let fine = *value <= most.bytes() as f64;
                    self.check(Must::RingBuffers, place, fine, || format!("{name} = {value}"));
                }
            }
        }
        let value =
            |name: &str| probes.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        if let (Some(packets), Some(bytes)) = (value("queue_packets"), value("queue_bytes")) {
            let fine = (packets..=packets * f64::from(u16::MAX)).contains(&bytes);
            self.check(Must::ProbeQueue, place, fine, || format!("{packets} packets of {bytes} B"));
            let waits = self.waiting(number, count) as f64;
            self.check(Must::LinkBalance, place, waits == packets, || {
                format!("{waits} packets neither left nor were dropped; {packets} wait")
            });
        }
    }

    /// Checks the probes of the sources of the flows from `flow` on at `now`.
    pub fn flow_probes(&mut self, now: Time, flow: usize, probes: &[(String, f64)]) {
        self.now = self.now.max(now);
        for (name, value) in probes {
            self.probe(Place::Flow(flow), name, *value);
        }
    }

    fn probe(&mut self, place: Place<'_>, name: &str, value: f64) {
        // Means over sources of which there are none are not a number.
        let fine = !value.is_infinite();
        self.check(Must::ProbeNumber, place, fine, || format!("{name} = {value}"));
        let base = base(name);
        if PROBABILITIES.contains(&base) {
            let fine = (0.0..=1.0).contains(&value);
            self.check(Must::LawProbability, place, fine, || format!("{name} = {value}"));
        } else if AMOUNTS.contains(&base) {
            let fine = value >= 0.0 || value.is_nan();
            self.check(Must::LawAverage, place, fine, || format!("{name} = {value}"));
        }
    }

    /// The distribution of delays of `group`, with `counted` of `delivered` packets.
    pub fn check_histogram(&mut self, group: &str, counted: u64, delivered: u64) {
        self.check(Must::ResultHistogram, Place::Named(group), counted == delivered, || {
            format!("{counted} of {delivered}")
        });
    }

    /// Checks the quantity `what` at `place`: the sum over a series, and the total.
    pub fn check_series(&mut self, place: &str, what: &str, sum: f64, total: f64) {
        let fine = (sum - total).abs() <= total.abs() * ROUNDING + 0.5;
        self.check(Must::ResultSeries, Place::Named(place), fine, || {
            format!("{what}: a sum of {sum}, a total of {total}")
        });
    }

    /// Checks that a run that was not observed gave the same: names what differs, if anything.
    pub fn check_unwatched(&mut self, what: &str, watched: &str, unwatched: &str) {
        self.check(Must::ResultUnwatched, Place::Named(what), watched == unwatched, || {
            format!("{watched} observed, {unwatched} not observed")
        });
    }
}

/// The name of a probe without the number that tells it from others.
fn base(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}
