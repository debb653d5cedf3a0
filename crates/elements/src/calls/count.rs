//! Counts of a class of calls, and its columns in results.

use forebay_network::{ElementCounters, columns};
use forebay_units::{Span, Time};
use serde::Serialize;

use crate::rows::{Row, RowKind, RowsOf};

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
    /// Time at which `present` last changed, or `area` was last read.
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

    /// New calls. Those admitted before the window can be refused within it.
    #[must_use]
    pub fn offered(&self) -> u64 {
        self.admitted.max(self.refused) + self.blocked
    }

    /// New calls that were blocked or refused.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.blocked + self.refused
    }
}

impl ElementCounters for CallCount {
    fn reset(&mut self, now: Time) {
        let present = self.present;
        *self = Self { present, most: present, changed: now, ..Self::default() };
    }
}

columns! {
    /// Results of a class of calls.
    #[derive(Clone, Debug, Serialize)]
    pub struct CallResult {
        /// As in `flows`.
        pub name: String = Word,
        /// The aggregate that controls them; empty if none does.
        pub aggregate: String = Word,
        /// New calls let in.
        pub admitted: u64 = Calls as "admitted",
        /// New calls not let in.
        pub blocked: u64 = Calls as "blocked",
        /// Blocked and refused calls over new calls; 0 if none arrived.
        pub blocking_ratio: f64 = Share + headline as "blocking",
        /// Calls that came with a surge, or were there from the start: they were not asked for
        /// admission.
        pub rerouted: u64 = Calls as "rerouted" if any,
        /// Calls let in that a marked probe then refused.
        pub refused: u64 = Calls as "refused" if any,
        /// Calls ended by flow termination.
        pub terminated: u64 = Calls + headline as "terminated",
        /// Calls that ended by themselves.
        pub ended: u64 = Calls as "ended",
        /// Calls present at the end of the run.
        pub present: u32 = Calls,
        /// Time average of the calls present.
        pub mean_present: f64 = Calls + headline as "present",
        /// Most calls present at once.
        pub max_present: u32 = Calls as "max",
    }
}

impl Row for CallResult {
    const KIND: RowKind = RowKind {
        name: "calls",
        meaning: "A row a group of calls; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "calls (present: time average and maximum)")],
        columns: Self::COLUMNS,
    };
}

impl CallResult {
    /// The quantities of `count` over a window of `measured`.
    #[must_use]
    pub fn of(name: String, aggregate: String, count: &CallCount, measured: Span) -> Self {
        Self {
            name,
            aggregate,
            admitted: count.admitted,
            blocked: count.blocked,
            blocking_ratio: count.lost() as f64 / count.offered().max(1) as f64,
            rerouted: count.rerouted,
            refused: count.refused,
            terminated: count.terminated,
            ended: count.ended,
            present: count.present,
            mean_present: count.area as f64 / measured.ps() as f64,
            max_present: count.most,
        }
    }
}
