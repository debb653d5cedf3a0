//! Links: conditioners, then a queue, then a transmitter, then a length of wire.
//!
//! A packet that arrives at the very instant at which a transmission ends finds the transmitter
//! free: the departure comes first. In-flight packets wait inside the link; the agenda holds one
//! event a busy link, and a hop costs one event unless a discipline must choose.
//!
//! What leaves a link whose transmissions are booked ahead is known early. Where it goes to sinks,
//! or to links and hosts that get packets only from links of that kind, these are told at once, and
//! the hop costs no event: such a link meets its packets, all that have come by then, when it must
//! act on the first of them, which is not before one could have passed it, and all of which it
//! knows what comes before. In the same way it takes packets late from hosts that are run late, by
//! less than its propagation delay. Nobody can tell the difference: all that a packet meets, it
//! meets in the order and with the time of its arrival.

mod expected;
mod managed;
mod quiet;

use forebay_kernel::Stream;
use forebay_network::{
    Arrival, Context, Element, Lane, Observation, Onward, Packet, QueueManager, Standing, Verdict,
};
use forebay_units::{Rate, Span, Time};

pub use super::detecting::Detecting;
pub use super::line::Conditioning;
use super::line::Line;
use super::scheduled::ScheduledLink;
use crate::queue::{Manager, Queue};

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
    /// Congestion detection, with what its notifications look like.
    pub detecting: Option<Detecting>,
}

/// Traffic of lower priority, not simulated packet by packet: whoever finds the link idle waits for
/// the rest of a packet of it, a uniform part of its transmission time.
pub type Residual = (Span, Stream);

/// A link, in the form that suits its queue.
#[must_use]
pub fn link(parts: LinkParts) -> Box<dyn Element> {
    let LinkParts { link, rate, delay, conditioning, queue: (queue, stream), .. } = parts;
    let LinkParts { residual, detecting, .. } = parts;
    let line = Line::new(link, rate, delay, residual);
    // A detector must see each packet in its time: such a link does without early bookings.
    let queue = match &detecting {
        Some(_) => Queue::Discipline(queue.into_discipline()),
        None => queue,
    };
    let manager = match queue {
        Queue::Managed(law) => law,
        Queue::Discipline(law) => {
            return Box::new(ScheduledLink::new(line, conditioning, (law, stream), detecting));
        }
    };
    Box::new(FifoLink {
        line,
        conditioning,
        manager,
        stream,
        begun: 0,
        departure: Time::NEVER,
        standing: Standing::default(),
        ahead: false,
        onward: None,
        lane: None,
        alarm: Time::NEVER,
        sure: false,
        endless: false,
        swift: false,
        bare: false,
        managed: false,
        plain: false,
        quiet_tail: false,
    })
}

/// The token of a link's timer: a packet has reached the far end.
pub(super) const OUT: u32 = 0;

/// A link whose queue decides at arrival only: transmissions are booked ahead, departures are
/// noticed when somebody looks.
struct FifoLink {
    line: Line,
    conditioning: Vec<Conditioning>,
    manager: Manager,
    stream: Stream,
    /// How many of the line's slots have begun transmission.
    begun: usize,
    /// When the first that waits leaves the queue; [`Time::NEVER`] if none waits.
    departure: Time,
    standing: Standing,
    /// Whether it acts on nothing but the packets that it expects: then it meets those of which it
    /// knows all that comes before, be it ahead of their time.
    ahead: bool,
    /// Where whatever leaves goes, if it is told early and there is one place.
    onward: Option<Onward>,
    /// The same, for a swift link that one other alone tells of packets.
    lane: Option<Lane>,
    /// When the timer comes that matters; [`Time::NEVER`] for none.
    alarm: Time,
    /// Whether an idle link never drops a packet.
    sure: bool,
    /// Whether the link never does.
    endless: bool,
    /// Whether an idle link lets every packet that has passed the conditioners pass at once, and
    /// whoever follows is told early.
    swift: bool,
    /// The same, and there are no conditioners.
    bare: bool,
    /// Whether nothing but the queue decides over a packet, and whoever follows is told early.
    managed: bool,
    /// Whether there are no conditioners and every packet passes an idle link at once, but nobody
    /// is told early.
    plain: bool,
    /// Whether it leads to sinks alone, under tail drop.
    quiet_tail: bool,
}

impl FifoLink {
    /// Let the departures up to `now` happen.
    #[inline(always)]
    fn catch_up(&mut self, now: Time) {
        if self.departure <= now {
            self.depart(now);
        }
    }

    /// As [`FifoLink::catch_up`], if there is one at least. Apart, since there often is none.
    #[inline(never)]
    fn depart(&mut self, now: Time) {
        if !self.standing.early {
            self.depart_from_slots(now);
            return;
        }
        let Line { waiters, queue, last, .. } = &mut self.line;
        waiters.depart(now, &mut queue.backlog, |sent| {
            self.manager.departed(sent.packet, sent.start);
            *last = *sent;
        });
        self.departure = waiters.first_or_never().start;
    }

    /// The same where packets are kept until they have reached the far end.
    #[inline(never)]
    fn depart_from_slots(&mut self, now: Time) {
        let Line { slots, queue, .. } = &mut self.line;
        self.departure = loop {
            let Some(slot) = slots.get(self.begun) else { break Time::NEVER };
            if slot.start > now {
                break slot.start;
            }
            queue.remove(slot.packet.footprint(), slot.start);
            self.manager.departed(slot.packet.footprint(), slot.start);
            self.begun += 1;
        };
    }

    /// `packet` arrives at `at`: let conditioners and queue decide over it, and book what they let
    /// pass.
    #[inline(always)]
    fn meet(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        if self.standing.quiet {
            self.let_out(at, cx);
        }
        let mut coloured;
        let (link, mut packet) = (self.line.link, packet);
        if !self.conditioning.is_empty() {
            coloured = *packet;
            if !Line::colour(link, &mut self.conditioning, &mut coloured, at, cx) {
                return;
            }
            packet = &coloured;
        }
        if self.swift && self.line.idle_since(at).is_some() {
            let out = self.pass(packet, at);
            self.tell_of(packet, out, cx);
            return;
        }
        self.decide(packet, at, cx);
    }

    /// The same where it is rare, so that the rest stays small.
    #[inline(never)]
    fn meet_apart(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        self.meet(packet, at, cx);
    }

    /// Let the queue decide over `packet`, which has passed the conditioners, and book it.
    #[inline(always)]
    fn decide(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        let mut marked = None;
        let mut packet = packet;
        let Some((marks, idle)) = self.admit(packet, at, cx) else { return };
        if marks {
            let marked = marked.insert(*packet);
            Line::mark(self.line.link, marked, cx);
            packet = marked;
        }
        let out = self.take_in(packet, at, idle);
        self.tell_of(packet, out, cx);
    }

    /// Let the queue decide over `packet`, which has passed the conditioners. Whether it is to be
    /// marked, and whether it found the link idle; `None` if it is dropped.
    #[inline(always)]
    fn admit(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) -> Option<(bool, bool)> {
        self.catch_up(at);
        let (idle_since, backlog) = (self.line.idle_since(at), self.line.backlog());
        let arrival = Arrival { now: at, packet, backlog, idle_since };
        match self.manager.admit(&arrival, &mut self.stream) {
            Verdict::Accept => Some((false, idle_since.is_some())),
            Verdict::Mark => Some((true, idle_since.is_some())),
            Verdict::Drop(reason) => {
                cx.turn_away(self.line.link, packet, reason);
                None
            }
        }
    }

    /// Tell observers what the law has changed in itself.
    #[cold]
    fn tell_adjustments(&mut self, cx: &mut Context<'_>) {
        let link = self.line.link;
        self.manager.adjustments(&mut |adjustment| {
            cx.observe(|| Observation::Adjusted { link, adjustment });
        });
    }

    /// `packet`, which found a swift link idle at `at`, passes. Gives the time at which it reaches
    /// the far end.
    #[inline(always)]
    fn pass(&mut self, packet: &Packet, at: Time) -> Time {
        self.line.pass(packet, at)
    }

    /// Take `packet` into the queue at `at` and book its transmission. Gives the time at which it
    /// reaches the far end.
    #[inline(always)]
    fn take_in(&mut self, packet: &Packet, at: Time, idle: bool) -> Time {
        let line = &mut self.line;
        if !idle || line.busy_below(at) {
            let start = line.free_at;
            // Later than that of whoever waits already.
            self.departure = self.departure.min(start);
            if self.standing.early {
                let (sent, out) = line.join(packet, at);
                line.note_longest();
                line.waiters.push(sent);
                return out;
            }
            line.waits(packet, at);
            line.note_longest();
            return line.book(packet, start);
        }
        // It waits for no time: it is not counted as ever having waited.
        self.manager.departed(packet.footprint(), at);
        if self.standing.early {
            line.pass(packet, at)
        } else {
            self.begun += 1;
            line.book(packet, at)
        }
    }

    /// Tell whom it concerns of `packet`, which reaches the far end at `out`.
    #[inline(always)]
    fn tell_of(&mut self, packet: &Packet, out: Time, cx: &mut Context<'_>) {
        if self.standing.early {
            // Nobody observes.
            cx.announce(packet, out);
            return;
        }
        if self.alarm == Time::NEVER && !self.standing.quiet {
            self.alarm = out;
            cx.wake_at(out, OUT);
        }
        let (link, backlog) = (self.line.link, self.line.backlog());
        cx.observe(|| Observation::Enqueued { link, packet, backlog });
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

    /// The first packet on the wire has reached the far end. When the next does.
    #[inline(always)]
    fn cross(&mut self, cx: &mut Context<'_>) -> Option<Time> {
        if self.begun == 0
            && let Some(slot) = self.line.slots.front()
        {
            // No further: hosts that are run late may have sent since something that comes before
            // the next departure.
            self.catch_up(slot.start);
        }
        self.begun -= 1;
        self.line.arrive(cx)
    }
}

impl Element for FifoLink {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.standing = cx.standing();
        self.onward = cx.onward();
        self.quiet_tail = self.is_quiet_tail();
        self.ahead = self.standing.early || self.quiet_tail;
        let tail = matches!(self.manager, Manager::Tail(_));
        self.sure = tail && self.conditioning.is_empty();
        self.endless = matches!(&self.manager, Manager::Tail(law) if law.is_endless()) && self.sure;
        let idle = !self.line.has_residual();
        self.plain = self.sure && idle && !self.standing.early && !self.standing.quiet;
        self.swift = tail && idle && self.standing.early;
        self.bare = self.swift && self.sure;
        self.managed = self.standing.early && self.conditioning.is_empty() && !self.swift;
        self.lane = if self.swift { cx.lane() } else { None };
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if self.quiet_tail {
            self.receive_quietly(packet, cx);
            return;
        }
        self.meet_apart(packet, cx.now(), cx);
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

    fn rate(&self) -> Option<Rate> {
        Some(self.line.rate)
    }

    fn expects(&self) -> bool {
        true
    }

    fn told(&mut self, cx: &mut Context<'_>) {
        if !self.standing.expects {
            return;
        }
        if self.standing.quiet {
            self.meet_expected(cx);
            cx.listen_when_many();
            return;
        }
        if self.standing.early {
            self.meet_expected(cx);
        }
        self.arm_for_expected(cx);
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        if !self.standing.expects {
            self.alarm = self.cross(cx).unwrap_or(Time::NEVER);
            if self.alarm < Time::NEVER {
                cx.wake_at(self.alarm, OUT);
            }
        } else if self.alarm == cx.now() {
            self.alarm = Time::NEVER;
            self.wake_expecting(cx);
        } else {
            // Something came that passes before: an earlier timer took the place of this one.
            cx.uncount_event();
        }
    }

    fn settle(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.standing.expects {
            self.meet_expected(cx);
        }
        self.catch_up(now);
        if self.quiet_tail {
            self.settle_quietly(now, cx);
        } else if self.standing.quiet {
            self.let_out(now, cx);
        } else if self.standing.early {
            self.line.wait_until(now);
        }
        self.line.settle(true, cx);
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.line.gauges(&self.conditioning, tell);
        self.manager.gauges(tell);
    }

    /// What was announced is held by who expects it.
    fn held(&self) -> u64 {
        self.line.slots.len() as u64
    }
}
