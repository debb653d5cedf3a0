//! TCP Westwood+ (Grieco and Mascolo 2004): congestion takes the window to what the path delivers.

use forebay_network::{Ack, CongestionControl, ControlNeeds, RateSample, Signal, Window};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::reno::Growth;
use super::{BuildControl, ControlFactory, require};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "westwood",
    summary: "Westwood+: Reno, but congestion takes the window to the estimated bandwidth times \
              the least round-trip time.",
    source: "Grieco and Mascolo, Performance evaluation and comparison of Westwood+, New Reno and \
             Vegas TCP congestion control, ACM SIGCOMM CCR 34(2), 2004",
    example: "",
    fields: WestwoodParameters::FIELDS,
    probes: &[
        Probe {
            name: "bandwidth_bps",
            unit: "bit/s",
            meaning: "Estimated bandwidth: moving average of the rate of delivery.",
        },
        Probe { name: "least_rtt_s", unit: "s", meaning: "The least round-trip time seen." },
    ],
    build: &build,
};

parameters! {
    /// Parameters of TCP Westwood+.
    pub struct WestwoodParameters {
        /// Weight of the former estimate in the moving average of the bandwidth, 0 to below 1.
        memory: f64 = 0.9, "Grieco and Mascolo 2004, section 2.1";
        /// Shortest time over which the bandwidth is measured; a longer round trip is measured as
        /// a whole.
        least_interval: Span = "50 ms", "Linux, net/ipv4/tcp_westwood.c";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let WestwoodParameters { memory, least_interval } = WestwoodParameters::read(section)?;
    require(section, "memory", memory, (0.0..1.0).contains(&memory), "0 to below 1")?;
    Ok(Box::new(move || Box::new(Westwood::new(memory, least_interval))))
}

struct Westwood {
    growth: Growth,
    memory: f64,
    least_interval: Span,
    /// Bandwidth in bytes per second.
    bandwidth: Option<f64>,
    least_rtt: Option<Span>,
    rtt: Span,
    /// Start of the present interval, and the bytes delivered since.
    since: Option<Time>,
    delivered: u64,
}

impl Westwood {
    fn new(memory: f64, least_interval: Span) -> Self {
        Self {
            growth: Growth::default(),
            memory,
            least_interval,
            bandwidth: None,
            least_rtt: None,
            rtt: Span::ZERO,
            since: None,
            delivered: 0,
        }
    }

    /// Returns the bytes that the path holds without queues; half of `flight` before that is known.
    fn held(&self, flight: f64) -> f64 {
        match (self.bandwidth, self.least_rtt) {
            (Some(bandwidth), Some(least)) => bandwidth * least.seconds(),
            _ => flight / 2.0,
        }
    }
}

impl CongestionControl for Westwood {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.ece {
            self.growth.open(window, ack);
        }
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        let smss = window.smss;
        self.growth = Growth::default();
        let held = self.held(flight).max(2.0 * smss);
        match signal {
            // What the path delivers can be more than a window that did not fill it.
            Signal::Loss | Signal::Ecn => {
                window.ssthresh = held;
                window.cwnd = held.min(window.cwnd.max(2.0 * smss));
            }
            Signal::Timeout { first } => {
                if first {
                    window.ssthresh = held;
                }
                window.cwnd = smss;
            }
        }
    }

    fn needs(&self) -> ControlNeeds {
        ControlNeeds { samples: true, without_rates: true, ..ControlNeeds::default() }
    }

    fn sampled(&mut self, _window: &mut Window, sample: &RateSample) {
        if let Some(rtt) = sample.rtt {
            self.rtt = rtt;
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let Some(since) = self.since else {
            // What is acknowledged first was not delivered over a known time.
            self.since = Some(sample.now);
            return;
        };
        self.delivered += sample.newly_delivered;
        let interval = sample.now.since(since);
        if interval < self.rtt.max(self.least_interval) || interval == Span::ZERO {
            return;
        }
        let rate = self.delivered as f64 / interval.seconds();
        self.bandwidth = Some(
            self.bandwidth.map_or(rate, |former| self.memory * former + (1.0 - self.memory) * rate),
        );
        (self.since, self.delivered) = (Some(sample.now), 0);
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(bandwidth) = self.bandwidth {
            visit("bandwidth_bps", 8.0 * bandwidth);
        }
        if let Some(least) = self.least_rtt {
            visit("least_rtt_s", least.seconds());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::sample;

    /// The bandwidth is averaged by 0.9 and 0.1 over round trips (section 2.1), and congestion
    /// takes the window to the bandwidth times the least round-trip time: 10 kB in 100 ms are 100
    /// kB/s, 20 kB in the next 190 kB/s... 0.9 * 100 + 0.1 * 200 = 110 kB/s; times 80 ms, 8800 B.
    #[test]
    fn congestion_takes_the_window_to_what_the_path_holds() {
        let mut law = Westwood::new(0.9, Span::from_ms(50));
        let mut w = Window { cwnd: 20_000.0, ssthresh: 50_000.0, smss: 1000.0 };
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut bring = |law: &mut Westwood, ms, bytes, rtt| {
            let rtt = Some(Span::from_ms(rtt));
            let brought = RateSample { now: at(ms), newly_delivered: bytes, rtt, ..sample() };
            law.sampled(&mut w, &brought);
        };
        bring(&mut law, 100, 5000, 80);
        for n in 1..=10 {
            bring(&mut law, 100 + 10 * n, 1000, 100);
        }
        assert_eq!(law.bandwidth, Some(100_000.0));
        for n in 1..=10 {
            bring(&mut law, 200 + 10 * n, 2000, 100);
        }
        assert!((law.bandwidth.unwrap() - 110_000.0).abs() < 1e-6);
        law.congested(&mut w, Signal::Loss, 20_000.0, at(300));
        assert!((w.cwnd - 8800.0).abs() < 1e-6 && w.ssthresh == w.cwnd);
        law.congested(&mut w, Signal::Timeout { first: true }, 4000.0, at(300));
        assert!(w.cwnd == 1000.0 && (w.ssthresh - 8800.0).abs() < 1e-6);
    }
}
