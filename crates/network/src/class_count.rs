//! Counters of each class of a queue discipline with several.

use forebay_units::Time;

use crate::{DropReason, ElementCounters, Packet, PacketBytes};

/// Counters of a class for one measurement window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassCount {
    /// Packets that arrived, dropped or not.
    pub arrived: PacketBytes,
    /// Packets that left the queue to be transmitted.
    pub departed: PacketBytes,
    /// Packets dropped, by reason.
    pub dropped: [u64; DropReason::ALL.len()],
    /// Packets marked CE.
    pub marked: u64,
    /// Time integral of the packets waiting, in packet ps.
    pub area: u128,
    /// Packets that wait.
    waiting: u64,
    /// Up to when `area` is.
    changed: Time,
}

impl ClassCount {
    /// Bring the integral up to `now`.
    #[inline]
    pub fn integrate(&mut self, now: Time) {
        self.area += u128::from(self.waiting) * u128::from(now.since(self.changed).ps());
        self.changed = now;
    }

    /// `packet` arrives at `now` and is enqueued, marked or not.
    #[inline]
    pub fn enqueued(&mut self, packet: &Packet, marked: bool, now: Time) {
        self.integrate(now);
        self.arrived.add(packet);
        self.marked += u64::from(marked);
        self.waiting += 1;
    }

    /// `packet` arrives and is dropped.
    #[inline]
    pub fn refused(&mut self, packet: &Packet, reason: DropReason) {
        self.arrived.add(packet);
        self.dropped[reason as usize] += 1;
    }

    /// A packet that waited is dropped at `now`.
    #[inline]
    pub fn dropped(&mut self, reason: DropReason, now: Time) {
        self.integrate(now);
        self.dropped[reason as usize] += 1;
        self.waiting -= 1;
    }

    /// `packet` leaves the queue at `now` to be transmitted, marked on this occasion or not.
    #[inline]
    pub fn dequeued(&mut self, packet: &Packet, marked: bool, now: Time) {
        self.integrate(now);
        self.departed.add(packet);
        self.marked += u64::from(marked);
        self.waiting -= 1;
    }

    /// `packet`, which has just been [dequeued](Self::dequeued), is held back and still waits.
    pub fn held_back(&mut self, packet: &Packet, marked: bool) {
        self.departed.packets -= 1;
        self.departed.bytes -= u64::from(packet.size);
        self.marked -= u64::from(marked);
        self.waiting += 1;
    }
}

impl ElementCounters for ClassCount {
    fn reset(&mut self, now: Time) {
        *self = Self { waiting: self.waiting, changed: now, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, RouteId};

    /// Waiting adds up over windows, of what waits alone: of three packets that arrive at 0, 1 and
    /// 2 ms, one leaves at 3 ms, and a fourth is refused. Waiting until then adds up to 3 + 2 + 1
    /// packet ms; in the window from 4 ms on, in which one is dropped at 6 ms, to 2 * 2 + 1 * 4 by
    /// 10 ms.
    #[test]
    fn waiting_adds_up_over_windows() {
        let at = |ms: u64| Time::from_ps(ms * 1_000_000_000);
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 500, RouteId::new(0));
        let mut count = ClassCount::default();
        (0..3).for_each(|ms| count.enqueued(&packet, ms == 1, at(ms)));
        count.dequeued(&packet, true, at(3));
        count.refused(&packet, DropReason::Overflow);
        assert_eq!(count.area, 6_000_000_000);
        assert_eq!((count.arrived.packets, count.departed.bytes, count.marked), (4, 500, 2));
        assert_eq!(count.dropped[DropReason::Overflow as usize], 1);
        count.integrate(at(4));
        count.reset(at(4));
        count.dropped(DropReason::Early, at(6));
        count.integrate(at(10));
        assert_eq!(count.area, 8_000_000_000);
        assert_eq!((count.arrived.packets, count.dropped[DropReason::Early as usize]), (0, 1));
        // The last one would leave at 10 ms and is held back until 12 ms.
        count.dequeued(&packet, true, at(10));
        count.held_back(&packet, true);
        assert_eq!((count.departed, count.marked), (PacketBytes::default(), 0));
        count.dequeued(&packet, true, at(12));
        assert_eq!((count.area, count.departed.packets, count.marked), (10_000_000_000, 1, 1));
    }
}
