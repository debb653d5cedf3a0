//! What an element can do.

use forebay_kernel::{Agenda, Digest, Passing, Ring};
use forebay_units::{Span, Time};

use crate::feeds::{Feeds, Inbox};
use crate::ledger::slot;
use crate::routes::{Lane, NO_FEED, Onward, Routes, SINK};
use crate::{DropReason, Ecn, Ledger, LinkCount, Observation, Observer, Packet, Standing};

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

/// An end of routes that only counts.
pub(crate) struct Sink {
    /// Bytes of each packet that are not payload.
    pub(crate) header: u64,
    /// What it received.
    pub(crate) digest: Digest,
}

/// A packet on the way between elements.
#[derive(Clone, Copy)]
pub(crate) struct Letter {
    pub(crate) packet: Packet,
    /// The present.
    pub(crate) at: Time,
    pub(crate) to: u32,
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
        let first = Letter { packet, at: Time::ZERO, to: 0 };
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
    pub(crate) sinks: Vec<Sink>,
    /// Whether it is worth it to look ahead.
    pub(crate) foresees: bool,
    pub(crate) traversals: u64,
    /// Events of the model that never were in the agenda, less those of the agenda that were none
    /// of the model's.
    pub(crate) unlisted: i64,
    /// How elements stand to their neighbours; known when the run begins.
    pub(crate) standings: Vec<Standing>,
    /// What has been told ahead of time and not been met.
    pub(crate) feeds: Feeds,
    /// All that arrives up to then is known to whoever is told ahead of time.
    pub(crate) horizon: Time,
    /// Nobody looks before all that is due by then has been handled.
    pub(crate) look: Time,
    pub(crate) sack_blocks: Vec<SackBlocks>,
    pub(crate) free_slots: Vec<u32>,
}

impl Core {
    /// All that arrives at `receiver`, an element or the first member of a site, up to then is
    /// known.
    #[inline]
    pub(crate) fn known_until(&self, receiver: u32) -> Time {
        self.horizon.max(self.feeds.inbox(receiver).known_until().min(self.look))
    }
}

/// The hands of an element: all that it can do to the rest of the network.
pub struct Context<'a> {
    pub(crate) core: &'a mut Core,
    pub(crate) me: u32,
    /// The present of the element, which is past where it is run late.
    pub(crate) now: Time,
    /// What it has of its site; `None` for an element that is never run late.
    pub(crate) own: Option<Own<'a>>,
}

/// What an element that is run late has of its site.
pub(crate) struct Own<'a> {
    pub(crate) timers: &'a mut Agenda,
    /// Before which time there is nothing to do at the site but for its timers.
    pub(crate) before: Time,
}

impl<'a> Context<'a> {
    /// The hands of element `me`, which is never run late, at `now`.
    #[inline(always)]
    pub(crate) fn of(core: &'a mut Core, me: u32, now: Time) -> Self {
        Self { core, me, now, own: None }
    }

    /// The present.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Have [`crate::Element::wake`] called at `time` with `token`. Timers are not cancelled: an
    /// element that has changed its mind ignores the call.
    #[inline(always)]
    pub fn wake_at(&mut self, time: Time, token: u32) {
        match &mut self.own {
            None => self.core.agenda.insert(time, self.me, token),
            Some(own) => own.timers.insert(time, self.me, token),
        }
    }

    /// Before which time nothing comes that concerns this element, given the timers set so far: for
    /// [`Context::goes_on_at`]. Asked when it is woken.
    #[inline]
    #[must_use]
    pub fn free_until(&self) -> Time {
        self.own.as_ref().map_or(Time::ZERO, |own| own.timers.idle_until().min(own.before))
    }

    /// Have done with the present and go on at `time`: at once, and true, if that comes before
    /// `free`, which [`Context::free_until`] gave, and nobody was handed a packet that must be
    /// received first; else [`crate::Element::wake`] will be called with `token`. The last thing to
    /// be done when woken.
    #[inline(always)]
    #[must_use]
    pub fn goes_on_at(&mut self, time: Time, token: u32, free: Time) -> bool {
        if time < free && !self.core.feeds.brimming && !self.core.mail.full {
            self.now = time;
            self.core.unlisted += 1;
            return true;
        }
        self.wake_at(time, token);
        false
    }

    /// Before which time no timer of the site of this element is due. At once, if somebody was
    /// handed a packet that must be received first, or told of many.
    #[inline(always)]
    pub(crate) fn undisturbed_until(&self) -> Time {
        let timers = self.own.as_ref().map_or(Time::ZERO, |own| own.timers.idle_until());
        if self.core.feeds.brimming | self.core.mail.full { Time::ZERO } else { timers }
    }

    /// Hand `packet` to the next element of its route.
    #[inline]
    pub fn forward(&mut self, packet: &Packet) {
        let to = self.core.routes.after(self.me, packet.route).to;
        let at = self.now();
        if to & SINK == 0 {
            self.core.mail.push(Letter { packet: *packet, at, to });
        } else {
            self.sink(to, packet, at);
        }
    }

    /// How this element stands to its neighbours. Asked when the run begins.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.core.standings[self.me as usize]
    }

    /// Where whatever leaves this element goes, if it is told early and there is one place. Asked
    /// when the run begins.
    #[must_use]
    pub fn onward(&self) -> Option<Onward> {
        self.core.routes.onward(self.me)
    }

    /// `packet` will have reached the far end of a link at `at`: tell the next element, which
    /// expects that. Only if [`Standing::early`], and in the order of time.
    #[inline(never)]
    pub fn announce(&mut self, packet: &Packet, at: Time) {
        self.announce_onward(None, packet, at);
    }

    /// As [`Context::announce`], with what [`Context::onward`] gave, which spares looking up who
    /// is next.
    #[inline(always)]
    pub fn announce_onward(&mut self, onward: Option<Onward>, packet: &Packet, at: Time) {
        let next = match onward {
            Some(Onward(step)) => step,
            None => self.core.routes.after(self.me, packet.route),
        };
        debug_assert!(at + self.standing().slack >= self.core.agenda.now(), "told too late");
        debug_assert!(next.feed != NO_FEED, "nobody listens");
        self.core.feeds.tell(next.inbox, next.feed, packet, at);
    }

    /// `packet` has reached the far end of a link at `at`, which may be past, and there a sink.
    /// Only if [`Standing::quiet`], and in the order of time.
    #[inline]
    pub fn crossed_at(&mut self, packet: &Packet, at: Time) {
        self.core.traversals += 1;
        self.core.unlisted += 1;
        let to = self.core.routes.after(self.me, packet.route).to;
        // Nobody observes.
        let payload = self.digest_at_sink(to, packet, at);
        self.count_delivery(packet, at, payload);
    }

    /// The packets that this element has been told of.
    #[inline]
    pub fn inbox(&mut self) -> &mut Inbox {
        self.core.feeds.of(self.me)
    }

    /// Take the inbox in hand, to read packets in their places while they are handled.
    #[inline]
    #[must_use]
    pub fn open_inbox(&mut self) -> Inbox {
        std::mem::take(self.core.feeds.of(self.me))
    }

    /// Put the inbox back: what was taken from it has crossed the link before this element.
    #[inline]
    pub fn close_inbox(&mut self, mut inbox: Inbox) {
        let taken = std::mem::take(&mut inbox.taken);
        self.core.traversals += taken;
        self.core.unlisted += taken as i64;
        *self.core.feeds.of(self.me) = inbox;
    }

    /// Let packets of `inbox`, which is in hand and has one feed, that arrive by `limit` pass to
    /// `onward` in one go, as `pass` writes them with the times at which they get there. Stops
    /// where the other inbox may not hold more.
    #[inline(always)]
    pub fn pass_on(
        &mut self,
        inbox: &mut Inbox,
        (limit, onward): (Time, Lane),
        mut pass: impl FnMut(&(Packet, Time), &mut (Packet, Time), &mut Self) -> Passing,
    ) {
        let Lane { receiver, feed } = onward;
        let mut target = std::mem::take(self.core.feeds.of(receiver));
        let to = (&mut target, feed as usize);
        let first = inbox.pass_into(to, limit, |told, place| pass(told, place, self));
        *self.core.feeds.of(receiver) = target;
        if let Some(first) = first {
            self.core.feeds.ring_for(receiver, first);
        }
    }

    /// The way on for [`Context::pass_on`], if all packets of this element come by one feed and go
    /// to one place.
    #[must_use]
    pub fn lane(&mut self) -> Option<Lane> {
        let Onward(step) = self.onward()?;
        let lane = Lane { receiver: step.inbox, feed: step.feed };
        self.inbox().is_single().then_some(lane)
    }

    /// All that arrives up to then is known to whoever is told ahead of time.
    #[inline]
    #[must_use]
    pub fn horizon(&self) -> Time {
        self.core.horizon
    }

    /// Nobody looks at counters or gauges before all that is due by then has been handled. So
    /// whatever concerns this element alone may be done ahead of the present, up to then.
    #[inline]
    #[must_use]
    pub fn look(&self) -> Time {
        self.core.look
    }

    /// All that arrives here up to then is known, which may be ahead of the present: who tells of
    /// packets does so in the order of time. No later than [`Context::look`].
    #[inline]
    #[must_use]
    pub fn known_until(&self) -> Time {
        self.core.known_until(self.me)
    }

    /// Have [`crate::Element::told`] called when this element is told of a packet that arrives
    /// before `time`, and only then. Once it was called, nothing later concerns it until it says so
    /// again.
    #[inline]
    pub fn listen_before(&mut self, time: Time) {
        self.core.feeds.ring_before(self.me, time);
    }

    /// Have [`crate::Element::told`] called whenever the [inbox](Context::inbox) holds many
    /// packets, and only then: for whoever is in no hurry.
    #[inline]
    pub fn listen_when_many(&mut self) {
        self.core.feeds.ring_when_many(self.me);
    }

    /// The event that this element was woken by is none of the model, only of its execution.
    #[inline]
    pub fn uncount_event(&mut self) {
        self.core.unlisted -= 1;
    }

    /// Something has happened in the model that is an event where somebody watches.
    #[inline]
    pub fn count_event(&mut self) {
        self.core.unlisted += 1;
    }

    /// `packet`, that a sink was told of, arrived there at `at`; it has so many bytes of header.
    #[inline(always)]
    pub(crate) fn count_at_sink(&mut self, packet: &Packet, at: Time, header: u64) {
        self.count_delivery(packet, at, u64::from(packet.size).saturating_sub(header));
    }

    /// `packet` arrived at sink `to` at `at`.
    #[inline]
    fn sink(&mut self, to: u32, packet: &Packet, at: Time) {
        let payload = self.digest_at_sink(to, packet, at);
        self.deliver_at(packet, at, payload);
    }

    /// Take the reception of `packet` at `at` into the digest of sink `to`; its payload.
    #[inline(always)]
    fn digest_at_sink(&mut self, to: u32, packet: &Packet, at: Time) -> u64 {
        let sink = &mut self.core.sinks[(to & !SINK) as usize];
        packet.received(at, &mut sink.digest);
        u64::from(packet.size).saturating_sub(sink.header)
    }

    /// A packet has crossed a span inside this element, and stays in it.
    #[inline]
    pub fn passed(&mut self) {
        self.core.traversals += 1;
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
            if packet.is_retransmission() {
                flow.retransmissions += 1;
            }
            if flow.sent.packets == 1 {
                self.first_counted(packet.flow);
            }
        }
        if self.is_observed() {
            // A copy of its own, so that the packet itself need not lie in memory.
            let seen = packet;
            self.observe(|| Observation::Sent { packet: &seen });
        }
        let first = self.core.routes.first(packet.route);
        if first.feed == NO_FEED {
            self.core.mail.push(Letter { packet, at: now, to: first.to });
        } else {
            self.core.feeds.tell(first.inbox, first.feed, &packet, now);
        }
    }

    /// Data of `flow` was sent, the first that is counted: if it is the first of all, the flow
    /// starts.
    #[cold]
    #[inline(never)]
    fn first_counted(&mut self, flow: u32) {
        let now = self.now;
        let started = &mut self.core.ledger.flows[flow as usize].started;
        if started.is_none() {
            *started = Some(now);
            self.observe(|| Observation::Started { flow });
        }
    }

    /// The route that leads from here back to where `route` comes from, if one was laid.
    #[inline]
    #[must_use]
    pub fn way_back(&self, route: u32) -> Option<u32> {
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

    /// Count `packet` as delivered at `at`; its delay.
    #[inline(always)]
    fn count_delivery(&mut self, packet: &Packet, at: Time, payload: u64) -> Span {
        let delay = at.since(packet.created);
        let flow = self.core.ledger.flow(packet);
        // An acknowledgement need not touch what data change.
        if payload > 0 {
            flow.goodput += payload;
        }
        if packet.is_ack() {
            flow.acks[1] += 1;
            return delay;
        }
        flow.delivered.add(packet);
        flow.delay += u128::from(delay.ps());
        // What is rare is not written, nor perhaps read.
        if packet.ecn() == Ecn::Ce {
            flow.marked += 1;
        }
        if delay > flow.max_delay {
            flow.max_delay = delay;
        }
        if let Some(lateness) = self.core.ledger.lateness.get_mut(packet.flow as usize) {
            lateness.count(delay);
        }
        delay
    }

    /// `payload` bytes of `flow` reached the receiving application.
    #[inline]
    pub fn hand_over(&mut self, flow: u32, payload: u64) {
        self.core.ledger.flows[flow as usize].goodput += payload;
    }

    /// `packet` is dropped at `link`.
    pub fn discard(&mut self, link: u32, packet: &Packet, reason: DropReason) {
        let slot = slot(packet.precedence);
        self.link(link).dropped[slot][reason as usize] += 1;
        self.lose(link, packet, reason);
    }

    /// `packet` arrives at `link` and is dropped at once.
    #[inline]
    pub fn turn_away(&mut self, link: u32, packet: &Packet, reason: DropReason) {
        let (count, slot) = (self.link(link), slot(packet.precedence));
        count.arrived[slot].add(packet);
        count.dropped[slot][reason as usize] += 1;
        self.lose(link, packet, reason);
    }

    /// `packet` was dropped at `link`, where that has been counted.
    #[inline]
    fn lose(&mut self, link: u32, packet: &Packet, reason: DropReason) {
        let flow = self.core.ledger.flow(packet);
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
            let now = self.now;
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

    /// Keep SACK blocks for an acknowledgement; the handle goes into [`Packet::sack_slot`].
    pub fn keep_blocks(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(slot) = self.core.free_slots.pop() {
            self.core.sack_blocks[slot as usize - 1] = blocks;
            return slot;
        }
        self.core.sack_blocks.push(blocks);
        u32::try_from(self.core.sack_blocks.len())
            .expect("fewer than 2^32 acknowledgements are under way")
    }

    /// Take the SACK blocks of an acknowledgement that has arrived. No blocks for the handle 0.
    #[inline]
    pub fn take_blocks(&mut self, slot: u32) -> SackBlocks {
        if slot == 0 {
            return SackBlocks::default();
        }
        self.core.free_slots.push(slot);
        self.core.sack_blocks[slot as usize - 1]
    }
}
