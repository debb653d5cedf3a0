//! State that only some connections need: samples of delivery rates, loss detection by time,
//! pacing, and accurate ECN feedback.

use forebay_network::CongestionControl;
use forebay_units::Time;

use super::Pacing;
use super::accecn::Feedback;
use super::delivery::Delivery;
use super::loss_detector::LossDetector;
use super::pacing::Pacer;
use super::rack::Transmission;
use super::settings::Settings;

/// The state of one connection for that.
pub(super) struct Extension {
    pub(super) pacer: Pacer,
    /// If the congestion control needs samples, or losses are detected by time.
    pub(super) delivery: Option<Delivery>,
    /// If losses are detected by time.
    pub(super) detection: Option<LossDetector>,
    /// If the receiver counts marks.
    pub(super) feedback: Option<Feedback>,
}

impl Extension {
    /// Returns the marked segments and bytes that the receiver has reported, if it counts them.
    pub(super) fn reported_marks(&self) -> Option<(u64, u64)> {
        self.feedback.as_ref().map(Feedback::reported)
    }

    /// Makes the extension that a connection under `control` needs, if any.
    pub(super) fn of(control: &dyn CongestionControl, settings: &Settings) -> Option<Box<Self>> {
        let records = control.needs().samples || settings.rack;
        let needed = records || settings.accurate || settings.pacing != Pacing::None;
        let delivery = records.then(Delivery::new);
        let detection = settings.rack.then(LossDetector::new);
        let feedback = settings.accurate.then(Feedback::new);
        let pacer = Pacer::new(settings.l4s);
        needed.then(|| Box::new(Self { pacer, delivery, detection, feedback }))
    }

    /// The receiver has segment `number`, as an acknowledgement says that echoes the timestamp
    /// `echo`, if any.
    pub(super) fn deliver(&mut self, number: u64, echo: Option<Time>, now: Time) {
        let Some(delivery) = &mut self.delivery else { return };
        if let Some(detection) = &mut self.detection
            && let Some((sent, resent)) = delivery.undelivered(number)
        {
            detection.delivered(Transmission { sent, number }, resent, echo, now);
        }
        delivery.deliver(number, now);
    }

    /// The receiver has all segments below `una`.
    pub(super) fn advance(&mut self, una: u64, echo: Option<Time>, now: Time) {
        if let Some(base) = self.delivery.as_ref().map(Delivery::base)
            && self.detection.is_some()
            && base < una
        {
            (base..una).for_each(|number| self.deliver(number, echo, now));
            self.detection.iter_mut().for_each(|detection| detection.advance(una));
        }
        if let Some(delivery) = &mut self.delivery {
            delivery.advance(una, now);
        }
    }

    /// The same for a connection whose first segment is segment `first`, after one that had
    /// `before`: the receiver's counters of marks continue.
    pub(super) fn counting_from(
        mut self: Box<Self>,
        first: u64,
        before: Option<Box<Self>>,
    ) -> Box<Self> {
        self.delivery = self.delivery.map(|delivery| delivery.counting_from(first));
        if let Some(detection) = &mut self.detection {
            detection.begin_at(first);
        }
        self.feedback = before.and_then(|before| before.feedback);
        self
    }
}
