//! The receiver's half of GCC: what reports say.

use std::collections::VecDeque;

use forebay_units::Time;

use super::super::{Arrival, MediaReceiver, Report};
use super::detector::{Detector, Signal};
use super::{Content, GccParameters};

pub(super) struct Receiver {
    detector: Detector,
    of: GccParameters,
    /// Times of arrival and sizes of the packets in the window.
    window: VecDeque<(Time, u16)>,
    /// Bytes of these.
    bytes: u64,
    /// Time at which the first packet of all arrived.
    first: Option<Time>,
    /// The number of the packet that is expected next, and that at the latest report.
    expected: u64,
    reported: u64,
    /// Packets that arrived since the latest report.
    arrived: u64,
    /// The latest signal, and whether over-use was signalled since the latest report.
    signal: Signal,
    over: bool,
}

impl Receiver {
    pub(super) fn new(of: GccParameters) -> Self {
        Self {
            detector: Detector::new(of.clone()),
            of,
            window: VecDeque::new(),
            bytes: 0,
            first: None,
            expected: 0,
            reported: 0,
            arrived: 0,
            signal: Signal::Normal,
            over: false,
        }
    }

    /// Forget what came before the window that ends at `now`.
    fn forget(&mut self, now: Time) {
        while let Some(&(at, size)) = self.window.front()
            && now.since(at) >= self.of.window
        {
            self.bytes -= u64::from(size);
            self.window.pop_front();
        }
    }

    /// The receiving rate (R_hat); 0 before a first window is full.
    fn receiving(&self, now: Time) -> f64 {
        if self.first.is_none_or(|first| now.since(first) < self.of.window) {
            return 0.0;
        }
        self.bytes as f64 * 8.0 / self.of.window.seconds()
    }

    /// The share of packets lost since the latest report, as in RFC 3550, section 6.4.1: those that
    /// come late make up for others.
    fn lost(&mut self) -> f64 {
        let expected = self.expected - std::mem::replace(&mut self.reported, self.expected);
        let arrived = std::mem::take(&mut self.arrived);
        let lost = expected.saturating_sub(arrived);
        if lost == 0 { 0.0 } else { lost as f64 / expected as f64 }
    }
}

impl MediaReceiver for Receiver {
    fn on_packet(&mut self, arrival: &Arrival) {
        let &Arrival { now, delay, number, size, .. } = arrival;
        self.forget(now);
        self.first.get_or_insert(now);
        self.window.push_back((now, size));
        self.bytes += u64::from(size);
        self.arrived += 1;
        // Packets out of order are not asked (section 5.1).
        if number >= self.expected {
            self.expected = number.saturating_add(1);
            if let Some(signal) = self.detector.on_packet(now, delay) {
                self.signal = signal;
                self.over |= signal == Signal::Over;
            }
        }
    }

    fn report(&mut self, now: Time) -> Report {
        self.forget(now);
        let over = std::mem::take(&mut self.over);
        let (gradient, threshold) = self.detector.compared();
        let content = Content {
            signal: if over { Signal::Over } else { self.signal },
            lost: self.lost(),
            receiving: self.receiving(now),
            gradient,
            threshold,
        };
        content.written()
    }
}
