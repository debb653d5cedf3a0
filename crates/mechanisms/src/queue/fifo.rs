//! A first-in-first-out queue under a law that decides at arrival, as a [`QueueDiscipline`].

use forebay_kernel::{Ring, Stream};
use forebay_network::{
    Adjustment, Arrival, Backlog, Departure, Discard, Ecn, Packet, QueueDiscipline, QueueManager,
    Verdict,
};
use forebay_units::Time;

use super::Manager;

/// Lets a scheduler hold a queue whose law decides at arrival only.
pub struct Fifo {
    law: Manager,
    waiting: Ring<Packet>,
    backlog: Backlog,
}

impl Fifo {
    /// An empty queue under `law`.
    #[must_use]
    pub(super) fn new(law: Manager) -> Self {
        Self { law, waiting: Ring::default(), backlog: Backlog::default() }
    }

    /// As [`QueueDiscipline::enqueue`]: nobody else is dropped.
    #[inline]
    pub(super) fn take_in(
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

    /// What the law says of `packet`, which is in its queue from now on if it accepts.
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

    /// Put a packet that the law has accepted or marked at the end of the queue.
    #[inline]
    pub(super) fn push(&mut self, packet: &Packet, verdict: Verdict) {
        self.backlog.add(packet);
        if verdict == Verdict::Mark {
            self.waiting.push_back(packet.with_ecn(Ecn::Ce));
        } else {
            self.waiting.push_back(*packet);
        }
    }

    /// Turn away a packet that the law has accepted or marked; it hears of that as of a departure.
    pub(super) fn turn_away(&mut self, packet: &Packet, now: Time) {
        self.law.departed(packet.footprint(), now);
    }

    /// The packet at `place` of the queue, counted from its head.
    pub(super) fn at(&self, place: usize) -> Option<&Packet> {
        self.waiting.get(place)
    }

    /// Take the packet at `place` out; its law hears of it as of a departure.
    pub(super) fn take_out(&mut self, place: usize, now: Time) -> Option<Packet> {
        let packet = self.waiting.remove(place)?;
        self.backlog.remove(packet.footprint());
        self.law.departed(packet.footprint(), now);
        Some(packet)
    }
}

impl QueueDiscipline for Fifo {
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        self.take_in(packet, idle_since, now, stream)
    }

    fn dequeue(
        &mut self,
        now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let packet = *self.let_go(now)?;
        Some(Departure { packet, marked: false })
    }

    #[inline]
    fn let_go(&mut self, now: Time) -> Option<&Packet> {
        if self.waiting.is_empty() {
            return None;
        }
        let packet = self.waiting.pop_front();
        self.backlog.remove(packet.footprint());
        self.law.departed(packet.footprint(), now);
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn drops_when_leaving(&self) -> bool {
        false
    }

    fn is_transparent(&self) -> bool {
        self.law.is_transparent()
    }

    fn adjustments(&mut self, tell: &mut dyn FnMut(&Adjustment)) {
        self.law.adjustments(tell);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.law.gauges(tell);
    }
}
