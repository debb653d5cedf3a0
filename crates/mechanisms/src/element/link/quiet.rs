//! Links under tail drop that lead to sinks alone.
//!
//! Nobody is told when a packet leaves such a link, and nothing about it is decided after it has
//! arrived. So it is booked from its arrival to the sink in one go: how long it waits is counted at
//! once, and if it has reached the sink by now, it is counted there without being kept in between.

use forebay_kernel::Ring;
use forebay_network::{Arrival, Backlog, Context, Inbox, Packet};
use forebay_units::Time;

use super::super::line::{Line, Slot};
use super::{FifoLink, Manager};

/// Packets that wait at such a link: when the transmission of each begins, and its size. Those for
/// which it has begun may still stand before the others.
#[derive(Default)]
pub(super) struct Waiters(Ring<(Time, u16)>);

impl Waiters {
    /// One joins at `at` and waits until `start`; `most` becomes how many have waited at once.
    ///
    /// How many that is now need not be known: they are more than ever if whoever stands so many
    /// places before it waits still. So nobody has to see at each arrival how many have left, which
    /// is a toss-up.
    #[inline(always)]
    fn join(&mut self, (start, size): (Time, u16), at: Time, most: &mut u32) {
        self.0.push_back((start, size));
        let behind = self.0.len().wrapping_sub(*most as usize + 1);
        if self.0.get(behind).is_some_and(|(start, _)| *start > at) {
            *most += 1;
        }
    }

    /// Let those go whose transmission has begun by `now`, before which nobody joins any more.
    #[inline(always)]
    fn depart(&mut self, now: Time, backlog: &mut Backlog) {
        while let Some((start, size)) = self.0.front()
            && *start <= now
        {
            backlog.packets -= 1;
            backlog.bytes -= u64::from(*size);
            self.0.pop_front();
        }
    }

    /// How long they wait after `now`, together, in packet ps.
    fn beyond(&self, now: Time) -> u128 {
        self.0.iter().map(|(start, _)| u128::from(start.since(now).ps())).sum()
    }
}

impl FifoLink {
    /// Whether the link is of this kind.
    pub(super) fn is_quiet_tail(&self) -> bool {
        self.standing.quiet && matches!(self.manager, Manager::Tail(_))
    }

    /// Meet the packets of `inbox` that have arrived by now.
    #[inline(never)]
    pub(super) fn meet_before_sinks(&mut self, inbox: &mut Inbox, cx: &mut Context<'_>) {
        self.meet_until(cx.horizon(), inbox, cx);
    }

    /// Meet the packets expected that could have reached the sinks by now. Nobody looks, so that
    /// the others, which would have to be kept on their way, can be left where they are.
    #[inline(never)]
    pub(super) fn meet_what_is_through(&mut self, cx: &mut Context<'_>) {
        let through = Time::ZERO + cx.horizon().since(Time::ZERO + self.line.delay);
        let mut inbox = cx.open_inbox();
        self.meet_until(through, &mut inbox, cx);
        cx.close_inbox(inbox);
    }

    /// Meet the packets of `inbox` that arrive by `until`.
    #[inline(always)]
    fn meet_until(&mut self, until: Time, inbox: &mut Inbox, cx: &mut Context<'_>) {
        let (limit, mut last) = (cx.horizon(), Time::ZERO);
        self.line.let_out(limit, cx);
        inbox.take_all(until, |packet, at| {
            last = at;
            self.meet_quietly(packet, at, limit, cx);
        });
        // No further than that: hosts that are run late may send more that arrives by now.
        self.waiters.depart(last, &mut self.line.queue.backlog);
    }

    /// `packet` arrives now.
    pub(super) fn receive_quietly(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        self.line.let_out(now, cx);
        self.meet_quietly(packet, now, now, cx);
        self.waiters.depart(now, &mut self.line.queue.backlog);
    }

    /// `packet` arrives at `at`. What has reached a sink by `limit` is counted there; all before it
    /// that has is counted already.
    #[inline(always)]
    fn meet_quietly(&mut self, packet: &Packet, at: Time, limit: Time, cx: &mut Context<'_>) {
        let mut coloured;
        let (link, mut packet) = (self.line.link, packet);
        if !self.conditioning.is_empty() {
            coloured = *packet;
            if !Line::colour(link, &mut self.conditioning, &mut coloured, at, cx) {
                return;
            }
            packet = &coloured;
        }
        let line = &mut self.line;
        let idle = line.free_at <= at;
        if let Manager::Tail(law) = &self.manager
            && !law.is_endless()
            && !idle
        {
            self.waiters.depart(at, &mut line.queue.backlog);
            let arrival = Arrival { now: at, packet, backlog: line.backlog(), idle_since: None };
            if let Some(reason) = law.refuses(&arrival) {
                Line::count_arrival(link, packet, cx);
                cx.discard(link, packet, reason);
                return;
            }
        }
        let mut start = at;
        if !idle || line.busy_below(at) {
            start = line.free_at;
            line.queue.wait_for(packet, start.since(at));
            self.waiters.join((start, packet.size), at, &mut line.queue.max);
        }
        let out = line.transmit(packet, start);
        if out <= limit {
            cx.crossed_at(packet, out);
        } else {
            line.slots.push_back(Slot { packet: *packet, start, out });
        }
    }

    /// Bring everything up to `now`, after the packets expected.
    pub(super) fn settle_quietly(&mut self, now: Time, cx: &mut Context<'_>) {
        self.line.let_out(now, cx);
        self.waiters.depart(now, &mut self.line.queue.backlog);
        self.line.queue.wait_until(now, self.waiters.beyond(now));
    }
}
