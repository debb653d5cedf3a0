//! Interface of elements with lookahead: the part of the contract between elements and the engine
//! by which packets are handled ahead of events, or after them, with the same results.
//!
//! An element need not know any of this; links and large groups of hosts do, for speed. The terms
//! are those of R. M. Fujimoto, *Parallel and Distributed Simulation Systems*, 2000.

use forebay_kernel::Forward;
use forebay_units::Time;

use crate::routes::{NextHop, PassThrough};
use crate::{Context, Counters, ExecutionMode, InputChannels, Packet};

/// Behaviour of an element with lookahead besides [`crate::Element`]; one without says
/// `impl LogicalProcess for Mine {}`.
pub trait LogicalProcess {
    /// A packet in its [input channels](LookaheadContext::inputs) that it
    /// [asked to be notified of](LookaheadContext::notify_before) was sent ahead to it, or they
    /// hold [many](LookaheadContext::notify_in_batches); or what follows needs all that has left by
    /// now.
    fn on_notify(&mut self, _cx: &mut Context<'_>) {}

    /// The timer with `token` is among the next to expire, in a network of very many flows:
    /// [fetch](forebay_kernel::fetch()) the data that will be needed then. Changes nothing.
    fn prefetch_timer(&self, _token: u32, _counters: &Counters) {}

    /// `packet` is among the next to be received, in a network of very many flows: as
    /// [`LogicalProcess::prefetch_timer`]. The engine fetches the counters of its flow.
    fn prefetch_packet(&self, _packet: &Packet) {}
}

/// Operations that [`Context`] offers to elements with lookahead.
pub trait LookaheadContext {
    /// Returns the execution mode of this element. Asked when the run begins.
    #[must_use]
    fn execution_mode(&self) -> ExecutionMode;

    /// The input channel that receives everything that leaves this element, if its packets are sent
    /// ahead and all go by one channel. Asked when the run begins.
    #[must_use]
    fn next_hop(&self) -> Option<NextHop>;

    /// The path for [`LookaheadContext::forward_all`], if all packets of this element come by one
    /// channel and leave by one channel, which the receiver merges with its others. Asked when the
    /// run begins.
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

    /// Stop here if the run was cancelled: for elements that process very many packets at once,
    /// between batches.
    fn pause(&self);

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
        self.core.modes[self.me.index()]
    }

    fn next_hop(&self) -> Option<NextHop> {
        self.core.routes.next_hop(self.me)
    }

    fn pass_through(&mut self) -> Option<PassThrough> {
        let NextHop(hop) = self.next_hop()?;
        let pass_through = PassThrough { receiver: hop.receiver, channel: hop.channel };
        let merged = self.core.channels.inputs(hop.receiver).is_merged();
        (merged && self.inputs().is_single()).then_some(pass_through)
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
        debug_assert!(next.ahead().is_some(), "the next hop has no input channel");
        self.core.channels.send(next.receiver, next.channel, packet, at);
    }

    #[inline(always)]
    fn crossed_at(&mut self, packet: &Packet, at: Time) {
        self.core.counters.hops += 1;
        self.core.virtual_events += 1;
        let sink = self.core.routes.after(self.me, packet.route).sink();
        // Where only sinks follow and nothing needs an event, there are no observers to notify.
        let payload = self.digest_at_sink(sink, packet, at);
        self.core.count_delivery(packet, at, payload);
    }

    #[inline]
    fn inputs(&mut self) -> &mut InputChannels {
        self.core.channels.inputs_mut(self.me.into())
    }

    #[inline]
    fn take_inputs(&mut self) -> InputChannels {
        self.core.take_inputs(self.me.into())
    }

    #[inline]
    fn return_inputs(&mut self, inputs: InputChannels) {
        self.core.return_inputs(self.me.into(), inputs);
    }

    #[inline(always)]
    fn forward_all(
        &mut self,
        inputs: &mut InputChannels,
        (limit, pass_through): (Time, PassThrough),
        mut transmit: impl FnMut(&(Packet, Time), &mut (Packet, Time), &mut Self) -> Forward,
    ) {
        let PassThrough { receiver, channel } = pass_through;
        let pause = inputs.pause_before(limit);
        if pause < limit {
            self.pause();
        }
        let mut target = std::mem::take(self.core.channels.inputs_mut(receiver));
        let to = (&mut target, channel);
        let first =
            inputs.forward_into(to, pause, |arrival, departure| transmit(arrival, departure, self));
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
        self.core.safe_until(self.me.into())
    }

    #[inline]
    fn pause(&self) {
        self.core.stop_if_cancelled();
    }

    #[inline]
    fn notify_before(&mut self, time: Time) {
        self.core.channels.notify_before(self.me.into(), time);
    }

    #[inline]
    fn notify_in_batches(&mut self) {
        self.core.channels.notify_in_batches(self.me.into());
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

#[cfg(test)]
mod tests {
    use forebay_kernel::{ChannelTable, Digest, EventList, MAX_CHANNELS, Message};
    use forebay_units::Span;

    use super::*;
    use crate::core::{Core, LocalTimers, PendingDelivery, Sink};
    use crate::{
        ChannelId, Destination, ElementId, FlowCount, FlowId, ReceiverId, RouteId, SinkId,
    };

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    fn packet(number: u64, route: usize) -> Packet {
        Packet::data(at(5), FlowId::new(0), number, 100, RouteId::new(route))
    }

    /// Links 0 to 2 in a row, then sink 0: routes 0 (all of it) and 1 (from link 2). Links 1 and 2
    /// take packets ahead by one channel each.
    fn core() -> Core {
        let mut core = Core::default();
        core.counters.flows.push(FlowCount::default());
        core.sinks.push(Sink { header: 40, digest: Digest::default() });
        let links @ [first, second, last] = [0, 1, 2].map(ElementId::new);
        let sink = SinkId::new(0).into();
        core.routes.add(&links, sink);
        core.routes.add(&[last], sink);
        let channel = |next: Destination| next.element().map(|next| (next.into(), ChannelId::ONLY));
        core.routes.assign_channels(first, &channel);
        core.routes.assign_channels(second, &channel);
        core.modes = vec![ExecutionMode::default(); 3];
        core.channels =
            ChannelTable::new(&[(vec![], true), (vec![first], true), (vec![second], true)]);
        core.sync_time = at(1000);
        core
    }

    fn context(core: &mut Core, me: usize, now: u64) -> Context<'_> {
        Context { core, me: ElementId::new(me), now: at(now), local: None }
    }

    /// A deferred host advances in place up to its next timer or arrival, unless a packet was
    /// handed on or a batch is full; then it sets a timer instead.
    #[test]
    fn time_advances_in_place_while_nothing_concerns_the_element() {
        let (mut core, mut timers) = (core(), EventList::new());
        // Elements that are not deferred never advance in place.
        assert_eq!(context(&mut core, 0, 10).idle_until(), Time::ZERO);
        timers.insert(at(40), ElementId::new(0), 1);
        let mut host = |core: &mut Core, bound, to| {
            let local = Some(LocalTimers { timers: &mut timers, arrival_bound: at(bound) });
            let mut cx = Context { core, me: ElementId::new(0), now: at(10), local };
            let free = cx.idle_until();
            let goes_on = cx.continue_at(at(to), 9, free);
            (free.ps(), goes_on, cx.now().ps())
        };
        // Until the next timer or arrival, the earlier of both.
        assert_eq!(host(&mut core, 50, 39), (40, true, 39));
        assert_eq!(host(&mut core, 30, 29), (30, true, 29));
        assert_eq!(core.virtual_events, 2);
        assert_eq!(host(&mut core, 30, 30), (30, false, 10));
        // Nor if a packet was handed on, or a batch is full.
        core.channels.flush = true;
        assert!(!host(&mut core, 50, 20).1);
        core.channels.flush = false;
        core.pending.push(PendingDelivery {
            packet: packet(0, 0),
            at: at(10),
            to: ElementId::new(1),
        });
        assert!(!host(&mut core, 50, 15).1);
        assert_eq!(core.virtual_events, 2);
        let set = || timers.take(at(100)).map(|event| (event.time.ps(), event.token));
        assert_eq!(
            std::iter::from_fn(set).collect::<Vec<_>>(),
            [(15, 9), (20, 9), (30, 9), (40, 1)]
        );
    }

    /// Packets sent ahead enter the channel of the next element with the time of their arrival, and
    /// count as hops only once they are taken.
    #[test]
    fn packets_are_sent_ahead_into_the_channel_of_the_next() {
        let mut core = core();
        context(&mut core, 0, 10).send_ahead(&packet(1, 0), at(30));
        let hop = context(&mut core, 0, 10).next_hop();
        assert!(hop.is_some());
        context(&mut core, 0, 10).send_ahead_to(hop, &packet(2, 0), at(31));
        assert_eq!(core.channels.inputs(ReceiverId::new(1)).first(), Some((&packet(1, 0), at(30))));
        assert_eq!(core.channels.held(), 2);
        // It counts as a hop only when it has arrived.
        assert_eq!(core.counters.hops, 0);
        // Link 2 leads to a sink without channel, and no packet can be sent ahead to it.
        assert_eq!(context(&mut core, 2, 10).next_hop(), None);
    }

    /// A packet that crosses to a sink without an event is counted as one that does with an event.
    #[test]
    fn to_cross_to_a_sink_without_an_event_counts_the_same() {
        let (mut ahead, mut timed) = (core(), core());
        context(&mut ahead, 2, 10).crossed_at(&packet(1, 1), at(30));
        context(&mut timed, 2, 30).cross(&packet(1, 1));
        // 25 ps after it was created, 60 B of payload.
        let flow = ahead.counters.flows[0];
        assert_eq!((flow.delay, flow.goodput, ahead.counters.hops), (25, 60, 1));
        assert_eq!((flow, ahead.counters.hops), (timed.counters.flows[0], timed.counters.hops));
        assert_eq!(ahead.sinks[0].digest, timed.sinks[0].digest);
        // The event that brings a packet is one of the model.
        assert_eq!((ahead.virtual_events, timed.virtual_events), (1, 0));
    }

    /// Each packet that is taken from channels counts as a hop and an event, once.
    #[test]
    fn what_is_taken_from_channels_counts_as_hops_and_events() {
        let mut core = core();
        for number in 1..=3 {
            core.channels.send(
                ReceiverId::new(1),
                ChannelId::ONLY,
                &packet(number, 0),
                at(10 * number),
            );
        }
        let mut cx = context(&mut core, 1, 20);
        let mut inputs = cx.take_inputs();
        assert_eq!(cx.inputs().count(), 0);
        while inputs.take(at(20)).is_some() {}
        cx.return_inputs(inputs);
        assert_eq!(cx.inputs().waiting(), 1);
        assert_eq!((core.counters.hops, core.virtual_events), (2, 2));
        // Not twice.
        let mut cx = context(&mut core, 1, 20);
        let inputs = cx.take_inputs();
        cx.return_inputs(inputs);
        assert_eq!((core.counters.hops, core.virtual_events), (2, 2));
        let mut cx = context(&mut core, 1, 20);
        (0..3).for_each(|_| cx.discount_event());
        cx.count_event();
        assert_eq!((core.counters.hops, core.virtual_events), (2, 0));
    }

    /// A pass-through with one input and one output forwards the packets that are known, in order,
    /// takes them from its input and notifies its successor.
    #[test]
    fn a_pass_through_forwards_from_channel_to_channel() {
        let mut core = core();
        // Link 0 has no input channel, link 2 no channel to send to.
        assert!(context(&mut core, 0, 0).pass_through().is_none());
        assert!(context(&mut core, 2, 0).pass_through().is_none());
        let pass_through = context(&mut core, 1, 0).pass_through().expect("one in, one out");
        for number in 1..=3 {
            core.channels.send(
                ReceiverId::new(1),
                ChannelId::ONLY,
                &packet(number, 0),
                at(10 * number),
            );
        }
        core.channels.notified.clear();
        let mut cx = context(&mut core, 1, 20);
        let mut inputs = cx.take_inputs();
        cx.forward_all(&mut inputs, (at(20), pass_through), |arrival, departure, _| {
            *departure = (arrival.0, arrival.1 + Span::from_ps(7));
            Forward::Move
        });
        cx.return_inputs(inputs);
        assert_eq!(
            (core.counters.hops, &core.channels.notified[..]),
            (2, &[ReceiverId::new(2)][..])
        );
        assert_eq!(core.channels.inputs(ReceiverId::new(1)).next_at(), at(30));
        let inputs = core.channels.inputs_mut(ReceiverId::new(2));
        let next = || inputs.take(at(100)).map(|(packet, at)| (packet.number, at.ps()));
        assert_eq!(std::iter::from_fn(next).collect::<Vec<_>>(), [(1, 17), (2, 27)]);
        let mut digest = Digest::default();
        packet(1, 0).received(at(10), &mut digest);
        packet(2, 0).received(at(20), &mut digest);
        assert_eq!(core.channels.digest(ReceiverId::new(1)), digest);
    }

    /// No pass-through leads to a receiver with more channels than are merged: it has none of them
    /// into which packets could be moved.
    #[test]
    fn a_pass_through_leads_to_channels_that_are_merged() {
        for (upstreams, merged) in [(MAX_CHANNELS, true), (MAX_CHANNELS + 1, false)] {
            let mut core = core();
            let single = (vec![ElementId::new(0)], true);
            let many = (ElementId::all(upstreams).collect(), true);
            core.channels = ChannelTable::new(&[(vec![], true), single, many]);
            assert_eq!(context(&mut core, 1, 0).pass_through().is_some(), merged);
        }
    }

    /// An element sees its own bounds and channels: packets are known up to the channel clocks, and
    /// it is notified only of what it has asked for.
    #[test]
    fn an_element_sees_its_own_channels_and_bounds() {
        let mut core = core();
        core.lbts = at(3);
        core.modes[1].lazy = true;
        let mut cx = context(&mut core, 1, 5);
        cx.notify_before(at(20));
        assert_eq!((cx.lbts(), cx.sync_time(), cx.safe_until()), (at(3), at(1000), at(3)));
        assert!(cx.execution_mode().lazy);
        core.channels.send(ReceiverId::new(1), ChannelId::ONLY, &packet(1, 0), at(21));
        assert_eq!(
            (context(&mut core, 1, 5).safe_until(), core.channels.notified.len()),
            (at(21), 0)
        );
        context(&mut core, 1, 5).notify_in_batches();
        assert!(
            core.channels.inputs(ReceiverId::new(1)).is_batched()
                && !core.channels.inputs(ReceiverId::new(2)).is_batched()
        );
    }
}
