//! Errors of environments.

use std::fmt;

use forebay_scenario::{ScenarioError, Stopped, UnknownGauge};

/// Reason why an environment cannot be made, or cannot continue.
#[derive(Clone, Debug)]
pub enum GymError {
    /// Wrong arguments: what was read, and what is allowed.
    Wrong(String),
    /// A run that has no result: it was cancelled, or exceeds a limit.
    Stopped(Stopped),
}

impl fmt::Display for GymError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(message) => f.write_str(message),
            Self::Stopped(stopped) => write!(f, "{stopped}"),
        }
    }
}

impl std::error::Error for GymError {}

impl From<Stopped> for GymError {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl From<ScenarioError> for GymError {
    fn from(error: ScenarioError) -> Self {
        Self::Wrong(error.to_string())
    }
}

impl From<UnknownGauge> for GymError {
    fn from(error: UnknownGauge) -> Self {
        Self::Wrong(error.to_string())
    }
}
