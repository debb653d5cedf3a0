//! A FIFO queue under a drop policy, as a [`QueueDisc`].

use forebay_kernel::{RingBuffer, Stream};
use forebay_network::{
    Arrival, Backlog, Departure, Discard, DropPolicy, Ecn, LawNote, Packet, QueueDisc, Verdict,
};
use forebay_units::{Rate, Size, Time};

use crate::queue::{AnyDropPolicy, fullness};

/// A queue discipline whose law decides at arrival only, for schedulers to hold.
pub struct Fifo {
    law: AnyDropPolicy,
    waiting: RingBuffer<Packet>,
    backlog: Backlog,
    /// The rate of the link, if this is a class of a scheduler and its law goes by averages.
    rate: Option<Rate>,
    /// Time at which the last packet that left it was taken, and its size.
    left: (Time, u16),
}

impl Fifo {
    /// An empty queue under `law`.
    #[must_use]
    pub(in crate::queue) fn new(law: AnyDropPolicy) -> Self {
        let (waiting, backlog) = (RingBuffer::default(), Backlog::default());
        Self { law, waiting, backlog, rate: None, left: (Time::ZERO, 0) }
    }

    /// The same queue as a class of a scheduler on a link of `rate`: it can be empty while the link
    /// is busy.
    #[must_use]
    pub(in crate::queue) fn in_class(self, rate: Rate) -> Self {
        // A law without a state has no average that would need the time.
        let rate = (!self.law.is_transparent()).then_some(rate);
        Self { rate, ..self }
    }

    /// As [`QueueDisc::enqueue`], which drops no other packets here.
    #[inline]
    pub(in crate::queue) fn enqueue_packet(
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

    /// Returns the time since which nothing of it waits or is being transmitted, at `now`, if it is
    /// so.
    #[inline]
    fn empty_since(&self, idle_since: Option<Time>, now: Time) -> Option<Time> {
        let Some(rate) = self.rate else { return idle_since };
        let (left_at, size) = self.left;
        let sent_at = left_at + rate.transmission_time(Size::from_bytes(u64::from(size)));
        let since = idle_since.map_or(sent_at, |idle| idle.min(sent_at));
        (self.waiting.is_empty() && since <= now).then_some(since)
    }

    /// The verdict of the law on `packet`; if it accepts, the law counts the packet as queued from
    /// now on.
    #[inline]
    pub(in crate::queue) fn ask(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
    ) -> Verdict {
        let empty_since = self.empty_since(idle_since, now);
        let arrival = Arrival { now, packet, backlog: self.backlog, idle_since, empty_since };
        self.law.admit(&arrival, stream)
    }

    /// Append a packet that the law has accepted or marked.
    #[inline]
    pub(in crate::queue) fn push(&mut self, packet: &Packet, verdict: Verdict) {
        self.backlog.add(packet);
        if verdict == Verdict::Mark {
            self.waiting.push_back(packet.with_ecn(Ecn::Ce));
        } else {
            self.waiting.push_back(*packet);
        }
    }

    /// Drop a packet that the law has accepted or marked; the law sees a departure.
    pub(in crate::queue) fn turn_away(&mut self, packet: &Packet, now: Time) {
        self.law.departed(packet.queued_info(), now);
    }

    /// The packet at `place` of the queue, counted from its head.
    pub(in crate::queue) fn at(&self, place: usize) -> Option<&Packet> {
        self.waiting.get(place)
    }

    /// Remove the packet at `place`; the law sees a departure.
    pub(in crate::queue) fn take_out(&mut self, place: usize, now: Time) -> Option<Packet> {
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

    #[inline]
    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        _discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        if self.law.is_transparent() {
            return None;
        }
        Some(self.enqueue_packet(packet, Some(idle_since), now, stream))
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
        self.left = (now, packet.size);
        Some(Departure { packet, marked: false })
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn fullness(&self, _precedence: u8) -> Option<f64> {
        fullness(self.law.limit(), self.backlog)
    }

    fn drops_at_dequeue(&self) -> bool {
        false
    }

    fn is_transparent(&self) -> bool {
        self.law.is_transparent()
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        self.law.notes(visit);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.law.probes(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkFacts;
    use crate::queue::{QUEUES, Queue};
    use forebay_kernel::Streams;
    use forebay_kernel::math;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Section};
    use forebay_units::Span;

    /// RED in a class of a scheduler does not go by the average of a queue that emptied long ago,
    /// and so does not drop all that comes for as long as other classes keep the link busy. The
    /// last packet leaves at 100 ms and is sent at 101 ms (1000 B at 8 Mbit/s); 200 ms later the
    /// average has decayed by 400 packets of 500 B, half a millisecond each: 0.998^400. A packet
    /// that is still being transmitted is no idle time, but a sample of an empty queue: 0.998.
    #[test]
    fn a_class_is_idle_while_others_send() {
        let rate = Rate::from_bps(8_000_000);
        let entry = QUEUES.iter().find(|entry| entry.name == "red").unwrap();
        let echo = Echo::default();
        let section = Section::empty(String::new(), &echo);
        let built = || (entry.build)(&section, &LinkFacts::of(rate)).unwrap();
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0));
        let mut stream = Streams::new(1, 0).named("queue");
        let average = |fifo: &Fifo| {
            let mut found = f64::NAN;
            fifo.probes(&mut |_, value| found = value);
            found
        };
        for (in_class, ms, factor) in [
            (true, 301, math::pow(0.998, 400.0)),
            (true, 100, 0.998),
            // At a link it is the link that is idle or not.
            (false, 301, 0.998),
        ] {
            let Queue::Fifo(law) = built() else { panic!("RED is a FIFO queue") };
            let alone = Fifo::new(law);
            let mut fifo = if in_class { alone.in_class(rate) } else { alone };
            for _ in 0..100 {
                fifo.enqueue_packet(&packet, None, Time::ZERO, &mut stream);
            }
            while fifo.dequeue(at(100), &mut stream, &mut |_, _| {}).is_some() {}
            let before = average(&fifo);
            assert!(before > 1.0, "{before}");
            fifo.enqueue_packet(&packet, None, at(ms), &mut stream);
            let found = average(&fifo) / before;
            assert!((found - factor).abs() < 1e-12, "{in_class}, {ms} ms: {found}");
        }
    }
}
