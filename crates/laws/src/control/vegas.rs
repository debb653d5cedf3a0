//! TCP Vegas (Brakmo and Peterson 1995): the window follows how much of it waits in queues.

use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::reno::{Growth, reduce};
use super::{BuildControl, ControlFactory, require};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "vegas",
    summary: "Keeps between two and four segments of its own waiting in queues, measured by the \
              round-trip time.",
    source: "Brakmo and Peterson, TCP Vegas, IEEE JSAC 13(8), 1995",
    example: "",
    fields: VegasParameters::FIELDS,
    probes: &[
        Probe {
            name: "waiting_segments",
            unit: "packets",
            meaning: "Segments of the flow that wait in queues, as it estimates them (Diff).",
        },
        Probe { name: "base_rtt_s", unit: "s", meaning: "The least round-trip time seen." },
    ],
    build: &build,
};

parameters! {
    /// Parameters of TCP Vegas, in segments waiting in queues.
    pub struct VegasParameters {
        /// Number of segments with less than which the window grows (alpha). Above 0.
        alpha: f64 = 2.0, "Brakmo and Peterson 1995, section 3.3; Linux, net/ipv4/tcp_vegas.c";
        /// Number of segments with more than which it shrinks (beta). At least `alpha`.
        beta: f64 = 4.0, "Brakmo and Peterson 1995, section 3.3; Linux, net/ipv4/tcp_vegas.c";
        /// Number of segments with more than which slow start ends (gamma). Above 0.
        gamma: f64 = 1.0, "Brakmo and Peterson 1995, section 3.4; Linux, net/ipv4/tcp_vegas.c";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let VegasParameters { alpha, beta, gamma } = VegasParameters::read(section)?;
    require(section, "alpha", alpha, alpha > 0.0, "above 0")?;
    require(section, "beta", beta, beta >= alpha, &format!("at least alpha, {alpha}"))?;
    require(section, "gamma", gamma, gamma > 0.0, "above 0")?;
    Ok(Box::new(move || Box::new(Vegas::new(alpha, beta, gamma))))
}

/// Losses are answered as by Reno.
struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    growth: Growth,
    /// BaseRTT.
    base: Option<Span>,
    /// The least round-trip time of this round trip.
    least: Option<Span>,
    /// The segment whose acknowledgement ends this round trip.
    end: u64,
    /// Slow start grows every other round trip.
    grows: bool,
    /// Diff, once known.
    waiting: Option<f64>,
}

impl Vegas {
    fn new(alpha: f64, beta: f64, gamma: f64) -> Self {
        Self {
            alpha,
            beta,
            gamma,
            growth: Growth::default(),
            base: None,
            least: None,
            end: 0,
            grows: true,
            waiting: None,
        }
    }

    /// A round trip is over, in which the least round-trip time was `rtt`.
    fn turn(&mut self, window: &mut Window, base: Span, rtt: Span) {
        // Diff = (Expected - Actual) * BaseRTT.
        let target = window.cwnd * base.seconds() / rtt.seconds();
        let waiting = (window.cwnd - target) / window.smss;
        self.waiting = Some(waiting);
        if window.cwnd < window.ssthresh {
            self.grows = !self.grows;
            if waiting > self.gamma {
                // What waits is let out of the window before linear growth sets in.
                window.cwnd = window.cwnd.min(target + window.smss).max(2.0 * window.smss);
                window.ssthresh = window.cwnd;
            }
        } else if waiting < self.alpha {
            window.cwnd += window.smss;
        } else if waiting > self.beta {
            window.cwnd = (window.cwnd - window.smss).max(2.0 * window.smss);
            window.ssthresh = window.ssthresh.min(window.cwnd);
        }
    }
}

impl CongestionControl for Vegas {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.ece && window.cwnd < window.ssthresh && self.grows {
            self.growth.open(window, ack);
        }
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        self.growth = Growth::default();
        self.least = None;
        reduce(window, signal, flight, |bytes| bytes / 2.0);
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, without_rates: true, ..ControlNeeds::default() }
    }

    fn sampled(&mut self, window: &mut Window, sample: &RateSample) {
        if let Some(rtt) = sample.rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        if sample.una <= self.end {
            return;
        }
        self.end = sample.max;
        let (base, least) = (self.base, self.least.take());
        if let (Some(base), Some(rtt), false) = (base, least, sample.recovering) {
            self.turn(window, base, rtt);
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(waiting) = self.waiting {
            visit("waiting_segments", waiting);
        }
        if let Some(base) = self.base {
            visit("base_rtt_s", base.seconds());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{acked, sample};

    /// The window after a round trip of `rtt` ms with a window of `cwnd` segments, with a least
    /// round-trip time of 100 ms.
    fn after(cwnd: f64, ssthresh: f64, rtt: u64) -> (f64, f64) {
        let mut vegas = Vegas::new(2.0, 4.0, 1.0);
        let mut w = Window { cwnd: 1000.0 * cwnd, ssthresh: 1000.0 * ssthresh, smss: 1000.0 };
        vegas.base = Some(Span::from_ms(100));
        let rtt = Some(Span::from_ms(rtt));
        vegas.sampled(&mut w, &RateSample { una: 1, max: 20, rtt, ..sample() });
        (w.cwnd / 1000.0, w.ssthresh / 1000.0)
    }

    /// The window is steered to two to four waiting segments (section 3.3): of 20 segments at 100 /
    /// 108 of the expected rate 20 (1 - 100/108) = 1.48 wait, and it grows; at 100 / 118 3.05, and
    /// it stays; at 100 / 130 4.6, and it shrinks.
    #[test]
    fn two_to_four_segments_wait() {
        assert_eq!(after(20.0, 10.0, 108), (21.0, 10.0));
        assert_eq!(after(20.0, 10.0, 118), (20.0, 10.0));
        assert_eq!(after(20.0, 10.0, 130), (19.0, 10.0));
    }

    /// Slow start ends when segments wait, before it fills the queue (section 3.4): of 20 segments,
    /// at 100 / 110 of the expected rate, 1.8 wait: more than one, so that 20 / 1.1 + 1 = 19.18 are
    /// left; at 100 / 104 it lasts.
    #[test]
    fn slow_start_ends_when_segments_wait() {
        let (cwnd, ssthresh) = after(20.0, 1000.0, 110);
        assert!((cwnd - (20.0 / 1.1 + 1.0)).abs() < 1e-9 && ssthresh == cwnd, "{cwnd}");
        assert_eq!(after(20.0, 1000.0, 104), (20.0, 1000.0));
    }

    /// Slow start doubles the window every other round trip (section 3.4), in between which the
    /// rates are compared.
    #[test]
    fn slow_start_grows_every_other_round_trip() {
        let mut vegas = Vegas::new(2.0, 4.0, 1.0);
        let mut w = Window { cwnd: 2.0, ssthresh: 100.0, smss: 1.0 };
        let mut windows = Vec::new();
        for round in 1..=6 {
            let rtt = Some(Span::from_ms(100));
            vegas
                .sampled(&mut w, &RateSample { una: 10 * round, max: 10 * round, rtt, ..sample() });
            for _ in 0..w.cwnd as u64 {
                vegas.acknowledged(&mut w, &acked(1.0));
            }
            vegas.end = 0;
            windows.push(w.cwnd);
        }
        assert_eq!(windows, [2.0, 4.0, 4.0, 8.0, 8.0, 16.0]);
    }
}
