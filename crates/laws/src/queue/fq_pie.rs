//! FQ-PIE: queues of flows, served in turn as in FQ-CoDel, each under PIE.

use forebay_kernel::Stream;
use forebay_network::{
    Arrival, Backlog, Departure, Discard, DropReason, Ecn, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Size, Span, Time};

use super::{BuildQueue, Queue, fits};
use crate::queue::parts::flow_hash::{FlowClassifier, FlowHash, Tuples};
use crate::queue::parts::flow_queues::{FlowQueues, quantum, queue_count};
use crate::queue::parts::pie_core::{PieLaw, PieState};
use crate::{FlowKeys, LinkFacts};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "fq_pie",
    summary: "Flow queue PIE: flows in queues of their own, served in turn, those that send less \
              than others first; each queue under PIE.",
    source: "Ramakrishnan et al., FQ-PIE queue discipline in the Linux kernel, LCN 2019; RFC 8033",
    example: r#"
        queues = 16
        quantum = "300 B"
        target = "5 ms"
        update_interval = "5 ms"
        max_burst = "20 ms"
        mean_packet = "300 B"
        mark_limit = 0.5
        limit = "25 packets"
    "#,
    fields: FqPieParameters::FIELDS,
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
            name: "largest_probability",
            unit: "1",
            meaning: "The largest drop probability of a queue, as of the last packet in it.",
        },
        Probe {
            name: "pie_drops",
            unit: "packets",
            meaning: "Packets that PIE dropped since the start.",
        },
        Probe {
            name: "overflow_drops",
            unit: "packets",
            meaning: "Packets dropped since the start because the buffer was full.",
        },
        Probe {
            name: "marks",
            unit: "packets",
            meaning: "Packets that PIE marked since the start.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of FQ-PIE.
    pub struct FqPieParameters {
        /// Number of queues, 1 to 65536.
        queues: u32 = 1024, "Linux net/sched/sch_fq_pie.c (2020, flows)";
        /// Bytes that a queue may send in a round: above 0, at most 1048576 B.
        quantum: Size = "1514 B", "Linux net/sched/sch_fq_pie.c (2020)";
        ..law: PieLaw;
        /// Buffer size, without the packet being transmitted.
        limit: Length = "10240 packets", "Linux net/sched/sch_fq_pie.c (2020)";
        /// Bytes of all packets together, a second limit.
        memory_limit: Size = "32 MiB", "Linux net/sched/sch_fq_pie.c (2020)";
        /// Flows that share a queue; each flow has one if left out. By `"src"`, the flows of a
        /// source host share one and its turn.
        keys: Option<FlowKeys>, "Linux tc-flow(8) (hash keys)";
        /// Rule by which a queue is found for a flow.
        classifier: FlowClassifier = "hash", "RFC 8290, section 4.1";
        /// Key of the hash function. Drawn at random if left out, for each run another.
        salt: Option<u64>, "RFC 8290, section 4.1 (a salted hash)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = FqPieParameters::read(section)?;
    parameters.law.check(section)?;
    let queues = queue_count(section, "queues", parameters.queues)?;
    let quantum = quantum(section, "quantum", parameters.quantum)?;
    let tuples = Tuples::of(parameters.keys, facts);
    Ok(Queue::Disc(Box::new(FqPie::new(parameters, (queues, tuples), quantum))))
}

/// FQ-PIE's state.
struct FqPie {
    parameters: FqPieParameters,
    queues: FlowQueues<PieState>,
    /// Sojourn time of the packet that left last.
    sojourn: Span,
    pie_drops: u64,
    overflow_drops: u64,
    marks: u64,
}

impl FqPie {
    fn new(parameters: FqPieParameters, (queues, tuples): (u32, Tuples), quantum: i32) -> Self {
        let hash = FlowHash::new(parameters.classifier, parameters.salt);
        Self {
            queues: FlowQueues::new(
                queues,
                (hash, tuples),
                quantum,
                PieState::new(&parameters.law),
            ),
            parameters,
            sojourn: Span::ZERO,
            pie_drops: 0,
            overflow_drops: 0,
            marks: 0,
        }
    }

    /// Returns true if both limits leave room for the packet.
    fn has_room(&self, arrival: &Arrival<'_>) -> bool {
        let memory = Length::Bytes(self.parameters.memory_limit.bytes());
        fits(Some(self.parameters.limit), arrival) && fits(Some(memory), arrival)
    }
}

impl QueueDisc for FqPie {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        let law = &self.parameters.law;
        let queue = self.queues.queue_of(packet, stream);
        let waiting = self.queues.bytes(queue);
        self.queues.state(queue).catch_up(law, waiting, now);
        let arrival = Arrival {
            now,
            packet,
            backlog: self.queues.backlog(),
            idle_since,
            empty_since: idle_since,
        };
        if !self.has_room(&arrival) {
            self.queues.state(queue).overflowed();
            self.overflow_drops += 1;
            return Verdict::Drop(DropReason::Overflow);
        }
        let law = &self.parameters.law;
        let verdict = self.queues.state(queue).decide(law, waiting, packet, stream);
        match verdict {
            Verdict::Drop(_) => {
                self.pie_drops += 1;
                return verdict;
            }
            Verdict::Mark => {
                self.marks += 1;
                self.queues.push(queue, &packet.with_ecn(Ecn::Ce), now);
            }
            Verdict::Accept => self.queues.push(queue, packet, now),
        }
        self.queues.arrived(queue);
        verdict
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        _idle_since: Time,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        let law = &self.parameters.law;
        let queue = self.queues.queue_of(packet, stream);
        let state = self.queues.state(queue);
        state.catch_up(law, 0, now);
        // PIE decides on packets that find more than two others alone.
        state.decide(law, 0, packet, stream);
        self.queues.pass(queue, packet.size, |state| state.catch_up(law, 0, now));
        self.sojourn = Span::ZERO;
        self.queues.state(queue).departed(law, (packet.size, 0), Span::ZERO, now);
        None
    }

    fn dequeue(
        &mut self,
        now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        loop {
            let queue = self.queues.next()?;
            let law = &self.parameters.law;
            let waiting = self.queues.bytes(queue);
            self.queues.state(queue).catch_up(law, waiting, now);
            if let Some((entered, packet)) = self.queues.pop(queue) {
                self.queues.sent(queue, packet.size);
                self.sojourn = now.since(entered);
                let sizes = (packet.size, self.queues.bytes(queue));
                self.queues.state(queue).departed(law, sizes, self.sojourn, now);
                return Some(Departure { packet, marked: false });
            }
            self.queues.emptied(queue);
        }
    }

    fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    fn drops_at_dequeue(&self) -> bool {
        false
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("sojourn_s", self.sojourn.seconds());
        self.queues.probes(visit);
        let largest = self.queues.states().map(|state| state.controller.probability);
        visit("largest_probability", largest.fold(0.0, f64::max));
        visit("pie_drops", self.pie_drops as f64);
        visit("overflow_drops", self.overflow_drops as f64);
        visit("marks", self.marks as f64);
    }
}
