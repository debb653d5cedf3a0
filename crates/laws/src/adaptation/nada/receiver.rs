//! The receiver's half of NADA (RFC 8698, sections 4.2 and 5.1).

use std::collections::VecDeque;

use forebay_kernel::math::exp;
use forebay_units::{Span, Time};

use super::super::loss_intervals::LossIntervals;
use super::super::{Arrival, MediaReceiver, Report};
use super::{Content, NadaParameters};

/// Delays of which the least counts (RFC 8698, section 6.2).
const FILTER: usize = 15;

/// A packet in the window of observation.
#[derive(Clone, Copy)]
struct Seen {
    at: Time,
    delay: Span,
    size: u16,
    marked: bool,
    /// Packets before it that were lost.
    lost: u64,
}

pub(super) struct Receiver {
    of: NadaParameters,
    /// Packets that arrived in the window of observation.
    seen: VecDeque<Seen>,
    /// The latest delays, for the filter.
    delays: VecDeque<Span>,
    /// The least delay seen (d_base).
    base: Span,
    /// The number of the packet that is expected next.
    expected: u64,
    intervals: LossIntervals,
    /// Smoothed ratios (p_loss, p_mark).
    loss: f64,
    mark: f64,
}

impl Receiver {
    pub(super) fn new(of: NadaParameters) -> Self {
        Self {
            of,
            seen: VecDeque::new(),
            delays: VecDeque::new(),
            base: Span::MAX,
            expected: 0,
            intervals: LossIntervals::default(),
            loss: 0.0,
            mark: 0.0,
        }
    }

    /// Forget what came before the window that ends at `now`.
    fn forget(&mut self, now: Time) {
        while self.seen.front().is_some_and(|seen| now.since(seen.at) > self.of.window) {
            self.seen.pop_front();
        }
    }

    /// The queuing delay in seconds, filtered (d_queue).
    fn queuing_delay(&self) -> f64 {
        self.delays.iter().min().map_or(0.0, |least| least.seconds() - self.base.seconds())
    }

    /// Equation 1: above a threshold, queuing delay counts less while packets are lost, or the flow
    /// would starve beside others that fill the queue until packets are lost.
    fn warped(&self, delay: f64) -> f64 {
        let threshold = self.of.warping_delay.seconds();
        let expires = self.of.loss_memory * self.intervals.average();
        let loses = self.intervals.since_loss().is_some_and(|since| since as f64 <= expires);
        if !loses || delay < threshold {
            return delay;
        }
        threshold * exp(-self.of.warping * (delay - threshold) / threshold)
    }

    /// Returns true if the sender may ramp up: nothing was lost in the window, and no queue has
    /// built up.
    fn may_ramp_up(&self) -> bool {
        let bound = self.base + self.of.queue_threshold;
        self.seen.iter().all(|seen| seen.lost == 0 && seen.delay < bound)
    }

    /// The aggregate congestion signal in seconds: equation 2.
    fn signal(&self) -> f64 {
        let square = |ratio: f64| ratio * ratio;
        let of = &self.of;
        self.warped(self.queuing_delay())
            + of.mark_delay.seconds() * square(self.mark / of.mark_reference)
            + of.loss_delay.seconds() * square(self.loss / of.loss_reference)
    }

    /// Smooth the ratios of the window (RFC 8698, section 5.1.2).
    fn smooth(&mut self) {
        let lost: u64 = self.seen.iter().map(|seen| seen.lost).sum();
        let marked = self.seen.iter().filter(|seen| seen.marked).count();
        let all = self.seen.len() as f64 + lost as f64;
        let alpha = self.of.smoothing;
        if all > 0.0 {
            self.loss += alpha * (lost as f64 / all - self.loss);
            self.mark += alpha * (marked as f64 / all - self.mark);
        }
    }
}

impl MediaReceiver for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        let &Arrival { now, delay, number, size, marked } = arrival;
        self.forget(now);
        self.base = self.base.min(delay);
        self.delays.push_back(delay);
        if self.delays.len() > FILTER {
            self.delays.pop_front();
        }
        // What is late was counted as lost.
        let lost = number.saturating_sub(self.expected);
        self.expected = self.expected.max(number.saturating_add(1));
        if lost > 0 {
            self.intervals.lost();
        }
        self.intervals.arrived();
        self.seen.push_back(Seen { at: now, delay, size, marked, lost });
    }

    fn report(&mut self, now: Time) -> Report {
        self.forget(now);
        self.smooth();
        let bytes: u64 = self.seen.iter().map(|seen| u64::from(seen.size)).sum();
        let content = Content {
            ramp_up: self.may_ramp_up(),
            signal: self.signal(),
            receiving: bytes as f64 * 8.0 / self.of.window.seconds(),
        };
        content.written()
    }
}
