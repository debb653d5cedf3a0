//! A scenario that is read, and the network that is wired from it.

pub(crate) mod aggregates;
pub(crate) mod around;
pub(crate) mod between;
pub(crate) mod buffers;
pub(crate) mod build;
pub(crate) mod division;
pub(crate) mod estimate;
pub(crate) mod fabrics;
pub(crate) mod failures;
pub(crate) mod flows;
pub(crate) mod hosts;
pub(crate) mod lanes;
pub(crate) mod laws;
pub(crate) mod links;
pub(crate) mod node_names;
pub(crate) mod policing;
pub(crate) mod rerouting;
pub(crate) mod roads;
pub(crate) mod sections;
pub(crate) mod subnetworks;
pub(crate) mod switches;
pub(crate) mod tags;
pub(crate) mod topology;
pub(crate) mod unlimited;
pub(crate) mod ways;

use forebay_engine::Network;
use forebay_laws::FlowGroups;
use forebay_network::{ElementCounters, ElementId, RouteId};
use forebay_units::Time;

use crate::plan::aggregates::AggregatePlan;
use crate::plan::between::Lane;
use crate::plan::fabrics::{FabricHost, Fabrics};
use crate::plan::flows::FlowPlan;
use crate::plan::hosts::HostTags;
use crate::plan::links::LinkPlan;
use crate::plan::sections::{RecordParameters, ScenarioParameters};
use crate::plan::subnetworks::SubnetworkPlan;
use crate::plan::switches::{Memory, SwitchPlan};

/// A scenario read and checked, ready to be wired.
pub(crate) struct Plan<'a> {
    pub(crate) parameters: ScenarioParameters,
    pub(crate) record: RecordParameters,
    pub(crate) links: Vec<LinkPlan<'a>>,
    pub(crate) subnetworks: Vec<SubnetworkPlan>,
    pub(crate) fabrics: Fabrics,
    /// Switches whose ports share a memory, by name.
    pub(crate) switches: Vec<SwitchPlan<'a>>,
    pub(crate) aggregates: Vec<AggregatePlan<'a>>,
    pub(crate) flows: Vec<FlowPlan>,
    /// The same by name, with their hosts, as laws know them.
    pub(crate) groups: FlowGroups,
    pub(crate) host_tags: HostTags,
    pub(crate) nodes: usize,
}

impl Plan<'_> {
    /// The groups of calls of each aggregate, in the order of their counters.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.aggregates.len()];
        for (at, flow) in self.flows.iter().enumerate() {
            if let Some(aggregate) = flow.aggregate {
                members[aggregate].push(at);
            }
        }
        members
    }
}

/// A network and its parts: the elements of each link, and the senders of each group of flows.
pub(crate) struct Wired {
    pub(crate) network: Network,
    pub(crate) links: Vec<Vec<ElementId>>,
    pub(crate) senders: Vec<ElementId>,
    /// The elements of each group of flows, lane by lane.
    pub(crate) lanes: Vec<Vec<LaneEnds>>,
    /// The memory of each switch.
    pub(crate) memories: Vec<Memory>,
    /// The links of each route, or its ends if it goes by rule.
    pub(crate) routes: Vec<(RouteId, Vec<usize>)>,
    pub(crate) ruled: Vec<(RouteId, [FabricHost; 2])>,
}

/// The elements at both ends of flows of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneEnds {
    pub(crate) senders: ElementId,
    /// `None` if their packets end at a sink.
    pub(crate) receivers: Option<ElementId>,
    /// Their lane, of a group between several nodes.
    pub(crate) lane: Option<Lane>,
}

/// The senders that show the inner quantities of `flow` of a group with these `lanes`, or of the
/// group, and the part of them that does. A group between several nodes shows none of its own.
pub(crate) fn shown_by(lanes: &[LaneEnds], flow: Option<u32>) -> Option<(ElementId, u32)> {
    let Some(index) = flow else {
        return if let [only] = lanes { Some((only.senders, 0)) } else { None };
    };
    let first = |ends: &LaneEnds| ends.lane.map_or(0, |lane| lane.first);
    let after = lanes.partition_point(|ends| first(ends) <= index);
    let ends = lanes.get(after.checked_sub(1)?)?;
    Some((ends.senders, index - first(ends) + 1))
}

impl Wired {
    /// The counters of `element`'s own, which are of type `C`.
    pub(crate) fn own_counters<C: ElementCounters>(&mut self, element: ElementId) -> &C {
        self.network.element_counters(element).expect("elements keep the counters of their kind")
    }

    /// Count anew from `now` on.
    pub(crate) fn reset_counters(&mut self, now: Time) {
        self.network.reset_counters();
        for memory in &self.memories {
            memory.lock().expect("a memory does not panic").reset(now);
        }
    }
}
