//! The one-way delays of the packets of a group of flows.

use std::ops::Range;

use forebay_network::record::{Column, RecordTable};
use forebay_network::{DelayTable, FlowId, Histogram};
use forebay_units::{PS_PER_S, Span};

use crate::plan::flows::FlowPlan;
use crate::plan::sections::FlowRows;
use crate::plan::{Plan, Wired};

/// The delays in ps of the group of `plan`, whose flows are `own`.
pub(crate) fn delays_of_group(
    plan: &FlowPlan,
    own: Range<usize>,
    rows: Option<FlowRows>,
    delays: &DelayTable,
) -> Histogram {
    // Flows without rows are counted together: the first has the delays of all.
    let apart = if plan.has_rows(rows) { own } else { own.start..(own.start + 1).min(own.end) };
    let mut all = Histogram::new();
    apart.for_each(|flow| all.merge(delays.of(FlowId::new(flow))));
    all
}

/// The delays in ps of each group in the window of measurement, and the longest of them.
pub(crate) fn group_delays(plan: &Plan<'_>, wired: &mut Wired) -> Vec<(Histogram, Span)> {
    let (counters, delays) = wired.network.counters_and_delays();
    let mut first = 0;
    let of_group = |group: &FlowPlan| {
        let own = first..first + group.count as usize;
        first = own.end;
        let longest = counters.flows[own.clone()].iter().map(|flow| flow.max_delay).max();
        let most = longest.unwrap_or_default();
        (delays_of_group(group, own, plan.record.flows, &delays), most)
    };
    plan.flows.iter().map(of_group).collect()
}

/// The distribution of the delays of each group: the ends of its buckets, within the shortest and
/// the longest delay, and how many packets each holds.
pub(crate) fn delay_table(groups: &[(Histogram, Span)]) -> RecordTable {
    let (mut group, mut from, mut to, mut count) = (vec![], vec![], vec![], vec![]);
    for ((histogram, most), number) in groups.iter().zip(0..) {
        let Some(least) = histogram.least() else { continue };
        let within = |ps: f64| ps.clamp(least as f64, most.ps() as f64) / PS_PER_S as f64;
        for (start, end, packets) in histogram.buckets() {
            group.push(number);
            from.push(within(start));
            to.push(within(end));
            count.push(packets);
        }
    }
    RecordTable {
        name: "delays".to_owned(),
        columns: vec![
            ("group".to_owned(), Column::Whole(group)),
            ("from_s".to_owned(), Column::Float(from)),
            ("to_s".to_owned(), Column::Float(to)),
            ("packets".to_owned(), Column::Whole(count)),
        ],
    }
}
