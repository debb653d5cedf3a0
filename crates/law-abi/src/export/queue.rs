//! Queues: drop policies and queue disciplines.

use forebay_kernel::{Stream, Streams};
use forebay_laws::queue::{AnyDropPolicy, BuildQueue, Queue};
use forebay_network::{
    Arrival, Backlog, Departure, DropPolicy, DropReason, FlowId, NextPacket, Packet, QueueDisc,
    QueuedInfo, RouteId, Verdict,
};
use forebay_parameters::{Entry, Problem};
use forebay_units::Time;

use super::convert::{amount, code, drop_code, known, packet, ps, time};
use super::raw::drop_packet;
use super::{Build, Exported, Given, Guest, describe, of_example};
use crate::abi::{self, QueueFacts, decision, flag, kind, verdict};

/// Answer to a call without the random stream that it needs.
const NO_STREAM: &str = "was handed no random stream";

impl Build for BuildQueue {
    fn describe<L: Exported>(entry: &'static Entry<Self>) -> Result<abi::Law, String> {
        match of_example(entry, make)? {
            Queue::Fifo(_) => describe::<L, Policy>(entry),
            Queue::Disc(_) => describe::<L, Discipline>(entry),
        }
    }
}

/// A drop policy.
struct Policy(AnyDropPolicy);

/// A queue discipline.
struct Discipline(Box<dyn QueueDisc>);

fn make(build: BuildQueue, given: &Given<'_>) -> Result<Queue, Problem> {
    build(given.section, &given.link)
}

/// Problem of a queue that is now a drop policy, and now a discipline.
fn changed(given: &Given<'_>) -> Problem {
    let message = "with these parameters it is a queue of another kind than with its example: one \
                   is a drop policy, and one a discipline";
    given.section.fail("", message)
}

impl Guest for Policy {
    type Build = BuildQueue;
    type Facts = QueueFacts;
    const KIND: u32 = kind::QUEUE;

    fn make(build: BuildQueue, given: &Given<'_>) -> Result<Self, Problem> {
        match make(build, given)? {
            Queue::Fifo(law) => Ok(Self(law)),
            Queue::Disc(_) => Err(changed(given)),
        }
    }

    fn flags(&self) -> u32 {
        flag::DRAWS | flag::OWN_LIMIT | transparent(self.0.is_transparent())
    }

    fn decisions(&self) -> Vec<usize> {
        vec![decision::ENQUEUE, decision::DEPARTED]
    }

    #[inline(always)]
    fn decide(
        &mut self,
        decision: usize,
        facts: &mut QueueFacts,
        stream: Option<&mut Stream>,
    ) -> Result<i32, String> {
        let now = time(facts.head.now);
        if decision == decision::DEPARTED {
            let left = packet(&facts.packet, now);
            self.0.departed(QueuedInfo::new(left.size, left.precedence), now);
            return Ok(0);
        }
        let arrival = Arrival {
            now,
            packet: &packet(&facts.packet, now),
            backlog: backlog(facts),
            idle_since: known(facts.idle_since),
            empty_since: known(facts.empty_since),
        };
        code(self.0.admit(&arrival, stream.ok_or(NO_STREAM)?))
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.0.probes(visit);
    }
}

impl Guest for Discipline {
    type Build = BuildQueue;
    type Facts = QueueFacts;
    const KIND: u32 = kind::DISCIPLINE;

    fn make(build: BuildQueue, given: &Given<'_>) -> Result<Self, Problem> {
        match make(build, given)? {
            Queue::Disc(law) => Ok(Self(law)),
            Queue::Fifo(_) => Err(changed(given)),
        }
    }

    fn flags(&self) -> u32 {
        let shapes = if self.0.is_work_conserving() { 0 } else { flag::SHAPES };
        flag::DRAWS | flag::OWN_LIMIT | shapes | transparent(self.0.is_transparent())
    }

    fn decisions(&self) -> Vec<usize> {
        let mut all = vec![decision::ENQUEUE, decision::DEQUEUE];
        if !self.0.is_work_conserving() {
            all.push(decision::READY_AT);
        }
        all
    }

    fn decide(
        &mut self,
        decision: usize,
        facts: &mut QueueFacts,
        stream: Option<&mut Stream>,
    ) -> Result<i32, String> {
        let now = time(facts.head.now);
        if decision == decision::READY_AT {
            facts.time = ps(self.0.ready_at(now));
            return Ok(0);
        }
        let stream = stream.ok_or(NO_STREAM)?;
        let mut refused = None;
        let mut discard =
            |facts: &mut QueueFacts, packet: Packet, reason: DropReason| match drop_code(reason) {
                Ok(verdict) => drop_packet(facts, packet.tag as i64, verdict),
                Err(message) => refused = Some(message),
            };
        let answer = if decision == decision::ENQUEUE {
            // The engine keeps the packet; the copy in here bears its handle.
            let mut arriving = packet(&facts.packet, now);
            arriving.tag = facts.handle as u64;
            let idle_since = known(facts.idle_since);
            let mut discard = |packet, reason| discard(facts, packet, reason);
            code(self.0.enqueue(&arriving, idle_since, now, stream, &mut discard))
        } else {
            let mut discard = |packet, reason| discard(facts, packet, reason);
            let next = self.0.dequeue(now, stream, &mut discard);
            Ok(answer(next, facts))
        };
        refused.map_or(answer, Err)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.0.probes(visit);
    }

    fn check(&mut self) -> Result<(), String> {
        let mut stream = Streams::new(0, 0).named("export");
        let one = Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0));
        let verdict = self.0.enqueue(&one, None, Time::ZERO, &mut stream, &mut |_, _| ());
        if matches!(verdict, Verdict::Drop(_)) {
            return Ok(());
        }
        match self.0.peek(Time::ZERO, &mut stream, &mut |_, _| ()) {
            NextPacket::Undecided => Ok(()),
            NextPacket::Size(_) => Err("tells the next packet (peek), which version 1 of the \
                                        interface cannot carry; without a `peek` of its own a \
                                        discipline is asked for packets alone"
                .to_owned()),
        }
    }
}

/// Answer of a discipline that gives `next`, the handle of which goes into the facts.
fn answer(next: Option<Departure>, facts: &mut QueueFacts) -> i32 {
    let Some(Departure { packet, marked }) = next else { return verdict::NONE };
    facts.handle = packet.tag as i64;
    if marked { verdict::SEND_MARKED } else { verdict::SEND }
}

fn transparent(is: bool) -> u32 {
    if is { flag::TRANSPARENT } else { 0 }
}

fn backlog(facts: &QueueFacts) -> Backlog {
    Backlog { packets: facts.waiting_packets as u32, bytes: amount(facts.waiting_bytes) }
}
