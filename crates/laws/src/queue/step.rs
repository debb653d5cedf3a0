//! Tail drop with a step: packets that find more than a threshold waiting are marked.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, DropReason, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Problem, Section, parameters};

use super::{BuildQueue, DropTail, Queue};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "step",
    summary: "Tail drop that marks: a packet that finds more than a threshold waiting gets the CE \
              codepoint. The switch of DCTCP.",
    source: "Alizadeh et al. (DCTCP), SIGCOMM 2010, section 3.1; RFC 8257, section 3.1",
    example: r#"threshold = "4 packets"
        limit = "12 packets""#,
    fields: StepParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of a queue with a marking threshold.
    pub struct StepParameters {
        /// Length above which arriving packets are marked (K): the present length, not an average,
        /// without the arriving packet and the one being transmitted.
        threshold: Length, "Alizadeh et al. (DCTCP), SIGCOMM 2010, section 3.1 (20 packets at 1 \
                            Gbit/s, 65 at 10 Gbit/s)";
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
        /// True if packets that are not ECN-capable are dropped above the threshold, as a switch
        /// does whose threshold is that of a RED queue.
        drop_others: bool = false, "RFC 3168, section 5; RFC 8257, section 5";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    let StepParameters { threshold, limit, drop_others } = StepParameters::read(section)?;
    let above = |limit: Length| {
        limit.in_bytes() == threshold.in_bytes() && threshold.amount() > limit.amount()
    };
    if limit.is_some_and(above) {
        let message = "lies above the limit: packets would be dropped before any is marked";
        return Err(section.fail("threshold", message));
    }
    Ok(Queue::under(Step { threshold, buffer: DropTail::of(limit), drop_others }))
}

struct Step {
    threshold: Length,
    buffer: DropTail,
    drop_others: bool,
}

impl DropPolicy for Step {
    #[inline]
    fn admit(&mut self, arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
        if let Some(reason) = self.buffer.drop_reason(arrival) {
            return Verdict::Drop(reason);
        }
        let above = match self.threshold {
            Length::Packets(most) => u64::from(arrival.backlog.packets) > most,
            Length::Bytes(most) => arrival.backlog.bytes > most,
        };
        match (above, arrival.packet.is_ecn_capable()) {
            (true, true) => Verdict::Mark,
            (true, false) if self.drop_others => Verdict::Drop(DropReason::Forced),
            _ => Verdict::Accept,
        }
    }

    fn is_transparent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, Ecn, FlowId, Packet, RouteId};
    use forebay_units::Time;

    fn verdict(law: &mut Step, waiting: u32, ecn: Ecn) -> Verdict {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1500, RouteId::new(0));
        let packet = packet.with_ecn(ecn);
        let backlog = Backlog { packets: waiting, bytes: 1500 * u64::from(waiting) };
        let arrival = Arrival {
            now: Time::ZERO,
            packet: &packet,
            backlog,
            idle_since: None,
            empty_since: None,
        };
        law.admit(&arrival, &mut Streams::new(0, 0).named("test"))
    }

    fn law(threshold: Length, limit: u64, drop_others: bool) -> Step {
        Step { threshold, buffer: DropTail::of(Some(Length::Packets(limit))), drop_others }
    }

    /// A packet is marked if the queue is longer than K when it arrives, so that with K = 20 the
    /// 22nd packet is the first; the buffer is as with tail drop.
    #[test]
    fn packets_are_marked_above_the_threshold() {
        for threshold in [Length::Packets(20), Length::Bytes(30_000)] {
            let mut law = law(threshold, 100, false);
            let mut at = |waiting| verdict(&mut law, waiting, Ecn::Ect0);
            assert_eq!([at(20), at(21), at(99)], [Verdict::Accept, Verdict::Mark, Verdict::Mark]);
            assert_eq!(at(100), Verdict::Drop(DropReason::Overflow));
        }
    }

    /// Packets that cannot be marked are accepted up to the limit, or only up to the threshold.
    #[test]
    fn packets_that_cannot_be_marked_are_accepted_or_dropped() {
        let threshold = Length::Packets(20);
        for (drop_others, above) in
            [(false, Verdict::Accept), (true, Verdict::Drop(DropReason::Forced))]
        {
            let mut law = law(threshold, 100, drop_others);
            assert_eq!(verdict(&mut law, 20, Ecn::NotEct), Verdict::Accept);
            assert_eq!(verdict(&mut law, 21, Ecn::NotEct), above);
        }
    }
}
