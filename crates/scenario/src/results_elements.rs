//! Rows of results that the elements of calls and of paced sources count themselves.

use forebay_elements::calls::{CallCount, CallResult};
use forebay_elements::paced::{FrameCount, PacedCount, PacedResult};
use forebay_elements::policer::{PolicerCount, PolicingResult};
use forebay_elements::tcp::{VideoResult, Viewer};
use forebay_elements::{Lateness, LatenessResult, TransferCount, TransferResult};
use forebay_network::FlowId;
use forebay_units::Span;

use crate::flows::FlowPlan;
use crate::plan::{Plan, Wired};

/// The rows of calls: first those of no aggregate, then by aggregate.
pub(crate) fn call_rows(plan: &Plan<'_>, wired: &mut Wired, measured: Span) -> Vec<CallResult> {
    let mut rows = Vec::new();
    visit_calls(plan, wired, |aggregate, at, own| {
        let name = aggregate.unwrap_or_default();
        rows.extend((0..).zip(own).map(|(index, count)| {
            let flow = plan.flows[at].flow_name(index);
            CallResult::of(flow, name.to_owned(), count, measured)
        }));
    });
    rows
}

/// Visit the counters of each group of calls, with its aggregate and its place in the plan: first
/// those of no aggregate, then by aggregate.
pub(crate) fn visit_calls(
    plan: &Plan<'_>,
    wired: &mut Wired,
    mut visit: impl FnMut(Option<&str>, usize, &[CallCount]),
) {
    let named = plan.aggregates.iter().map(|aggregate| Some(aggregate.name.as_str()));
    let groups = std::iter::once(plan.calls_alone()).chain(plan.members());
    for (aggregate, groups) in std::iter::once(None).chain(named).zip(groups) {
        // The groups of an aggregate share an element; each other one has its own.
        let mut passed = 0;
        for at in groups {
            let count = plan.flows[at].count as usize;
            let first = if aggregate.is_some() { passed } else { 0 };
            let own = wired.own_counters::<Vec<CallCount>>(wired.senders[at]);
            visit(aggregate, at, &own[first..first + count]);
            passed += count;
        }
    }
}

/// The rows of paced sources, of policing and of late packets.
pub(crate) fn paced_rows(
    plan: &Plan<'_>,
    wired: &mut Wired,
) -> (Vec<PacedResult>, Vec<PolicingResult>, Vec<LatenessResult>) {
    let (mut paced, mut policing, mut lateness) = (Vec::new(), Vec::new(), Vec::new());
    let mut first = FlowId::new(0);
    for (at, flow) in plan.flows.iter().enumerate() {
        let senders = wired.senders[at];
        if flow.is_paced() {
            let frames: Vec<FrameCount> = if flow.has_frames() {
                wired.own_counters::<Vec<_>>(FlowPlan::receivers(senders)).clone()
            } else {
                Vec::new()
            };
            let own = wired.own_counters::<Vec<PacedCount>>(senders);
            paced.push(PacedResult::of(flow.name.clone(), own, &frames));
        }
        if let Some((policer, _)) = flow.policer(senders) {
            let own = wired.own_counters::<PolicerCount>(policer);
            policing.push(PolicingResult::of(flow.name.clone(), own));
        }
        if flow.counts_late() {
            let meter = |flow| wired.network.delivery_meter::<Lateness>(flow);
            let own: Vec<_> =
                (0..flow.count).map(|index| first.nth(index)).filter_map(meter).collect();
            lateness.push(LatenessResult::of(flow.name.clone(), &own));
        }
        first = first.nth(flow.count);
    }
    (paced, policing, lateness)
}

/// The rows of adaptive video.
pub(crate) fn video_rows(plan: &Plan<'_>, wired: &mut Wired) -> Vec<VideoResult> {
    let mut rows = Vec::new();
    for (at, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| flow.has_video()) {
        let receivers = FlowPlan::receivers(wired.senders[at]);
        let own = wired.own_counters::<Vec<Viewer>>(receivers);
        rows.push(VideoResult::of(flow.name.clone(), own));
    }
    rows
}

/// The rows of transfers.
pub(crate) fn transfer_rows(plan: &Plan<'_>, wired: &mut Wired) -> Vec<TransferResult> {
    let mut rows = Vec::new();
    for (at, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| flow.has_transfers()) {
        let receivers = FlowPlan::receivers(wired.senders[at]);
        let own = wired.own_counters::<TransferCount>(receivers);
        rows.push(TransferResult::of(flow.name.clone(), own));
    }
    rows
}
