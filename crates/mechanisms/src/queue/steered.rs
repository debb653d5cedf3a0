//! Fair queueing whose weights are steered from outside, packet by packet.
//!
//! It is start-time fair queueing, whose tags of packets served stay what they were when a weight
//! changes: the next packet of a class is the first that costs by the new one.

use forebay_parameters::{Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::Queue;
use super::classful::{ClassOptions, Heads, Scheduler};
use super::tags::{Tags, least};
use crate::LinkFacts;

parameters! {
    /// Parameters of a steered scheduler.
    pub struct SteeredParameters {
        ..classes: ClassOptions;
    }
}

impl SteeredParameters {
    /// Read the section of a scheduler that is steered.
    ///
    /// # Errors
    /// The first wrong, missing or unknown key.
    pub fn of(section: &Section<'_>) -> Result<Self, Problem> {
        Self::read(section)
    }

    /// Number of its classes, 1 to 64.
    ///
    /// # Errors
    /// If there are none, or too many.
    pub fn count(&self, section: &Section<'_>) -> Result<usize, Problem> {
        self.classes.count(section)
    }
}

/// The queue of `parameters` in `section`, whose classes have the weight that `weight` gives for
/// each whenever one of its packets is served: a number above 0.
///
/// # Errors
/// Those of its classes and of how packets are told apart.
pub fn steered(
    parameters: &SteeredParameters,
    section: &Section<'_>,
    facts: &LinkFacts,
    weight: impl Fn(usize) -> f64 + Send + 'static,
) -> Result<Queue, Problem> {
    let count = parameters.classes.count(section)?;
    let tags = Tags::new((0..count).map(&weight).collect(), facts.rate);
    parameters.classes.build(section, facts, Steered { tags, virtual_time: 0.0, weight })
}

struct Steered<W> {
    tags: Tags,
    /// Start tag of the packet served last; at the end of a busy period the largest finish tag.
    virtual_time: f64,
    weight: W,
}

impl<W: Fn(usize) -> f64 + Send> Scheduler for Steered<W> {
    fn activate(&mut self, class: usize, now: Time) {
        if self.tags.is_idle(now) {
            self.virtual_time = self.tags.last_finish();
        }
        self.tags.activate(class, self.virtual_time);
    }

    fn deactivate(&mut self, _class: usize) {
        self.tags.deactivate();
    }

    fn select(&mut self, heads: &Heads, _now: Time) -> Option<usize> {
        least(heads.active(), |class| self.tags.start(class))
    }

    fn served(&mut self, class: usize, size: u16, more: bool, now: Time) {
        self.tags.weigh(class, (self.weight)(class));
        self.virtual_time = self.tags.served(class, size, more, now).0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_units::Rate;

    /// A weight counts from the next packet of its class on: of classes with equal packets that
    /// always wait, weights of 3 and 1 give three packets to one, and 1 and 1 every second.
    #[test]
    fn a_weight_counts_from_the_next_packet_on() {
        let mut law = Steered {
            tags: Tags::new(vec![1.0, 1.0], Rate::from_bps(8000)),
            virtual_time: 0.0,
            weight: |class| [3.0, 1.0][class],
        };
        let served = |law: &mut dyn Scheduler, packets: usize| {
            let heads = Heads::of(&[1000, 1000]);
            let mut first = 0;
            for _ in 0..packets {
                let class = law.select(&heads, Time::ZERO).unwrap();
                law.served(class, 1000, true, Time::ZERO);
                first += usize::from(class == 0);
            }
            first
        };
        law.activate(0, Time::ZERO);
        law.activate(1, Time::ZERO);
        assert_eq!(served(&mut law, 400), 300);
        let mut even =
            Steered { tags: law.tags, virtual_time: law.virtual_time, weight: |_: usize| 1.0 };
        assert_eq!(served(&mut even, 400), 200);
    }
}
