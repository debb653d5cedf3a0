//! REDn whose maximum probabilities follow its averages: the law of Self-Configuring REDn and of
//! Adaptive REDn.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, LawNote, QueuedInfo, Verdict};
use forebay_parameters::{Length, Probe, Problem, Section, choice, parameters};
use forebay_units::{Span, Time};

use crate::LinkFacts;
use crate::queue::adaptive_red::{CHANGED, DECREASES, INCREASES};
use crate::queue::parts::adjustment::{Adjustment, ThresholdZone};
use crate::queue::parts::red_options::Options;
use crate::queue::redn::{RednOptions, Shape};
use crate::queue::rio::{ACTUAL, AVERAGES, Coupling, Rio};

choice! {
    /// Treatment of the count of packets since the last drop when congestion is ruled out.
    pub enum SparedCount {
        /// It starts anew, as below the minimum threshold.
        Restart = "restart",
        /// It stays.
        Keep = "keep",
    }
}

parameters! {
    /// Parameters with which those of every REDn end whose maximum probabilities move.
    pub struct DynamicOptions {
        /// Factor by which a maximum probability grows when its average exceeds a threshold, above
        /// 1. It never grows beyond 1.
        increment: f64 = 2.0, "Feng et al. 1999; Liu 2001, section 4.1";
        /// Divisor by which it shrinks when the average falls below the minimum threshold, above 1:
        /// a factor of 1/3 by default.
        decrement: f64 = 3.0, "Feng et al. 1999; Liu 2001, section 4.1 and table 3.1";
        /// Queue that the actual threshold is held against: the packets of this and all lower
        /// precedences, as in the averages (coupled), or of this alone (decoupled).
        actual_queue: Coupling = "coupled", "Liu 2001, section 3.2";
        /// Treatment of the count of packets since the last drop while the actual threshold rules
        /// congestion out: it starts anew (restart) or stays (keep).
        spared_count: SparedCount = "restart",
            "assumed: as below the minimum threshold; Liu 2001 does not say";
        ..redn: RednOptions;
    }
}

/// Probes of Self-Configuring REDn.
pub(in crate::queue) const PROBES: &[Probe] =
    &[AVERAGES, ACTUAL, MAX_PROBABILITIES, REGION, REGION_CHANGES, INCREASES, DECREASES, CHANGED];

/// Probes of Adaptive REDn.
pub(in crate::queue) const ADAPTIVE_PROBES: &[Probe] = &[
    AVERAGES,
    ACTUAL,
    MAX_PROBABILITIES,
    Probe {
        name: "dynamic_probability",
        unit: "1",
        meaning: "By precedence: the dynamic maximum probability.",
    },
    Probe {
        name: "middle_probability",
        unit: "1",
        meaning: "With `middle_interval`, by precedence that has a middle threshold: the maximum \
                  probability in use at or above it.",
    },
    Probe {
        name: "above_middle",
        unit: "1",
        meaning: "By precedence: 1 if the average was at or above the middle threshold when it \
                  last lay between minimum and maximum threshold, else 0.",
    },
    Probe { name: "middle_changes", unit: "1", meaning: "Times that this changed." },
    REGION,
    REGION_CHANGES,
    INCREASES,
    DECREASES,
    CHANGED,
];

const MAX_PROBABILITIES: Probe = Probe {
    name: "max_probability",
    unit: "1",
    meaning: "By precedence: maximum probability in use (the thesis's effective one).",
};
const REGION: Probe = Probe {
    name: "region",
    unit: "1",
    meaning: "By precedence: where the average lies: 0 below the minimum threshold, 1 between, 2 \
              above the maximum threshold.",
};
const REGION_CHANGES: Probe =
    Probe { name: "region_changes", unit: "1", meaning: "Times that the region changed." };

/// Configuration of Self-Configuring and Adaptive REDn beside the shape of REDn.
pub(in crate::queue) struct Dynamics {
    pub increment: f64,
    pub decrement: f64,
    pub actual_threshold: Length,
    pub actual_queue: Coupling,
    pub spared_count: SparedCount,
    /// Only of Adaptive REDn.
    pub middle: Option<Middle>,
}

/// The middle threshold algorithm.
#[derive(Clone, Copy)]
pub(in crate::queue) struct Middle {
    pub threshold: f64,
    /// The lowest precedence that has a middle threshold.
    pub first: usize,
    /// True if a maximum probability grows from the static one at least where the average exceeds
    /// the maximum threshold.
    pub raise_to_static: bool,
    /// Time for which the average stays on one side before the static one is adjusted, if it ever
    /// is.
    pub interval: Option<Span>,
}

/// REDn with a state machine for the maximum probability of each precedence.
pub(in crate::queue) struct DynamicRedn {
    rio: Rio,
    machines: Vec<Machine>,
    /// Below so much of its actual queue a precedence is not congested.
    actual_threshold: f64,
    coupled: bool,
    restarts: bool,
    adaptive: bool,
}

impl DynamicRedn {
    pub fn build(
        section: &Section<'_>,
        facts: &LinkFacts,
        (shape, options): (&Shape, Options),
        dynamics: &Dynamics,
    ) -> Result<Self, Problem> {
        let [min, _, max] = shape.thresholds(facts, options.mean_packet);
        check(section, shape.probability, min, dynamics)?;
        let rio = shape.build(section, facts, options)?;
        let rule = Rule {
            min: min.amount() as f64,
            max: max.amount() as f64,
            middle: f64::INFINITY,
            start: shape.probability,
            increment: dynamics.increment,
            decrement: dynamics.decrement,
            raise_to_static: dynamics.middle.is_some_and(|middle| middle.raise_to_static),
            interval: None,
        };
        let machine = |precedence: usize| {
            let middle = dynamics.middle.filter(|middle| precedence >= middle.first);
            Machine::new(Rule {
                middle: middle.map_or(f64::INFINITY, |m| m.threshold),
                interval: middle.and_then(|m| m.interval),
                ..rule
            })
        };
        Ok(Self {
            machines: (0..rio.precedences()).map(machine).collect(),
            rio,
            actual_threshold: dynamics.actual_threshold.amount() as f64,
            coupled: dynamics.actual_queue == Coupling::Coupled,
            restarts: dynamics.spared_count == SparedCount::Restart,
            adaptive: dynamics.middle.is_some(),
        })
    }
}

fn check(
    section: &Section<'_>,
    probability: f64,
    min: Length,
    dynamics: &Dynamics,
) -> Result<(), Problem> {
    if probability <= 0.0 {
        let message = format!("{probability} is out of range; allowed are above 0 and up to 1");
        return Err(section.fail("max_probability", message));
    }
    let factors = [("increment", dynamics.increment), ("decrement", dynamics.decrement)];
    for (key, factor) in factors {
        if factor <= 1.0 {
            let message = format!("{factor} is out of range; allowed is more than 1");
            return Err(section.fail(key, message));
        }
    }
    same_unit(section, "actual_threshold", dynamics.actual_threshold, min)
}

/// Refuse a threshold in another unit than the minimum threshold; zero has none.
pub(in crate::queue) fn same_unit(
    section: &Section<'_>,
    key: &str,
    length: Length,
    min: Length,
) -> Result<(), Problem> {
    if length.amount() == 0 || length.in_bytes() == min.in_bytes() {
        return Ok(());
    }
    let unit = if min.in_bytes() { "bytes" } else { "packets" };
    let message = format!("is in another unit than min_threshold; allowed here are {unit}");
    Err(section.fail(key, message))
}

impl DropPolicy for DynamicRedn {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let rio = &mut self.rio;
        let index = rio.index(arrival.packet.queued_info());
        let queue = rio.update(index, arrival);
        // The averages that follow this precedence are those from it on.
        for (i, machine) in self.machines.iter_mut().enumerate().skip(index) {
            if machine.follow(rio.average(i), arrival.now) {
                rio.set_probability(i, machine.effective);
            }
        }
        let actual = if self.coupled { queue } else { rio.waiting(index) };
        if actual < self.actual_threshold {
            rio.spare(index, self.restarts, arrival)
        } else {
            rio.decide(index, queue, arrival, stream)
        }
    }

    fn departed(&mut self, packet: QueuedInfo, at: Time) {
        self.rio.departed(packet, at);
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        for (precedence, machine) in (0..).zip(&mut self.machines) {
            if std::mem::take(&mut machine.moved) {
                let adjustment = Adjustment {
                    precedence,
                    average: self.rio.average(usize::from(precedence)),
                    region: machine.region,
                    above_middle: machine.above_middle,
                    dynamic_probability: machine.dynamic,
                    max_probability: machine.effective,
                };
                adjustment.note(visit);
            }
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.rio.probes(visit);
        for (i, machine) in self.machines.iter().enumerate() {
            let mut visit = |name: &str, value: f64| visit(&format!("{name}.{i}"), value);
            visit("max_probability", machine.effective);
            if self.adaptive {
                visit("dynamic_probability", machine.dynamic);
                visit("above_middle", f64::from(u8::from(machine.above_middle)));
                visit("middle_changes", machine.middle_changes as f64);
            }
            if machine.rule.interval.is_some() {
                visit("middle_probability", machine.middle);
            }
            visit("region", f64::from(machine.region as u8));
            visit("region_changes", machine.region_changes as f64);
            visit("increases", machine.increases as f64);
            visit("decreases", machine.decreases as f64);
            visit("changed_s", machine.changed.seconds());
        }
    }
}

/// Rule by which the maximum probability of a precedence moves.
#[derive(Clone, Copy, Debug)]
struct Rule {
    min: f64,
    /// Infinite if there is none.
    middle: f64,
    max: f64,
    /// The static maximum probability, from which the dynamic one starts.
    start: f64,
    increment: f64,
    decrement: f64,
    raise_to_static: bool,
    /// None if the probability of the middle threshold is static.
    interval: Option<Span>,
}

/// The state machine of one precedence: figure 1.2 of the thesis, and with a middle threshold its
/// figure 3.5.
#[derive(Clone, Debug)]
struct Machine {
    rule: Rule,
    /// The dynamic maximum probability.
    dynamic: f64,
    /// The effective one: what is in use.
    effective: f64,
    /// That of the middle threshold: the static one, unless it is adjusted.
    middle: f64,
    /// True if the average is at or above the middle threshold, where it is adjusted.
    high: bool,
    /// Time at which it is adjusted next if the average stays on its side. [`Time::NEVER`] if it is
    /// not.
    due: Time,
    /// The thesis's prev-state.
    region: ThresholdZone,
    /// The thesis's prev-state-mid.
    above_middle: bool,
    region_changes: u64,
    middle_changes: u64,
    increases: u64,
    decreases: u64,
    /// Time at which one of the two probabilities changed last.
    changed: Time,
    /// True if it has moved since it was last read.
    moved: bool,
}

impl Machine {
    fn new(rule: Rule) -> Self {
        Self {
            rule,
            dynamic: rule.start,
            effective: rule.start,
            middle: rule.start,
            high: false,
            due: Time::NEVER,
            region: ThresholdZone::Below,
            above_middle: false,
            region_changes: 0,
            middle_changes: 0,
            increases: 0,
            decreases: 0,
            changed: Time::ZERO,
            moved: false,
        }
    }

    /// The average has been updated; gives whether the effective maximum probability has changed.
    #[inline]
    fn follow(&mut self, average: f64, now: Time) -> bool {
        let region = if average < self.rule.min {
            ThresholdZone::Below
        } else if average <= self.rule.max {
            ThresholdZone::Between
        } else {
            ThresholdZone::Above
        };
        let crosses =
            region == ThresholdZone::Between && (average >= self.rule.middle) != self.above_middle;
        (region != self.region || crosses || now >= self.due)
            && self.turn(average, (region, crosses), now)
    }

    /// The average comes to a region, `crosses` the middle threshold, or has stayed so long that
    /// the probability of the middle threshold is due.
    fn turn(&mut self, average: f64, (region, crosses): (ThresholdZone, bool), now: Time) -> bool {
        let before = (self.dynamic, self.effective);
        if region != self.region || crosses {
            self.enter(region, crosses);
        }
        if let Some(interval) = self.rule.interval {
            self.adjust(interval, average >= self.rule.middle, now);
        }
        if before != (self.dynamic, self.effective) {
            self.changed = now;
        }
        before.1 != self.effective
    }

    /// `region` is new, or between the thresholds the average `crosses` the middle one.
    fn enter(&mut self, region: ThresholdZone, crosses: bool) {
        self.moved = true;
        match region {
            ThresholdZone::Below => {
                self.decrease();
                self.effective = self.dynamic;
            }
            ThresholdZone::Between if crosses => self.cross_middle(),
            ThresholdZone::Between => {}
            ThresholdZone::Above => {
                let floor = if self.rule.raise_to_static { self.rule.start } else { 0.0 };
                self.increase(floor);
                self.effective = self.dynamic;
            }
        }
        self.region_changes += u64::from(region != self.region);
        self.region = region;
    }

    /// Adjust the maximum probability of the middle threshold, which is in use where the average is
    /// `high`: at or above it. The dynamic one moves as without.
    fn adjust(&mut self, interval: Span, high: bool, now: Time) {
        let (before, factor) = (self.middle, self.rule.increment);
        if high != self.high {
            self.high = high;
            self.due = now + interval;
        } else if now >= self.due {
            let moved = if high { before * factor } else { before / factor };
            self.middle = moved.clamp(self.rule.start, 1.0);
            let rests = !high && self.middle == self.rule.start;
            self.due = if rests { Time::NEVER } else { now + interval };
        }
        if high {
            // Strictly above the dynamic one, as the thesis asks for, as long as it can be.
            self.middle = self.middle.max(self.dynamic * factor).min(1.0);
            self.effective = self.middle;
        } else {
            self.effective = self.dynamic;
        }
        self.moved |= before != self.middle;
    }

    fn cross_middle(&mut self) {
        self.above_middle = !self.above_middle;
        self.middle_changes += 1;
        if self.above_middle {
            if self.dynamic < self.rule.start {
                self.increase(0.0);
            }
            self.effective = self.dynamic.max(self.rule.start);
        } else {
            self.effective = self.dynamic;
        }
    }

    /// Let the dynamic maximum probability grow, from `floor` at least.
    fn increase(&mut self, floor: f64) {
        let before = self.dynamic;
        self.dynamic = (before.max(floor) * self.rule.increment).min(1.0);
        self.increases += u64::from(self.dynamic > before);
    }

    fn decrease(&mut self) {
        let before = self.dynamic;
        // The sources set no lower bound, but from zero no factor would lead back.
        self.dynamic = (before / self.rule.decrement).max(f64::MIN_POSITIVE);
        self.decreases += u64::from(self.dynamic < before);
    }
}

#[cfg(test)]
mod tests;
