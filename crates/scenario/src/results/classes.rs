//! Results of the classes of queues.

use forebay_elements::{Row, RowKind, RowsOf};
use forebay_network::{ClassCount, columns};
use forebay_units::{PS_PER_S, Span};
use serde::Serialize;

use crate::plan::{Plan, Wired};
use crate::results::drops::DropReasons;

columns! {
    /// Results of a class of the queue of a link, with `record.classes`.
    #[derive(Clone, Debug, Serialize)]
    pub struct ClassResult {
        /// `LINK[i]`: class i of the queue of that link.
        pub name: String = Word,
        /// The link.
        pub link: String = Word,
        /// Number of the class, from 0 in the order of the scheduler's list; of `dualpi2`, 0 is the
        /// queue of low latency; of `cake`, that of the tin.
        pub class: u32 = Number,
        /// Packets that arrived at its queue: those that a shared memory refused did not.
        pub arrived_packets: u64 = Packets as "arrived",
        /// Their bytes.
        pub arrived_bytes: u64 = Bytes,
        /// Packets whose transmission began.
        pub departed_packets: u64 = Packets,
        /// Their bytes.
        pub departed_bytes: u64 = Bytes,
        /// Bits of these, per second.
        pub throughput_bps: f64 = BitsPerSecond + headline as "throughput" at 1,
        /// Packets dropped.
        pub drops: u64 = Packets as "dropped",
        /// Packets marked CE by the queue.
        pub marks: u64 = Packets as "marked",
        /// Time average of the packets waiting; the one being transmitted does not count.
        pub mean_queue_packets: f64 = Packets + headline as "mean queue",
        /// Mean time that packets waited, by Little's law: the mean queue over the rate of
        /// departures; 0 if none departed. Where packets are dropped from the queue, their waiting
        /// counts too.
        pub mean_wait_s: f64 = Seconds + headline as "mean wait" over departed_packets,
        /// Packets dropped, by reason.
        pub drop_reasons: DropReasons = Rows,
    }
}

impl Row for ClassResult {
    const KIND: RowKind = RowKind {
        name: "classes",
        meaning: "A row a class of the queue of a link, with `record.classes`; empty without.",
        of: RowsOf::Links,
        titles: &[("", "classes of queues (in packets)")],
        columns: Self::COLUMNS,
    };
}

impl ClassResult {
    /// Class `class` of the queue of `link`, of which `count` was counted over `measured`.
    fn of(link: &str, class: u32, count: &ClassCount, measured: Span) -> Self {
        let departed = count.departed.packets.max(1) as f64;
        Self {
            name: format!("{link}[{class}]"),
            link: link.to_owned(),
            class,
            arrived_packets: count.arrived.packets,
            arrived_bytes: count.arrived.bytes,
            departed_packets: count.departed.packets,
            departed_bytes: count.departed.bytes,
            throughput_bps: count.departed.bytes as f64 * 8.0 / measured.seconds(),
            drops: count.dropped.iter().sum(),
            marks: count.marked,
            mean_queue_packets: count.area as f64 / measured.ps() as f64,
            mean_wait_s: if count.departed.packets == 0 {
                0.0
            } else {
                count.area as f64 / departed / PS_PER_S as f64
            },
            drop_reasons: DropReasons::of(|reason| count.dropped[reason as usize]),
        }
    }
}

/// The rows of the classes that were counted, by link.
pub(crate) fn class_rows(plan: &Plan<'_>, wired: &mut Wired, measured: Span) -> Vec<ClassResult> {
    let mut rows = Vec::new();
    for (link, elements) in plan.links.iter().zip(&wired.links) {
        let Some(element) = link.own_element().map(|at| elements[at]) else { continue };
        let counts = wired.network.element_counters::<Vec<ClassCount>>(element);
        let row = |(class, count)| ClassResult::of(&link.name, class, count, measured);
        rows.extend((0..).zip(counts.into_iter().flatten()).map(row));
    }
    rows
}
