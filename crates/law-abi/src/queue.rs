//! Queues under laws from outside: those that decide at arrival, and those that decide on the head.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_laws::LinkFacts;
use forebay_laws::queue::{BuildQueue, Queue, fits, fullness};
use forebay_network::{
    Arrival, Backlog, Departure, Discard, DropPolicy, DropReason, Ecn, Packet, QueueDisc,
    QueuedInfo, Verdict,
};
use forebay_parameters::{Entry, Length, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use crate::abi::{QueueFacts, decision, flag, verdict};
use crate::law::{CreateFacts, OuterLaw, signed};
use crate::raw::{HEAD, Instance};
use crate::shown::{packet_facts, since};

parameters! {
    /// Limit of the buffer, which queues have whose law sets none itself.
    pub struct LimitOptions {
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
    }
}

/// The entry of a law that decides on arrivals, or on packets at the head.
pub(crate) fn entry(law: &'static OuterLaw) -> Entry<BuildQueue> {
    entry_of(law, |instance, limit| {
        let is_held = instance.law().decides(decision::DEQUEUE);
        let asked = Asked { instance, limit, facts: NO_FACTS };
        if is_held { Queue::Disc(Box::new(HeldQueue::new(asked))) } else { Queue::under(asked) }
    })
}

/// The entry of a law of which `make` makes a queue, with the limit of its buffer unless it sets
/// that itself.
pub(crate) fn entry_of(
    law: &'static OuterLaw,
    make: fn(Instance, Option<Length>) -> Queue,
) -> Entry<BuildQueue> {
    let limited = !law.raw.has(flag::OWN_LIMIT);
    let build: BuildQueue = Box::leak(Box::new(move |section: &Section<'_>, facts: &LinkFacts| {
        let words = law.words(section, if limited { &["limit"] } else { &[] })?;
        let limit = match limited {
            true => LimitOptions::read_fields(section, LimitOptions::FIELDS)?.limit,
            false => None,
        };
        let place = CreateFacts { link_rate: Some(facts.rate), classes: 0 };
        Ok::<Queue, Problem>(make(law.create(section, words, &place)?, limit))
    }));
    let fields = if limited { law.fields_with(LimitOptions::FIELDS) } else { law.fields };
    law.entry(fields, build)
}

pub(crate) const NO_FACTS: QueueFacts = QueueFacts {
    head: HEAD,
    packet: crate::shown::NO_PACKET,
    waiting_packets: 0,
    waiting_bytes: 0,
    idle_since: crate::abi::NEVER,
    empty_since: crate::abi::NEVER,
    sojourn: 0,
    round: 0,
    empty: 0,
    handle: 0,
    time: crate::abi::NEVER,
};

/// A law, the limit of its buffer, and the facts that it is handed.
struct Asked {
    instance: Instance,
    limit: Option<Length>,
    facts: QueueFacts,
}

impl Asked {
    /// Ask for `decision` on `packet` at `now`.
    #[inline]
    fn verdict(
        &mut self,
        decision: usize,
        packet: &Packet,
        now: Time,
        stream: &mut Stream,
    ) -> Verdict {
        self.facts.head.now = signed(now.ps());
        self.facts.packet = packet_facts(packet);
        let code = self.instance.decide(decision, &mut self.facts, Some(stream));
        match verdict_of(code) {
            Some(Verdict::Mark) if !packet.is_ecn_capable() => self.instance.end_run(
                decision,
                self.facts.head.now,
                "returned 1, a mark, of a packet that is not ECN-capable; allowed are 0 and 2 to 4",
            ),
            Some(verdict) => verdict,
            None => self.refuse(decision, code),
        }
    }

    #[cold]
    fn refuse(&self, decision: usize, code: i32) -> ! {
        let told = format!("returned {code}; allowed are 0 to 4");
        self.instance.end_run(decision, self.facts.head.now, &told)
    }
}

/// The verdict that a law of a queue has given as a number.
pub(crate) fn verdict_of(code: i32) -> Option<Verdict> {
    Some(match code {
        verdict::PASS => Verdict::Accept,
        verdict::MARK => Verdict::Mark,
        verdict::DROP_EARLY => Verdict::Drop(DropReason::Early),
        verdict::DROP_FORCED => Verdict::Drop(DropReason::Forced),
        verdict::DROP_OVERFLOW => Verdict::Drop(DropReason::Overflow),
        _ => return None,
    })
}

/// A law that decides at arrival is the drop policy of a FIFO queue.
impl DropPolicy for Asked {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        if !fits(self.limit, arrival) {
            return Verdict::Drop(DropReason::Overflow);
        }
        self.facts.waiting_packets = i64::from(arrival.backlog.packets);
        self.facts.waiting_bytes = signed(arrival.backlog.bytes);
        self.facts.idle_since = since(arrival.idle_since);
        self.facts.empty_since = since(arrival.empty_since);
        self.verdict(decision::ENQUEUE, arrival.packet, arrival.now, stream)
    }

    fn departed(&mut self, packet: QueuedInfo, at: Time) {
        if !self.instance.law().decides(decision::DEPARTED) {
            return;
        }
        self.facts.head.now = signed(at.ps());
        self.facts.packet.bytes = i64::from(packet.size());
        self.facts.packet.precedence = i64::from(packet.precedence());
        self.instance.decide(decision::DEPARTED, &mut self.facts, None);
    }

    fn is_transparent(&self) -> bool {
        self.instance.law().has(flag::TRANSPARENT)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.instance.probes(visit);
    }
}

/// Packets in the order of their arrival, under a law that decides on each at the head.
struct HeldQueue {
    asked: Asked,
    waiting: VecDeque<(Time, Packet)>,
    backlog: Backlog,
}

impl QueueDisc for HeldQueue {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        let backlog = self.backlog;
        let arrival = Arrival { now, packet, backlog, idle_since, empty_since: idle_since };
        let verdict = match self.asked.instance.law().decides(decision::ENQUEUE) {
            true => self.asked.admit(&arrival, stream),
            false if fits(self.asked.limit, &arrival) => Verdict::Accept,
            false => Verdict::Drop(DropReason::Overflow),
        };
        let packet = match verdict {
            Verdict::Drop(_) => return verdict,
            Verdict::Mark => packet.with_ecn(Ecn::Ce),
            Verdict::Accept => *packet,
        };
        self.backlog.add(&packet);
        self.waiting.push_back((now, packet));
        verdict
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        self.asked.facts.round = 0;
        loop {
            let Some((arrived, packet)) = self.waiting.pop_front() else {
                self.ask_without_head(now, stream);
                return None;
            };
            self.backlog.remove(packet.queued_info());
            self.asked.facts.waiting_packets = i64::from(self.backlog.packets);
            self.asked.facts.waiting_bytes = signed(self.backlog.bytes);
            self.asked.facts.sojourn = signed(now.since(arrived).ps());
            match self.asked.verdict(decision::DEQUEUE, &packet, now, stream) {
                Verdict::Accept => return Some(Departure { packet, marked: false }),
                Verdict::Mark => return Some(Departure { packet, marked: true }),
                Verdict::Drop(reason) => discard(packet, reason),
            }
            self.asked.facts.round += 1;
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn fullness(&self, _precedence: u8) -> Option<f64> {
        fullness(self.asked.limit, self.backlog)
    }

    fn is_transparent(&self) -> bool {
        self.asked.is_transparent()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.asked.probes(visit);
    }
}

impl HeldQueue {
    fn new(asked: Asked) -> Self {
        Self { asked, waiting: VecDeque::new(), backlog: Backlog::default() }
    }

    /// Tell the law that there is no packet at the head.
    fn ask_without_head(&mut self, now: Time, stream: &mut Stream) {
        let facts = &mut self.asked.facts;
        facts.head.now = signed(now.ps());
        facts.packet = crate::shown::NO_PACKET;
        (facts.waiting_packets, facts.waiting_bytes, facts.sojourn, facts.empty) = (0, 0, 0, 1);
        let code = self.asked.instance.decide(decision::DEQUEUE, facts, Some(stream));
        facts.empty = 0;
        if code != verdict::PASS {
            let told = format!("returned {code} where there is no packet; allowed is 0");
            let now = self.asked.facts.head.now;
            self.asked.instance.end_run(decision::DEQUEUE, now, &told);
        }
    }
}
