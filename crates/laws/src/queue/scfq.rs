//! Self-clocked fair queueing.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::classful::{ClassOptions, Heads, PROBES, Scheduler, weights};
use crate::queue::parts::tags::{Tags, least};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "scfq",
    summary: "Self-clocked fair queueing: packets leave in the order of finish tags, and the tag \
              of the packet in transmission is the virtual time.",
    source: "Golestani, Proc. IEEE INFOCOM 1994, section 4",
    example: r#"
        classes = [{ droptail = { limit = "9 kB" } }, { red = { limit = "25 packets" } }]
        classify = "precedence"
        weights = [3, 1]
    "#,
    fields: ScfqParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Parameters of self-clocked fair queueing.
    pub struct ScfqParameters {
        ..classes: ClassOptions;
        /// The weight of each class: rates are shared in proportion. 1 each if left out.
        weights: Option<Vec<f64>>, "Golestani 1994, section 4 (r)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let ScfqParameters { classes, weights: given } = ScfqParameters::read(section)?;
    let weights = weights(section, given.as_deref(), classes.count(section)?)?;
    let tags = Tags::new(weights, facts.rate);
    classes.build(section, facts, Scfq { tags, virtual_time: 0.0 })
}

struct Scfq {
    tags: Tags,
    /// Finish tag of the packet served last. No packet served before has a larger one.
    virtual_time: f64,
}

impl Scheduler for Scfq {
    fn activate(&mut self, class: usize, _now: Time) {
        self.tags.activate(class, self.virtual_time);
    }

    fn deactivate(&mut self, _class: usize) {
        self.tags.deactivate();
    }

    fn select(&mut self, heads: &Heads, _now: Time) -> Option<usize> {
        least(heads.active(), |class| self.tags.finish(class, heads))
    }

    fn served(&mut self, class: usize, size: u16, more: bool, now: Time) {
        self.virtual_time = self.tags.served(class, size, more, now).1;
    }
}
