//! Links at which nothing but a law decides over packets, and whoever follows is told early.

use std::hint::select_unpredictable;

use forebay_network::{Arrival, Context, Inbox, QueueManager, Verdict};
use forebay_units::Time;

use super::super::line::Line;
use super::super::waiters::Sent;
use super::{FifoLink, Manager};

impl FifoLink {
    /// Meet the packets of `inbox` that arrive by `limit`. Made for each kind of law, which is in
    /// hand for that long, so that it is asked without a detour.
    pub(super) fn manage_all(&mut self, limit: Time, inbox: &mut Inbox, cx: &mut Context<'_>) {
        let mut manager = std::mem::take(&mut self.manager);
        match &mut manager {
            Manager::Tail(law) => self.meet_under(law, limit, inbox, cx),
            Manager::Rio(law) => self.meet_under(law.as_mut(), limit, inbox, cx),
            Manager::Law(law) => self.meet_under(law.as_mut(), limit, inbox, cx),
        }
        self.manager = manager;
    }

    /// The same under `law`.
    #[inline(never)]
    fn meet_under<L: QueueManager + ?Sized>(
        &mut self,
        law: &mut L,
        limit: Time,
        inbox: &mut Inbox,
        cx: &mut Context<'_>,
    ) {
        let Self { line, stream, onward, .. } = self;
        let (link, onward) = (line.link, *onward);
        let mut first = First::of(line);
        inbox.take_all(limit, |packet, at| {
            first.catch_up(at, line, law);
            let idle_since = line.idle_since(at);
            let arrival = Arrival { now: at, packet, backlog: line.backlog(), idle_since };
            let mut marked;
            let packet = match law.admit(&arrival, stream) {
                Verdict::Accept => packet,
                Verdict::Mark => {
                    marked = *packet;
                    Line::mark(link, &mut marked, cx);
                    &marked
                }
                Verdict::Drop(reason) => {
                    cx.turn_away(link, packet, reason);
                    return;
                }
            };
            let out = if idle_since.is_none() || line.busy_below(at) {
                let (sent, out) = line.join(packet, at);
                line.note_longest();
                first.join(sent, line);
                out
            } else {
                // It waits for no time: it is not counted as ever having waited.
                law.departed(packet.footprint(), at);
                first.last = Sent::new(packet, at);
                line.transmit(packet, at)
            };
            cx.announce_onward(onward, packet, out);
        });
        self.departure = first.sent.start;
        self.line.last = first.last;
    }
}

/// The first that waits at a link, in hand while packets are met.
struct First {
    /// When it leaves, and what it is; [`Time::NEVER`] and anything if none waits.
    sent: Sent,
    /// As [`Line::last`].
    last: Sent,
}

impl First {
    fn of(line: &Line) -> Self {
        Self { sent: line.waiters.first_or_never(), last: line.last }
    }

    /// Let the departures up to `now` happen. Whether the first has left by then is a toss-up,
    /// which costs less without a jump. That others have, too, is rare.
    #[inline(always)]
    fn catch_up<L: QueueManager + ?Sized>(&mut self, now: Time, line: &mut Line, law: &mut L) {
        self.depart_if(self.sent.start <= now, line, law);
        while self.sent.start <= now {
            self.depart_if(true, line, law);
        }
    }

    /// The first leaves if it `goes`.
    #[inline(always)]
    fn depart_if<L: QueueManager + ?Sized>(&mut self, goes: bool, line: &mut Line, law: &mut L) {
        let Self { sent, last } = self;
        line.queue.backlog.remove_if(goes, sent.packet);
        law.departed_if(goes, sent.packet, sent.start);
        last.start = select_unpredictable(goes, sent.start, last.start);
        last.packet = select_unpredictable(goes, sent.packet, last.packet);
        *sent = line.waiters.after_first_if(goes);
    }

    /// One joins those that wait.
    #[inline(always)]
    fn join(&mut self, sent: Sent, line: &mut Line) {
        line.waiters.push(sent);
        // Later than whoever waits already.
        if sent.start < self.sent.start {
            self.sent = sent;
        }
    }
}
