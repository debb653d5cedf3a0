//! SFQ, stochastic fairness queueing: queues of flows, served in turn, of which the longest gives
//! up a packet where the buffer is full.

use forebay_kernel::Stream;
use forebay_network::{Backlog, Departure, Discard, DropReason, Packet, QueueDisc, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Size, Span, Time};

use super::{BuildQueue, Queue};
use crate::queue::parts::flow_hash::{FlowClassifier, FlowHash, Tuples};
use crate::queue::parts::flow_queues::{FlowQueues, quantum, queue_count};
use crate::{FlowKeys, LinkFacts};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "sfq",
    summary: "Stochastic fairness queueing: flows in queues by a hash, served in turn; where the \
              buffer is full, the longest queue loses a packet.",
    source: "McKenney, Stochastic fairness queueing, INFOCOM 1990",
    example: r#"
        queues = 16
        quantum = "500 B"
        depth = 8
        perturb = "100 ms"
        limit = "20 packets"
    "#,
    fields: SfqParameters::FIELDS,
    probes: &[
        Probe { name: "active_queues", unit: "queues", meaning: "Queues that hold packets." },
        Probe {
            name: "activations",
            unit: "1",
            meaning: "How often a queue became active since the start.",
        },
        Probe {
            name: "collisions",
            unit: "packets",
            meaning: "Packets since the start that found in their queue, at its end, one of \
                      another flow.",
        },
        Probe {
            name: "perturbations",
            unit: "1",
            meaning: "How often the hash function changed since the start.",
        },
        Probe {
            name: "depth_drops",
            unit: "packets",
            meaning: "Packets dropped since the start because their queue was full.",
        },
        Probe {
            name: "overflow_drops",
            unit: "packets",
            meaning: "Packets dropped since the start because the buffer was full.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of SFQ.
    pub struct SfqParameters {
        /// Number of queues, 1 to 65536.
        queues: u32 = 1024, "McKenney 1990, section 3; Linux net/sched/sch_sfq.c (divisor)";
        /// Bytes that a queue may send in a round: above 0, at most 1048576 B.
        quantum: Size = "1514 B", "Linux net/sched/sch_sfq.c (2011: the MTU)";
        /// The largest number of packets in one queue. 1 or more.
        depth: u32 = 127, "Linux net/sched/sch_sfq.c (2011)";
        /// Drops the packet at the head instead of the last, where a queue or the buffer is full.
        head_drop: bool = false, "Linux net/sched/sch_sfq.c (2011, headdrop)";
        /// Period after which the hash function changes, above 0. Packets that wait move to the
        /// queues that their flows have then, each flow's in their order. Never if left out.
        perturb: Option<Span>, "McKenney 1990, section 3; Linux net/sched/sch_sfq.c (2011)";
        /// Buffer size, without the packet being transmitted.
        limit: Length = "127 packets", "Linux net/sched/sch_sfq.c (2011)";
        /// Flows that share a queue; each flow has one if left out. By `"src"`, the flows of a
        /// source host share one and its turn.
        keys: Option<FlowKeys>, "Linux tc-flow(8) (hash keys)";
        /// Rule by which a queue is found for a flow.
        classifier: FlowClassifier = "hash", "McKenney 1990, section 3";
        /// Key of the hash function. Drawn at random if left out, for each run another.
        salt: Option<u64>, "McKenney 1990, section 3";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = SfqParameters::read(section)?;
    if parameters.depth == 0 {
        return Err(section.fail("depth", "is zero; allowed are 1 and more packets"));
    }
    if parameters.perturb == Some(Span::ZERO) {
        return Err(section.fail("perturb", "is zero; allowed is any time above 0 s"));
    }
    let queues = queue_count(section, "queues", parameters.queues)?;
    let quantum = quantum(section, "quantum", parameters.quantum)?;
    let hash = FlowHash::new(parameters.classifier, parameters.salt);
    let tuples = Tuples::of(parameters.keys, facts);
    Ok(Queue::Disc(Box::new(Sfq {
        next_perturbation: parameters.perturb.map_or(Time::NEVER, |period| Time::ZERO + period),
        parameters,
        queues: FlowQueues::new(queues, (hash, tuples), quantum, 0),
        perturbations: 0,
        depth_drops: 0,
        overflow_drops: 0,
    })))
}

/// SFQ's state.
struct Sfq {
    parameters: SfqParameters,
    /// The queues, with the number of packets in each.
    queues: FlowQueues<u32>,
    next_perturbation: Time,
    perturbations: u64,
    depth_drops: u64,
    overflow_drops: u64,
}

impl Sfq {
    /// Change the hash function if that is due.
    #[inline]
    fn perturb_if_due(&mut self, now: Time, stream: &mut Stream, discard: &mut Discard<'_>) {
        if let Some(period) = self.parameters.perturb
            && now >= self.next_perturbation
        {
            let missed = now.since(self.next_perturbation).ps() / period.ps();
            self.next_perturbation += period.times(missed + 1);
            self.perturbations += missed + 1;
            self.perturb(stream, discard);
        }
    }

    /// Change the hash function and give all packets that wait the queues that they have now; those
    /// that find theirs full are dropped.
    #[cold]
    fn perturb(&mut self, stream: &mut Stream, discard: &mut Discard<'_>) {
        let waiting = self.queues.perturb(stream);
        for (entered, packet) in waiting {
            let queue = self.queues.queue_of(&packet, stream);
            if self.is_full(queue) {
                self.depth_drops += 1;
                discard(packet, DropReason::Overflow);
                continue;
            }
            self.append(queue, &packet, entered);
        }
    }

    fn is_full(&mut self, queue: u32) -> bool {
        *self.queues.state(queue) >= self.parameters.depth
    }

    fn append(&mut self, queue: u32, packet: &Packet, entered: Time) {
        self.queues.push(queue, packet, entered);
        self.queues.joined(queue);
        *self.queues.state(queue) += 1;
    }

    /// Returns true if more waits than the buffer holds.
    fn overflows(&self) -> bool {
        let Backlog { packets, bytes } = self.queues.backlog();
        match self.parameters.limit {
            Length::Packets(limit) => u64::from(packets) > limit,
            Length::Bytes(limit) => bytes > limit,
        }
    }

    /// Drop a packet of `queue`, into which the last arrival has gone if it is `arrived`; whether
    /// it is that one.
    fn drop_from(&mut self, queue: u32, arrived: u32, discard: &mut Discard<'_>) -> bool {
        let head = self.parameters.head_drop;
        let popped = if head {
            self.queues.pop(queue).map(|(_, packet)| packet)
        } else {
            self.queues.pop_last(queue)
        };
        let Some(packet) = popped else { return false };
        *self.queues.state(queue) -= 1;
        let empty = self.queues.is_empty(queue);
        let own = queue == arrived && (!head || empty);
        if empty {
            self.queues.withdraw(queue);
        }
        if !own {
            discard(packet, DropReason::Overflow);
        }
        own
    }
}

impl QueueDisc for Sfq {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        self.perturb_if_due(now, stream, discard);
        let queue = self.queues.queue_of(packet, stream);
        let full = self.is_full(queue);
        if full && !self.parameters.head_drop {
            self.depth_drops += 1;
            return Verdict::Drop(DropReason::Overflow);
        }
        self.append(queue, packet, now);
        let mut own = false;
        if full {
            self.depth_drops += 1;
            own = self.drop_from(queue, queue, discard);
        }
        // A packet that finds the link idle goes straight to the transmitter and needs no buffer.
        while !own && idle_since.is_none() && self.overflows() {
            self.overflow_drops += 1;
            let longest = self.queues.largest(|_, packets| u64::from(*packets));
            own = self.drop_from(longest, queue, discard);
        }
        if own { Verdict::Drop(DropReason::Overflow) } else { Verdict::Accept }
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        _idle_since: Time,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        self.perturb_if_due(now, stream, discard);
        let queue = self.queues.queue_of(packet, stream);
        self.queues.joined(queue);
        self.queues.emptied(queue);
        None
    }

    fn dequeue(
        &mut self,
        _now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let queue = self.queues.next()?;
        let (_, packet) = self.queues.pop(queue)?;
        self.queues.sent(queue, packet.size);
        *self.queues.state(queue) -= 1;
        if self.queues.is_empty(queue) {
            self.queues.emptied(queue);
        }
        Some(Departure { packet, marked: false })
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn drops_at_dequeue(&self) -> bool {
        false
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("active_queues", f64::from(self.queues.old_queues()));
        visit("activations", self.queues.activations() as f64);
        visit("collisions", self.queues.collisions() as f64);
        visit("perturbations", self.perturbations as f64);
        visit("depth_drops", self.depth_drops as f64);
        visit("overflow_drops", self.overflow_drops as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QUEUES;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    /// Flows that collide do not do so for ever, and packets do not overtake others of their flow:
    /// after the period, flows 1 to 30, which shared 4 queues, share others, in which each flow's
    /// packets are in order. Periods in which nothing came count as well, so that the times of
    /// changes do not depend on arrivals.
    #[test]
    fn the_hash_function_changes_from_time_to_time() {
        let entry = QUEUES.iter().find(|entry| entry.name == "sfq").unwrap();
        let given = [("perturb", Value::from("1 s")), ("salt", 7.into()), ("queues", 4.into())];
        let nodes = given.map(|(key, value)| (key.to_owned(), Node::new(value)));
        let (node, echo) = (Node::new(Value::Table(Table::from(nodes))), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(1_000_000));
        let section = Section::root(&node, &echo).unwrap();
        let mut sfq = (entry.build)(&section, &facts).unwrap().into_discipline();
        let stream = &mut Streams::new(3, 0).named("queue");
        let mut none = |_: Packet, _: DropReason| panic!("there is room");
        let changes = |sfq: &dyn QueueDisc| {
            let mut changes = 0.0;
            sfq.probes(&mut |name, value| {
                if name == "perturbations" {
                    changes = value
                }
            });
            changes
        };
        let mut seen = Vec::new();
        for (number, ms) in [500, 999, 1000, 4100].into_iter().enumerate() {
            let now = Time::ZERO + Span::from_ms(ms);
            for flow in 1..=30 {
                let (flow, number) = (FlowId::new(flow), number as u64);
                let packet = Packet::data(now, flow, number, 1000, RouteId::new(0));
                sfq.enqueue(&packet, None, now, stream, &mut none);
            }
            seen.push(changes(sfq.as_ref()));
        }
        assert_eq!(seen, [0.0, 0.0, 1.0, 4.0]);
        let mut last = [None; 31];
        while let Some(Departure { packet, .. }) = sfq.dequeue(Time::ZERO, stream, &mut none) {
            let last = &mut last[packet.flow.index()];
            assert!(last.is_none_or(|before| before < packet.number), "{packet:?}");
            *last = Some(packet.number);
        }
        assert!(last[1..].iter().all(|last| *last == Some(3)), "{last:?}");
    }
}
