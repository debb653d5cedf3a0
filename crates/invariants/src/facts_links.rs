//! Facts about links: queued, coloured, marked, dropped, crossed.

use forebay_network::{Backlog, DropReason, Ecn, Packet};
use forebay_units::Time;

use crate::Invariant as Must;
use crate::checker::{Checker, show};
use crate::ledger::{Entry, Fit, Key, Whereabouts, marks};
use crate::link::{Before, Changing, Crossing, Queued};
use crate::offer::BIT;
use crate::places::Changes;
use crate::report::Place;
use crate::towards::Towards;

impl Checker {
    /// The packet under `key` is no longer on a link, if it was on one: it has crossed it.
    pub(crate) fn arrive(&mut self, key: Key, packet: &Packet) {
        let Some(entry) = self.ledger.entry(key) else { return };
        if let Whereabouts::Link(link) = entry.at {
            entry.at = Whereabouts::Between;
            self.crossed(link, key, packet);
        }
    }

    fn crossed(&mut self, link: usize, key: Key, packet: &Packet) {
        self.hops += 1;
        let (now, place) = (self.now, Place::Link(link));
        if self.places.links[link].changes.is_some() {
            return self.crossed_changing(link, key, packet);
        }
        let crossing = self.links[link].cross(key, &self.places.links[link], now);
        self.check(Must::PacketKnown, place, crossing.is_some(), || show(packet));
        let Some(Crossing { start, free_at, queued, overtaken, oldest, ahead }) = crossing else {
            return;
        };
        self.check(Must::LinkOrder, place, !overtaken, || {
            format!("{} has overtaken another of its flow", show(packet))
        });
        self.check(Must::LinkCausal, place, start >= queued.at, || {
            format!(
                "{} is sent from {} ps on and was queued at {} ps",
                show(packet),
                start.ps(),
                queued.at.ps()
            )
        });
        self.check(Must::LinkSpacing, place, start >= free_at, || {
            format!(
                "{} is sent from {} ps on, busy until {}",
                show(packet),
                start.ps(),
                free_at.ps()
            )
        });
        self.check_passed(link, &queued, free_at);
        let (ahead, allowed) = ahead;
        self.check(Must::LinkWindow, place, ahead <= allowed, || {
            format!("{} bits ahead of its rate", ahead / 1_000_000_000_000)
        });
        if !self.places.links[link].may_idle {
            let idle = start > free_at && oldest < start;
            self.check(Must::LinkWorkConserving, place, !idle, || {
                let since = free_at.max(oldest).ps();
                format!("idle from {since} ps to {} ps while a packet waits", start.ps())
            });
        }
    }

    /// The same of a link that changes: without delays that do not, all that shows is the order.
    fn crossed_changing(&mut self, link: usize, key: Key, packet: &Packet) {
        let (now, place) = (self.now, Place::Link(link));
        let model = &mut self.links[link];
        let known = match &self.places.links[link].changes {
            Some(Changes { offer: Some(offer), delay: Some(delay), .. }) => Some((offer, *delay)),
            _ => None,
        };
        let Some(known) = known else {
            let taken = model.take(key);
            self.check(Must::PacketKnown, place, taken.is_some(), || show(packet));
            let overtaken = taken.is_some_and(|(_, overtaken)| overtaken);
            self.check(Must::LinkOrder, place, !overtaken, || show(packet));
            return;
        };
        let crossing = model.cross_changing(key, known, now);
        self.check(Must::PacketKnown, place, crossing.is_some(), || show(packet));
        let Some(Changing { end, free_at, queued, overtaken, sent, offered, before }) = crossing
        else {
            return;
        };
        self.check(Must::LinkOrder, place, !overtaken, || {
            format!("{} has overtaken another of its flow", show(packet))
        });
        self.check(Must::LinkCausal, place, end >= queued.at, || {
            format!("{} is sent by {} ps and was queued later", show(packet), end.ps())
        });
        self.check_passed(link, &queued, free_at);
        self.check(Must::LinkWindow, place, sent <= offered, || {
            format!("{} bits are sent, {} were offered", sent / BIT, offered / BIT)
        });
        if let Some(before) = before {
            self.check_missed(link, &before);
        }
    }

    /// Checks packets that crossed a link that changes at one instant, after which other packets
    /// crossed it.
    fn check_missed(&mut self, link: usize, &Before { end, missed, largest }: &Before) {
        if !self.places.links[link].may_idle {
            self.check(Must::LinkWorkConserving, Place::Link(link), missed < largest, || {
                format!("what was sent by {} ps could be sent before", end.ps())
            });
        }
    }

    pub(crate) fn enqueued(&mut self, link: usize, packet: &Packet, backlog: Backlog) {
        let (now, place) = (self.now, Place::Link(link));
        let Some(key) = self.known(packet, &Towards::Links(vec![link]), place) else { return };
        // From span to span of a ring.
        if let Some(Whereabouts::Link(before)) = self.ledger.entry(key).map(|entry| entry.at) {
            self.check_transit((before, link), packet, true);
        }
        self.arrive(key, packet);
        let Some(entry) = self.ledger.entry(key) else { return };
        let (hop, before) = (entry.hops, entry.last_link.replace(link));
        (entry.at, entry.hops, entry.queued) = (Whereabouts::Link(link), hop + 1, now);
        entry.came = marks(packet);
        let came_as = entry.unmarked.take().unwrap_or(packet.ecn());
        if let Some(route) = self.places.route(packet.route) {
            let expected = route.get(hop).copied();
            self.check(Must::RouteFollowed, place, expected == Some(link), || {
                format!("{}: link {hop} of its route is {expected:?}", show(packet))
            });
        }
        if let Some((from, ..)) = self.places.ends(packet.route) {
            let near = &self.places.links[link].ends.0;
            let joined = match before {
                Some(before) => self.places.links[before].ends.1 == *near,
                None => from == near,
            };
            let near = near.clone();
            self.check(Must::RouteFollowed, place, joined, || {
                format!("{}: no link before it leads to {near}", show(packet))
            });
        }
        let model = &mut self.links[link];
        model.enqueue(key, (packet, came_as), now, &self.places.links[link]);
        model.tally(packet.precedence).arrived.add(packet);
        let (packets, bytes) = (model.queued.len() as u64, model.queued_bytes);
        let Backlog { packets: waiting, bytes: waiting_bytes } = backlog;
        let holds = u64::from(waiting) <= packets && waiting_bytes <= bytes;
        self.check(Must::LinkBacklog, place, holds, || {
            format!("{waiting} packets of {waiting_bytes} B; on it are {packets} of {bytes} B")
        });
        self.check_limit(link, backlog);
    }

    /// The packet queued last at `link` is the last of `backlog`. One that is alone there need not
    /// fit: whether the transmitter was free for it shows when it has crossed the link.
    fn check_limit(&mut self, link: usize, backlog: Backlog) {
        let limit = self.places.links[link].limit;
        if !limit.is_some() {
            return;
        }
        let (within, Backlog { packets, bytes }) = (limit.holds(backlog), backlog);
        if let Some(last) = self.links[link].queued.back_mut().filter(|_| !within && packets == 1) {
            last.too_large = true;
            return;
        }
        self.check(Must::LinkBuffer, Place::Link(link), within, || {
            format!("{packets} packets of {bytes} B; the limit is {limit:?}")
        });
    }

    /// `queued` leaves the queue of `link`, which was busy until `free_at`: what is too large for
    /// the buffer has not waited.
    fn check_passed(&mut self, link: usize, queued: &Queued, free_at: Time) {
        if queued.too_large {
            let limit = self.places.links[link].limit;
            self.check(Must::LinkBuffer, Place::Link(link), free_at <= queued.at, || {
                format!("a packet of {} B waits; the limit is {limit:?}", queued.size)
            });
        }
    }

    pub(crate) fn dropped(&mut self, link: usize, packet: &Packet, reason: DropReason) {
        if reason.is_on_wire() {
            self.lost_on_wire(link, packet, reason);
        } else {
            self.dropped_before(link, packet, reason);
        }
        let model = &mut self.flows[packet.flow.index()];
        if packet.is_feedback() {
            model.seen.acks[2] += 1;
        } else {
            model.seen.dropped.add(packet);
        }
    }

    /// The wire lost a packet that had crossed the link.
    fn lost_on_wire(&mut self, link: usize, packet: &Packet, reason: DropReason) {
        let place = Place::Link(link);
        let Some(key) = self.known(packet, &Towards::Beyond(link), place) else { return };
        self.ledger.leave(key);
        self.links[link].tally(packet.precedence).dropped[reason as usize] += 1;
        let impaired = self.places.links[link].impaired;
        self.check(Must::LinkReason, place, impaired, || {
            format!("{} is dropped: {}", show(packet), reason.name())
        });
    }

    /// The wire of `link` made two of `packet`.
    pub(crate) fn duplicated(&mut self, link: usize, packet: &Packet) {
        let place = Place::Link(link);
        let Some(key) = self.known(packet, &Towards::Beyond(link), place) else { return };
        let impaired = self.places.links[link].impaired;
        self.check(Must::LinkReason, place, impaired, || format!("{} is duplicated", show(packet)));
        self.ledger.duplicate(key);
        if !packet.is_feedback() {
            self.flows[packet.flow.index()].seen.duplicated += 1;
        }
    }

    fn dropped_before(&mut self, link: usize, packet: &Packet, reason: DropReason) {
        let place = Place::Link(link);
        let towards = Towards::Links(vec![link]);
        let Some(key) = self.known(packet, &towards, place) else { return };
        let at = self.ledger.entry(key).map(|entry| entry.at);
        match at {
            Some(Whereabouts::Link(here)) if here == link => {
                let taken = self.links[link].take(key);
                self.check(Must::PacketKnown, place, taken.is_some(), || show(packet));
                if let Some((queued, _)) = taken {
                    self.check_passed(link, &queued, self.now);
                }
            }
            Some(Whereabouts::Link(before)) => {
                self.arrive(key, packet);
                self.check_transit((before, link), packet, false);
                self.links[link].tally(packet.precedence).arrived.add(packet);
            }
            _ => self.links[link].tally(packet.precedence).arrived.add(packet),
        }
        self.ledger.leave(key);
        self.links[link].tally(packet.precedence).dropped[reason as usize] += 1;
        let of = &self.places.links[link];
        let possible = match reason {
            DropReason::Shaper => of.shapes,
            DropReason::Policed => of.polices,
            _ => true,
        };
        self.check(Must::LinkReason, place, possible, || {
            format!("{} is dropped: {}", show(packet), reason.name())
        });
    }

    /// A packet that came over the first of two links is queued at the other, or dropped there: not
    /// on a ring.
    fn check_transit(&mut self, (from, to): (usize, usize), packet: &Packet, queued: bool) {
        let ring = |link: usize| self.places.links[link].ring;
        if let (Some(before), Some(now)) = (ring(from), ring(to))
            && before.ring == now.ring
        {
            let high = now.high.is_some_and(|high| packet.precedence <= high);
            let must = if high { Must::RingHigh } else { Must::RingTransit };
            self.check(must, Place::Link(to), queued, || show(packet));
        }
    }

    pub(crate) fn marked(&mut self, link: usize, packet: &Packet) {
        let place = Place::Link(link);
        let capable = packet.is_ecn_capable();
        self.check(Must::MarkCapable, place, capable, || show(packet));
        // As it arrives, or as it leaves the queue.
        let arrives = Towards::Links(vec![link]);
        let fit = |entry: &Entry| arrives.fit(entry, packet.route, &self.places);
        let best = self.ledger.find(packet, &fit).and_then(|key| self.ledger.get(key));
        let before = best.filter(|entry| fit(entry) == Fit::There);
        let before = before.map(|entry| entry.packet.ecn());
        let towards = if before.is_some() { arrives } else { Towards::Queue(link) };
        let Some(key) = self.known(packet, &towards, place) else { return };
        if let Some(entry) = self.ledger.entry(key) {
            entry.unmarked = before;
        }
        let tally = self.links[link].tally(packet.precedence);
        match packet.ecn() {
            Ecn::Ce => tally.marked += 1,
            Ecn::Ect1 => tally.threshold_marked += 1,
            Ecn::Ect0 | Ecn::NotEct => {}
        }
    }

    pub(crate) fn coloured(&mut self, link: usize, packet: &Packet) {
        let towards = Towards::Links(vec![link]);
        if self.known(packet, &towards, Place::Link(link)).is_some() {
            self.check_payment(link, packet);
        }
    }
}
