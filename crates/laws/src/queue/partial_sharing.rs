//! Partial buffer sharing: a buffer whose last part is kept for packets that are to be lost last.

use forebay_parameters::{Entry, Length, Parameters, Problem, Section, parameters};

use super::{BuildQueue, DropTail, MAX_PRECEDENCES, Queue};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "partial_buffer_sharing",
    summary: "Tail drop with a threshold: higher precedences are let in below it only.",
    source: "Kroener, Hebuterne, Boyer and Gravey, IEEE JSAC 9(3), 1991; ITU-T I.371, section \
             6.2.3 (selective cell discard)",
    example: r#"
        limit = "12 packets"
        threshold = "6 packets"
        high = 1
    "#,
    fields: PartialSharingParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of partial buffer sharing.
    pub struct PartialSharingParameters {
        /// Buffer size, without the packet being transmitted.
        limit: Length, "Kroener et al. 1991, section II";
        /// From here on packets of low precedence only are let in; at most the limit, and in the
        /// same unit.
        threshold: Length, "Kroener et al. 1991, section II";
        /// The first precedence that the threshold holds for, 1 to 63: that of cells with CLP=1.
        high: u32 = 2, "ITU-T I.361, section 2.3.3 (cell loss priority)";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    let PartialSharingParameters { limit, threshold, high } =
        PartialSharingParameters::read(section)?;
    if limit.in_bytes() != threshold.in_bytes() {
        let unit = if limit.in_bytes() { "bytes" } else { "packets" };
        let message = format!("mixes packets and bytes; the limit is in {unit}");
        return Err(section.fail("threshold", message));
    }
    if threshold.amount() > limit.amount() {
        let message = "is above the limit; allowed are thresholds up to it";
        return Err(section.fail("threshold", message));
    }
    let high = check_high(section, high)?;
    Ok(Queue::Fifo(DropTail::shared(limit, threshold, high).into()))
}

/// The precedence `high`, from which on packets may be lost first: lower ones there must be.
pub(super) fn check_high(section: &Section<'_>, high: u32) -> Result<u8, Problem> {
    match u8::try_from(high) {
        Ok(high) if (1..MAX_PRECEDENCES).contains(&usize::from(high)) => Ok(high),
        _ => {
            let message =
                format!("{high} is out of range; allowed are 1 to {}", MAX_PRECEDENCES - 1);
            Err(section.fail("high", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{
        Arrival, Backlog, DropPolicy, DropReason, FlowId, Packet, RouteId, Verdict,
    };
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::{Rate, Time};

    fn section(limit: &str, threshold: &str, high: i64) -> Node {
        let entry = |name: &str, value: Value| (name.to_owned(), Node::new(value));
        Node::new(Value::Table(Table::from([
            entry("limit", limit.into()),
            entry("threshold", threshold.into()),
            entry("high", Value::Integer(high)),
        ])))
    }

    fn make(limit: &str, threshold: &str, high: i64) -> Result<Queue, Problem> {
        let (node, echo) = (section(limit, threshold, high), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(6_000_000));
        build(&Section::root(&node, &echo).unwrap(), &facts)
    }

    fn verdict(waiting: u32, precedence: u8) -> Verdict {
        let Ok(Queue::Fifo(mut law)) = make("512 packets", "256 packets", 2) else {
            panic!("it decides at arrival");
        };
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 53, RouteId::new(0))
            .with_precedence(precedence);
        let backlog = Backlog { packets: waiting, bytes: u64::from(waiting) * 53 };
        let arrival = Arrival {
            now: Time::ZERO,
            packet: &packet,
            backlog,
            idle_since: None,
            empty_since: None,
        };
        law.admit(&arrival, &mut Streams::new(0, 0).named("test"))
    }

    /// Cells with CLP=1 do not take the room of those with CLP=0, and a buffer holds no more than
    /// its size. The rule: an arrival is accepted while fewer than the threshold wait; above it
    /// only with CLP=0 (precedences 0 and 1) and while fewer than the limit wait.
    #[test]
    fn the_threshold_holds_for_marked_cells_only() {
        let (full, selective) =
            (Verdict::Drop(DropReason::Overflow), Verdict::Drop(DropReason::Selective));
        for clear in [0, 1] {
            assert_eq!(verdict(511, clear), Verdict::Accept);
            assert_eq!(verdict(512, clear), full);
        }
        for marked in [2, 3] {
            assert_eq!(verdict(255, marked), Verdict::Accept);
            assert_eq!(verdict(256, marked), selective);
            assert_eq!(verdict(511, marked), selective);
            assert_eq!(verdict(512, marked), full);
        }
    }

    /// A threshold that can never be reached, or that no precedence is subject to, is refused: it
    /// does not protect.
    #[test]
    fn contradictions_are_refused() {
        let problem = |limit, threshold, high| make(limit, threshold, high).err().unwrap();
        assert_eq!(problem("256 packets", "512 packets", 2).path, "threshold");
        assert_eq!(problem("256 packets", "53 B", 2).path, "threshold");
        assert_eq!(problem("256 packets", "128 packets", 0).path, "high");
        assert_eq!(problem("256 packets", "128 packets", 64).path, "high");
        assert!(make("256 packets", "256 packets", 63).is_ok());
    }
}
