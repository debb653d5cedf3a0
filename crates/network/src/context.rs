//! What an element can do.

use forebay_kernel::{Agenda, Digest};
use forebay_units::Time;

use crate::ledger::slot;
use crate::{DropReason, Ecn, Ledger, LinkCount, Observation, Observer, Packet};

/// SACK blocks of an acknowledgement (RFC 2018): half-open ranges of segment numbers, the most
/// recently changed first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(u64, u64); 4],
    count: u8,
}

impl SackBlocks {
    /// Append a block; ignored when there is no room.
    pub fn push(&mut self, first: u64, end: u64) {
        if let Some(place) = self.blocks.get_mut(usize::from(self.count)) {
            *place = (first, end);
            self.count += 1;
        }
    }

    /// The blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// Which element comes next, by element and route: what a router's forwarding table is.
#[derive(Default)]
pub(crate) struct Routes {
    first: Vec<u32>,
    next: Vec<Vec<u32>>,
}

/// An entry of the table for a route that does not pass the element.
const NOT_HERE: u32 = u32::MAX;

impl Routes {
    /// Add the route that passes `elements`; its number.
    pub(crate) fn add(&mut self, elements: &[u32]) -> u32 {
        assert!(elements.len() > 1 || elements[0] & SINK == 0, "a route passes an element");
        let route = self.first.len();
        self.first.push(*elements.first().expect("a route has a destination"));
        for pair in elements.windows(2) {
            let here = pair[0] as usize;
            if self.next.len() <= here {
                self.next.resize(here + 1, Vec::new());
            }
            let row = &mut self.next[here];
            if row.len() <= route {
                row.resize(route + 1, NOT_HERE);
            }
            assert_eq!(row[route], NOT_HERE, "a route passes an element once");
            row[route] = pair[1];
        }
        u32::try_from(route).expect("a network has fewer than 2^32 routes")
    }

    #[inline]
    fn first(&self, route: u32) -> u32 {
        self.first[route as usize]
    }

    /// Whether every route that passes `element` ends in a sink right after it, and some does.
    fn end_after(&self, element: u32) -> bool {
        let mut here = self.next.get(element as usize).into_iter().flatten();
        let mut here = here.by_ref().filter(|next| **next != NOT_HERE).peekable();
        here.peek().is_some() && here.all(|next| next & SINK != 0)
    }

    #[inline]
    fn after(&self, element: u32, route: u32) -> u32 {
        self.next[element as usize][route as usize]
    }
}

/// Numbers with this bit name sinks.
pub(crate) const SINK: u32 = 1 << 31;

/// An end of routes that only counts.
pub(crate) struct Sink {
    /// Bytes of each packet that are not payload.
    pub(crate) header: u64,
    /// What it received.
    pub(crate) digest: Digest,
}

/// Take the reception of `packet` at `now` into `digest`.
#[inline]
pub(crate) fn note(digest: &mut Digest, now: Time, packet: &Packet) {
    let header = u64::from(packet.size)
        | u64::from(packet.precedence) << 16
        | u64::from(packet.flag_bits()) << 24
        | u64::from(packet.flow) << 32;
    // Data of calls carry the call in their tag; the tag of an acknowledgement repeats a time.
    let call = if packet.is_ack() { 0 } else { packet.tag.rotate_left(16) };
    digest.note(now.ps(), packet.number.rotate_left(32) ^ header ^ call);
}

/// Packets on the way between elements, in order: addresses and packets side by side, so that a
/// packet is copied from its queue to here and nowhere in between.
#[derive(Default)]
pub(crate) struct Mail {
    pub(crate) to: Vec<u32>,
    pub(crate) packets: Vec<Packet>,
}

impl Mail {
    #[inline]
    fn push(&mut self, to: u32, packet: &Packet) {
        self.to.push(to);
        self.packets.extend_from_slice(std::slice::from_ref(packet));
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.to.clear();
        self.packets.clear();
    }
}

/// Everything of a network but its elements.
#[derive(Default)]
pub(crate) struct Core {
    pub(crate) agenda: Agenda,
    /// Packets handed on and not yet received.
    pub(crate) mail: Mail,
    pub(crate) routes: Routes,
    pub(crate) ledger: Ledger,
    pub(crate) observers: Vec<Box<dyn Observer>>,
    /// What each element received.
    pub(crate) digests: Vec<Digest>,
    pub(crate) sinks: Vec<Sink>,
    pub(crate) traversals: u64,
    /// Events of the model that never were in the agenda.
    pub(crate) unlisted: u64,
    notes: Vec<SackBlocks>,
    free_notes: Vec<u32>,
}

/// The hands of an element: all that it can do to the rest of the network.
pub struct Context<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) me: u32,
}

impl Context<'_> {
    /// The present.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.core.agenda.now()
    }

    /// Have [`crate::Element::wake`] called at `time` with `token`. Timers are not cancelled: an
    /// element that has changed its mind ignores the call.
    #[inline(always)]
    pub fn wake_at(&mut self, time: Time, token: u32) {
        self.core.agenda.insert(time, self.me, token);
    }

    /// Hand `packet` to the next element of its route.
    #[inline]
    pub fn forward(&mut self, packet: &Packet) {
        let to = self.core.routes.after(self.me, packet.route);
        if to & SINK == 0 {
            self.core.mail.push(to, packet);
        } else {
            self.sink(to, packet, self.now());
        }
    }

    /// Whether all packets that leave this element go to sinks and no observer wants to know when:
    /// then their way out needs no event, see [`Context::cross_at`]. Asked when the run begins.
    #[must_use]
    pub fn leads_to_sinks(&self) -> bool {
        self.core.observers.is_empty() && self.core.routes.end_after(self.me)
    }

    /// `packet` has reached the far end of a link, and there a sink, at `at`, which may be past:
    /// to be used under the condition of [`Context::leads_to_sinks`], in the order of time.
    #[inline]
    pub fn cross_at(&mut self, packet: &Packet, at: Time) {
        self.core.traversals += 1;
        self.core.unlisted += 1;
        let to = self.core.routes.after(self.me, packet.route);
        self.sink(to, packet, at);
    }

    /// `packet` arrived at sink `to` at `at`.
    #[inline]
    fn sink(&mut self, to: u32, packet: &Packet, at: Time) {
        let sink = &mut self.core.sinks[(to & !SINK) as usize];
        note(&mut sink.digest, at, packet);
        let payload = u64::from(packet.size).saturating_sub(sink.header);
        self.deliver_at(packet, at);
        self.hand_over(packet.flow, payload);
    }

    /// `packet` has reached the far end of a link: hand it to the next element of its route.
    #[inline]
    pub fn cross(&mut self, packet: &Packet) {
        self.core.traversals += 1;
        self.forward(packet);
    }

    /// A host sends `packet` into the network: count it and hand it on.
    #[inline(always)]
    pub fn send(&mut self, packet: Packet) {
        let now = self.now();
        let flow = self.core.ledger.flow(&packet);
        if packet.is_ack() {
            flow.acks[0] += 1;
        } else {
            flow.sent.add(&packet);
            flow.retransmissions += u64::from(packet.is_retransmission());
            if flow.started.is_none() {
                flow.started = Some(now);
                self.observe(|| Observation::Started { flow: packet.flow });
            }
        }
        self.observe(|| Observation::Sent { packet: &packet });
        let to = self.core.routes.first(packet.route);
        self.core.mail.push(to, &packet);
    }

    /// `packet` reached its destination: count it.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet) {
        self.deliver_at(packet, self.now());
    }

    #[inline]
    fn deliver_at(&mut self, packet: &Packet, at: Time) {
        let delay = at.since(packet.created);
        let flow = self.core.ledger.flow(packet);
        if packet.is_ack() {
            flow.acks[1] += 1;
        } else {
            flow.delivered.add(packet);
            flow.marked += u64::from(packet.ecn() == Ecn::Ce);
            flow.delay += u128::from(delay.ps());
            flow.max_delay = flow.max_delay.max(delay);
        }
        self.observe(|| Observation::Delivered { packet, delay });
    }

    /// `payload` bytes of `flow` reached the receiving application.
    #[inline]
    pub fn hand_over(&mut self, flow: u32, payload: u64) {
        self.core.ledger.flows[flow as usize].goodput += payload;
    }

    /// `packet` is dropped at `link`.
    pub fn discard(&mut self, link: u32, packet: &Packet, reason: DropReason) {
        self.core.ledger.links[link as usize].dropped[slot(packet.precedence)][reason as usize] +=
            1;
        let flow = self.core.ledger.flow(packet);
        if packet.is_ack() {
            flow.acks[2] += 1;
        } else {
            flow.dropped.add(packet);
        }
        self.observe(|| Observation::Dropped { link, packet, reason });
        if packet.note != 0 {
            self.core.free_notes.push(packet.note);
        }
    }

    /// A retransmission timer of `flow` expired.
    pub fn timed_out(&mut self, flow: u32) {
        self.core.ledger.flows[flow as usize].timeouts += 1;
        self.observe(|| Observation::Timeout { flow });
    }

    /// `flow` has ended.
    pub fn ended(&mut self, flow: u32) {
        let now = self.now();
        self.core.ledger.flows[flow as usize].ended = Some(now);
        self.observe(|| Observation::Ended { flow });
    }

    /// The counters of `link`.
    #[inline]
    pub fn link(&mut self, link: u32) -> &mut LinkCount {
        &mut self.core.ledger.links[link as usize]
    }

    /// All counters.
    #[inline]
    pub fn ledger(&mut self) -> &mut Ledger {
        &mut self.core.ledger
    }

    /// Tell observers a fact; costs a test when there are none.
    #[inline]
    pub fn observe<'f>(&mut self, fact: impl FnOnce() -> Observation<'f>) {
        if !self.core.observers.is_empty() {
            let fact = fact();
            let now = self.core.agenda.now();
            for observer in &mut self.core.observers {
                observer.observe(now, &fact);
            }
        }
    }

    /// Keep SACK blocks for an acknowledgement; the handle goes into [`Packet::note`].
    pub fn keep_blocks(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(note) = self.core.free_notes.pop() {
            self.core.notes[note as usize - 1] = blocks;
            return note;
        }
        self.core.notes.push(blocks);
        u32::try_from(self.core.notes.len())
            .expect("fewer than 2^32 acknowledgements are under way")
    }

    /// Take the SACK blocks of an acknowledgement that has arrived. No blocks for the handle 0.
    #[inline]
    pub fn take_blocks(&mut self, note: u32) -> SackBlocks {
        if note == 0 {
            return SackBlocks::default();
        }
        self.core.free_notes.push(note);
        self.core.notes[note as usize - 1]
    }
}
