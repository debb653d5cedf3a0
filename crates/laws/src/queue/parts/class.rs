//! Queues inside schedulers and shapers.

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, ClassCount, Departure, Discard, LawNote, NextPacket, Packet, QueueDisc, Verdict,
};
use forebay_units::{Rate, Time};

use crate::queue::{Fifo, Queue};

/// The queue of a class.
enum Class {
    /// First in, first out: the usual kind, called directly, not through a virtual table.
    Fifo(Fifo),
    /// Any other discipline.
    Other(Box<dyn QueueDisc>),
}

impl Class {
    /// Of a link of `rate`.
    fn of(queue: Queue, rate: Rate) -> Self {
        match queue.into_fifo() {
            Ok(fifo) => Self::Fifo(fifo.in_class(rate)),
            Err(other) => Self::Other(other),
        }
    }

    #[inline]
    fn as_disc(&self) -> &dyn QueueDisc {
        match self {
            Self::Fifo(fifo) => fifo,
            Self::Other(law) => law.as_ref(),
        }
    }

    #[inline]
    fn as_disc_mut(&mut self) -> &mut dyn QueueDisc {
        match self {
            Self::Fifo(fifo) => fifo,
            Self::Other(law) => law.as_mut(),
        }
    }

    /// Packets waiting.
    #[inline]
    fn packets(&self) -> u32 {
        match self {
            Self::Fifo(fifo) => fifo.backlog().packets,
            Self::Other(law) => law.backlog().packets,
        }
    }
}

/// The queue of a class whose next packet is known before it is sent: a scheduler that goes by
/// sizes, or a shaper, must know the size of the packet that it considers.
///
/// A queue that tells what is next ([`QueueDisc::peek`]) keeps the packet until it is sent, and may
/// give another if that arrives first: FIFO queues, whatever drops their packets, CHOKe, and
/// priority, as under Linux (prio_peek, red_peek, choke_peek_head and qdisc_peek_head of
/// net/sched). Any other discipline is asked for its next packet when that is first considered, and
/// the packet is kept here until it is sent: so a discipline that decides as packets leave (CoDel),
/// or whose turn passes with them (DRR), decides when the packet becomes the head of its class, as
/// under Linux (qdisc_peek_dequeued).
pub(in crate::queue) struct ClassQueue {
    queue: Class,
    /// The head, if it is not in `queue` any more.
    head: Option<Departure>,
    /// The size of the head that `queue` has named and still holds.
    told: Option<u16>,
    /// The class in which it is counted, where classes of `queue` are.
    held: Option<usize>,
}

impl ClassQueue {
    /// Of a link of `rate`.
    pub(in crate::queue) fn of(queue: Queue, rate: Rate) -> Self {
        Self { queue: Class::of(queue, rate), head: None, told: None, held: None }
    }

    /// The queue, if it is first in, first out.
    #[inline]
    pub(in crate::queue) fn fifo_mut(&mut self) -> Option<&mut Fifo> {
        match &mut self.queue {
            Class::Fifo(fifo) => Some(fifo),
            Class::Other(_) => None,
        }
    }

    /// Packets waiting.
    #[inline]
    pub(in crate::queue) fn packets(&self) -> u32 {
        self.queue.packets() + u32::from(self.head.is_some())
    }

    /// Returns true if an arrival leaves the head as it is, once that is known.
    #[inline]
    pub(in crate::queue) fn keeps_head(&self) -> bool {
        self.head.is_some() || matches!(self.queue, Class::Fifo(_))
    }

    /// The size of the next packet, once [`ClassQueue::look`] has found one.
    #[inline]
    pub(in crate::queue) fn head_size(&self) -> Option<u16> {
        match (&self.queue, &self.head) {
            (_, Some(head)) => Some(head.packet.size),
            (Class::Fifo(fifo), None) => fifo.at(0).map(|packet| packet.size),
            (Class::Other(_), None) => self.told,
        }
    }

    /// The size of the next packet; `None` if none waits, or if none may leave yet. Packets that
    /// are dropped on this occasion are handed to `discard`.
    #[inline]
    pub(in crate::queue) fn look(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<u16> {
        if let Some(law) = self.undecided(now, stream, discard) {
            self.head = law.dequeue(now, stream, discard);
        }
        self.head_size()
    }

    /// The queue, if its head is not known and it names none.
    #[inline]
    fn undecided(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<&mut dyn QueueDisc> {
        let Class::Other(law) = &mut self.queue else { return None };
        if self.head.is_some() || law.backlog().packets == 0 {
            return None;
        }
        match law.peek(now, stream, discard) {
            NextPacket::Undecided => Some(law.as_mut()),
            NextPacket::Size(size) => {
                self.told = size;
                None
            }
        }
    }

    /// As [`ClassQueue::look`], of a queue that counts by class: the packet that is kept here waits
    /// in its class until it is sent.
    pub(in crate::queue) fn look_counting(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<u16> {
        let Some(law) = self.undecided(now, stream, discard) else { return self.head_size() };
        let departed = |law: &mut dyn QueueDisc| -> Vec<u64> {
            let counts = law.class_counts(now);
            counts.into_iter().flatten().map(|count| count.departed.packets).collect()
        };
        let before = departed(law);
        let head = law.dequeue(now, stream, discard);
        let mut held = None;
        if let (Some(head), Some(counts)) = (&head, law.class_counts(now)) {
            held = counts
                .iter()
                .zip(&before)
                .position(|(count, before)| count.departed.packets > *before);
            if let Some(class) = held {
                counts[class].held_back(&head.packet, head.marked);
            }
        }
        (self.head, self.held) = (head, held);
        self.head_size()
    }

    /// As [`QueueDisc::dequeue`] after [`ClassQueue::look_counting`].
    pub(in crate::queue) fn dequeue_counting(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        let departure = self.dequeue(now, stream, discard)?;
        if let Some(class) = self.held.take()
            && let Some(counts) = self.class_counts(now)
        {
            counts[class].dequeued(&departure.packet, departure.marked, now);
        }
        Some(departure)
    }
}

impl QueueDisc for ClassQueue {
    #[inline]
    fn enqueue(
        &mut self,
        packet: &Packet,
        idle_since: Option<Time>,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Verdict {
        self.told = None;
        match &mut self.queue {
            Class::Fifo(fifo) => fifo.enqueue_packet(packet, idle_since, now, stream),
            Class::Other(law) => law.enqueue(packet, idle_since, now, stream, discard),
        }
    }

    #[inline]
    fn pass_idle(
        &mut self,
        packet: &Packet,
        idle_since: Time,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Verdict> {
        self.told = None;
        match &mut self.queue {
            Class::Fifo(fifo) => fifo.pass_idle(packet, idle_since, now, stream, discard),
            Class::Other(law) => law.pass_idle(packet, idle_since, now, stream, discard),
        }
    }

    #[inline]
    fn dequeue(
        &mut self,
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<Departure> {
        self.told = None;
        match &mut self.queue {
            Class::Fifo(fifo) => fifo.dequeue(now, stream, discard),
            Class::Other(law) => self.head.take().or_else(|| law.dequeue(now, stream, discard)),
        }
    }

    #[inline]
    fn peek(&mut self, now: Time, stream: &mut Stream, discard: &mut Discard<'_>) -> NextPacket {
        NextPacket::Size(self.look(now, stream, discard))
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        let mut backlog = self.queue.as_disc().backlog();
        if let Some(head) = &self.head {
            backlog.add(&head.packet);
        }
        backlog
    }

    fn fullness(&self, precedence: u8) -> Option<f64> {
        self.queue.as_disc().fullness(precedence)
    }

    fn is_work_conserving(&self) -> bool {
        self.queue.as_disc().is_work_conserving()
    }

    fn ready_at(&self, now: Time) -> Time {
        if self.head_size().is_some() { now } else { self.queue.as_disc().ready_at(now) }
    }

    fn drops_at_dequeue(&self) -> bool {
        self.queue.as_disc().drops_at_dequeue()
    }

    fn is_transparent(&self) -> bool {
        self.queue.as_disc().is_transparent()
    }

    fn notes(&mut self, visit: &mut dyn FnMut(&LawNote<'_>)) {
        self.queue.as_disc_mut().notes(visit);
    }

    fn class_counts(&mut self, now: Time) -> Option<&mut Vec<ClassCount>> {
        self.queue.as_disc_mut().class_counts(now)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.queue.as_disc().probes(visit);
    }
}
