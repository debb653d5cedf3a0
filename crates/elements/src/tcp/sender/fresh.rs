//! Fresh connections: transfers that do not use what was learnt before.

use std::sync::Arc;

use forebay_laws::control::ControlFactory;
use forebay_units::Time;

use super::connection::{Connection, FIRST_NUMBER, Fresh};
use super::phase::Phase;
use super::rto::Rto;
use super::{Sender, TcpSenders};

impl TcpSenders {
    /// The same, where a write that finds all before it acknowledged is sent on a fresh connection
    /// with a congestion control made by `control`: initial window, no threshold or round-trip time
    /// known. It takes the place of the one before among the flows of the group. Segments are
    /// numbered on, as if the new initial sequence number were the old next one, so that no late
    /// duplicate is taken for a segment of it.
    #[must_use]
    pub fn with_fresh_connections(mut self, control: Arc<ControlFactory>) -> Self {
        // No segment has been sent: every window is the one that connections begin with.
        let window = self.connections.first().map(|connection| connection.tcb.window);
        let made = FIRST_NUMBER + self.connections.len() as u64;
        self.group.fresh = window.map(|window| Fresh { control, window, made });
        self
    }
}

impl Sender<'_, '_> {
    /// Returns true if what is written now was asked for on the connection of the write before.
    pub(super) fn continues(&self) -> bool {
        self.group.applications.asking(self.index as usize).continues
    }

    /// If writes are sent on fresh connections and nothing is outstanding, begin one. Returns
    /// whether it did.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_afresh(&mut self) -> bool {
        let Some(fresh) = &mut self.group.fresh else { return false };
        let (una, end) = (self.tcb.una, self.tcb.end);
        if una == 0 || una < end {
            return false;
        }
        let (rto, mut control) = (Rto::new(&self.settings.rules), (fresh.control)());
        control.numbered(fresh.made);
        fresh.made += 1;
        let Connection { tcb, loss, segments } =
            Connection::new(una, fresh.window, rto, control, self.settings);
        (*self.loss, *self.segments) = (loss, segments);
        let before = std::mem::replace(self.tcb, tcb);
        debug_assert!(una == before.nxt && una == before.max && before.deadline == Time::NEVER);
        debug_assert!(before.phase != Phase::Recovery, "all has been acknowledged");
        let tcb = &mut *self.tcb;
        // The event of the timer is pending whichever connection it was set for.
        (tcb.short, tcb.pending) = (before.short, before.pending);
        // The receiver stays: its counters of marks continue, and a congestion mark of the
        // connection before is not of this one. With accurate feedback nothing is echoed until CWR,
        // and its bit is one of the ACE field.
        tcb.feedback = before.feedback;
        tcb.cwr = self.settings.ecn && !self.settings.accurate;
        true
    }
}
