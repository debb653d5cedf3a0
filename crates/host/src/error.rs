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
    /// The run was ended, by a limit, by a stack that is at fault, or from outside: which stack, at
    /// which node, at which time, and what it did.
    Stopped(String),
    /// Two runs of the same seed differ: the first datagram in which they do.
    Differs(String),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Scenario(text) | Self::Wrong(text) | Self::Stopped(text) | Self::Differs(text)) =
            self;
        f.write_str(text)
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
        Self::Stopped(stopped.to_string())
    }
}
