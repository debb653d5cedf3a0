//! Links under tail drop that lead to sinks only: each packet in closed form, without events.
//!
//! No element has to be notified when a packet leaves such a link, and nothing about the packet is
//! decided after its arrival. So it is handled from its arrival to the sink in one step, by
//! Lindley's recursion (Proc. Cambridge Philos. Soc. 48 (1952) 277-289): its waiting time is
//! counted at once, and if counters are not read before it reaches the sink, it is counted there
//! without being stored in between.

use forebay_network::{Arrival, Context, InputChannels, LookaheadContext, Packet};
use forebay_units::Time;

use super::transmitter::{InFlight, Transmitter};
use super::waiting::Scheduled;
use super::{AnyDropPolicy, FifoLink};
use crate::element::drop_arriving;

impl FifoLink {
    /// Whether the link is of this kind.
    pub(super) fn is_tail_drop_to_sinks(&self) -> bool {
        self.mode.to_sinks() && matches!(self.policy, AnyDropPolicy::Tail(_))
    }

    /// Process the packets of `inputs` that arrive by `limit`.
    #[inline(never)]
    pub(super) fn process_before_sinks(
        &mut self,
        limit: Time,
        inputs: &mut InputChannels,
        cx: &mut Context<'_>,
    ) {
        let mut last = Time::ZERO;
        self.transmitter.release_to_sinks(cx.sync_time(), cx);
        inputs.take_all(limit, |packet, at| {
            last = at;
            self.process_to_sink(packet, at, cx);
        });
        // Not up to `limit`: deferred hosts may still deliver packets that arrive by then.
        self.transmitter.depart(last);
    }

    /// `packet` arrives now.
    pub(super) fn receive_to_sink(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        self.transmitter.release_to_sinks(cx.sync_time(), cx);
        self.process_to_sink(packet, now, cx);
        self.transmitter.depart(now);
    }

    /// `packet` arrives at `at`. If counters are not read before it has reached a sink, it is
    /// counted there at once; all packets before it have been counted then.
    #[inline(always)]
    fn process_to_sink(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        let mut conditioned;
        let (link, mut packet) = (self.transmitter.link, packet);
        if !self.conditioning.is_empty() {
            conditioned = *packet;
            if !Transmitter::condition(link, &mut self.conditioning, &mut conditioned, at, cx) {
                return;
            }
            packet = &conditioned;
        }
        let transmitter = &mut self.transmitter;
        let idle = transmitter.free_at <= at;
        if let AnyDropPolicy::Tail(law) = &self.policy
            && !law.is_unlimited()
            && !idle
        {
            transmitter.depart(at);
            let arrival =
                Arrival { now: at, packet, backlog: transmitter.backlog(), idle_since: None };
            if let Some(reason) = law.drop_reason(&arrival) {
                drop_arriving(link, packet, reason, cx);
                return;
            }
        }
        let mut start = at;
        if !idle || transmitter.occupied_by_background(at) {
            start = transmitter.free_at;
            transmitter.queue.count_wait(packet, start.since(at));
            transmitter.waiting.push_counting_most(
                Scheduled::new(packet, start),
                at,
                &mut transmitter.queue.max,
            );
        }
        let out = transmitter.transmit(packet, start);
        if out <= cx.sync_time() {
            cx.crossed_at(packet, out);
        } else {
            transmitter.in_flight.push_back(InFlight { packet: *packet, start, out });
        }
    }

    /// Bring everything up to `now`, after the pending packets have been processed.
    pub(super) fn sync_to_sink(&mut self, now: Time, cx: &mut Context<'_>) {
        self.transmitter.release_to_sinks(now, cx);
        self.transmitter.depart(now);
        self.transmitter.sync_wait(now);
    }
}
