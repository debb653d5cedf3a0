//! Links: conditioners, a queue, a transmitter and a propagation delay in series.
//!
//! At equal times a departure precedes an arrival: a packet that arrives at the instant at which a
//! transmission ends finds the transmitter free. Packets in flight are kept inside the link. The
//! event list holds one event for each busy link, and a hop costs one event unless a queue
//! discipline must choose the next packet.
//!
//! Execution is conservative, with lookahead (Chandy and Misra, CACM 24 (1981) 198-206; Fujimoto,
//! *Parallel and Distributed Simulation Systems*, 2000). Where transmissions are scheduled at
//! arrival, what leaves a link is known at least one propagation delay early. If it goes to sinks,
//! or to links and hosts whose packets all come from links of that kind, it is sent ahead over
//! their input channels and the hop costs no event. The receiving link processes its pending
//! packets in a batch: all that have arrived by the time at which it must act on the first of them,
//! which is not before that one could have reached the far end, and all whose predecessors are
//! known. In the same way it accepts packets late from deferred hosts, by less than its propagation
//! delay. Results do not depend on any of this: each packet is processed in the order and with the
//! time of its arrival.

mod notifier;
mod pending;
mod policy;
mod scheduled;
mod to_sinks;
pub(super) mod transmitter;
mod waiting;

use forebay_kernel::Stream;
use forebay_network::{
    Arrival, Context, DropPolicy, Element, ExecutionMode, LogicalProcess, Lookahead,
    LookaheadContext, NextHop, Observation, OwnCount, Packet, PassThrough, Verdict,
};
use forebay_units::{Rate, Span, Time};

use super::drop_arriving;
use crate::queue::{AnyDropPolicy, Queue};
pub use notifier::Notifier;
use scheduled::ScheduledLink;
pub use transmitter::Conditioning;
use transmitter::Transmitter;

/// The parts of a link.
pub struct LinkParts {
    /// The number of the link in the network.
    pub link: u32,
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Conditioners in the order in which packets pass them.
    pub conditioning: Vec<Conditioning>,
    /// The queue, and the random stream that it draws from.
    pub queue: (Queue, Stream),
    /// Background traffic: the transmission time of a packet of lower priority, with a random
    /// stream; `None` if there is none.
    pub background: Option<BackgroundTraffic>,
    /// Congestion detection, with the form of its notifications.
    pub notifier: Option<Notifier>,
}

/// Background traffic of lower priority that fills the link whenever it would be idle, not
/// simulated packet by packet: a packet that finds the link idle waits for the residual
/// transmission time of a background packet, which is uniform over its transmission time.
pub type BackgroundTraffic = (Span, Stream);

/// A link in the form that suits its queue.
#[must_use]
pub fn link(parts: LinkParts) -> Box<dyn Element> {
    let LinkParts { link, rate, delay, conditioning, queue: (queue, stream), .. } = parts;
    let LinkParts { background, notifier, .. } = parts;
    let transmitter = Transmitter::new(link, rate, delay, background);
    // A congestion detector must see each packet at the time of its arrival, so such a link does
    // not schedule transmissions at arrival.
    let queue = match &notifier {
        Some(_) => Queue::Disc(queue.into_discipline()),
        None => queue,
    };
    let policy = match queue {
        Queue::Fifo(law) => law,
        Queue::Disc(law) => {
            return Box::new(ScheduledLink::new(
                transmitter,
                conditioning,
                (law, stream),
                notifier,
            ));
        }
    };
    Box::new(FifoLink {
        transmitter,
        conditioning,
        policy,
        stream,
        begun: 0,
        next_departure: Time::NEVER,
        mode: ExecutionMode::default(),
        inputs_only: false,
        next_hop: None,
        pass_through: None,
        wake_time: Time::NEVER,
        accepts_when_idle: false,
        never_drops: false,
        fast_path: false,
        bare_fast_path: false,
        policy_only: false,
        timed_fast_path: false,
        to_sinks: false,
    })
}

/// Timer token: a packet has reached the far end.
pub(super) const OUT: u32 = 0;

/// A link whose queue decides at arrival only. Transmissions are scheduled at arrival; departures
/// from the queue are evaluated lazily, when the state of the queue is next needed.
struct FifoLink {
    transmitter: Transmitter,
    conditioning: Vec<Conditioning>,
    policy: AnyDropPolicy,
    stream: Stream,
    /// How many entries of [`Transmitter::in_flight`] have begun transmission.
    begun: usize,
    /// When the head of the queue departs; [`Time::NEVER`] if the queue is empty.
    next_departure: Time,
    mode: ExecutionMode,
    /// Whether the link acts on nothing but packets from its input channels. It then processes
    /// those whose predecessors are all known, even ahead of their arrival times.
    inputs_only: bool,
    /// The single destination of what leaves, if packets are sent ahead and there is one.
    next_hop: Option<NextHop>,
    /// The same for a link on the fast path that has one input channel only.
    pass_through: Option<PassThrough>,
    /// Expiry of the timer that is in force; [`Time::NEVER`] for none.
    wake_time: Time,
    /// Whether an idle link accepts every packet.
    accepts_when_idle: bool,
    /// Whether the link never drops a packet.
    never_drops: bool,
    /// Whether an idle link begins at once to transmit every packet that has passed the
    /// conditioners, and departures are sent ahead.
    fast_path: bool,
    /// The same without conditioners.
    bare_fast_path: bool,
    /// Whether the drop policy alone decides on a packet, and departures are sent ahead.
    policy_only: bool,
    /// Whether there are no conditioners and an idle link begins at once to transmit every packet,
    /// but departures are not sent ahead.
    timed_fast_path: bool,
    /// Whether the link leads to sinks only, under tail drop.
    to_sinks: bool,
}

impl FifoLink {
    /// Apply the departures from the queue up to `now`.
    #[inline(always)]
    fn catch_up(&mut self, now: Time) {
        if self.next_departure <= now {
            self.depart(now);
        }
    }

    /// As [`FifoLink::catch_up`], when at least one departure is due. Out of line, since often none
    /// is.
    #[inline(never)]
    fn depart(&mut self, now: Time) {
        if !self.mode.sends_ahead() {
            self.depart_in_flight(now);
            return;
        }
        let Transmitter { waiting, queue, last, .. } = &mut self.transmitter;
        waiting.depart(now, &mut queue.backlog, |scheduled| {
            self.policy.departed(scheduled.packet, scheduled.start);
            *last = *scheduled;
        });
        self.next_departure = waiting.head_or_never().start;
    }

    /// The same where packets are kept until they have reached the far end.
    #[inline(never)]
    fn depart_in_flight(&mut self, now: Time) {
        let Transmitter { in_flight, queue, .. } = &mut self.transmitter;
        self.next_departure = loop {
            let Some(entry) = in_flight.get(self.begun) else { break Time::NEVER };
            if entry.start > now {
                break entry.start;
            }
            queue.remove(entry.packet.queued_info(), entry.start);
            self.policy.departed(entry.packet.queued_info(), entry.start);
            self.begun += 1;
        };
    }

    /// `packet` arrives at `at`: apply the conditioners and the drop policy, and schedule the
    /// transmission of what they accept.
    #[inline(always)]
    fn process_arrival(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        if self.mode.to_sinks() {
            self.release_to_sinks(at, cx);
        }
        let mut conditioned;
        let (link, mut packet) = (self.transmitter.link, packet);
        if !self.conditioning.is_empty() {
            conditioned = *packet;
            if !Transmitter::condition(link, &mut self.conditioning, &mut conditioned, at, cx) {
                return;
            }
            packet = &conditioned;
        }
        if self.fast_path && self.transmitter.idle_since(at).is_some() {
            let out = self.transmit_now(packet, at);
            self.dispatch(packet, out, cx);
            return;
        }
        self.decide(packet, at, cx);
    }

    /// The same out of line, for callers that seldom need it, so that these stay small.
    #[inline(never)]
    fn process_arrival_outlined(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        self.process_arrival(packet, at, cx);
    }

    /// Apply the drop policy to `packet`, which has passed the conditioners, and schedule its
    /// transmission if it is accepted.
    #[inline(always)]
    fn decide(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        let mut marked = None;
        let mut packet = packet;
        let Some((marks, idle)) = self.admit(packet, at, cx) else { return };
        if marks {
            let marked = marked.insert(*packet);
            Transmitter::mark(self.transmitter.link, marked, cx);
            packet = marked;
        }
        let out = self.accept(packet, at, idle);
        self.dispatch(packet, out, cx);
    }

    /// Apply the drop policy to `packet`, which has passed the conditioners. Returns whether it is
    /// to be marked and whether it found the link idle; `None` if it is dropped.
    #[inline(always)]
    fn admit(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) -> Option<(bool, bool)> {
        self.catch_up(at);
        let (idle_since, backlog) = (self.transmitter.idle_since(at), self.transmitter.backlog());
        let arrival = Arrival { now: at, packet, backlog, idle_since };
        match self.policy.admit(&arrival, &mut self.stream) {
            Verdict::Accept => Some((false, idle_since.is_some())),
            Verdict::Mark => Some((true, idle_since.is_some())),
            Verdict::Drop(reason) => {
                drop_arriving(self.transmitter.link, packet, reason, cx);
                None
            }
        }
    }

    /// Report to observers what the drop policy has adjusted in itself.
    #[cold]
    fn observe_adjustments(&mut self, cx: &mut Context<'_>) {
        let link = self.transmitter.link;
        self.policy.adjustments(&mut |adjustment| {
            cx.observe(|| Observation::Adjusted { link, adjustment });
        });
    }

    /// Transmit `packet`, which found a link on the fast path idle at `at`. Returns the time at
    /// which it reaches the far end.
    #[inline(always)]
    fn transmit_now(&mut self, packet: &Packet, at: Time) -> Time {
        self.transmitter.transmit_now(packet, at)
    }

    /// Enqueue `packet` at `at` and schedule its transmission. Returns the time at which it reaches
    /// the far end.
    #[inline(always)]
    fn accept(&mut self, packet: &Packet, at: Time, idle: bool) -> Time {
        let transmitter = &mut self.transmitter;
        if !idle || transmitter.occupied_by_background(at) {
            let start = transmitter.free_at;
            // No earlier than the start of any packet already waiting.
            self.next_departure = self.next_departure.min(start);
            if self.mode.sends_ahead() {
                let (scheduled, out) = transmitter.enqueue_tx(packet, at);
                transmitter.note_longest();
                transmitter.waiting.push(scheduled);
                return out;
            }
            transmitter.waits(packet, at);
            transmitter.note_longest();
            return transmitter.schedule_tx(packet, start);
        }
        // It does not wait, so it is not counted as having been queued.
        self.policy.departed(packet.queued_info(), at);
        if self.mode.sends_ahead() {
            transmitter.transmit_now(packet, at)
        } else {
            self.begun += 1;
            transmitter.schedule_tx(packet, at)
        }
    }

    /// Pass on that `packet` reaches the far end at `out`: send it ahead, or set the timer for it.
    #[inline(always)]
    fn dispatch(&mut self, packet: &Packet, out: Time, cx: &mut Context<'_>) {
        if self.mode.sends_ahead() {
            // There are no observers in this mode.
            cx.send_ahead(packet, out);
            return;
        }
        if self.wake_time == Time::NEVER && !self.mode.to_sinks() {
            self.wake_time = out;
            cx.wake_at(out, OUT);
        }
        let (link, backlog) = (self.transmitter.link, self.transmitter.backlog());
        cx.observe(|| Observation::Enqueued { link, packet, backlog });
    }

    /// On a link to sinks: deliver the packets that have reached the far end by `now`.
    #[inline]
    fn release_to_sinks(&mut self, now: Time, cx: &mut Context<'_>) {
        while let Some(entry) = self.transmitter.in_flight.front()
            && entry.out <= now
        {
            cx.crossed_at(&entry.packet, entry.out);
            if self.begun == 0 {
                self.catch_up(now);
            }
            self.begun -= 1;
            self.transmitter.in_flight.pop_front();
        }
    }

    /// The first packet in flight has reached the far end. Returns when the next does.
    #[inline(always)]
    fn complete_hop(&mut self, cx: &mut Context<'_>) -> Option<Time> {
        if self.begun == 0
            && let Some(entry) = self.transmitter.in_flight.front()
        {
            // Not up to the present: deferred hosts may still deliver packets that arrived before
            // the next departure.
            self.catch_up(entry.start);
        }
        self.begun -= 1;
        self.transmitter.deliver_first(cx)
    }
}

impl LogicalProcess for FifoLink {
    fn on_notify(&mut self, cx: &mut Context<'_>) {
        if !self.mode.takes_from_channels {
            return;
        }
        if self.mode.to_sinks() {
            self.process_pending(cx);
            cx.notify_in_batches();
            return;
        }
        if self.mode.sends_ahead() {
            self.process_pending(cx);
        }
        self.arm_for_pending(cx);
    }
}

impl Element for FifoLink {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.mode = cx.execution_mode();
        self.next_hop = cx.next_hop();
        self.to_sinks = self.is_tail_drop_to_sinks();
        self.inputs_only = self.mode.sends_ahead() || self.to_sinks;
        let tail = matches!(self.policy, AnyDropPolicy::Tail(_));
        self.accepts_when_idle = tail && self.conditioning.is_empty();
        self.never_drops = matches!(&self.policy, AnyDropPolicy::Tail(law) if law.is_unlimited())
            && self.accepts_when_idle;
        let idle = !self.transmitter.has_background();
        self.timed_fast_path =
            self.accepts_when_idle && idle && !self.mode.sends_ahead() && !self.mode.to_sinks();
        self.fast_path = tail && idle && self.mode.sends_ahead();
        self.bare_fast_path = self.fast_path && self.accepts_when_idle;
        self.policy_only =
            self.mode.sends_ahead() && self.conditioning.is_empty() && !self.fast_path;
        self.pass_through = if self.fast_path { cx.pass_through() } else { None };
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead { accepts_ahead: true, can_defer: false, ..self.transmitter.lookahead() }
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if self.to_sinks {
            self.receive_to_sink(packet, cx);
            return;
        }
        self.process_arrival_outlined(packet, cx.now(), cx);
        // Where packets come through input channels instead, there are no observers.
        if cx.is_observed() {
            self.observe_adjustments(cx);
        }
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        if !self.mode.takes_from_channels {
            self.wake_time = self.complete_hop(cx).unwrap_or(Time::NEVER);
            if self.wake_time < Time::NEVER {
                cx.wake_at(self.wake_time, OUT);
            }
        } else if self.wake_time == cx.now() {
            self.wake_time = Time::NEVER;
            self.wake_pending(cx);
        } else {
            // An earlier timer, for a packet that leaves before, has replaced this one.
            cx.discount_event();
        }
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        let now = cx.now();
        if self.mode.takes_from_channels {
            self.process_pending(cx);
        }
        self.catch_up(now);
        if self.to_sinks {
            self.sync_to_sink(now, cx);
        } else if self.mode.to_sinks() {
            self.release_to_sinks(now, cx);
        } else if self.mode.sends_ahead() {
            self.transmitter.sync_wait(now);
        }
        self.transmitter.sync_counters(true, cx);
        // Packets that were sent ahead are held by the element that they were sent to.
        OwnCount::held(self.transmitter.in_flight.len() as u64)
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.transmitter.probes(&self.conditioning, visit);
        self.policy.probes(visit);
    }
}
