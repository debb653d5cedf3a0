//! Weighted round robin.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildQueue, Queue};
use crate::LinkFacts;
use crate::queue::parts::classful::{ClassOptions, Heads, PROBES, Scheduler, each_class};
use crate::queue::parts::round_robin::RoundRobin;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "wrr",
    summary: "Weighted round robin: classes send in turn, each so many packets a round.",
    source: "Katevenis, Sidiropoulos and Courcoubetis, IEEE JSAC 9(8), 1991",
    example: r#"
        classes = [{ droptail = { limit = "9 kB" } }, { red = { limit = "25 packets" } }]
        classify = "precedence"
        packets = [3, 1]
    "#,
    fields: WrrParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Parameters of weighted round robin.
    pub struct WrrParameters {
        ..classes: ClassOptions;
        /// Packets that each class may send in a round, 1 to 1000; 1 each if left out.
        packets: Option<Vec<u32>>, "Katevenis, Sidiropoulos and Courcoubetis 1991";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let WrrParameters { classes, packets } = WrrParameters::read(section)?;
    let packets = each_class(section, "packets", packets.as_deref(), 1, classes.count(section)?)?;
    if let Some(wrong) = packets.iter().find(|packets| !(1..=1000).contains(*packets)) {
        let message = format!("{wrong} is out of range; allowed are 1 to 1000");
        return Err(section.fail("packets", message));
    }
    let packets = packets.into_iter().map(u64::from).collect();
    classes.build(section, facts, Wrr(RoundRobin::new(packets)))
}

struct Wrr(RoundRobin);

impl Scheduler for Wrr {
    fn activate(&mut self, class: usize, _now: Time) {
        self.0.activate(class);
    }

    fn deactivate(&mut self, class: usize) {
        self.0.deactivate(class);
    }

    fn select(&mut self, _heads: &Heads, _now: Time) -> Option<usize> {
        self.0.select(|_| 1)
    }

    fn served(&mut self, class: usize, _size: u16, more: bool, _now: Time) {
        self.0.served(class, 1, more);
    }
}
