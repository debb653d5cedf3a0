//! NADA, network-assisted dynamic adaptation (RFC 8698).

mod receiver;

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::{
    AdaptationKind, BuildAdaptation, EncoderFacts, MediaRates, RateAdaptation, Report, Reports,
    within_a_minute,
};
use receiver::Receiver;

pub(super) const ENTRY: Entry<BuildAdaptation> = Entry {
    name: "nada",
    summary: "One congestion signal of delay, losses and marks, which sets the rate.",
    source: "RFC 8698",
    example: "",
    fields: NadaParameters::FIELDS,
    probes: &[
        Probe { name: "reference_bps", unit: "bit/s", meaning: "Reference rate (r_ref)." },
        Probe {
            name: "congestion_s",
            unit: "s",
            meaning: "Aggregate congestion signal of the latest report (x_curr).",
        },
        Probe {
            name: "ramp_up",
            unit: "1",
            meaning: "1 in accelerated ramp-up, 0 in gradual update (rmode = 0 and 1).",
        },
        Probe {
            name: "receiving_bps",
            unit: "bit/s",
            meaning: "Receiving rate of the latest report (r_recv).",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of NADA, with the names of RFC 8698 in brackets.
    pub struct NadaParameters {
        /// Weight of the flow: rates of flows that share a link are in proportion to it (PRIO).
        priority: f64 = 1.0, "RFC 8698, section 4.1, table 2";
        /// Reference congestion level (XREF).
        reference_delay: Span = "10 ms", "RFC 8698, section 4.1, table 2";
        /// Scaling factor of the gradual update (KAPPA).
        kappa: f64 = 0.5, "RFC 8698, section 4.1, table 2";
        /// Scaling factor of its reaction to a change of the signal (ETA).
        eta: f64 = 2.0, "RFC 8698, section 4.1, table 2";
        /// Upper bound of the round-trip time in the gradual update (TAU).
        tau: Span = "500 ms", "RFC 8698, section 4.1, table 2";
        /// Time between two reports (DELTA).
        report_interval: Span = "100 ms", "RFC 8698, section 4.1, table 2";
        /// Time over which packets are observed (LOGWIN).
        window: Span = "500 ms", "RFC 8698, section 4.1, table 2";
        /// Queuing delay from which on a queue builds up (QEPS).
        queue_threshold: Span = "10 ms", "RFC 8698, section 4.1, table 2";
        /// Bound of the delay of filters (DFILT).
        filter_delay: Span = "120 ms", "RFC 8698, section 4.1, table 2";
        /// Largest increase in accelerated ramp-up, over the receiving rate (GAMMA_MAX).
        ramp_up_max: f64 = 0.5, "RFC 8698, section 4.1, table 2";
        /// Queuing delay that accelerated ramp-up may cause (QBOUND).
        ramp_up_delay: Span = "50 ms", "RFC 8698, section 4.1, table 2";
        /// Number of average loss intervals after which a loss is forgotten (MULTILOSS).
        loss_memory: f64 = 7.0, "RFC 8698, section 4.1, table 2";
        /// Queuing delay above which it counts less while packets are lost (QTH).
        warping_delay: Span = "50 ms", "RFC 8698, section 4.1, table 2";
        /// Factor in the exponent of that (LAMBDA).
        warping: f64 = 0.5, "RFC 8698, section 4.1, table 2";
        /// Reference share of packets lost (PLRREF).
        loss_reference: f64 = 0.01, "RFC 8698, section 4.1, table 2";
        /// Reference share of packets marked (PMRREF).
        mark_reference: f64 = 0.01, "RFC 8698, section 4.1, table 2";
        /// Delay for which the reference share lost counts (DLOSS).
        loss_delay: Span = "10 ms", "RFC 8698, section 4.1, table 2";
        /// Delay for which the reference share marked counts (DMARK).
        mark_delay: Span = "2 ms", "RFC 8698, section 4.1, table 2";
        /// Smoothing factor of these shares (ALPHA).
        smoothing: f64 = 0.1, "RFC 8698, section 4.1, table 2";
        /// Scaling factor of the encoder's rate for what waits in the sender (BETA_V).
        buffer_encoder: f64 = 0.1, "RFC 8698, section 5.2.2";
        /// Scaling factor of the sending rate for that (BETA_S).
        buffer_sending: f64 = 0.1, "RFC 8698, section 5.2.2";
    }
}

impl NadaParameters {
    fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        let positive = [
            ("priority", self.priority),
            ("loss_reference", self.loss_reference),
            ("mark_reference", self.mark_reference),
            ("tau", self.tau.seconds()),
            ("warping_delay", self.warping_delay.seconds()),
        ];
        for (key, value) in positive {
            if !(value.is_finite() && value > 0.0) {
                return Err(section.fail(key, format!("{value} is out of range; allowed is more")));
            }
        }
        let others = [
            ("kappa", self.kappa),
            ("eta", self.eta),
            ("ramp_up_max", self.ramp_up_max),
            ("loss_memory", self.loss_memory),
            ("warping", self.warping),
            ("buffer_encoder", self.buffer_encoder),
            ("buffer_sending", self.buffer_sending),
        ];
        for (key, value) in others {
            section.within(key, value, 0.0, 1e6)?;
        }
        section.within("smoothing", self.smoothing, 0.0, 1.0)?;
        let spans = [("report_interval", self.report_interval), ("window", self.window)];
        within_a_minute(section, &spans)
    }
}

fn build(section: &Section<'_>) -> Result<AdaptationKind, Problem> {
    let parameters = NadaParameters::read(section)?;
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

/// Content of a report (RFC 8698, section 5.3): the mode in one bit, the signal in 15 bits and
/// units of 0.1 ms, the receiving rate in 32 bits and bit/s.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Content {
    ramp_up: bool,
    /// x_curr, in seconds.
    signal: f64,
    /// r_recv, in bit/s.
    receiving: f64,
}

impl Content {
    /// Units of the signal in a second.
    const UNITS: f64 = 1e4;

    fn written(self) -> Report {
        // Casts saturate.
        let signal = ((self.signal * Self::UNITS).round() as u64).min((1 << 15) - 1);
        let receiving = u64::from(self.receiving.round() as u32);
        let word = u64::from(!self.ramp_up) | signal << 1 | receiving << 16;
        Report { word, ..Report::default() }
    }

    fn read(word: u64) -> Self {
        Self {
            ramp_up: word & 1 == 0,
            signal: (word >> 1 & ((1 << 15) - 1)) as f64 / Self::UNITS,
            receiving: (word >> 16 & u64::from(u32::MAX)) as f64,
        }
    }
}

/// The sender's half (RFC 8698, section 4.3).
struct Sender {
    of: NadaParameters,
    encoder: EncoderFacts,
    /// r_ref, in bit/s.
    reference: f64,
    latest: Content,
    /// Time at which the latest report came (t_last).
    last: Option<Time>,
}

impl Sender {
    fn new(of: NadaParameters, encoder: EncoderFacts) -> Self {
        let latest = Content { ramp_up: true, signal: 0.0, receiving: 0.0 };
        Self { of, encoder, reference: encoder.start.bps() as f64, latest, last: None }
    }

    fn range(&self) -> (f64, f64) {
        let (least, most) = self.encoder.range;
        (least.bps() as f64, most.bps() as f64)
    }

    /// Accelerated ramp-up: equations 3 and 4.
    fn ramp_up(&mut self, receiving: f64, rtt: Span) {
        let of = &self.of;
        let round = (rtt + of.report_interval + of.filter_delay).seconds();
        let gamma = of.ramp_up_max.min(of.ramp_up_delay.seconds() / round);
        self.reference = self.reference.max((1.0 + gamma) * receiving);
    }

    /// Gradual update: equations 5 to 7.
    fn update(&mut self, signal: f64, since: Span) {
        let (of, (_, most)) = (&self.of, self.range());
        let (tau, delta) = (of.tau.seconds(), since.seconds());
        let offset = signal - of.priority * of.reference_delay.seconds() * most / self.reference;
        let change = signal - self.latest.signal;
        self.reference -= of.kappa * (delta / tau) * (offset / tau) * self.reference
            + of.kappa * of.eta * (change / tau) * self.reference;
    }
}

impl RateAdaptation for Sender {
    fn on_report(&mut self, report: &Report, rtt: Span, now: Time) {
        let report = Content::read(report.word);
        let since = self.last.replace(now).map_or(self.of.report_interval, |last| now.since(last));
        if report.ramp_up {
            self.ramp_up(report.receiving, rtt);
        } else {
            self.update(report.signal, since);
        }
        let (least, most) = self.range();
        self.reference = self.reference.min(most).max(least);
        self.latest = report;
    }

    /// RFC 8698, section 5.2.2: at most 5 % off the reference rate.
    fn rates(&self, waiting: f64) -> MediaRates {
        let (least, most) = self.range();
        let off = |beta: f64| (0.05 * self.reference).min(beta * waiting * self.encoder.frame_rate);
        MediaRates {
            encoder: least.max(self.reference - off(self.of.buffer_encoder)),
            sending: most.min(self.reference + off(self.of.buffer_sending)),
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("reference_bps", self.reference);
        visit("congestion_s", self.latest.signal);
        visit("ramp_up", f64::from(u8::from(self.latest.ramp_up)));
        visit("receiving_bps", self.latest.receiving);
    }
}

#[cfg(test)]
mod tests;
