//! Schedulers whose class a law from outside chooses.

use forebay_laws::LinkFacts;
use forebay_laws::queue::{BuildQueue, ClassOptions, Heads, SCHEDULER_PROBES, Scheduler};
use forebay_parameters::{Entry, Parameters, Problem, Section};
use forebay_units::Time;

use crate::abi::{SchedulerFacts, decision, flag, verdict};
use crate::discipline::ready_time;
use crate::law::{CreateFacts, OuterLaw, signed};
use crate::raw::{HEAD, Instance};

/// The entry of a scheduler.
pub(crate) fn entry(law: &'static OuterLaw) -> Entry<BuildQueue> {
    let build: BuildQueue = Box::leak(Box::new(move |section: &Section<'_>, facts: &LinkFacts| {
        build(law, section, facts)
    }));
    let probes = Vec::leak([SCHEDULER_PROBES, law.probes].concat());
    Entry { probes, ..law.entry(law.fields_with(ClassOptions::FIELDS), build) }
}

fn build(
    law: &'static OuterLaw,
    section: &Section<'_>,
    facts: &LinkFacts,
) -> Result<forebay_laws::queue::Queue, Problem> {
    let others: Vec<&str> = ClassOptions::FIELDS.iter().map(|field| field.name).collect();
    let words = law.words(section, &others)?;
    let options = ClassOptions::read_fields(section, ClassOptions::FIELDS)?;
    let classes = options.count(section)?;
    let place = CreateFacts { link_rate: Some(facts.rate), classes };
    let instance = law.create(section, words, &place)?;
    let facts_of_law = SchedulerFacts {
        head: HEAD,
        classes: classes as i64,
        active: 0,
        heads: [0; 64],
        class_number: 0,
        bytes: 0,
        more: 0,
        time: crate::abi::NEVER,
    };
    options.build(section, facts, Chosen { instance, facts: facts_of_law, ready: Time::NEVER })
}

struct Chosen {
    instance: Instance,
    facts: SchedulerFacts,
    /// Time from which on a class may be served, as it has told when it chose none.
    ready: Time,
}

impl Chosen {
    fn tell(&mut self, decision: usize, class: usize, now: i64) {
        self.facts.head.now = now;
        self.facts.class_number = class as i64;
        self.instance.decide(decision, &mut self.facts, None);
    }
}

impl Scheduler for Chosen {
    fn activate(&mut self, class: usize, now: Time) {
        self.facts.active |= 1 << class;
        self.tell(decision::ACTIVATE, class, signed(now.ps()));
    }

    fn deactivate(&mut self, class: usize) {
        self.facts.active &= !(1 << class);
        // It is told no time: that of the call before.
        self.tell(decision::DEACTIVATE, class, self.facts.head.now);
    }

    fn select(&mut self, heads: &Heads, now: Time) -> Option<usize> {
        self.facts.head.now = signed(now.ps());
        self.facts.active = heads.bits() as i64;
        for class in heads.active() {
            self.facts.heads[class] = i64::from(heads.size(class));
        }
        let code = self.instance.decide(decision::SELECT, &mut self.facts, None);
        if code == verdict::NO_CLASS && self.instance.law().has(flag::SHAPES) {
            self.facts.time = crate::abi::NEVER;
            let place = decision::SCHEDULER_READY_AT;
            self.instance.decide(place, &mut self.facts, None);
            self.ready = ready_time(&self.instance, place, self.facts.time, now);
            return None;
        }
        let chosen = usize::try_from(code).ok();
        if let Some(class) = chosen.filter(|class| *class < 64 && heads.bits() >> class & 1 == 1) {
            return Some(class);
        }
        let active: Vec<String> = heads.active().map(|class| class.to_string()).collect();
        let told = format!(
            "returned {code}; allowed are the classes that have a packet to send: {}",
            active.join(", ")
        );
        self.instance.end_run(decision::SELECT, self.facts.head.now, &told)
    }

    fn served(&mut self, class: usize, size: u16, more: bool, now: Time) {
        self.facts.bytes = i64::from(size);
        self.facts.more = i64::from(more);
        if !more {
            self.facts.active &= !(1 << class);
        }
        self.tell(decision::SERVED, class, signed(now.ps()));
    }

    fn is_work_conserving(&self) -> bool {
        !self.instance.law().has(flag::SHAPES)
    }

    fn ready_at(&self, _heads: &Heads, _now: Time) -> Time {
        self.ready
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.instance.probes(visit);
    }
}
