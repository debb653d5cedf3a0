//! Start-time fair queueing.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::classful::{ClassOptions, Heads, PROBES, Scheduler, weights};
use crate::queue::parts::tags::{Tags, least};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "stfq",
    summary: "Start-time fair queueing: packets leave in the order of start tags, and the tag of \
              the packet in transmission is the virtual time.",
    source: "Goyal, Vin and Cheng, IEEE/ACM Trans. Networking 5(5), 1997, section 2",
    example: r#"
        classes = [{ droptail = { limit = "9 kB" } }, { red = { limit = "25 packets" } }]
        classify = "precedence"
        weights = [3, 1]
    "#,
    fields: StfqParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Parameters of start-time fair queueing.
    pub struct StfqParameters {
        ..classes: ClassOptions;
        /// The weight of each class: rates are shared in proportion. 1 each if left out.
        weights: Option<Vec<f64>>, "Goyal, Vin and Cheng 1997, section 2 (r)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let StfqParameters { classes, weights: given } = StfqParameters::read(section)?;
    let weights = weights(section, given.as_deref(), classes.count(section)?)?;
    classes.build(section, facts, Stfq::new(Tags::new(weights, facts.rate)))
}

pub(super) struct Stfq {
    pub(super) tags: Tags,
    /// Start tag of the packet served last; at the end of a busy period the largest finish tag.
    virtual_time: f64,
}

impl Stfq {
    pub(super) fn new(tags: Tags) -> Self {
        Self { tags, virtual_time: 0.0 }
    }
}

impl Scheduler for Stfq {
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
        self.virtual_time = self.tags.served(class, size, more, now).0;
    }
}
