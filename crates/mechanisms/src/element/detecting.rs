//! Congestion detection at a link: asks the law, and sends its notifications back to sources.

use forebay_network::{CongestionDetector, Context, Packet};
use forebay_units::{Size, Time};

/// A detector with what its notifications look like.
pub struct Detecting {
    law: Box<dyn CongestionDetector>,
    size: u16,
    /// Notifications sent so far.
    sent: u64,
}

impl Detecting {
    /// `law`, whose notifications have `size` bytes.
    ///
    /// # Panics
    /// If that is no packet size: scenario reading refuses it.
    #[must_use]
    pub fn new(law: Box<dyn CongestionDetector>, size: Size) -> Self {
        let size = u16::try_from(size.bytes()).expect("notifications have the size of a packet");
        Self { law, size, sent: 0 }
    }

    pub(super) fn arrives(&mut self, packet: &Packet, now: Time) {
        self.law.arrives(packet, now);
    }

    /// `packet` was taken in, or `dropped`: tell its source what is to be told. Flows to whose
    /// sources no way back was laid are not judged: nobody would hear of it.
    #[inline]
    pub(super) fn judge(&mut self, packet: &Packet, dropped: bool, cx: &mut Context<'_>) {
        let Some(back) = cx.way_back(packet.route) else { return };
        let now = cx.now();
        if let Some(notice) = self.law.judge(packet, dropped, now) {
            // Of the highest priority, and not to be lost first.
            let told = Packet::data(now, packet.flow, self.sent, self.size, back).as_notice(notice);
            self.sent += 1;
            cx.send(told);
        }
    }

    pub(super) fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.law.gauges(tell);
    }
}
