//! The wire of a link as a law impairs it: behind the link, so that what is lost has taken its
//! time.

use std::collections::BTreeMap;

use forebay_kernel::Stream;
use forebay_laws::impairment::{Impairment, Passage};
use forebay_network::{
    Context, Element, LinkId, LogicalProcess, Observation, OwnCount, Packet, PacketKind,
};
use forebay_units::{Span, Time};

/// A law of what becomes of packets that have crossed a link, and those that it delays.
pub struct ImpairedWire {
    link: LinkId,
    law: Box<dyn Impairment>,
    stream: Stream,
    keeps_order: bool,
    /// Packets on their way, by the time at which they arrive and the order in which they came.
    held: BTreeMap<(Time, u64), Packet>,
    /// Packets held since the run began.
    count: u64,
    /// Time at which the last of them arrives.
    last: Time,
    /// Expiry of the timer that is in force; [`Time::NEVER`] for none.
    due: Time,
}

impl ImpairedWire {
    /// The wire of `link` under `law`, which draws from `stream`.
    #[must_use]
    pub fn new(link: LinkId, law: Box<dyn Impairment>, stream: Stream) -> Self {
        let keeps_order = law.keeps_order();
        Self {
            link,
            law,
            stream,
            keeps_order,
            held: BTreeMap::new(),
            count: 0,
            last: Time::ZERO,
            due: Time::NEVER,
        }
    }

    /// Hand `packet` on after `delay`.
    fn pass(&mut self, packet: &Packet, delay: Span, cx: &mut Context<'_>) {
        let mut arrival = cx.now() + delay;
        if self.keeps_order {
            arrival = arrival.max(self.last);
            self.last = arrival;
        }
        if arrival <= cx.now() {
            cx.forward(packet);
            return;
        }
        self.held.insert((arrival, self.count), *packet);
        self.count += 1;
        self.arm(cx);
    }

    /// Set the timer for the first packet that arrives.
    fn arm(&mut self, cx: &mut Context<'_>) {
        if let Some(((first, _), _)) = self.held.first_key_value()
            && *first < self.due
        {
            self.due = *first;
            cx.wake_at(*first, 0);
        }
    }

    /// A second one of `packet`, if there can be two of its kind: what ports and receivers of
    /// frames tell sources is not doubled.
    fn double(&self, packet: &Packet, cx: &mut Context<'_>) -> Option<Packet> {
        if !matches!(packet.kind(), PacketKind::Data | PacketKind::Ack) {
            return None;
        }
        let mut copy = *packet;
        copy.set_sack_slot(cx.sack_blocks().copy(packet.sack_slot()));
        cx.counters().count_duplicate(packet);
        let link = self.link;
        cx.observe(|| Observation::Duplicated { link, packet });
        Some(copy)
    }
}

impl LogicalProcess for ImpairedWire {}

impl Element for ImpairedWire {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        match self.law.pass(packet, cx.now(), &mut self.stream) {
            Passage::Passes => self.pass(packet, Span::ZERO, cx),
            Passage::Delayed(delay) => self.pass(packet, delay, cx),
            Passage::Lost(reason) => cx.drop(self.link, packet, reason),
            Passage::Doubled => {
                let copy = self.double(packet, cx);
                self.pass(packet, Span::ZERO, cx);
                if let Some(copy) = copy {
                    self.pass(&copy, Span::ZERO, cx);
                }
            }
        }
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        if now != self.due {
            return;
        }
        self.due = Time::NEVER;
        while let Some(entry) = self.held.first_entry()
            && entry.key().0 <= now
        {
            let packet = entry.remove();
            cx.forward(&packet);
        }
        self.arm(cx);
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.law.probes(visit);
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::held(self.held.len() as u64)
    }
}
