//! Impairments whose law is from outside.

use forebay_kernel::Stream;
use forebay_laws::impairment::{BuildImpairment, Impairment, Passage};
use forebay_network::{DropReason, Packet};
use forebay_parameters::{Entry, Problem, Section};
use forebay_units::{Span, Time};

use crate::abi::{ImpairmentFacts, decision, flag, verdict};
use crate::law::{CreateFacts, OuterLaw, signed};
use crate::raw::{HEAD, Instance};
use crate::shown::{NO_PACKET, packet_facts};

/// The entry of an impairment.
pub(crate) fn entry(law: &'static OuterLaw) -> Entry<BuildImpairment> {
    let build: BuildImpairment = Box::leak(Box::new(move |section: &Section<'_>| {
        let words = law.words(section, &[])?;
        let instance = law.create(section, words, &CreateFacts::default())?;
        let facts = ImpairmentFacts { head: HEAD, packet: NO_PACKET, delay: 0 };
        Ok::<Box<dyn Impairment>, Problem>(Box::new(Outer { instance, facts }))
    }));
    law.entry(law.fields, build)
}

struct Outer {
    instance: Instance,
    facts: ImpairmentFacts,
}

impl Impairment for Outer {
    fn pass(&mut self, packet: &Packet, now: Time, stream: &mut Stream) -> Passage {
        self.facts.head.now = signed(now.ps());
        self.facts.packet = packet_facts(packet);
        self.facts.delay = 0;
        match self.instance.decide(decision::PASSAGE, &mut self.facts, Some(stream)) {
            verdict::PASSES => Passage::Passes,
            verdict::DELAYED => match u64::try_from(self.facts.delay) {
                Ok(ps) if self.facts.delay != crate::abi::NEVER => {
                    Passage::Delayed(Span::from_ps(ps))
                }
                _ => self.refuse(&format!(
                    "wrote delay {} ps; allowed are 0 or more, and not never",
                    self.facts.delay
                )),
            },
            verdict::LOST_ON_WIRE => Passage::Lost(DropReason::Lost),
            verdict::CORRUPTED => Passage::Lost(DropReason::Corrupted),
            verdict::DOUBLED => Passage::Doubled,
            code => self.refuse(&format!("returned {code}; allowed are 0 to 4")),
        }
    }

    fn keeps_order(&self) -> bool {
        !self.instance.law().has(flag::REORDERS)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.instance.probes(visit);
    }
}

impl Outer {
    #[cold]
    fn refuse(&self, told: &str) -> ! {
        self.instance.end_run(decision::PASSAGE, self.facts.head.now, told)
    }
}
