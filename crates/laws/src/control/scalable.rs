//! Scalable TCP (Kelly 2003): growth and decrease are shares of the window.

use forebay_network::{Ack, CongestionControl, Signal, Window};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::reno::{Growth, reduce};
use super::{BuildControl, ControlFactory, require};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "scalable",
    summary: "Reno up to a window of 16 segments; above, a hundredth more for each segment \
              acknowledged and an eighth less at congestion.",
    source: "Kelly, Scalable TCP, ACM SIGCOMM CCR 33(2), 2003",
    example: "",
    fields: ScalableParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of Scalable TCP.
    pub struct ScalableParameters {
        /// Number of segments by which the window grows for each segment acknowledged (a). Above 0,
        /// at most 1.
        increase: f64 = 0.01, "Kelly 2003, section 3";
        /// Share of the window that it loses at congestion (b). Above 0, below 1.
        decrease: f64 = 0.125, "Kelly 2003, section 3";
        /// Window in segments up to which the sender behaves as Reno (legacy window).
        legacy_window: u32 = 16, "Kelly 2003, section 3.1";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let parameters = ScalableParameters::read(section)?;
    let ScalableParameters { increase, decrease, legacy_window } = parameters;
    let fine = increase > 0.0 && increase <= 1.0;
    require(section, "increase", increase, fine, "above 0 and up to 1")?;
    let fine = decrease > 0.0 && decrease < 1.0;
    require(section, "decrease", decrease, fine, "above 0 and below 1")?;
    let legacy = f64::from(legacy_window);
    Ok(Box::new(move || {
        Box::new(Scalable { increase, decrease, legacy, growth: Growth::default() })
    }))
}

struct Scalable {
    increase: f64,
    decrease: f64,
    legacy: f64,
    growth: Growth,
}

impl Scalable {
    /// Returns what is left of a window of `bytes`.
    fn reduced(&self, bytes: f64, smss: f64) -> f64 {
        let share = if bytes > self.legacy * smss { self.decrease } else { 0.5 };
        bytes * (1.0 - share)
    }
}

impl CongestionControl for Scalable {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        if ack.ece {
            return;
        }
        if window.cwnd < window.ssthresh || window.cwnd <= self.legacy * window.smss {
            self.growth.open(window, ack);
        } else {
            window.cwnd += self.increase * ack.acked;
        }
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        self.growth = Growth::default();
        let smss = window.smss;
        reduce(window, signal, flight, |bytes| self.reduced(bytes, smss));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::acked;

    fn scalable() -> Scalable {
        Scalable { increase: 0.01, decrease: 0.125, legacy: 16.0, growth: Growth::default() }
    }

    /// The time to recover from a loss does not depend on the window (Kelly 2003, section 3): from
    /// 7/8 of a window, a round trip adds a hundredth of what is acknowledged, so that it takes
    /// ln(8/7) / ln(1.01) = 13.4 round trips to be back, at 100 segments and at 10,000.
    #[test]
    fn recovery_takes_as_long_at_any_window() {
        for segments in [100.0, 10_000.0] {
            let mut law = scalable();
            let mut w = Window { cwnd: segments, ssthresh: 1.0, smss: 1.0 };
            law.congested(&mut w, Signal::Loss, segments, Time::ZERO);
            assert_eq!(w.cwnd, 0.875 * segments);
            let mut trips = 0;
            while w.cwnd < segments {
                let all = acked(w.cwnd);
                law.acknowledged(&mut w, &all);
                trips += 1;
            }
            assert_eq!(trips, 14);
        }
    }

    /// Small windows take no more than their share beside Reno: up to the legacy window of 16
    /// segments it is Reno, one segment a round trip and a half at a loss.
    #[test]
    fn small_windows_are_renos() {
        let mut law = scalable();
        let mut w = Window { cwnd: 16.0, ssthresh: 1.0, smss: 1.0 };
        law.congested(&mut w, Signal::Loss, 16.0, Time::ZERO);
        assert_eq!(w.cwnd, 8.0);
        law.acknowledged(&mut w, &acked(8.0));
        assert_eq!(w.cwnd, 9.0);
        w.cwnd = 17.0;
        law.acknowledged(&mut w, &acked(1.0));
        assert_eq!(w.cwnd, 17.01);
    }
}
