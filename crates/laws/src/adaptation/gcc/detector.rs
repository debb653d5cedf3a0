//! Over-use of a path by the gradient of delay (draft-ietf-rmcat-gcc-02, sections 5.1 to 5.4).

use std::collections::VecDeque;

use forebay_kernel::math::pow;
use forebay_units::{Span, Time};

use super::GccParameters;

/// Signal of the detector about the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Signal {
    /// A queue neither grows nor empties.
    Normal,
    /// A queue grows.
    Over,
    /// A queue empties.
    Under,
}

/// Time of arrival and delay of a packet.
type Seen = (Time, Span);

/// The packets of a group: the first of them, and the last.
#[derive(Clone, Copy)]
struct Group {
    first: Seen,
    last: Seen,
}

/// Groups of packets, the filter of what they show, and the detector. Times are in milliseconds.
pub(super) struct Detector {
    of: GccParameters,
    /// The group to which packets are added.
    group: Option<Group>,
    /// The last packet of the group before it.
    before: Option<Seen>,
    /// Times between departures of the latest groups.
    gaps: VecDeque<f64>,
    /// Groups compared with one before them.
    count: u32,
    /// Estimate of the gradient (m_hat), its variance (e), variance of noise (var_v_hat).
    estimate: f64,
    error: f64,
    noise: f64,
    threshold: f64,
    /// Time of the first group of those above the threshold without a break.
    above: Option<Time>,
}

/// Milliseconds from `earlier` to `later`, which may be the earlier one.
fn from_to(earlier: Span, later: Span) -> f64 {
    (later.seconds() - earlier.seconds()) * 1e3
}

/// Milliseconds between the departures of two packets: the clocks' difference is not in it.
fn departures(earlier: Seen, later: Seen) -> f64 {
    later.0.since(earlier.0).seconds() * 1e3 - from_to(earlier.1, later.1)
}

impl Detector {
    pub(super) fn new(of: GccParameters) -> Self {
        Self {
            group: None,
            before: None,
            gaps: VecDeque::new(),
            count: 0,
            estimate: 0.0,
            error: of.initial_error,
            // The draft gives none: the least that it allows.
            noise: 1.0,
            threshold: of.threshold.seconds() * 1e3,
            above: None,
            of,
        }
    }

    /// A packet arrived at `now` after `delay`, in the order of sending. Returns what the group
    /// before it says, if it is the first of the next one.
    pub(super) fn on_packet(&mut self, now: Time, delay: Span) -> Option<Signal> {
        let seen = (now, delay);
        let Some(group) = &mut self.group else {
            self.group = Some(Group { first: seen, last: seen });
            return None;
        };
        let burst = self.of.burst_time.seconds() * 1e3;
        let sent_together = departures(group.first, seen) < burst;
        let arrived_together = now.since(group.last.0) < self.of.burst_time && delay < group.last.1;
        if sent_together || arrived_together {
            group.last = seen;
            return None;
        }
        let last = std::mem::replace(group, Group { first: seen, last: seen }).last;
        let before = self.before.replace(last)?;
        Some(self.on_group(before, last))
    }

    /// Returns the scaled estimate, and the threshold, in ms.
    pub(super) fn compared(&self) -> (f64, f64) {
        (f64::from(self.count.min(self.of.scale_groups)) * self.estimate, self.threshold)
    }

    /// The group whose last packet is `last` is complete.
    fn on_group(&mut self, before: Seen, last: Seen) -> Signal {
        self.gaps.push_back(departures(before, last).max(0.0));
        if self.gaps.len() > self.of.rate_groups as usize {
            self.gaps.pop_front();
        }
        self.count = self.count.saturating_add(1);
        let earlier = self.compared().0;
        self.filter(from_to(before.1, last.1));
        let scaled = self.compared().0;
        self.adapt(scaled.abs(), last.0.since(before.0).seconds() * 1e3);
        if scaled <= self.threshold {
            self.above = None;
            return if scaled < -self.threshold { Signal::Under } else { Signal::Normal };
        }
        let since = *self.above.get_or_insert(last.0);
        let lasts = last.0.since(since) >= self.of.overuse_time;
        if lasts && scaled >= earlier { Signal::Over } else { Signal::Normal }
    }

    /// The scalar Kalman filter of section 5.3, for the gradient `measured`.
    ///
    /// The exponent of alpha is 1 at 30 groups a second. Outliers of both signs are bounded, since
    /// the square of either counts.
    fn filter(&mut self, measured: f64) {
        let of = &self.of;
        let off = measured - self.estimate;
        let closest = self.gaps.iter().copied().fold(f64::INFINITY, f64::min);
        let alpha = pow(1.0 - of.noise_weight, 30.0 * closest / 1e3);
        let bounded = (off * off).min(9.0 * self.noise);
        self.noise = (alpha * self.noise + (1.0 - alpha) * bounded).max(1.0);
        let error = self.error + of.state_noise;
        let gain = error / (self.noise + error);
        self.estimate += off * gain;
        self.error = (1.0 - gain) * error;
    }

    /// The adaptive threshold of section 5.4 after `gap` ms. It does not move past what it follows.
    fn adapt(&mut self, size: f64, gap: f64) {
        let of = &self.of;
        let ms = |span: Span| span.seconds() * 1e3;
        let off = size - self.threshold;
        if off > ms(of.threshold_outlier) {
            return;
        }
        let gain = if off < 0.0 { of.threshold_fall } else { of.threshold_rise };
        self.threshold += (gain * gap).min(1.0) * off;
        self.threshold = self.threshold.max(ms(of.min_threshold)).min(ms(of.max_threshold));
    }
}
