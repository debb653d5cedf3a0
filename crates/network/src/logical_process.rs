//! How an element with lookahead acts: the part of the contract between elements and the engine by
//! which packets are handled ahead of events, or after them, with the same results.
//!
//! An element need not know any of this; links and large groups of hosts do, for speed. The terms
//! are those of R. M. Fujimoto, *Parallel and Distributed Simulation Systems*, 2000.

use forebay_kernel::Forward;
use forebay_units::Time;

use crate::routes::{NO_CHANNEL, NextHop, PassThrough};
use crate::{Context, Counters, ExecutionMode, InputChannels, Packet};

/// What an element with lookahead does besides [`crate::Element`]; one without says
/// `impl LogicalProcess for Mine {}`.
pub trait LogicalProcess {
    /// A packet in its [input channels](LookaheadContext::inputs) that it
    /// [asked to be notified of](LookaheadContext::notify_before) was sent ahead to it, or they hold
    /// [many](LookaheadContext::notify_in_batches); or what follows needs all that has left by now.
    fn on_notify(&mut self, _cx: &mut Context<'_>) {}

    /// The timer with `token` is among the next to expire, in a network of very many flows:
    /// [fetch](forebay_kernel::fetch()) the data that will be needed then. Changes nothing.
    fn prefetch_timer(&self, _token: u32, _counters: &Counters) {}

    /// `packet` is among the next to be received, in a network of very many flows: as
    /// [`LogicalProcess::prefetch_timer`]. The engine fetches the counters of its flow.
    fn prefetch_packet(&self, _packet: &Packet) {}
}

/// What [`Context`] offers to elements with lookahead.
pub trait LookaheadContext {
    /// How this element is executed. Asked when the run begins.
    #[must_use]
    fn execution_mode(&self) -> ExecutionMode;

    /// The input channel that receives everything that leaves this element, if its packets are sent
    /// ahead and all go by one channel. Asked when the run begins.
    #[must_use]
    fn next_hop(&self) -> Option<NextHop>;

    /// The path for [`LookaheadContext::forward_all`], if all packets of this element come by one
    /// channel and leave by one channel. Asked when the run begins.
    #[must_use]
    fn pass_through(&mut self) -> Option<PassThrough>;

    /// Before which time no event concerns this element, given the timers set so far: for
    /// [`LookaheadContext::continue_at`]. Called from [`crate::Element::wake`].
    #[must_use]
    fn idle_until(&self) -> Time;

    /// Finish with the current time and continue at `time`. If `time` is before `free`, which
    /// [`LookaheadContext::idle_until`] gave, and no packet was handed on that must be received
    /// first, time advances in place and this returns true; else a timer with `token` is set as by
    /// [`Context::wake_at`]. To be called last in [`crate::Element::wake`].
    #[must_use]
    fn continue_at(&mut self, time: Time, token: u32, free: Time) -> bool;

    /// Send `packet` ahead: it reaches the far end of a link at `at`, and is put into the input
    /// channel of the next element now. Only if [`ExecutionMode::sends_ahead`], and in the order of
    /// time.
    fn send_ahead(&mut self, packet: &Packet, at: Time);

    /// As [`LookaheadContext::send_ahead`], with what [`LookaheadContext::next_hop`] gave, which
    /// saves the look-up of the next hop.
    fn send_ahead_to(&mut self, next_hop: Option<NextHop>, packet: &Packet, at: Time);

    /// `packet` reached the far end of a link, where a sink is, at `at`, which may be in the past.
    /// Only if [`ExecutionMode::to_sinks`], and in the order of time.
    fn crossed_at(&mut self, packet: &Packet, at: Time);

    /// The input channels of this element: the packets sent ahead to it.
    fn inputs(&mut self) -> &mut InputChannels;

    /// Move the input channels out of the context, so that packets can be read in place while they
    /// are processed.
    #[must_use]
    fn take_inputs(&mut self) -> InputChannels;

    /// Put the input channels back, and count what was taken from them as having crossed the
    /// upstream link.
    fn return_inputs(&mut self, inputs: InputChannels);

    /// Forward the packets of `inputs`, taken by [`LookaheadContext::take_inputs`] and a single
    /// channel, that arrive by `limit` to the given channel of the next receiver in one pass:
    /// `transmit` writes each with the time at which it gets there. Stops when that channel may not
    /// hold more.
    fn forward_all(
        &mut self,
        inputs: &mut InputChannels,
        until: (Time, PassThrough),
        transmit: impl FnMut(&(Packet, Time), &mut (Packet, Time), &mut Self) -> Forward,
    );

    /// The lower bound on timestamps: every arrival up to then is already in the input channels, at
    /// all receivers that have any.
    #[must_use]
    fn lbts(&self) -> Time;

    /// Counters and probes are not read before all that is due by then has been handled. So an
    /// element may run ahead of the network's clock, up to then, in what concerns it alone.
    #[must_use]
    fn sync_time(&self) -> Time;

    /// Up to when all arrivals at this element are known, which may be ahead of the network's
    /// clock, since each channel carries packets in the order of time. No later than
    /// [`LookaheadContext::sync_time`].
    #[must_use]
    fn safe_until(&self) -> Time;

    /// Have [`LogicalProcess::on_notify`] called when a packet that arrives before `time` is sent
    /// ahead to this element, and only then. After that call, packets that arrive later cause no
    /// further one until the element asks again.
    fn notify_before(&mut self, time: Time);

    /// Have [`LogicalProcess::on_notify`] called whenever an
    /// [input channel](LookaheadContext::inputs) holds many packets, and only then: for elements
    /// that may process their input at any later time.
    fn notify_in_batches(&mut self);

    /// The event that woke this element belongs to the execution only: it is no event of the model
    /// and is not counted.
    fn discount_event(&mut self);

    /// Count an event of the model that was never in the event list, but is in a run with
    /// observers.
    fn count_event(&mut self);
}

impl LookaheadContext for Context<'_> {
    fn execution_mode(&self) -> ExecutionMode {
        self.core.modes[self.me as usize]
    }

    fn next_hop(&self) -> Option<NextHop> {
        self.core.routes.next_hop(self.me)
    }

    fn pass_through(&mut self) -> Option<PassThrough> {
        let NextHop(hop) = self.next_hop()?;
        let pass_through = PassThrough { receiver: hop.receiver, channel: hop.channel };
        self.inputs().is_single().then_some(pass_through)
    }

    #[inline]
    fn idle_until(&self) -> Time {
        self.local
            .as_ref()
            .map_or(Time::ZERO, |local| local.timers.lower_bound().min(local.arrival_bound))
    }

    #[inline(always)]
    fn continue_at(&mut self, time: Time, token: u32, free: Time) -> bool {
        if time < free && !self.core.channels.flush && !self.core.pending.full {
            self.now = time;
            self.core.virtual_events += 1;
            return true;
        }
        self.wake_at(time, token);
        false
    }

    #[inline(never)]
    fn send_ahead(&mut self, packet: &Packet, at: Time) {
        self.send_ahead_to(None, packet, at);
    }

    #[inline(always)]
    fn send_ahead_to(&mut self, next_hop: Option<NextHop>, packet: &Packet, at: Time) {
        let next = match next_hop {
            Some(NextHop(hop)) => hop,
            None => self.core.routes.after(self.me, packet.route),
        };
        debug_assert!(
            at + self.execution_mode().slack >= self.core.event_list.now(),
            "a packet is sent ahead too late"
        );
        debug_assert!(next.channel != NO_CHANNEL, "the next hop has no input channel");
        self.core.channels.send(next.receiver, next.channel, packet, at);
    }

    #[inline(always)]
    fn crossed_at(&mut self, packet: &Packet, at: Time) {
        self.core.counters.hops += 1;
        self.core.virtual_events += 1;
        let to = self.core.routes.after(self.me, packet.route).to;
        // Where only sinks follow and nothing needs an event, there are no observers to notify.
        let payload = self.digest_at_sink(to, packet, at);
        self.count_delivery(packet, at, payload);
    }

    #[inline]
    fn inputs(&mut self) -> &mut InputChannels {
        self.core.channels.inputs_mut(self.me)
    }

    #[inline]
    fn take_inputs(&mut self) -> InputChannels {
        std::mem::take(self.core.channels.inputs_mut(self.me))
    }

    #[inline]
    fn return_inputs(&mut self, mut inputs: InputChannels) {
        let taken = std::mem::take(&mut inputs.taken);
        self.core.counters.hops += taken;
        self.core.virtual_events += taken as i64;
        *self.core.channels.inputs_mut(self.me) = inputs;
    }

    #[inline(always)]
    fn forward_all(
        &mut self,
        inputs: &mut InputChannels,
        (limit, pass_through): (Time, PassThrough),
        mut transmit: impl FnMut(&(Packet, Time), &mut (Packet, Time), &mut Self) -> Forward,
    ) {
        let PassThrough { receiver, channel } = pass_through;
        let mut target = std::mem::take(self.core.channels.inputs_mut(receiver));
        let to = (&mut target, channel as usize);
        let first =
            inputs.forward_into(to, limit, |arrival, departure| transmit(arrival, departure, self));
        *self.core.channels.inputs_mut(receiver) = target;
        if let Some(first) = first {
            self.core.channels.notify(receiver, first);
        }
    }

    #[inline]
    fn lbts(&self) -> Time {
        self.core.lbts
    }

    #[inline]
    fn sync_time(&self) -> Time {
        self.core.sync_time
    }

    #[inline]
    fn safe_until(&self) -> Time {
        self.core.safe_until(self.me)
    }

    #[inline]
    fn notify_before(&mut self, time: Time) {
        self.core.channels.notify_before(self.me, time);
    }

    #[inline]
    fn notify_in_batches(&mut self) {
        self.core.channels.notify_in_batches(self.me);
    }

    #[inline]
    fn discount_event(&mut self) {
        self.core.virtual_events -= 1;
    }

    #[inline]
    fn count_event(&mut self) {
        self.core.virtual_events += 1;
    }
}
