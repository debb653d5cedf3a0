//! SCReAM, self-clocked rate adaptation for multimedia (RFC 8298).

mod delay;
mod flight;
mod media;
mod receiver;
mod sender;

use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span};

use super::{AdaptationKind, BuildAdaptation, EncoderFacts, Reports, within_a_minute};
use receiver::Receiver;
use sender::Sender;

pub(super) const ENTRY: Entry<BuildAdaptation> = Entry {
    name: "scream",
    summary: "A window of bytes in flight, which keeps the queuing delay at a target; the rate \
              follows what waits for it.",
    source: "RFC 8298",
    example: "",
    fields: ScreamParameters::FIELDS,
    probes: &[
        Probe { name: "window_bytes", unit: "B", meaning: "Congestion window (cwnd)." },
        Probe { name: "flight_bytes", unit: "B", meaning: "Bytes in flight (bytes_in_flight)." },
        Probe { name: "queueing_s", unit: "s", meaning: "Queuing delay (qdelay)." },
        Probe {
            name: "target_s",
            unit: "s",
            meaning: "Queuing delay that the window keeps (qdelay_target).",
        },
        Probe {
            name: "trend",
            unit: "1",
            meaning: "Incipient congestion, from 0 to 1 (qdelay_trend).",
        },
        Probe {
            name: "fast_increase",
            unit: "1",
            meaning: "1 in fast increase, else 0 (in_fast_increase).",
        },
        Probe { name: "target_bps", unit: "bit/s", meaning: "Rate of media (target_bitrate)." },
    ],
    build: &build,
};

parameters! {
    /// Parameters of SCReAM, with the names of RFC 8298 in brackets.
    pub struct ScreamParameters {
        /// Least queuing delay that the window keeps (QDELAY_TARGET_LO).
        delay_target: Span = "100 ms", "RFC 8298, section 4.1.1.1";
        /// Greatest queuing delay that it keeps, beside flows that fill the queue
        /// (QDELAY_TARGET_HI).
        delay_target_max: Span = "400 ms", "RFC 8298, section 4.1.1.1";
        /// Keep a greater queuing delay beside flows that fill the queue.
        competing: bool = true, "RFC 8298, section 4.1.2.3";
        /// Weight of a sample in the average of queuing delay over its target (QDELAY_WEIGHT).
        delay_weight: f64 = 0.1, "RFC 8298, section 4.1.1.1";
        /// Trend, a share of 1, at which fast increase ends (QDELAY_TREND_TH).
        trend_threshold: f64 = 0.2, "RFC 8298, section 4.1.1.1";
        /// Trend, a share of 1, below which fast increase may begin again (QDELAY_TREND_LO).
        trend_low: f64 = 0.2, "RFC 8298, section 4.1.1.1";
        /// Time for which the trend must be below that (T_RESUME_FAST_INCREASE).
        resume_after: Span = "5 s", "RFC 8298, section 4.1.1.1";
        /// Least window (MIN_CWND).
        min_window: Size = "3000 B", "RFC 8298, section 4.1.1.1";
        /// Window over the most bytes that were in flight within 5 s
        /// (MAX_BYTES_IN_FLIGHT_HEAD_ROOM).
        flight_headroom: f64 = 1.1, "RFC 8298, section 4.1.1.1";
        /// Factor of changes of the window (GAIN).
        gain: f64 = 1.0, "RFC 8298, section 4.1.1.1";
        /// Factor of the window at a loss (BETA_LOSS).
        loss_window: f64 = 0.8, "RFC 8298, section 4.1.1.1";
        /// Factor of the window and of the rate at a mark (BETA_ECN).
        mark_backoff: f64 = 0.9, "RFC 8298, section 4.1.1.1";
        /// Factor of the rate at a loss (BETA_R).
        loss_rate: f64 = 0.9, "RFC 8298, section 4.1.1.1";
        /// Size of segments (MSS).
        mss: Size = "1000 B", "RFC 8298, section 4.1.1.1";
        /// Time between adjustments of the rate (RATE_ADJUST_INTERVAL), at frames.
        adjust_interval: Span = "200 ms", "RFC 8298, section 4.1.1.1";
        /// Greatest increase of the rate in a second (RAMP_UP_SPEED).
        ramp_up: Rate = "200 kbit/s", "RFC 8298, section 4.1.1.1";
        /// Share by which the trend at its greatest lessens an increase (PRE_CONGESTION_GUARD).
        congestion_guard: f64 = 0.1, "RFC 8298, section 4.1.1.1";
        /// Factor of what waits in the sender, which lessens an increase (TX_QUEUE_SIZE_FACTOR).
        buffer_factor: f64 = 1.0, "RFC 8298, section 4.1.1.1";
        /// Delay in the sender from which on the rate falls (RTP_QDELAY_TH).
        buffer_delay: Span = "20 ms", "RFC 8298, section 4.1.1.1";
        /// Factor of the rate then (TARGET_RATE_SCALE_RTP_QDELAY).
        buffer_backoff: f64 = 0.95, "RFC 8298, section 4.1.1.1";
        /// Least rate at which packets leave (RATE_PACE_MIN).
        min_pace: Rate = "50 kbit/s", "RFC 8298, section 4.1.1.1";
        /// Minutes of which the least delay is the base delay (BASE_HISTORY), 1 to 60.
        base_history: u32 = 10, "RFC 6817, section 3.1";
        /// Weight of a round trip in the share of round trips with losses (loss_event_rate).
        loss_weight: f64 = 0.01, "assumed: RFC 8298 leaves open how the share is estimated";
        /// Least time without a report after which what is in flight counts as lost.
        min_timeout: Span = "1 s", "assumed, as RFC 6298, section 2.4; RFC 8298 has no such time";
        /// Time between two reports.
        report_interval: Span = "20 ms", "RFC 8298, section 4.2.2 (the shortest there)";
    }
}

impl ScreamParameters {
    fn check(&self, section: &Section<'_>) -> Result<(), Problem> {
        let shares = [
            ("delay_weight", self.delay_weight),
            ("loss_window", self.loss_window),
            ("mark_backoff", self.mark_backoff),
            ("loss_rate", self.loss_rate),
            ("congestion_guard", self.congestion_guard),
            ("buffer_backoff", self.buffer_backoff),
            ("loss_weight", self.loss_weight),
        ];
        let factors = [
            ("trend_threshold", self.trend_threshold),
            ("trend_low", self.trend_low),
            ("flight_headroom", self.flight_headroom),
            ("gain", self.gain),
            ("buffer_factor", self.buffer_factor),
        ];
        for (most, values) in [(1.0, &shares[..]), (1e6, &factors[..])] {
            for &(key, value) in values {
                section.within(key, value, 0.0, most)?;
            }
        }
        let spans = [
            ("delay_target", self.delay_target),
            ("delay_target_max", self.delay_target_max),
            ("adjust_interval", self.adjust_interval),
            ("min_timeout", self.min_timeout),
            ("report_interval", self.report_interval),
        ];
        within_a_minute(section, &spans)?;
        if self.delay_target_max < self.delay_target {
            let message = "is out of range; allowed are delay_target and more";
            return Err(section.fail("delay_target_max", message));
        }
        for (key, size) in [("min_window", self.min_window), ("mss", self.mss)] {
            if !(1..=1_000_000_000).contains(&size.bytes()) {
                return Err(section.fail(key, "is out of range; allowed are 1 B to 1 GB"));
            }
        }
        if self.min_pace.bps() == 0 {
            return Err(section.fail("min_pace", "is no rate; allowed are 1 bit/s and more"));
        }
        section.within("base_history", f64::from(self.base_history), 1.0, 60.0)
    }
}

fn build(section: &Section<'_>) -> Result<AdaptationKind, Problem> {
    let parameters = ScreamParameters::read(section)?;
    parameters.check(section)?;
    let interval = parameters.report_interval;
    Ok(AdaptationKind {
        make: Box::new(move |encoder| Box::new(Sender::new(parameters.clone(), *encoder))),
        reports: Some(Reports { interval, make: Box::new(|| Box::new(Receiver::default())) }),
    })
}

#[cfg(test)]
mod tests;
