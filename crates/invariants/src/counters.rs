//! Counters, compared with what was seen.

use forebay_network::{Counters, DropReason, FlowCount, LinkCount, PacketBytes, PrecedenceCount};
use forebay_units::Time;

use crate::CallTotals;
use crate::Invariant as Must;
use crate::checker::Checker;
use crate::flow::show;
use crate::link::{Carried, ClassTally};
use crate::places::FlowKind;
use crate::report::Place;

impl Checker {
    /// The counters at `now`, and how many packets all elements hold.
    pub fn counters(&mut self, now: Time, counters: &Counters, held: u64) {
        self.now = self.now.max(now);
        let (seen, hops) = (self.ledger.len() as u64, self.hops);
        self.check(Must::PacketsHeld, Place::Network, held == seen, || {
            format!("{held} packets in elements, {seen} were sent and have not left")
        });
        self.check(Must::PacketHops, Place::Network, counters.hops == hops, || {
            format!("{} are counted, {hops} were seen", counters.hops)
        });
        for (number, count) in counters.flows.iter().enumerate().take(self.flows.len()) {
            self.flow_counters(number, count);
        }
        for (number, count) in counters.links.iter().enumerate().take(self.links.len()) {
            self.link_counters(number, count);
        }
        let flows = counters.flows.iter().map(|flow| flow.dropped.packets + flow.acks[2]);
        let (flows, links) = (
            flows.sum::<u64>(),
            counters.links.iter().map(|link| drops(link, |_| true)).sum::<u64>(),
        );
        self.check(Must::FlowDropPlaces, Place::Network, flows == links, || {
            format!("{flows} of flows, {links} at links")
        });
    }

    /// Counting begins anew: a measurement window opens. `counters` are those before that.
    pub fn reset(&mut self, now: Time, counters: &Counters) {
        self.since = now;
        for (model, count) in self.links.iter_mut().zip(&counters.links) {
            model.carried = Carried {
                waiting: model.carried.waiting + waiting(count),
                busy: model.carried.busy + u128::from(count.busy),
            };
            model.reset();
        }
        self.flows.iter_mut().for_each(crate::flow::FlowModel::reset);
        self.calls.reset();
    }

    fn flow_counters(&mut self, number: usize, count: &FlowCount) {
        let place = Place::Flow(number);
        let seen = self.flows[number].seen;
        let pair = |counted: PacketBytes, seen: PacketBytes| {
            move || format!("{} are counted, {} were seen", show(counted), show(seen))
        };
        let same = count.sent == seen.sent;
        self.check(Must::FlowSent, place, same, pair(count.sent, seen.sent));
        let same = count.delivered == seen.delivered;
        self.check(Must::FlowDelivered, place, same, pair(count.delivered, seen.delivered));
        let same = count.dropped == seen.dropped;
        self.check(Must::FlowDropped, place, same, pair(count.dropped, seen.dropped));
        self.check(Must::FlowFeedback, place, count.acks == seen.acks, || {
            format!("sent, delivered and dropped: {:?}, seen {:?}", count.acks, seen.acks)
        });
        let (counted, of) = ((count.delay, count.max_delay), (seen.delay, seen.max_delay));
        self.check(Must::FlowDelay, place, counted == of, || format!("{counted:?}, seen {of:?}"));
        let most = u128::from(count.max_delay.ps()) * u128::from(count.delivered.packets);
        self.check(Must::DelayMean, place, count.delay <= most, || {
            format!("a sum of {} ps, at most {most} ps", count.delay)
        });
        let marked = count.marked == seen.marked && count.marked <= count.delivered.packets;
        self.check(Must::FlowMarks, place, marked, || {
            format!("{}, seen {} of {}", count.marked, seen.marked, count.delivered.packets)
        });
        let counted = (count.retransmissions, count.timeouts, count.duplicated);
        let of = (seen.retransmissions, seen.timeouts, seen.duplicated);
        self.check(Must::FlowRepeats, place, counted == of, || format!("{counted:?}, seen {of:?}"));
        if self.since == Time::ZERO {
            let out = count.delivered.packets + count.dropped.packets;
            let sent = count.sent.packets + count.duplicated;
            self.check(Must::FlowBalance, place, out <= sent, || format!("{out} of {sent}"));
            let (goodput, most) = (count.goodput, count.delivered.bytes);
            self.check(Must::FlowGoodput, place, goodput <= most, || {
                format!("{goodput} of {most}")
            });
        }
        if let FlowKind::Tcp { .. } = self.places.flows[number].kind {
            let in_order = self.flows[number].tcp.in_order;
            self.check(Must::TcpInOrder, place, count.goodput == in_order, || {
                format!("{} B handed over, {in_order} B are in order", count.goodput)
            });
        }
    }

    fn link_counters(&mut self, number: usize, count: &LinkCount) {
        let place = Place::Link(number);
        let none = ClassTally::default();
        for (precedence, counted) in count.precedences().enumerate() {
            let seen = self.links[number].tally.get(precedence).copied().unwrap_or(none);
            self.class_counters(number, precedence, counted, &seen);
        }
        let window = self.now.since(self.since).ps();
        self.check(Must::LinkBusy, place, count.busy <= window, || {
            format!("{} ps of {window} ps", count.busy)
        });
        let most = u128::from(count.max_queue) * u128::from(window);
        self.check(Must::LinkMeanQueue, place, count.queue_area <= most, || {
            format!("{} packet ps, at most {most}", count.queue_area)
        });
        let model = &self.links[number];
        let waits = model.carried.waiting + waiting(count);
        let on = model.queued.len() as i128;
        self.check(Must::LinkBalance, place, (0..=on).contains(&waits), || {
            format!("{waits} packets neither left nor were dropped; {on} are on the link")
        });
        // What packets take at a link that changes depends on when they come.
        if self.places.links[number].changes.is_some() {
            return;
        }
        let model = &self.links[number];
        let rate = self.places.links[number].rate;
        let span = |size: u16| {
            let size = forebay_units::Size::from_bytes(u64::from(size));
            u128::from(rate.transmission_time(size).ps())
        };
        let busy = model.carried.busy + u128::from(count.busy);
        let under_way: u128 = model.queued.iter().map(|queued| span(queued.size)).sum();
        let (least, most) = (model.work, model.work + under_way);
        self.check(Must::LinkWork, place, (least..=most).contains(&busy), || {
            format!("{busy} ps; its packets take {least} to {most} ps")
        });
    }

    fn class_counters(
        &mut self,
        number: usize,
        precedence: usize,
        counted: &PrecedenceCount,
        seen: &ClassTally,
    ) {
        let place = Place::Link(number);
        let same = counted.arrived == seen.arrived;
        self.check(Must::LinkArrivals, place, same, || {
            let (counted, seen) = (show(counted.arrived), show(seen.arrived));
            format!("precedence {precedence}: {counted} are counted, {seen} were seen")
        });
        let same = counted.dropped == seen.dropped;
        self.check(Must::LinkDrops, place, same, || {
            let (counted, seen) = (counted.dropped, seen.dropped);
            format!("precedence {precedence}, by reason: {counted:?}, seen {seen:?}")
        });
        let (marks, of) =
            ((counted.marked, counted.threshold_marked), (seen.marked, seen.threshold_marked));
        self.check(Must::LinkMarks, place, marks == of, || {
            format!("precedence {precedence}: {marks:?}, seen {of:?}")
        });
    }

    /// The counters of the calls of the class of `flow`; since the run began, or since the last
    /// [reset](Checker::reset).
    pub fn call_counters(&mut self, flow: usize, counted: &CallTotals) {
        let (seen, place) = (self.calls.totals(flow), Place::Flow(flow));
        let present = counted.present == seen.present;
        self.check(Must::CallPresent, place, present, || {
            format!("{} are counted, {} were seen", counted.present, seen.present)
        });
        let same = CallTotals { present: seen.present, ..*counted } == seen;
        self.check(Must::CallCounters, place, same, || format!("{counted:?}, seen {seen:?}"));
    }
}

/// Packets dropped, for a reason that `counts`.
fn drops(count: &LinkCount, counts: impl Fn(DropReason) -> bool) -> u64 {
    let reasons = DropReason::ALL.into_iter().filter(|reason| counts(*reason));
    reasons.map(|reason| count.total(|packets| packets.dropped[reason as usize])).sum()
}

/// Packets that arrived and neither departed nor were dropped, since counting began: fewer than
/// none if they came before.
fn waiting(count: &LinkCount) -> i128 {
    let arrived = count.total(|packets| packets.arrived.packets);
    let departed = count.total(|packets| packets.departed.packets);
    i128::from(arrived)
        - i128::from(departed)
        - i128::from(drops(count, |reason| !reason.is_on_wire()))
}

impl Checker {
    /// Packets that wait at link `number` as its counters say.
    pub(crate) fn waiting(&self, number: usize, count: &LinkCount) -> i128 {
        self.links[number].carried.waiting + waiting(count)
    }
}
