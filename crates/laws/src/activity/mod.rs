//! Traffic that paced sources offer: sessions of talkers and of video, transfers of files.

mod contract;
mod files;
mod sessions;

use forebay_parameters::{Category, Entry, Problem, Section};
use forebay_units::{Rate, Span};

pub use contract::{Activity, Lasts, Phase, Session};

/// An activity that a scenario describes, of any number of sources.
pub struct ActivityKind {
    /// Makes that of one source after another.
    pub make: Box<dyn Fn() -> Box<dyn Activity>>,
    /// The mean rate of a source that nothing slows down.
    pub mean_rate: Rate,
    /// The highest nominal rate.
    pub peak_rate: Rate,
    /// True if all that it sends are transfers of given volumes.
    pub transfers: bool,
}

/// Reads an activity from its section of the scenario.
pub type BuildActivity =
    &'static (dyn Fn(&Section<'_>) -> Result<ActivityKind, Problem> + Send + Sync);

/// The category of activities.
pub enum Activities {}

impl Category for Activities {
    const NAME: &'static str = "activity";
    const CONTRACT: &'static str = "What a paced source wants to send, and when.";
    const PLACE: &'static str = "flows.NAME.paced";
    const KIND: &'static str = "activity such as { files = { rate = \"500 kbit/s\" } }";
    type Build = BuildActivity;
}

/// Every activity.
pub static ACTIVITIES: &[Entry<BuildActivity>] = &[files::ENTRY, sessions::ENTRY];

/// Above this a packet would take less than the resolution of the clock: that of links.
const MAX_RATE: u64 = 8_000_000_000_000_000;

/// Refuse a rate at which nothing would ever be sent, or packets in no time.
fn check_rate(section: &Section<'_>, key: &str, rate: Rate) -> Result<(), Problem> {
    match rate.bps() {
        0 => Err(section.fail(key, "is zero; allowed are rates above 0")),
        bps if bps > MAX_RATE => Err(section.fail(key, "is too fast; allowed are up to 8 Pbit/s")),
        _ => Ok(()),
    }
}

/// The longest mean time: what is due after the end of a run must lie within the clock.
const MAX_MEAN: Span = Span::from_s(3600 * 24 * 100);

/// Refuse a mean time that is none, or beyond every run.
fn check_mean(section: &Section<'_>, key: &str, mean: Span) -> Result<(), Problem> {
    if mean < Span::from_us(1) || mean > MAX_MEAN {
        return Err(section.fail(key, "is out of range; allowed are means of 1 us to 100 days"));
    }
    Ok(())
}

/// Refuse what is no probability.
fn check_probability(section: &Section<'_>, key: &str, value: f64) -> Result<(), Problem> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(section.fail(key, format!("{value} is not a probability; allowed are 0 to 1")))
}
