//! The queue of a link as scheduled transmissions, where the packets themselves are not kept.

use forebay_kernel::RingBuffer;
use forebay_network::{Backlog, Packet, QueuedInfo};
use forebay_units::Time;

/// A scheduled transmission: when it begins, and of what packet.
#[derive(Clone, Copy, Default)]
pub(in crate::element) struct Scheduled {
    pub(in crate::element) start: Time,
    pub(in crate::element) packet: QueuedInfo,
}

impl Scheduled {
    #[inline(always)]
    pub(in crate::element) fn new(packet: &Packet, start: Time) -> Self {
        Self { start, packet: packet.queued_info() }
    }
}

/// Packets that wait at a link, in the order of their transmissions. Packets whose transmission has
/// begun may still be at the front.
pub(in crate::element) struct WaitingList(RingBuffer<Scheduled>);

impl Default for WaitingList {
    fn default() -> Self {
        Self(RingBuffer::with_room(Scheduled::default()))
    }
}

impl WaitingList {
    /// Append a packet.
    #[inline(always)]
    pub(in crate::element) fn push(&mut self, scheduled: Scheduled) {
        self.0.push_back(scheduled);
    }

    /// Append a packet that arrives at `at`; update `most`, the maximum number that have waited at
    /// once.
    ///
    /// The present number need not be known: it exceeds the maximum if the packet that many places
    /// ahead still waits. So departures need not be evaluated at each arrival, which would cost an
    /// unpredictable branch.
    #[inline(always)]
    pub(in crate::element) fn push_counting_most(
        &mut self,
        scheduled: Scheduled,
        at: Time,
        most: &mut u32,
    ) {
        self.0.push_back(scheduled);
        let behind = self.0.len().wrapping_sub(*most as usize + 1);
        if self.0.get(behind).is_some_and(|scheduled| scheduled.start > at) {
            *most += 1;
        }
    }

    /// The head of the queue, or an entry that never departs if the queue is empty.
    #[inline(always)]
    pub(in crate::element) fn head_or_never(&self) -> Scheduled {
        let Scheduled { start, packet } = *self.0.first_place();
        Scheduled { start: if self.0.is_empty() { Time::NEVER } else { start }, packet }
    }

    /// Remove the head if it `departs`, branch-free. Returns the head after that.
    #[inline(always)]
    pub(in crate::element) fn pop_head_if(&mut self, departs: bool) -> Scheduled {
        self.0.pop_front_if(departs);
        self.head_or_never()
    }

    /// Remove the packets whose transmission has begun by `now`, and call `each` with them. No
    /// packet that arrives before `now` may be appended later.
    #[inline(always)]
    pub(in crate::element) fn depart(
        &mut self,
        now: Time,
        backlog: &mut Backlog,
        mut each: impl FnMut(&Scheduled),
    ) {
        while let Some(scheduled) = self.0.front()
            && scheduled.start <= now
        {
            backlog.remove(scheduled.packet);
            each(scheduled);
            self.0.pop_front();
        }
    }

    /// The sum of the waiting times that remain after `now`, in packet ps.
    pub(in crate::element) fn remaining_wait(&self, now: Time) -> u128 {
        self.0.iter().map(|scheduled| u128::from(scheduled.start.since(now).ps())).sum()
    }

    /// All entries, the newest first.
    pub(in crate::element) fn newest_first(&self) -> impl Iterator<Item = &Scheduled> {
        self.0.iter().rev()
    }
}
