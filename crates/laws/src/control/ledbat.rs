//! LEDBAT (RFC 6817): a window that keeps the queueing delay at a target, and yields to others.

use std::collections::VecDeque;

use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::{BuildControl, ControlFactory, require};
use crate::base_delay::BaseDelay;

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "ledbat",
    summary: "Low extra delay background transport: keeps the queueing delay one way at a target \
              and gives way to all that fills queues.",
    source: "RFC 6817",
    example: "",
    fields: LedbatParameters::FIELDS,
    probes: &[Probe {
        name: "queueing_delay_s",
        unit: "s",
        meaning: "Delay one way beyond the least one of the last minutes.",
    }],
    build: &build,
};

parameters! {
    /// Parameters of LEDBAT.
    pub struct LedbatParameters {
        /// Queueing delay that it keeps (TARGET). Above 0, at most 100 ms.
        target: Span = "100 ms", "RFC 6817, section 2.5";
        /// Number of segments by which the window grows in a round trip without queueing (GAIN).
        /// Above 0, at most 1.
        gain: f64 = 1.0, "RFC 6817, section 2.5";
        /// Minutes of which the least delay is the base delay (BASE_HISTORY), 1 to 60.
        base_history: u32 = 10, "RFC 6817, section 3.1";
        /// Delays of which the least is the current delay (CURRENT_FILTER), 1 to 100.
        current_filter: u32 = 4, "RFC 6817, section 3.1";
        /// Segments beyond what is in flight up to which the window may grow (ALLOWED_INCREASE), 1
        /// to 1000.
        allowed_increase: u32 = 1, "RFC 6817, section 2.5";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let parameters = LedbatParameters::read(section)?;
    let LedbatParameters { target, gain, base_history, current_filter, allowed_increase } =
        parameters;
    let fine = target > Span::ZERO && target <= Span::from_ms(100);
    let read = format!("{} s", target.seconds());
    require(section, "target", read, fine, "above 0 s and up to 100 ms")?;
    require(section, "gain", gain, gain > 0.0 && gain <= 1.0, "above 0 and up to 1")?;
    let fine = (1..=60).contains(&base_history);
    require(section, "base_history", base_history, fine, "1 to 60")?;
    let fine = (1..=100).contains(&current_filter);
    require(section, "current_filter", current_filter, fine, "1 to 100")?;
    let fine = (1..=1000).contains(&allowed_increase);
    require(section, "allowed_increase", allowed_increase, fine, "1 to 1000")?;
    Ok(Box::new(move || Box::new(Ledbat::new(&parameters))))
}

/// The least window in segments (MIN_CWND).
const MIN_WINDOW: f64 = 2.0;

struct Ledbat {
    target: f64,
    gain: f64,
    allowed: f64,
    base: BaseDelay,
    /// The latest delays (current_delays).
    current: VecDeque<Span>,
    current_filter: usize,
}

impl Ledbat {
    fn new(parameters: &LedbatParameters) -> Self {
        Self {
            target: parameters.target.seconds(),
            gain: parameters.gain,
            allowed: f64::from(parameters.allowed_increase),
            base: BaseDelay::new(parameters.base_history),
            current: VecDeque::new(),
            current_filter: parameters.current_filter as usize,
        }
    }

    /// Section 2.4.2: update_current_delay() and update_base_delay().
    fn note(&mut self, delay: Span, now: Time) {
        self.current.push_back(delay);
        if self.current.len() > self.current_filter {
            self.current.pop_front();
        }
        self.base.note(delay, now);
    }

    /// Queueing delay in seconds, once measured.
    fn queueing(&self) -> Option<f64> {
        let (current, base) = (self.current.iter().min()?, self.base.get()?);
        Some((*current - base).seconds())
    }
}

impl CongestionControl for Ledbat {
    /// Section 2.4.2.
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        let Some(queueing) = self.queueing().filter(|_| !ack.ece) else { return };
        let smss = window.smss;
        let off_target = (self.target - queueing) / self.target;
        let mut cwnd = window.cwnd + self.gain * off_target * ack.acked * smss / window.cwnd;
        // A window that the application does not use must not grow; nor must one shrink for that.
        if off_target > 0.0 {
            cwnd = cwnd.min(window.cwnd.max(ack.flight + self.allowed * smss));
        }
        window.cwnd = cwnd.max(MIN_WINDOW * smss);
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        let smss = window.smss;
        let half = (flight.min(window.cwnd) / 2.0).max(MIN_WINDOW * smss);
        window.ssthresh = half;
        window.cwnd = match signal {
            Signal::Loss | Signal::Ecn => half.min(window.cwnd.max(MIN_WINDOW * smss)),
            Signal::Timeout { .. } => smss,
        };
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, without_rates: true, ..ControlNeeds::default() }
    }

    fn sampled(&mut self, _window: &mut Window, sample: &RateSample) {
        // What acknowledges nothing new echoes an old segment.
        if sample.acked > 0 {
            self.note(sample.one_way, sample.now);
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(queueing) = self.queueing() {
            visit("queueing_delay_s", queueing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{acked, sample};

    fn ledbat() -> Ledbat {
        Ledbat::new(&LedbatParameters {
            target: Span::from_ms(100),
            gain: 1.0,
            base_history: 2,
            current_filter: 2,
            allowed_increase: 1,
        })
    }

    fn delay(law: &mut Ledbat, seconds: u64, ms: u64) {
        let mut w = Window { cwnd: 1.0, ssthresh: 1.0, smss: 1.0 };
        let now = Time::ZERO + Span::from_s(seconds);
        law.sampled(&mut w, &RateSample { now, acked: 1, one_way: Span::from_ms(ms), ..sample() });
    }

    /// The window follows cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd (section
    /// 2.4.2): without queueing by one segment a window, at half the target by half a segment, at
    /// the target not at all, and at twice the target it shrinks by a segment.
    #[test]
    fn the_window_moves_by_the_distance_from_the_target() {
        for (queueing, expected) in [(0, 11.0), (50, 10.5), (100, 10.0), (200, 9.0)] {
            let mut law = ledbat();
            delay(&mut law, 1, 30);
            delay(&mut law, 1, 30 + queueing);
            delay(&mut law, 1, 30 + queueing);
            let mut w = Window { cwnd: 10_000.0, ssthresh: 1.0, smss: 1000.0 };
            law.acknowledged(&mut w, &Ack { flight: 10_000.0, ..acked(10_000.0) });
            assert!((w.cwnd - 1000.0 * expected).abs() < 1e-6, "{queueing} ms: {}", w.cwnd);
        }
    }

    /// The window exceeds what is in flight by one segment at most (ALLOWED_INCREASE), so that an
    /// idle application is not left with a window that it never used; losses halve it down to two
    /// segments.
    #[test]
    fn the_window_stays_near_what_is_in_flight() {
        let mut law = ledbat();
        delay(&mut law, 1, 30);
        let mut w = Window { cwnd: 10_000.0, ssthresh: 1.0, smss: 1000.0 };
        law.acknowledged(&mut w, &Ack { flight: 9500.0, ..acked(10_000.0) });
        assert_eq!(w.cwnd, 10_500.0);
        law.congested(&mut w, Signal::Loss, 10_500.0, Time::ZERO);
        assert_eq!(w.cwnd, 5250.0);
        law.congested(&mut w, Signal::Loss, 3000.0, Time::ZERO);
        assert_eq!(w.cwnd, 2000.0);
    }

    /// Old delays are forgotten, so that a path that has become longer is not taken for a queue for
    /// ever: of the base delay the least of the last two minutes counts here, of the current delay
    /// the lesser of the last two.
    #[test]
    fn old_delays_are_forgotten() {
        let mut law = ledbat();
        for (seconds, ms, queueing) in
            [(10, 30, 0.0), (50, 90, 0.0), (55, 80, 0.05), (70, 80, 0.05), (130, 80, 0.0)]
        {
            delay(&mut law, seconds, ms);
            let found = law.queueing().unwrap();
            assert!((found - queueing).abs() < 1e-9, "{seconds} s: {found}");
        }
    }
}
