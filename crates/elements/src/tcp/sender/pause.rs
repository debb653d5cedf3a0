//! Pauses of an application that always has more to send.

use super::{Sender, TcpSenders};

impl TcpSenders {
    /// The same, whose applications pause where they write nothing, if `pauses`: what was not sent
    /// is given up, what is outstanding still delivered, and the next write resumes the connection
    /// with the threshold that it had.
    #[must_use]
    pub const fn pausing(mut self, pauses: bool) -> Self {
        self.settings.pauses = pauses;
        self
    }
}

impl Sender<'_, '_> {
    /// The application pauses. Its segments are full, so none is short.
    #[cold]
    pub(super) fn pause(&mut self) {
        self.tcb.end = self.tcb.max;
        let now = self.cx.now();
        self.plan_write(now);
    }
}
