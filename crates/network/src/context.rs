//! The interface of a logical process to the simulation executive: [`Context`], and the state
//! behind it that the elements of one partition share.
//!
//! Logical processes, timestamped channels and the lower bound on timestamps are those of R. M.
//! Fujimoto, *Parallel and Distributed Simulation Systems*, 2000.

use forebay_kernel::{Digest, EventList, Forward, RingBuffer};
use forebay_units::{Span, Time};

use crate::channels::{ChannelTable, InputChannels};
use crate::counters::slot;
use crate::routes::{NO_CHANNEL, NextHop, PassThrough, Routes, SINK};
use crate::{
    Counters, DropReason, Ecn, LinkCount, Lookahead, Observation, Observer, Packet, SackBlocks,
};

/// A destination of routes that only counts what it receives.
pub(crate) struct Sink {
    /// Bytes of each packet that are not payload.
    pub(crate) header: u64,
    /// Digest of what it received.
    pub(crate) digest: Digest,
}

/// A packet that an element has handed to the next, which has not received it yet.
#[derive(Clone, Copy)]
pub(crate) struct PendingDelivery {
    pub(crate) packet: Packet,
    /// When it is received: the current time of the element that handed it on.
    pub(crate) at: Time,
    pub(crate) to: u32,
}

/// Packets handed on and not yet received, first in, first out. There is rarely more than one, so
/// the first is stored apart from the queue.
pub(crate) struct PendingDeliveries {
    pub(crate) first: PendingDelivery,
    pub(crate) full: bool,
    /// Deliveries pushed while `first` was occupied or others waited here.
    queue: RingBuffer<PendingDelivery>,
}

impl Default for PendingDeliveries {
    fn default() -> Self {
        let packet = Packet::data(Time::ZERO, 0, 0, 0, 0);
        let first = PendingDelivery { packet, at: Time::ZERO, to: 0 };
        Self { first, full: false, queue: RingBuffer::default() }
    }
}

impl PendingDeliveries {
    #[inline(always)]
    fn push(&mut self, delivery: PendingDelivery) {
        if self.full || !self.queue.is_empty() {
            self.queue.push_back(delivery);
        } else {
            self.first = delivery;
            self.full = true;
        }
    }

    /// The first was taken and received: move the next to its place.
    #[inline(always)]
    pub(crate) fn refill(&mut self) {
        if let Some(next) = self.queue.front() {
            self.first = *next;
            self.queue.pop_front();
            self.full = true;
        }
    }
}

/// The state of a partition apart from its elements: event list, routes, counters and channels.
#[derive(Default)]
pub(crate) struct Core {
    pub(crate) event_list: EventList,
    /// Packets handed on and not yet received.
    pub(crate) pending: PendingDeliveries,
    pub(crate) routes: Routes,
    pub(crate) counters: Counters,
    pub(crate) observers: Vec<Box<dyn Observer>>,
    pub(crate) sinks: Vec<Sink>,
    /// Whether prefetching pays.
    pub(crate) prefetches: bool,
    pub(crate) hops: u64,
    /// Events of the model that never were in the event list, less the entries of the event list
    /// that were no events of the model.
    pub(crate) virtual_events: i64,
    /// The lookahead of each element; known when the run begins.
    pub(crate) lookaheads: Vec<Lookahead>,
    /// Packets sent ahead and not yet processed by their receivers.
    pub(crate) channels: ChannelTable,
    /// Lower bound on the timestamps still to come: every arrival up to then is already in the
    /// input channels, at all receivers that have any.
    pub(crate) lbts: Time,
    /// Counters and probes are not read before all that is due by then has been handled.
    pub(crate) sync_time: Time,
    pub(crate) sack_blocks: Vec<SackBlocks>,
    pub(crate) free_slots: Vec<u32>,
}

impl Core {
    /// Up to when all that arrives at `receiver`, an element or the first member of a host group,
    /// is known: the least clock of its input channels, but no later than `sync_time`; and at least
    /// the lower bound on timestamps.
    #[inline]
    pub(crate) fn safe_until(&self, receiver: u32) -> Time {
        self.lbts.max(self.channels.inputs(receiver).safe_until().min(self.sync_time))
    }
}

/// The executive as one element sees it: all that the element can do to the rest of the network.
pub struct Context<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) me: u32,
    /// The current time of the element, which is in the past where its execution is deferred.
    pub(crate) now: Time,
    /// Its share in its host group; `None` for an element whose execution is never deferred.
    pub(crate) local: Option<LocalTimers<'a>>,
}

/// What a deferred element uses of its host group in place of the network's event list.
pub(crate) struct LocalTimers<'a> {
    pub(crate) timers: &'a mut EventList,
    /// Before which time nothing is due in the host group except its timers.
    pub(crate) arrival_bound: Time,
}

impl<'a> Context<'a> {
    /// The context of element `me`, whose execution is never deferred, at `now`.
    #[inline(always)]
    pub(crate) fn of(core: &'a mut Core, me: u32, now: Time) -> Self {
        Self { core, me, now, local: None }
    }

    /// The current time of the element.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Set a timer: [`crate::Element::wake`] is called at `time` with `token`. Timers cannot be
    /// cancelled: an element that no longer needs one ignores the call.
    #[inline(always)]
    pub fn wake_at(&mut self, time: Time, token: u32) {
        match &mut self.local {
            None => self.core.event_list.insert(time, self.me, token),
            Some(local) => local.timers.insert(time, self.me, token),
        }
    }

    /// Before which time no event concerns this element, given the timers set so far: for
    /// [`Context::continue_at`]. Called from [`crate::Element::wake`].
    #[inline]
    #[must_use]
    pub fn idle_until(&self) -> Time {
        self.local
            .as_ref()
            .map_or(Time::ZERO, |local| local.timers.lower_bound().min(local.arrival_bound))
    }

    /// Finish with the current time and continue at `time`. If `time` is before `free`, which
    /// [`Context::idle_until`] gave, and no packet was handed on that must be received first, time
    /// advances in place and this returns true; else a timer with `token` is set as by
    /// [`Context::wake_at`]. To be called last in [`crate::Element::wake`].
    #[inline(always)]
    #[must_use]
    pub fn continue_at(&mut self, time: Time, token: u32, free: Time) -> bool {
        if time < free && !self.core.channels.flush && !self.core.pending.full {
            self.now = time;
            self.core.virtual_events += 1;
            return true;
        }
        self.wake_at(time, token);
        false
    }

    /// Before which time no timer of the host group of this element is due. [`Time::ZERO`] if a
    /// packet was handed on that must be received first, or if a batched receiver holds many
    /// packets.
    #[inline(always)]
    pub(crate) fn undisturbed_until(&self) -> Time {
        let timers = self.local.as_ref().map_or(Time::ZERO, |local| local.timers.lower_bound());
        if self.core.channels.flush | self.core.pending.full { Time::ZERO } else { timers }
    }

    /// Hand `packet` to the next element of its route.
    #[inline]
    pub fn forward(&mut self, packet: &Packet) {
        let to = self.core.routes.after(self.me, packet.route).to;
        let at = self.now();
        if to & SINK == 0 {
            self.core.pending.push(PendingDelivery { packet: *packet, at, to });
        } else {
            self.receive_at_sink(to, packet, at);
        }
    }

    /// The lookahead of this element. Asked when the run begins.
    #[must_use]
    pub fn lookahead(&self) -> Lookahead {
        self.core.lookaheads[self.me as usize]
    }

    /// The input channel that receives everything that leaves this element, if its packets are sent
    /// ahead and all go by one channel. Asked when the run begins.
    #[must_use]
    pub fn next_hop(&self) -> Option<NextHop> {
        self.core.routes.next_hop(self.me)
    }

    /// Send `packet` ahead: it reaches the far end of a link at `at`, and is put into the input
    /// channel of the next element now. Only if [`Lookahead::early`], and in the order of time.
    #[inline(never)]
    pub fn send_ahead(&mut self, packet: &Packet, at: Time) {
        self.send_ahead_to(None, packet, at);
    }

    /// As [`Context::send_ahead`], with what [`Context::next_hop`] gave, which saves the look-up of
    /// the next hop.
    #[inline(always)]
    pub fn send_ahead_to(&mut self, next_hop: Option<NextHop>, packet: &Packet, at: Time) {
        let next = match next_hop {
            Some(NextHop(hop)) => hop,
            None => self.core.routes.after(self.me, packet.route),
        };
        debug_assert!(
            at + self.lookahead().slack >= self.core.event_list.now(),
            "a packet is sent ahead too late"
        );
        debug_assert!(next.channel != NO_CHANNEL, "the next hop has no input channel");
        self.core.channels.send(next.inputs, next.channel, packet, at);
    }

    /// `packet` reached the far end of a link, where a sink is, at `at`, which may be in the past.
    /// Only if [`Lookahead::quiet`], and in the order of time.
    #[inline]
    pub fn crossed_at(&mut self, packet: &Packet, at: Time) {
        self.core.hops += 1;
        self.core.virtual_events += 1;
        let to = self.core.routes.after(self.me, packet.route).to;
        // A quiet link implies that there are no observers to notify.
        let payload = self.digest_at_sink(to, packet, at);
        self.count_delivery(packet, at, payload);
    }

    /// The input channels of this element: the packets sent ahead to it.
    #[inline]
    pub fn inputs(&mut self) -> &mut InputChannels {
        self.core.channels.of(self.me)
    }

    /// Move the input channels out of the context, so that packets can be read in place while they
    /// are processed.
    #[inline]
    #[must_use]
    pub fn take_inputs(&mut self) -> InputChannels {
        std::mem::take(self.core.channels.of(self.me))
    }

    /// Put the input channels back, and count what was taken from them as having crossed the
    /// upstream link.
    #[inline]
    pub fn return_inputs(&mut self, mut inputs: InputChannels) {
        let taken = std::mem::take(&mut inputs.taken);
        self.core.hops += taken;
        self.core.virtual_events += taken as i64;
        *self.core.channels.of(self.me) = inputs;
    }

    /// Forward the packets of `inputs`, taken by [`Context::take_inputs`] and a single channel,
    /// that arrive by `limit` to the given channel of the next receiver in one pass: `transmit`
    /// writes each with the time at which it gets there. Stops when that channel may not hold more.
    #[inline(always)]
    pub fn forward_all(
        &mut self,
        inputs: &mut InputChannels,
        (limit, pass_through): (Time, PassThrough),
        mut transmit: impl FnMut(&(Packet, Time), &mut (Packet, Time), &mut Self) -> Forward,
    ) {
        let PassThrough { receiver, channel } = pass_through;
        let mut target = std::mem::take(self.core.channels.of(receiver));
        let to = (&mut target, channel as usize);
        let first =
            inputs.forward_into(to, limit, |arrival, departure| transmit(arrival, departure, self));
        *self.core.channels.of(receiver) = target;
        if let Some(first) = first {
            self.core.channels.notify(receiver, first);
        }
    }

    /// The path for [`Context::forward_all`], if all packets of this element come by one channel
    /// and leave by one channel.
    #[must_use]
    pub fn pass_through(&mut self) -> Option<PassThrough> {
        let NextHop(hop) = self.next_hop()?;
        let pass_through = PassThrough { receiver: hop.inputs, channel: hop.channel };
        self.inputs().is_single().then_some(pass_through)
    }

    /// The lower bound on timestamps: every arrival up to then is already in the input channels, at
    /// all receivers that have any.
    #[inline]
    #[must_use]
    pub fn lbts(&self) -> Time {
        self.core.lbts
    }

    /// Counters and probes are not read before all that is due by then has been handled. So an
    /// element may run ahead of the network's clock, up to then, in what concerns it alone.
    #[inline]
    #[must_use]
    pub fn sync_time(&self) -> Time {
        self.core.sync_time
    }

    /// Up to when all arrivals at this element are known, which may be ahead of the network's
    /// clock, since each channel carries packets in the order of time. No later than
    /// [`Context::sync_time`].
    #[inline]
    #[must_use]
    pub fn safe_until(&self) -> Time {
        self.core.safe_until(self.me)
    }

    /// Have [`crate::Element::on_notify`] called when a packet that arrives before `time` is sent
    /// ahead to this element, and only then. After that call, packets that arrive later cause no
    /// further one until the element asks again.
    #[inline]
    pub fn notify_before(&mut self, time: Time) {
        self.core.channels.notify_before(self.me, time);
    }

    /// Have [`crate::Element::on_notify`] called whenever an [input channel](Context::inputs) holds
    /// many packets, and only then: for elements that may process their input at any later time.
    #[inline]
    pub fn notify_in_batches(&mut self) {
        self.core.channels.notify_in_batches(self.me);
    }

    /// The event that woke this element belongs to the execution only: it is no event of the model
    /// and is not counted.
    #[inline]
    pub fn discount_event(&mut self) {
        self.core.virtual_events -= 1;
    }

    /// Count an event of the model that was never in the event list, but is in a run with
    /// observers.
    #[inline]
    pub fn count_event(&mut self) {
        self.core.virtual_events += 1;
    }

    /// Count the arrival at `at` of `packet`, which was sent ahead to a sink and has so many bytes
    /// of header.
    #[inline(always)]
    pub(crate) fn count_at_sink(&mut self, packet: &Packet, at: Time, header: u64) {
        self.count_delivery(packet, at, u64::from(packet.size).saturating_sub(header));
    }

    /// `packet` arrived at sink `to` at `at`.
    #[inline]
    fn receive_at_sink(&mut self, to: u32, packet: &Packet, at: Time) {
        let payload = self.digest_at_sink(to, packet, at);
        self.deliver_at(packet, at, payload);
    }

    /// Add the reception of `packet` at `at` to the digest of sink `to`. Returns the payload in
    /// bytes.
    #[inline(always)]
    fn digest_at_sink(&mut self, to: u32, packet: &Packet, at: Time) -> u64 {
        let sink = &mut self.core.sinks[(to & !SINK) as usize];
        packet.received(at, &mut sink.digest);
        u64::from(packet.size).saturating_sub(sink.header)
    }

    /// Count a hop inside this element: a packet has crossed a span of it and stays in it.
    #[inline]
    pub fn passed(&mut self) {
        self.core.hops += 1;
    }

    /// `packet` has reached the far end of a link: hand it to the next element of its route.
    #[inline]
    pub fn cross(&mut self, packet: &Packet) {
        self.core.hops += 1;
        self.forward(packet);
    }

    /// Send `packet` from a host into the network: count it and hand it to its first element.
    #[inline(always)]
    pub fn send(&mut self, packet: Packet) {
        let now = self.now();
        let flow = self.core.counters.flow(&packet);
        if packet.is_ack() {
            flow.acks[0] += 1;
        } else {
            flow.sent.add(&packet);
            if packet.is_retransmission() {
                flow.retransmissions += 1;
            }
            if flow.sent.packets == 1 {
                self.note_flow_start(packet.flow);
            }
        }
        if self.is_observed() {
            // A copy for the observers, so that the packet itself can stay in registers.
            let copy = packet;
            self.observe(|| Observation::Sent { packet: &copy });
        }
        let first = self.core.routes.first(packet.route);
        if first.channel == NO_CHANNEL {
            self.core.pending.push(PendingDelivery { packet, at: now, to: first.to });
        } else {
            self.core.channels.send(first.inputs, first.channel, &packet, now);
        }
    }

    /// The first data packet of `flow` that is counted was sent: if it is the first of all, the
    /// flow starts.
    #[cold]
    #[inline(never)]
    fn note_flow_start(&mut self, flow: u32) {
        let now = self.now;
        let started = &mut self.core.counters.flows[flow as usize].started;
        if started.is_none() {
            *started = Some(now);
            self.observe(|| Observation::Started { flow });
        }
    }

    /// The reverse route: from here back to the source of `route`, if one was added.
    #[inline]
    #[must_use]
    pub fn reverse_route(&self, route: u32) -> Option<u32> {
        self.core.routes.back(self.me, route)
    }

    /// `packet` reached its destination: count it.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet) {
        self.deliver_at(packet, self.now(), 0);
    }

    #[inline]
    fn deliver_at(&mut self, packet: &Packet, at: Time, payload: u64) {
        let delay = self.count_delivery(packet, at, payload);
        self.observe(|| Observation::Delivered { packet, delay });
    }

    /// Count `packet` as delivered at `at`. Returns its delay.
    #[inline(always)]
    fn count_delivery(&mut self, packet: &Packet, at: Time, payload: u64) -> Span {
        let delay = at.since(packet.created);
        let flow = self.core.counters.flow(packet);
        // Written only with a payload: acknowledgements touch none of the counters of data.
        if payload > 0 {
            flow.goodput += payload;
        }
        if packet.is_ack() {
            flow.acks[1] += 1;
            return delay;
        }
        flow.delivered.add(packet);
        flow.delay += u128::from(delay.ps());
        // Rare cases: their counters are not written, and perhaps not even read, in the usual one.
        if packet.ecn() == Ecn::Ce {
            flow.marked += 1;
        }
        if delay > flow.max_delay {
            flow.max_delay = delay;
        }
        if let Some(lateness) = self.core.counters.lateness.get_mut(packet.flow as usize) {
            lateness.count(delay);
        }
        delay
    }

    /// Count `payload` bytes of `flow` as goodput: they reached the receiving application.
    #[inline]
    pub fn hand_over(&mut self, flow: u32, payload: u64) {
        self.core.counters.flows[flow as usize].goodput += payload;
    }

    /// Drop `packet`, which `link` has counted as arrived.
    pub fn drop_queued(&mut self, link: u32, packet: &Packet, reason: DropReason) {
        let slot = slot(packet.precedence);
        self.link(link).dropped[slot][reason as usize] += 1;
        self.finish_drop(link, packet, reason);
    }

    /// Drop `packet` as it arrives at `link`: count the arrival and the drop.
    #[inline]
    pub fn drop_arriving(&mut self, link: u32, packet: &Packet, reason: DropReason) {
        let (count, slot) = (self.link(link), slot(packet.precedence));
        count.arrived[slot].add(packet);
        count.dropped[slot][reason as usize] += 1;
        self.finish_drop(link, packet, reason);
    }

    /// Complete the drop of `packet`, which the counters of `link` have: count it for its flow,
    /// notify the observers and free its SACK blocks.
    #[inline]
    fn finish_drop(&mut self, link: u32, packet: &Packet, reason: DropReason) {
        let flow = self.core.counters.flow(packet);
        if packet.is_ack() {
            flow.acks[2] += 1;
        } else {
            flow.dropped.add(packet);
        }
        self.observe(|| Observation::Dropped { link, packet, reason });
        if packet.sack_slot != 0 {
            self.core.free_slots.push(packet.sack_slot);
        }
    }

    /// Count a timeout: a retransmission timer of `flow` expired.
    pub fn timed_out(&mut self, flow: u32) {
        self.core.counters.flows[flow as usize].timeouts += 1;
        self.observe(|| Observation::Timeout { flow });
    }

    /// `flow` has ended: record when.
    pub fn ended(&mut self, flow: u32) {
        let now = self.now();
        self.core.counters.flows[flow as usize].ended = Some(now);
        self.observe(|| Observation::Ended { flow });
    }

    /// The counters of `link`.
    #[inline]
    pub fn link(&mut self, link: u32) -> &mut LinkCount {
        &mut self.core.counters.links[link as usize]
    }

    /// All counters.
    #[inline]
    pub fn counters(&mut self) -> &mut Counters {
        &mut self.core.counters
    }

    /// Notify the observers of a fact; without observers this costs one test, and the fact is not
    /// computed.
    #[inline]
    pub fn observe<'f>(&mut self, fact: impl FnOnce() -> Observation<'f>) {
        if self.is_observed() {
            let fact = fact();
            let now = self.now;
            for observer in &mut self.core.observers {
                observer.observe(now, &fact);
            }
        }
    }

    /// Whether there are observers: for facts that are costly to gather.
    #[inline]
    #[must_use]
    pub fn is_observed(&self) -> bool {
        !self.core.observers.is_empty()
    }

    /// Store the SACK blocks of an acknowledgement. Returns the handle for [`Packet::sack_slot`].
    pub fn keep_blocks(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(slot) = self.core.free_slots.pop() {
            self.core.sack_blocks[slot as usize - 1] = blocks;
            return slot;
        }
        self.core.sack_blocks.push(blocks);
        u32::try_from(self.core.sack_blocks.len())
            .expect("fewer than 2^32 acknowledgements are in flight")
    }

    /// Take the SACK blocks of an acknowledgement that has arrived, and free their slot. The handle
    /// 0 stands for no blocks.
    #[inline]
    pub fn take_blocks(&mut self, slot: u32) -> SackBlocks {
        if slot == 0 {
            return SackBlocks::default();
        }
        self.core.free_slots.push(slot);
        self.core.sack_blocks[slot as usize - 1]
    }
}
