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
}

impl QueueDiscipline for Fifo {
    fn enqueue(
        &mut self,
        mut packet: Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Verdict {
        let arrival = Arrival { now, packet: &packet, backlog: self.backlog, idle_since };
        let verdict = self.law.admit(&arrival, stream);
        match verdict {
            Verdict::Accept => {}
            Verdict::Mark => packet = packet.with_ecn(Ecn::Ce),
            Verdict::Drop(_) => return verdict,
        }
        self.waiting.push_back(packet);
        self.backlog.add(&packet);
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

    fn adjustments(&mut self, tell: &mut dyn FnMut(&Adjustment)) {
        self.law.adjustments(tell);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.law.gauges(tell);
    }
}
