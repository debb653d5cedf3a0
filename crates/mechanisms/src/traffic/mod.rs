//! Traffic: what an application sends, and when.

mod bulk;
mod cbr;
mod file;
mod on_off;
mod poisson;

use forebay_kernel::Stream;
use forebay_network::Traffic;
use forebay_parameters::{Entry, Problem, Section, choice};
use forebay_units::{Rate, Size, Span};

/// Makes the traffic of one flow after another, each with draws from the flow's own stream.
pub type TrafficFactory = Box<dyn Fn(&mut Stream) -> Box<dyn Traffic>>;

/// A kind of traffic as read from its section of the scenario.
pub struct TrafficKind {
    /// Makes one flow's traffic.
    pub make: TrafficFactory,
    /// The largest burst: over UDP, the largest packet (the mean, where sizes are random). `None`
    /// if only TCP can carry it.
    pub largest: Option<Size>,
}

/// Reads a section of the scenario and gives the factory of its traffic.
pub type BuildTraffic = fn(&Section<'_>) -> Result<TrafficKind, Problem>;

/// The traffic of TCP flows that name none: bulk transfer.
pub static DEFAULT: &Entry<BuildTraffic> = &bulk::ENTRY;

/// Every kind of traffic.
pub static TRAFFICS: &[Entry<BuildTraffic>] =
    &[bulk::ENTRY, cbr::ENTRY, file::ENTRY, on_off::ENTRY, poisson::ENTRY];

choice! {
    /// How packet sizes are distributed.
    pub enum SizeLaw {
        /// All have the given size.
        Fixed = "fixed",
        /// Exponential with the given mean, rounded up to whole bytes.
        Exponential = "exponential",
    }
}

impl SizeLaw {
    /// A size with mean `mean`.
    #[inline]
    fn draw(self, mean: Size, stream: &mut Stream) -> Size {
        match self {
            Self::Fixed => mean,
            Self::Exponential => {
                // Whole bytes: the ceiling of an exponential is geometric on 1, 2, ...; its mean
                // lies half a byte above. Taking the draw half a byte down keeps the mean.
                let bytes = mean.bytes() as f64 * stream.exponential() + 0.5;
                Size::from_bytes((bytes as u64).clamp(1, u64::from(u16::MAX)))
            }
        }
    }
}

/// The packet interval that `size` packets need for `rate`, refusing what cannot be.
fn interval(section: &Section<'_>, rate: Rate, size: Size) -> Result<Span, Problem> {
    if rate.bps() == 0 {
        return Err(section.fail("rate", "is zero; traffic needs a rate above 0"));
    }
    packet_size(section, size)?;
    Ok(rate.transmission_time(size))
}

/// Refuse packets that IP cannot carry.
fn packet_size(section: &Section<'_>, size: Size) -> Result<(), Problem> {
    if size.bytes() == 0 || size.bytes() > u64::from(u16::MAX) {
        let message =
            format!("{} B is not a packet size; allowed are 1 B to 65535 B", size.bytes());
        return Err(section.fail("size", message));
    }
    Ok(())
}

/// Refuse a number outside `[low, high]`.
fn within(section: &Section<'_>, key: &str, x: f64, low: f64, high: f64) -> Result<(), Problem> {
    if (low..=high).contains(&x) {
        return Ok(());
    }
    Err(section.fail(key, format!("{x} is out of range; allowed are {low} to {high}")))
}
