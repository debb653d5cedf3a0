//! What is counted of a class of calls.

use forebay_network::ElementCounters;
use forebay_units::Time;

/// Counters of a class of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallCount {
    /// New calls admitted.
    pub admitted: u64,
    /// New calls blocked.
    pub blocked: u64,
    /// Calls that arrived by a reroute, or were present from the start.
    pub rerouted: u64,
    /// Calls that probing refused after they had been admitted.
    pub refused: u64,
    /// Calls ended by flow termination.
    pub terminated: u64,
    /// Calls that ended by themselves.
    pub ended: u64,
    /// Calls present now: a state, which survives a reset.
    pub present: u32,
    /// Largest number of calls present at once.
    pub most: u32,
    /// Calls present integrated over time, in call ps, up to `changed`.
    pub area: u128,
    /// When `present` last changed, or `area` was last read.
    pub changed: Time,
}

impl CallCount {
    /// Set the number of calls present from `now` on.
    pub fn change(&mut self, present: u32, now: Time) {
        self.area += u128::from(self.present) * u128::from(now.since(self.changed).ps());
        self.changed = now;
        self.present = present;
        self.most = self.most.max(present);
    }
}

impl ElementCounters for CallCount {
    fn reset(&mut self, now: Time) {
        let present = self.present;
        *self = Self { present, most: present, changed: now, ..Self::default() };
    }
}
