//! No adaptation: one rate throughout.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::{AdaptationKind, BuildAdaptation, MediaRates, RateAdaptation, Report};

pub(super) const ENTRY: Entry<BuildAdaptation> = Entry {
    name: "constant",
    summary: "Media at the starting rate throughout, without reports.",
    source: "RFC 8867, section 4.3 (media that do not adapt)",
    example: "",
    fields: ConstantParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// No parameters.
    pub struct ConstantParameters {}
}

fn build(section: &Section<'_>) -> Result<AdaptationKind, Problem> {
    ConstantParameters::read(section)?;
    Ok(AdaptationKind {
        make: Box::new(|encoder| Box::new(Constant(encoder.start.bps() as f64))),
        reports: None,
    })
}

struct Constant(f64);

impl RateAdaptation for Constant {
    fn on_report(&mut self, _report: &Report, _rtt: Span, _now: Time) {}

    fn rates(&self, _waiting: f64) -> MediaRates {
        MediaRates { encoder: self.0, sending: self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Audio without adaptation keeps its rate, whatever waits or is reported.
    #[test]
    fn nothing_changes_the_rate() {
        let mut law = Constant(20e3);
        law.on_report(&Report::default(), Span::from_ms(100), Time::ZERO);
        assert_eq!(law.rates(1e9), MediaRates { encoder: 20e3, sending: 20e3 });
    }
}
