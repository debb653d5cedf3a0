//! Links: conditioners, then a queue, then a transmitter, then a length of wire.
//!
//! A packet that arrives at the very instant at which a transmission ends finds the transmitter
//! free: the departure comes first. In-flight packets wait inside the link; the agenda holds one
//! event a busy link, and a hop costs one event unless a discipline must choose.

use forebay_kernel::Stream;
use forebay_network::{
    Arrival, Context, Element, Observation, Packet, QueueDiscipline, QueueManager, Verdict,
};
use forebay_units::{Rate, Span, Time};

pub use super::line::Conditioning;
use super::line::Line;
use crate::queue::Queue;

/// What a link is made of.
pub struct LinkParts {
    /// Its number among the network's links.
    pub link: u32,
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Conditioners in the order in which packets pass them.
    pub conditioning: Vec<Conditioning>,
    /// The queue, and the stream that it draws from.
    pub queue: (Queue, Stream),
    /// Transmission time of the packets of lower priority that fill the link whenever it would be
    /// idle, with a stream; `None` if there are none.
    pub residual: Option<Residual>,
}

/// Traffic of lower priority, not simulated packet by packet: whoever finds the link idle waits for
/// the rest of a packet of it, a uniform part of its transmission time.
pub type Residual = (Span, Stream);

/// A link, in the form that suits its queue.
#[must_use]
pub fn link(parts: LinkParts) -> Box<dyn Element> {
    let LinkParts { link, rate, delay, conditioning, queue: (queue, stream), residual } = parts;
    let line = Line::new(link, rate, delay, residual);
    match queue {
        Queue::Managed(law) => {
            Box::new(FifoLink { line, conditioning, law, stream, begun: 0, quiet: false })
        }
        Queue::Discipline(law) => {
            Box::new(ScheduledLink { line, conditioning, law, stream, waking: false })
        }
    }
}

/// A packet has reached the far end.
const OUT: u32 = 0;
/// The transmitter is free and packets wait.
const FREE: u32 = 1;

/// A link whose queue decides at arrival only: transmissions are booked ahead, departures are
/// noticed when somebody looks.
struct FifoLink {
    line: Line,
    conditioning: Vec<Conditioning>,
    law: Box<dyn QueueManager>,
    stream: Stream,
    /// How many of the line's slots have begun transmission.
    begun: usize,
    /// Whether nobody acts on what leaves it: packets leave when somebody looks, without events.
    quiet: bool,
}

impl FifoLink {
    /// Let the departures up to `now` happen.
    #[inline(always)]
    fn catch_up(&mut self, now: Time) {
        if self.line.backlog().packets == 0 {
            return;
        }
        while let Some(slot) = self.line.slots.get(self.begun)
            && slot.start <= now
        {
            let (packet, start) = (slot.packet, slot.start);
            self.line.waits_no_more(&packet, start);
            self.law.departed(&packet, start);
            self.begun += 1;
        }
    }

    /// Let the queue's law decide over a packet that has passed the conditioners.
    #[inline(always)]
    fn decide(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        self.catch_up(now);
        let idle_since = self.line.idle_since(now);
        let backlog = self.line.backlog();
        let arrival = Arrival { now, packet, backlog, idle_since };
        match self.law.admit(&arrival, &mut self.stream) {
            Verdict::Accept => self.take_in(packet, idle_since.is_some(), cx),
            Verdict::Mark => {
                let mut marked = *packet;
                Line::mark(self.line.link, &mut marked, cx);
                self.take_in(&marked, idle_since.is_some(), cx);
            }
            Verdict::Drop(reason) => cx.discard(self.line.link, packet, reason),
        }
    }

    /// Take `packet` into the queue and book its transmission.
    #[inline(always)]
    fn take_in(&mut self, packet: &Packet, idle: bool, cx: &mut Context<'_>) {
        let (link, line, now) = (self.line.link, &mut self.line, cx.now());
        let start = if idle && !line.busy_below(now) {
            // It waits for no time: it is not counted as ever having waited.
            self.law.departed(packet, now);
            self.begun += 1;
            now
        } else {
            line.waits(packet, now);
            line.note_longest();
            line.free_at
        };
        if let Some(out) = line.book(packet, start)
            && !self.quiet
        {
            cx.wake_at(out, OUT);
        }
        let backlog = line.backlog();
        cx.observe(|| Observation::Enqueued { link, packet, backlog });
    }

    /// Let the packets go that have reached the far end by now: only if the link is quiet.
    #[inline]
    fn let_out(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        while let Some(slot) = self.line.slots.front()
            && slot.out <= now
        {
            let (packet, out) = (slot.packet, slot.out);
            if self.begun == 0 {
                self.catch_up(now);
            }
            self.begun -= 1;
            self.line.slots.pop_front();
            cx.cross_at(&packet, out);
        }
    }
}

impl Element for FifoLink {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.quiet = cx.leads_to_sinks();
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if self.quiet {
            self.let_out(cx);
        }
        if self.conditioning.is_empty() {
            Line::count_arrival(self.line.link, packet, cx);
            self.decide(packet, cx);
            return;
        }
        let mut packet = *packet;
        if Line::condition(self.line.link, &mut self.conditioning, &mut packet, cx) {
            self.decide(&packet, cx);
        }
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        if self.begun == 0 {
            self.catch_up(cx.now());
        }
        self.begun -= 1;
        self.line.arrive(OUT, cx);
    }

    fn settle(&mut self, cx: &mut Context<'_>) {
        self.catch_up(cx.now());
        if self.quiet {
            self.let_out(cx);
        }
        self.line.settle(cx);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.line.gauges(&self.conditioning, tell);
        self.law.gauges(tell);
    }

    fn held(&self) -> u64 {
        self.line.slots.len() as u64
    }
}

/// A link whose queue chooses the next packet when the transmitter is free.
struct ScheduledLink {
    line: Line,
    conditioning: Vec<Conditioning>,
    law: Box<dyn QueueDiscipline>,
    stream: Stream,
    /// Whether a timer is set for the end of the transmission.
    waking: bool,
}

impl ScheduledLink {
    /// Transmit the next packet if the transmitter is free.
    fn serve(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.line.free_at > now {
            return;
        }
        let link = self.line.link;
        let line = &mut self.line;
        let next = self.law.dequeue(now, &mut self.stream, &mut |packet, reason| {
            line.waits_no_more(&packet, now);
            cx.discard(link, &packet, reason);
        });
        let Some(packet) = next else { return };
        self.line.waits_no_more(&packet, now);
        if let Some(out) = self.line.book(&packet, now) {
            cx.wake_at(out, OUT);
        }
    }

    /// Have somebody look again at the end of the transmission if packets wait.
    fn arm(&mut self, cx: &mut Context<'_>) {
        if !self.waking && self.line.backlog().packets > 0 {
            self.waking = true;
            cx.wake_at(self.line.free_at, FREE);
        }
    }
}

impl Element for ScheduledLink {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let mut packet = *packet;
        if !Line::condition(self.line.link, &mut self.conditioning, &mut packet, cx) {
            return;
        }
        let now = cx.now();
        if self.line.backlog().packets > 0 {
            self.serve(cx);
        }
        let idle_since = self.line.idle_since(now);
        let link = self.line.link;
        let line = &mut self.line;
        let mut discard = |packet: Packet, reason| {
            line.waits_no_more(&packet, now);
            cx.discard(link, &packet, reason);
        };
        match self.law.enqueue(packet, idle_since, now, &mut self.stream, &mut discard) {
            Verdict::Accept => {}
            Verdict::Mark => Line::mark(link, &mut packet, cx),
            Verdict::Drop(reason) => {
                cx.discard(link, &packet, reason);
                return;
            }
        }
        if idle_since.is_some() {
            self.line.busy_below(now);
        }
        self.line.waits(&packet, now);
        debug_assert_eq!(self.law.backlog(), self.line.backlog(), "a discipline lost a packet");
        let backlog = self.line.backlog();
        cx.observe(|| Observation::Enqueued { link, packet: &packet, backlog });
        self.serve(cx);
        // A packet that is served at once has not waited.
        self.line.note_longest();
        self.arm(cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == OUT {
            self.line.arrive(OUT, cx);
        } else {
            self.waking = false;
            self.serve(cx);
            self.arm(cx);
        }
    }

    fn settle(&mut self, cx: &mut Context<'_>) {
        self.line.settle(cx);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.line.gauges(&self.conditioning, tell);
        self.law.gauges(tell);
    }

    fn held(&self) -> u64 {
        self.line.slots.len() as u64 + u64::from(self.law.backlog().packets)
    }
}
