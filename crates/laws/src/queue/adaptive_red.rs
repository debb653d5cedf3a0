//! Adaptive RED: the maximum probability of RED moves slowly so that the average stays in a target
//! range, and what RED needs as parameters follows from the link's rate.

use forebay_kernel::{Stream, math};
use forebay_network::{Arrival, DropPolicy, LawNote, Verdict};
use forebay_parameters::{
    Entry, Length, Parameter, Parameters, Probe, Problem, Section, parameters,
};
use forebay_units::{Span, Time};

use super::red::{AVERAGE, Red};
use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::adjustment::{Adjustment, ThresholdZone};
use crate::queue::parts::red_core::{Class, Core, Curve};
use crate::queue::parts::red_options::{RedOptions, Thresholds, check_options, check_thresholds};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "adaptive_red",
    summary: "Adaptive RED: moves RED's maximum probability to keep the average in a target range.",
    source: "Floyd, Gummadi and Shenker 2001, Adaptive RED",
    example: r#"
        interval = "100 ms"
        limit = "20 packets"
        ecn = true
    "#,
    fields: AdaptiveRedParameters::FIELDS,
    probes: &[AVERAGE, MAX_PROBABILITY, INCREASES, DECREASES, CHANGED],
    build: &build,
};

/// The maximum probability of a law that moves one.
const MAX_PROBABILITY: Probe =
    Probe { name: "max_probability", unit: "1", meaning: "Maximum probability in use." };
pub(super) const INCREASES: Probe = Probe {
    name: "increases",
    unit: "1",
    meaning: "Times that the (dynamic) maximum probability has grown since the start of the run.",
};
pub(super) const DECREASES: Probe =
    Probe { name: "decreases", unit: "1", meaning: "Times that it has shrunk." };
pub(super) const CHANGED: Probe = Probe {
    name: "changed_s",
    unit: "s",
    meaning: "When it, or the one in use, changed last; 0 if it never did.",
};

parameters! {
    /// Parameters of Adaptive RED.
    pub struct AdaptiveRedParameters {
        /// Average queue below which nothing is dropped early, in bytes or in packets. Left out:
        /// half of the packets that the link sends in the target delay, at least 5.
        min_threshold: Option<Length>, "Floyd, Gummadi and Shenker 2001; ns-2 thresh_";
        /// Average queue at which the drop probability reaches its maximum. Above the minimum
        /// threshold. Left out: three times the minimum threshold.
        max_threshold: Option<Length>, "Floyd, Gummadi and Shenker 2001; ns-2 maxthresh_";
        /// Queueing delay that the minimum threshold follows from if it is left out: the delay of
        /// an average in the middle of the target range.
        target_delay: Span = "5 ms", "Floyd, Gummadi and Shenker 2001; ns-2 targetdelay_";
        /// Drop probability at the maximum threshold to start with, from `bottom` to `top`.
        max_probability: f64 = 0.1, "ns-2 linterm_";
        /// Time between two adjustments of the maximum probability, each at the first arrival from
        /// then on. Above 0.
        interval: Span = "500 ms", "Floyd, Gummadi and Shenker 2001";
        /// Increment of the maximum probability while the average is above the target range, but at
        /// most a quarter of that probability. Above 0 and at most 1.
        alpha: f64 = 0.01, "Floyd, Gummadi and Shenker 2001";
        /// Factor by which it shrinks while the average is below the target range, above 0 and
        /// below 1.
        beta: f64 = 0.9, "Floyd, Gummadi and Shenker 2001";
        /// Lower bound of the maximum probability, above 0.
        bottom: f64 = 0.01, "Floyd, Gummadi and Shenker 2001";
        /// Upper bound of the maximum probability, at most 1.
        top: f64 = 0.5, "Floyd, Gummadi and Shenker 2001";
        /// Weight w of the newest sample in the average queue, above 0 and at most 1. Left out: 1 -
        /// exp(-1/C), where C is the number of packets that the link sends in a second.
        weight: Option<f64>, "Floyd, Gummadi and Shenker 2001";
        ..red: RedOptions { gentle = true, "Floyd, Gummadi and Shenker 2001"; };
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = AdaptiveRedParameters::read(section)?;
    let law = AdaptiveRed::build(section, facts, &parameters)?;
    Ok(Queue::under(law))
}

/// RED with one average and a maximum probability that moves.
struct AdaptiveRed {
    red: Red,
    /// The target range.
    low: f64,
    high: f64,
    alpha: f64,
    beta: f64,
    bottom: f64,
    top: f64,
    interval: Span,
    /// Time at which the next adjustment is due.
    due: Time,
    max_probability: f64,
    increases: u64,
    decreases: u64,
    /// Time at which the maximum probability changed last.
    changed: Time,
    /// Zone of the target range in which the average lay at the last adjustment, if it was not read
    /// since.
    moved: Option<ThresholdZone>,
}

impl AdaptiveRed {
    fn build(
        section: &Section<'_>,
        facts: &LinkFacts,
        parameters: &AdaptiveRedParameters,
    ) -> Result<Self, Problem> {
        let mean_packet = parameters.red.mean_packet.bytes().max(1);
        let capacity = facts.rate.bytes_per_second() / mean_packet as f64;
        let weight = parameters.weight.unwrap_or_else(|| -math::exp_m1(-1.0 / capacity));
        let options = parameters.red.with(weight);
        check_options(section, &options)?;
        let (min, max, in_bytes) = thresholds(section, parameters, capacity)?;
        check_moves(section, parameters)?;
        let start = parameters.max_probability;
        let class = Class::new(Curve::new(min, max, start, options.gentle), options.count);
        Ok(Self {
            red: Red::new(Core::new(facts, &options, in_bytes), vec![class]),
            low: min + MARGIN * (max - min),
            high: max - MARGIN * (max - min),
            alpha: parameters.alpha,
            beta: parameters.beta,
            bottom: parameters.bottom,
            top: parameters.top,
            interval: parameters.interval,
            due: Time::ZERO + parameters.interval,
            max_probability: start,
            increases: 0,
            decreases: 0,
            changed: Time::ZERO,
            moved: None,
        })
    }

    /// Move the maximum probability by one step.
    fn adjust(&mut self, now: Time) {
        let (before, average) = (self.max_probability, self.red.average());
        if average > self.high {
            let step = self.alpha.min(before * MAX_GROWTH);
            self.max_probability = (before + step).min(self.top);
        } else if average < self.low {
            self.max_probability = (before * self.beta).max(self.bottom);
        }
        if self.max_probability != before {
            self.increases += u64::from(self.max_probability > before);
            self.decreases += u64::from(self.max_probability < before);
            self.changed = now;
            self.moved =
                Some(if average > self.high { ThresholdZone::Above } else { ThresholdZone::Below });
            self.red.set_probability(self.max_probability);
        }
    }
}

/// Distance of the target range from either threshold, as a share of their distance.
const MARGIN: f64 = 0.4;
/// The most by which the maximum probability grows in a step, as a share of itself.
const MAX_GROWTH: f64 = 0.25;
/// The least that the minimum threshold is where it follows from the link's rate, in packets.
const MIN_THRESHOLD_FLOOR: f64 = 5.0;
/// The maximum threshold as a multiple of the minimum threshold where it follows from it.
const SPREAD: f64 = 3.0;

/// Minimum and maximum threshold, and whether they are in bytes; `capacity` in packets a second.
fn thresholds(
    section: &Section<'_>,
    parameters: &AdaptiveRedParameters,
    capacity: f64,
) -> Result<(f64, f64, bool), Problem> {
    let half = 0.5 * capacity * parameters.target_delay.seconds();
    match (parameters.min_threshold, parameters.max_threshold) {
        (Some(min), Some(max)) => {
            let given = Thresholds { min: &[min], max: &[max], probability: &[0.0] };
            let in_bytes = check_thresholds(section, &given)?;
            Ok((min.amount() as f64, max.amount() as f64, in_bytes))
        }
        (Some(min), None) => {
            if min.amount() == 0 {
                let message = "is 0: three times as much is no maximum threshold; allowed without \
                               max_threshold is more than 0";
                return Err(section.fail("min_threshold", message));
            }
            let amount = min.amount() as f64;
            Ok((amount, SPREAD * amount, min.in_bytes()))
        }
        (None, given) => {
            let min = half.max(MIN_THRESHOLD_FLOOR);
            let max = given.map_or(SPREAD * min, |max| max.amount() as f64);
            match given {
                Some(wrong) if wrong.in_bytes() || max <= min => {
                    let message = format!(
                        "\"{}\" does not fit the minimum threshold of {min} packets that follows \
                         from target_delay; allowed is more, in packets",
                        wrong.show()
                    );
                    Err(section.fail("max_threshold", message))
                }
                _ => Ok((min, max, false)),
            }
        }
    }
}

/// Refuse bounds and steps between which the maximum probability could not move.
fn check_moves(section: &Section<'_>, parameters: &AdaptiveRedParameters) -> Result<(), Problem> {
    let AdaptiveRedParameters { alpha, beta, bottom, top, .. } = *parameters;
    let start = parameters.max_probability;
    let outside = |key: &str, value: f64, allowed: &str| {
        Err(section.fail(key, format!("{value} is out of range; allowed is {allowed}")))
    };
    if !(bottom > 0.0 && bottom <= 1.0) {
        return outside("bottom", bottom, "more than 0 and up to 1");
    }
    if !(top >= bottom && top <= 1.0) {
        return outside("top", top, &format!("{bottom} (bottom) to 1"));
    }
    if !(bottom..=top).contains(&start) {
        let allowed = format!("{bottom} (bottom) to {top} (top)");
        return outside("max_probability", start, &allowed);
    }
    if !(alpha > 0.0 && alpha <= 1.0) {
        return outside("alpha", alpha, "more than 0 and up to 1");
    }
    if !(beta > 0.0 && beta < 1.0) {
        return outside("beta", beta, "more than 0 and less than 1");
    }
    if parameters.interval == Span::ZERO {
        return Err(section.fail("interval", "is zero; allowed is any time above 0 s"));
    }
    Ok(())
}

impl DropPolicy for AdaptiveRed {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let queue = self.red.update(arrival);
        if arrival.now >= self.due {
            self.adjust(arrival.now);
            // Intervals without an arrival pass without an adjustment.
            let passed = arrival.now.since(self.due).ps() / self.interval.ps();
            self.due += self.interval.times(passed.saturating_add(1));
        }
        self.red.decide(queue, arrival, stream)
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        if let Some(region) = self.moved.take() {
            let adjustment = Adjustment {
                precedence: 0,
                average: self.red.average(),
                region,
                above_middle: false,
                dynamic_probability: self.max_probability,
                max_probability: self.max_probability,
            };
            adjustment.note(visit);
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.red.probes(visit);
        visit("max_probability", self.max_probability);
        visit("increases", self.increases as f64);
        visit("decreases", self.decreases as f64);
        visit("changed_s", self.changed.seconds());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::redn::built;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, FlowId, Packet, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    fn law(rate: u64, more: &[(&str, Value)]) -> AdaptiveRed {
        let nodes = more.iter().map(|(key, value)| ((*key).to_owned(), Node::new(value.clone())));
        let (node, echo) = (Node::new(Value::Table(nodes.collect::<Table>())), Echo::default());
        let section = Section::root(&node, &echo).unwrap();
        let parameters = AdaptiveRedParameters::read(&section).unwrap();
        let facts = LinkFacts::of(Rate::from_bps(rate));
        AdaptiveRed::build(&section, &facts, &parameters).unwrap()
    }

    /// Thresholds 5 and 15 packets, weight 1: the average is the queue that an arrival finds.
    fn plain(start: f64, more: &[(&str, Value)]) -> AdaptiveRed {
        let mut parameters: Vec<(&str, Value)> = vec![
            ("min_threshold", "5 packets".into()),
            ("max_threshold", "15 packets".into()),
            ("max_probability", start.into()),
            ("weight", 1.0.into()),
        ];
        parameters.extend_from_slice(more);
        law(10_000_000, &parameters)
    }

    fn offer(law: &mut AdaptiveRed, packets: u32, ms: u64, stream: &mut Stream) -> Verdict {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0));
        let backlog = Backlog { packets, bytes: 500 * u64::from(packets) };
        let now = Time::ZERO + Span::from_ms(ms);
        law.admit(
            &Arrival { now, packet: &packet, backlog, idle_since: None, empty_since: None },
            stream,
        )
    }

    /// The maximum probability moves as published. The target range of 5 and 15 is 9 to 11; above
    /// it grows by 0.01 or a quarter of itself: 0.02 to 0.025, 0.1 to 0.11; below it shrinks by a
    /// tenth, 0.1 to 0.09; inside it stays. It stays from 0.01 to 0.5 also where a step leads
    /// beyond.
    #[test]
    fn a_step_is_the_published_one() {
        let stream = &mut Streams::new(1, 0).named("test");
        for (start, average, expected) in [
            (0.02, 12, 0.025),
            (0.1, 12, 0.11),
            (0.1, 8, 0.09),
            (0.1, 9, 0.1),
            (0.1, 11, 0.1),
            (0.495, 30, 0.5),
            (0.5, 30, 0.5),
            (0.0105, 0, 0.01),
            (0.01, 0, 0.01),
        ] {
            let mut law = plain(start, &[]);
            offer(&mut law, average, 500, stream);
            assert!((law.max_probability - expected).abs() < 1e-15, "{start} {average}");
            let moves = law.increases + law.decreases;
            assert_eq!(moves, u64::from(expected != start));
            assert_eq!(law.changed.seconds(), if moves > 0 { 0.5 } else { 0.0 });
        }
    }

    /// The maximum probability moves once every half second: at the first arrival from each
    /// multiple of it on, and only once after a silence.
    #[test]
    fn it_moves_once_an_interval() {
        let stream = &mut Streams::new(1, 0).named("test");
        let mut law = plain(0.1, &[]);
        for (ms, steps) in [
            (0, 0),
            (499, 0),
            (500, 1),
            (501, 1),
            (999, 1),
            (1100, 2),
            (1499, 2),
            (1500, 3),
            (3200, 4),
            (3201, 4),
            (3499, 4),
            (3500, 5),
        ] {
            offer(&mut law, 12, ms, stream);
            assert_eq!(law.increases, steps, "{ms} ms");
        }
        assert!((law.max_probability - 0.15).abs() < 1e-15, "five steps of 0.01");
    }

    /// Drops follow the maximum probability. After a step from 0.1 at average 14 it is 0.11, and a
    /// packet is dropped with 0.11 * 9 / 10 = 0.099, not 0.09. A frequency over n packets deviates
    /// by sqrt(p (1 - p) / n); bound: five times that.
    #[test]
    fn drops_follow_the_maximum_probability() {
        const N: usize = 200_000;
        let stream = &mut Streams::new(1, 0).named("test");
        let mut law = plain(0.1, &[("spacing", "geometric".into())]);
        let mut dropped = 0;
        for _ in 0..N {
            dropped += usize::from(offer(&mut law, 14, 600, stream) != Verdict::Accept);
        }
        let (p, frequency) = (0.099, dropped as f64 / N as f64);
        let bound = 5.0 * (p * (1.0 - p) / N as f64).sqrt();
        assert!((frequency - p).abs() < bound && (frequency - 0.09).abs() > bound, "{frequency}");
    }

    /// Parameters that are left out follow from the link's rate as in the paper. 10 Mbit/s are C =
    /// 2500 packets of 500 B a second: minimum 2500 * 5 ms / 2 = 6.25, maximum 18.75, so that the
    /// middle of the target range is 12.5 packets or 5 ms; weight 1 - exp(-1/2500) = 3.99920011e-4
    /// (1/2500 - 1/2500^2/2 + 1/2500^3/6). 1 Mbit/s: 0.625 is below 5, so 5 and 15.
    #[test]
    fn what_is_left_out_follows_from_the_rate() {
        let stream = &mut Streams::new(1, 0).named("test");
        let mut fast = law(10_000_000, &[]);
        assert_eq!((fast.low, fast.high), (11.25, 13.75));
        offer(&mut fast, 1000, 0, stream);
        let c = 2500.0_f64;
        let weight = 1.0 / c - 0.5 / (c * c) + 1.0 / (6.0 * c * c * c);
        assert!((fast.red.average() - 1000.0 * weight).abs() < 1e-9);
        let slow = law(1_000_000, &[]);
        assert_eq!((slow.low, slow.high), (9.0, 11.0));
        let given = law(10_000_000, &[("min_threshold", "10 kB".into())]);
        assert_eq!((given.low, given.high), (18_000.0, 22_000.0), "10 kB and 30 kB");
        let wide = law(10_000_000, &[("target_delay", "20 ms".into())]);
        assert_eq!((wide.low, wide.high), (45.0, 55.0), "25 and 75");
    }

    /// Bounds and steps with which the maximum probability leaves its range or never moves are
    /// refused by their key.
    #[test]
    fn wrong_parameters_are_refused_by_their_key() {
        let rate = Rate::from_bps(10_000_000);
        assert!(built(&ENTRY, rate, &[]).is_ok(), "everything has a default");
        for (key, value) in [
            ("max_probability", Value::from(0.009)),
            ("max_probability", 0.51.into()),
            ("bottom", 0.0.into()),
            ("top", 0.005.into()),
            ("top", 1.1.into()),
            ("alpha", 0.0.into()),
            ("beta", 1.0.into()),
            ("beta", 0.0.into()),
            ("interval", "0 s".into()),
            ("weight", 0.0.into()),
            ("min_threshold", "0 packets".into()),
            ("max_threshold", "6 packets".into()),
            ("max_threshold", "20 kB".into()),
            ("mean_packet", "0 B".into()),
        ] {
            assert_eq!(built(&ENTRY, rate, &[(key, value)]).err().as_deref(), Some(key));
        }
    }
}
