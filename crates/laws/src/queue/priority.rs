//! Strict priority over precedences, non-preemptive.

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, ClassCount, Departure, Discard, LawNote, NextPacket, Packet, QueueDisc, Verdict,
};
use forebay_parameters::{Entry, Inner, Parameters, Probe, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildQueue, MAX_PRECEDENCES, Queue, Queues};
use crate::LinkFacts;
use crate::queue::parts::class::ClassQueue;
use crate::queue::parts::class_counts::ClassCounts;
use crate::queue::parts::classifier::{Classifier, ClassifyOptions};

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "priority",
    summary: "Strict priority, without preemption: lower precedences are served first.",
    source: "Cobham, Operations Research 2(1), 1954; Kleinrock, Queueing Systems II, section 3.6",
    example: r#"
        classes = [{ droptail = { limit = "9 kB" } }, { red = { limit = "25 packets" } }]
    "#,
    fields: PriorityParameters::FIELDS,
    probes: &[Probe {
        name: "queue_packets",
        unit: "packets",
        meaning: "By class: packets waiting, beside the quantities of its queue.",
    }],
    build: &build,
};

parameters! {
    /// Parameters of strict priority.
    pub struct PriorityParameters {
        /// The queue of each class, the first served first: 1 to 64 of them. Unless something is
        /// said of classification, packets of precedence 0 belong to the first, and so on; higher
        /// precedences to the last.
        classes: Vec<Inner<Queues>>,
            "RFC 2474, section 4.2.2.2 (class selectors); Cobham 1954";
        ..classify: ClassifyOptions;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let PriorityParameters { classes, classify } = PriorityParameters::read(section)?;
    if classes.is_empty() || classes.len() > MAX_PRECEDENCES {
        let message = format!("has {} queues; allowed are 1 to {MAX_PRECEDENCES}", classes.len());
        return Err(section.fail("classes", message));
    }
    let inside = facts.inside();
    let classes = classes
        .iter()
        .map(|class| {
            let queue = class.build(section, |build, inner| build(inner, &inside))?;
            Ok(ClassQueue::of(queue, facts.rate))
        })
        .collect::<Result<Vec<_>, Problem>>()?;
    let classifier = classify.build_or_precedence(section, facts, classes.len())?;
    let counts = ClassCounts::of(facts, classes.len());
    Ok(Queue::Disc(Box::new(Priority { classes, counts, classifier, nonempty: 0 })))
}

struct Priority {
    classes: Vec<ClassQueue>,
    counts: ClassCounts,
    classifier: Classifier,
    /// A bit for each class that holds packets: the lowest is served.
    nonempty: u64,
}

impl Priority {
    /// `packet` came to class `index`, which came to `verdict`.
    #[inline]
    fn arrived(&mut self, index: usize, packet: &Packet, verdict: Verdict) {
        self.update_nonempty(index);
        if !matches!(verdict, Verdict::Drop(_)) {
            let class = &self.classes[index];
            self.classifier.admitted(index, packet, || class.packets() > 1);
        }
    }

    /// Update the bit of class `index`.
    #[inline]
    fn update_nonempty(&mut self, index: usize) {
        let holds = u64::from(self.classes[index].packets() > 0);
        self.nonempty = self.nonempty & !(1 << index) | holds << index;
    }
}

/// Context in which a class other than a FIFO queue is asked. It is out of line: what it drops must
/// be counted, and FIFO queues do not pay for that.
struct Visit<'a> {
    class: usize,
    now: Time,
    stream: &'a mut Stream,
    counts: &'a mut ClassCounts,
}

impl Visit<'_> {
    #[inline(never)]
    fn enqueue(
        self,
        law: &mut ClassQueue,
        packet: &Packet,
        idle_since: Option<Time>,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        let Self { class, now, stream, counts } = self;
        law.enqueue(packet, idle_since, now, stream, &mut |packet, reason| {
            counts.dropped(class, reason, now);
            discard(packet, reason);
        })
    }

    #[inline(never)]
    fn dequeue(self, law: &mut ClassQueue, discard: &mut Discard<'_>) -> Option<Departure> {
        let Self { class, now, stream, counts } = self;
        law.dequeue(now, stream, &mut |packet, reason| {
            counts.dropped(class, reason, now);
            discard(packet, reason);
        })
    }

    fn look(self, law: &mut ClassQueue, discard: &mut Discard<'_>) -> Option<u16> {
        let Self { class, now, stream, counts } = self;
        law.look(now, stream, &mut |packet, reason| {
            counts.dropped(class, reason, now);
            discard(packet, reason);
        })
    }
}

impl QueueDisc for Priority {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        let index = self.classifier.class(packet, now, stream);
        let class = &mut self.classes[index];
        let verdict = if let Some(fifo) = class.fifo_mut() {
            fifo.enqueue_packet(packet, idle_since, now, stream)
        } else {
            let at = Visit { class: index, now, stream, counts: &mut self.counts };
            at.enqueue(class, packet, idle_since, discard)
        };
        self.counts.arrived(index, packet, verdict, now);
        self.arrived(index, packet, verdict);
        verdict
    }

    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        if self.counts.counts() {
            return Some(self.enqueue(packet, Some(idle_since), now, stream, discard));
        }
        let index = self.classifier.class(packet, now, stream);
        let verdict = self.classes[index].pass_idle(packet, idle_since, now, stream, discard);
        self.arrived(index, packet, verdict.unwrap_or(Verdict::Accept));
        verdict
    }

    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let mut asked = 0_u64;
        while self.nonempty & !asked != 0 {
            let index = (self.nonempty & !asked).trailing_zeros() as usize;
            let class = &mut self.classes[index];
            let last = class.packets() == 1;
            self.nonempty &= !(u64::from(last) << index);
            let counts = &mut self.counts;
            if let Some(fifo) = class.fifo_mut() {
                if let (true, Some(head)) = (counts.counts(), fifo.at(0)) {
                    counts.departed(index, head, false, now);
                }
                return fifo.dequeue(now, stream, discard);
            }
            let at = Visit { class: index, now, stream, counts };
            let next = at.dequeue(class, discard);
            self.update_nonempty(index);
            // A class may drop all that it holds (CoDel), or hold it back; then the next is served.
            if let Some(Departure { packet, marked }) = &next {
                self.counts.departed(index, packet, *marked, now);
                return next;
            }
            asked |= 1 << index;
        }
        None
    }

    /// Looks anew each time for what is next, so a packet of a lower precedence goes before one
    /// that a shaper holds back for want of tokens (Linux, net/sched/sch_prio.c: prio_peek).
    fn peek(&mut self, now: Time, stream: &mut Stream, discard: &mut Discard<'_>) -> NextPacket {
        for index in 0..self.classes.len() {
            if self.nonempty >> index & 1 == 0 {
                continue;
            }
            let at = Visit { class: index, now, stream, counts: &mut self.counts };
            let size = at.look(&mut self.classes[index], discard);
            self.update_nonempty(index);
            if size.is_some() {
                return NextPacket::Size(size);
            }
        }
        NextPacket::Size(None)
    }

    fn backlog(&self) -> Backlog {
        let mut all = Backlog::default();
        for Backlog { packets, bytes } in self.classes.iter().map(QueueDisc::backlog) {
            all.packets += packets;
            all.bytes += bytes;
        }
        all
    }

    /// That of the class in which packets of `precedence` wait, if it goes by that alone.
    fn fullness(&self, precedence: u8) -> Option<f64> {
        self.classes[self.classifier.class_of_precedence(precedence)?].fullness(precedence)
    }

    fn is_work_conserving(&self) -> bool {
        self.classes.iter().all(QueueDisc::is_work_conserving)
    }

    fn ready_at(&self, now: Time) -> Time {
        let waiting = self.classes.iter().filter(|class| class.packets() > 0);
        waiting.map(|class| class.ready_at(now)).min().unwrap_or(Time::NEVER)
    }

    fn drops_at_dequeue(&self) -> bool {
        self.classes.iter().any(QueueDisc::drops_at_dequeue)
    }

    fn is_transparent(&self) -> bool {
        !self.counts.counts() && self.classes.iter().all(QueueDisc::is_transparent)
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        for class in &mut self.classes {
            class.notes(visit);
        }
    }

    fn class_counts(&mut self, now: Time) -> Option<&mut Vec<ClassCount>> {
        self.counts.up_to(now)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        for (i, class) in self.classes.iter().enumerate() {
            visit(&format!("queue_packets.{i}"), f64::from(class.backlog().packets));
            class.probes(&mut |name, value| visit(&format!("{name}.{i}"), value));
        }
        self.classifier.probes(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{DropReason, FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    fn build_with(classes: Vec<Node>) -> Result<Queue, Problem> {
        let table = Table::from([("classes".to_owned(), Node::new(Value::List(classes)))]);
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(8_000_000));
        build(&Section::root(&node, &echo).unwrap().with_registry(&crate::registry()), &facts)
    }

    fn droptail(packets: u32) -> Node {
        let limit = Node::new(Value::Text(format!("{packets} packets")));
        let inner = Table::from([("limit".to_owned(), limit)]);
        let chosen = Table::from([("droptail".to_owned(), Node::new(Value::Table(inner)))]);
        Node::new(Value::Table(chosen))
    }

    /// No packet overtakes one of higher priority, or one of its own class.
    #[test]
    fn the_first_class_that_holds_packets_is_served_in_order() {
        let Queue::Disc(mut queue) = build_with(vec![droptail(9), droptail(9)]).unwrap() else {
            panic!("priority keeps its packets itself");
        };
        let mut stream = Streams::new(0, 0).named("test");
        // Precedence 5 belongs to the last class, behind 1.
        for (number, precedence) in [(0, 1), (1, 5), (2, 0), (3, 1), (4, 0)] {
            let packet = Packet::data(Time::ZERO, FlowId::new(0), number, 100, RouteId::new(0))
                .with_precedence(precedence);
            let verdict =
                queue.enqueue(&packet, None, Time::ZERO, &mut stream, &mut |_, _| panic!("others"));
            assert_eq!(verdict, Verdict::Accept);
        }
        assert_eq!(queue.backlog(), Backlog { packets: 5, bytes: 500 });
        let served: Vec<u64> = std::iter::from_fn(|| {
            queue.dequeue(Time::ZERO, &mut stream, &mut |_, _| panic!("no drops"))
        })
        .map(|next| next.packet.number)
        .collect();
        assert_eq!(served, [2, 4, 0, 1, 3]);
        assert_eq!(queue.backlog(), Backlog::default());
    }

    /// A cell whose loss priority is set keeps its place in the queue: precedence 2 is priority 0
    /// with CLP=1, and leaves with those of precedence 0 in the order of arrival.
    #[test]
    fn a_map_puts_several_precedences_into_one_class() {
        let map = |classes: &[i64]| {
            Node::new(Value::List(classes.iter().map(|n| Node::new(Value::Integer(*n))).collect()))
        };
        let built = |map: Node| {
            let classes = Node::new(Value::List(vec![droptail(9), droptail(9)]));
            let table = Table::from([("classes".to_owned(), classes), ("map".to_owned(), map)]);
            let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
            let facts = LinkFacts::of(Rate::from_bps(8_000_000));
            build(&Section::root(&node, &echo).unwrap().with_registry(&crate::registry()), &facts)
        };
        let mut queue = built(map(&[0, 1, 0, 1])).unwrap().into_discipline();
        let mut stream = Streams::new(0, 0).named("test");
        // Precedence 5 takes the last entry of the map.
        for (number, precedence) in [(0, 3), (1, 1), (2, 2), (3, 0), (4, 5), (5, 2)] {
            let packet = Packet::data(Time::ZERO, FlowId::new(0), number, 53, RouteId::new(0))
                .with_precedence(precedence);
            queue.enqueue(&packet, None, Time::ZERO, &mut stream, &mut |_, _| panic!("others"));
        }
        let served: Vec<u64> = std::iter::from_fn(|| {
            queue.dequeue(Time::ZERO, &mut stream, &mut |_, _| panic!("no drops"))
        })
        .map(|next| next.packet.number)
        .collect();
        assert_eq!(served, [2, 3, 5, 0, 1, 4]);
        let problem = |classes: &[i64]| built(map(classes)).err().unwrap();
        assert!(problem(&[0, 2]).message.contains("2 is not a class; allowed are 0 to 1"));
        assert!(problem(&[]).message.contains("has 0 entries"));
    }

    /// Each class has its own limit, so that none takes the buffer of another.
    #[test]
    fn each_class_has_its_own_limit() {
        let mut queue = build_with(vec![droptail(1), droptail(2)]).unwrap().into_discipline();
        let mut stream = Streams::new(0, 0).named("test");
        let mut dropped = Vec::new();
        for (number, precedence) in [(0, 1), (1, 1), (2, 1), (3, 0), (4, 0)] {
            let packet = Packet::data(Time::ZERO, FlowId::new(0), number, 100, RouteId::new(0))
                .with_precedence(precedence);
            let verdict =
                queue.enqueue(&packet, None, Time::ZERO, &mut stream, &mut |_, _| panic!("others"));
            if let Verdict::Drop(reason) = verdict {
                dropped.push((packet.number, reason));
            }
        }
        assert_eq!(dropped, [(2, DropReason::Overflow), (4, DropReason::Overflow)]);
        assert_eq!(queue.backlog(), Backlog { packets: 3, bytes: 300 });
    }

    /// A wrong class is not silently replaced but refused, and its error points to its place.
    #[test]
    fn wrong_classes_are_refused_where_they_stand() {
        let problem = |classes| build_with(classes).err().unwrap();
        let wrong = problem(vec![droptail(1), Node::new("droptial".into())]);
        assert_eq!(wrong.path, "classes[1]");
        assert!(wrong.message.contains("did you mean \"droptail\""), "{}", wrong.message);
        assert!(problem(Vec::new()).message.contains("allowed are 1 to 64"));
        assert!(problem(vec![droptail(1); 65]).message.contains("has 65 queues"));
    }
}
