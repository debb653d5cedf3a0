//! GCC, Google congestion control (draft-ietf-rmcat-gcc-02), with both controllers at the sender.
//!
//! What the draft computes of the times of single packets is computed where they arrive, of the
//! same numbers, and reports say what came of it: a report has no place for single packets.

mod detector;
mod receiver;
mod sender;

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::Span;

use super::{AdaptationKind, BuildAdaptation, Report, Reports, within_a_minute};
use detector::Signal;
use receiver::Receiver;
use sender::Sender;

pub(super) const ENTRY: Entry<BuildAdaptation> = Entry {
    name: "gcc",
    summary: "Google congestion control: the gradient of delay and losses, each with a rate.",
    source: "draft-ietf-rmcat-gcc-02",
    example: "",
    fields: GccParameters::FIELDS,
    probes: &[
        Probe { name: "delay_based_bps", unit: "bit/s", meaning: "Delay-based rate (A_hat)." },
        Probe { name: "loss_based_bps", unit: "bit/s", meaning: "Loss-based rate (As_hat)." },
        Probe {
            name: "receiving_bps",
            unit: "bit/s",
            meaning: "Receiving rate of the latest report (R_hat); 0 before a window is full.",
        },
        Probe {
            name: "gradient_s",
            unit: "s",
            meaning: "What is compared with the threshold: the estimated gradient of delay (m), \
                      times the number of groups.",
        },
        Probe { name: "threshold_s", unit: "s", meaning: "Adaptive threshold (del_var_th)." },
        Probe {
            name: "signal",
            unit: "1",
            meaning: "Signal of the latest report: 1 over-use, 0 normal, -1 under-use.",
        },
        Probe {
            name: "state",
            unit: "1",
            meaning: "State of the rate control: 1 increase, 0 hold, -1 decrease.",
        },
        Probe {
            name: "loss_share",
            unit: "1",
            meaning: "Share of packets lost between the latest two reports (p).",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of GCC, with the names of draft-ietf-rmcat-gcc-02 in brackets.
    pub struct GccParameters {
        /// Time between two reports.
        report_interval: Span = "100 ms", "draft-ietf-rmcat-gcc-02, section 3";
        /// Time within which packets of a group are sent (burst_time).
        burst_time: Span = "5 ms", "draft-ietf-rmcat-gcc-02, section 5.6";
        /// Variance of the gradient from group to group, in ms² (q).
        state_noise: f64 = 1e-3, "draft-ietf-rmcat-gcc-02, section 5.6";
        /// Variance of the estimate at the beginning, in ms² (e(0)).
        initial_error: f64 = 0.1, "draft-ietf-rmcat-gcc-02, section 5.6";
        /// Weight of a measurement in the variance of noise, at 30 groups a second (chi).
        noise_weight: f64 = 0.01, "draft-ietf-rmcat-gcc-02, section 5.6 (0.001 to 0.1)";
        /// Latest groups, the closest two of which say how fast groups come (K).
        rate_groups: u32 = 60, "assumed: as many as scale_groups";
        /// Most groups by whose number the estimate is multiplied before it is compared with the
        /// threshold; 1 is the letter of the draft.
        scale_groups: u32 = 60, "pion/interceptor (2022), adaptive_threshold.go (maxDeltas)";
        /// Threshold at the beginning (del_var_th(0)).
        threshold: Span = "12.5 ms", "draft-ietf-rmcat-gcc-02, section 5.6";
        /// Least threshold.
        min_threshold: Span = "6 ms", "draft-ietf-rmcat-gcc-02, section 5.4";
        /// Greatest threshold.
        max_threshold: Span = "600 ms", "draft-ietf-rmcat-gcc-02, section 5.4";
        /// Excess over the threshold to which it does not adapt.
        threshold_outlier: Span = "15 ms", "draft-ietf-rmcat-gcc-02, section 5.4";
        /// Coefficient with which the threshold rises, per millisecond (K_u).
        threshold_rise: f64 = 0.01, "draft-ietf-rmcat-gcc-02, section 5.6";
        /// Coefficient with which it falls, per millisecond (K_d).
        threshold_fall: f64 = 0.00018, "draft-ietf-rmcat-gcc-02, section 5.6";
        /// Time above the threshold after which over-use is signalled (overuse_time_th).
        overuse_time: Span = "10 ms", "draft-ietf-rmcat-gcc-02, section 5.6";
        /// Time over which the receiving rate is measured (T).
        window: Span = "500 ms", "draft-ietf-rmcat-gcc-02, section 5.6 (0.5 to 1 s)";
        /// Factor of the multiplicative increase in a second.
        increase: f64 = 1.08, "draft-ietf-rmcat-gcc-02, section 5.5";
        /// Part of the response time that is not round trip.
        reaction: Span = "100 ms", "draft-ietf-rmcat-gcc-02, section 5.5";
        /// Factor of the receiving rate in a decrease (beta).
        decrease: f64 = 0.85, "draft-ietf-rmcat-gcc-02, section 5.6";
        /// Most that the delay-based rate is, over the receiving rate.
        receiving_bound: f64 = 1.5, "draft-ietf-rmcat-gcc-02, section 5.5";
        /// Weight of the past in the mean rate of decreases.
        smoothing: f64 = 0.95, "draft-ietf-rmcat-gcc-02, section 5.5";
        /// Number of standard deviations about it within which the rate is close to convergence.
        deviations: f64 = 3.0, "draft-ietf-rmcat-gcc-02, section 5.5";
        /// Share of packets lost below which the loss-based rate grows.
        loss_low: f64 = 0.02, "draft-ietf-rmcat-gcc-02, section 6";
        /// Share of packets lost above which it falls.
        loss_high: f64 = 0.1, "draft-ietf-rmcat-gcc-02, section 6";
        /// Factor of that rate in a report without losses.
        loss_increase: f64 = 1.05, "draft-ietf-rmcat-gcc-02, section 6";
        /// Part of the share lost by which it falls.
        loss_decrease: f64 = 0.5, "draft-ietf-rmcat-gcc-02, section 6";
        /// Factor of the encoder's rate at which packets leave the sender. At 1 what waits there of
        /// frames of random sizes is not bounded.
        pacing: f64 = 1.0, "draft-ietf-rmcat-gcc-02, section 4";
    }
}

impl GccParameters {
    fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        let numbers = [
            ("state_noise", self.state_noise, 0.0, 1e6),
            ("initial_error", self.initial_error, 0.0, 1e6),
            ("noise_weight", self.noise_weight, 0.0, 1.0),
            ("rate_groups", f64::from(self.rate_groups), 1.0, 1000.0),
            ("scale_groups", f64::from(self.scale_groups), 1.0, 1000.0),
            ("threshold_rise", self.threshold_rise, 0.0, 1.0),
            ("threshold_fall", self.threshold_fall, 0.0, 1.0),
            ("increase", self.increase, 1.0, 1000.0),
            ("decrease", self.decrease, 0.0, 1.0),
            ("receiving_bound", self.receiving_bound, 1.0, 1000.0),
            ("smoothing", self.smoothing, 0.0, 1.0),
            ("deviations", self.deviations, 0.0, 1000.0),
            ("loss_low", self.loss_low, 0.0, 1.0),
            ("loss_high", self.loss_high, self.loss_low, 1.0),
            ("loss_increase", self.loss_increase, 1.0, 1000.0),
            ("loss_decrease", self.loss_decrease, 0.0, 1.0),
            ("pacing", self.pacing, 1.0, 1000.0),
        ];
        for (key, value, least, most) in numbers {
            section.within(key, value, least, most)?;
        }
        let spans = [("report_interval", self.report_interval), ("window", self.window)];
        within_a_minute(section, &spans)?;
        if self.min_threshold > self.max_threshold {
            let message = "is out of range; allowed are spans from min_threshold on";
            return Err(section.fail("max_threshold", message));
        }
        if !(self.min_threshold..=self.max_threshold).contains(&self.threshold) {
            let message = "is out of range; allowed are min_threshold to max_threshold";
            return Err(section.fail("threshold", message));
        }
        Ok(())
    }
}

fn build(section: &Section<'_>) -> Result<AdaptationKind, Problem> {
    let parameters = GccParameters::read(section)?;
    parameters.check(section)?;
    let interval = parameters.report_interval;
    let of_receivers = parameters.clone();
    Ok(AdaptationKind {
        make: Box::new(move |encoder| Box::new(Sender::new(parameters.clone(), *encoder))),
        reports: Some(Reports {
            interval,
            make: Box::new(move || Box::new(Receiver::new(of_receivers.clone()))),
        }),
    })
}

/// Content of a report: the signal in 2 bits, the share lost in 10 bits and thousandths, the
/// receiving rate in 26 bits and units of 64 bit/s, and, to be looked at, gradient and threshold in
/// 13 bits and units of 0.1 ms each.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Content {
    signal: Signal,
    /// Share of the packets lost since the report before.
    lost: f64,
    /// R_hat in bit/s; 0 if it is not known yet.
    receiving: f64,
    /// The scaled estimate, and the threshold, in ms.
    gradient: f64,
    threshold: f64,
}

impl Content {
    /// Bits of gradient and threshold, and their units in a millisecond.
    const BITS: u32 = 13;
    const UNITS: f64 = 10.0;

    fn written(self) -> Report {
        let signal = match self.signal {
            Signal::Normal => 0,
            Signal::Over => 1,
            Signal::Under => 2,
        };
        // Casts saturate.
        let up_to = |value: f64, bits: u32| (value.round() as u64).min((1 << bits) - 1);
        let half = f64::from(1 << (Self::BITS - 1));
        let gradient = up_to(self.gradient * Self::UNITS + half, Self::BITS);
        let threshold = up_to(self.threshold * Self::UNITS, Self::BITS);
        let word = signal
            | up_to(self.lost * 1e3, 10) << 2
            | up_to(self.receiving / 64.0, 26) << 12
            | gradient << 38
            | threshold << 51;
        Report { word, ..Report::default() }
    }

    fn read(word: u64) -> Self {
        let field = |shift: u32, bits: u32| (word >> shift & ((1 << bits) - 1)) as f64;
        let half = f64::from(1 << (Self::BITS - 1));
        Self {
            signal: match word & 3 {
                1 => Signal::Over,
                2 => Signal::Under,
                _ => Signal::Normal,
            },
            lost: field(2, 10) / 1e3,
            receiving: field(12, 26) * 64.0,
            gradient: (field(38, Self::BITS) - half) / Self::UNITS,
            threshold: field(51, Self::BITS) / Self::UNITS,
        }
    }
}

#[cfg(test)]
mod tests;
