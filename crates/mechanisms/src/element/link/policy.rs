//! Queue management (RFC 7567) on links where a drop policy alone decides on packets, and
//! departures are sent ahead.

use std::hint::select_unpredictable;

use forebay_network::{Arrival, Context, DropPolicy, InputChannels, LookaheadContext, Verdict};
use forebay_units::Time;

use super::transmitter::Transmitter;
use super::waiting::Scheduled;
use super::{AnyDropPolicy, FifoLink};
use crate::element::drop_arriving;

impl FifoLink {
    /// Process the packets of `inputs` that arrive by `limit`. Monomorphised for each kind of drop
    /// policy, which is moved out of the link meanwhile, so that it is called directly.
    pub(super) fn process_under_policy(
        &mut self,
        limit: Time,
        inputs: &mut InputChannels,
        cx: &mut Context<'_>,
    ) {
        let mut policy = std::mem::take(&mut self.policy);
        match &mut policy {
            AnyDropPolicy::Tail(law) => self.process_under(law, limit, inputs, cx),
            AnyDropPolicy::Rio(law) => self.process_under(law.as_mut(), limit, inputs, cx),
            AnyDropPolicy::Law(law) => self.process_under(law.as_mut(), limit, inputs, cx),
        }
        self.policy = policy;
    }

    /// The same under `law`.
    #[inline(never)]
    fn process_under<L: DropPolicy + ?Sized>(
        &mut self,
        law: &mut L,
        limit: Time,
        inputs: &mut InputChannels,
        cx: &mut Context<'_>,
    ) {
        let Self { transmitter, stream, next_hop, .. } = self;
        let (link, next_hop) = (transmitter.link, *next_hop);
        let mut head = Head::of(transmitter);
        inputs.take_all(limit, |packet, at| {
            head.catch_up(at, transmitter, law);
            let idle_since = transmitter.idle_since(at);
            let arrival = Arrival { now: at, packet, backlog: transmitter.backlog(), idle_since };
            let mut marked;
            let packet = match law.admit(&arrival, stream) {
                Verdict::Accept => packet,
                Verdict::Mark => {
                    marked = *packet;
                    Transmitter::mark(link, &mut marked, cx);
                    &marked
                }
                Verdict::Drop(reason) => {
                    drop_arriving(link, packet, reason, cx);
                    return;
                }
            };
            let out = if idle_since.is_none() || transmitter.occupied_by_background(at) {
                let (scheduled, out) = transmitter.enqueue_tx(packet, at);
                transmitter.note_longest();
                head.enqueue(scheduled, transmitter);
                out
            } else {
                // It does not wait, so it is not counted as having been queued.
                law.departed(packet.queued_info(), at);
                head.last = Scheduled::new(packet, at);
                transmitter.transmit(packet, at)
            };
            cx.send_ahead_to(next_hop, packet, out);
        });
        self.next_departure = head.scheduled.start;
        self.transmitter.last = head.last;
    }
}

/// The head of the queue, held in registers while packets are processed.
struct Head {
    /// When it departs, and its description; [`Time::NEVER`] and anything if the queue is empty.
    scheduled: Scheduled,
    /// As [`Transmitter::last`].
    last: Scheduled,
}

impl Head {
    fn of(transmitter: &Transmitter) -> Self {
        Self { scheduled: transmitter.waiting.head_or_never(), last: transmitter.last }
    }

    /// Apply the departures up to `now`. Whether the head has departed by then is unpredictable, so
    /// the first step is branch-free; further departures are rare.
    #[inline(always)]
    fn catch_up<L: DropPolicy + ?Sized>(
        &mut self,
        now: Time,
        transmitter: &mut Transmitter,
        law: &mut L,
    ) {
        self.depart_if(self.scheduled.start <= now, transmitter, law);
        while self.scheduled.start <= now {
            self.depart_if(true, transmitter, law);
        }
    }

    /// Remove the head if it `departs`.
    #[inline(always)]
    fn depart_if<L: DropPolicy + ?Sized>(
        &mut self,
        departs: bool,
        transmitter: &mut Transmitter,
        law: &mut L,
    ) {
        let Self { scheduled, last } = self;
        transmitter.queue.backlog.remove_if(departs, scheduled.packet);
        law.departed_if(departs, scheduled.packet, scheduled.start);
        last.start = select_unpredictable(departs, scheduled.start, last.start);
        last.packet = select_unpredictable(departs, scheduled.packet, last.packet);
        *scheduled = transmitter.waiting.pop_head_if(departs);
    }

    /// Append a packet to the queue.
    #[inline(always)]
    fn enqueue(&mut self, scheduled: Scheduled, transmitter: &mut Transmitter) {
        transmitter.waiting.push(scheduled);
        // Departures are in order: this holds only if the queue was empty.
        if scheduled.start < self.scheduled.start {
            self.scheduled = scheduled;
        }
    }
}
