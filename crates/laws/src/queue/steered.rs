//! Fair queueing whose weights are steered from outside, packet by packet.
//!
//! It is start-time fair queueing, whose tags of packets served stay what they were when a weight
//! changes: the next packet of a class is the first that costs by the new one.

use forebay_parameters::{Problem, Section};
use forebay_units::Time;

use super::Queue;
use super::stfq::Stfq;
use crate::LinkFacts;
use crate::queue::parts::classful::{ClassOptions, Heads, Scheduler};
use crate::queue::parts::tags::Tags;

/// The queue of `classes` in `section`, which have the weight that `weight` gives for each whenever
/// one of its packets is served: a number above 0.
///
/// # Errors
/// Those of its classes and of how packets are told apart.
pub fn steered(
    classes: &ClassOptions,
    section: &Section<'_>,
    facts: &LinkFacts,
    weight: impl Fn(usize) -> f64 + Send + 'static,
) -> Result<Queue, Problem> {
    let count = classes.count(section)?;
    let law = Stfq::new(Tags::new((0..count).map(&weight).collect(), facts.rate));
    classes.build(section, facts, Steered { law, weight })
}

struct Steered<W> {
    law: Stfq,
    weight: W,
}

impl<W: Fn(usize) -> f64 + Send> Scheduler for Steered<W> {
    fn activate(&mut self, class: usize, now: Time) {
        self.law.activate(class, now);
    }

    fn deactivate(&mut self, class: usize) {
        self.law.deactivate(class);
    }

    fn select(&mut self, heads: &Heads, now: Time) -> Option<usize> {
        self.law.select(heads, now)
    }

    fn served(&mut self, class: usize, size: u16, more: bool, now: Time) {
        self.law.tags.weigh(class, (self.weight)(class));
        self.law.served(class, size, more, now);
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
            law: Stfq::new(Tags::new(vec![1.0, 1.0], Rate::from_bps(8000))),
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
        let mut even = Steered { law: law.law, weight: |_: usize| 1.0 };
        assert_eq!(served(&mut even, 400), 200);
    }
}
