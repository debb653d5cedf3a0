//! Tables in a stack's own tests: stacks and models on networks, with replications.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::networks::network;
use crate::program::GROUP;
use crate::{HostError, Network, Report, Stack};

/// A table: stacks, and models of Forebay's TCP beside them, on networks, with replications.
///
/// ```
/// # #[cfg(feature = "quinn")] {
/// use forebay_host::quic::quinn;
/// use forebay_host::table::Table;
///
/// let mut table = Table::new().network("bufferbloat").set("duration=6 s").replications(2);
/// table = table.stack(quinn::Configured::new("quinn cubic", "cubic").unwrap());
/// let result = table.model("forebay cubic", "cubic").run().unwrap();
/// let goodput = |stack| result.get("bufferbloat", stack, "goodput_bps").unwrap().mean;
/// assert!(goodput("quinn cubic") > 0.8 * goodput("forebay cubic"));
/// # }
/// ```
#[derive(Default)]
pub struct Table {
    networks: Vec<(String, Option<String>)>,
    columns: Vec<Column>,
    replications: u64,
    assignments: Vec<String>,
}

/// A column of a table.
enum Column {
    Stack(Box<dyn Stack>),
    Model { name: String, control: String },
}

impl Column {
    fn name(&self) -> &str {
        match self {
            Self::Stack(stack) => stack.name(),
            Self::Model { name, .. } => name,
        }
    }
}

impl Table {
    /// A table without networks and stacks, of 3 replications.
    #[must_use]
    pub fn new() -> Self {
        Self { replications: 3, ..Self::default() }
    }

    /// The same with one of the [networks that are ready](crate::networks::NETWORKS).
    #[must_use]
    pub fn network(mut self, name: &str) -> Self {
        self.networks.push((name.to_owned(), None));
        self
    }

    /// The same with the network of a scenario's `text`, whose group `stack` is under test.
    #[must_use]
    pub fn network_of(mut self, name: &str, text: &str) -> Self {
        self.networks.push((name.to_owned(), Some(text.to_owned())));
        self
    }

    /// The same with a stack.
    #[must_use]
    pub fn stack(mut self, stack: impl Stack + 'static) -> Self {
        self.columns.push(Column::Stack(Box::new(stack)));
        self
    }

    /// The same with Forebay's TCP, called `name`, whose congestion control is `control`.
    #[must_use]
    pub fn model(mut self, name: &str, control: &str) -> Self {
        let (name, control) = (name.to_owned(), control.to_owned());
        self.columns.push(Column::Model { name, control });
        self
    }

    /// The same with so many replications, at least 2.
    #[must_use]
    pub fn replications(self, replications: u64) -> Self {
        Self { replications: replications.max(2), ..self }
    }

    /// The same with a parameter set in all networks, as `--set` does: `duration=5 s`.
    #[must_use]
    pub fn set(mut self, assignment: &str) -> Self {
        self.assignments.push(assignment.to_owned());
        self
    }

    /// Run all cells, one after another.
    ///
    /// # Errors
    /// If there is no such network, or a run has no result: which cell, and why.
    pub fn run(&self) -> Result<TableResult, HostError> {
        let mut result = TableResult { replications: self.replications, ..TableResult::default() };
        for (name, text) in &self.networks {
            for column in &self.columns {
                let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
                for replication in 0..self.replications {
                    let report = self.cell((name, text.as_deref()), column, replication)?;
                    for (quantity, value) in measured(&report) {
                        values.entry(quantity).or_default().push(value);
                    }
                }
                let of = |values: &Vec<f64>| Interval::of(values);
                let values = values.iter().map(|(name, values)| ((*name).to_owned(), of(values)));
                let row = result.cells.entry(name.clone()).or_default();
                row.insert(column.name().to_owned(), values.collect());
            }
        }
        Ok(result)
    }

    fn cell(
        &self,
        (name, text): (&str, Option<&str>),
        column: &Column,
        replication: u64,
    ) -> Result<Report, HostError> {
        let known = || crate::networks::NETWORKS.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let text = text.or_else(|| network(name)).ok_or_else(|| {
            HostError::Wrong(format!("network {name}: is not one of {}", known().join(", ")))
        })?;
        let mut cell = Network::from_toml(text);
        self.assignments.iter().for_each(|assignment| {
            cell.set(assignment);
        });
        cell.replication(replication);
        match column {
            Column::Stack(stack) => {
                cell.take_over(GROUP, stack.as_ref(), replication)?;
            }
            Column::Model { control, .. } => {
                cell.set(&format!("flows.{GROUP}.tcp.control={control}"));
                if matches!(control.as_str(), "prague" | "dctcp") {
                    cell.set(&format!("flows.{GROUP}.tcp.ecn=true"));
                }
            }
        }
        let place = |error: HostError| {
            let column = column.name();
            HostError::Stopped(format!("{name}, {column}, replication {replication}: {error}"))
        };
        cell.run(None).map_err(place)
    }
}

/// The quantities of a run: of the group under test, and its share of all goodput of its kind.
fn measured(report: &Report) -> Vec<(&'static str, f64)> {
    let Some(own) = report.group(GROUP) else { return Vec::new() };
    let counted = &own.counted;
    let mut all = vec![
        ("goodput_bps", counted.goodput_bps),
        ("loss", counted.dropped_packets as f64 / counted.sent_packets.max(1) as f64),
        ("delay_p50_s", counted.p50_delay_s),
        ("delay_p95_s", counted.p95_delay_s),
    ];
    let rivals = report.result.groups.iter().filter(|group| group.transport == "tcp");
    let others: f64 =
        rivals.filter(|group| group.name != GROUP).map(|group| group.counted.goodput_bps).sum();
    if others > 0.0 {
        all.push(("share", counted.goodput_bps / (counted.goodput_bps + others)));
    }
    all
}

/// A mean with the half width of its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// The mean over replications.
    pub mean: f64,
    /// Half the width of the interval, by Student's distribution.
    pub half: f64,
}

/// Quantiles 0.975 of Student's distribution for 1 to 30 degrees of freedom (Fisher and Yates,
/// Statistical Tables, 1963, table III).
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

impl Interval {
    /// Of at least two values; beyond 31 the quantile of 30 degrees of freedom, which is wider.
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let freedom = values.len().saturating_sub(1);
        let half = match freedom {
            0 => f64::INFINITY,
            _ => STUDENT[freedom.min(30) - 1] * (squares / freedom as f64 / n).sqrt(),
        };
        Self { mean, half }
    }
}

/// The result of a table: by network, stack and quantity. It can be stored, and compared with
/// another.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TableResult {
    /// Replications of each cell.
    pub replications: u64,
    cells: BTreeMap<String, BTreeMap<String, BTreeMap<String, Interval>>>,
}

/// Quantities of which less is better; of goodput it is more, and a share is neither.
const LESS: [&str; 3] = ["loss", "delay_p50_s", "delay_p95_s"];

impl TableResult {
    /// A quantity of a stack on a network: `goodput_bps`, `delay_p50_s`, `delay_p95_s`, `loss`,
    /// `share`; `None` if there is none.
    #[must_use]
    pub fn get(&self, network: &str, stack: &str, quantity: &str) -> Option<Interval> {
        self.cells.get(network)?.get(stack)?.get(quantity).copied()
    }

    /// The result as JSON, without clock or machine in it.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data can be written")
    }

    /// The result that was stored as `json`.
    ///
    /// # Errors
    /// If it is not one.
    pub fn from_json(json: &str) -> Result<Self, HostError> {
        serde_json::from_str(json)
            .map_err(|error| HostError::Wrong(format!("the stored table is not one: {error}")))
    }

    /// Quantities that are worse than in `baseline` beyond both intervals, in words; empty if none
    /// is.
    #[must_use]
    pub fn worse_than(&self, baseline: &Self) -> Vec<String> {
        let mut worse = Vec::new();
        for (network, stack, quantity, now) in self.each() {
            let Some(then) = baseline.get(network, stack, quantity) else { continue };
            let change = now.mean - then.mean;
            let worsening = match quantity {
                "goodput_bps" => -change,
                name if LESS.contains(&name) => change,
                _ => continue,
            };
            if worsening > now.half + then.half {
                worse.push(format!(
                    "{network}, {stack}: {quantity} was {:.4}, and is {:.4}",
                    then.mean, now.mean
                ));
            }
        }
        worse
    }

    /// Tables in Markdown, one for each quantity, with a row for each network.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let stacks = self.names(|(_, stack, _, _)| stack);
        for quantity in self.names(|(_, _, quantity, _)| quantity) {
            let _ = writeln!(text, "| {quantity} | {} |", stacks.join(" | "));
            let _ = writeln!(text, "|---|{}", "---|".repeat(stacks.len()));
            for network in self.names(|(network, ..)| network) {
                let cell = |stack: &&str| match self.get(network, stack, quantity) {
                    Some(Interval { mean, half }) => format!("{mean:.4} ± {half:.4}"),
                    None => "-".to_owned(),
                };
                let cells: Vec<String> = stacks.iter().map(cell).collect();
                let _ = writeln!(text, "| {network} | {} |", cells.join(" | "));
            }
            text.push('\n');
        }
        text
    }

    fn each(&self) -> impl Iterator<Item = (&str, &str, &str, Interval)> {
        self.cells.iter().flat_map(|(network, stacks)| {
            stacks.iter().flat_map(move |(stack, quantities)| {
                quantities.iter().map(move |(quantity, value)| {
                    (network.as_str(), stack.as_str(), quantity.as_str(), *value)
                })
            })
        })
    }

    /// The names that `of` chooses, each once.
    fn names<'r>(
        &'r self,
        of: impl Fn((&'r str, &'r str, &'r str, Interval)) -> &'r str,
    ) -> Vec<&'r str> {
        let mut names: Vec<&str> = self.each().map(of).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
