//! FQ-CoDel, flow queue controlled delay: queues of flows, served in turn, each under CoDel.
//!
//! RFC 8290 leaves some things open; they are as in Linux (`net/sched/sch_fq_codel.c`): what is
//! dropped when the buffer is full. CoDel leaves a packet alone while no more than an MTU waits: in
//! its own queue, as RFC 8289 has it, or in all queues together, as Linux has it (`mtu_scope`). The
//! memory limit counts bytes of packets, not of the buffers that hold them.

use forebay_kernel::Stream;
use forebay_network::{Backlog, Departure, Discard, DropReason, Packet, QueueDisc, Verdict};
use forebay_parameters::{
    Entry, Length, Parameter, Parameters, Probe, Problem, Section, choice, parameters,
};
use forebay_units::quantity::{show_rate, show_span};
use forebay_units::{Rate, Size, Span, Time};

use super::{BuildQueue, Queue};
use crate::queue::parts::codel_core::{CoDelLaw, CoDelState, Edition};
use crate::queue::parts::flow_hash::{FlowClassifier, FlowHash, Tuples};
use crate::queue::parts::flow_queues::{FlowQueues, quantum, queue_count};
use crate::{FlowKeys, LinkFacts};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "fq_codel",
    summary: "Flow queue CoDel: flows in queues of their own, served in turn, those that send less \
              than others first; each queue under CoDel.",
    source: "RFC 8290",
    example: r#"
        queues = 16
        quantum = "300 B"
        target = "1 ms"
        interval = "20 ms"
        ecn = true
        limit = "10 packets"
    "#,
    fields: FqCoDelParameters::FIELDS,
    probes: &[
        Probe {
            name: "sojourn_s",
            unit: "s",
            meaning: "How long the packet waited that left last.",
        },
        Probe { name: "new_queues", unit: "queues", meaning: "Queues in the list of new ones." },
        Probe { name: "old_queues", unit: "queues", meaning: "Queues in the list of old ones." },
        Probe {
            name: "activations",
            unit: "1",
            meaning: "How often a queue became new since the start.",
        },
        Probe {
            name: "collisions",
            unit: "packets",
            meaning: "Packets since the start that found in their queue, at its end, one of \
                      another flow.",
        },
        Probe {
            name: "codel_drops",
            unit: "packets",
            meaning: "Packets that CoDel dropped since the start.",
        },
        Probe {
            name: "overflow_drops",
            unit: "packets",
            meaning: "Packets dropped since the start because the buffer was full.",
        },
        Probe {
            name: "marks",
            unit: "packets",
            meaning: "Packets marked since the start, by CoDel or above `ce_threshold`.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of FQ-CoDel.
    pub struct FqCoDelParameters {
        /// Number of queues, 1 to 65536.
        queues: u32 = 1024, "RFC 8290, section 5.2.5 (flows)";
        /// Bytes that a queue may send in a round: above 0, at most 1048576 B.
        quantum: Size = "1514 B", "RFC 8290, section 5.2.4";
        /// Sojourn time that a standing queue may cost.
        target: Span = "5 ms", "RFC 8290, section 5.2.2";
        /// Time for which the sojourn time must stay above the target before the first drop, and
        /// the time between the first two drops. Above 0.
        interval: Span = "100 ms", "RFC 8290, section 5.2.1";
        /// The largest packet: while no more than this waits behind a packet, CoDel does not drop
        /// it.
        mtu: Size = "1500 B", "RFC 8289, section 5 (maxpacket)";
        /// Place in which that is looked for; the queue of the packet if left out.
        mtu_scope: Option<MtuScope>, "RFC 8289, section 5; Linux include/net/codel_impl.h";
        /// Mark ECN-capable packets where CoDel would drop them.
        ecn: bool = true, "RFC 8290, section 5.2.6";
        /// Delay above which every ECN-capable packet is marked when it leaves. None if left out.
        ce_threshold: Option<Span>, "RFC 8290, section 5.2.7";
        /// Buffer size, without the packet being transmitted.
        limit: Length = "10240 packets", "RFC 8290, section 5.2.3";
        /// Bytes of all packets together, a second limit.
        memory_limit: Size = "32 MiB", "Linux net/sched/sch_fq_codel.c (2016)";
        /// The largest number of packets dropped at once when the buffer is full: they are taken
        /// from the head of the queue with the most bytes, until half of these are gone. 1 or more.
        drop_batch: u32 = 64, "RFC 8290, section 4.1";
        /// Flows that share a queue; each flow has one if left out. By `"src"`, the flows of a
        /// source host share one and its turn.
        keys: Option<FlowKeys>, "Linux tc-flow(8) (hash keys)";
        /// Rule by which a queue is found for a flow.
        classifier: FlowClassifier = "hash", "RFC 8290, section 4.1";
        /// Key of the hash function. Drawn at random if left out, for each run another.
        salt: Option<u64>, "RFC 8290, section 4.1 (a salted hash)";
    }
}

choice! {
    /// Backlog that counts as behind a packet.
    pub enum MtuScope {
        /// Backlog of its queue (RFC 8289).
        Queue = "queue",
        /// Backlog of all queues together (Linux).
        All = "all",
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = FqCoDelParameters::read(section)?;
    if parameters.interval == Span::ZERO {
        return Err(section.fail("interval", "is zero; allowed is any time above 0 s"));
    }
    if parameters.drop_batch == 0 {
        return Err(section.fail("drop_batch", "is zero; allowed are 1 and more packets"));
    }
    let queues = queue_count(section, "queues", parameters.queues)?;
    let quantum = quantum(section, "quantum", parameters.quantum)?;
    warn_of_low_threshold(section, &parameters, facts.rate);
    let tuples = Tuples::of(parameters.keys, facts);
    Ok(Queue::Disc(Box::new(FqCoDel::new(&parameters, (queues, tuples), quantum))))
}

/// Warn of a `ce_threshold` that a single packet exceeds which waits for one that is being
/// transmitted.
fn warn_of_low_threshold(section: &Section<'_>, parameters: &FqCoDelParameters, rate: Rate) {
    let (mtu, Some(threshold)) = (parameters.mtu, parameters.ce_threshold) else { return };
    let transmission = rate.transmission_time(mtu);
    if threshold < transmission {
        let message = format!(
            "{} is less than the transmission time of a packet, {} for {} at {}: one that waits \
             for a single other is marked, although no queue stands",
            show_span(threshold),
            show_span(transmission),
            mtu.show(),
            show_rate(rate),
        );
        section.warn("ce_threshold", message);
    }
}

/// FQ-CoDel's state.
struct FqCoDel {
    law: CoDelLaw,
    mtu_scope: MtuScope,
    limit: Length,
    memory_limit: u64,
    drop_batch: u32,
    queues: FlowQueues<CoDelState>,
    /// Sojourn time of the packet that left last.
    sojourn: Span,
    codel_drops: u64,
    overflow_drops: u64,
    marks: u64,
}

impl FqCoDel {
    fn new(parameters: &FqCoDelParameters, (queues, tuples): (u32, Tuples), quantum: i32) -> Self {
        let law = CoDelLaw {
            target: parameters.target,
            interval: parameters.interval,
            mtu: parameters.mtu.bytes(),
            ecn: parameters.ecn,
            ce_threshold: parameters.ce_threshold,
            edition: Edition::Rfc8289,
        };
        let hash = FlowHash::new(parameters.classifier, parameters.salt);
        Self {
            law,
            mtu_scope: parameters.mtu_scope.unwrap_or(MtuScope::Queue),
            limit: parameters.limit,
            memory_limit: parameters.memory_limit.bytes(),
            drop_batch: parameters.drop_batch,
            queues: FlowQueues::new(queues, (hash, tuples), quantum, CoDelState::default()),
            sojourn: Span::ZERO,
            codel_drops: 0,
            overflow_drops: 0,
            marks: 0,
        }
    }

    /// Returns true if more waits than the buffer holds.
    #[inline]
    fn overflows(&self) -> bool {
        let Backlog { packets, bytes } = self.queues.backlog();
        let over = match self.limit {
            Length::Packets(limit) => u64::from(packets) > limit,
            Length::Bytes(limit) => bytes > limit,
        };
        over || bytes > self.memory_limit
    }

    /// Drop from the head of the queue with the most bytes until half of them are gone. Whether the
    /// packet that came last, into `arrived`, is among what is dropped.
    #[cold]
    fn drop_from_fattest(&mut self, arrived: u32, discard: &mut Discard<'_>) -> bool {
        let queue = self.queues.largest(|bytes, _| bytes);
        let threshold = self.queues.bytes(queue) / 2;
        let (mut dropped, mut bytes) = (0, 0);
        let mut own = false;
        while let Some((_, packet)) = self.queues.pop(queue) {
            dropped += 1;
            bytes += u64::from(packet.size);
            // The packet that came last is the last of its queue.
            own = queue == arrived && self.queues.is_empty(queue);
            if !own {
                discard(packet, DropReason::Overflow);
            }
            if dropped == self.drop_batch || bytes >= threshold {
                break;
            }
        }
        self.overflow_drops += u64::from(dropped);
        self.queues.state(queue).strengthen(dropped);
        own
    }
}

impl QueueDisc for FqCoDel {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        let queue = self.queues.queue_of(packet, stream);
        self.queues.push(queue, packet, now);
        self.queues.arrived(queue);
        // A packet that finds the link idle goes straight to the transmitter and needs no buffer.
        let mut own = false;
        while !own && idle_since.is_none() && self.overflows() {
            own = self.drop_from_fattest(queue, discard);
        }
        if own { Verdict::Drop(DropReason::Overflow) } else { Verdict::Accept }
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        _idle_since: Time,
        _now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        let queue = self.queues.queue_of(packet, stream);
        self.queues.pass(queue, packet.size, CoDelState::passed);
        self.sojourn = Span::ZERO;
        None
    }

    fn dequeue(
        &mut self,
        now: Time,
        _stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let drops = &mut self.codel_drops;
        let mut count = |packet: Packet, reason: DropReason| {
            *drops += 1;
            discard(packet, reason);
        };
        let mut sojourn = self.sojourn;
        loop {
            let queue = self.queues.next()?;
            let (state, mut packets) = self.queues.codel(queue, self.mtu_scope == MtuScope::All);
            let next = state.dequeue(&self.law, &mut packets, now, &mut count, &mut sojourn);
            if let Some(departure) = next {
                self.queues.sent(queue, departure.packet.size);
                self.sojourn = sojourn;
                self.marks += u64::from(departure.marked);
                return Some(departure);
            }
            self.queues.emptied(queue);
        }
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("sojourn_s", self.sojourn.seconds());
        self.queues.probes(visit);
        visit("codel_drops", self.codel_drops as f64);
        visit("overflow_drops", self.overflow_drops as f64);
        visit("marks", self.marks as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::Echo;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// The backlog behind a packet is that of its queue or of all, as is set: where its own queue
    /// counts, a flow that has little waiting loses no packets to the standing queues of others,
    /// and where all do, it is not spared. Three packets of 500 B wait with 15 kB of another flow.
    /// The first leaves after 10 ms, above the target of 5 ms, with 1000 B behind it in its queue
    /// and 16 kB in all. If these count, 100 ms later the next is dropped.
    #[test]
    fn what_waits_behind_a_packet_is_in_its_queue_or_in_all() {
        for (scope, expected) in [(MtuScope::Queue, (1, vec![])), (MtuScope::All, (2, vec![1]))] {
            let echo = Echo::default();
            let section = Section::empty("queue".to_owned(), &echo);
            let mut parameters = FqCoDelParameters::read(&section).unwrap();
            (parameters.mtu_scope, parameters.salt) = (Some(scope), Some(1));
            let facts = LinkFacts::of(forebay_units::Rate::from_bps(1));
            let tuples = || Tuples::of(None, &facts);
            let mut queue = FqCoDel::new(&parameters, (1024, tuples()), 1514);
            let mut stream = Streams::new(1, 0).named("queue");
            for (flow, packets, size) in [(1, 3, 500), (2, 10, 1500)] {
                for number in 0..packets {
                    let packet =
                        Packet::data(at(0), FlowId::new(flow), number, size, RouteId::new(0));
                    let never = &mut |_, _| unreachable!("nothing is dropped");
                    let _ = queue.enqueue(&packet, None, at(0), &mut stream, never);
                }
            }
            assert_eq!(queue.queues.collisions(), 0);
            let mut dropped = Vec::new();
            let mut discard = |packet: Packet, _| dropped.push(packet.number);
            let mut leave = |ms| {
                let left = queue.dequeue(at(ms), &mut stream, &mut discard).unwrap();
                (left.packet.flow, left.packet.number)
            };
            assert_eq!(leave(10), (FlowId::new(1), 0));
            let (flow, number) = leave(120);
            assert_eq!((flow, (number, dropped)), (FlowId::new(1), expected));
        }
    }
}
