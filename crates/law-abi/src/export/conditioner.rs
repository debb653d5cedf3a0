//! Conditioners.

use forebay_kernel::Stream;
use forebay_laws::conditioner::BuildConditioner;
use forebay_network::{Conditioner, Ecn, Verdict};
use forebay_parameters::{Entry, Problem};
use forebay_units::{Size, Time};

use super::convert::{amount, code, known_span, packet, ps, time};
use super::{Build, Exported, Given, Guest, describe};
use crate::abi::{self, ConditionerFacts, decision, flag, kind, verdict};

impl Build for BuildConditioner {
    fn describe<L: Exported>(entry: &'static Entry<Self>) -> Result<abi::Law, String> {
        describe::<L, Marker>(entry)
    }
}

/// A conditioner.
struct Marker(Box<dyn Conditioner>);

impl Guest for Marker {
    type Build = BuildConditioner;
    type Facts = ConditionerFacts;
    const KIND: u32 = kind::CONDITIONER;

    fn make(build: BuildConditioner, given: &Given<'_>) -> Result<Self, Problem> {
        build(given.section, &given.link).map(Self)
    }

    fn flags(&self) -> u32 {
        let colours = if self.0.colours() { 0 } else { flag::KEEPS_COLOURS };
        let rtt = if self.0.uses_rtt() { flag::USES_RTT } else { 0 };
        flag::DRAWS | colours | rtt
    }

    fn decisions(&self) -> Vec<usize> {
        let mut all = vec![decision::CONDITION];
        // Where it cannot determine when a packet is green, it is not asked.
        if self.0.green_at(Size::from_bytes(1), Time::ZERO).is_some() {
            all.push(decision::GREEN_AT);
        }
        all
    }

    #[inline(always)]
    fn decide(
        &mut self,
        decision: usize,
        facts: &mut ConditionerFacts,
        stream: Option<&mut Stream>,
    ) -> Result<i32, String> {
        let now = time(facts.head.now);
        if decision == decision::GREEN_AT {
            let at = self.0.green_at(Size::from_bytes(amount(facts.packet.bytes)), now);
            facts.time = ps(at.ok_or(
                "cannot determine when a packet is green with these parameters, as it can with \
                 those of its example",
            )?);
            return Ok(0);
        }
        let mut passing = packet(&facts.packet, now);
        if let Some(srtt) = known_span(facts.srtt).filter(|_| !passing.is_feedback()) {
            passing = passing.with_srtt(srtt);
            if facts.slow_start != 0 {
                passing = passing.in_slow_start();
            }
        }
        let before = passing.ecn();
        let stream = stream.ok_or("was handed no random stream")?;
        let decided = self.0.condition(&mut passing, now, stream);
        facts.packet.precedence = i64::from(passing.precedence);
        facts.packet.dscp = i64::from(passing.dscp());
        match (decided, passing.ecn()) {
            (Verdict::Accept, after) if after != before => {
                // Only the codepoint "congestion experienced" can be told.
                let marked = after == Ecn::Ce && before != Ecn::NotEct;
                marked.then_some(verdict::MARK).ok_or_else(|| {
                    format!("sets the ECN field to {after:?}; a library can set Ce alone")
                })
            }
            _ => code(decided),
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.0.probes(visit);
    }
}
