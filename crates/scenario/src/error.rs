//! Errors and warnings about a scenario.

use forebay_parameters::Problem;

/// A scenario that cannot be run, or that is hardly meant as it is: the file and what is wrong with
/// it.
#[derive(Clone, Debug)]
pub struct ScenarioError {
    /// Name of the file.
    pub file: String,
    /// The fault, and its place.
    pub problem: Problem,
}

impl std::fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.file, self.problem)
    }
}

impl std::error::Error for ScenarioError {}
