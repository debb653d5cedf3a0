//! Contract of a port's congestion detection: the decisions on congestion and the notifications to
//! sources.

use forebay_network::{Packet, PacketKind, QueueDisc};
use forebay_units::Time;

/// Type of a notification that a port signals to a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CongestionNotification {
    /// The port is about to be congested, as its input rate is high: slow down a little.
    Rate = 0,
    /// The port has dropped a packet of the source: slow down a lot.
    Discard = 2,
}

impl CongestionNotification {
    /// The type of a [notification](PacketKind::Notification).
    #[must_use]
    pub const fn of(packet: &Packet) -> Self {
        if packet.tag == Self::Discard as u64 { Self::Discard } else { Self::Rate }
    }

    /// `packet` as a notification of this type.
    #[must_use]
    pub const fn written(self, packet: Packet) -> Packet {
        let mut packet = packet.with_kind(PacketKind::Notification);
        packet.tag = self as u64;
        packet
    }

    /// Its place among counters by type.
    #[must_use]
    pub const fn place(self) -> usize {
        match self {
            Self::Rate => 0,
            Self::Discard => 1,
        }
    }
}

/// Watches what arrives at a port and says whose source is to be notified.
pub trait CongestionDetector: Send {
    /// A packet has arrived, whatever becomes of it. Told once of each, before
    /// [`CongestionDetector::judge`] is asked about it.
    fn arrives(&mut self, _packet: &Packet, _now: Time) {}

    /// A packet was taken in, or `dropped`: what its source is to be notified of, if anything. What
    /// is answered is sent, if there is a way back to the source.
    fn judge(
        &mut self,
        packet: &Packet,
        dropped: bool,
        now: Time,
    ) -> Option<CongestionNotification>;

    /// A packet was taken in by `queue`, in which it waits: as [`CongestionDetector::judge`].
    fn enters(
        &mut self,
        packet: &Packet,
        _queue: &dyn QueueDisc,
        now: Time,
    ) -> Option<CongestionNotification> {
        self.judge(packet, false, now)
    }

    /// Returns true if it looks at how full the queue is, which must tell then
    /// ([`QueueDisc::fullness`]).
    fn watches_queue(&self) -> bool {
        false
    }

    /// A packet has arrived and was taken in: both in one.
    fn passes(&mut self, packet: &Packet, now: Time) -> Option<CongestionNotification> {
        self.arrives(packet, now);
        self.judge(packet, false, now)
    }

    /// Inner quantities worth plotting, such as input rates, by name.
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};

    /// A notification tells its type: a source slows down for the kind of congestion that there
    /// was.
    #[test]
    fn a_notification_tells_its_type() {
        let packet = Packet::data(Time::ZERO, FlowId::new(1), 2, 53, RouteId::new(3));
        for notice in [CongestionNotification::Rate, CongestionNotification::Discard] {
            assert_eq!(CongestionNotification::of(&notice.written(packet)), notice);
        }
    }
}
