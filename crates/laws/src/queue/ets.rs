//! Enhanced transmission selection: strict priority before deficit round robin.

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Size, Time};

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::classful::{ClassOptions, Heads, PROBES, Scheduler, quanta};
use crate::queue::parts::round_robin::{RoundRobin, bytes};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "ets",
    summary: "Enhanced transmission selection: some classes by strict priority, the others by \
              deficit round robin in what is left.",
    source: "IEEE 802.1Q-2018, clause 37 (802.1Qaz); Linux tc-ets(8) of 2019",
    example: r#"
        strict = 1
        classes = ["droptail", { droptail = { limit = "9 kB" } }, { red = { limit = "9 packets" } }]
        classify = "precedence"
        quanta = ["3000 B", "1500 B"]
    "#,
    fields: EtsParameters::FIELDS,
    probes: &[
        PROBES[0],
        PROBES[1],
        PROBES[2],
        Probe {
            name: "deficit_bytes",
            unit: "bytes",
            meaning: "By class, of those in the round: what it may still send in it.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of enhanced transmission selection.
    pub struct EtsParameters {
        ..classes: ClassOptions;
        /// Number of classes, from the first on, that are served by strict priority, the first
        /// first; the others share what they leave.
        strict: u32 = 0, "Linux 5.6 (2020), tc-ets(8), strict; IEEE 802.1Q-2018, clause 37";
        /// Size that each class of the round may send in it, at least 20 B: an entry for each class
        /// that is not strict. 1500 B each if left out.
        quanta: Option<Vec<Size>>, "Linux 5.6 (2020), tc-ets(8), quanta";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let EtsParameters { classes, strict, quanta: given } = EtsParameters::read(section)?;
    let (count, strict) = (classes.count(section)?, strict as usize);
    if strict > count {
        let message = format!("{strict} is out of range; allowed are 0 to {count}, the classes");
        return Err(section.fail("strict", message));
    }
    let shared = quanta(section, given.as_deref(), count - strict)?;
    let quanta = [vec![0; strict], shared].concat();
    classes.build(section, facts, Ets { strict, round: RoundRobin::new(quanta) })
}

struct Ets {
    /// Classes before this are served by strict priority.
    strict: usize,
    round: RoundRobin,
}

impl Scheduler for Ets {
    fn activate(&mut self, class: usize, _now: Time) {
        if class >= self.strict {
            self.round.activate(class);
        }
    }

    fn deactivate(&mut self, class: usize) {
        if class >= self.strict {
            self.round.deactivate(class);
        }
    }

    fn select(&mut self, heads: &Heads, _now: Time) -> Option<usize> {
        match heads.active().next() {
            Some(class) if class < self.strict => Some(class),
            _ => self.round.select(bytes(heads)),
        }
    }

    fn served(&mut self, class: usize, size: u16, more: bool, _now: Time) {
        if class >= self.strict {
            self.round.served(class, u64::from(size), more);
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.round.probes(self.strict, visit);
    }
}
