//! SRP-fa, the fairness algorithm of the spatial reuse protocol (RFC 2892, section 6).

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, choice, parameters};
use forebay_units::quantity::show_size;
use forebay_units::{Rate, Size, Span, Time};

use super::counter::Counter;
use super::{
    ALLOW, BuildFairness, FORWARD, FairnessFactory, LP_FORWARD, LP_USAGE, RingFacts, StationFacts,
    TOLD, USAGE, check_divisor, check_interval,
};
use crate::fairness::{
    RingAccess, RingClass, RingFairness, RingFrame, RingMessage, RingNotice, RingState,
};

pub(super) const ENTRY: Entry<BuildFairness> = Entry {
    name: "srp_fa",
    summary: "SRP-fa: a congested station tells those upstream to send no more than it does.",
    source: "RFC 2892, section 6",
    example: r#"
        lp_allow = 64
        low_threshold = "320 kB"
    "#,
    fields: SrpFaParameters::FIELDS,
    probes: &[
        ALLOW,
        USAGE,
        LP_USAGE,
        FORWARD,
        LP_FORWARD,
        TOLD,
        Probe {
            name: "congested",
            unit: "1",
            meaning: "1 if the station was congested when its last interval ended, else 0.",
        },
    ],
    build: &build,
};

choice! {
    /// Host frames that `my_usage` counts.
    pub enum UsageCount {
        /// Those of low priority, which alone it limits.
        Low = "low",
        /// All, as the pseudo-code says.
        All = "all",
    }
}

parameters! {
    /// Parameters of SRP-fa.
    pub struct SrpFaParameters {
        /// Interval at which counters age and usage messages leave (DECAY_INTERVAL), 1 us to 1 s:
        /// 8000 octet times at OC-12, 32000 at OC-48. Octets of an interval are rounded to whole
        /// ones.
        interval: Span = "102.88 us", "RFC 2892, section 6.1 (DECAY_INTERVAL)";
        /// Coefficient of ageing, 1 and above: in each interval counters lose this part of them.
        age: u32 = 4, "RFC 2892, section 6.1 (AGECOEFF)";
        /// Number of intervals over which `lp_fwd_rate` is low-passed, 1 and above.
        lp_fwd: u32 = 64, "RFC 2892, section 6.1 (LP_FWD)";
        /// Number of intervals over which `lp_my_usage` is low-passed, 1 and above.
        lp_my_usage: u32 = 512, "RFC 2892, section 6.1 (LP_MU)";
        /// Divisor of the ramp, 1 and above: in each interval without a message `allow_usage` comes
        /// this part nearer to the line rate.
        lp_allow: u32 = 64, "RFC 2892, section 6.1 (LP_ALLOW)";
        /// Threshold of the low-priority transit buffer; a station is congested above half of it.
        /// At most the buffer. The RFC states it for OC-12.
        low_threshold: Size = "320 kB", "RFC 2892, section 6.1 (TB_LO_THRESHOLD)";
        /// Host frames that `my_usage` counts. The RFC's pseudo-code has all octets of the host,
        /// its text those of low priority.
        usage: UsageCount = "low", "RFC 2892, sections 3.2 and 6 (low), 6.1 (all)";
        /// Frames in transit that `fwd_rate` counts.
        forward: UsageCount = "all", "RFC 2892, section 6.1";
    }
}

fn build(section: &Section<'_>, facts: &RingFacts) -> Result<FairnessFactory, Problem> {
    let parameters = SrpFaParameters::read(section)?;
    check_interval(section, "interval", parameters.interval)?;
    let threshold = parameters.low_threshold.bytes();
    if facts.dual && !(1..=facts.transit_limit).contains(&threshold) {
        let limit = show_size(Size::from_bytes(facts.transit_limit));
        let message = format!(
            "{} lies outside the transit buffer, which is full at {limit}",
            show_size(parameters.low_threshold)
        );
        return Err(section.fail("low_threshold", message));
    }
    let constants = Constants {
        interval: parameters.interval,
        age: check_divisor(section, "age", parameters.age)?,
        lp_fwd: check_divisor(section, "lp_fwd", parameters.lp_fwd)?,
        lp_my_usage: check_divisor(section, "lp_my_usage", parameters.lp_my_usage)?,
        lp_allow: check_divisor(section, "lp_allow", parameters.lp_allow)?,
        congested_above: parameters.low_threshold.bytes() as f64 / 2.0,
        all_usage: parameters.usage == UsageCount::All,
        all_forward: parameters.forward == UsageCount::All,
        dual: facts.dual,
        rate: facts.rate,
    };
    Ok(Box::new(move |station| Box::new(SrpFa::new(constants, station))))
}

#[derive(Clone, Copy)]
struct Constants {
    interval: Span,
    age: f64,
    lp_fwd: f64,
    lp_my_usage: f64,
    lp_allow: f64,
    congested_above: f64,
    all_usage: bool,
    all_forward: bool,
    dual: bool,
    rate: Rate,
}

impl Constants {
    /// The usage of a host that sends at `rate`: octets of an interval times the coefficient of
    /// ageing. That of the line is MAX_LRATE.
    fn usage(&self, rate: Rate) -> f64 {
        self.age * (rate.bytes_per_second() * self.interval.seconds()).round()
    }
}

/// One ringlet of a station. Usages are octets, aged; see [`Counter`].
struct SrpFa {
    constants: Constants,
    /// MAX_LRATE.
    max_usage: f64,
    /// MAX_ALLOWANCE.
    max_allowance: f64,
    stations: u16,
    /// `my_usage` and `lp_my_usage`.
    usage: Counter,
    /// `fwd_rate` and `lp_fwd_rate`.
    forward: Counter,
    allow_usage: f64,
    /// `rcvd_usage`, with the distance of the station that it came from.
    received: Option<(f64, u16)>,
    congested: bool,
    /// `rev_usage`: what was advertised upstream last.
    told: Option<f64>,
}

impl SrpFa {
    fn new(constants: Constants, station: &StationFacts) -> Self {
        let max_usage = constants.usage(constants.rate);
        Self {
            constants,
            max_usage,
            max_allowance: station.max_rate.map_or(f64::INFINITY, |rate| constants.usage(rate)),
            stations: station.stations(),
            usage: Counter::default(),
            forward: Counter::default(),
            allow_usage: max_usage,
            received: None,
            congested: false,
            told: None,
        }
    }

    /// Returns true if the station is congested. The RFC has two transit buffers; where there is
    /// one, which goes before the host, the host's waiting takes the place of the buffer's filling.
    fn is_congested(&self, state: &RingState, now: Time) -> bool {
        if self.constants.dual {
            return state.transit as f64 > self.constants.congested_above;
        }
        let waits_long = |since: Time| now.since(since) > self.constants.interval;
        self.forward.octets > 0.0 && state.waiting_since.is_some_and(waits_long)
    }

    /// `rev_usage`, with the distance of the station that it speaks of.
    fn to_tell(&self) -> (Option<f64>, u16) {
        let own = self.usage.smooth;
        let (value, origin) = match self.received {
            Some((received, origin)) if self.congested && received <= own => (received, origin),
            _ if self.congested => (own, 0),
            Some((received, origin)) if self.forward.smooth > self.allow_usage => {
                (received, origin)
            }
            // What passes is not what made the station downstream congested: local reuse.
            _ => return (None, 0),
        };
        if value > self.max_usage { (None, 0) } else { (Some(value), origin) }
    }
}

impl RingFairness for SrpFa {
    fn access(&self, frame: &RingFrame, state: &RingState, _now: Time) -> RingAccess {
        let usage = self.usage.octets;
        let gives_way = state.transit > 0 && self.forward.octets < usage;
        let open = frame.class == RingClass::High
            || (usage < self.allow_usage && usage < self.max_allowance && !gives_way);
        if open { RingAccess::Open } else { RingAccess::Closed }
    }

    fn sent(&mut self, frame: &RingFrame, _now: Time) {
        if frame.class == RingClass::Low || self.constants.all_usage {
            self.usage.add(frame.size);
        }
    }

    fn entered(&mut self, frame: &RingFrame, _now: Time) {
        if frame.class == RingClass::Low || self.constants.all_forward {
            self.forward.add(frame.size);
        }
    }

    fn interval(&self) -> Option<Span> {
        Some(self.constants.interval)
    }

    fn interval_ended(&mut self, state: &RingState, now: Time) -> Option<RingMessage> {
        let Constants { age, lp_fwd, lp_my_usage, lp_allow, .. } = self.constants;
        self.congested = self.is_congested(state, now);
        self.usage.end_interval(lp_my_usage, age, self.allow_usage);
        self.forward.end_interval(lp_fwd, age, f64::INFINITY);
        match self.received {
            Some((received, _)) => self.allow_usage = received,
            None => self.allow_usage += (self.max_usage - self.allow_usage) / lp_allow,
        }
        let (value, origin) = self.to_tell();
        self.told = value;
        Some(RingMessage { origin, notice: RingNotice::Limit(value) })
    }

    fn heard(&mut self, message: &RingMessage, _now: Time) -> bool {
        let RingNotice::Limit(value) = message.notice else { return false };
        let own = message.origin >= self.stations;
        self.received = value.filter(|_| !own).map(|usage| (usage, message.origin));
        false
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let bps = |usage: f64| usage / self.max_usage * self.constants.rate.bps() as f64;
        visit("allow_bps", bps(self.allow_usage));
        visit("usage_bps", bps(self.usage.octets));
        visit("lp_usage_bps", bps(self.usage.smooth));
        visit("forward_bps", bps(self.forward.octets));
        visit("lp_forward_bps", bps(self.forward.smooth));
        visit("told_bps", bps(self.told.unwrap_or(self.max_usage)));
        visit("congested", f64::from(u8::from(self.congested)));
    }
}

#[cfg(test)]
mod tests;
