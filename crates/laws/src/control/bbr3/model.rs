//! Conclusions from losses about the path (draft-ietf-ccwg-bbr, section 5.5.10).

use forebay_network::{LostSegment, RateSample, Window};
use forebay_units::Time;

use super::{Bbr3, State};

/// Bounds of the model, in bytes per second and bytes; infinite where there is none.
pub(super) struct Bounds {
    /// BBR.inflight_longterm.
    pub(super) long: f64,
    /// BBR.inflight_shortterm.
    pub(super) short: f64,
    /// BBR.bw_shortterm.
    pub(super) bw: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { long: f64::INFINITY, short: f64::INFINITY, bw: f64::INFINITY }
    }
}

impl Bounds {
    /// ResetShortTermModel().
    pub(super) fn reset_short(&mut self) {
        (self.short, self.bw) = (f64::INFINITY, f64::INFINITY);
    }
}

/// Volumes delivered and lost in a round trip.
#[derive(Default)]
pub(super) struct Losses {
    /// BBR.bw_latest and BBR.inflight_latest.
    pub(super) bw_latest: f64,
    pub(super) inflight_latest: u64,
    /// BBR.loss_round_delivered and BBR.loss_round_start.
    next: u64,
    pub(super) round_start: bool,
    /// BBR.is_loss_in_round, with the ranges of segments that were lost.
    pub(super) in_round: bool,
    pub(super) ranges: u32,
    last: Option<u64>,
}

impl Losses {
    /// UpdateLatestDeliverySignals().
    pub(super) fn update(&mut self, sample: &RateSample, prior: u64) {
        self.bw_latest = self.bw_latest.max(sample.rate.unwrap_or(0.0));
        self.inflight_latest = self.inflight_latest.max(sample.delivered - prior);
        self.round_start = prior >= self.next;
        if self.round_start {
            self.next = sample.delivered;
        }
    }

    /// AdvanceLatestDeliverySignals().
    pub(super) fn advance(&mut self, sample: &RateSample, prior: u64) {
        if self.round_start {
            self.bw_latest = sample.rate.unwrap_or(0.0);
            self.inflight_latest = sample.delivered - prior;
        }
    }

    /// ResetCongestionSignals().
    pub(super) fn reset(&mut self) {
        (self.in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0);
    }

    /// NoteLoss().
    fn note(&mut self, segment: &LostSegment) {
        if !std::mem::replace(&mut self.in_round, true) {
            self.next = segment.delivered;
        }
        self.ranges += u32::from(self.last.is_none_or(|last| last + 1 != segment.number));
        self.last = Some(segment.number);
    }
}

impl Bbr3 {
    /// IsInflightTooHigh().
    pub(super) fn is_too_high(&self, sample: &RateSample) -> bool {
        self.exceeds(sample.lost_since, sample.sent_in_flight)
            || sample.lost_since > 0 && !sample.selective
    }

    fn exceeds(&self, lost: u64, in_flight: u64) -> bool {
        lost as f64 > in_flight as f64 * self.loss_threshold
    }

    /// HandleLostPacket(), with what OnEnterFastRecovery() and OnEnterRTO() save: outside of
    /// recovery, a loss begins it.
    pub(super) fn handle_lost(&mut self, window: &Window, segment: &LostSegment, now: Time) {
        if !self.losses.in_round || !self.recovering {
            self.save_cwnd(window.cwnd);
            self.saved = !self.recovering;
        }
        self.losses.note(segment);
        if !self.probing.samples || !self.exceeds(segment.lost_since, segment.sent_in_flight) {
            return;
        }
        // InflightAtLoss(): where within the segment did losses cross the threshold?
        let before = segment.sent_in_flight.saturating_sub(segment.bytes) as f64;
        let lost = segment.lost_since.saturating_sub(segment.bytes) as f64;
        let prefix = (self.loss_threshold * before - lost) / (1.0 - self.loss_threshold);
        let in_flight = before + if prefix.is_finite() { prefix } else { 0.0 };
        // HandleInflightTooHigh().
        self.probing.too_high = true;
        self.probing.samples = false;
        if !segment.app_limited {
            self.bounds.long = in_flight.max(self.target(window) * self.beta);
        }
        if self.state == State::Up {
            self.start_down(now);
        }
    }

    /// AdaptLowerBoundsFromCongestion().
    pub(super) fn adapt_lower_bounds(&mut self, window: &Window) {
        if self.state.accelerates() || !self.losses.in_round {
            return;
        }
        let Bounds { bw, short, .. } = &mut self.bounds;
        if *bw == f64::INFINITY {
            *bw = self.max_bw.max();
        }
        if *short == f64::INFINITY {
            *short = window.cwnd;
        }
        *bw = self.losses.bw_latest.max(self.beta * *bw);
        *short = (self.losses.inflight_latest as f64).max(self.beta * *short);
    }

    /// InflightWithHeadroom().
    pub(super) fn with_headroom(&self, smss: f64) -> f64 {
        let long = self.bounds.long;
        if long == f64::INFINITY {
            return long;
        }
        let headroom = smss.max(self.headroom * long);
        (long - headroom).max(super::MIN_WINDOW * smss)
    }
}
