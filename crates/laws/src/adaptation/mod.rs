//! Rate adaptation: how the rate of real-time media follows the network.

mod constant;
mod contract;
mod gcc;
mod loss_intervals;
mod nada;
mod scream;

use forebay_parameters::{Category, Entry, Problem, Section};
use forebay_units::{Rate, Span};

pub use contract::{Arrival, MediaRates, MediaReceiver, RateAdaptation, Report};

/// Abilities of an encoder, for the laws that ask it.
#[derive(Clone, Copy, Debug)]
pub struct EncoderFacts {
    /// Least and greatest rate, packet headers included.
    pub range: (Rate, Rate),
    /// Rate at the beginning.
    pub start: Rate,
    /// Frames in a second.
    pub frame_rate: f64,
}

/// Makes the senders' half of a law for one flow after another.
pub type MakeAdaptation = Box<dyn Fn(&EncoderFacts) -> Box<dyn RateAdaptation>>;

/// The reports that a law wants.
pub struct Reports {
    /// Time between two of them.
    pub interval: Span,
    /// Makes the receivers' half.
    pub make: Box<dyn Fn() -> Box<dyn MediaReceiver>>,
}

/// A law of rate adaptation that a scenario describes, of any number of flows.
pub struct AdaptationKind {
    /// Makes the senders' half.
    pub make: MakeAdaptation,
    /// Reports of receivers; `None` if they report nothing.
    pub reports: Option<Reports>,
}

/// Reads a law of rate adaptation from its section of the scenario.
pub type BuildAdaptation =
    &'static (dyn Fn(&Section<'_>) -> Result<AdaptationKind, Problem> + Send + Sync);

/// The category of rate adaptation.
pub enum Adaptations {}

impl Category for Adaptations {
    const NAME: &'static str = "adaptation";
    const CONTRACT: &'static str = "How the rate of real-time media follows receivers' reports.";
    const PLACE: &'static str = "flows.NAME.media";
    const KIND: &'static str = "rate adaptation such as \"nada\"";
    type Build = BuildAdaptation;
}

/// The rate adaptation of media that name none.
pub static DEFAULT: &Entry<BuildAdaptation> = &nada::ENTRY;

/// Every law of rate adaptation.
pub static ADAPTATIONS: &[Entry<BuildAdaptation>] =
    &[constant::ENTRY, gcc::ENTRY, nada::ENTRY, scream::ENTRY];

/// Refuse times of reports, windows and adjustments that are out of any use, by their keys.
fn within_a_minute(section: &Section<'_>, spans: &[(&str, Span)]) -> Result<(), Problem> {
    let out = spans.iter().find(|(_, span)| !(Span::from_ms(1)..=Span::from_s(60)).contains(span));
    out.map_or(Ok(()), |(key, _)| {
        Err(section.fail(key, "is out of range; allowed are 1 ms to 60 s"))
    })
}
