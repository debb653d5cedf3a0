//! The report of a run with real stacks.

use std::collections::BTreeMap;

use forebay_network::RecordTable;
use forebay_network::record::Column;
use forebay_scenario::{GroupResult, LinkResult, RunResult};
use forebay_units::{Span, Time};

use crate::host::Host;
use crate::script::{Log, Logged};

/// A host of a [`Network`](crate::Network).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostId(pub(crate) usize);

/// Report of a run: what the engine counted, as of any scenario, and what hosts did.
#[derive(Debug)]
pub struct Report {
    /// The result of the run: groups of flows, links, the digest. Groups of flows between hosts are
    /// called by the names of these, `server-client`; their goodput is what applications read.
    pub result: RunResult,
    /// The tables that the scenario records.
    pub tables: Vec<RecordTable>,
    /// The hosts, in the order in which they were attached.
    pub hosts: Vec<HostReport>,
    /// Datagrams that hosts with scripts exchanged, in the same order; empty for others.
    pub(crate) logs: Vec<Log>,
}

/// Report on a host over the whole run.
#[derive(Clone, Debug, serde::Serialize)]
pub struct HostReport {
    /// Its name: that of its node, with a number if there are several.
    pub name: String,
    /// The nodes at which it was, the first one first.
    pub nodes: Vec<String>,
    /// Datagrams that it sent.
    pub sent: u64,
    /// Their bytes, without headers of UDP and IP.
    pub sent_bytes: u64,
    /// Datagrams that it received.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Received datagrams that were marked CE.
    pub marked: u64,
    /// Datagrams that came before it started, or to an address that it had left.
    pub missed: u64,
    /// Bytes that its application read.
    pub delivered: u64,
    /// Time at which it started, in seconds.
    pub started_s: f64,
    /// Time at which its application finished, in seconds; `None` if it did not.
    pub finished_s: Option<f64>,
    /// Time in seconds at which its application failed, and why, if it did.
    pub failed: Option<(f64, String)>,
    /// Figures of its application, by name.
    pub figures: BTreeMap<String, f64>,
    /// Length of the run in seconds.
    run_s: f64,
}

impl HostReport {
    pub(crate) fn of(host: &Host, nodes: Vec<String>, duration: Span) -> Self {
        let mut figures = BTreeMap::new();
        host.party.figures(&mut |name, value| {
            figures.insert(name.to_owned(), value);
        });
        Self {
            name: host.name.clone(),
            nodes,
            sent: host.count.sent[0],
            sent_bytes: host.count.sent[1],
            received: host.count.received[0],
            received_bytes: host.count.received[1],
            marked: host.count.marked,
            missed: host.count.missed,
            delivered: host.party.delivered(),
            started_s: host.start.seconds(),
            finished_s: host.finished.map(Time::seconds),
            failed: host.failed.clone().map(|(time, reason)| (time.seconds(), reason)),
            figures,
            run_s: duration.seconds(),
        }
    }

    /// Bits per second that its application read, from its start until it finished, or to the end
    /// of the run; 0 if it had no time.
    #[must_use]
    pub fn goodput_bps(&self) -> f64 {
        let span = self.finished_s.unwrap_or(self.run_s) - self.started_s;
        if span > 0.0 { 8.0 * self.delivered as f64 / span } else { 0.0 }
    }
}

impl Report {
    /// The digest of the trajectory: equal digests, equal runs. It does not depend on the bytes
    /// that stacks wrote, only on sizes, times and classes of their datagrams.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.result.digest
    }

    /// Report on `host`.
    ///
    /// # Panics
    /// If it is a host of another network.
    #[must_use]
    pub fn host(&self, host: HostId) -> &HostReport {
        &self.hosts[host.0]
    }

    /// The datagrams that `host`, which has a script, sent to the other host of that.
    ///
    /// # Panics
    /// If it is a host of another network.
    #[must_use]
    pub fn sent(&self, host: HostId) -> &[Logged] {
        &self.logs[host.0].sent
    }

    /// The datagrams that `host`, which has a script, received from the other host of that.
    ///
    /// # Panics
    /// If it is a host of another network.
    #[must_use]
    pub fn received(&self, host: HostId) -> &[Logged] {
        &self.logs[host.0].received
    }

    /// The link called `name`; `NAME.reverse` is the way back of a duplex link.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<&LinkResult> {
        self.result.links.iter().find(|link| link.name == name)
    }

    /// The group of flows called `name`.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<&GroupResult> {
        self.result.groups.iter().find(|group| group.name == name)
    }

    /// The table called `name` of those that the scenario records.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&RecordTable> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// A recorded series of a place, `links.NAME` or `flows.NAME`: the values of `column`, such as
    /// `time_s`, and of a stack the inner quantities that it shows. `None` if there is none.
    #[must_use]
    pub fn series(&self, place: &str, column: &str) -> Option<&[f64]> {
        let columns = &self.table(&format!("series/{place}"))?.columns;
        match columns.iter().find(|(name, _)| name == column) {
            Some((_, Column::Float(values))) => Some(values),
            _ => None,
        }
    }

    /// The capture at `link`, a file in the format pcapng.
    #[must_use]
    pub fn capture(&self, link: &str) -> Option<&[u8]> {
        let table = self.table(&format!("capture-{link}"))?;
        match &table.columns.first()?.1 {
            Column::Byte(bytes) => Some(bytes),
            _ => None,
        }
    }
}
