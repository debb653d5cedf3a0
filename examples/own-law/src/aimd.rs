//! Additive increase, multiplicative decrease with any increase and decrease.

use forebay_laws::control::{BuildControl, ControlFactory};
use forebay_network::{Ack, CongestionControl, Signal, Window};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

pub(crate) const ENTRY: Entry<BuildControl> = Entry {
    name: "aimd",
    summary: "Additive increase by any number of segments, multiplicative decrease by any factor.",
    source: "Yang and Lam, ICNP 2000, General AIMD congestion control",
    example: "increase = 0.31\ndecrease = 0.875",
    fields: AimdParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of general AIMD.
    pub struct AimdParameters {
        /// Number of segments by which the window grows in a round trip, above 0.
        increase: f64 = 1.0, "Yang and Lam 2000 (alpha)";
        /// Factor to which it shrinks on congestion, above 0 and below 1.
        decrease: f64 = 0.5, "Yang and Lam 2000 (beta)";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let AimdParameters { increase, decrease } = AimdParameters::read(section)?;
    if increase <= 0.0 {
        return Err(section.fail("increase", format!("{increase} is not above 0")));
    }
    if !(decrease > 0.0 && decrease < 1.0) {
        let message = format!("{decrease} is out of range; allowed is more than 0 and less than 1");
        return Err(section.fail("decrease", message));
    }
    Ok(Box::new(move || Box::new(Aimd { increase, decrease, acked: 0.0 })))
}

struct Aimd {
    increase: f64,
    decrease: f64,
    /// Bytes acknowledged in congestion avoidance since the window last grew.
    acked: f64,
}

impl CongestionControl for Aimd {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        // RFC 3168, section 6.1.2: an acknowledgement with ECN-Echo never opens the window.
        if ack.ece {
            return;
        }
        if window.cwnd < window.ssthresh {
            // Slow start, RFC 5681, equation 2.
            window.cwnd += ack.acked.min(window.smss);
            return;
        }
        self.acked += ack.acked;
        if self.acked >= window.cwnd {
            self.acked -= window.cwnd;
            window.cwnd += self.increase * window.smss;
        }
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        self.acked = 0.0;
        let least = 2.0 * window.smss;
        match signal {
            Signal::Loss => {
                window.ssthresh = (self.decrease * flight).max(least);
                window.cwnd = window.ssthresh;
            }
            Signal::Ecn => {
                let less = self.decrease * window.cwnd;
                window.ssthresh = less.max(least);
                window.cwnd = less.max(window.smss);
            }
            Signal::Timeout { first } => {
                if first {
                    window.ssthresh = (self.decrease * flight).max(least);
                }
                window.cwnd = window.smss;
            }
        }
    }
}
