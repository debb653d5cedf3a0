//! The sender's half of GCC: the rate control (draft-ietf-rmcat-gcc-02, sections 5.5 and 6).

use forebay_kernel::math::pow;
use forebay_units::{Span, Time};

use super::super::{EncoderFacts, MediaRates, RateAdaptation, Report};
use super::{Content, GccParameters, Signal};

/// Frames in a second, and bits in a packet, of which the additive increase is made (section 5.5).
const FRAME_RATE: f64 = 30.0;
const PACKET_BITS: f64 = 9600.0;
/// Least additive increase in bit/s (section 5.5).
const LEAST_INCREASE: f64 = 1000.0;

/// States of the rate control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Hold,
    Increase,
    Decrease,
}

impl State {
    /// The state after a signal: the table of section 5.5.
    pub(super) fn after(self, signal: Signal) -> Self {
        match (signal, self) {
            (Signal::Over, _) => Self::Decrease,
            (Signal::Normal, Self::Decrease) | (Signal::Under, _) => Self::Hold,
            (Signal::Normal, _) => Self::Increase,
        }
    }
}

/// Mean and variance of the receiving rates at which the rate was decreased.
#[derive(Clone, Copy, Debug)]
struct Decreases {
    mean: f64,
    variance: f64,
    /// True from the second one on: one has no deviation.
    valid: bool,
}

pub(super) struct Sender {
    of: GccParameters,
    encoder: EncoderFacts,
    pub(super) state: State,
    /// A_hat and As_hat, in bit/s.
    pub(super) delay_based: f64,
    pub(super) loss_based: f64,
    decreases: Option<Decreases>,
    latest: Content,
    /// Time at which the latest report came.
    last: Option<Time>,
}

impl Sender {
    pub(super) fn new(of: GccParameters, encoder: EncoderFacts) -> Self {
        let start = encoder.start.bps() as f64;
        let latest = Content {
            signal: Signal::Normal,
            lost: 0.0,
            receiving: 0.0,
            gradient: 0.0,
            threshold: of.threshold.seconds() * 1e3,
        };
        Self {
            of,
            encoder,
            state: State::Increase,
            delay_based: start,
            loss_based: start,
            decreases: None,
            latest,
            last: None,
        }
    }

    fn in_range(&self, rate: f64) -> f64 {
        let (least, most) = self.encoder.range;
        rate.min(most.bps() as f64).max(least.bps() as f64)
    }

    /// The delay-based control, `since` after the report before.
    fn by_delay(&mut self, receiving: f64, rtt: Span, since: Span) {
        let before = self.state;
        self.state = before.after(self.latest.signal);
        match self.state {
            State::Hold => {}
            State::Increase => {
                let increased = if self.is_close(receiving) {
                    self.added(rtt, since)
                } else {
                    self.delay_based * pow(self.of.increase, since.seconds().min(1.0))
                };
                self.delay_based = increased.min(self.of.receiving_bound * receiving);
            }
            State::Decrease => {
                if before != State::Decrease {
                    self.remember(receiving);
                }
                // A lower rate stays: what still arrives was sent before it.
                self.delay_based = self.delay_based.min(self.of.decrease * receiving);
            }
        }
        self.delay_based = self.in_range(self.delay_based);
    }

    /// The rate after an additive increase: at most half a packet for each response time.
    fn added(&self, rtt: Span, since: Span) -> f64 {
        let response = (self.of.reaction + rtt).seconds();
        let part = 0.5 * if since.seconds() < response { since.seconds() / response } else { 1.0 };
        let frame = self.delay_based / FRAME_RATE;
        let packet = frame / (frame / PACKET_BITS).ceil();
        self.delay_based + LEAST_INCREASE.max(part * packet)
    }

    /// Returns true if the rate is close to convergence. Above that, what is known of it is void.
    fn is_close(&mut self, receiving: f64) -> bool {
        let Some(Decreases { mean, variance, valid: true }) = self.decreases else {
            return false;
        };
        let reach = self.of.deviations * variance.sqrt();
        if receiving > mean + reach {
            self.decreases = None;
            return false;
        }
        receiving >= mean - reach
    }

    /// Take the receiving rate at a decrease into their mean and variance.
    fn remember(&mut self, receiving: f64) {
        let keep = self.of.smoothing;
        let first = Decreases { mean: receiving, variance: 0.0, valid: false };
        self.decreases = Some(self.decreases.map_or(first, |past| {
            let mean = keep * past.mean + (1.0 - keep) * receiving;
            let off = receiving - mean;
            let variance = keep * past.variance + (1.0 - keep) * off * off;
            Decreases { mean, variance, valid: true }
        }));
    }

    /// The loss-based control.
    fn by_losses(&mut self, lost: f64) {
        if lost > self.of.loss_high {
            self.loss_based *= 1.0 - self.of.loss_decrease * lost;
        } else if lost < self.of.loss_low {
            self.loss_based *= self.of.loss_increase;
        }
        self.loss_based = self.in_range(self.loss_based);
    }
}

impl RateAdaptation for Sender {
    fn on_report(&mut self, report: &Report, rtt: Span, now: Time) {
        self.latest = Content::read(report.word);
        let since = self.last.replace(now).map_or(self.of.report_interval, |last| now.since(last));
        let Content { receiving, lost, .. } = self.latest;
        if receiving > 0.0 {
            self.by_delay(receiving, rtt, since);
        }
        self.by_losses(lost);
    }

    /// The lesser of the two rates, and packets paced by it (section 4).
    fn rates(&self, _waiting: f64) -> MediaRates {
        let rate = self.delay_based.min(self.loss_based);
        MediaRates { encoder: rate, sending: self.of.pacing * rate }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("delay_based_bps", self.delay_based);
        visit("loss_based_bps", self.loss_based);
        visit("receiving_bps", self.latest.receiving);
        visit("gradient_s", self.latest.gradient / 1e3);
        visit("threshold_s", self.latest.threshold / 1e3);
        visit(
            "signal",
            match self.latest.signal {
                Signal::Normal => 0.0,
                Signal::Over => 1.0,
                Signal::Under => -1.0,
            },
        );
        visit(
            "state",
            match self.state {
                State::Hold => 0.0,
                State::Increase => 1.0,
                State::Decrease => -1.0,
            },
        );
        visit("loss_share", self.latest.lost);
    }
}
