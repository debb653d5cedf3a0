//! Links, groups of flows and aggregates of a network, as who advances a run in steps knows them.

use std::ops::Add;

use forebay_network::ElementId;
use forebay_units::{Rate, Size, Span};

use crate::plan::{LaneEnds, Plan, Wired};
use crate::read::names::{AGGREGATES, FLOWS, LINKS};

/// The places of a network.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Each direction of each link.
    pub links: Vec<LinkPlace>,
    /// Each group of flows.
    pub flows: Vec<FlowPlace>,
    /// Each ingress-egress aggregate.
    pub aggregates: Vec<AggregatePlace>,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkPlace {
    /// Its name: `bn`, and `bn.reverse` for the way back.
    pub name: String,
    /// Its rate, of a link that changes the one that others go by.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Span,
    /// True if it is within a subnetwork, as a span of a ring.
    pub is_span: bool,
    pub(crate) elements: Vec<ElementId>,
    pub(crate) part: u32,
}

/// A group of flows.
#[derive(Clone, Debug)]
pub struct FlowPlace {
    /// Its name.
    pub name: String,
    /// The transport: `tcp`, `udp`, `media`, `calls` or `paced`.
    pub transport: &'static str,
    /// The number of its first flow in the network.
    pub first: usize,
    /// Number of its flows; of calls, of the media of each.
    pub count: usize,
    /// True if its transfers open connections of their own.
    pub fresh: bool,
    /// Bytes of data in a full segment of TCP; of others, the largest packet.
    pub segment: u64,
    /// The lowest rate of a link on the way there.
    pub bottleneck: Rate,
    /// Round-trip time of a full packet that finds nothing in its way, with an answer of no size.
    pub base_rtt: Span,
    pub(crate) lanes: Vec<LaneEnds>,
    /// Of calls, the first of their rows among those of the element.
    pub(crate) rows: Option<usize>,
}

/// An ingress-egress aggregate.
#[derive(Clone, Debug)]
pub struct AggregatePlace {
    /// Its name.
    pub name: String,
    /// Its element, and of each class of calls the first row there.
    pub(crate) element: Option<ElementId>,
    pub(crate) rows: Vec<usize>,
}

impl Places {
    pub(crate) fn of(plan: &Plan<'_>, wired: &Wired) -> Self {
        let links = plan.links.iter().zip(&wired.links).map(|(link, elements)| LinkPlace {
            name: link.name.clone(),
            rate: link.rate,
            delay: link.delay,
            is_span: link.inner.is_some(),
            elements: elements.clone(),
            part: link.part,
        });
        let mut flows: Vec<FlowPlace> = Vec::new();
        let mut first = 0;
        for (flow, lanes) in plan.flows.iter().zip(&wired.lanes) {
            let largest = Size::from_bytes(flow.largest);
            let ways = || flow.there.iter().chain(&flow.back);
            let delay = ways().map(|link| plan.links[*link].delay).fold(Span::ZERO, Span::add);
            let there = || flow.there.iter().map(|link| plan.links[*link].rate);
            let sending =
                there().map(|rate| rate.transmission_time(largest)).fold(Span::ZERO, Span::add);
            flows.push(FlowPlace {
                name: flow.name.clone(),
                transport: flow.kind,
                first,
                count: flow.count as usize,
                fresh: flow.facts.fresh,
                segment: flow.tcp().map_or(flow.largest, |tcp| tcp.mss.bytes()),
                bottleneck: there().min().unwrap_or(Rate::from_bps(0)),
                base_rtt: delay + sending,
                lanes: lanes.clone(),
                rows: flow.has_calls().then_some(0),
            });
            first += flow.count as usize;
        }
        let members = plan.members();
        let aggregates = plan.aggregates.iter().zip(&members).map(|(aggregate, members)| {
            let (mut rows, mut passed) = (Vec::new(), 0);
            for at in members {
                rows.push(passed);
                flows[*at].rows = Some(passed);
                passed += plan.flows[*at].count as usize;
            }
            let element = members.first().map(|at| wired.senders[*at]);
            AggregatePlace { name: aggregate.name.clone(), element, rows }
        });
        let aggregates = aggregates.collect();
        Self { links: links.collect(), flows, aggregates }
    }

    /// Names of all places, as names of series begin: `links.bn`.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let links = self.links.iter().map(|place| format!("{LINKS}.{}", place.name));
        let flows = self.flows.iter().map(|place| format!("{FLOWS}.{}", place.name));
        let aggregates = self.aggregates.iter();
        links.chain(flows).chain(aggregates.map(|place| format!("{AGGREGATES}.{}", place.name)))
    }

    /// The group called `name`, or flow `i` of the group of `NAME[i]`: with its number in the
    /// group.
    #[must_use]
    pub fn flow(&self, name: &str) -> Option<(&FlowPlace, Option<usize>)> {
        if let Some(place) = self.flows.iter().find(|place| place.name == name) {
            return Some((place, None));
        }
        let (group, number) = name.strip_suffix(']')?.rsplit_once('[')?;
        let place = self.flows.iter().find(|place| place.name == group)?;
        let at: usize = number.parse().ok()?;
        // `[007]` and `[+7]` are no names.
        let is_flow = at < place.count && number == at.to_string() && place.rows.is_none();
        is_flow.then_some((place, Some(at)))
    }
}
