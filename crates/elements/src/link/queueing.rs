//! Path of a packet through a FIFO link, from its arrival to its scheduled transmission: the
//! conditioners, the decision of the drop policy (RFC 7567), and Lindley's recursion (Proc.
//! Cambridge Philos. Soc. 48 (1952) 277-289).
//!
//! Because nothing is decided later, the start of each transmission is known at arrival. So the
//! queue is a list of scheduled transmissions, and departures from it are evaluated when its state
//! is next needed: at the next arrival, and before counters and probes are read.

use forebay_kernel::Stream;
use forebay_laws::queue::DropTail;
use forebay_network::{
    Arrival, Context, Departures, DropPolicy, ExecutionMode, LookaheadContext, NextHop,
    Observation, Packet, Verdict,
};
use forebay_units::Time;

use super::OUT;
use super::transmitter::{Conditioning, InFlight, Transmitter};
use crate::drop_arriving;

/// A drop policy as a link calls it: monomorphised for tail drop, the policy of most links.
pub(super) trait FifoPolicy: DropPolicy {
    /// [`DropPolicy::is_transparent`], where it is known when the link is compiled; `false` where
    /// asking each time would cost a call.
    #[inline(always)]
    fn is_known_transparent(&self) -> bool {
        false
    }
}

impl FifoPolicy for DropTail {
    #[inline(always)]
    fn is_known_transparent(&self) -> bool {
        self.is_transparent()
    }
}

impl FifoPolicy for dyn DropPolicy {}

/// Evaluate `$body` with `$law` as the drop policy of `$policy`, whichever it is.
macro_rules! with_policy {
    ($policy:expr, $law:ident => $body:expr) => {
        match $policy {
            AnyDropPolicy::Tail($law) => $body,
            AnyDropPolicy::Law($law) => {
                let $law = $law.as_mut();
                $body
            }
        }
    };
}
pub(super) use with_policy;

/// A FIFO link apart from its drop policy.
pub(super) struct Queueing {
    pub(super) transmitter: Transmitter,
    pub(super) conditioning: Vec<Conditioning>,
    /// Random stream from which the drop policy draws.
    stream: Stream,
    /// Mode of execution of the link; known when the run begins.
    pub(super) mode: ExecutionMode,
    /// The single destination of what leaves, if packets are sent ahead and there is one.
    pub(super) next_hop: Option<NextHop>,
    /// Expiry of the timer that is in force; [`Time::NEVER`] for none.
    pub(super) wake_time: Time,
    /// True if the policy, which is no tail drop, lets every packet pass that finds the link idle.
    pub(super) transparent: bool,
}

impl Queueing {
    pub(super) fn new(
        transmitter: Transmitter,
        conditioning: Vec<Conditioning>,
        stream: Stream,
    ) -> Self {
        Self {
            transmitter,
            conditioning,
            stream,
            mode: ExecutionMode::default(),
            next_hop: None,
            wake_time: Time::NEVER,
            transparent: false,
        }
    }

    /// `packet` arrives at `at`: apply the conditioners and the drop policy, schedule the
    /// transmission of what they accept, and see to it that it gets to the next element.
    #[inline(always)]
    pub(super) fn arrive<L: FifoPolicy + ?Sized>(
        &mut self,
        law: &mut L,
        packet: &Packet,
        at: Time,
        cx: &mut Context<'_>,
    ) {
        let mut conditioned;
        let mut packet = packet;
        if !self.conditioning.is_empty() {
            conditioned = *packet;
            if !self.condition(&mut conditioned, at, cx) {
                return;
            }
            packet = &conditioned;
        }
        let mut marked;
        let out = match self.admit(law, packet, at, cx) {
            Some(Admitted { marked: false, out }) => out,
            Some(Admitted { marked: true, out }) => {
                marked = *packet;
                Transmitter::mark(self.transmitter.link, &mut marked, cx);
                packet = &marked;
                out
            }
            None => return,
        };
        self.dispatch(packet, out, cx);
    }

    /// Apply the conditioners to `packet`. Returns false if one of them drops it.
    #[inline(always)]
    pub(super) fn condition(
        &mut self,
        packet: &mut Packet,
        at: Time,
        cx: &mut Context<'_>,
    ) -> bool {
        Transmitter::condition(self.transmitter.link, &mut self.conditioning, packet, at, cx)
    }

    /// Apply `law` to `packet`, which has passed the conditioners, and schedule its transmission;
    /// `None` if it is dropped.
    #[inline(always)]
    pub(super) fn admit<L: FifoPolicy + ?Sized>(
        &mut self,
        law: &mut L,
        packet: &Packet,
        at: Time,
        cx: &mut Context<'_>,
    ) -> Option<Admitted> {
        let transmitter = &mut self.transmitter;
        if (law.is_known_transparent() || self.transparent)
            && transmitter.is_idle(at)
            && !transmitter.has_background()
        {
            return Some(Admitted { marked: false, out: transmitter.transmit_now(packet, at) });
        }
        Self::depart(law, transmitter, at);
        let idle_since = transmitter.idle_since(at);
        let arrival = Arrival {
            now: at,
            packet,
            backlog: transmitter.backlog(),
            idle_since,
            empty_since: idle_since,
        };
        let marked = match law.admit(&arrival, &mut self.stream) {
            Verdict::Accept => false,
            Verdict::Mark => true,
            Verdict::Drop(reason) => {
                drop_arriving(transmitter.link, packet, reason, cx);
                return None;
            }
        };
        if idle_since.is_none() || transmitter.occupied_by_background(at) {
            return Some(Admitted { marked, out: transmitter.enqueue_tx(packet, at) });
        }
        // It does not wait, so it is not counted as having been queued.
        law.departed(packet.queued_info(), at);
        Some(Admitted { marked, out: transmitter.transmit_now(packet, at) })
    }

    /// Apply the departures from the queue up to `now`.
    #[inline(always)]
    pub(super) fn depart<L: FifoPolicy + ?Sized>(
        law: &mut L,
        transmitter: &mut Transmitter,
        now: Time,
    ) {
        let Transmitter { waiting, queue, last, .. } = transmitter;
        while let Some(scheduled) = waiting.pop_started(now) {
            queue.backlog.remove(scheduled.packet);
            law.departed(scheduled.packet, scheduled.start);
            *last = scheduled;
        }
    }

    /// `packet` reaches the far end at `out`: send it ahead, count it at the sink, or keep it until
    /// then.
    #[inline(always)]
    fn dispatch(&mut self, packet: &Packet, out: Time, cx: &mut Context<'_>) {
        match self.mode.departures {
            Departures::Ahead => {
                cx.send_ahead_to(self.next_hop, packet, out);
                return;
            }
            // Nothing is read before that time, and all packets before it have been counted.
            Departures::ToSinks if out <= cx.sync_time() => {
                cx.crossed_at(packet, out);
                return;
            }
            Departures::ToSinks => {}
            // The packet was taken from a channel when it could leave: it need not be stored.
            Departures::Timed if out == cx.now() && self.transmitter.in_flight.is_empty() => {
                cx.count_event();
                cx.cross(packet);
                return;
            }
            Departures::Timed if self.wake_time == Time::NEVER => {
                self.wake_time = out;
                cx.wake_at(out, OUT);
            }
            Departures::Timed => {}
        }
        self.transmitter.in_flight.push_back(InFlight { packet: *packet, out });
        let (link, backlog) = (self.transmitter.link, self.transmitter.backlog());
        cx.observe(|| Observation::Enqueued { link, packet, backlog });
        if cx.is_observed() {
            let at = self.transmitter.start_of(packet, out);
            cx.observe(|| Observation::Departs { link, packet, at });
        }
    }
}

/// A packet that the drop policy has accepted.
pub(super) struct Admitted {
    /// True if it is to be marked.
    pub(super) marked: bool,
    /// Time at which it reaches the far end.
    pub(super) out: Time,
}
