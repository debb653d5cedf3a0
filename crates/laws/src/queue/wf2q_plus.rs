//! Worst-case fair weighted fair queueing (WF2Q+).

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Time};

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::classful::{ClassOptions, Heads, PROBES, Scheduler, weights};
use crate::queue::parts::tags::{Tags, least};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "wf2q_plus",
    summary: "Worst-case fair weighted fair queueing (WF2Q+): of the packets whose service would \
              have begun under fluid sharing, that which would end first.",
    source: "Bennett and Zhang, IEEE/ACM Trans. Networking 5(5), 1997, section IV",
    example: r#"
        classes = [{ droptail = { limit = "9 kB" } }, { red = { limit = "25 packets" } }]
        classify = "precedence"
        weights = [3, 1]
    "#,
    fields: Wf2qPlusParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Parameters of WF2Q+.
    pub struct Wf2qPlusParameters {
        ..classes: ClassOptions;
        /// The weight of each class: each is guaranteed its part of the rate of the link, in
        /// proportion to the sum of all. 1 each if left out.
        weights: Option<Vec<f64>>, "Bennett and Zhang 1997, section IV (r)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let Wf2qPlusParameters { classes, weights: given } = Wf2qPlusParameters::read(section)?;
    let weights = weights(section, given.as_deref(), classes.count(section)?)?;
    let tags = Tags::new(weights, facts.rate);
    let law = Wf2qPlus {
        total_weight: tags.total_weight(),
        tags,
        rate: facts.rate,
        virtual_time: 0.0,
        since: Time::ZERO,
        bits: 0.0,
    };
    classes.build(section, facts, law)
}

struct Wf2qPlus {
    tags: Tags,
    total_weight: f64,
    rate: Rate,
    /// Virtual time at `since`, when the packet served last began.
    virtual_time: f64,
    since: Time,
    /// Its size: while it is sent, virtual time grows by so many bits over the weights of all.
    bits: f64,
}

impl Wf2qPlus {
    /// Virtual time at `now`, but for the jump to the least start tag (Bennett and Zhang 1997,
    /// equation 27, with the work of the server in place of time, as within a hierarchy).
    fn at(&self, now: Time) -> f64 {
        let sent = self.rate.bps() as f64 * now.since(self.since).seconds();
        self.virtual_time + sent.min(self.bits) / self.total_weight
    }
}

impl Scheduler for Wf2qPlus {
    fn activate(&mut self, class: usize, now: Time) {
        if self.tags.is_idle(now) {
            (self.virtual_time, self.bits) = (self.at(now).max(self.tags.last_finish()), 0.0);
        }
        self.tags.activate(class, self.at(now));
    }

    fn deactivate(&mut self, _class: usize) {
        self.tags.deactivate();
    }

    fn select(&mut self, heads: &Heads, now: Time) -> Option<usize> {
        let first = least(heads.active(), |class| self.tags.start(class))?;
        let virtual_time = self.at(now).max(self.tags.start(first));
        (self.virtual_time, self.since, self.bits) = (virtual_time, now, 0.0);
        let eligible = heads.active().filter(|class| self.tags.start(*class) <= virtual_time);
        least(eligible, |class| self.tags.finish(class, heads))
    }

    fn served(&mut self, class: usize, size: u16, more: bool, now: Time) {
        self.tags.served(class, size, more, now);
        self.bits = f64::from(size) * 8.0;
    }
}
