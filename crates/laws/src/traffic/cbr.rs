//! Constant bit rate, with jitter if wanted.

use forebay_kernel::Stream;
use forebay_network::{Burst, Traffic};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span};

use super::{BuildTraffic, TrafficKind, interval, rate_of};

pub(super) const ENTRY: Entry<BuildTraffic> = Entry {
    name: "cbr",
    summary: "Packets of one size at a constant interval, with optional jitter.",
    source: "draft-babiarz-pcn-explicit-marking-02, section 2 (constant bit rate codecs)",
    example: r#"
        rate = "100 kbit/s"
        size = "250 B"
    "#,
    fields: CbrParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of constant bit rate.
    pub struct CbrParameters {
        /// Bit rate on the wire, IP header included.
        rate: Rate, "-";
        /// Packet size on the wire, IP header included.
        size: Size, "-";
        /// Each interval is drawn uniformly within this fraction around the nominal one: 0.1 for
        /// nominal +-10 %.
        jitter: f64 = 0.0, "Adaptive REDn thesis (UBC 2001), section 4.3: +-10 %";
        /// Start with a random part of the first interval, so that flows are out of step.
        random_phase: bool = true, "draft-babiarz-pcn-explicit-marking-02, section 2";
    }
}

fn build(section: &Section<'_>) -> Result<TrafficKind, Problem> {
    let CbrParameters { rate, size, jitter, random_phase } = CbrParameters::read(section)?;
    let gap = interval(section, rate, size)?;
    section.within("jitter", jitter, 0.0, 1.0)?;
    let make = move |stream: &mut Stream| {
        let phase = if random_phase { gap.scaled(stream.uniform()) } else { Span::ZERO };
        Cbr { gap, size, jitter, phase: Some(phase) }
    };
    let mean_rate = Some(rate_of(size.bits() as f64 / gap.seconds()));
    Ok(TrafficKind::new(make, Some(size), mean_rate))
}

struct Cbr {
    gap: Span,
    size: Size,
    jitter: f64,
    /// Phase, until the first packet has left.
    phase: Option<Span>,
}

impl Traffic for Cbr {
    fn next(&mut self, stream: &mut Stream) -> Option<Burst> {
        let gap = match self.phase.take() {
            Some(phase) => phase,
            None if self.jitter == 0.0 => self.gap,
            None => self.gap.scaled(1.0 + self.jitter * (2.0 * stream.uniform() - 1.0)),
        };
        Some(Burst { gap, size: self.size })
    }

    fn constant_gap(&self) -> Option<Span> {
        (self.jitter == 0.0).then_some(self.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    /// Jitter keeps the mean rate: with 10 % jitter the intervals are uniform on gap * [0.9, 1.1],
    /// so n of them have mean gap and standard error gap * 0.2/sqrt(12 n); five of these for n =
    /// 10,000 are 0.29 %.
    #[test]
    fn jitter_keeps_the_mean_rate() {
        let gap = Span::from_ms(20);
        let size = Size::from_bytes(200);
        let mut cbr = Cbr { gap, size, jitter: 0.1, phase: Some(Span::ZERO) };
        let mut stream = Streams::new(1, 0).named("cbr");
        assert_eq!(cbr.next(&mut stream).unwrap().gap, Span::ZERO);
        let mut sum = 0.0;
        for _ in 0..10_000 {
            let seconds = cbr.next(&mut stream).unwrap().gap.seconds();
            assert!((0.018..=0.022).contains(&seconds));
            sum += seconds;
        }
        assert!((sum / 10_000.0 / 0.02 - 1.0).abs() < 0.0029);
    }
}
