//! Jitter: a random delay of each packet, with or without reordering.

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_parameters::{Entry, Parameters, Problem, Section, choice, parameters};
use forebay_units::quantity::show_span;
use forebay_units::{Span, Time};

use super::{BuildImpairment, Impairment, Passage};

pub(super) const ENTRY: Entry<BuildImpairment> = Entry {
    name: "jitter",
    summary: "Delays each packet by a random time beside the propagation delay.",
    source: "tc-netem(8), delay; RFC 3393 (delay variation)",
    example: r#"mean = "5 ms""#,
    fields: JitterParameters::FIELDS,
    probes: &[],
    build: &build,
};

choice! {
    /// Distribution of the delay.
    pub enum Distribution {
        /// Uniform from 0 to twice the mean.
        Uniform = "uniform",
        /// Exponential, without bound.
        Exponential = "exponential",
        /// Absolute value of a normal one, which is drawn again beyond three standard deviations.
        HalfNormal = "half_normal",
    }
}

parameters! {
    /// Parameters of jitter.
    pub struct JitterParameters {
        /// Mean of the delay that is added; at most 1000 s.
        mean: Span, "RFC 3393";
        /// Distribution of the delay that is added.
        distribution: Distribution = "uniform",
            "Hemminger, Network emulation with NetEm, linux.conf.au 2005; RFC 8868, section 4.5.2";
        /// Lets a packet overtake those before it. Otherwise it waits for them, so that the mean
        /// delay is larger than `mean` where packets come close together.
        reorder: bool = false, "RFC 4737 (reordering)";
    }
}

const MAX_MEAN: Span = Span::from_s(1000);

fn build(section: &Section<'_>) -> Result<Box<dyn Impairment>, Problem> {
    let parameters = JitterParameters::read(section)?;
    if parameters.mean > MAX_MEAN {
        let message = format!(
            "{} is too long; allowed are up to {}",
            show_span(parameters.mean),
            show_span(MAX_MEAN)
        );
        return Err(section.fail("mean", message));
    }
    Ok(Box::new(Jitter { parameters }))
}

/// Standard deviations at which the half-normal distribution ends (RFC 8868, section 4.5.2).
const CUT: f64 = 3.0;

/// Its mean over the standard deviation of the normal one: sqrt(2 / pi) (1 - e^(-4.5)) / P, where
/// P = 0.997300 is the probability of a normal value within three standard deviations.
const CUT_MEAN: f64 = 0.791_157;

/// The absolute value of a normal variable, within `CUT` standard deviations of 1.
fn half_normal(stream: &mut Stream) -> f64 {
    loop {
        let value = stream.normal().abs();
        if value <= CUT {
            return value;
        }
    }
}

struct Jitter {
    parameters: JitterParameters,
}

impl Impairment for Jitter {
    fn pass(&mut self, _packet: &Packet, _now: Time, stream: &mut Stream) -> Passage {
        let mean = self.parameters.mean.ps() as f64;
        let delay = match self.parameters.distribution {
            Distribution::Uniform => 2.0 * mean * stream.uniform(),
            Distribution::Exponential => mean * stream.exponential(),
            Distribution::HalfNormal => mean / CUT_MEAN * half_normal(stream),
        };
        Passage::Delayed(Span::from_ps(delay as u64))
    }

    fn keeps_order(&self) -> bool {
        !self.parameters.reorder
    }
}
