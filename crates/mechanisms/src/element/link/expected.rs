//! Links that are told of packets ahead of their time, or late.

use forebay_kernel::Passing;
use forebay_network::{Context, Inbox, Lane, Packet};
use forebay_units::Time;

use super::super::line::Line;
use super::{FifoLink, OUT};

/// So many packets are let pass in one go: fewer are not worth the preparation.
const SEVERAL: usize = 4;

impl FifoLink {
    /// Meet the packets expected that have arrived by now, or of which all that comes before is
    /// known.
    #[inline]
    pub(super) fn meet_expected(&mut self, cx: &mut Context<'_>) {
        let limit = if self.ahead { cx.known_until() } else { cx.horizon() };
        if cx.inbox().next_at() > limit {
            return;
        }
        // While packets are met no timer is wanted for what becomes of them.
        let alarm = std::mem::replace(&mut self.alarm, Time::ZERO);
        let mut inbox = cx.open_inbox();
        while let Some(lane) = self.lane
            && inbox.waiting() >= SEVERAL
        {
            if self.bare {
                self.pass_lane::<true>((limit, lane), &mut inbox, cx);
            } else {
                self.pass_lane::<false>((limit, lane), &mut inbox, cx);
            }
            let Some((packet, at)) = inbox.take(limit) else { break };
            self.meet_apart(packet, at, cx);
        }
        if self.bare {
            self.pass_all(limit, &mut inbox, cx);
        } else if self.quiet_tail {
            self.meet_before_sinks(limit, &mut inbox, cx);
        } else if self.managed {
            self.manage_all(limit, &mut inbox, cx);
        } else {
            self.meet_all(limit, &mut inbox, cx);
        }
        cx.close_inbox(inbox);
        self.alarm = alarm;
    }

    /// Meet the packets of `inbox` that arrive by `limit`.
    #[inline(never)]
    fn meet_all(&mut self, limit: Time, inbox: &mut Inbox, cx: &mut Context<'_>) {
        inbox.take_all(limit, |packet, at| self.meet(packet, at, cx));
    }

    /// The same where most pass. Small, so that what each packet needs stays in registers.
    #[inline(never)]
    fn pass_all(&mut self, limit: Time, inbox: &mut Inbox, cx: &mut Context<'_>) {
        let onward = self.onward;
        inbox.take_all(limit, |packet, at| {
            if self.line.idle_since(at).is_some() {
                let out = self.pass(packet, at);
                cx.announce_onward(onward, packet, out);
            } else {
                self.meet_apart(packet, at, cx);
            }
        });
    }

    /// On a swift link between one feed and one other, let all pass at once that arrive by a limit.
    #[inline(never)]
    fn pass_lane<const BARE: bool>(
        &mut self,
        until: (Time, Lane),
        inbox: &mut Inbox,
        cx: &mut Context<'_>,
    ) {
        cx.pass_on(inbox, until, |(packet, at), place, cx| {
            let at = *at;
            place.0 = *packet;
            if !BARE {
                let (coloured, laws) = (&mut place.0, &mut self.conditioning);
                if !Line::colour(self.line.link, laws, coloured, at, cx) {
                    return Passing::Ends;
                }
            }
            if self.line.idle_since(at).is_some() {
                place.1 = self.pass(&place.0, at);
                return Passing::Goes;
            }
            self.wait(place, at, cx)
        });
    }

    /// The packet in `place` found a swift link busy at `at`: what becomes of it.
    #[inline(never)]
    fn wait(&mut self, place: &mut (Packet, Time), at: Time, cx: &mut Context<'_>) -> Passing {
        let Some((marks, idle)) = self.admit(&place.0, at, cx) else { return Passing::Ends };
        if marks {
            Line::mark(self.line.link, &mut place.0, cx);
        }
        place.1 = self.take_in(&place.0, at, idle);
        Passing::Goes
    }

    /// As [`Element::wake`], where packets are expected: the timer was set for the soonest time at
    /// which the first could have passed, or for one that has.
    pub(super) fn wake_expecting(&mut self, cx: &mut Context<'_>) {
        if self.plain && self.line.slots.is_empty() && self.pass_through(cx) {
            self.arm_for_expected(cx);
            return;
        }
        self.meet_expected(cx);
        if self.standing.early {
            cx.uncount_event();
            self.arm_for_expected(cx);
            return;
        }
        let mut next = self.line.slots.front().map(|slot| slot.out);
        if next == Some(cx.now()) {
            next = self.cross(cx);
        } else {
            cx.uncount_event();
        }
        if let Some(out) = next {
            // What is expected passes after it.
            cx.listen_before(Time::ZERO);
            self.alarm = out;
            cx.wake_at(out, OUT);
        } else {
            self.arm_for_expected(cx);
        }
    }

    /// If the first packet expected found the link idle and reaches the far end now, it goes on and
    /// is nowhere kept in between. Only for plain links, whose wire is empty.
    #[inline(always)]
    fn pass_through(&mut self, cx: &mut Context<'_>) -> bool {
        let mut inbox = cx.open_inbox();
        let now = cx.now();
        let passes = inbox.first().is_some_and(|(packet, at)| {
            self.line.soonest(packet, at) == now && self.line.idle_since(at).is_some()
        });
        if passes && let Some((packet, at)) = inbox.take(now) {
            self.line.transmit(packet, at);
            cx.cross(packet);
        }
        cx.close_inbox(inbox);
        passes
    }

    /// Set the timer for the first packet expected, unless one comes before.
    pub(super) fn arm_for_expected(&mut self, cx: &mut Context<'_>) {
        let Some((packet, at)) = cx.inbox().first() else {
            cx.listen_before(Time::NEVER);
            return;
        };
        // If it is dropped, a shorter one might pass before it would have.
        let soonest = if self.endless || (self.sure && self.line.idle_since(at).is_some()) {
            self.line.soonest(packet, at)
        } else {
            self.line.not_before(at)
        };
        let soonest = soonest + self.standing.slack;
        cx.listen_before(at);
        if soonest < self.alarm {
            self.alarm = soonest;
            cx.wake_at(soonest, OUT);
        }
    }
}
