//! Weighted fair queueing: packet by packet generalized processor sharing.

use std::collections::VecDeque;

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Rate, Time};

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::classful::{ClassOptions, Heads, PROBES, Scheduler, weights};
use crate::queue::parts::tags::least;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "wfq",
    summary: "Weighted fair queueing (PGPS): packets leave in the order in which they would under \
              fluid sharing, generalized processor sharing.",
    source: "Parekh and Gallager, IEEE/ACM Trans. Networking 1(3), 1993, section III; Demers, \
             Keshav and Shenker, Proc. ACM SIGCOMM 1989",
    example: r#"
        classes = [{ droptail = { limit = "9 kB" } }, { red = { limit = "25 packets" } }]
        classify = "precedence"
        weights = [3, 1]
    "#,
    fields: WfqParameters::FIELDS,
    probes: &[
        PROBES[0],
        PROBES[1],
        PROBES[2],
        Probe {
            name: "virtual_time_bits",
            unit: "bits",
            meaning: "Virtual time: bits that a class of weight 1 would have sent in this busy \
                      period.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of weighted fair queueing.
    pub struct WfqParameters {
        ..classes: ClassOptions;
        /// The weight of each class: rates are shared in proportion. 1 each if left out.
        weights: Option<Vec<f64>>, "Parekh and Gallager 1993, section II (phi)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let WfqParameters { classes, weights: given } = WfqParameters::read(section)?;
    let weights = weights(section, given.as_deref(), classes.count(section)?)?;
    classes.build(section, facts, Wfq::new(weights, facts.rate))
}

/// A class, as it is under fluid sharing and as it is here.
#[derive(Clone, Default)]
struct Fluid {
    weight: f64,
    /// Virtual time at which the fluid system has sent all that has arrived.
    finish: f64,
    /// Virtual times at which the packets that wait have arrived.
    arrived: VecDeque<f64>,
    /// Finish tag of the packet that was served last.
    served: f64,
}

impl Fluid {
    fn cost(&self, size: u16) -> f64 {
        f64::from(size) * 8.0 / self.weight
    }
}

/// Virtual time grows at the rate of the link over the weights of the classes that the fluid
/// system is sending (Parekh and Gallager 1993, equations 9 and 10). A packet that a queue drops
/// after it was accepted is taken out of the fluid system, as far as that has not sent it.
struct Wfq {
    classes: Vec<Fluid>,
    rate: Rate,
    virtual_time: f64,
    /// The time at which `virtual_time` was reached.
    at: Time,
}

impl Wfq {
    fn new(weights: Vec<f64>, rate: Rate) -> Self {
        let class = |weight| Fluid { weight, ..Fluid::default() };
        let classes = weights.into_iter().map(class).collect();
        Self { classes, rate, virtual_time: 0.0, at: Time::ZERO }
    }

    /// Bring the fluid system to `now`.
    fn advance(&mut self, now: Time) {
        let mut bits = self.rate.bps() as f64 * now.since(self.at).seconds();
        self.at = self.at.max(now);
        while bits > 0.0 {
            let busy = self.classes.iter().filter(|class| class.finish > self.virtual_time);
            let (weight, next) = busy.fold((0.0, f64::INFINITY), |(weight, next), class| {
                (weight + class.weight, class.finish.min(next))
            });
            if weight == 0.0 {
                self.restart();
                return;
            }
            let needed = (next - self.virtual_time) * weight;
            if needed > bits {
                self.virtual_time += bits / weight;
                return;
            }
            (self.virtual_time, bits) = (next, bits - needed);
        }
    }

    /// The fluid system is empty. If nothing waits here either, virtual time begins again, which
    /// keeps its numbers small.
    fn restart(&mut self) {
        if self.classes.iter().all(|class| class.arrived.is_empty()) {
            self.virtual_time = 0.0;
            for class in &mut self.classes {
                (class.finish, class.served) = (0.0, 0.0);
            }
        }
    }

    fn finish(&self, class: usize, size: u16) -> f64 {
        let class = &self.classes[class];
        let arrived = class.arrived.front().copied().unwrap_or(self.virtual_time);
        class.served.max(arrived) + class.cost(size)
    }
}

impl Scheduler for Wfq {
    fn accepted(&mut self, class: usize, size: u16, now: Time) {
        self.advance(now);
        let now = self.virtual_time;
        let class = &mut self.classes[class];
        class.finish = class.finish.max(now) + class.cost(size);
        class.arrived.push_back(now);
    }

    fn withdrawn(&mut self, class: usize, size: u16, now: Time) {
        self.advance(now);
        let now = self.virtual_time;
        let class = &mut self.classes[class];
        class.finish = (class.finish - class.cost(size)).max(now.min(class.finish));
        class.arrived.pop_back();
    }

    fn activate(&mut self, _class: usize, _now: Time) {}

    fn deactivate(&mut self, _class: usize) {}

    fn select(&mut self, heads: &Heads, _now: Time) -> Option<usize> {
        least(heads.active(), |class| self.finish(class, heads.size(class)))
    }

    fn served(&mut self, class: usize, size: u16, _more: bool, _now: Time) {
        let finish = self.finish(class, size);
        let class = &mut self.classes[class];
        class.served = finish;
        class.arrived.pop_front();
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("virtual_time_bits", self.virtual_time);
    }
}
