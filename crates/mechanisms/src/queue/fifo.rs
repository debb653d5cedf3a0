//! A first-in-first-out queue under a [`QueueManager`], as a [`QueueDiscipline`].

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{
    Adjustment, Arrival, Backlog, Departure, Discard, Ecn, Packet, QueueDiscipline, QueueManager,
    Verdict,
};
use forebay_units::Time;

/// Lets a scheduler hold a queue whose law decides at arrival only.
pub struct Fifo {
    law: Box<dyn QueueManager>,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
}

impl Fifo {
    /// An empty queue under `law`.
    #[must_use]
    pub fn new(law: Box<dyn QueueManager>) -> Self {
        Self { law, waiting: VecDeque::new(), backlog: Backlog::default() }
    }

    /// What the law says of `packet`, which is in its queue from now on if it accepts.
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
    pub(super) fn push(&mut self, packet: Packet, verdict: Verdict) {
        let marked = verdict == Verdict::Mark;
        let packet = if marked { packet.with_ecn(Ecn::Ce) } else { packet };
        self.waiting.push_back(packet);
        self.backlog.add(&packet);
    }

    /// Turn away a packet that the law has accepted or marked; it hears of that as of a departure.
    pub(super) fn turn_away(&mut self, packet: &Packet, now: Time) {
        self.law.departed(packet, now);
    }

    /// The packet at `place` of the queue, counted from its head.
    pub(super) fn at(&self, place: usize) -> Option<&Packet> {
        self.waiting.get(place)
    }

    /// Take the packet at `place` out; its law hears of it as of a departure.
    pub(super) fn take_out(&mut self, place: usize, now: Time) -> Option<Packet> {
        let packet = self.waiting.remove(place)?;
        self.backlog.remove(&packet);
        self.law.departed(&packet, now);
        Some(packet)
    }
}

impl QueueDiscipline for Fifo {
    fn enqueue(
        &mut self,
        packet: Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        let verdict = self.ask(&packet, idle_since, now, stream);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.push(packet, verdict);
        }
        verdict
    }

    fn dequeue(
        &mut self,
        now: Time,
        _stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let packet = self.waiting.pop_front()?;
        self.backlog.remove(&packet);
        self.law.departed(&packet, now);
        Some(Departure { packet, marked: false })
    }

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
