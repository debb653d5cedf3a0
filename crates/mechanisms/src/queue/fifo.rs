//! A FIFO queue under a drop policy, as a [`QueueDisc`].

use forebay_kernel::{RingBuffer, Stream};
use forebay_network::{
    Arrival, Backlog, Departure, Discard, DropPolicy, Ecn, Packet, QueueDisc, RednAdjustment,
    Verdict,
};
use forebay_units::Time;

use super::AnyDropPolicy;

/// A queue discipline whose law decides at arrival only, for schedulers to hold.
pub struct Fifo {
    law: AnyDropPolicy,
    waiting: RingBuffer<Packet>,
    backlog: Backlog,
}

impl Fifo {
    /// An empty queue under `law`.
    #[must_use]
    pub(super) fn new(law: AnyDropPolicy) -> Self {
        Self { law, waiting: RingBuffer::default(), backlog: Backlog::default() }
    }

    /// As [`QueueDisc::enqueue`], which drops no other packets here.
    #[inline]
    pub(super) fn enqueue_packet(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
    ) -> Verdict {
        let verdict = self.ask(packet, idle_since, now, stream);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.push(packet, verdict);
        }
        verdict
    }

    /// The verdict of the law on `packet`; if it accepts, the law counts the packet as queued from
    /// now on.
    #[inline]
    pub(super) fn ask(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
    ) -> Verdict {
        self.law.admit(&Arrival { now, packet, backlog: self.backlog, idle_since }, stream)
    }

    /// Append a packet that the law has accepted or marked.
    #[inline]
    pub(super) fn push(&mut self, packet: &Packet, verdict: Verdict) {
        self.backlog.add(packet);
        if verdict == Verdict::Mark {
            self.waiting.push_back(packet.with_ecn(Ecn::Ce));
        } else {
            self.waiting.push_back(*packet);
        }
    }

    /// Drop a packet that the law has accepted or marked; the law sees a departure.
    pub(super) fn turn_away(&mut self, packet: &Packet, now: Time) {
        self.law.departed(packet.queued_info(), now);
    }

    /// The packet at `place` of the queue, counted from its head.
    pub(super) fn at(&self, place: usize) -> Option<&Packet> {
        self.waiting.get(place)
    }

    /// Remove the packet at `place`; the law sees a departure.
    pub(super) fn take_out(&mut self, place: usize, now: Time) -> Option<Packet> {
        let packet = self.waiting.remove(place)?;
        self.backlog.remove(packet.queued_info());
        self.law.departed(packet.queued_info(), now);
        Some(packet)
    }
}

impl QueueDisc for Fifo {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        self.enqueue_packet(packet, idle_since, now, stream)
    }

    #[inline(always)]
    fn dequeue(
        &mut self,
        now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        if self.waiting.is_empty() {
            return None;
        }
        let packet = *self.waiting.pop_front();
        self.backlog.remove(packet.queued_info());
        self.law.departed(packet.queued_info(), now);
        Some(Departure { packet, marked: false })
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn drops_at_dequeue(&self) -> bool {
        false
    }

    fn is_transparent(&self) -> bool {
        self.law.is_transparent()
    }

    fn adjustments(&mut self, visit: &mut dyn FnMut(&RednAdjustment)) {
        self.law.adjustments(visit);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.law.probes(visit);
    }
}
