//! Binomial congestion controls (Bansal and Balakrishnan 2001): growth and decrease go by powers of
//! the window. SQRT, IIAD and Reno's AIMD are of them.

use forebay_kernel::math::pow;
use forebay_network::{Ack, CongestionControl, Signal, Window};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::reno::reduce;
use super::{BuildControl, ControlFactory, require};

pub(super) const ENTRY: Entry<BuildControl> = Entry {
    name: "binomial",
    summary: "Binomial control: the window w grows by a / w^k a round trip and shrinks by b w^l at \
              congestion; SQRT (k = l = 1/2) unless told otherwise, IIAD with k = 1 and l = 0.",
    source: "Bansal and Balakrishnan, Binomial Congestion Control Algorithms, IEEE INFOCOM 2001",
    example: "",
    fields: BinomialParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of binomial controls. Windows are in segments. With k + l = 1 and small steps
    /// the mean window is the square root of a / (b p) at a loss ratio p: that of Reno, the root of
    /// 1.5 / p, with a = 1.5 b.
    pub struct BinomialParameters {
        /// Power k of the window in segments by which growth slows down, 0 to 4. Friendly to TCP
        /// are controls with k + l = 1.
        increase_power: f64 = 0.5, "Bansal and Balakrishnan 2001, eq. 1 and section III: SQRT";
        /// Power l of the window in segments by which the decrease goes, 0 to 1.
        decrease_power: f64 = 0.5, "Bansal and Balakrishnan 2001, eq. 1 and section III: SQRT";
        /// Growth a in segments a round trip at a window of one segment. Above 0.
        increase: f64 = 1.0, "Bansal and Balakrishnan 2001, eq. 1; AIMD(1, 0.5) is that of TCP";
        /// Decrease b in segments at a window of one segment. Above 0, at most 1.
        decrease: f64 = 0.5, "Bansal and Balakrishnan 2001, eq. 1; AIMD(1, 0.5) is that of TCP";
    }
}

fn build(section: &Section<'_>) -> Result<ControlFactory, Problem> {
    let parameters = BinomialParameters::read(section)?;
    let BinomialParameters { increase_power: k, decrease_power: l, increase, decrease } =
        parameters;
    require(section, "increase_power", k, (0.0..=4.0).contains(&k), "0 to 4")?;
    require(section, "decrease_power", l, (0.0..=1.0).contains(&l), "0 to 1")?;
    require(section, "increase", increase, increase > 0.0 && increase <= 1e6, "above 0 to 1e6")?;
    let fine = decrease > 0.0 && decrease <= 1.0;
    require(section, "decrease", decrease, fine, "above 0 and up to 1")?;
    Ok(Box::new(move || Box::new(Binomial { k, l, increase, decrease })))
}

struct Binomial {
    k: f64,
    l: f64,
    increase: f64,
    decrease: f64,
}

impl CongestionControl for Binomial {
    fn acknowledged(&mut self, window: &mut Window, ack: &Ack) {
        if ack.ece {
            return;
        }
        if window.cwnd < window.ssthresh {
            window.cwnd += ack.in_slow_start(window);
            return;
        }
        // a / w^k in a round trip, which acknowledges w: each segment of it has a w-th.
        let segments = window.cwnd / window.smss;
        window.cwnd += self.increase * ack.acked / pow(segments, self.k + 1.0);
    }

    fn congested(&mut self, window: &mut Window, signal: Signal, flight: f64, _now: Time) {
        let (smss, l, b) = (window.smss, self.l, self.decrease);
        let left = |bytes: f64| {
            let segments = bytes / smss;
            (segments - b * pow(segments, l)).max(0.0) * smss
        };
        reduce(window, signal, flight, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::acked;

    const SQRT: Binomial = Binomial { k: 0.5, l: 0.5, increase: 1.0, decrease: 0.5 };
    const IIAD: Binomial = Binomial { k: 1.0, l: 0.0, increase: 1.0, decrease: 1.0 };

    fn window(segments: f64) -> Window {
        Window { cwnd: 1000.0 * segments, ssthresh: 1000.0, smss: 1000.0 }
    }

    /// Windows follow equation 1. At 16 segments SQRT grows by 1 / 16^(1/2) = 1/4 a round trip and
    /// loses 16^(1/2) / 2 = 2; IIAD grows by 1/16 and loses 1. One acknowledgement of all 16 is a
    /// round trip; a mark takes of the window what a loss takes of the flight, and ECN-Echo never
    /// opens it.
    #[test]
    fn powers_of_the_window_set_the_steps() {
        for (mut law, up, down) in [(SQRT, 0.25, 2.0), (IIAD, 0.0625, 1.0)] {
            let mut w = window(16.0);
            law.acknowledged(&mut w, &Ack { ece: true, ..acked(16_000.0) });
            assert_eq!(w.cwnd, 16_000.0);
            law.acknowledged(&mut w, &acked(16_000.0));
            assert!((w.cwnd - 1000.0 * (16.0 + up)).abs() < 1e-6, "{}", w.cwnd);
            for signal in [Signal::Loss, Signal::Ecn] {
                let mut w = window(16.0);
                law.congested(&mut w, signal, 16_000.0, Time::ZERO);
                assert!((w.cwnd - 1000.0 * (16.0 - down)).abs() < 1e-6, "{}", w.cwnd);
                assert_eq!(w.cwnd, w.ssthresh);
            }
        }
    }

    /// A link is shared with TCP as equally as published: with k + l = 1 the window is in
    /// proportion to 1 / p^(1/2) for a loss each 1/p packets, as Reno's (section III): growth and
    /// loss balance where 1/p / w round trips of a / w^k each make up for b w^l, so at w^2 = a / (b
    /// p). With a = 1.5 b and 16,000 packets that is 154.9, with 4000 half of it; within 3 %.
    #[test]
    fn the_window_goes_with_the_root_of_the_gap() {
        let mean = |mut law: Binomial, gap: u32| {
            let mut w = window(10.0);
            let mut sum = 0.0;
            for loss in 0..400 {
                for _ in 0..gap {
                    law.acknowledged(&mut w, &acked(1000.0));
                    // Time passes at a window a round trip.
                    sum += if loss < 200 { 0.0 } else { 1000.0 / w.cwnd };
                }
                let flight = w.cwnd;
                law.congested(&mut w, Signal::Loss, flight, Time::ZERO);
            }
            200.0 * f64::from(gap) / sum
        };
        let friendly = |law: Binomial| Binomial { increase: 1.5 * law.decrease, ..law };
        for law in [|| SQRT, || IIAD] {
            for (gap, expected) in [(16_000, 154.9), (4000, 77.5)] {
                let found = mean(friendly(law()), gap);
                assert!((found / expected - 1.0).abs() < 0.03, "{found}, not {expected}");
            }
        }
    }
}
