//! REDn: RIO-C with any number of precedences and one set of parameters for all of them; also what
//! the laws share that move its maximum probabilities.

mod regions;

use forebay_parameters::{Entry, Length, Parameter, Parameters, Problem, Section, parameters};
use forebay_units::Size;

use self::regions::RegionRedn;
use super::rio::{Coupling, IdleMeaning, Rio};
use super::{BuildQueue, MAX_PRECEDENCES, Queue};
use crate::LinkFacts;
use crate::queue::parts::red_core::Core;
use crate::queue::parts::red_options::{Options, RedOptions, Thresholds, warn_of_no_early_drops};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "redn",
    summary: "RED with n precedences: RIO-C, gentle, the same parameters for every precedence.",
    source: "Liu 2001, Adaptive REDn Gateway, thesis, Univ. of British Columbia, section 1.1.1",
    example: r#"
        min_threshold = "3 kB"
        max_threshold = "9 kB"
        weight = 0.05
        limit = "25 packets"
    "#,
    fields: RednParameters::FIELDS,
    probes: super::rio::PROBES,
    build: &build,
};

parameters! {
    /// Parameters with which those of every REDn begin.
    pub struct RednShape {
        /// Number of precedences, 1 to 64. Packets of higher precedence count as the last; with 1
        /// the law has one average, of the whole queue.
        precedences: u32 = 3, "Liu 2001, section 1.1.1";
        /// Average queue below which nothing is dropped early, of every precedence, in bytes or in
        /// packets. Left out: half of the packets that the link sends in 15 ms.
        min_threshold: Option<Length>, "Liu 2001, section 4.1";
        /// Average queue at which the drop probability reaches its maximum, of every precedence.
        /// Above the minimum threshold. Left out: the packets that the link sends in 500 ms, times
        /// twice the maximum probability.
        max_threshold: Option<Length>, "Liu 2001, section 4.1";
    }
}

parameters! {
    /// Parameters with which those of every REDn end.
    pub struct RednOptions {
        /// Condition for an average to decay as idle: while none of the packets that it follows
        /// waits (cumulative) or while the link is idle, as in RED (physical).
        idle: IdleMeaning = "physical",
            "assumed: as in RED (Floyd and Jacobson 1993, section 4); not stated";
        /// Mark ECN-capable packets also above the maximum threshold (of a gentle law), instead of
        /// dropping them early there.
        gentle_ecn: bool = false, "Liu 2001, chapter 1: packet drop alone above it";
        /// Weight w of the newest sample in the averages, above 0 and at most 1.
        weight: f64 = 0.002, "Liu 2001, section 4.1";
        ..red: RedOptions {
            gentle = true, "Liu 2001, eq. 1.3";
            count = "analysis", "Liu 2001, section 4.1: 0.5/p + 0.5 packets between marks";
        };
    }
}

impl RednOptions {
    pub fn options(&self) -> Options {
        Options { gentle_ecn: self.gentle_ecn, ..self.red.with(self.weight) }
    }
}

parameters! {
    /// Parameters of REDn.
    pub struct RednParameters {
        ..shape: RednShape;
        /// Drop probability at the maximum threshold.
        max_probability: f64 = 0.1, "Liu 2001, section 4.1";
        /// Maximum probabilities of as many regions, equal parts of the span between the
        /// thresholds: an average has that of its region instead of `max_probability`, as the
        /// probability at the maximum threshold to which the drop probability rises from the
        /// minimum threshold. None below the one before. Left out: one for the whole span.
        region_probabilities: Option<Vec<f64>>,
            "Wang and Shin, IEEE GLOBECOM 1999, as told in Liu 2001, section 3.4";
        ..common: RednOptions;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = RednParameters::read(section)?;
    let RednParameters { shape, max_probability, region_probabilities, common } = &parameters;
    let shape = Shape::of(shape, common, *max_probability, None);
    let rio = shape.build(section, facts, common.options())?;
    let Some(probabilities) = region_probabilities else { return Ok(Queue::under(rio)) };
    let [min, _, max] = shape.thresholds(facts, common.red.mean_packet);
    let span = (min.amount() as f64, max.amount() as f64);
    Ok(Queue::under(RegionRedn::build(section, rio, span, probabilities)?))
}

/// Parameters that are the same for every precedence.
pub(super) struct Shape {
    pub precedences: u32,
    pub min: Option<Length>,
    pub middle: Option<Length>,
    pub max: Option<Length>,
    pub probability: f64,
    pub idle: IdleMeaning,
}

impl Shape {
    pub fn of(
        shape: &RednShape,
        common: &RednOptions,
        probability: f64,
        middle: Option<Length>,
    ) -> Self {
        Self {
            precedences: shape.precedences,
            min: shape.min_threshold,
            middle,
            max: shape.max_threshold,
            probability,
            idle: common.idle,
        }
    }

    pub fn build(
        &self,
        section: &Section<'_>,
        facts: &LinkFacts,
        options: Options,
    ) -> Result<Rio, Problem> {
        let precedences = self.precedences as usize;
        if precedences == 0 || precedences > MAX_PRECEDENCES {
            let message =
                format!("{precedences} is out of range; allowed are 1 to {MAX_PRECEDENCES}");
            return Err(section.fail("precedences", message));
        }
        if !(0.0..=1.0).contains(&self.probability) {
            let message = format!("{} is not a probability; allowed are 0 to 1", self.probability);
            return Err(section.fail("max_probability", message));
        }
        if self.probability == 0.0 {
            warn_of_no_early_drops(section, "max_probability", "");
        }
        let [min, _, max] = self.thresholds(facts, options.mean_packet);
        if self.max.is_none() && max.amount() <= min.amount() {
            let message = format!(
                "is left out, and \"{}\", which follows from rate and max_probability, is not \
                 above the minimum threshold; allowed is more than \"{}\"",
                max.show(),
                min.show()
            );
            return Err(section.fail("max_threshold", message));
        }
        let thresholds = Thresholds { min: &[min], max: &[max], probability: &[self.probability] };
        let (core, classes) = Core::build(section, facts, options, &thresholds)?;
        let classes = vec![classes[0].clone(); precedences];
        Ok(Rio::new(core, classes, Coupling::Coupled, self.idle))
    }

    /// Minimum, middle and maximum threshold: what is given, else what the guidelines of the
    /// thesis say (section 4.1), in whole packets of `mean_packet`.
    pub fn thresholds(&self, facts: &LinkFacts, mean_packet: Size) -> [Length; 3] {
        let (rate, bits) = (facts.rate.bps(), 8 * u128::from(mean_packet.bytes().max(1)));
        let middle = self.middle.unwrap_or_else(|| {
            let packets = u128::from(rate) * MIDDLE_DELAY_MS / (1000 * bits);
            Length::Packets(u64::try_from(packets).unwrap_or(u64::MAX))
        });
        let half = match middle {
            Length::Bytes(n) => Length::Bytes(n / 2),
            Length::Packets(n) => Length::Packets(n / 2),
        };
        let max = self.max.unwrap_or_else(|| {
            let packets = rate as f64 / bits as f64 * MAX_RTT_S * 2.0 * self.probability;
            // A product that is whole but for rounding must not lose a packet.
            Length::Packets((packets + 1e-6) as u64)
        });
        [self.min.unwrap_or(half), middle, max]
    }
}

/// Queueing delay at the middle threshold.
const MIDDLE_DELAY_MS: u128 = 15;
/// Round-trip time of the longest path.
const MAX_RTT_S: f64 = 0.5;

/// The queue of `entry` on a link of `rate`, or the key that is wrong.
#[cfg(test)]
pub(super) fn built(
    entry: &Entry<BuildQueue>,
    rate: forebay_units::Rate,
    parameters: &[(&str, forebay_parameters::Value)],
) -> Result<Box<dyn forebay_network::DropPolicy>, String> {
    use forebay_parameters::{Echo, Node, Table, Value};
    let entries = parameters.iter().map(|(key, value)| ((*key).into(), Node::new(value.clone())));
    let (node, echo) = (Node::new(Value::Table(entries.collect::<Table>())), Echo::default());
    let section = Section::root(&node, &echo).map_err(|problem| problem.path)?;
    match (entry.build)(&section, &LinkFacts::of(rate)) {
        Ok(Queue::Fifo(law)) => Ok(Box::new(law)),
        Ok(_) => panic!("every kind of RED decides at arrival"),
        Err(problem) => Err(problem.path),
    }
}

#[cfg(test)]
mod tests;
