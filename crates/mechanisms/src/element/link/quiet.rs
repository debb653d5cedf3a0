//! Links under tail drop that lead to sinks alone.
//!
//! Nobody is told when a packet leaves such a link, and nothing about it is decided after it has
//! arrived. So it is booked from its arrival to the sink in one go: how long it waits is counted at
//! once, and if nobody looks before it reaches the sink, it is counted there without being kept in
//! between.

use forebay_network::{Arrival, Context, Inbox, Packet};
use forebay_units::Time;

use super::super::line::{Line, Slot};
use super::super::waiters::Sent;
use super::{FifoLink, Manager};

impl FifoLink {
    /// Whether the link is of this kind.
    pub(super) fn is_quiet_tail(&self) -> bool {
        self.standing.quiet && matches!(self.manager, Manager::Tail(_))
    }

    /// Meet the packets of `inbox` that arrive by `until`.
    #[inline(never)]
    pub(super) fn meet_before_sinks(
        &mut self,
        until: Time,
        inbox: &mut Inbox,
        cx: &mut Context<'_>,
    ) {
        let mut last = Time::ZERO;
        self.line.let_out(cx.look(), cx);
        inbox.take_all(until, |packet, at| {
            last = at;
            self.meet_quietly(packet, at, cx);
        });
        // No further than that: hosts that are run late may send more that arrives by now.
        self.line.depart(last);
    }

    /// `packet` arrives now.
    pub(super) fn receive_quietly(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let now = cx.now();
        self.line.let_out(cx.look(), cx);
        self.meet_quietly(packet, now, cx);
        self.line.depart(now);
    }

    /// `packet` arrives at `at`. If nobody looks before it has reached a sink, it is counted there
    /// at once; all before it are then already.
    #[inline(always)]
    fn meet_quietly(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
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
            line.depart(at);
            let arrival = Arrival { now: at, packet, backlog: line.backlog(), idle_since: None };
            if let Some(reason) = law.refuses(&arrival) {
                cx.turn_away(link, packet, reason);
                return;
            }
        }
        let mut start = at;
        if !idle || line.busy_below(at) {
            start = line.free_at;
            line.queue.wait_for(packet, start.since(at));
            line.waiters.join(Sent::new(packet, start), at, &mut line.queue.max);
        }
        let out = line.transmit(packet, start);
        if out <= cx.look() {
            cx.crossed_at(packet, out);
        } else {
            line.slots.push_back(Slot { packet: *packet, start, out });
        }
    }

    /// Bring everything up to `now`, after the packets expected.
    pub(super) fn settle_quietly(&mut self, now: Time, cx: &mut Context<'_>) {
        self.line.let_out(now, cx);
        self.line.depart(now);
        self.line.wait_until(now);
    }
}
