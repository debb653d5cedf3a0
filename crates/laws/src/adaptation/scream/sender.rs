//! The sender's half of SCReAM (RFC 8298, section 4.1).

use forebay_units::{Span, Time};

use super::super::{MediaRates, RateAdaptation, Report};
use super::delay::Delay;
use super::flight::{Flight, News};
use super::media::{Congestion, Media};
use super::receiver::Word;
use super::{EncoderFacts, ScreamParameters};

/// The round-trip time in seconds, smoothed, and its variation (RFC 6298, section 2).
#[derive(Default)]
struct RoundTrip {
    /// s_rtt, once measured.
    smoothed: Option<f64>,
    variation: f64,
}

impl RoundTrip {
    fn measured(&mut self, rtt: f64) {
        let Some(smoothed) = &mut self.smoothed else {
            (self.smoothed, self.variation) = (Some(rtt), rtt / 2.0);
            return;
        };
        self.variation += 0.25 * ((*smoothed - rtt).abs() - self.variation);
        *smoothed += 0.125 * (rtt - *smoothed);
    }

    fn span(&self) -> Span {
        Span::from_seconds(self.smoothed.unwrap_or(0.0))
    }

    fn timeout(&self, least: Span) -> Span {
        let all = self.smoothed.unwrap_or(0.0) + 4.0 * self.variation;
        least.max(Span::from_seconds(all))
    }
}

/// Round trips with losses.
#[derive(Default)]
pub(super) struct LossEvents {
    /// The share of round trips with losses (loss_event_rate).
    pub(super) share: f64,
    /// True if something was lost in the round trip of now, and the time at which it ends.
    lost: bool,
    ends: Time,
}

impl LossEvents {
    /// Something was lost or not; the share is known anew where a round trip has ended, and the
    /// next takes `round`.
    pub(super) fn count(&mut self, lost: bool, weight: f64, round: Span, now: Time) {
        self.lost |= lost;
        if now >= self.ends {
            let part = f64::from(u8::from(self.lost));
            self.share += weight * (part - self.share);
            (self.lost, self.ends) = (false, now + round);
        }
    }
}

pub(super) struct Sender {
    of: ScreamParameters,
    pub(super) delay: Delay,
    pub(super) flight: Flight,
    pub(super) media: Media,
    rtt: RoundTrip,
    losses: LossEvents,
    /// cwnd, in bytes.
    pub(super) window: f64,
    /// in_fast_increase.
    pub(super) fast_increase: bool,
    /// Time of the latest sign of congestion, of which fast increase must be free.
    congested: Time,
    /// Time until which further losses and marks are those of a congestion event.
    ignores: Time,
    /// Marks reported so far.
    marks: u16,
    /// Time since when a report is waited for.
    waits: Time,
}

impl Sender {
    pub(super) fn new(of: ScreamParameters, encoder: EncoderFacts) -> Self {
        Self {
            delay: Delay::new(&of),
            flight: Flight::default(),
            media: Media::new(encoder),
            rtt: RoundTrip::default(),
            losses: LossEvents::default(),
            window: of.min_window.bytes() as f64,
            fast_increase: true,
            congested: Time::ZERO,
            ignores: Time::ZERO,
            marks: 0,
            waits: Time::ZERO,
            of,
        }
    }

    /// A congestion event: at a loss or, if nothing was lost, at a mark.
    fn congestion(&mut self, lost: bool, now: Time) {
        let of = &self.of;
        let (window, rate) =
            if lost { (of.loss_window, of.loss_rate) } else { (of.mark_backoff, of.mark_backoff) };
        self.window = (self.window * window).max(of.min_window.bytes() as f64);
        self.media.back_off(rate);
        self.fast_increase = false;
        (self.congested, self.ignores) = (now, now + self.rtt.span());
    }

    /// update_cwnd(), with the bytes that were acknowledged.
    fn update_window(&mut self, acked: f64, now: Time) {
        let flight = self.flight.bytes() as f64;
        if self.fast_increase {
            if self.delay.trend < self.of.trend_threshold {
                if flight * 1.5 + acked > self.window {
                    self.window += acked;
                }
                return;
            }
            self.fast_increase = false;
            self.media.inflect();
        }
        let off = (self.delay.target - self.delay.queuing) / self.delay.target;
        // A window that is not used does not grow.
        if off <= 0.0 || flight * 1.25 + acked > self.window {
            self.window += self.of.gain * off * acked * self.of.mss.bytes() as f64 / self.window;
        }
        let most = self.flight.most(now) as f64 * self.of.flight_headroom;
        self.window = self.window.min(most).max(self.of.min_window.bytes() as f64);
    }

    /// Fast increase begins again when there was no sign of congestion for a time.
    fn resume(&mut self, now: Time) {
        if self.delay.trend >= self.of.trend_low {
            self.congested = now;
        }
        self.fast_increase |= now.since(self.congested) >= self.of.resume_after;
    }

    /// Take all that is in flight for lost if no report came for a time. Returns true if so.
    fn time_out(&mut self, now: Time) -> bool {
        let timeout = self.rtt.timeout(self.of.min_timeout);
        if self.flight.bytes() == 0 || now.since(self.waits) < timeout {
            return false;
        }
        self.flight.give_up();
        self.waits = now;
        self.losses.count(true, self.of.loss_weight, self.rtt.span(), now);
        self.congestion(true, now);
        self.window = self.of.min_window.bytes() as f64;
        true
    }

    /// send_wnd, in bytes.
    pub(super) fn send_window(&self) -> f64 {
        let more = if self.delay.queuing <= self.delay.target { self.of.mss.bytes() } else { 0 };
        self.window + more as f64 - self.flight.bytes() as f64
    }
}

impl RateAdaptation for Sender {
    /// The round-trip time is that of RFC 6298: up to when the report comes, what the receiver
    /// waited with it included, as that much is in flight.
    fn on_report(&mut self, report: &Report, _rtt: Span, now: Time) {
        let longest = self.rtt.span();
        let news = self.flight.report(report.arrived.as_slice(), longest, now);
        let Some(News { acked, sent, lost }) = news else { return };
        self.waits = now;
        self.media.counted.acked += 8.0 * acked as f64;
        let word = Word(report.word);
        if let Some(sent) = sent {
            self.rtt.measured(now.since(sent).seconds());
            self.delay.measured(word.since(sent), now);
        }
        self.delay.sample_before(now);
        let marked = std::mem::replace(&mut self.marks, word.marks()) != word.marks();
        self.losses.count(lost, self.of.loss_weight, self.rtt.span(), now);
        if (lost || marked) && now >= self.ignores {
            self.congestion(lost, now);
            self.delay.adjust_target(self.losses.share);
        } else {
            self.update_window(acked as f64, now);
            self.delay.adjust_target(self.losses.share);
            self.resume(now);
        }
    }

    /// Packets are paced as section 4.1.2.6 has it; before the first report by the encoder's rate.
    fn rates(&self, _waiting: f64) -> MediaRates {
        let paced = match self.rtt.smoothed {
            Some(rtt) if rtt > 0.0 => 8.0 * self.window / rtt,
            _ => self.media.target,
        };
        let sending = paced.max(self.of.min_pace.bps() as f64);
        MediaRates { encoder: self.media.target, sending }
    }

    fn on_frame(&mut self, size: f64, waiting: f64, now: Time) -> bool {
        self.delay.sample_before(now);
        let congestion = Congestion {
            fast_increase: self.fast_increase,
            trend: self.delay.trend,
            trend_memory: self.delay.trend_memory,
        };
        let adjusted = self.media.frame(&self.of, (size, waiting), congestion, now);
        self.time_out(now) || adjusted
    }

    /// A packet that is larger than the window may leave when nothing is in flight.
    fn may_send(&self, size: u16) -> bool {
        f64::from(size) <= self.send_window() || self.flight.bytes() == 0
    }

    fn on_sent(&mut self, number: u64, size: u16, now: Time) {
        if self.flight.bytes() == 0 {
            self.waits = now;
        }
        self.flight.send(number, size, now);
        self.media.counted.sent += 8.0 * f64::from(size);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("window_bytes", self.window);
        visit("flight_bytes", self.flight.bytes() as f64);
        visit("queueing_s", self.delay.queuing);
        visit("target_s", self.delay.target);
        visit("trend", self.delay.trend);
        visit("fast_increase", f64::from(u8::from(self.fast_increase)));
        visit("target_bps", self.media.target);
    }
}
