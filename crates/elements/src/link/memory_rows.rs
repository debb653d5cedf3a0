//! Results of switches whose ports share a memory.

use forebay_network::columns;
use serde::Serialize;

use crate::rows::{Row, RowKind, RowsOf};

columns! {
    /// Results of the memory that the ports of a switch share: what waits there, not what is in
    /// transmission.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct SwitchResult {
        /// Name of the switch: of its node.
        pub name: String = Word,
        /// Bytes that the memory holds.
        pub memory_bytes: u64 = Bytes as "memory",
        /// Time average of the bytes used.
        pub mean_used_bytes: f64 = Bytes + headline as "mean use",
        /// Most bytes that were used.
        pub max_used_bytes: u64 = Bytes as "highest use",
        /// Packets for which there was no room: dropped at their port before its queue was asked.
        pub refused_packets: u64 = Packets as "refused",
        /// Their bytes.
        pub refused_bytes: u64 = Bytes,
    }
}

impl Row for SwitchResult {
    const KIND: RowKind = RowKind {
        name: "switches",
        meaning: "A row a switch whose ports share a memory; empty if there are none.",
        of: RowsOf::Links,
        titles: &[("", "shared memories of switches")],
        columns: Self::COLUMNS,
    };
}
