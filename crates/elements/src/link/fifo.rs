//! Links whose queue decides at arrival only: the element, and how it is executed.
//!
//! Packets come by events, or from input channels: ahead of their arrival times from links that
//! send ahead, or late from deferred hosts. Then they are processed in batches in the order of time
//! (Chandy and Misra, CACM 24 (1981) 198-206; Fujimoto, *Parallel and Distributed Simulation
//! Systems*, 2000).

use forebay_kernel::{Forward, Receive};
use forebay_laws::queue::AnyDropPolicy;
use forebay_network::{
    Context, Departures, Element, InputChannels, LogicalProcess, Lookahead, LookaheadContext,
    Observation, OwnCount, Packet, PassThrough,
};
use forebay_units::Time;

use super::OUT;
use super::queueing::{Admitted, FifoPolicy, Queueing, with_policy};
use super::transmitter::Transmitter;

/// The smallest batch that is forwarded in one call: fewer packets are not worth the setup.
const MIN_BATCH: usize = 4;

/// A link whose queue decides at arrival only.
pub(super) struct FifoLink {
    policy: AnyDropPolicy,
    queueing: Queueing,
    /// The path of all packets, on a link under tail drop with one input channel and one next hop.
    pass_through: Option<PassThrough>,
}

impl FifoLink {
    pub(super) fn new(policy: AnyDropPolicy, queueing: Queueing) -> Self {
        Self { policy, queueing, pass_through: None }
    }

    /// Process the pending packets that have arrived by now, or whose predecessors are all known.
    #[inline]
    fn process_pending(&mut self, cx: &mut Context<'_>) {
        // A link without timed departures acts on nothing but packets from its input channels.
        let timed = self.queueing.mode.departures == Departures::Timed;
        let limit = if timed { cx.lbts() } else { cx.safe_until() };
        if cx.inputs().next_at() > limit {
            return;
        }
        // While packets are processed, no timer is to be set for what becomes of them.
        let wake_time = std::mem::replace(&mut self.queueing.wake_time, Time::ZERO);
        let mut inputs = cx.take_inputs();
        self.release_to_sinks(cx.sync_time(), cx);
        let (queueing, pass_through) = (&mut self.queueing, self.pass_through);
        with_policy!(&mut self.policy, law => {
            if let Some(path) = pass_through {
                forward_in_place(queueing, law, &mut inputs, (limit, path), cx);
            }
            process_all(queueing, law, &mut inputs, limit, cx);
        });
        cx.return_inputs(inputs);
        self.queueing.wake_time = wake_time;
    }

    /// As [`Element::wake`], where packets come through input channels: the timer was set for the
    /// earliest time at which the first pending packet could reach the far end, or for a packet in
    /// flight.
    fn wake_pending(&mut self, cx: &mut Context<'_>) {
        self.process_pending(cx);
        if self.queueing.mode.departures != Departures::Timed {
            cx.discount_event();
            self.arm_for_pending(cx);
            return;
        }
        let transmitter = &mut self.queueing.transmitter;
        let mut next = transmitter.in_flight.front().map(|entry| entry.out);
        if next == Some(cx.now()) {
            next = transmitter.deliver_first(cx);
        } else {
            cx.discount_event();
        }
        if let Some(out) = next {
            // Pending packets reach the far end after it.
            cx.notify_before(Time::ZERO);
            self.queueing.wake_time = out;
            cx.wake_at(out, OUT);
        } else {
            self.arm_for_pending(cx);
        }
    }

    /// Set the timer for the first pending packet, unless an earlier one is set.
    fn arm_for_pending(&mut self, cx: &mut Context<'_>) {
        let Some((packet, at)) = cx.inputs().first() else {
            cx.notify_before(Time::NEVER);
            return;
        };
        let transmitter = &mut self.queueing.transmitter;
        // If the packet could be dropped, a shorter one might leave before it would have.
        let accepts = self.queueing.conditioning.is_empty()
            && match &self.policy {
                AnyDropPolicy::Tail(law) => law.is_unlimited() || transmitter.is_idle(at),
                AnyDropPolicy::Law(_) => false,
            };
        let earliest = if accepts {
            transmitter.earliest_exit(packet, at)
        } else {
            transmitter.exit_lower_bound(at)
        };
        let due = earliest + self.queueing.mode.slack;
        cx.notify_before(at);
        if due < self.queueing.wake_time {
            self.queueing.wake_time = due;
            cx.wake_at(due, OUT);
        }
    }

    /// On a link to sinks: count the packets that have reached the far end by `now`.
    #[inline]
    fn release_to_sinks(&mut self, now: Time, cx: &mut Context<'_>) {
        if self.queueing.mode.departures == Departures::ToSinks {
            self.queueing.transmitter.release_to_sinks(now, cx);
        }
    }

    /// Report the notes of the drop policy to observers.
    #[cold]
    fn observe_notes(&mut self, cx: &mut Context<'_>) {
        let link = self.queueing.transmitter.link;
        if let AnyDropPolicy::Law(law) = &mut self.policy {
            law.notes(&mut |note| cx.observe(|| Observation::Noted { link, note }));
        }
    }
}

/// Process the packets of `inputs` that arrive by `limit`.
#[inline(never)]
fn process_all<L: FifoPolicy + ?Sized>(
    queueing: &mut Queueing,
    law: &mut L,
    inputs: &mut InputChannels,
    limit: Time,
    cx: &mut Context<'_>,
) {
    if queueing.mode.departures == Departures::Timed {
        // Woken for each packet, the link seldom finds more than one: a merge would not pay.
        while let Some((packet, at)) = inputs.take(limit) {
            queueing.arrive(law, packet, at, cx);
        }
        return;
    }
    inputs.take_all(limit, &mut Arrivals { queueing, law, cx });
}

/// Processes the packets of input channels.
struct Arrivals<'a, 'c, L: ?Sized> {
    queueing: &'a mut Queueing,
    law: &'a mut L,
    cx: &'a mut Context<'c>,
}

impl<L: FifoPolicy + ?Sized> Receive<Packet> for Arrivals<'_, '_, L> {
    #[inline(always)]
    fn receive(&mut self, packet: &Packet, at: Time) {
        self.queueing.arrive(self.law, packet, at, self.cx);
    }

    fn pause(&mut self) {
        self.cx.pause();
    }
}

/// The same from ring buffer to ring buffer, as long as there are batches: all packets go from one
/// input channel into one channel of the next element.
fn forward_in_place<L: FifoPolicy + ?Sized>(
    queueing: &mut Queueing,
    law: &mut L,
    inputs: &mut InputChannels,
    until: (Time, PassThrough),
    cx: &mut Context<'_>,
) {
    while inputs.waiting() >= MIN_BATCH {
        cx.forward_all(inputs, until, |(packet, at), place, cx| {
            let at = *at;
            place.0 = *packet;
            if !queueing.condition(&mut place.0, at, cx) {
                return Forward::Drop;
            }
            let Some(Admitted { marked, out }) = queueing.admit(law, &place.0, at, cx) else {
                return Forward::Drop;
            };
            if marked {
                Transmitter::mark(queueing.transmitter.link, &mut place.0, cx);
            }
            place.1 = out;
            Forward::Move
        });
        // The channel of the next element is full: it is notified by the next packet.
        let Some((packet, at)) = inputs.take(until.0) else { break };
        queueing.arrive(law, packet, at, cx);
    }
}

impl LogicalProcess for FifoLink {
    fn on_notify(&mut self, cx: &mut Context<'_>) {
        if !self.queueing.mode.takes_from_channels {
            return;
        }
        if self.queueing.mode.departures != Departures::Timed {
            self.process_pending(cx);
        }
        if self.queueing.mode.departures == Departures::ToSinks {
            cx.notify_in_batches();
        } else {
            self.arm_for_pending(cx);
        }
    }
}

impl Element for FifoLink {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.queueing.mode = cx.execution_mode();
        self.queueing.next_hop = cx.next_hop();
        let tail = match &self.policy {
            AnyDropPolicy::Tail(_) => true,
            AnyDropPolicy::Law(law) => {
                self.queueing.transparent = law.is_transparent();
                false
            }
        };
        self.pass_through = if tail { cx.pass_through() } else { None };
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead { accepts_ahead: true, ..self.queueing.transmitter.lookahead() }
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        self.release_to_sinks(cx.sync_time(), cx);
        let now = cx.now();
        with_policy!(&mut self.policy, law => self.queueing.arrive(law, packet, now, cx));
        // Where packets come through input channels instead, there are no observers.
        if cx.is_observed() {
            self.observe_notes(cx);
        }
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let queueing = &mut self.queueing;
        if !queueing.mode.takes_from_channels {
            queueing.wake_time = queueing.transmitter.deliver_first(cx).unwrap_or(Time::NEVER);
            if queueing.wake_time < Time::NEVER {
                cx.wake_at(queueing.wake_time, OUT);
            }
        } else if queueing.wake_time == cx.now() {
            queueing.wake_time = Time::NEVER;
            self.wake_pending(cx);
        } else {
            // An earlier timer, for a packet that leaves before, has replaced this one.
            cx.discount_event();
        }
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        let now = cx.now();
        if self.queueing.mode.takes_from_channels {
            self.process_pending(cx);
        }
        self.release_to_sinks(now, cx);
        let transmitter = &mut self.queueing.transmitter;
        with_policy!(&mut self.policy, law => Queueing::depart(law, transmitter, now));
        transmitter.sync_wait(now);
        transmitter.sync_counters(true, cx);
        // Packets that were sent ahead are held by the element that they were sent to.
        let held = transmitter.in_flight.len() as u64;
        OwnCount::held(held).with_state(&self.queueing.conditioning)
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.queueing.transmitter.probes(&self.queueing.conditioning, visit);
        if let AnyDropPolicy::Law(law) = &self.policy {
            law.probes(visit);
        }
    }
}
