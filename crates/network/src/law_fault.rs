//! Faults of laws from outside the build.

use std::fmt;
use std::panic::resume_unwind;

/// Fault of a law that is not part of this build: it returned what is not allowed, or an error. The
/// run has no result, and the law is to blame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LawFault(String);

impl LawFault {
    /// A fault of which `message` names the law, its place, the simulated time, what it returned
    /// and what is allowed.
    #[must_use]
    pub fn new(message: String) -> Self {
        Self(message)
    }

    /// End the run by unwinding with this fault.
    pub fn end_run(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

impl fmt::Display for LawFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
