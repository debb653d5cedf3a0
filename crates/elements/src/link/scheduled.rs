//! Links with a packet scheduler: the queue discipline chooses the next packet when the transmitter
//! becomes free.
//!
//! While packets wait, this costs a second event for each, at the end of each transmission. Where
//! no element needs to know at once what leaves ([`ExecutionMode::lazy`]), the choice is deferred
//! (lazy evaluation): until the next arrival, until counters are read, or at the latest until the
//! packet could have reached the far end. Nothing has arrived in between, so the choice is the
//! same.
//!
//! Such a link can receive packets over input channels, ahead of their arrival times or late from
//! deferred hosts, and then processes all that have arrived when the first could have reached the
//! far end: conservative execution with lookahead (Fujimoto, *Parallel and Distributed Simulation
//! Systems*, 2000). A link with a congestion detector cannot, as its notifications leave at once;
//! it can be deferred itself. One that shares a memory with others is executed event by event.
//!
//! A discipline that is not work-conserving may give no packet although some wait. The link then
//! asks again when the discipline says that it will have one, and after each arrival.

use forebay_kernel::Receive;
use forebay_network::{
    Context, Departures, Element, ExecutionMode, LogicalProcess, Lookahead, LookaheadContext,
    NextHop, Observation, OwnCount, Packet,
};
use forebay_units::{Span, Time};

use super::OUT;
use super::discipline::{Admission, Discipline};
use super::memory::Stated;
use super::transmitter::{Conditioning, Transmitter};
use crate::count_arrival;

/// Timer token: the transmitter is free and packets wait. On a deferred link: the first packet that
/// waits, or is pending, could have reached the far end.
const FREE: u32 = 1;

/// A link whose queue discipline chooses the next packet when the transmitter is free. `SHAPES`:
/// the discipline is not work-conserving; links of the other kind must not pay for it.
pub(super) struct ScheduledLink<const SHAPES: bool> {
    transmitter: Transmitter,
    stated: Stated,
    discipline: Discipline<SHAPES>,
    /// Expiry of the timer of [`FREE`] that is in force; [`Time::NEVER`] for none.
    wake_time: Time,
    mode: ExecutionMode,
    /// The single destination of what leaves, if packets are sent ahead and there is one.
    next_hop: Option<NextHop>,
    /// True if the choice of the next packet is deferred.
    deferred: bool,
    /// True if an idle link transmits every packet at once.
    fast_path: bool,
}

impl<const SHAPES: bool> ScheduledLink<SHAPES> {
    pub(super) fn new(
        transmitter: Transmitter,
        conditioning: Vec<Conditioning>,
        mut discipline: Discipline<SHAPES>,
    ) -> Self {
        if !transmitter.has_background() {
            discipline.serves_at_once();
        }
        Self {
            transmitter,
            stated: Stated::new(conditioning, discipline.share()),
            discipline,
            wake_time: Time::NEVER,
            mode: ExecutionMode::default(),
            next_hop: None,
            deferred: false,
            fast_path: false,
        }
    }

    /// Returns the time at which the next choice is due if packets wait and none arrives before.
    #[inline(always)]
    fn due(&self) -> Time {
        self.discipline.ready_at(self.transmitter.free_at)
    }

    /// The transmitter is free at `now`: transmit the next packet, if one may leave.
    #[inline(always)]
    fn serve(&mut self, now: Time, cx: &mut Context<'_>) {
        if let Some(packet) = self.discipline.next(now, &mut self.transmitter.queue, cx) {
            Self::transmit((&mut self.transmitter, &self.mode, self.next_hop), &packet, now, cx);
        }
    }

    /// Transmit `packet` from `now` on.
    #[inline(always)]
    fn transmit(
        (transmitter, mode, next_hop): (&mut Transmitter, &ExecutionMode, Option<NextHop>),
        packet: &Packet,
        now: Time,
        cx: &mut Context<'_>,
    ) {
        if mode.sends_ahead() {
            let out = transmitter.transmit_now(packet, now);
            cx.send_ahead_to(next_hop, packet, out);
            return;
        }
        let (alone, link) = (transmitter.in_flight.is_empty(), transmitter.link);
        let out = transmitter.schedule_tx(packet, now);
        cx.observe(|| Observation::Departs { link, packet, at: now });
        if alone && !mode.to_sinks() {
            cx.wake_at(out, OUT);
        }
    }

    /// Transmit `packet`, which found the link idle.
    #[inline(always)]
    fn transmit_now(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        count_arrival(self.transmitter.link, packet, cx);
        self.discipline.pass(packet, cx);
        Self::transmit((&mut self.transmitter, &self.mode, self.next_hop), packet, now, cx);
    }

    /// Catch up with the transmissions that have begun by `now`, each at the end of the one before.
    #[inline(always)]
    fn serve_deferred(&mut self, now: Time, cx: &mut Context<'_>) {
        while self.transmitter.backlog().packets > 0 && self.due() <= now {
            let due = self.due();
            cx.count_event();
            self.serve(due, cx);
        }
    }

    /// Set the timer if packets wait: for the end of the transmission, or on a deferred link for a
    /// time before the packet that follows could have reached the far end. An arrival may be sent
    /// before packets that are held back: then the timer must expire earlier.
    #[inline(always)]
    fn arm(&mut self, cx: &mut Context<'_>) {
        let unset = self.wake_time == Time::NEVER;
        if (unset || SHAPES) && self.transmitter.backlog().packets > 0 {
            let margin = match (self.deferred, self.mode.to_sinks()) {
                (true, true) => return,
                // A deferred link must still act in time for the elements behind it.
                (true, false) => self.transmitter.delay - self.mode.late,
                (false, _) => Span::ZERO,
            };
            let due = self.due();
            if SHAPES && (due == Time::NEVER || due + margin >= self.wake_time) {
                return;
            }
            self.wake_at(due + margin, cx);
        }
    }

    #[inline(never)]
    fn wake_at(&mut self, time: Time, cx: &mut Context<'_>) {
        self.wake_time = time;
        cx.wake_at(time, FREE);
    }

    /// `packet` arrives at `now`.
    #[inline(always)]
    fn process_arrival(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        if self.deferred {
            self.serve_deferred(now, cx);
        }
        if self.mode.to_sinks() {
            self.transmitter.release_to_sinks(now, cx);
        }
        if self.fast_path && self.transmitter.idle_since(now).is_some() {
            self.transmit_now(packet, now, cx);
        } else if self.stated.conditioning.is_empty() {
            self.accept(packet, now, cx);
        } else {
            let mut packet = *packet;
            if Transmitter::condition(
                self.transmitter.link,
                &mut self.stated.conditioning,
                &mut packet,
                now,
                cx,
            ) {
                self.accept(&packet, now, cx);
            }
        }
    }

    /// `packet` arrives at the queue at `now`.
    #[inline(always)]
    fn accept(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        count_arrival(self.transmitter.link, packet, cx);
        // On a deferred link this has been done.
        if !self.deferred && self.due() <= now && self.transmitter.backlog().packets > 0 {
            cx.count_event();
            self.serve(now, cx);
        }
        let idle_since = self.transmitter.idle_since(now);
        let arrival = (now, idle_since);
        match self.discipline.admit(packet, arrival, &mut self.transmitter.queue, cx) {
            Admission::Passes => {
                let link = (&mut self.transmitter, &self.mode, self.next_hop);
                Self::transmit(link, packet, now, cx);
                return;
            }
            Admission::Dropped => return,
            Admission::Waits => {}
        }
        if idle_since.is_some() {
            self.transmitter.occupied_by_background(now);
        }
        if self.transmitter.free_at <= now {
            self.serve(now, cx);
        }
        // A packet that is served at once has not waited.
        self.transmitter.update_max_queue();
    }

    /// Process the pending packets that have arrived by now, or whose predecessors are all known,
    /// and make the choices up to then.
    fn process_pending(&mut self, cx: &mut Context<'_>) {
        // Packets of deferred hosts are known up to this time only.
        let late = cx.lbts().since(Time::ZERO + self.mode.late);
        let known = cx.inputs().safe_until().min(cx.sync_time()).max(Time::ZERO + late);
        let timed = self.mode.departures == Departures::Timed;
        let limit = if timed { cx.lbts() } else { cx.safe_until() };
        if cx.inputs().next_at() <= limit {
            let mut inputs = cx.take_inputs();
            inputs.take_all(limit, &mut Arrivals { link: self, cx });
            cx.return_inputs(inputs);
        }
        self.serve_deferred(known.min(limit), cx);
    }

    /// Set the timer for the time at which the first packet that waits, or is pending, could have
    /// reached the far end, unless an earlier one is set.
    fn arm_for_pending(&mut self, cx: &mut Context<'_>) {
        let arrival = cx.inputs().first().map_or(Time::NEVER, |(_, at)| at);
        cx.notify_before(arrival);
        let waits = self.transmitter.backlog().packets > 0;
        let first = if waits { arrival.min(self.due()) } else { arrival };
        // A transmission takes some time, however short.
        let due = first + self.transmitter.delay + self.mode.slack + Span::from_ps(1);
        if first < Time::NEVER && due < self.wake_time {
            self.wake_at(due, cx);
        }
    }
}

/// Processes the packets of input channels.
struct Arrivals<'a, 'c, const SHAPES: bool> {
    link: &'a mut ScheduledLink<SHAPES>,
    cx: &'a mut Context<'c>,
}

impl<const SHAPES: bool> Receive<Packet> for Arrivals<'_, '_, SHAPES> {
    #[inline(always)]
    fn receive(&mut self, packet: &Packet, at: Time) {
        self.link.process_arrival(packet, at, self.cx);
    }

    fn pause(&mut self) {
        self.cx.pause();
    }
}

impl<const SHAPES: bool> LogicalProcess for ScheduledLink<SHAPES> {
    fn on_notify(&mut self, cx: &mut Context<'_>) {
        if !self.mode.takes_from_channels {
            return;
        }
        self.process_pending(cx);
        if self.mode.to_sinks() {
            cx.notify_in_batches();
        } else {
            self.arm_for_pending(cx);
        }
    }
}

impl<const SHAPES: bool> Element for ScheduledLink<SHAPES> {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.mode = cx.execution_mode();
        self.next_hop = cx.next_hop();
        // If packets are dropped from the queue, a deferred link would notify their sources too
        // late.
        let notifies_in_time = self.discipline.notifies_at_dequeue();
        let in_time = notifies_in_time || self.discipline.shares();
        self.deferred = (self.mode.lazy || self.mode.takes_from_channels) && !in_time;
        self.discipline.let_pass(!cx.is_observed() && !self.transmitter.has_background());
        let plain = self.stated.conditioning.is_empty() && !self.transmitter.has_background();
        self.fast_path = plain && self.discipline.is_transparent() && !cx.is_observed();
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead {
            accepts_ahead: !self.discipline.notifies() && !self.discipline.shares(),
            // Ports that share a memory act in one order of time.
            can_defer: !self.discipline.shares(),
            ..self.transmitter.lookahead()
        }
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        self.process_arrival(packet, cx.now(), cx);
        self.arm(cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == OUT {
            if let Some(next) = self.transmitter.deliver_first(cx) {
                cx.wake_at(next, OUT);
            }
            return;
        }
        // An earlier timer has been set since.
        let superseded = self.wake_time != cx.now();
        if self.deferred || SHAPES && superseded {
            cx.discount_event();
        }
        if superseded {
            return;
        }
        self.wake_time = Time::NEVER;
        if self.mode.takes_from_channels {
            self.process_pending(cx);
            self.arm_for_pending(cx);
            return;
        }
        if self.deferred {
            self.serve_deferred(cx.now(), cx);
        } else if self.due() <= cx.now() && self.transmitter.backlog().packets > 0 {
            self.serve(cx.now(), cx);
        } else {
            // What waited was served by an arrival, or has been dropped: no event of the model.
            cx.discount_event();
        }
        self.arm(cx);
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        let now = cx.now();
        if self.mode.takes_from_channels {
            self.process_pending(cx);
        }
        if self.deferred {
            self.serve_deferred(now, cx);
        }
        if self.mode.to_sinks() {
            self.transmitter.release_to_sinks(now, cx);
        }
        self.transmitter.sync_counters(false, cx);
        // Packets that were sent ahead are held by the element that they were sent to.
        let waiting = u64::from(self.transmitter.backlog().packets);
        let held = self.transmitter.in_flight.len() as u64 + waiting;
        let counters = self.discipline.class_counts(now);
        let state = self.stated.with(self.transmitter.backlog());
        OwnCount { held, counters, state: Some(state) }
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.transmitter.probes(&self.stated.conditioning, visit);
        self.discipline.probes(visit);
    }
}
