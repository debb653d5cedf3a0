//! Congestion notification at a link: consults the congestion detector and sends its notifications
//! back to the sources.

use forebay_laws::detector::{CongestionDetector, CongestionNotification};
use forebay_network::{Context, Packet, QueueDisc};
use forebay_units::{Size, Time};

/// A congestion detector with the form of its notifications.
pub struct Notifier {
    law: Box<dyn CongestionDetector>,
    size: u16,
    /// Notifications sent so far.
    sent: u64,
}

impl Notifier {
    /// `law`, whose notifications have `size` bytes.
    ///
    /// # Panics
    /// If that is no packet size; scenario reading refuses it.
    #[must_use]
    pub fn new(law: Box<dyn CongestionDetector>, size: Size) -> Self {
        let size = u16::try_from(size.bytes()).expect("a notification has a valid packet size");
        Self { law, size, sent: 0 }
    }

    pub(super) fn arrives(&mut self, packet: &Packet, now: Time) {
        self.law.arrives(packet, now);
    }

    /// `packet` was accepted by `queue`: notify its source if the law says so.
    #[inline]
    pub(super) fn enters(&mut self, packet: &Packet, queue: &dyn QueueDisc, cx: &mut Context<'_>) {
        if let Some(notice) = self.law.enters(packet, queue, cx.now()) {
            self.notify(packet, notice, cx);
        }
    }

    /// `packet` was dropped: notify its source if the law says so.
    #[inline]
    pub(super) fn dropped(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if let Some(notice) = self.law.judge(packet, true, cx.now()) {
            self.notify(packet, notice, cx);
        }
    }

    /// `packet` arrives and is accepted at once.
    #[inline]
    pub(super) fn passes(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if let Some(notice) = self.law.passes(packet, cx.now()) {
            self.notify(packet, notice, cx);
        }
    }

    /// Notify the source of `packet`, if a reverse path to it exists: without one no element would
    /// receive the notification.
    #[cold]
    #[inline(never)]
    fn notify(&mut self, packet: &Packet, notice: CongestionNotification, cx: &mut Context<'_>) {
        let Some(back) = cx.reverse_route(packet.route) else { return };
        // Packets set out with precedence 0: the highest priority, and the last to be dropped.
        let notification = Packet::data(cx.now(), packet.flow, self.sent, self.size, back);
        self.sent += 1;
        cx.send(notice.written(notification));
    }

    pub(super) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.law.probes(visit);
    }
}
