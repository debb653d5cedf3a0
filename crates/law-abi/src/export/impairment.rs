//! Impairments.

use forebay_kernel::Stream;
use forebay_laws::impairment::{BuildImpairment, Impairment, Passage};
use forebay_network::DropReason;
use forebay_parameters::{Entry, Problem};

use super::convert::{packet, span_ps, time};
use super::{Build, Exported, Given, Guest, describe};
use crate::abi::{self, ImpairmentFacts, decision, flag, kind, verdict};

impl Build for BuildImpairment {
    fn describe<L: Exported>(entry: &'static Entry<Self>) -> Result<abi::Law, String> {
        describe::<L, Wire>(entry)
    }
}

/// An impairment.
struct Wire(Box<dyn Impairment>);

impl Guest for Wire {
    type Build = BuildImpairment;
    type Facts = ImpairmentFacts;
    const KIND: u32 = kind::IMPAIRMENT;

    fn make(build: BuildImpairment, given: &Given<'_>) -> Result<Self, Problem> {
        build(given.section).map(Self)
    }

    fn flags(&self) -> u32 {
        flag::DRAWS | if self.0.keeps_order() { 0 } else { flag::REORDERS }
    }

    fn decisions(&self) -> Vec<usize> {
        vec![decision::PASSAGE]
    }

    fn decide(
        &mut self,
        _decision: usize,
        facts: &mut ImpairmentFacts,
        stream: Option<&mut Stream>,
    ) -> Result<i32, String> {
        let now = time(facts.head.now);
        let stream = stream.ok_or("was handed no random stream")?;
        match self.0.pass(&packet(&facts.packet, now), now, stream) {
            Passage::Passes => Ok(verdict::PASSES),
            Passage::Delayed(by) => {
                facts.delay = span_ps(by);
                Ok(verdict::DELAYED)
            }
            Passage::Doubled => Ok(verdict::DOUBLED),
            Passage::Lost(DropReason::Lost) => Ok(verdict::LOST_ON_WIRE),
            Passage::Lost(DropReason::Corrupted) => Ok(verdict::CORRUPTED),
            Passage::Lost(other) => Err(format!(
                "loses a packet for the reason \"{}\"; a library can give lost and corrupted",
                other.name()
            )),
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.0.probes(visit);
    }
}
