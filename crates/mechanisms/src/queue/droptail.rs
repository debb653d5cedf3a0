//! Tail drop: the queue that every other is compared with.

use forebay_kernel::Stream;
use forebay_network::{Arrival, DropReason, QueueManager, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Problem, Section, parameters};

use super::{BuildQueue, Queue, fits};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildQueue> = Entry {
    name: "droptail",
    summary: "First in, first out, with tail drop when the buffer is full.",
    source: "RFC 7567, section 2",
    fields: DropTailParameters::FIELDS,
    build,
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
    Ok(Queue::Managed(DropTail { limit: parameters.limit, kept: None }.into()))
}

/// Tail drop: every arrival is accepted while the buffer has room.
pub struct DropTail {
    limit: Option<Length>,
    /// From which precedence on packets are let in only below a threshold, which is up to the
    /// limit: the last part of the buffer is kept for others.
    kept: Option<(u8, Length)>,
}

impl DropTail {
    /// A buffer without limit.
    pub(super) fn endless() -> Self {
        Self { limit: None, kept: None }
    }

    /// A buffer of `limit`, in which packets of precedence `high` and higher ones are let in below
    /// `threshold` only.
    pub(super) fn shared(limit: Length, threshold: Length, high: u8) -> Self {
        Self { limit: Some(limit), kept: Some((high, threshold)) }
    }

    /// Whether it never drops a packet.
    #[must_use]
    pub fn is_endless(&self) -> bool {
        self.limit.is_none()
    }

    /// Whether it refuses the packet, and why.
    #[inline(always)]
    #[must_use]
    pub fn refuses(&self, arrival: &Arrival<'_>) -> Option<DropReason> {
        // Whatever kept a packet out, a full buffer is told as one.
        if !fits(self.limit, arrival) {
            return Some(DropReason::Overflow);
        }
        let (high, threshold) = self.kept?;
        let refused = arrival.packet.precedence >= high && !fits(Some(threshold), arrival);
        refused.then_some(DropReason::Selective)
    }
}

impl QueueManager for DropTail {
    #[inline]
    fn admit(&mut self, arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
        self.refuses(arrival).map_or(Verdict::Accept, Verdict::Drop)
    }

    fn is_transparent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Backlog, Packet};
    use forebay_units::Time;

    fn verdict(limit: Option<Length>, backlog: Backlog, idle: bool) -> Verdict {
        let packet = Packet::data(Time::ZERO, 0, 0, 1000, 0);
        let idle_since = idle.then_some(Time::ZERO);
        let arrival = Arrival { now: Time::ZERO, packet: &packet, backlog, idle_since };
        DropTail { limit, kept: None }.admit(&arrival, &mut Streams::new(0, 0).named("test"))
    }

    /// Otherwise a buffer would hold more, or less, than its size.
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
