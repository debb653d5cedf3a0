//! What an element can do.

use forebay_kernel::{Agenda, Digest, Ring};
use forebay_units::Time;

use crate::border::{Cut, Parcels};
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

    /// What follows `element` on the routes that pass it.
    pub(crate) fn following(&self, element: u32) -> impl Iterator<Item = u32> {
        let here = self.next.get(element as usize).into_iter().flatten();
        here.copied().filter(|next| *next != NOT_HERE)
    }

    /// The table with `lead(element, next)` instead of `next` after each element; nothing follows
    /// where that gives nothing.
    pub(crate) fn within(&self, lead: &dyn Fn(u32, u32) -> Option<u32>) -> Self {
        let row = |(element, row): (u32, &Vec<u32>)| {
            let lead = |next: &u32| {
                let there = (*next != NOT_HERE).then(|| lead(element, *next)).flatten();
                there.unwrap_or(NOT_HERE)
            };
            let row: Vec<u32> = row.iter().map(lead).collect();
            if row.iter().all(|next| *next == NOT_HERE) { Vec::new() } else { row }
        };
        Self { first: self.first.clone(), next: (0..).zip(&self.next).map(row).collect() }
    }

    /// How each element stands to its neighbours, some of which `cut` may put into other regions;
    /// `books` and `expects` say what it can do.
    pub(crate) fn standings(
        &self,
        books: &[bool],
        expects: &[bool],
        cut: &Cut<'_>,
    ) -> Vec<Standing> {
        let elements = 0..u32::try_from(books.len()).expect("elements are numbered by 32 bits");
        // Who alone sends to each: itself stands for nobody yet, or for several.
        let mut feeder: Vec<Option<u32>> = vec![None; books.len()];
        let mut shared = vec![false; books.len()];
        for first in self.first.iter().filter(|first| **first & SINK == 0) {
            shared[*first as usize] = true;
        }
        for me in elements.clone() {
            for next in self.following(me).filter(|next| next & SINK == 0) {
                let feeder = &mut feeder[next as usize];
                shared[next as usize] |= feeder.is_some_and(|other| other != me);
                *feeder = Some(me);
            }
        }
        // Before a border, a packet must be met when it arrives, and not when that begins to
        // matter.
        let lone =
            |next: u32| expects[next as usize] && !shared[next as usize] && !cut.is_border(next);
        let books = |me: u32| books[me as usize] && self.following(me).next().is_some();
        let early = |me: u32| {
            let told = |next: u32| match next & SINK {
                0 => lone(next) || cut.parts(me, next),
                _ => cut.is_border(me),
            };
            books(me) && self.following(me).all(told)
        };
        let standing = |me: u32| Standing {
            expects: lone(me) && feeder[me as usize].is_some_and(early),
            early: early(me),
            quiet: books(me) && self.following(me).all(|next| next & SINK != 0),
        };
        elements.map(standing).collect()
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
#[inline(always)]
pub(crate) fn note(digest: &mut Digest, now: Time, packet: &Packet) {
    let header = u64::from(packet.size)
        | u64::from(packet.precedence) << 16
        | u64::from(packet.flag_bits()) << 24
        | u64::from(packet.flow) << 32;
    digest.note(now.ps(), packet.number.rotate_left(32) ^ header ^ packet.tag.rotate_left(16));
}

/// How an element stands to its neighbours, which the routes and the observers decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// Every packet comes through [`crate::Element::expect`], ahead of its time.
    pub expects: bool,
    /// Whatever leaves goes to elements that expect it: they are told by [`Context::announce`]
    /// ahead of its time, and leaving needs no event.
    pub early: bool,
    /// Whatever leaves goes to sinks: nobody needs to know soon, and leaving needs no event. See
    /// [`Context::crossed_at`].
    pub quiet: bool,
}

/// A packet on the way between elements.
#[derive(Clone, Copy)]
pub(crate) struct Letter {
    pub(crate) packet: Packet,
    /// When it arrives; the present if not `early`.
    pub(crate) at: Time,
    pub(crate) to: u32,
    pub(crate) early: bool,
}

/// Packets on the way between elements, in order. One at a time is the rule, so the first has a
/// place of its own.
pub(crate) struct Mail {
    pub(crate) first: Letter,
    pub(crate) full: bool,
    /// What was handed on while `first` was full or others waited here.
    more: Ring<Letter>,
}

impl Default for Mail {
    fn default() -> Self {
        let packet = Packet::data(Time::ZERO, 0, 0, 0, 0);
        let first = Letter { packet, at: Time::ZERO, to: 0, early: false };
        Self { first, full: false, more: Ring::default() }
    }
}

impl Mail {
    #[inline(always)]
    fn push(&mut self, letter: Letter) {
        if self.full || !self.more.is_empty() {
            self.more.push_back(letter);
        } else {
            self.first = letter;
            self.full = true;
        }
    }

    /// The first was taken and received: the next takes its place.
    #[inline(always)]
    pub(crate) fn refill(&mut self) {
        if let Some(next) = self.more.front() {
            self.first = *next;
            self.more.pop_front();
            self.full = true;
        }
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
    /// What each element received of the packets that it expected.
    pub(crate) expected: Vec<Digest>,
    pub(crate) sinks: Vec<Sink>,
    pub(crate) traversals: u64,
    /// Events of the model that never were in the agenda, less those of the agenda that were none
    /// of the model's.
    pub(crate) unlisted: i64,
    /// How elements stand to their neighbours; known when the run begins.
    pub(crate) standings: Vec<Standing>,
    /// What goes to other regions, by region.
    pub(crate) outbox: Vec<Parcels>,
    pub(crate) notes: Vec<SackBlocks>,
    pub(crate) free_notes: Vec<u32>,
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
        let at = self.now();
        if to & SINK == 0 {
            self.core.mail.push(Letter { packet: *packet, at, to, early: false });
        } else {
            self.sink(to, packet, at);
        }
    }

    /// How this element stands to its neighbours. Asked when the run begins.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.core.standings[self.me as usize]
    }

    /// `packet` will have reached the far end of a link at `at`: tell the next element, which
    /// expects that. Only if [`Standing::early`], and in the order of time.
    #[inline]
    pub fn announce(&mut self, packet: &Packet, at: Time) {
        let to = self.core.routes.after(self.me, packet.route);
        self.core.mail.push(Letter { packet: *packet, at, to, early: true });
    }

    /// `packet` has reached the far end of a link at `at`, which may be past, and there a sink.
    /// Only if [`Standing::quiet`], and in the order of time.
    #[inline]
    pub fn crossed_at(&mut self, packet: &Packet, at: Time) {
        self.core.traversals += 1;
        self.core.unlisted += 1;
        let to = self.core.routes.after(self.me, packet.route);
        self.sink(to, packet, at);
    }

    /// `packet`, which was expected, has crossed the link before this element and arrived at `at`,
    /// which may be past: in the order of time.
    #[inline]
    pub fn arrived_at(&mut self, packet: &Packet, at: Time) {
        self.core.traversals += 1;
        self.core.unlisted += 1;
        note(&mut self.core.expected[self.me as usize], at, packet);
    }

    /// Whether whoever follows on the route of `packet` is told of it ahead of its time.
    #[inline]
    pub(crate) fn next_expects(&self, packet: &Packet) -> bool {
        let to = self.core.routes.after(self.me, packet.route);
        to & SINK == 0 && self.core.standings[to as usize].expects
    }

    /// `packet` will reach the far end of `link` at `at`, which lies in another region.
    #[inline]
    pub(crate) fn post(&mut self, region: u32, link: u32, packet: &Packet, at: Time) {
        let blocks = self.take_blocks(packet.note);
        self.core.outbox[region as usize].push(link, packet, at, blocks);
    }

    /// The event that this element was woken by is none of the model, only of its execution.
    #[inline]
    pub fn uncount_event(&mut self) {
        self.core.unlisted -= 1;
    }

    /// `packet` arrived at sink `to` at `at`.
    #[inline]
    fn sink(&mut self, to: u32, packet: &Packet, at: Time) {
        let sink = &mut self.core.sinks[(to & !SINK) as usize];
        note(&mut sink.digest, at, packet);
        let payload = u64::from(packet.size).saturating_sub(sink.header);
        self.deliver_at(packet, at, payload);
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
        self.core.mail.push(Letter { packet, at: now, to, early: false });
    }

    /// `packet` reached its destination: count it.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet) {
        self.deliver_at(packet, self.now(), 0);
    }

    #[inline]
    fn deliver_at(&mut self, packet: &Packet, at: Time, payload: u64) {
        let delay = at.since(packet.created);
        let flow = self.core.ledger.flow(packet);
        flow.goodput += payload;
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
        if self.is_observed() {
            let fact = fact();
            let now = self.core.agenda.now();
            for observer in &mut self.core.observers {
                observer.observe(now, &fact);
            }
        }
    }

    /// Whether there are observers: for facts that it costs something to gather.
    #[inline]
    #[must_use]
    pub fn is_observed(&self) -> bool {
        !self.core.observers.is_empty()
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
