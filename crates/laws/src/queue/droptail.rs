//! Tail drop: the baseline of all queue management.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropPolicy, DropReason, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Problem, Section, parameters};

use super::{BuildQueue, Queue, fits};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "droptail",
    summary: "First in, first out, with tail drop when the buffer is full.",
    source: "RFC 7567, section 2",
    example: r#"limit = "12 packets""#,
    fields: DropTailParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of tail drop.
    pub struct DropTailParameters {
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    let parameters = DropTailParameters::read(section)?;
    Ok(Queue::Fifo(DropTail::of(parameters.limit).into()))
}

/// Tail drop: every arrival is accepted while the buffer has room.
pub struct DropTail {
    limit: Option<Length>,
    /// The precedence from which on packets are accepted only below a threshold, which is at most
    /// the limit: the last part of the buffer is reserved for lower precedences.
    reserved: Option<(u8, Length)>,
}

impl DropTail {
    /// A buffer of `limit`.
    pub(super) fn of(limit: Option<Length>) -> Self {
        Self { limit, reserved: None }
    }

    /// A buffer of `limit`, in which packets of precedence `high` and above are accepted only below
    /// `threshold`.
    pub(super) fn shared(limit: Length, threshold: Length, high: u8) -> Self {
        Self { limit: Some(limit), reserved: Some((high, threshold)) }
    }

    /// The size of the buffer, if it has one.
    pub(super) fn limit(&self) -> Option<Length> {
        self.limit
    }

    /// Returns true if it never drops a packet.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.limit.is_none()
    }

    /// The reason for which it drops the packet; `None` if it accepts it.
    #[inline(always)]
    #[must_use]
    pub fn drop_reason(&self, arrival: &Arrival<'_>) -> Option<DropReason> {
        // A full buffer is reported as overflow, whether or not the threshold would refuse the
        // packet too.
        if !fits(self.limit, arrival) {
            return Some(DropReason::Overflow);
        }
        let (high, threshold) = self.reserved?;
        let refused = arrival.packet.precedence >= high && !fits(Some(threshold), arrival);
        refused.then_some(DropReason::Selective)
    }
}

impl DropPolicy for DropTail {
    #[inline]
    fn admit(&mut self, arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
        self.drop_reason(arrival).map_or(Verdict::Accept, Verdict::Drop)
    }

    #[inline]
    fn is_transparent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, FlowId, Packet, RouteId};
    use forebay_units::Time;

    fn verdict(limit: Option<Length>, backlog: Backlog, idle: bool) -> Verdict {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0));
        let idle_since = idle.then_some(Time::ZERO);
        let arrival = Arrival {
            now: Time::ZERO,
            packet: &packet,
            backlog,
            idle_since,
            empty_since: idle_since,
        };
        DropTail { limit, reserved: None }.admit(&arrival, &mut Streams::new(0, 0).named("test"))
    }

    /// A buffer holds exactly its limit, in packets or bytes.
    #[test]
    fn the_buffer_holds_exactly_its_limit() {
        let two = Some(Length::Packets(2));
        assert_eq!(verdict(two, Backlog { packets: 1, bytes: 1000 }, false), Verdict::Accept);
        let full = Verdict::Drop(DropReason::Overflow);
        assert_eq!(verdict(two, Backlog { packets: 2, bytes: 2000 }, false), full);
        let bytes = Some(Length::Bytes(3000));
        assert_eq!(verdict(bytes, Backlog { packets: 2, bytes: 2000 }, false), Verdict::Accept);
        assert_eq!(verdict(bytes, Backlog { packets: 3, bytes: 2001 }, false), full);
        assert_eq!(verdict(None, Backlog { packets: 9, bytes: 9000 }, false), Verdict::Accept);
        assert_eq!(verdict(Some(Length::Packets(0)), Backlog::default(), true), Verdict::Accept);
        assert_eq!(verdict(Some(Length::Packets(0)), Backlog::default(), false), full);
    }
}
