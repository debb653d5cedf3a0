//! Deficit round robin.

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Size, Time};

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::classful::{ClassOptions, Heads, PROBES, Scheduler, quanta};
use crate::queue::parts::round_robin::{RoundRobin, bytes};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "drr",
    summary: "Deficit round robin: classes send in turn, each a quantum of bytes a round, and keep \
              what the next packet did not fit into.",
    source: "Shreedhar and Varghese, Proc. ACM SIGCOMM 1995, section 3; Linux tc-drr(8)",
    example: r#"
        classes = [{ droptail = { limit = "9 kB" } }, { red = { limit = "25 packets" } }]
        classify = "precedence"
        quanta = ["3000 B", "1500 B"]
    "#,
    fields: DrrParameters::FIELDS,
    probes: &[
        PROBES[0],
        PROBES[1],
        PROBES[2],
        Probe {
            name: "deficit_bytes",
            unit: "bytes",
            meaning: "By class: what it may still send in this round.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of deficit round robin.
    pub struct DrrParameters {
        ..classes: ClassOptions;
        /// Size that each class may send in a round, at least 20 B; a packet larger than that waits
        /// for further rounds. 1500 B each if left out.
        quanta: Option<Vec<Size>>, "Shreedhar and Varghese 1995, section 3 (at least the largest \
                                    packet, so that each turn serves one)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let DrrParameters { classes, quanta: given } = DrrParameters::read(section)?;
    let quanta = quanta(section, given.as_deref(), classes.count(section)?)?;
    classes.build(section, facts, Drr(RoundRobin::new(quanta)))
}

struct Drr(RoundRobin);

impl Scheduler for Drr {
    fn activate(&mut self, class: usize, _now: Time) {
        self.0.activate(class);
    }

    fn deactivate(&mut self, class: usize) {
        self.0.deactivate(class);
    }

    fn select(&mut self, heads: &Heads, _now: Time) -> Option<usize> {
        self.0.select(bytes(heads))
    }

    fn served(&mut self, class: usize, size: u16, more: bool, _now: Time) {
        self.0.served(class, u64::from(size), more);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.0.probes(0, visit);
    }
}
