//! Links: conditioners, then a queue, then a transmitter, then a length of wire.
//!
//! A packet that arrives at the very instant at which a transmission ends finds the transmitter
//! free: the departure comes first. In-flight packets wait inside the link; the agenda holds one
//! event a busy link, and a hop costs one event unless a discipline must choose.
//!
//! What leaves a link whose transmissions are booked ahead is known early. Where it goes to sinks,
//! or to links that get packets from nowhere else, these are told at once, and the hop costs no
//! event: such a link meets its packets when it must act on the first of them, which is not before
//! the first could have passed it. Nobody can tell the difference: all that a packet meets, it
//! meets in the order and with the time of its arrival.

use forebay_kernel::{Ring, Stream};
use forebay_network::{
    Arrival, Context, Departure, Element, Observation, Packet, QueueDiscipline, QueueManager,
    Standing, Verdict,
};
use forebay_units::{Rate, Span, Time};

pub use super::line::Conditioning;
use super::line::{Line, Slot};
use crate::queue::{DropTail, Queue};

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
    let manager = match queue {
        Queue::Tail(law) => Manager::Tail(law),
        Queue::Managed(law) => Manager::Law(law),
        Queue::Discipline(law) => {
            let standing = Standing::default();
            return Box::new(ScheduledLink {
                line,
                conditioning,
                law,
                stream,
                waking: false,
                standing,
            });
        }
    };
    Box::new(FifoLink {
        line,
        conditioning,
        manager,
        stream,
        begun: 0,
        standing: Standing::default(),
        expected: Ring::default(),
        armed: false,
        plain: false,
    })
}

/// A packet has reached the far end.
const OUT: u32 = 0;
/// The transmitter is free and packets wait.
const FREE: u32 = 1;

/// Who decides over arrivals.
enum Manager {
    Tail(DropTail),
    Law(Box<dyn QueueManager>),
}

impl Manager {
    #[inline(always)]
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        match self {
            Self::Tail(law) => law.admit(arrival, stream),
            Self::Law(law) => law.admit(arrival, stream),
        }
    }

    #[inline(always)]
    fn departed(&mut self, packet: &Packet, at: Time) {
        if let Self::Law(law) = self {
            law.departed(packet, at);
        }
    }
}

/// A link whose queue decides at arrival only: transmissions are booked ahead, departures are
/// noticed when somebody looks.
struct FifoLink {
    line: Line,
    conditioning: Vec<Conditioning>,
    manager: Manager,
    stream: Stream,
    /// How many of the line's slots have begun transmission.
    begun: usize,
    standing: Standing,
    /// Packets announced that have not been met yet, with the times of their arrival.
    expected: Ring<(Packet, Time)>,
    /// Whether a timer is set.
    armed: bool,
    /// Whether an idle link lets every packet pass at once, and nobody is told early.
    plain: bool,
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
            let slot = *slot;
            self.line.waits_no_more(&slot.packet, slot.start);
            self.manager.departed(&slot.packet, slot.start);
            if self.standing.early {
                self.line.last = Some(slot);
                self.line.slots.pop_front();
            } else {
                self.begun += 1;
            }
        }
    }

    /// `packet` arrives at `at`: let conditioners and queue decide over it.
    #[inline(always)]
    fn meet(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        if self.conditioning.is_empty() {
            self.decide(packet, at, cx);
            return;
        }
        let mut packet = *packet;
        if Line::colour(self.line.link, &mut self.conditioning, &mut packet, at, cx) {
            self.decide(&packet, at, cx);
        }
    }

    /// Tell observers what the law has changed in itself.
    #[cold]
    fn tell_adjustments(&mut self, cx: &mut Context<'_>) {
        let link = self.line.link;
        if let Manager::Law(law) = &mut self.manager {
            law.adjustments(&mut |adjustment| {
                cx.observe(|| Observation::Adjusted { link, adjustment });
            });
        }
    }

    /// Let the queue's law decide over a packet that has passed the conditioners.
    #[inline(always)]
    fn decide(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        self.catch_up(at);
        let idle_since = self.line.idle_since(at);
        let backlog = self.line.backlog();
        let arrival = Arrival { now: at, packet, backlog, idle_since };
        let mut marked;
        let packet = match self.manager.admit(&arrival, &mut self.stream) {
            Verdict::Accept => packet,
            Verdict::Mark => {
                marked = *packet;
                Line::mark(self.line.link, &mut marked, cx);
                &marked
            }
            Verdict::Drop(reason) => {
                Line::count_arrival(self.line.link, packet, cx);
                cx.discard(self.line.link, packet, reason);
                return;
            }
        };
        self.take_in(packet, at, idle_since.is_some(), cx);
    }

    /// Take `packet` into the queue at `at` and book its transmission.
    #[inline(always)]
    fn take_in(&mut self, packet: &Packet, at: Time, idle: bool, cx: &mut Context<'_>) {
        let (link, line) = (self.line.link, &mut self.line);
        let out = if idle && !line.busy_below(at) {
            // It waits for no time: it is not counted as ever having waited.
            self.manager.departed(packet, at);
            if self.standing.early {
                let out = line.transmit(packet, at);
                line.last = Some(Slot { packet: *packet, start: at, out });
                out
            } else {
                self.begun += 1;
                line.book(packet, at)
            }
        } else {
            line.waits(packet, at);
            line.note_longest();
            line.book(packet, line.free_at)
        };
        if self.standing.early {
            cx.announce(packet, out);
        } else if !self.armed && !self.standing.quiet {
            self.armed = true;
            cx.wake_at(out, OUT);
        }
        let backlog = line.backlog();
        cx.observe(|| Observation::Enqueued { link, packet, backlog });
    }

    /// Meet the packets expected that have arrived by now.
    #[inline]
    fn meet_expected(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        while let Some((packet, at)) = self.expected.front().copied()
            && at <= now
        {
            self.expected.pop_front();
            if self.standing.quiet {
                self.let_out(at, cx);
            }
            cx.arrived_at(&packet, at);
            self.meet(&packet, at, cx);
        }
    }

    /// If sinks follow: let the packets go that have reached the far end by `now`.
    #[inline]
    fn let_out(&mut self, now: Time, cx: &mut Context<'_>) {
        while let Some(slot) = self.line.slots.front()
            && slot.out <= now
        {
            cx.crossed_at(&slot.packet, slot.out);
            if self.begun == 0 {
                self.catch_up(now);
            }
            self.begun -= 1;
            self.line.slots.pop_front();
        }
    }

    /// The first packet on the wire has reached the far end.
    #[inline(always)]
    fn cross(&mut self, cx: &mut Context<'_>) -> Option<Time> {
        if self.begun == 0 {
            self.catch_up(cx.now());
        }
        self.begun -= 1;
        self.line.arrive(cx)
    }

    /// As [`Element::wake`], where packets are expected: the timer was set for the soonest time at
    /// which the first could have passed, or for one that has.
    fn wake_expecting(&mut self, cx: &mut Context<'_>) {
        if self.plain && self.line.slots.is_empty() && self.pass_through(cx) {
            self.armed = false;
            self.arm_for_expected(cx);
            return;
        }
        // While packets are met no further timer is wanted: it is set below.
        self.armed = true;
        self.meet_expected(cx);
        let mut next = None;
        if self.standing.early {
            cx.uncount_event();
        } else {
            next = self.line.slots.front().map(|slot| slot.out);
            if next == Some(cx.now()) {
                next = self.cross(cx);
            } else {
                cx.uncount_event();
            }
        }
        self.armed = false;
        if let Some(out) = next {
            self.armed = true;
            cx.wake_at(out, OUT);
        } else {
            self.arm_for_expected(cx);
        }
    }

    /// If the first packet expected found the link idle and reaches the far end now, it goes on and
    /// is nowhere kept in between. Only for plain links, whose wire is empty.
    #[inline(always)]
    fn pass_through(&mut self, cx: &mut Context<'_>) -> bool {
        let Some((packet, at)) = self.expected.front() else { return false };
        if self.line.idle_since(*at).is_none() {
            return false;
        }
        let out = self.line.transmit(packet, *at);
        debug_assert_eq!(out, cx.now(), "the timer was set for the first packet expected");
        cx.arrived_at(packet, *at);
        cx.cross(packet);
        self.expected.pop_front();
        true
    }

    /// Set the timer for the first packet expected, unless it is set or nobody needs it.
    fn arm_for_expected(&mut self, cx: &mut Context<'_>) {
        if let Some((packet, at)) = self.expected.front()
            && !self.armed
            && !self.standing.quiet
        {
            self.armed = true;
            cx.wake_at(self.line.soonest(packet, *at), OUT);
        }
    }
}

impl Element for FifoLink {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.standing = cx.standing();
        self.plain = matches!(self.manager, Manager::Tail(_))
            && self.conditioning.is_empty()
            && !self.line.has_residual()
            && !self.standing.early
            && !self.standing.quiet;
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.standing.quiet {
            self.let_out(now, cx);
        }
        self.meet(packet, now, cx);
        // Where packets are expected instead, nobody observes.
        if cx.is_observed() {
            self.tell_adjustments(cx);
        }
    }

    fn books(&self) -> bool {
        true
    }

    fn ahead(&self) -> Span {
        self.line.delay
    }

    fn expects(&self) -> bool {
        true
    }

    fn expect(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        self.expected.push_back((*packet, at));
        if self.standing.quiet {
            self.meet_expected(cx);
        } else {
            self.arm_for_expected(cx);
        }
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        if self.standing.expects {
            self.wake_expecting(cx);
            return;
        }
        let next = self.cross(cx);
        self.armed = next.is_some();
        if let Some(out) = next {
            cx.wake_at(out, OUT);
        }
    }

    fn settle(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        let armed = std::mem::replace(&mut self.armed, true);
        self.meet_expected(cx);
        self.armed = armed;
        self.catch_up(now);
        if self.standing.quiet {
            self.let_out(now, cx);
        }
        self.line.settle(true, cx);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.line.gauges(&self.conditioning, tell);
        if let Manager::Law(law) = &self.manager {
            law.gauges(tell);
        }
    }

    /// What was announced is held by who expects it.
    fn held(&self) -> u64 {
        let own = if self.standing.early { 0 } else { self.line.slots.len() };
        (own + self.expected.len()) as u64
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
    standing: Standing,
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
        let Some(Departure { mut packet, marked }) = next else { return };
        self.line.waits_no_more(&packet, now);
        if marked {
            Line::mark(link, &mut packet, cx);
        }
        if self.standing.early {
            let out = self.line.transmit(&packet, now);
            self.line.last = Some(Slot { packet, start: now, out });
            cx.announce(&packet, out);
            return;
        }
        let alone = self.line.slots.is_empty();
        let out = self.line.book(&packet, now);
        if alone && !self.standing.quiet {
            cx.wake_at(out, OUT);
        }
    }

    /// If sinks follow: let the packets go that have reached the far end by now.
    fn let_out(&mut self, cx: &mut Context<'_>) {
        if !self.standing.quiet {
            return;
        }
        while let Some(slot) = self.line.slots.front()
            && slot.out <= cx.now()
        {
            cx.crossed_at(&slot.packet, slot.out);
            self.line.slots.pop_front();
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
    fn start(&mut self, cx: &mut Context<'_>) {
        self.standing = cx.standing();
    }

    fn books(&self) -> bool {
        true
    }

    fn ahead(&self) -> Span {
        self.line.delay
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        self.let_out(cx);
        let mut packet = *packet;
        if !Line::colour(self.line.link, &mut self.conditioning, &mut packet, now, cx) {
            return;
        }
        Line::count_arrival(self.line.link, &packet, cx);
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
        let verdict = self.law.enqueue(packet, idle_since, now, &mut self.stream, &mut discard);
        if cx.is_observed() {
            self.law.adjustments(&mut |adjustment| {
                cx.observe(|| Observation::Adjusted { link, adjustment });
            });
        }
        match verdict {
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
            if let Some(next) = self.line.arrive(cx) {
                cx.wake_at(next, OUT);
            }
        } else {
            self.waking = false;
            self.serve(cx);
            self.arm(cx);
        }
    }

    fn settle(&mut self, cx: &mut Context<'_>) {
        self.let_out(cx);
        self.line.settle(false, cx);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.line.gauges(&self.conditioning, tell);
        self.law.gauges(tell);
    }

    fn held(&self) -> u64 {
        self.line.slots.len() as u64 + u64::from(self.law.backlog().packets)
    }
}
