//! Time series: gauges of links and senders, and rates between samples.
//!
//! Sampling happens between events and asks elements only for what they know: it never changes a
//! run.

use forebay_network::record::{Column, RecordTable};
use forebay_network::{Ledger, PRECEDENCES};
use forebay_units::{Span, Time};

use crate::build::{Plan, Wired};

/// Samples taken so far.
pub(crate) struct Series {
    interval: Span,
    next: Time,
    time: Vec<f64>,
    tables: Vec<PlaceSeries>,
}

/// The series of one link or one group of flows.
struct PlaceSeries {
    name: String,
    elements: Vec<u32>,
    rates: Rates,
    columns: Columns,
}

/// The columns of a table, in the order of their first value.
#[derive(Default)]
struct Columns {
    known: Vec<(String, Vec<f64>)>,
    /// Where the next value is expected: places tell their values in the same order every time.
    next: usize,
}

/// What links transmit, by precedence.
const THROUGHPUTS: [&str; PRECEDENCES] =
    ["throughput_bps.0", "throughput_bps.1", "throughput_bps.2", "throughput_bps.3"];

/// Cumulative counters of which the rate between samples is shown.
enum Rates {
    Link { number: usize, bytes: [u64; PRECEDENCES], arrived: u64, drops: u64, marks: [u64; 2] },
    Flows { first: usize, count: usize, wire: u64, payload: u64 },
    None,
}

impl Series {
    /// Samples every `interval`, first at time zero.
    pub(crate) fn new(interval: Span, plan: &Plan<'_>, wired: &Wired) -> Self {
        let mut tables = Vec::new();
        for (number, (link, elements)) in plan.links.iter().zip(&wired.links).enumerate() {
            tables.push(PlaceSeries {
                name: format!("series/links.{}", link.name),
                elements: elements.clone(),
                rates: Rates::link(number),
                columns: Columns::default(),
            });
        }
        let mut first = 0;
        for (flow, element) in plan.flows.iter().zip(&wired.senders) {
            let count = flow.count as usize;
            // An aggregate has a table of its own.
            let elements = if flow.aggregate.is_none() { vec![*element] } else { Vec::new() };
            tables.push(PlaceSeries {
                name: format!("series/flows.{}", flow.name),
                elements,
                rates: Rates::Flows { first, count, wire: 0, payload: 0 },
                columns: Columns::default(),
            });
            first += count;
        }
        for (number, aggregate) in plan.aggregates.iter().enumerate() {
            let member = plan.flows.iter().position(|flow| flow.aggregate == Some(number));
            tables.push(PlaceSeries {
                name: format!("series/aggregates.{}", aggregate.name),
                elements: member.map(|at| wired.senders[at]).into_iter().collect(),
                rates: Rates::None,
                columns: Columns::default(),
            });
        }
        Self { interval, next: Time::ZERO + interval, time: Vec::new(), tables }
    }

    /// When the next sample is due.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The counters were set back to zero.
    pub(crate) fn forget(&mut self) {
        for table in &mut self.tables {
            match &mut table.rates {
                Rates::Link { number, .. } => table.rates = Rates::link(*number),
                Rates::Flows { wire, payload, .. } => (*wire, *payload) = (0, 0),
                Rates::None => {}
            }
        }
    }

    /// Take a sample.
    pub(crate) fn sample(&mut self, wired: &mut Wired) {
        self.time.push(self.next.seconds());
        self.next += self.interval;
        let row = self.time.len();
        for table in &mut self.tables {
            for element in &table.elements {
                let columns = &mut table.columns;
                wired.network.gauges(*element, &mut |name, value| columns.put(row, name, value));
            }
            let ledger = wired.network.ledger();
            let interval = self.interval.seconds();
            table.rates.tell(ledger, interval, &mut |name, value| {
                table.columns.put(row, name, value);
            });
        }
    }

    /// Everything sampled, a table a place.
    pub(crate) fn tables(self) -> Vec<RecordTable> {
        let rows = self.time.len();
        let time = self.time;
        let table = |place: PlaceSeries| {
            let mut columns = vec![("time_s".to_owned(), Column::Float(time.clone()))];
            for (name, mut values) in place.columns.known {
                values.resize(rows, f64::NAN);
                columns.push((name, Column::Float(values)));
            }
            RecordTable { name: place.name, columns }
        };
        self.tables.into_iter().map(table).collect()
    }
}

impl Columns {
    /// Put `value` into column `name` of row `row` (counted from 1); rows without a value are NaN.
    fn put(&mut self, row: usize, name: &str, value: f64) {
        let is_it = |at: usize| self.known.get(at).is_some_and(|(known, _)| known == name);
        let at = if is_it(self.next) {
            self.next
        } else if let Some(at) = self.known.iter().position(|(known, _)| known == name) {
            at
        } else {
            self.known.push((name.to_owned(), Vec::new()));
            self.known.len() - 1
        };
        self.next = if at + 1 < self.known.len() { at + 1 } else { 0 };
        let values = &mut self.known[at].1;
        values.resize(row - 1, f64::NAN);
        values.push(value);
    }
}

impl Rates {
    fn link(number: usize) -> Self {
        Self::Link { number, bytes: [0; PRECEDENCES], arrived: 0, drops: 0, marks: [0; 2] }
    }

    fn tell(&mut self, ledger: &Ledger, interval: f64, tell: &mut dyn FnMut(&str, f64)) {
        let rate = |now: u64, then: &mut u64| {
            let bytes = now - std::mem::replace(then, now);
            bytes as f64 * 8.0 / interval
        };
        match self {
            Self::None => {}
            Self::Link { number, bytes, arrived, drops, marks } => {
                let count = &ledger.links[*number];
                let mut total = 0.0;
                for (precedence, (tally, then)) in count.departed.iter().zip(bytes).enumerate() {
                    let bps = rate(tally.bytes, then);
                    total += bps;
                    tell(THROUGHPUTS[precedence], bps);
                }
                tell("throughput_bps", total);
                let now = count.arrived.iter().map(|tally| tally.bytes).sum();
                tell("arrived_bps", rate(now, arrived));
                let mut events = |name, now: u64, then: &mut u64| {
                    tell(name, (now - std::mem::replace(then, now)) as f64);
                };
                events("drops", count.dropped.iter().flatten().sum(), drops);
                events("marks", count.marked.iter().sum(), &mut marks[0]);
                events("threshold_marks", count.threshold_marked.iter().sum(), &mut marks[1]);
            }
            Self::Flows { first, count, wire, payload } => {
                let flows = &ledger.flows[*first..*first + *count];
                let sum = |of: fn(&forebay_network::FlowCount) -> u64| flows.iter().map(of).sum();
                tell("throughput_bps", rate(sum(|flow| flow.delivered.bytes), wire));
                tell("goodput_bps", rate(sum(|flow| flow.goodput), payload));
            }
        }
    }
}
