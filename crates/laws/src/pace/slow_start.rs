//! Slow start of a session.

use forebay_parameters::{Problem, Section};

/// A session begins at part of its nominal rate and rises by equal steps to all of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlowStart {
    /// The scale that a session begins with.
    pub(super) from: f64,
    /// Rise of the scale in each round-trip time.
    pub(super) by: f64,
}

/// Steps add up to the nominal rate but for the rounding of binary fractions.
const ALMOST: f64 = 1.0 - 1e-9;

impl SlowStart {
    /// Refuse what could not rise, or begins above the end.
    pub(super) fn check(self, section: &Section<'_>) -> Result<(), Problem> {
        let Self { from, by } = self;
        if !(from > 0.0 && from <= 1.0) {
            let message = format!("{from} is out of range; allowed are above 0 and up to 1");
            return Err(section.fail("start", message));
        }
        if !(by > 0.0 && by <= 1.0) {
            let message = format!("{by} is out of range; allowed are above 0 and up to 1");
            return Err(section.fail("start_increase", message));
        }
        Ok(())
    }

    /// The scale after `scale`; `None` if that is the nominal rate, and slow start is over.
    pub(super) fn after(self, scale: f64) -> Option<f64> {
        let next = scale + self.by;
        (next < ALMOST).then_some(next)
    }
}
