//! A link but for the times at which transmissions begin: conditioners, queue and transmitter, for
//! kinds of links that choose these times themselves.

use forebay_network::{Context, Observation, OwnCount, Packet};
use forebay_units::{Rate, Span, Time};

use super::discipline::{Admission, Discipline};
use super::memory::Stated;
use super::transmitter::Transmitter;
use super::{LinkParts, OUT};
use crate::count_arrival;

/// Conditioners, queue and transmitter of a link that is executed event by event.
pub struct LinkCore {
    transmitter: Transmitter,
    stated: Stated,
    discipline: Discipline<true>,
}

impl LinkCore {
    /// Timer token: a packet has reached the far end. Its element calls [`LinkCore::deliver`] then.
    pub const OUT: u32 = OUT;

    /// The link of `parts`, whose transmitter has `rate`, and whose propagation delay is `delay`.
    #[must_use]
    pub fn new(rate: Rate, delay: Span, parts: LinkParts) -> Self {
        let LinkParts { link, conditioning, queue, background, notifier, share } = parts;
        let law = (queue.0.into_discipline(), queue.1);
        Self {
            transmitter: Transmitter::new(link, rate, delay, background),
            stated: Stated::new(conditioning, share.clone()),
            discipline: Discipline::new(link, law, (notifier, share)),
        }
    }

    /// `packet` arrives: conditioners and queue decide on it. If transmissions can begin now, the
    /// next packet is transmitted.
    pub fn arrive(&mut self, packet: &Packet, can_begin: bool, cx: &mut Context<'_>) {
        let (mut packet, now, link) = (*packet, cx.now(), self.transmitter.link);
        if !Transmitter::condition(link, &mut self.stated.conditioning, &mut packet, now, cx) {
            return;
        }
        count_arrival(link, &packet, cx);
        let arrival = (now, self.transmitter.idle_since(now));
        let admission = self.discipline.admit(&packet, arrival, &mut self.transmitter.queue, cx);
        if admission == Admission::Waits {
            if can_begin {
                self.transmit(cx);
            }
            // A packet that is transmitted at once has not waited.
            self.transmitter.update_max_queue();
        }
    }

    /// The earliest time at which the next packet may leave the queue if none arrives before;
    /// [`Time::NEVER`] if none waits.
    #[must_use]
    pub fn ready_at(&self) -> Time {
        if self.transmitter.backlog().packets == 0 {
            return Time::NEVER;
        }
        self.discipline.ready_at(self.transmitter.free_at)
    }

    /// Begin to transmit the next packet, if one may leave now.
    pub fn transmit(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.ready_at() > now {
            return;
        }
        let Some(packet) = self.discipline.next(now, &mut self.transmitter.queue, cx) else {
            return;
        };
        let (alone, link) = (self.transmitter.in_flight.is_empty(), self.transmitter.link);
        let out = self.transmitter.schedule_tx(&packet, now);
        cx.observe(|| Observation::Departs { link, packet: &packet, at: now });
        if alone {
            cx.wake_at(out, OUT);
        }
    }

    /// A packet has reached the far end, for which the timer was set.
    pub fn deliver(&mut self, cx: &mut Context<'_>) {
        if let Some(next) = self.transmitter.deliver_first(cx) {
            cx.wake_at(next, OUT);
        }
    }

    /// Counters and what it holds, for [`Element::counters`](forebay_network::Element::counters).
    pub fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        self.transmitter.sync_counters(false, cx);
        let waiting = u64::from(self.transmitter.backlog().packets);
        let held = self.transmitter.in_flight.len() as u64 + waiting;
        let counters = self.discipline.class_counts(cx.now());
        let state = self.stated.with(self.transmitter.backlog());
        OwnCount { held, counters, state: Some(state) }
    }

    /// Inner quantities, for [`Element::probes`](forebay_network::Element::probes).
    pub fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.transmitter.probes(&self.stated.conditioning, visit);
        self.discipline.probes(visit);
    }
}
