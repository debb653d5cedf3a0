//! Congestion detection at a link: asks the law, and sends its notifications back to sources.

use forebay_network::{CongestionDetector, Context, Notice, Packet};
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

    /// `packet` was taken in, or `dropped`: tell its source what is to be told.
    #[inline]
    pub(super) fn judge(&mut self, packet: &Packet, dropped: bool, cx: &mut Context<'_>) {
        if let Some(notice) = self.law.judge(packet, dropped, cx.now()) {
            self.tell(packet, notice, cx);
        }
    }

    /// `packet` arrives and is taken in at once.
    #[inline]
    pub(super) fn passes(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if let Some(notice) = self.law.passes(packet, cx.now()) {
            self.tell(packet, notice, cx);
        }
    }

    /// Tell the source of `packet`, if a way back to it was laid: else nobody would hear of it.
    #[cold]
    #[inline(never)]
    fn tell(&mut self, packet: &Packet, notice: Notice, cx: &mut Context<'_>) {
        let Some(back) = cx.way_back(packet.route) else { return };
        // Of the highest priority, and not to be lost first.
        let told = Packet::data(cx.now(), packet.flow, self.sent, self.size, back);
        self.sent += 1;
        cx.send(told.as_notice(notice));
    }

    pub(super) fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        self.law.gauges(tell);
    }
}
