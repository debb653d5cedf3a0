//! The queue of a link as scheduled transmissions, where the packets themselves are not kept.

use forebay_kernel::RingBuffer;
use forebay_network::{Packet, QueuedInfo};
use forebay_units::Time;

/// A scheduled transmission: when it begins, and of what packet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Scheduled {
    pub(crate) start: Time,
    pub(crate) packet: QueuedInfo,
}

impl Scheduled {
    #[inline(always)]
    pub(crate) fn new(packet: &Packet, start: Time) -> Self {
        Self { start, packet: packet.queued_info() }
    }
}

/// Packets that wait at a link, in the order of their transmissions. Packets whose transmission has
/// begun may still be at the front.
pub(crate) struct WaitingList {
    queue: RingBuffer<Scheduled>,
    /// Time at which the transmission of the first begins; [`Time::NEVER`] if there is none.
    next_start: Time,
}

impl Default for WaitingList {
    fn default() -> Self {
        Self { queue: RingBuffer::with_room(Scheduled::default()), next_start: Time::NEVER }
    }
}

impl WaitingList {
    /// Append a packet.
    #[inline(always)]
    pub(crate) fn push(&mut self, scheduled: Scheduled) {
        // No earlier than the start of any packet that waits already.
        self.next_start = self.next_start.min(scheduled.start);
        self.queue.push_back(scheduled);
    }

    /// Remove the first packet if its transmission has begun by `now`.
    #[inline(always)]
    pub(crate) fn pop_started(&mut self, now: Time) -> Option<Scheduled> {
        if self.next_start > now {
            return None;
        }
        let first = *self.queue.front()?;
        self.queue.pop_front();
        self.next_start = self.queue.front().map_or(Time::NEVER, |next| next.start);
        Some(first)
    }

    /// The sum of the waiting times that remain after `now`, in packet ps.
    pub(crate) fn remaining_wait(&self, now: Time) -> u128 {
        self.queue.iter().map(|scheduled| u128::from(scheduled.start.since(now).ps())).sum()
    }

    /// All entries, the newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Scheduled> {
        self.queue.iter().rev()
    }
}
