//! The calls that are present, as they follow from what was reported.

use std::collections::{BTreeMap, BTreeSet};

use forebay_network::CallEvent;

/// Totals of the calls of one class since counting began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallTotals {
    /// New calls admitted.
    pub admitted: u64,
    /// New calls blocked.
    pub blocked: u64,
    /// Calls that were present from the start or came by a reroute.
    pub rerouted: u64,
    /// Calls that probing refused.
    pub refused: u64,
    /// Calls terminated.
    pub terminated: u64,
    /// Calls that ended by themselves.
    pub ended: u64,
    /// Calls present.
    pub present: u64,
}

/// The calls of all classes.
#[derive(Default)]
pub(crate) struct CallModel {
    /// Calls that are present, by the flow of their class.
    present: BTreeMap<usize, BTreeSet<u64>>,
    totals: BTreeMap<usize, CallTotals>,
    /// Blocking of each aggregate, by its first flow: true while it blocks.
    blocking: BTreeMap<usize, bool>,
}

impl CallModel {
    /// `event` happened to `call` of the class of `flow`. Whether that was possible.
    pub(crate) fn happen(&mut self, flow: usize, call: u64, event: CallEvent) -> bool {
        let totals = self.totals.entry(flow).or_default();
        let counter = match event {
            CallEvent::Blocked => {
                totals.blocked += 1;
                return true;
            }
            CallEvent::Initial | CallEvent::Rerouted => &mut totals.rerouted,
            CallEvent::Admitted => &mut totals.admitted,
            CallEvent::Refused => &mut totals.refused,
            CallEvent::Terminated => &mut totals.terminated,
            CallEvent::Ended => &mut totals.ended,
        };
        *counter += 1;
        let present = self.present.entry(flow).or_default();
        let begins =
            matches!(event, CallEvent::Initial | CallEvent::Rerouted | CallEvent::Admitted);
        if begins { present.insert(call) } else { present.remove(&call) }
    }

    /// Returns true if `call` of the class of `flow` is present.
    pub(crate) fn is_present(&self, flow: usize, call: u64) -> bool {
        self.present.get(&flow).is_some_and(|calls| calls.contains(&call))
    }

    /// The aggregate of `flow` blocks from now on, or not. Whether that is news.
    pub(crate) fn blocks(&mut self, flow: usize, blocking: bool) -> bool {
        self.blocking.insert(flow, blocking).unwrap_or(false) != blocking
    }

    /// Returns the totals of the class of `flow` since counting began.
    pub(crate) fn totals(&self, flow: usize) -> CallTotals {
        let present = self.present.get(&flow).map_or(0, |calls| calls.len() as u64);
        CallTotals { present, ..self.totals.get(&flow).copied().unwrap_or_default() }
    }

    /// Counting begins anew.
    pub(crate) fn reset(&mut self) {
        self.totals.clear();
    }
}
