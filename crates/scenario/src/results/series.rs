//! Time series: probes of links and senders, and rates between samples.
//!
//! Sampling happens between events and asks elements only for what they know: it never changes a
//! run.

use forebay_network::record::{Column, RecordTable};
use forebay_network::{
    ClassCount, Counters, DropReason, ElementId, FlowCount, LinkCount, PacketBytes,
};
use forebay_units::{PS_PER_S, Span, Time};

use crate::plan::flows::FlowPlan;
use crate::plan::{Plan, Wired, shown_by};
use crate::read::names::{AGGREGATES, FLOWS, LINKS};

/// Returns true if `wanted` asks for the series of `name`.
pub(crate) fn is_wanted(wanted: Option<&[String]>, kind: &str, name: &str) -> bool {
    let is_it = |entry: &String| {
        entry == kind
            || entry.strip_prefix(kind).and_then(|rest| rest.strip_prefix('.')) == Some(name)
    };
    wanted.is_none_or(|wanted| wanted.iter().any(is_it))
}

/// The flows of the group `flow` that `wanted` names one by one, as `flows.NAME[i]`. A single flow
/// is the group.
pub(crate) fn single_flows(wanted: Option<&[String]>, flow: &FlowPlan) -> Vec<u32> {
    let index = |entry: &String| {
        let inside = entry.strip_prefix(FLOWS)?.strip_prefix('.')?.strip_prefix(&*flow.name)?;
        let index: u32 = inside.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
        // `[007]` and `[+7]` are no names.
        let is_name = flow.count > 1 && !flow.has_calls() && index < flow.count;
        (is_name && inside == format!("[{index}]")).then_some(index)
    };
    let mut all: Vec<u32> = wanted.unwrap_or_default().iter().filter_map(index).collect();
    all.sort_unstable();
    all.dedup();
    all
}

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
    elements: Vec<ElementId>,
    /// Number of its part of the elements.
    part: u32,
    rates: Rates,
    classes: Classes,
    columns: Columns,
}

/// The columns of a table, in the order of their first value.
#[derive(Default)]
struct Columns {
    known: Vec<(String, Vec<f64>)>,
    /// Index at which the next value is expected: places visit their values in one order every
    /// time.
    next: usize,
}

/// Cumulative counters of which the rate between samples is shown.
enum Rates {
    Link { number: usize, then: Box<LinkSums> },
    Flows { first: usize, count: usize, then: FlowSums },
    None,
}

/// Counters of a link at the last sample.
#[derive(Default)]
struct LinkSums {
    /// Bits sent by precedence, with the name of the series.
    bits: Vec<(String, u64)>,
    arrived: PacketBytes,
    drops: [u64; DropReason::ALL.len()],
    marks: [u64; 2],
    queue_area: u128,
}

/// Counters of a group of flows at the last sample.
#[derive(Default)]
struct FlowSums {
    delivered: PacketBytes,
    payload: u64,
    delay: u128,
}

impl Series {
    /// Samples every `interval`, first at time zero.
    pub(crate) fn new(interval: Span, plan: &Plan<'_>, wired: &Wired) -> Self {
        let mut tables = Vec::new();
        let mut add =
            |kind: &str, (name, part): (&str, u32), elements: Vec<ElementId>, rates: Rates| {
                if is_wanted(plan.record.series_of.as_deref(), kind, name) {
                    let (name, columns) = (format!("series/{kind}.{name}"), Columns::default());
                    let classes = match &rates {
                        Rates::Link { number, .. } => Classes::of(*number, plan, &elements),
                        _ => Classes::default(),
                    };
                    tables.push(PlaceSeries { name, elements, part, rates, classes, columns });
                }
            };
        for (number, (link, elements)) in plan.links.iter().zip(&wired.links).enumerate() {
            add(LINKS, (&link.name, link.part), elements.clone(), Rates::link(number));
        }
        let mut first = 0;
        for (flow, lanes) in plan.flows.iter().zip(&wired.lanes) {
            let count = flow.count as usize;
            // An aggregate has a table of its own.
            let own = shown_by(lanes, None).filter(|_| flow.aggregate.is_none());
            let elements = own.map(|(element, _)| element).into_iter().collect();
            add(FLOWS, (&flow.name, 0), elements, Rates::flows(first, count));
            for index in single_flows(plan.record.series_of.as_deref(), flow) {
                let name = flow.flow_name(index);
                let at = first + index as usize;
                let (element, part) = shown_by(lanes, Some(index)).expect("a flow has senders");
                add(FLOWS, (&name, part), vec![element], Rates::flows(at, 1));
            }
            first += count;
        }
        for (number, aggregate) in plan.aggregates.iter().enumerate() {
            let member = plan.flows.iter().position(|flow| flow.aggregate == Some(number));
            let elements = member.map(|at| wired.senders[at]).into_iter().collect();
            add(AGGREGATES, (&aggregate.name, 0), elements, Rates::None);
        }
        Self { interval, next: Time::ZERO + interval, time: Vec::new(), tables }
    }

    /// Time at which the next sample is due.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The counters were set back to zero.
    pub(crate) fn forget(&mut self) {
        for table in &mut self.tables {
            match &mut table.rates {
                Rates::Link { then, .. } => **then = LinkSums::default(),
                Rates::Flows { then, .. } => *then = FlowSums::default(),
                Rates::None => {}
            }
            table.classes.sums.clear();
        }
    }

    /// Take a sample.
    pub(crate) fn sample(&mut self, wired: &mut Wired) {
        self.time.push(self.next.seconds());
        self.next += self.interval;
        let row = self.time.len();
        for table in &mut self.tables {
            for element in &table.elements {
                let (columns, part) = (&mut table.columns, table.part);
                let mut put = |name: &str, value| columns.put((row, f64::NAN), name, value);
                wired.network.probes(*element, part, &mut put);
            }
        }
        // Once for all: that brings every element up to the present.
        let counters = wired.network.counters();
        for table in &mut self.tables {
            table.rates.sample(counters, self.interval, &mut |name, value| {
                // A rate without a value was zero: of a precedence not seen before, say.
                table.columns.put((row, 0.0), name, value);
            });
        }
        for table in &mut self.tables {
            let Some(element) = table.classes.element else { continue };
            let counts = wired.network.element_counters::<Vec<ClassCount>>(element);
            let counts = counts.map_or(&[][..], Vec::as_slice);
            let columns = &mut table.columns;
            table.classes.sample(counts, self.interval, &mut |name, value| {
                columns.put((row, 0.0), name, value);
            });
        }
    }

    /// Number of samples taken.
    pub(crate) fn rows(&self) -> usize {
        self.time.len()
    }

    /// Samples from row `first` on, a table a place.
    pub(crate) fn tables_from(&self, first: usize) -> Vec<RecordTable> {
        let rows = self.time.len();
        let table = |place: &PlaceSeries| {
            let mut columns = vec![("time_s".to_owned(), Column::Float(self.time[first..].into()))];
            for (name, values) in &place.columns.known {
                let mut values = values.get(first..).unwrap_or_default().to_vec();
                values.resize(rows - first, f64::NAN);
                columns.push((name.clone(), Column::Float(values)));
            }
            RecordTable { name: place.name.clone(), columns }
        };
        self.tables.iter().map(table).collect()
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
    /// Put `value` into column `name` of row `row` (counted from 1); earlier rows without a value
    /// become `absent`.
    fn put(&mut self, (row, absent): (usize, f64), name: &str, value: f64) {
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
        values.resize(row - 1, absent);
        values.push(value);
    }
}

impl Rates {
    fn link(number: usize) -> Self {
        Self::Link { number, then: Box::default() }
    }

    fn flows(first: usize, count: usize) -> Self {
        Self::Flows { first, count, then: FlowSums::default() }
    }

    fn sample(&mut self, counters: &Counters, interval: Span, visit: &mut dyn FnMut(&str, f64)) {
        match self {
            Self::None => {}
            Self::Link { number, then } => then.sample(&counters.links[*number], interval, visit),
            Self::Flows { first, count, then } => {
                then.sample(&counters.flows[*first..*first + *count], interval, visit);
            }
        }
    }
}

impl LinkSums {
    fn sample(&mut self, count: &LinkCount, interval: Span, visit: &mut dyn FnMut(&str, f64)) {
        let mut total = 0.0;
        for (precedence, packets) in count.precedences().enumerate() {
            if precedence == self.bits.len() {
                self.bits.push((format!("throughput_bps.{precedence}"), 0));
            }
            let (name, then) = &mut self.bits[precedence];
            let bps = since(packets.sent_bits, then) as f64 / interval.seconds();
            total += bps;
            visit(name, bps);
        }
        visit("throughput_bps", total);
        let mut arrived = PacketBytes::default();
        for packets in count.precedences() {
            arrived.packets += packets.arrived.packets;
            arrived.bytes += packets.arrived.bytes;
        }
        visit("arrived_bps", per_second(since(arrived.bytes, &mut self.arrived.bytes), interval));
        visit("arrived_packets", since(arrived.packets, &mut self.arrived.packets) as f64);
        let mut drops = [0; DropReason::ALL.len()];
        for (reason, (number, then)) in drops.iter_mut().zip(&mut self.drops).enumerate() {
            let now = count.total(|packets| packets.dropped[reason]);
            *number = since(now, then);
        }
        visit("drops", drops.iter().sum::<u64>() as f64);
        visit("early_drops", drops[DropReason::Early as usize] as f64);
        visit("forced_drops", drops[DropReason::Forced as usize] as f64);
        let marked = count.total(|packets| packets.marked);
        let threshold_marked = count.total(|packets| packets.threshold_marked);
        visit("marks", since(marked, &mut self.marks[0]) as f64);
        visit("threshold_marks", since(threshold_marked, &mut self.marks[1]) as f64);
        let area = count.queue_area - std::mem::replace(&mut self.queue_area, count.queue_area);
        visit("mean_queue_packets", area as f64 / interval.ps() as f64);
    }
}

/// The classes of the queue of a link, if they are counted.
#[derive(Default)]
struct Classes {
    element: Option<ElementId>,
    /// Counters of each at the last sample.
    sums: Vec<ClassSums>,
}

/// Counters of a class at the last sample.
#[derive(Default)]
struct ClassSums {
    departed: u64,
    drops: u64,
    marks: u64,
    area: u128,
}

impl Classes {
    /// Those of link `number`, which has `elements`.
    fn of(number: usize, plan: &Plan<'_>, elements: &[ElementId]) -> Self {
        let own = plan.links[number].own_element().filter(|_| plan.record.classes);
        Self { element: own.map(|at| elements[at]), sums: Vec::new() }
    }

    fn sample(&mut self, counts: &[ClassCount], interval: Span, visit: &mut dyn FnMut(&str, f64)) {
        self.sums.resize_with(counts.len(), ClassSums::default);
        for (class, (count, then)) in counts.iter().zip(&mut self.sums).enumerate() {
            let bytes = since(count.departed.bytes, &mut then.departed);
            visit(&format!("class_throughput_bps.{class}"), per_second(bytes, interval));
            let drops = count.dropped.iter().sum();
            visit(&format!("class_drops.{class}"), since(drops, &mut then.drops) as f64);
            visit(&format!("class_marks.{class}"), since(count.marked, &mut then.marks) as f64);
            let area = count.area - std::mem::replace(&mut then.area, count.area);
            let mean = area as f64 / interval.ps() as f64;
            visit(&format!("class_mean_queue_packets.{class}"), mean);
        }
    }
}

impl FlowSums {
    fn sample(&mut self, flows: &[FlowCount], interval: Span, visit: &mut dyn FnMut(&str, f64)) {
        let sum = |of: fn(&FlowCount) -> u64| flows.iter().map(of).sum();
        let wire = since(sum(|flow| flow.delivered.bytes), &mut self.delivered.bytes);
        visit("throughput_bps", per_second(wire, interval));
        let payload = since(sum(|flow| flow.goodput), &mut self.payload);
        visit("goodput_bps", per_second(payload, interval));
        let packets = since(sum(|flow| flow.delivered.packets), &mut self.delivered.packets);
        let delay = flows.iter().map(|flow| flow.delay).sum();
        let delay = delay - std::mem::replace(&mut self.delay, delay);
        // Without a packet there is no mean: 0 / 0 is not a number.
        visit("mean_delay_s", delay as f64 / PS_PER_S as f64 / packets as f64);
    }
}

/// Returns the increase from `then` to `now`, and sets `then` to `now`.
fn since(now: u64, then: &mut u64) -> u64 {
    now - std::mem::replace(then, now)
}

fn per_second(bytes: u64, interval: Span) -> f64 {
    bytes as f64 * 8.0 / interval.seconds()
}
