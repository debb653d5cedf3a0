//! Common parts of the aggressive and the conservative mode of IEEE 802.17.
//!
//! Names, meanings and defaults of coefficients and thresholds are published in the management
//! information base of the standard (IEEE-802DOT17-RPR-MIB, table rprFairness). How the variables
//! follow from each other is a reconstruction after RFC 2892, from which the modes descend, with
//! what is known to differ: coefficients, weights, rates that are limited beyond the congestion
//! point only, thresholds of rates for a single transit queue.

use forebay_parameters::{Probe, Problem, Section, parameters};
use forebay_units::{Rate, Span, Time};

use super::counter::Counter;
use super::{
    ALLOW, FORWARD, LP_FORWARD, LP_USAGE, RingFacts, StationFacts, TOLD, USAGE, check_interval,
};
use crate::fairness::{RingAccess, RingClass, RingFrame, RingMessage, RingNotice, RingState};

/// Probes of both modes.
pub(super) const PROBES: &[Probe] = &[
    ALLOW,
    USAGE,
    LP_USAGE,
    FORWARD,
    LP_FORWARD,
    Probe {
        name: "lp_transmitted_bps",
        unit: "bit/s",
        meaning: "What leaves the station without a reserved rate, low-passed.",
    },
    TOLD,
];

parameters! {
    /// The parameters that both modes have.
    pub struct Options {
        /// Interval at which counters age and fairness messages leave (agingInterval), 1 us
        /// to 1 s; 400 us for lines below 622 Mbit/s.
        interval: Span = "100 us",
            "assumed: agingInterval of IEEE 802.17-2004, whose text could not be read";
        /// Coefficient of ageing, a power of 2 up to 16: in each interval counters lose
        /// this part of them.
        age: u32 = 4,
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessAgeCoef";
        /// Coefficient of the ramp, a power of 2 from 16 to 512: in each interval a rate
        /// comes this part nearer to where it ramps to.
        ramp: u32 = 64,
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessRampCoef";
        /// Coefficient of the low-pass filters, a power of 2 from 16 to 512: the newest
        /// value has weight 1, the filtered one this number less 1.
        low_pass: u32 = 64,
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessLpCoef";
        /// Share of the low-priority transit queue from which on congestion is imminent, 0
        /// to 1. Half of `high_threshold` by default. Dual transit queues only.
        low_threshold: f64 = 0.125,
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessSTQLowThreshold";
        /// Share of the low-priority transit queue from which on the host gives way to
        /// transit, 0 to 1, at least `low_threshold`. Dual transit queues only.
        high_threshold: f64 = 0.25,
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessSTQHighThreshold";
        /// Share of the unreserved rate from which on congestion is declared, 0.4 to 0.99.
        rate_high: f64 = 0.95,
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessRateHighThreshold";
        /// Share of `rate_high` from which on congestion is imminent, 0.5 to 0.99.
        rate_low: f64 = 0.9,
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessRateLowThreshold";
        /// Rate of the line kept for high priority; below the line rate. High-priority
        /// frames count against the rest if it is 0.
        reserved: Rate = "0 bit/s",
            "IEEE 802.17-2004, IEEE-802DOT17-RPR-MIB, rprFairnessReservedRate";
    }
}

/// Coefficients and thresholds, checked. Rates are octets of an interval times the coefficient of
/// ageing, as [`Counter`]s have them.
#[derive(Clone, Copy)]
pub(super) struct Coefficients {
    pub(super) interval: Span,
    age: f64,
    pub(super) ramp: f64,
    low_pass: f64,
    /// Bytes of the low-priority transit queue.
    low_threshold: f64,
    high_threshold: f64,
    pub(super) rate_high: f64,
    pub(super) rate_low: f64,
    /// The rate that is not reserved, and its unit: bit/s of a rate of 1.
    pub(super) unreserved: f64,
    unit: f64,
    /// True if high priority has no rate of its own.
    counts_high: bool,
    dual: bool,
    pub(super) line: Rate,
}

impl Coefficients {
    pub(super) fn build(
        section: &Section<'_>,
        facts: &RingFacts,
        options: Options,
    ) -> Result<Self, Problem> {
        check_interval(section, "interval", options.interval)?;
        let age = power(section, "age", options.age, 1..=16)?;
        let ramp = power(section, "ramp", options.ramp, 16..=512)?;
        let low_pass = power(section, "low_pass", options.low_pass, 16..=512)?;
        share(section, "low_threshold", options.low_threshold, 0.0, 1.0)?;
        share(section, "high_threshold", options.high_threshold, options.low_threshold, 1.0)?;
        share(section, "rate_high", options.rate_high, 0.4, 0.99)?;
        share(section, "rate_low", options.rate_low, 0.5, 0.99)?;
        if options.reserved >= facts.rate {
            return Err(section.fail(
                "reserved",
                "leaves nothing of the line; allowed are rates below the line's",
            ));
        }
        let octets = age * facts.rate.bytes_per_second() * options.interval.seconds();
        let unit = facts.rate.bps() as f64 / octets;
        let unreserved = (facts.rate.bps() - options.reserved.bps()) as f64 / unit;
        let rate_high = options.rate_high * unreserved;
        let limit = facts.transit_limit as f64;
        Ok(Self {
            interval: options.interval,
            age,
            ramp,
            low_pass,
            low_threshold: options.low_threshold * limit,
            high_threshold: options.high_threshold * limit,
            rate_high,
            rate_low: options.rate_low * rate_high,
            unreserved,
            unit,
            counts_high: options.reserved.bps() == 0,
            dual: facts.dual,
            line: facts.rate,
        })
    }
}

fn power(
    section: &Section<'_>,
    key: &str,
    value: u32,
    allowed: std::ops::RangeInclusive<u32>,
) -> Result<f64, Problem> {
    if !value.is_power_of_two() || !allowed.contains(&value) {
        let (least, most) = (allowed.start(), allowed.end());
        let message = format!("{value} is not a power of 2 from {least} to {most}");
        return Err(section.fail(key, message));
    }
    Ok(f64::from(value))
}

fn share(
    section: &Section<'_>,
    key: &str,
    value: f64,
    least: f64,
    most: f64,
) -> Result<(), Problem> {
    if !(least..=most).contains(&value) {
        let message = format!("{value} is out of range; allowed are {least} to {most}");
        return Err(section.fail(key, message));
    }
    Ok(())
}

/// The counters of a station on one ringlet, its limits and what was advertised to it.
pub(super) struct Core {
    pub(super) coefficients: Coefficients,
    pub(super) weight: f64,
    max_allowed: f64,
    stations: u16,
    /// addRate and lpAddRate: low-priority frames of the host.
    pub(super) add: Counter,
    /// The same, of those that pass the congestion point.
    add_congested: Counter,
    /// fwRate and lpFwRate: low-priority frames in transit.
    forward: Counter,
    forward_congested: Counter,
    /// nrXmitRate and lpNrXmitRate: what leaves the station without a reserved rate.
    pub(super) transmitted: Counter,
    /// allowedRateCongested: what the host may send past the congestion point.
    allowed: f64,
    /// Distance downstream of the span at which `allowed` holds: 0 for that which leaves here.
    choke: u16,
    /// receivedRate for a weight of 1, and how far away it comes from.
    received: Option<(f64, u16)>,
    /// Value that was advertised upstream last.
    told: Option<f64>,
}

impl Core {
    pub(super) fn new(coefficients: Coefficients, station: &StationFacts) -> Self {
        let most = |rate: Rate| rate.bps() as f64 / coefficients.unit;
        Self {
            coefficients,
            weight: station.weights[0],
            max_allowed: station.max_rate.map_or(coefficients.unreserved, most),
            stations: station.stations(),
            add: Counter::default(),
            add_congested: Counter::default(),
            forward: Counter::default(),
            forward_congested: Counter::default(),
            transmitted: Counter::default(),
            allowed: coefficients.unreserved,
            choke: 0,
            received: None,
            told: None,
        }
    }

    /// Returns true if a frame passes the congestion point.
    fn passes_choke(&self, frame: &RingFrame) -> bool {
        frame.ahead > self.choke
    }

    pub(super) fn access(&self, frame: &RingFrame, state: &RingState) -> RingAccess {
        let full =
            self.coefficients.dual && state.transit as f64 >= self.coefficients.high_threshold;
        let gives_way = full && self.forward.octets <= self.add.octets;
        let open = frame.class == RingClass::High
            || (!gives_way
                && self.add.octets < self.max_allowed
                && (!self.passes_choke(frame) || self.add_congested.octets < self.allowed));
        if open { RingAccess::Open } else { RingAccess::Closed }
    }

    pub(super) fn sent(&mut self, frame: &RingFrame) {
        self.transmit(frame);
        if frame.class == RingClass::Low {
            self.add.add(frame.size);
            if self.passes_choke(frame) {
                self.add_congested.add(frame.size);
            }
        }
    }

    pub(super) fn forwarded(&mut self, frame: &RingFrame) {
        self.transmit(frame);
        if frame.class == RingClass::Low {
            self.forward.add(frame.size);
            if self.passes_choke(frame) {
                self.forward_congested.add(frame.size);
            }
        }
    }

    fn transmit(&mut self, frame: &RingFrame) {
        if frame.class == RingClass::Low || self.coefficients.counts_high {
            self.transmitted.add(frame.size);
        }
    }

    /// The end of an interval: filter and age. As in RFC 2892 what is limited ages by its limit, so
    /// that a host which exceeds that by part of a frame pays for it in the next interval.
    pub(super) fn end_interval(&mut self) {
        let Coefficients { age, low_pass, .. } = self.coefficients;
        let most = f64::INFINITY;
        self.add.end_interval(low_pass, age, most);
        self.add_congested.end_interval(low_pass, age, self.allowed);
        self.forward.end_interval(low_pass, age, most);
        self.forward_congested.end_interval(low_pass, age, most);
        self.transmitted.end_interval(low_pass, age, most);
    }

    /// Returns true if congestion of the span that leaves here is imminent.
    pub(super) fn congested(&self, state: &RingState, now: Time) -> bool {
        if self.coefficients.dual {
            return state.transit as f64 >= self.coefficients.low_threshold;
        }
        let waits_long = |since: Time| now.since(since) > self.coefficients.interval;
        self.transmitted.smooth >= self.coefficients.rate_low
            || (self.forward.octets > 0.0 && state.waiting_since.is_some_and(waits_long))
    }

    /// Follow what was received, and `own` if this station limits itself too: a limit at once, its
    /// absence by the ramp. Then what is advertised to the neighbour upstream, given `fair`, what
    /// the span that leaves here has to give if it is congested.
    pub(super) fn follow(&mut self, fair: Option<f64>, own: bool) -> RingMessage {
        let local = fair.map(|rate| (rate, 0));
        let lesser =
            |one: (f64, u16), other: (f64, u16)| if one.0 <= other.0 { one } else { other };
        let least = match (self.received, local) {
            (Some(received), Some(local)) => Some(lesser(received, local)),
            (one, other) => one.or(other),
        };
        match if own { least } else { self.received } {
            Some((rate, choke)) => {
                self.allowed = (rate * self.weight).min(self.coefficients.unreserved);
                self.choke = choke;
            }
            None => {
                let room = self.coefficients.unreserved - self.allowed;
                self.allowed += room / self.coefficients.ramp;
            }
        }
        let contributes = self.forward_congested.smooth > self.allowed;
        let advertised = least
            .filter(|(rate, _)| *rate < self.coefficients.unreserved)
            .filter(|_| local.is_some() || contributes);
        self.told = advertised.map(|(rate, _)| rate);
        let origin = advertised.map_or(0, |(_, origin)| origin);
        RingMessage { origin, notice: RingNotice::Limit(self.told) }
    }

    pub(super) fn heard(&mut self, message: &RingMessage) {
        if let RingNotice::Limit(rate) = message.notice {
            let own = message.origin >= self.stations;
            self.received = rate.filter(|_| !own).map(|rate| (rate, message.origin));
        }
    }

    pub(super) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let unit = self.coefficients.unit;
        visit("allow_bps", self.allowed * unit);
        visit("usage_bps", self.add.octets * unit);
        visit("lp_usage_bps", self.add.smooth * unit);
        visit("forward_bps", self.forward.octets * unit);
        visit("lp_forward_bps", self.forward.smooth * unit);
        visit("lp_transmitted_bps", self.transmitted.smooth * unit);
        visit("told_bps", self.told.unwrap_or(self.coefficients.unreserved) * unit);
    }
}
