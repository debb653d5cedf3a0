//! Results of how long packets wait at links.

use forebay_elements::{Row, RowKind, RowsOf};
use forebay_network::record::{Column, RecordTable};
use forebay_network::{Distribution, columns};
use forebay_units::PS_PER_S;
use serde::Serialize;

columns! {
    /// Times that packets of every kind waited in the queue of a link, with `record.waits`: those
    /// whose transmission began, from their arrival to that.
    #[derive(Clone, Debug, Serialize)]
    pub struct WaitResult {
        /// The link.
        pub name: String = Word,
        /// Packets whose transmission began.
        pub packets: u64 = Packets as "packets",
        /// Mean wait; null if there are no packets, as all below.
        pub mean_s: Option<f64> = Seconds + headline as "mean" over packets,
        /// 5th percentile of waits.
        pub p05_s: Option<f64> = Seconds over packets,
        /// 25th percentile.
        pub p25_s: Option<f64> = Seconds over packets,
        /// Median.
        pub p50_s: Option<f64> = Seconds as "median" over packets,
        /// 75th percentile.
        pub p75_s: Option<f64> = Seconds over packets,
        /// 90th percentile.
        pub p90_s: Option<f64> = Seconds over packets,
        /// 95th percentile.
        pub p95_s: Option<f64> = Seconds + headline as "95 %" over packets,
        /// 99th percentile.
        pub p99_s: Option<f64> = Seconds as "99 %" over packets,
        /// The longest wait.
        pub max_s: Option<f64> = Seconds as "longest" over packets,
    }
}

impl Row for WaitResult {
    const KIND: RowKind = RowKind {
        name: "waits",
        meaning: "A row a link and direction, with `record.waits`; empty without.",
        of: RowsOf::Links,
        titles: &[("", "waits of packets in queues")],
        columns: Self::COLUMNS,
    };
}

impl WaitResult {
    /// The row of the link `name`, at which packets have waited for `waits` picoseconds.
    pub(crate) fn of(name: String, waits: &Distribution) -> Self {
        let seconds = |ps: Option<f64>| ps.map(|ps| ps / PS_PER_S as f64);
        let quantile = |share| seconds(waits.quantile(share));
        Self {
            name,
            packets: waits.count(),
            mean_s: seconds(waits.mean()),
            p05_s: quantile(0.05),
            p25_s: quantile(0.25),
            p50_s: quantile(0.5),
            p75_s: quantile(0.75),
            p90_s: quantile(0.9),
            p95_s: quantile(0.95),
            p99_s: quantile(0.99),
            max_s: seconds(waits.most()),
        }
    }
}

/// The recorded table of `rows`: those of links at which there were packets.
pub(crate) fn wait_table(mut rows: Vec<WaitResult>) -> RecordTable {
    rows.retain(|row| row.packets > 0);
    let seconds = |of: fn(&WaitResult) -> Option<f64>| {
        Column::Float(rows.iter().filter_map(of).collect::<Vec<_>>())
    };
    let columns = [
        ("link", Column::Name(rows.iter().map(|row| row.name.clone()).collect())),
        ("packets", Column::Whole(rows.iter().map(|row| row.packets).collect())),
        ("mean_s", seconds(|row| row.mean_s)),
        ("p05_s", seconds(|row| row.p05_s)),
        ("p25_s", seconds(|row| row.p25_s)),
        ("p50_s", seconds(|row| row.p50_s)),
        ("p75_s", seconds(|row| row.p75_s)),
        ("p90_s", seconds(|row| row.p90_s)),
        ("p95_s", seconds(|row| row.p95_s)),
        ("p99_s", seconds(|row| row.p99_s)),
        ("max_s", seconds(|row| row.max_s)),
    ];
    let columns = columns.map(|(name, column)| (name.to_owned(), column));
    RecordTable { name: "waits".to_owned(), columns: columns.into() }
}
