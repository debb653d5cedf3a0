//! Observed totals of a flow since counting began.

use forebay_network::{FlowCount, PacketBytes};

use crate::tcp::TcpModel;

/// A flow as it follows from the facts.
#[derive(Default)]
pub(crate) struct FlowModel {
    /// Counts since counting began; start and end of the whole run.
    pub(crate) seen: FlowCount,
    /// Number of times that it was reported to begin, and to end.
    pub(crate) began: u32,
    pub(crate) ended: u32,
    pub(crate) tcp: TcpModel,
}

impl FlowModel {
    /// Counting begins anew.
    pub(crate) fn reset(&mut self) {
        let FlowCount { started, ended, .. } = self.seen;
        self.seen = FlowCount { started, ended, ..FlowCount::default() };
        self.tcp.in_order = 0;
    }
}

/// Packets and bytes, in words.
pub(crate) fn show(count: PacketBytes) -> String {
    format!("{} packets of {} B", count.packets, count.bytes)
}
