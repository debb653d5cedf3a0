//! Results of a run: its counters as the quantities that people ask for.

pub(crate) mod classes;
pub(crate) mod columns;
pub(crate) mod counted;
pub(crate) mod delays;
pub(crate) mod drops;
pub(crate) mod elements;
pub(crate) mod gauge_tables;
pub(crate) mod gauges;
pub(crate) mod hosts;
pub(crate) mod pairs;
pub(crate) mod series;
pub(crate) mod spread;
pub(crate) mod synchronization;
pub(crate) mod tags;
pub(crate) mod waits;

use forebay_elements::{Row, RowTables};
use forebay_network::{
    COMMON_PRECEDENCES, DelayTable, DropReason, FlowCount, FlowId, LinkCount, PrecedenceCount,
    columns,
};
use forebay_units::{Span, Time};
use serde::Serialize;

use crate::plan::flows::FlowPlan;
use crate::plan::sections::FlowRows;
use crate::results::counted::{Counted, sum};
use crate::results::delays::delays_of_group;
use crate::results::drops::DropReasons;
use crate::results::hosts::{HostResult, Total};
use crate::results::spread::Spread;

columns! {
    /// The result of one run. Everything but `digest`, `events`, `packet_hops`, `expected_packets`
    /// and `regions` covers the window of measurement from the warm-up to the end.
    #[derive(Clone, Debug, Serialize)]
    pub struct RunResult {
        /// Name of the scenario.
        pub name: String = Word,
        /// Fingerprint of the trajectory: equal digests, equal runs.
        pub digest: String = Word,
        /// Fingerprint of the scenario, whatever units, order and defaults its file uses. Name,
        /// seed and recording do not count.
        pub scenario_hash: String = Word,
        /// Version of the engine.
        pub version: &'static str = Word,
        /// Root seed of all random streams.
        pub seed: u64 = Number,
        /// Replication number.
        pub replication: u64 = Number,
        /// Simulated time in seconds.
        pub simulated_s: f64 = Seconds,
        /// Length of the window of measurement, from the warm-up to the end, in seconds.
        pub measured_s: f64 = Seconds,
        /// Events handled, warm-up included; with those that needed no place in the event list,
        /// so that the number does not depend on what is recorded.
        pub events: u64 = Number,
        /// Packets that reached the far end of a link, warm-up included.
        pub packet_hops: u64 = Number,
        /// Data packets that sources were expected to send before the run began, warm-up included:
        /// an estimate from rates of sources and links. No limit is set by it.
        pub expected_packets: u64 = Packets,
        /// Partitions of the network that ran side by side on several cores (`--threads`); 1 for a
        /// run on one core. Nothing else depends on it, but the time that the run took.
        pub regions: usize = Number,
        /// A row a flow; groups of more than 10,000 flows have none, unless `[record]` says
        /// `flows = "each"`. With `flows = "groups"` no group has any, but for calls.
        pub flows: Vec<FlowResult> = Rows,
        /// A row a group of flows.
        pub groups: Vec<GroupResult> = Rows,
        /// A row a host: a node where flows begin or end, or a machine behind one that flows name.
        pub hosts: Vec<HostResult> = Rows,
        /// A row a link and direction.
        pub links: Vec<LinkResult> = Rows,
        /// The rows of all other kinds, each a list under the name of its kind.
        #[serde(flatten)]
        pub tables: RowTables = Rows,
    }
}

impl RunResult {
    /// The rows of type `R`; none if the run has none.
    #[must_use]
    pub fn rows<R: Row>(&self) -> &[R] {
        self.tables.rows()
    }
}

columns! {
    /// Results of one flow.
    #[derive(Clone, Debug, Serialize)]
    pub struct FlowResult {
        /// `GROUP`, or `GROUP[i]` if the group has several flows. A group of calls is one flow,
        /// or one for each entry of `linked`.
        pub name: String = Word,
        /// The group that it belongs to.
        pub group: String = Word,
        /// Its counters.
        #[serde(flatten)]
        pub counted: Counted = Rows,
        /// Time at which its first packet left, in seconds; null if none has.
        pub started_s: Option<f64> = Seconds,
        /// Time at which it ended, in seconds; null while it runs.
        pub ended_s: Option<f64> = Seconds,
    }
}

columns! {
    /// Results of a group of flows.
    #[derive(Clone, Debug, Serialize)]
    pub struct GroupResult {
        /// Name of the group.
        pub name: String = Word,
        /// `tcp`, `udp`, `media`, `calls` or `paced`.
        pub transport: &'static str = Word,
        /// Its tags; left out without any.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub tags: Vec<String> = Word,
        /// Number of flows.
        pub flows: u32 = Number as "flows",
        /// The counters of all flows together.
        #[serde(flatten)]
        pub counted: Counted = Rows,
        /// Jain's fairness index of the goodputs of the flows (Jain, Chiu and Hawe, DEC-TR-301,
        /// 1984): the square of their sum over n times the sum of their squares, from 1/n to 1; 1
        /// if all are 0.
        pub jain_index: f64 = Share,
        /// Spread of the flows, if they have no rows of their own.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub spread: Option<Spread> = Rows,
    }
}

columns! {
    /// Results of one direction of a link. Lists are by precedence from 0, up to the highest that
    /// occurred there but at least to 3.
    #[derive(Clone, Debug, Serialize)]
    pub struct LinkResult {
        /// Name of the link; `NAME.reverse` for the way back of a duplex link.
        pub name: String = Word,
        /// Its tags; left out without any.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub tags: Vec<String> = Word,
        /// Share of time spent transmitting, 0 to 1; of a link that changes, bits sent over those
        /// that it could have sent.
        pub utilization: f64 = Share + headline as "use" at 2,
        /// Bits transmitted per second; of a packet in transmission at the beginning or at the end,
        /// the part that was sent in between.
        pub throughput_bps: f64 = BitsPerSecond + headline as "throughput" at 1,
        /// Packets dropped, lost on its wire included.
        pub drops: u64 = Packets as "dropped",
        /// Packets marked CE here (PCN traffic: excess-traffic-marked, ETM).
        pub marks: u64 = Packets as "marked" if any,
        /// PCN packets threshold-marked here (ThM).
        pub threshold_marks: u64 = Packets as "ThM" if any,
        /// Time average of the packets waiting; the one being transmitted does not count.
        pub mean_queue_packets: f64 = Packets + headline as "mean queue",
        /// Most packets that waited.
        pub max_queue_packets: u32 = Packets as "max queue",
        /// Packets that arrived, by precedence after conditioning.
        pub arrived_packets: Vec<u64> = Packets as "arrived" at 3,
        /// Bytes that arrived, by precedence after conditioning.
        pub arrived_bytes: Vec<u64> = Bytes,
        /// Packets whose transmission began, by precedence.
        pub departed_packets: Vec<u64> = Packets,
        /// Their bytes, by precedence.
        pub departed_bytes: Vec<u64> = Bytes,
        /// Packets dropped, by precedence.
        pub dropped_packets: Vec<u64> = Packets,
        /// Packets dropped, by reason.
        pub drop_reasons: DropReasons = Rows,
    }
}

/// The rows of flows and of groups, given the counters and the delays of all flows in the order of
/// `plans`; and the totals of the groups.
pub(crate) fn flow_rows(
    plans: &[FlowPlan],
    counts: &[FlowCount],
    delays: &DelayTable,
    rows: Option<FlowRows>,
    measured: Span,
) -> (Vec<FlowResult>, Vec<GroupResult>, Vec<Total>) {
    let (mut flows, mut groups, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    let mut first = 0;
    for plan in plans {
        let own = first..first + plan.count as usize;
        first = own.end;
        let each = plan.has_rows(rows);
        let all = delays_of_group(plan, own.clone(), rows, delays);
        let counts = &counts[own.clone()];
        let total = sum(counts);
        groups.push(GroupResult {
            name: plan.name.clone(),
            transport: plan.kind,
            tags: plan.tags.clone(),
            flows: plan.count,
            counted: Counted::of(&total, &all, measured),
            jain_index: jain_index(counts),
            spread: (!each).then(|| Spread::of(counts, measured)),
        });
        totals.push(Total::of(plan.count, total, all));
        if each {
            let row = |((index, count), flow): ((u32, &FlowCount), usize)| FlowResult {
                name: plan.flow_name(index),
                group: plan.name.clone(),
                counted: Counted::of(count, delays.of(FlowId::new(flow)), measured),
                started_s: count.started.map(Time::seconds),
                ended_s: count.ended.map(Time::seconds),
            };
            flows.extend((0..).zip(counts).zip(own).map(row));
        }
    }
    (flows, groups, totals)
}

/// Jain's fairness index of the goodputs of `flows`.
fn jain_index(flows: &[FlowCount]) -> f64 {
    jain_of(|| flows.iter().map(|flow| flow.goodput as f64))
}

/// Jain's fairness index of `goodputs`: 1 if all are 0.
fn jain_of<I: Iterator<Item = f64>>(goodputs: impl Fn() -> I) -> f64 {
    let (sum, squares) = (goodputs().sum::<f64>(), goodputs().map(|x| x * x).sum::<f64>());
    if squares == 0.0 { 1.0 } else { sum * sum / (goodputs().count() as f64 * squares) }
}

impl LinkResult {
    /// The quantities of `count` over a window of `measured`, in which a link that changes has
    /// `offered` so many bits.
    pub(crate) fn of(
        (name, tags): (String, Vec<String>),
        count: &LinkCount,
        measured: Span,
        offered: Option<f64>,
    ) -> Self {
        let bits = count.total(|packets| packets.sent_bits);
        let utilization = match offered {
            None => count.busy as f64 / measured.ps() as f64,
            Some(0.0) => 0.0,
            // Whole bits are counted: one that was half sent before may count here.
            Some(offered) => (bits as f64 / offered).min(1.0),
        };
        let reason = |reason: DropReason| count.total(|packets| packets.dropped[reason as usize]);
        let dropped = |packets: &PrecedenceCount| packets.dropped.iter().sum::<u64>();
        let unused = PrecedenceCount::default();
        let highest =
            count.precedences().zip(1..).filter(|(packets, _)| **packets != unused).last();
        let length = highest.map_or(0, |(_, length)| length).max(COMMON_PRECEDENCES);
        let list = |of: &dyn Fn(&PrecedenceCount) -> u64| -> Vec<u64> {
            count.precedences().take(length).map(of).collect()
        };
        debug_assert!(count.busy <= measured.ps(), "a link was busy for more than the time");
        Self {
            name,
            tags,
            utilization,
            throughput_bps: bits as f64 / measured.seconds(),
            drops: count.total(dropped),
            marks: count.total(|packets| packets.marked),
            threshold_marks: count.total(|packets| packets.threshold_marked),
            mean_queue_packets: count.queue_area as f64 / measured.ps() as f64,
            max_queue_packets: count.max_queue,
            arrived_packets: list(&|packets| packets.arrived.packets),
            arrived_bytes: list(&|packets| packets.arrived.bytes),
            departed_packets: list(&|packets| packets.departed.packets),
            departed_bytes: list(&|packets| packets.departed.bytes),
            dropped_packets: list(&dropped),
            drop_reasons: DropReasons::of(reason),
        }
    }
}
