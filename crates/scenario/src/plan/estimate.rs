//! Estimates of a run before it is wired: the packets that its sources send, and the memory that it
//! holds. They come from rates, counts and times of the scenario: of what depends on chance or on
//! control loops, an upper value that is easily stated.

use std::mem::size_of;

use forebay_elements::CallLoad;
use forebay_kernel::Digest;
use forebay_network::{FlowCount, LinkCount, Packet};
use forebay_units::{Rate, Span};

use crate::capture::CAPTURED_PACKET;
use crate::plan::Plan;
use crate::plan::flows::FlowPlan;
use crate::results::series::{is_wanted, single_flows};

/// Estimated size of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimate {
    /// Data packets that sources send.
    pub(crate) packets: u64,
    /// Memory of the whole run, in bytes.
    pub(crate) bytes: u64,
    /// The largest need of memory.
    pub(crate) most: Option<Need>,
}

/// Memory that one key of the scenario asks for.
#[derive(Clone, Debug)]
pub struct Need {
    /// Path of the key.
    pub path: String,
    /// Purpose of the memory.
    pub what: String,
    /// Bytes.
    pub bytes: u64,
}

/// Bytes of a packet in a queue or on a link, with its time, in a buffer that is on average three
/// quarters full.
pub(crate) const HELD_PACKET: u64 = 64;
/// Bytes of a link: its element, counters, and the channels to the next.
const LINK: u64 = 2048 + size_of::<LinkCount>() as u64;
/// Bytes of a flow besides its counters: sender, receiver, timers, start.
const TCP_FLOW: u64 = 1024;
const OTHER_FLOW: u64 = 192;
/// Bytes of a row of a flow in the result: as a value, as text, and as a mapping in Python.
const ROW: u64 = 4096;
/// Bytes of a call while it lasts, and of its timer.
const CALL: u64 = 256;
/// Columns of a series of a link, and of a group of flows or calls.
const LINK_COLUMNS: u64 = 24;
const OTHER_COLUMNS: u64 = 12;
/// Bytes of a row of a packet trace, with the names that it is shown with.
const TRACE_ROW: u64 = 256;
/// Share of a link that TCP takes where constant rates ask for all of it.
const MIN_TCP_SHARE: f64 = 0.05;

/// Estimate the run that `plan` describes, with or without recording.
pub(crate) fn estimate(plan: &Plan<'_>, record: bool) -> Estimate {
    let offered = Offered::of(plan);
    let mut needs = Estimate::default();
    let mut packets = 0.0;
    for (flow, rate) in plan.flows.iter().zip(&offered.rates) {
        packets += rate * flow.seconds(plan.parameters.duration) / flow.packet_bits();
        flow_needs(flow, plan, &mut needs);
    }
    let links = plan.links.len() as u64;
    let what = || format!("{links} directions of links");
    needs.add(|| "links".to_owned(), what, links as f64 * LINK as f64);
    for (number, link) in plan.links.iter().enumerate() {
        let bits = offered.bits[number].max(8.0);
        if link.holds_all() {
            let over = offered.fixed[number] - link.rate.bps() as f64;
            let waiting = (over * offered.seconds[number] / bits).max(0.0);
            let what = || format!("{waiting:.0} packets in a queue without limit");
            needs.add(|| format!("{}.queue", link.path()), what, waiting * HELD_PACKET as f64);
        }
        let rate = offered.all[number].min(link.rate.bps() as f64);
        let span = link.delay.min(plan.parameters.duration).seconds();
        let flying = rate * span / bits;
        let what = || format!("{flying:.0} packets that propagate");
        needs.add(|| format!("{}.delay", link.path()), what, flying * HELD_PACKET as f64);
    }
    if record {
        record_needs(plan, packets, &mut needs);
    }
    Estimate { packets: whole(packets), ..needs }
}

impl Estimate {
    /// Add `bytes` of memory, and what asks for them if that is the largest need.
    fn add(&mut self, path: impl FnOnce() -> String, what: impl FnOnce() -> String, bytes: f64) {
        let bytes = whole(bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        if bytes > self.most.as_ref().map_or(0, |most| most.bytes) {
            self.most = Some(Need { path: path(), what: what(), bytes });
        }
    }
}

fn whole(x: f64) -> u64 {
    // Saturates, and gives 0 for what is no number.
    x.round() as u64
}

fn flow_needs(flow: &FlowPlan, plan: &Plan<'_>, needs: &mut Estimate) {
    let own = if flow.facts.adapts { TCP_FLOW } else { OTHER_FLOW };
    let row = if flow.has_rows(plan.record.flows) { ROW } else { 0 };
    let each = size_of::<FlowCount>() as u64 + size_of::<Digest>() as u64 + own + row;
    let count = f64::from(flow.count);
    let what = || format!("{count} flows");
    needs.add(|| format!("{}.count", flow.path), what, count * each as f64);
    if let Some(CallLoad { present, key, .. }) = flow.facts.calls {
        let what = || format!("{present:.0} calls at a time");
        needs.add(|| format!("{}.calls.{key}", flow.path), what, present * CALL as f64);
    }
}

/// Adds the memory of recording in a run that sends `packets`; acknowledgements are as many at
/// most.
fn record_needs(plan: &Plan<'_>, packets: f64, needs: &mut Estimate) {
    let record = &plan.record;
    if let Some(interval) = record.series {
        let samples = plan.parameters.duration.seconds() / interval.seconds();
        let wanted = |kind: &str, name: &str| is_wanted(record.series_of.as_deref(), kind, name);
        let links = plan.links.iter().filter(|link| wanted("links", &link.name)).count();
        let flows = plan.flows.iter().filter(|flow| wanted("flows", &flow.name)).count();
        let wanted_flows = record.series_of.as_deref();
        let single = plan.flows.iter().map(|flow| single_flows(wanted_flows, flow).len());
        let flows = flows + single.sum::<usize>();
        let others = plan.aggregates.iter().filter(|at| wanted("aggregates", &at.name)).count();
        let columns = links as u64 * LINK_COLUMNS + (flows + others) as u64 * OTHER_COLUMNS;
        // The time of a sample is a column of each table.
        let columns = columns + (links + flows + others) as u64;
        let what = || format!("{samples:.0} samples in {columns} columns");
        needs.add(|| "record.series".to_owned(), what, samples * columns as f64 * 8.0);
    }
    let captures = record.capture.as_ref().map_or(0, Vec::len) as f64;
    let each = (2.0 * packets).min(f64::from(record.capture_packets));
    let what = || format!("{each:.0} packets in each capture");
    needs.add(|| "record.capture".to_owned(), what, captures * each * CAPTURED_PACKET as f64);
    let rows = f64::from(record.trace);
    let what = || format!("{rows} rows");
    needs.add(|| "record.trace".to_owned(), what, rows * TRACE_ROW as f64);
}

/// Load that flows offer to links.
struct Offered {
    /// Rate of all flows of each group, in bit/s.
    rates: Vec<f64>,
    /// Rates in bit/s on each link: of flows that do not adapt, and of all.
    fixed: Vec<f64>,
    all: Vec<f64>,
    /// Bits of the smallest packets on each link, and the time for which flows that do not adapt
    /// send.
    bits: Vec<f64>,
    seconds: Vec<f64>,
}

impl Offered {
    fn of(plan: &Plan<'_>) -> Self {
        let links = plan.links.len();
        let mut offered = Self {
            rates: Vec::with_capacity(plan.flows.len()),
            fixed: vec![0.0; links],
            all: vec![0.0; links],
            bits: vec![f64::INFINITY; links],
            seconds: vec![0.0; links],
        };
        let mut adaptive = vec![0.0; links];
        for flow in &plan.flows {
            let fixed = flow.offered_rate();
            for link in &flow.there {
                offered.bits[*link] = offered.bits[*link].min(flow.packet_bits());
                if flow.facts.adapts {
                    adaptive[*link] += f64::from(flow.count) / flow.abreast();
                } else {
                    offered.fixed[*link] += fixed.unwrap_or_default() / flow.abreast();
                    let seconds = flow.seconds(plan.parameters.duration);
                    offered.seconds[*link] = offered.seconds[*link].max(seconds);
                }
            }
        }
        let share = |link: usize| {
            let rate = plan.links[link].rate.bps() as f64;
            (rate - offered.fixed[link]).max(MIN_TCP_SHARE * rate) / adaptive[link]
        };
        for flow in &plan.flows {
            let own = flow.offered_rate().or_else(|| flow.rate_in_all(plan.parameters.duration));
            let rate = if flow.facts.adapts {
                let share =
                    flow.there.iter().map(|link| share(*link)).fold(f64::INFINITY, f64::min);
                (share * f64::from(flow.count)).min(own.unwrap_or(f64::INFINITY))
            } else {
                own.unwrap_or_default()
            };
            offered.rates.push(rate);
        }
        for (flow, rate) in plan.flows.iter().zip(&offered.rates) {
            flow.there.iter().for_each(|link| offered.all[*link] += rate / flow.abreast());
        }
        offered
    }
}

impl FlowPlan {
    /// Time for which its flows may send, in seconds.
    fn seconds(&self, duration: Span) -> f64 {
        let (start, stop) = self.times(duration);
        (stop.seconds() - start.seconds()).max(0.0)
    }

    /// The mean rate of all its flows together, in bit/s, of flows that come to an end.
    pub(crate) fn rate_in_all(&self, duration: Span) -> Option<f64> {
        let bits = 8.0 * self.facts.in_all? * f64::from(self.count);
        Some(bits / self.seconds(duration).max(f64::MIN_POSITIVE))
    }

    fn packet_bits(&self) -> f64 {
        8.0 * self.largest.max(1) as f64
    }

    /// The mean rate of all its flows together, in bit/s, where it does not depend on the network.
    fn offered_rate(&self) -> Option<f64> {
        if let Some(CallLoad { present, rate, .. }) = self.facts.calls {
            return Some(present * rate);
        }
        self.mean_rate().map(Rate::bps).map(|bps| bps as f64 * f64::from(self.count))
    }
}

/// Packets are stored as they are: the estimate follows their size.
const _: () = assert!(size_of::<Packet>() + 8 <= HELD_PACKET as usize);
