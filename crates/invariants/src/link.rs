//! Expected behaviour of a link, given what was queued there.

use std::collections::VecDeque;

use forebay_network::{DropReason, Ecn, FlowId, Packet, PacketBytes};
use forebay_units::{Size, Span, Time};

use crate::ledger::Key;
use crate::offer::{BIT, Offer};
use crate::places::LinkPlace;

/// Properties shared by packets that keep their order: a queue can hold others apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QueuedClass {
    flow: FlowId,
    precedence: u8,
    dscp: u8,
    is_feedback: bool,
    /// ECN field, if the queue goes by it.
    ecn: Option<Ecn>,
    /// Key of the packet itself, if packets of a flow may overtake each other.
    own: Option<Key>,
}

/// A packet that was queued at a link and has not crossed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) key: Key,
    pub(crate) at: Time,
    pub(crate) size: u16,
    /// Class within which order is kept: flow, precedence and whether it is feedback.
    pub(crate) class: QueuedClass,
    /// True if the buffer is too small for it alone: then it must not wait.
    pub(crate) too_large: bool,
}

/// Totals of the packets of one precedence at a link since counting began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ClassTally {
    pub(crate) arrived: PacketBytes,
    pub(crate) dropped: [u64; DropReason::ALL.len()],
    pub(crate) marked: u64,
    pub(crate) threshold_marked: u64,
}

/// Counters of a link when counting began anew.
#[derive(Clone, Copy, Default)]
pub(crate) struct Carried {
    pub(crate) waiting: i128,
    pub(crate) busy: u128,
}

/// The state of a link as it follows from what was seen.
#[derive(Default)]
pub(crate) struct LinkModel {
    /// Packets in the order in which they were queued.
    pub(crate) queued: VecDeque<Queued>,
    pub(crate) queued_bytes: u64,
    /// Time at which the last transmission seen ended.
    pub(crate) free_at: Time,
    /// Excess sent over what the rate allows since the link was last idle, in bit ps / s.
    ahead: u128,
    ahead_at: Time,
    /// Packets since then: each may be shorter by rounding.
    ahead_packets: u128,
    largest: u128,
    /// Rest of what a link that changes offered by the end of the last transmission, in bit ps / s.
    left: u128,
    /// Packets that crossed such a link last.
    together: Option<Together>,
    /// Tallies by precedence.
    pub(crate) tally: Vec<ClassTally>,
    /// Transmission times of the packets that have crossed since the run began, in ps.
    pub(crate) work: u128,
    pub(crate) carried: Carried,
}

/// A crossing: when the transmission began, and when that before it had ended.
pub(crate) struct Crossing {
    pub(crate) start: Time,
    pub(crate) free_at: Time,
    pub(crate) queued: Queued,
    /// A packet of the same class that was queued before and is still there.
    pub(crate) overtaken: bool,
    /// Time at which the packet was queued that has waited longest.
    pub(crate) oldest: Time,
    /// Bits by which the link was ahead of its rate after it, and the bits allowed.
    pub(crate) ahead: (u128, u128),
}

/// A crossing of a link that changes, whose delay does not: when the transmission ended and that
/// before it had, and how much was sent and could be, in bit ps / s.
pub(crate) struct Changing {
    pub(crate) end: Time,
    pub(crate) free_at: Time,
    pub(crate) queued: Queued,
    pub(crate) overtaken: bool,
    pub(crate) sent: u128,
    /// Amount offered since the transmission before it ended.
    pub(crate) offered: u128,
    /// Those whose transmissions ended before, if it is the first that ended later.
    pub(crate) before: Option<Before>,
}

/// The crossings at one instant: what was offered before while something waited, and the largest,
/// in bit ps / s.
pub(crate) struct Before {
    pub(crate) end: Time,
    pub(crate) missed: u128,
    pub(crate) largest: u128,
}

/// Packets whose transmissions ended at one instant. In which order they were sent does not show:
/// they go to several elements.
#[derive(Clone, Copy, Debug)]
struct Together {
    /// Time at which the transmission before them ended.
    after: Time,
    end: Time,
    /// Time at which the packet was queued that has waited longest.
    oldest: Time,
    /// The largest of them, in bit ps / s.
    largest: u128,
}

impl Together {
    fn compared(&self, offer: &Offer) -> Before {
        let Self { after, end, oldest, largest } = *self;
        Before { end, missed: offer.between(after.max(oldest), end.just_before()), largest }
    }
}

impl LinkModel {
    /// The tally of `precedence`.
    pub(crate) fn tally(&mut self, precedence: u8) -> &mut ClassTally {
        let index = usize::from(precedence);
        if self.tally.len() <= index {
            self.tally.resize(index + 1, ClassTally::default());
        }
        &mut self.tally[index]
    }

    /// `packet`, which came with the codepoint beside it, is queued.
    pub(crate) fn enqueue(
        &mut self,
        key: Key,
        (packet, came_as): (&Packet, Ecn),
        at: Time,
        place: &LinkPlace,
    ) {
        let class = QueuedClass {
            flow: packet.flow,
            precedence: packet.precedence,
            dscp: packet.dscp(),
            is_feedback: packet.is_feedback(),
            ecn: place.by_ecn.then_some(came_as),
            // A mark may be of the conditioner, and so be there before the queue looks, or of the
            // queue: which of the two does not show.
            own: (place.reorders || place.by_ecn && place.polices).then_some(key),
        };
        let queued = Queued { key, at, size: packet.size, class, too_large: false };
        self.queued.push_back(queued);
        self.queued_bytes += u64::from(packet.size);
    }

    /// The packet under `key` is taken out of the queue; `None` if it is not there.
    pub(crate) fn take(&mut self, key: Key) -> Option<(Queued, bool)> {
        let place = self.queued.iter().position(|queued| queued.key == key)?;
        let class = self.queued[place].class;
        let overtaken = self.queued.iter().take(place).any(|queued| queued.class == class);
        let queued = self.queued.remove(place)?;
        self.queued_bytes -= u64::from(queued.size);
        Some((queued, overtaken))
    }

    /// The packet under `key` has crossed the link at `now`; `None` if it was not queued there.
    pub(crate) fn cross(&mut self, key: Key, place: &LinkPlace, now: Time) -> Option<Crossing> {
        let oldest = self.queued.front()?.at;
        let (queued, overtaken) = self.take(key)?;
        let size = Size::from_bytes(u64::from(queued.size));
        let span = place.rate.transmission_time(size);
        let start = Time::from_ps(now.ps().saturating_sub((place.delay + span).ps()));
        let free_at = std::mem::replace(&mut self.free_at, start + span);
        self.work += u128::from(span.ps());
        let ahead = self.run_ahead(place, size, start);
        Some(Crossing { start, free_at, queued, overtaken, oldest, ahead })
    }

    /// The same of a link that changes.
    pub(crate) fn cross_changing(
        &mut self,
        key: Key,
        (offer, delay): (&Offer, Span),
        now: Time,
    ) -> Option<Changing> {
        let oldest = self.queued.front()?.at;
        let (queued, overtaken) = self.take(key)?;
        let end = Time::from_ps(now.ps().saturating_sub(delay.ps()));
        let free_at = std::mem::replace(&mut self.free_at, end);
        let sent = u128::from(queued.size) * 8 * BIT;
        // What is offered at an instant is there for several packets, and gone with the next.
        let offered = if end == free_at {
            self.left
        } else {
            self.left.min(offer.at(free_at)) + offer.between(free_at, end)
        };
        self.left = offered.saturating_sub(sent);
        let now = Together { after: free_at, end, oldest, largest: sent };
        let before = match &mut self.together {
            Some(others) if others.end == end => {
                others.oldest = others.oldest.min(oldest);
                others.largest = others.largest.max(sent);
                None
            }
            last => last.replace(now).map(|others| others.compared(offer)),
        };
        Some(Changing { end, free_at, queued, overtaken, sent, offered, before })
    }

    /// A leaky bucket that drains at the rate of the link and is filled by what it carries.
    fn run_ahead(&mut self, place: &LinkPlace, size: Size, at: Time) -> (u128, u128) {
        let (rate, per_bit) = (u128::from(place.rate.bps()), 1_000_000_000_000);
        let drained = rate * u128::from(at.since(self.ahead_at).ps());
        self.ahead_at = self.ahead_at.max(at);
        if drained >= self.ahead {
            self.ahead_packets = 0;
        }
        self.ahead = self.ahead.saturating_sub(drained) + u128::from(size.bits()) * per_bit;
        self.ahead_packets += 1;
        self.largest = self.largest.max(u128::from(size.bits()) * per_bit);
        // Times are whole picoseconds: each transmission may be rounded by one.
        (self.ahead, self.largest + self.ahead_packets * rate)
    }

    /// Counting begins anew.
    pub(crate) fn reset(&mut self) {
        self.tally.fill(ClassTally::default());
    }
}
