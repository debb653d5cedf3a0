//! Rows of results that elements count themselves.

use std::any::Any;
use std::ops::Range;

use forebay_elements::calls::CallCount;
use forebay_elements::link::SwitchResult;
use forebay_elements::policer::{PolicerCount, PolicingResult};
use forebay_elements::{
    CountersOf, GroupCounts, Lateness, LatenessResult, RowTables, Rows, TagCounts,
};
use forebay_engine::Network;
use forebay_network::{ElementId, FlowCount, FlowId};
use forebay_parameters::Registry;
use forebay_units::{Span, Time};

use crate::plan::switches::{Memory, SwitchPlan};
use crate::plan::{Plan, Wired};
use crate::results::classes::class_rows;
use crate::results::columns::kinds;
use crate::results::counted::sum;
use crate::results::pairs::pair_rows;

/// All rows of kinds that not every run has.
pub(crate) fn tables(
    plan: &Plan<'_>,
    wired: &mut Wired,
    registry: &Registry,
    measured: Span,
) -> RowTables {
    let mut tables = RowTables::of(&kinds(registry));
    add_transports(plan, wired, measured, &mut tables);
    add_policing(plan, wired, &mut tables);
    add_subnetworks(plan, wired, measured, &mut tables);
    tables.add(Rows::new(class_rows(plan, wired, measured)));
    tables.add(Rows::new(pair_rows(plan, wired, measured)));
    tables.add(Rows::new(switch_rows(plan, wired, measured)));
    tables
}

/// The rows of switches.
fn switch_rows(plan: &Plan<'_>, wired: &Wired, measured: Span) -> Vec<SwitchResult> {
    let end = Time::ZERO + plan.parameters.duration;
    let memories = plan.switches.iter().zip(&wired.memories);
    let row = |(switch, memory): (&SwitchPlan<'_>, &Memory)| {
        let mut memory = memory.lock().expect("a memory does not panic");
        memory.row(switch.name.clone(), end, measured)
    };
    memories.map(row).collect()
}

/// Adds the rows of subnetworks.
fn add_subnetworks(plan: &Plan<'_>, wired: &mut Wired, measured: Span, tables: &mut RowTables) {
    let counters = wired.network.counters();
    for (number, subnetwork) in plan.subnetworks.iter().enumerate() {
        let links: Vec<_> = plan.links_within(number).map(|link| &counters.links[link]).collect();
        let rows = subnetwork.own.rows(&subnetwork.name, &links, measured);
        rows.into_iter().for_each(|rows| tables.add(rows));
    }
}

/// The elements and the flows of a group in a network.
struct Ends<'n> {
    network: &'n mut Network,
    flows: Range<usize>,
    senders: Vec<ElementId>,
    receivers: Vec<ElementId>,
}

impl CountersOf for Ends<'_> {
    fn elements(&self, receive: bool) -> usize {
        if receive { self.receivers.len() } else { self.senders.len() }
    }

    fn counters(&mut self, receivers: bool, at: usize) -> Option<&dyn Any> {
        let elements = if receivers { &self.receivers } else { &self.senders };
        self.network.counters_of(*elements.get(at)?)
    }

    fn flows(&mut self) -> FlowCount {
        sum(&self.network.counters().flows[self.flows.clone()])
    }
}

/// Adds the rows of transports: first those of groups in no aggregate, then by aggregate.
fn add_transports(plan: &Plan<'_>, wired: &mut Wired, measured: Span, tables: &mut RowTables) {
    let mut by_tag = TagCounts::default();
    let mut first = 0;
    let mut flows = Vec::with_capacity(plan.flows.len());
    for flow in &plan.flows {
        flows.push(first..first + flow.count as usize);
        first += flow.count as usize;
    }
    visit_groups(plan, |aggregate, at, passed| {
        let flow = &plan.flows[at];
        let senders = wired.lanes[at].iter().map(|lane| lane.senders).collect();
        // Those of lanes to one node follow each other.
        let mut receivers: Vec<ElementId> =
            wired.lanes[at].iter().filter_map(|lane| lane.receivers).collect();
        receivers.dedup();
        let flows = flows[at].clone();
        let rows = flow.transport.rows(&mut GroupCounts {
            name: &flow.name,
            flow_name: &|index| flow.flow_name(index),
            aggregate: aggregate.unwrap_or_default(),
            measured,
            passed,
            tags: (&flow.tags, &mut by_tag),
            counters: &mut Ends { network: &mut wired.network, flows, senders, receivers },
        });
        rows.into_iter().for_each(|rows| tables.add(rows));
    });
    by_tag.rows().for_each(|rows| tables.add(rows));
}

/// Visit each group of flows, with its aggregate, its place in the plan, and the number of flows
/// that others have before it in the element of its aggregate: first those of no aggregate, then by
/// aggregate.
fn visit_groups(plan: &Plan<'_>, mut visit: impl FnMut(Option<&str>, usize, usize)) {
    let alone = plan.flows.iter().enumerate().filter(|(_, flow)| flow.aggregate.is_none());
    alone.for_each(|(at, _)| visit(None, at, 0));
    for (aggregate, groups) in plan.aggregates.iter().zip(plan.members()) {
        // The groups of an aggregate share an element.
        let mut passed = 0;
        for at in groups {
            visit(Some(&aggregate.name), at, passed);
            passed += plan.flows[at].count as usize;
        }
    }
}

/// Visit the counters of each group of calls, with its place in the plan: first those of no
/// aggregate, then by aggregate.
pub(crate) fn visit_calls(
    plan: &Plan<'_>,
    wired: &mut Wired,
    mut visit: impl FnMut(usize, &[CallCount]),
) {
    visit_groups(plan, |_, at, passed| {
        if plan.flows[at].has_calls() {
            let count = plan.flows[at].count as usize;
            let own = wired.own_counters::<Vec<CallCount>>(wired.senders[at]);
            visit(at, &own[passed..passed + count]);
        }
    });
}

/// Adds the rows of policing and of late packets.
fn add_policing(plan: &Plan<'_>, wired: &mut Wired, tables: &mut RowTables) {
    let mut first = FlowId::new(0);
    for (at, flow) in plan.flows.iter().enumerate() {
        if let Some((policer, _)) = flow.policer(wired.senders[at]) {
            let own = wired.own_counters::<PolicerCount>(policer);
            tables.add(Rows::one(PolicingResult::of(flow.name.clone(), own)));
        }
        if flow.counts_late() {
            let meter = |flow| wired.network.delivery_meter::<Lateness>(flow);
            let own: Vec<_> =
                (0..flow.count).map(|index| first.nth(index)).filter_map(meter).collect();
            tables.add(Rows::one(LatenessResult::of(flow.name.clone(), &own)));
        }
        first = first.nth(flow.count);
    }
}
