//! What an element can do to the rest of the network: [`Context`].

use forebay_kernel::Message;
use forebay_units::{Span, Time};

use crate::core::{Core, LocalTimers, PendingDelivery};
use crate::routes::{NO_CHANNEL, SINK};
use crate::{Counters, DropReason, Ecn, Observation, Packet, SackTable};

/// The network as one element sees it: all that the element can do to the rest of it. Elements with
/// lookahead find more in [`crate::LookaheadContext`].
pub struct Context<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) me: u32,
    /// The current time of the element, which is in the past where its execution is deferred.
    pub(crate) now: Time,
    /// Its share in its host group; `None` for an element whose execution is never deferred.
    pub(crate) local: Option<LocalTimers<'a>>,
}

impl<'a> Context<'a> {
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

    /// `packet` arrived at sink `to` at `at`.
    #[inline]
    fn receive_at_sink(&mut self, to: u32, packet: &Packet, at: Time) {
        let payload = self.digest_at_sink(to, packet, at);
        self.deliver_at(packet, at, payload);
    }

    /// Add the reception of `packet` at `at` to the digest of sink `to`. Returns the payload in
    /// bytes.
    #[inline(always)]
    pub(crate) fn digest_at_sink(&mut self, to: u32, packet: &Packet, at: Time) -> u64 {
        let sink = &mut self.core.sinks[(to & !SINK) as usize];
        packet.received(at, &mut sink.digest);
        u64::from(packet.size).saturating_sub(sink.header)
    }

    /// `packet` has reached the far end of a link: hand it to the next element of its route.
    #[inline]
    pub fn cross(&mut self, packet: &Packet) {
        self.core.counters.hops += 1;
        self.forward(packet);
    }

    /// Send `packet` from a host into the network: count it and hand it to its first element.
    #[inline(always)]
    pub fn send(&mut self, packet: Packet) {
        let now = self.now();
        let flow = self.core.counters.flow(&packet);
        if packet.is_feedback() {
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
            self.core.channels.send(first.receiver, first.channel, &packet, now);
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
        self.core.routes.reverse(self.me, route)
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
    pub(crate) fn count_delivery(&mut self, packet: &Packet, at: Time, payload: u64) -> Span {
        let delay = at.since(packet.created);
        let flow = self.core.counters.flow(packet);
        // Written only with a payload: acknowledgements touch none of the counters of data.
        if payload > 0 {
            flow.goodput += payload;
        }
        if packet.is_feedback() {
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
        if let Some(Some(meter)) = self.core.meters.get_mut(packet.flow as usize) {
            meter.delivered(delay);
        }
        delay
    }

    /// Drop `packet` at `link`, whose counters have it as arrived: count the drop for the link and
    /// for its flow, and free its SACK blocks.
    #[inline]
    pub fn drop(&mut self, link: u32, packet: &Packet, reason: DropReason) {
        let counters = &mut self.core.counters;
        counters.link(link).of(packet.precedence).dropped[reason as usize] += 1;
        let flow = counters.flow(packet);
        if packet.is_feedback() {
            flow.acks[2] += 1;
        } else {
            flow.dropped.add(packet);
        }
        self.observe(|| Observation::Dropped { link, packet, reason });
        if packet.sack_slot != 0 {
            self.core.sack_blocks.free(packet.sack_slot);
        }
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

    /// The SACK blocks of the acknowledgements in flight.
    #[inline]
    pub fn sack_blocks(&mut self) -> &mut SackTable {
        &mut self.core.sack_blocks
    }
}
