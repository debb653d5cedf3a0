//! What is known of packets whose transmission is booked, where they themselves are not kept.

use forebay_kernel::Ring;
use forebay_network::{Backlog, Footprint, Packet};
use forebay_units::Time;

/// A transmission: when it begins, and of what.
#[derive(Clone, Copy, Default)]
pub(super) struct Sent {
    pub(super) start: Time,
    pub(super) packet: Footprint,
}

impl Sent {
    #[inline(always)]
    pub(super) fn new(packet: &Packet, start: Time) -> Self {
        Self { start, packet: packet.footprint() }
    }
}

/// Packets that wait at a link, in the order of their transmissions. Those for which these have
/// begun may still stand before the others.
pub(super) struct Waiters(Ring<Sent>);

impl Default for Waiters {
    fn default() -> Self {
        Self(Ring::with_room(Sent::default()))
    }
}

impl Waiters {
    /// One joins.
    #[inline(always)]
    pub(super) fn push(&mut self, sent: Sent) {
        self.0.push_back(sent);
    }

    /// One joins at `at`; `most` becomes how many have waited at once.
    ///
    /// How many that is now need not be known: they are more than ever if whoever stands so many
    /// places before it waits still. So nobody has to see at each arrival how many have left, which
    /// is a toss-up.
    #[inline(always)]
    pub(super) fn join(&mut self, sent: Sent, at: Time, most: &mut u32) {
        self.0.push_back(sent);
        let behind = self.0.len().wrapping_sub(*most as usize + 1);
        if self.0.get(behind).is_some_and(|sent| sent.start > at) {
            *most += 1;
        }
    }

    /// The first, or one that never leaves if there is none.
    #[inline(always)]
    pub(super) fn first_or_never(&self) -> Sent {
        let Sent { start, packet } = *self.0.first_place();
        Sent { start: if self.0.is_empty() { Time::NEVER } else { start }, packet }
    }

    /// The first goes, if it `goes`, which is chosen without a jump: who is first then.
    #[inline(always)]
    pub(super) fn after_first_if(&mut self, goes: bool) -> Sent {
        self.0.pop_front_if(goes);
        self.first_or_never()
    }

    /// Let those go whose transmission has begun by `now`, before which nobody joins any more, and
    /// do `each` with them.
    #[inline(always)]
    pub(super) fn depart(&mut self, now: Time, backlog: &mut Backlog, mut each: impl FnMut(&Sent)) {
        while let Some(sent) = self.0.front()
            && sent.start <= now
        {
            backlog.remove(sent.packet);
            each(sent);
            self.0.pop_front();
        }
    }

    /// How long they wait after `now`, together, in packet ps.
    pub(super) fn beyond(&self, now: Time) -> u128 {
        self.0.iter().map(|sent| u128::from(sent.start.since(now).ps())).sum()
    }

    /// All, the last first.
    pub(super) fn latest(&self) -> impl Iterator<Item = &Sent> {
        self.0.iter().rev()
    }
}
