//! Observations of a model while a script runs.

use forebay_units::Time;

use crate::language::NAMES;
use crate::segment::Segment;

/// Observation of a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Seen {
    /// The event of this index has happened, or would have.
    Reached(usize),
    /// A packet was sent.
    Sent(Time, Segment),
    /// Values that the assertions of the event of this index can name, in the order of [`NAMES`].
    Values(usize, [f64; NAMES.len()]),
}
