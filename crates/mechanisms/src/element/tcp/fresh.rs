//! Fresh connections: transfers that do not use what was learnt before.

use std::sync::Arc;

use forebay_units::Time;

use super::connection::{Connection, Fresh, Phase};
use super::rto::Rto;
use super::sender::TcpSenders;
use super::sender_context::SenderContext;
use crate::control::ControlFactory;

impl TcpSenders {
    /// The same, where a write that finds all before it acknowledged is sent on a fresh connection
    /// with a congestion control made by `control`: initial window, no threshold or round-trip time
    /// known. It takes the place of the one before among the flows of the group. Segments are
    /// numbered on, as if the new initial sequence number were the old next one, so that no late
    /// duplicate is taken for a segment of it.
    #[must_use]
    pub fn with_fresh_connections(mut self, control: Arc<ControlFactory>) -> Self {
        // No segment has been sent: every window is the one that connections begin with.
        let window = self.connections.first().map(|connection| connection.window);
        self.cold.fresh = window.map(|window| Fresh { control, window });
        self
    }
}

impl SenderContext<'_, '_> {
    /// If writes are sent on fresh connections and nothing is outstanding, begin one. Returns
    /// whether it did.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_afresh(&mut self) -> bool {
        let Some(fresh) = &self.cold.fresh else { return false };
        let (una, end) = (self.c.una, self.c.end);
        if una == 0 || una < end {
            return false;
        }
        let connection =
            Connection::new(fresh.window, Rto::new(&self.p.rules), (fresh.control)(), self.p);
        let mut before = std::mem::replace(self.c, connection);
        let told = before.extension.take();
        let extension = self.c.extension.take().map(|it| it.counting_from(una, told));
        // The event of the timer is pending whichever connection it was set for.
        let Connection { nxt, max, short, pending, .. } = before;
        debug_assert!(una == nxt && nxt == max && before.deadline == Time::NEVER);
        debug_assert!(before.phase != Phase::Recovery, "all has been acknowledged");
        let connection = &mut *self.c;
        (connection.una, connection.nxt, connection.max, connection.end) = (una, nxt, max, end);
        (connection.short, connection.pending, connection.extension) = (short, pending, extension);
        // The receiver stays: a congestion mark of the connection before is not of this one. With
        // accurate feedback nothing is echoed until CWR, and its bit is one of the ACE field.
        connection.cwr = self.p.ecn && !self.p.accurate;
        self.cold.spare.extend(before.scoreboard);
        true
    }
}
