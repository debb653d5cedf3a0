//! Results of how far flows lose packets together.

use forebay_elements::{Row, RowKind, RowsOf};
use forebay_network::columns;
use forebay_network::synchronization::EventCounts;
use serde::Serialize;

columns! {
    /// Loss events at a link and the flows in them, with `record.synchronization`, and the same of
    /// marks by its queue.
    #[derive(Clone, Debug, Serialize)]
    pub struct SynchronizationResult {
        /// The link.
        pub name: String = Word,
        /// Loss events that began, and were over, in the time of measurement: one begins with a
        /// data packet lost at the link when there was none for `record.synchronization`, and lasts
        /// that long.
        pub loss_events: u64 = Number as "loss events",
        /// Packets lost in loss events.
        pub event_losses: u64 = Packets,
        /// Mean number of packets lost in a loss event; null if there are none.
        pub losses_per_event: Option<f64> = Number as "losses each" over loss_events,
        /// Global synchronization ratio: mean over loss events of the share of flows that lose a
        /// packet among those of which one arrives in it; null if there are none.
        pub loss_synchronization_ratio: Option<f64> =
            Share + headline as "of flows" over loss_events,
        /// Events of packets marked CE by the queue, as those of losses.
        pub mark_events: u64 = Number as "mark events" if any,
        /// Packets marked in these.
        pub event_marks: u64 = Packets,
        /// Mean number of packets marked in one; null if there are none.
        pub marks_per_event: Option<f64> = Number over mark_events,
        /// Mean over them of the share of flows that have a packet marked among those of which one
        /// arrives in it; null if there are none.
        pub mark_synchronization_ratio: Option<f64> = Share over mark_events,
    }
}

impl Row for SynchronizationResult {
    const KIND: RowKind = RowKind {
        name: "synchronization",
        meaning: "A row a link and direction, with `record.synchronization`; empty without.",
        of: RowsOf::Links,
        titles: &[("", "synchronization of flows at links")],
        columns: Self::COLUMNS,
    };
}

impl SynchronizationResult {
    /// The row of the link `name`, with its events of losses and those of marks.
    pub(crate) fn of(name: String, [losses, marks]: [EventCounts; 2]) -> Self {
        let each = |sum: f64, events: u64| (events > 0).then(|| sum / events as f64);
        Self {
            name,
            loss_events: losses.events,
            event_losses: losses.packets,
            losses_per_event: each(losses.packets as f64, losses.events),
            loss_synchronization_ratio: each(losses.shares, losses.events),
            mark_events: marks.events,
            event_marks: marks.packets,
            marks_per_event: each(marks.packets as f64, marks.events),
            mark_synchronization_ratio: each(marks.shares, marks.events),
        }
    }
}
