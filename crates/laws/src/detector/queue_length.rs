//! Congestion detection by the length of the queue.

use forebay_network::{Packet, QueueDisc};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::{BuildDetector, Spacing};
use crate::LinkFacts;
use crate::detector::{CongestionDetector, CongestionNotification};

pub(super) const ENTRY: Entry<BuildDetector> = Entry {
    name: "queue_length",
    summary: "Notifies a source when its packet joins a queue that is nearly full.",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, section 5.1",
    example: "threshold = 0.8",
    fields: QueueLengthParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the detection by queue length. The queue of the link must tell how full it is:
    /// `droptail`, `partial_buffer_sharing` or `push_out` with a limit, or `priority` over such by
    /// precedence, whose classes are looked at each by itself.
    pub struct QueueLengthParameters {
        /// A queue is congested from this share of its buffer on, the arriving packet included;
        /// above 0 and up to 1. Its sources hear of that as of a high input rate (type 0).
        threshold: f64 = 0.9, "COMSAT thesis, section 5.1 (\"say, 90 % occupied\")";
        /// A source is notified again, of whatever, only after more than this time.
        hold_off: Span = "50 ms", "COMSAT thesis, section 5.1";
        /// True if sources of dropped packets are notified (type 2).
        discards: bool = true, "COMSAT thesis, section 5.1";
    }
}

fn build(
    section: &Section<'_>,
    _facts: &LinkFacts,
) -> Result<Box<dyn CongestionDetector>, Problem> {
    let QueueLengthParameters { threshold, hold_off, discards } =
        QueueLengthParameters::read(section)?;
    if !(threshold > 0.0 && threshold <= 1.0) {
        let message = format!("{threshold} is out of range; allowed are above 0 and up to 1");
        return Err(section.fail("threshold", message));
    }
    Ok(Box::new(QueueLength { threshold, discards, spacing: Spacing::new(hold_off) }))
}

struct QueueLength {
    threshold: f64,
    discards: bool,
    spacing: Spacing,
}

impl CongestionDetector for QueueLength {
    fn judge(
        &mut self,
        packet: &Packet,
        dropped: bool,
        now: Time,
    ) -> Option<CongestionNotification> {
        (dropped && self.discards && self.spacing.allows(packet.flow, now))
            .then_some(CongestionNotification::Discard)
    }

    fn enters(
        &mut self,
        packet: &Packet,
        queue: &dyn QueueDisc,
        now: Time,
    ) -> Option<CongestionNotification> {
        let congested = queue.fullness(packet.precedence).is_some_and(|it| it >= self.threshold);
        (congested && self.spacing.allows(packet.flow, now)).then_some(CongestionNotification::Rate)
    }

    fn watches_queue(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{QUEUES, Queue};
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    /// Two priorities as in the thesis, of 20 and 40 cells.
    fn queue() -> Box<dyn QueueDisc> {
        let table = |entries: Vec<(&str, Node)>| {
            let entries = entries.into_iter().map(|(key, node)| (key.to_owned(), node));
            Node::new(Value::Table(entries.collect::<Table>()))
        };
        let of = |law: &str, limit: &str| {
            let limit = Node::new(Value::Text(limit.to_owned()));
            let mut inside = vec![("limit", limit.clone())];
            if law == "partial_buffer_sharing" {
                inside.push(("threshold", limit));
            }
            table(vec![(law, table(inside))])
        };
        let classes =
            vec![of("push_out", "20 packets"), of("partial_buffer_sharing", "40 packets")];
        let map = [0, 1, 0, 1].map(|class| Node::new(Value::Integer(class))).to_vec();
        let node = table(vec![
            ("map", Node::new(Value::List(map))),
            ("classes", Node::new(Value::List(classes))),
        ]);
        let (echo, facts) = (Echo::default(), LinkFacts::of(Rate::from_bps(6_000_000)));
        let registry = crate::registry();
        let section = Section::root(&node, &echo).unwrap().with_registry(&registry);
        let entry = QUEUES.iter().find(|entry| entry.name == "priority").unwrap();
        match (entry.build)(&section, &facts).unwrap() {
            Queue::Disc(law) => law,
            Queue::Fifo(_) => unreachable!("priority keeps its packets"),
        }
    }

    /// The source of a cell hears of the queue of its own priority, and neither too early nor too
    /// late: 90 % of 20 cells are 18, of 40 cells 36, and each source counts 50 ms from its own
    /// notification.
    #[test]
    fn the_source_of_a_cell_hears_that_its_own_queue_is_nearly_full() {
        let mut law = QueueLength {
            threshold: 0.9,
            discards: true,
            spacing: Spacing::new(Span::from_ms(50)),
        };
        let (mut queue, mut stream) = (queue(), Streams::new(0, 0).named("test"));
        let mut enters = |flow: usize, precedence: u8| {
            let packet = Packet::data(Time::ZERO, FlowId::new(flow), 0, 53, RouteId::new(0))
                .with_precedence(precedence);
            queue.enqueue(&packet, None, Time::ZERO, &mut stream, &mut |_, _| {});
            law.enters(&packet, queue.as_ref(), Time::ZERO)
        };
        let rate = Some(CongestionNotification::Rate);
        for cell in 1..=18 {
            assert_eq!(enters(cell, 0), rate.filter(|_| cell == 18), "{cell}");
        }
        assert_eq!(enters(18, 2), None, "told already");
        for cell in 1..=36 {
            assert_eq!(enters(cell + 50, 1), rate.filter(|_| cell == 36), "{cell}");
        }
        let packet = Packet::data(Time::ZERO, FlowId::new(99), 0, 53, RouteId::new(0));
        let discard = Some(CongestionNotification::Discard);
        assert_eq!(law.judge(&packet, true, Time::ZERO), discard);
        assert_eq!(law.judge(&packet, true, Time::ZERO), None);
    }

    /// Thresholds that turn detection off, or make a port congested for ever, are refused.
    #[test]
    fn impossible_thresholds_are_refused() {
        for threshold in [0.0, -0.1, 1.1] {
            let table = Table::from([("threshold".to_owned(), Node::new(Value::Float(threshold)))]);
            let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
            let facts = LinkFacts::of(Rate::from_bps(6_000_000));
            let found = build(&Section::root(&node, &echo).unwrap(), &facts);
            assert_eq!(found.err().unwrap().path, "threshold");
        }
    }
}
