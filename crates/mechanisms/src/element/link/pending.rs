//! Conservative execution with lookahead: links that process pending packets from their input
//! channels.
//!
//! Packets come ahead of their arrival times from links that send ahead, or late from deferred
//! hosts, and are processed in batches in the order of time (Chandy and Misra, CACM 24 (1981)
//! 198-206; Fujimoto, *Parallel and Distributed Simulation Systems*, 2000).

use forebay_kernel::Forward;
use forebay_network::{Context, InputChannels, LookaheadContext, Packet, PassThrough};
use forebay_units::Time;

use super::transmitter::Transmitter;
use super::{FifoLink, OUT};

/// The smallest batch that is forwarded in one call: fewer packets are not worth the setup.
const MIN_BATCH: usize = 4;

impl FifoLink {
    /// Process the pending packets that have arrived by now, or whose predecessors are all known.
    #[inline]
    pub(super) fn process_pending(&mut self, cx: &mut Context<'_>) {
        let limit = if self.inputs_only { cx.safe_until() } else { cx.lbts() };
        if cx.inputs().next_at() > limit {
            return;
        }
        // While packets are processed, no timer is to be set for what becomes of them.
        let wake_time = std::mem::replace(&mut self.wake_time, Time::ZERO);
        let mut inputs = cx.take_inputs();
        while let Some(pass_through) = self.pass_through
            && inputs.waiting() >= MIN_BATCH
        {
            if self.bare_fast_path {
                self.forward_pass_through::<true>((limit, pass_through), &mut inputs, cx);
            } else {
                self.forward_pass_through::<false>((limit, pass_through), &mut inputs, cx);
            }
            let Some((packet, at)) = inputs.take(limit) else { break };
            self.process_arrival_outlined(packet, at, cx);
        }
        if self.bare_fast_path {
            self.transmit_all(limit, &mut inputs, cx);
        } else if self.to_sinks {
            self.process_before_sinks(limit, &mut inputs, cx);
        } else if self.policy_only {
            self.process_under_policy(limit, &mut inputs, cx);
        } else {
            self.process_all(limit, &mut inputs, cx);
        }
        cx.return_inputs(inputs);
        self.wake_time = wake_time;
    }

    /// Process the packets of `inputs` that arrive by `limit`.
    #[inline(never)]
    fn process_all(&mut self, limit: Time, inputs: &mut InputChannels, cx: &mut Context<'_>) {
        inputs.take_all(limit, |packet, at| self.process_arrival(packet, at, cx));
    }

    /// The same where most packets find the link idle. Small, so that the state that each packet
    /// needs stays in registers.
    #[inline(never)]
    fn transmit_all(&mut self, limit: Time, inputs: &mut InputChannels, cx: &mut Context<'_>) {
        let next_hop = self.next_hop;
        inputs.take_all(limit, |packet, at| {
            if self.transmitter.idle_since(at).is_some() {
                let out = self.transmit_now(packet, at);
                cx.send_ahead_to(next_hop, packet, out);
            } else {
                self.process_arrival_outlined(packet, at, cx);
            }
        });
    }

    /// On a link on the fast path, with one input channel and one next hop: forward in one call all
    /// packets that arrive by a limit.
    #[inline(never)]
    fn forward_pass_through<const UNCONDITIONED: bool>(
        &mut self,
        until: (Time, PassThrough),
        inputs: &mut InputChannels,
        cx: &mut Context<'_>,
    ) {
        cx.forward_all(inputs, until, |(packet, at), place, cx| {
            let at = *at;
            place.0 = *packet;
            if !UNCONDITIONED {
                let (conditioned, laws) = (&mut place.0, &mut self.conditioning);
                if !Transmitter::condition(self.transmitter.link, laws, conditioned, at, cx) {
                    return Forward::Drop;
                }
            }
            if self.transmitter.idle_since(at).is_some() {
                place.1 = self.transmit_now(&place.0, at);
                return Forward::Move;
            }
            self.admit_or_drop(place, at, cx)
        });
    }

    /// The packet in `place` found a link on the fast path busy at `at`: apply the drop policy.
    #[inline(never)]
    fn admit_or_drop(
        &mut self,
        place: &mut (Packet, Time),
        at: Time,
        cx: &mut Context<'_>,
    ) -> Forward {
        let Some((marks, idle)) = self.admit(&place.0, at, cx) else { return Forward::Drop };
        if marks {
            Transmitter::mark(self.transmitter.link, &mut place.0, cx);
        }
        place.1 = self.accept(&place.0, at, idle);
        Forward::Move
    }

    /// As [`forebay_network::Element::wake`], where packets come through input channels: the timer
    /// was set for the earliest time at which the first pending packet could reach the far end, or
    /// for a packet in flight.
    pub(super) fn wake_pending(&mut self, cx: &mut Context<'_>) {
        if self.timed_fast_path
            && self.transmitter.in_flight.is_empty()
            && self.forward_without_storing(cx)
        {
            self.arm_for_pending(cx);
            return;
        }
        self.process_pending(cx);
        if self.mode.sends_ahead() {
            cx.discount_event();
            self.arm_for_pending(cx);
            return;
        }
        let mut next = self.transmitter.in_flight.front().map(|entry| entry.out);
        if next == Some(cx.now()) {
            next = self.complete_hop(cx);
        } else {
            cx.discount_event();
        }
        if let Some(out) = next {
            // Pending packets reach the far end after it.
            cx.notify_before(Time::ZERO);
            self.wake_time = out;
            cx.wake_at(out, OUT);
        } else {
            self.arm_for_pending(cx);
        }
    }

    /// If the first pending packet found the link idle and reaches the far end now, hand it to the
    /// next element without storing it in between. Only where [`FifoLink::timed_fast_path`] holds
    /// and nothing is in flight. Returns whether it was handed over.
    #[inline(always)]
    fn forward_without_storing(&mut self, cx: &mut Context<'_>) -> bool {
        let mut inputs = cx.take_inputs();
        let now = cx.now();
        let passes = inputs.first().is_some_and(|(packet, at)| {
            self.transmitter.earliest_exit(packet, at) == now
                && self.transmitter.idle_since(at).is_some()
        });
        if passes && let Some((packet, at)) = inputs.take(now) {
            self.transmitter.transmit(packet, at);
            cx.cross(packet);
        }
        cx.return_inputs(inputs);
        passes
    }

    /// Set the timer for the first pending packet, unless an earlier one is set.
    pub(super) fn arm_for_pending(&mut self, cx: &mut Context<'_>) {
        let Some((packet, at)) = cx.inputs().first() else {
            cx.notify_before(Time::NEVER);
            return;
        };
        // If the packet could be dropped, a shorter one might leave before it would have.
        let next_time = if self.never_drops
            || (self.accepts_when_idle && self.transmitter.idle_since(at).is_some())
        {
            self.transmitter.earliest_exit(packet, at)
        } else {
            self.transmitter.exit_lower_bound(at)
        };
        let next_time = next_time + self.mode.slack;
        cx.notify_before(at);
        if next_time < self.wake_time {
            self.wake_time = next_time;
            cx.wake_at(next_time, OUT);
        }
    }
}
