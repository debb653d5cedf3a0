//! The state of loss detection by time in one connection (RACK-TLP, RFC 8985).

use std::collections::BTreeSet;

use forebay_units::{Span, Time};

use super::delivery::Delivery;
use super::order::TransmissionOrder;
use super::probe::Probe;
use super::rack::{Rack, Transmission};

/// The state of one connection for that.
#[derive(Debug)]
pub(super) struct LossDetector {
    pub(super) rack: Rack,
    pub(super) order: TransmissionOrder,
    /// Segments that are lost and have not been sent again.
    pub(super) lost: BTreeSet<u64>,
    /// The latest transmission of a segment sent before that was lost.
    pub(super) lost_again: Option<Time>,
    /// Time at which the window was last reduced for a loss.
    pub(super) reduced_at: Time,
    pub(super) probe: Option<Probe>,
    /// A loss probe is being sent.
    pub(super) probing: bool,
    /// A round-trip time has been measured since the last probe, or since the start.
    pub(super) measured: bool,
    /// Range that the present acknowledgement reports as duplicates, until it has been considered.
    pub(super) dsack: Option<(u64, u64)>,
    /// New data was sent, or acknowledged: a probe is to be scheduled.
    pub(super) progress: bool,
    pub(super) timer: Option<(Time, Timer)>,
    /// Time of the pending event of the timer.
    pub(super) pending: Time,
}

/// Purpose of the timer: never two at a time (section 8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Timer {
    Reordering,
    Probe,
}

impl LossDetector {
    pub(super) fn new() -> Self {
        Self {
            rack: Rack::new(),
            order: TransmissionOrder::new(),
            lost: BTreeSet::new(),
            lost_again: None,
            reduced_at: Time::ZERO,
            probe: None,
            probing: false,
            measured: false,
            dsack: None,
            progress: false,
            timer: None,
            pending: Time::NEVER,
        }
    }

    /// The first segment is segment `first`.
    pub(super) fn begin_at(&mut self, first: u64) {
        self.order.forget_below(first);
    }

    /// Segment `number` is sent; whether as a probe is returned.
    pub(super) fn sent(&mut self, number: u64, new: bool) -> bool {
        self.order.push(number);
        self.lost.remove(&number);
        self.progress |= new && !self.probing;
        self.probing
    }

    /// The receiver has segment `last.number`, of which `last` is the last transmission.
    pub(super) fn delivered(
        &mut self,
        last: Transmission,
        resent: bool,
        echo: Option<Time>,
        now: Time,
    ) {
        self.rack.delivered(last, resent, echo, now);
        self.measured |= !resent;
        self.order.remove(last.number);
        self.lost.remove(&last.number);
    }

    /// All segments below `una` are acknowledged, which is news.
    pub(super) fn advance(&mut self, una: u64) {
        self.order.forget_below(una);
        self.progress = true;
    }

    /// Segment `number` is lost.
    pub(super) fn lose(&mut self, number: u64, delivery: &mut Delivery) {
        if let Some((sent, true)) = delivery.undelivered(number) {
            self.lost_again = self.lost_again.max(Some(sent));
        }
        delivery.lose(number);
        self.order.remove(number);
        self.lost.insert(number);
    }

    /// Mark what is lost (`RACK_detect_loss` of section 6.2), and have the timer expire when the
    /// last of what is late is.
    pub(super) fn detect(&mut self, delivery: &mut Delivery, now: Time) {
        let mut latest = None;
        let Some(newest) = self.rack.newest() else { return };
        let mut next = self.order.first();
        while let Some(number) = next {
            let Some((sent, _)) = delivery.undelivered(number) else { break };
            if sent > newest.sent {
                break;
            }
            next = self.order.after(number);
            match self.rack.remaining(Transmission { sent, number }, now) {
                None => {}
                Some(Span::ZERO) => self.lose(number, delivery),
                remaining => latest = latest.max(remaining),
            }
        }
        match (latest, self.timer) {
            (Some(latest), _) => self.timer = Some((now + latest, Timer::Reordering)),
            (None, Some((_, Timer::Reordering))) => self.timer = None,
            _ => {}
        }
    }

    /// `RACK_mark_losses_on_RTO` of section 6.3.
    pub(super) fn detect_at_timeout(&mut self, una: u64, delivery: &mut Delivery, now: Time) {
        let mut next = self.order.first();
        while let Some(number) = next {
            let Some((sent, _)) = delivery.undelivered(number) else { break };
            next = self.order.after(number);
            if number == una || self.rack.is_overdue(sent, now) {
                self.lose(number, delivery);
            }
        }
        (self.probe, self.timer) = (None, None);
    }
}
