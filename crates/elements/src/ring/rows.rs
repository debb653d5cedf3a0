//! Results of packet rings.

use forebay_network::{LinkCount, columns};
use forebay_units::Span;
use serde::Serialize;

use crate::rows::{Row, RowKind, RowsOf};

columns! {
    /// Results of a ring: of all its spans together, which have rows among `links` too.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct RingResult {
        /// Name of the ring.
        pub name: String = Word,
        /// Spans of both ringlets.
        pub spans: u32 = Number as "spans",
        /// Packets whose transmission on a span began: a packet counts on each span that it passes.
        pub departed_packets: u64 = Packets,
        /// Bits transmitted per second on all spans. Several spans carry different packets at a
        /// time, so this can exceed the rate of one.
        pub throughput_bps: f64 = BitsPerSecond + headline as "throughput",
        /// Share of time spent transmitting, mean of the spans.
        pub utilization: f64 = Share + headline as "mean use",
        /// The same of the busiest span.
        pub max_utilization: f64 = Share as "highest use",
        /// Packets dropped at the stations.
        pub drops: u64 = Packets as "dropped",
    }
}

impl Row for RingResult {
    const KIND: RowKind = RowKind {
        name: "rings",
        meaning: "A row a ring; empty if there are none.",
        of: RowsOf::Links,
        titles: &[("", "rings")],
        columns: Self::COLUMNS,
    };
}

impl RingResult {
    /// The quantities of a ring whose spans have counted `spans` over a window of
    /// `measured`.
    pub(super) fn of(name: String, spans: &[&LinkCount], measured: Span) -> Self {
        debug_assert!(!spans.is_empty());
        let sum = |of: &dyn Fn(&LinkCount) -> u64| spans.iter().map(|span| of(span)).sum::<u64>();
        let share = |busy: u64| busy as f64 / measured.ps() as f64;
        let shares = || spans.iter().map(|span| share(span.busy));
        let bits = sum(&|span| span.total(|packets| packets.sent_bits));
        Self {
            name,
            spans: u32::try_from(spans.len()).expect("a ring has few stations"),
            departed_packets: sum(&|span| span.total(|packets| packets.departed.packets)),
            throughput_bps: bits as f64 / measured.seconds(),
            utilization: shares().sum::<f64>() / spans.len() as f64,
            max_utilization: shares().fold(0.0, f64::max),
            drops: sum(&|span| span.total(|packets| packets.dropped.iter().sum())),
        }
    }
}
