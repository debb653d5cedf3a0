//! Errors of networks with real stacks.

use std::fmt;

use forebay_scenario::{ScenarioError, Stopped};

/// Reason why a network cannot be built, or has no result.
#[derive(Clone, Debug)]
pub enum HostError {
    /// The scenario is wrong: where, what was read, and what is allowed.
    Scenario(String),
    /// Something that was asked of the network is wrong: what was read, and what is allowed.
    Wrong(String),
    /// The run was ended by a stack that is at fault: which host, at which time, and what it did;
    /// or by a law from outside.
    Stopped(String),
    /// The run exceeds a limit.
    Limit(String),
    /// The run was cancelled from another thread.
    Cancelled,
    /// An invariant does not hold: which, where, when, and the numbers.
    Broken(String),
    /// Two runs of the same seed differ: the first datagram in which they do.
    Differs(String),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scenario(text)
            | Self::Wrong(text)
            | Self::Stopped(text)
            | Self::Limit(text)
            | Self::Broken(text)
            | Self::Differs(text) => text,
            Self::Cancelled => "the run was cancelled",
        })
    }
}

impl std::error::Error for HostError {}

impl From<ScenarioError> for HostError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error.to_string())
    }
}

impl From<Stopped> for HostError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Cancelled => Self::Cancelled,
            Stopped::Law(fault) => Self::Stopped(fault.to_string()),
            limit => Self::Limit(limit.to_string()),
        }
    }
}
