//! Conditioners whose law is from outside.

use std::cell::RefCell;

use forebay_kernel::Stream;
use forebay_laws::LinkFacts;
use forebay_laws::conditioner::BuildConditioner;
use forebay_network::{Conditioner, DropReason, Packet, Verdict};
use forebay_parameters::{Entry, Problem, Section};
use forebay_units::{Size, Time};

use crate::abi::{ConditionerFacts, NEVER, decision, flag, verdict};
use crate::law::{CreateFacts, OuterLaw, signed};
use crate::raw::{HEAD, Instance};
use crate::shown::{NO_PACKET, packet_facts};

/// The entry of a conditioner.
pub(crate) fn entry(law: &'static OuterLaw) -> Entry<BuildConditioner> {
    let build: BuildConditioner =
        Box::leak(Box::new(move |section: &Section<'_>, facts: &LinkFacts| {
            let words = law.words(section, &[])?;
            let place = CreateFacts { link_rate: Some(facts.rate), classes: 0 };
            let instance = law.create(section, words, &place)?;
            let facts = ConditionerFacts {
                head: HEAD,
                packet: NO_PACKET,
                srtt: NEVER,
                slow_start: 0,
                time: NEVER,
            };
            let law = Outer { asked: RefCell::new((instance, facts)) };
            Ok::<Box<dyn Conditioner>, Problem>(Box::new(law))
        }));
    law.entry(law.fields, build)
}

struct Outer {
    /// A shaper asks when a packet would be green without changing anything, and the law is called
    /// all the same.
    asked: RefCell<(Instance, ConditionerFacts)>,
}

/// The highest precedence and the highest codepoint.
const HIGHEST: i64 = 63;

#[cold]
fn refuse(instance: &Instance, facts: &ConditionerFacts, told: &str) -> ! {
    instance.end_run(decision::CONDITION, facts.head.now, told)
}

impl Conditioner for Outer {
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict {
        let (instance, facts) = self.asked.get_mut();
        facts.head.now = signed(now.ps());
        facts.packet = packet_facts(packet);
        if instance.law().has(flag::USES_RTT) {
            facts.srtt = packet.srtt().map_or(NEVER, |srtt| signed(srtt.ps()));
            facts.slow_start = i64::from(packet.is_in_slow_start());
        }
        let code = instance.decide(decision::CONDITION, facts, Some(stream));
        let (instance, facts) = (&*instance, &*facts);
        let marking = |name: &str, written: i64| match u8::try_from(written) {
            Ok(marking) if written <= HIGHEST => marking,
            _ => refuse(instance, facts, &format!("wrote {name} {written}; allowed are 0 to 63")),
        };
        let precedence = marking("precedence", facts.packet.precedence);
        if precedence != packet.precedence && instance.law().has(flag::KEEPS_COLOURS) {
            let told = format!(
                "wrote precedence {precedence}, and says by the flag KEEPS_COLOURS that it writes \
                 none; allowed is {}",
                packet.precedence
            );
            refuse(instance, facts, &told);
        }
        packet.precedence = precedence;
        packet.set_dscp(marking("dscp", facts.packet.dscp));
        match code {
            verdict::PASS => Verdict::Accept,
            verdict::MARK if packet.is_ecn_capable() => Verdict::Mark,
            verdict::MARK => refuse(
                instance,
                facts,
                "returned 1, a mark, of a packet that is not ECN-capable; allowed are 0 and 5",
            ),
            verdict::POLICE => Verdict::Drop(DropReason::Policed),
            _ => refuse(instance, facts, &format!("returned {code}; allowed are 0, 1 and 5")),
        }
    }

    fn colours(&self) -> bool {
        !self.asked.borrow().0.law().has(flag::KEEPS_COLOURS)
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        let (instance, facts) = &mut *self.asked.borrow_mut();
        if !instance.law().decides(decision::GREEN_AT) {
            return None;
        }
        facts.head.now = signed(now.ps());
        facts.packet = NO_PACKET;
        facts.packet.bytes = signed(size.bytes());
        facts.time = NEVER;
        instance.decide(decision::GREEN_AT, facts, None);
        match facts.time {
            NEVER => Some(Time::NEVER),
            time => match u64::try_from(time) {
                Ok(ps) => Some(Time::from_ps(ps).max(now)),
                Err(_) => {
                    let told = format!("wrote time {time} ps; allowed are 0 or more");
                    instance.end_run(decision::GREEN_AT, facts.head.now, &told)
                }
            },
        }
    }

    fn uses_rtt(&self) -> bool {
        self.asked.borrow().0.law().has(flag::USES_RTT)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.asked.borrow().0.probes(visit);
    }
}
