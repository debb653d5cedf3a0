//! Making the elements of groups of flows between several nodes, lane by lane.

use forebay_elements::{End, Hop, Wiring};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_network::{Destination, Element, ElementId, FlowId, RouteId};

use crate::plan::LaneEnds;
use crate::plan::between::{Between, Lane};
use crate::plan::flows::FlowPlan;
use crate::plan::roads::Roads;

impl FlowPlan {
    /// Make senders and receivers `between` several nodes, given the first of the flows: senders
    /// for each lane, and receivers for each, or for all lanes to one node.
    pub(crate) fn wire_lanes(
        &self,
        (between, first): (&Between, FlowId),
        roads: &Roads<'_>,
        network: &mut Network,
        streams: &Streams,
    ) -> Vec<LaneEnds> {
        let gathers = self.transport.gathers();
        let lanes = between.lanes(self.count, gathers, streams);
        let together = |one: &Lane, other: &Lane| gathers && one.to == other.to;
        let mut ends = Vec::with_capacity(lanes.len());
        for bundle in lanes.chunk_by(together) {
            let senders = network.next_element();
            let receivers = ElementId::new(senders.index() + bundle.len());
            let mut groups = Vec::new();
            for (at, lane) in bundle.iter().enumerate() {
                let end: Destination = match self.facts.end {
                    End::Sink { header } => network.add_sink(header.bytes()).into(),
                    End::Receivers | End::Senders => receivers.into(),
                };
                let data = roads.lay_way(between.way(lane.from, lane.to), end, network);
                let flows = (first.nth(lane.first), lane.first, lane.count);
                let mut group = self.group(flows, data, streams);
                let name = |number: u32| &between.nodes[number as usize].name;
                group.path = format!("{}.{}-{}", group.path, name(lane.from), name(lane.to));
                groups.push(group);
                let receivers = self.has_receivers().then_some(receivers);
                let senders = ElementId::new(senders.index() + at);
                ends.push(LaneEnds { senders, receivers, lane: Some(*lane) });
            }
            let mut place = LanePlace { lanes: bundle, between, senders, roads, network, streams };
            if gathers {
                self.transport.wire_gathered(groups, &mut place);
            } else {
                groups.into_iter().for_each(|group| self.transport.wire(group, &mut place));
            }
        }
        ends
    }
}

/// The network at the place of lanes to one node.
struct LanePlace<'w, 'l> {
    lanes: &'w [Lane],
    between: &'w Between,
    /// The senders of the first lane; those of the others follow.
    senders: ElementId,
    roads: &'w Roads<'l>,
    network: &'w mut Network,
    streams: &'w Streams,
}

impl Wiring for LanePlace<'_, '_> {
    fn add(&mut self, element: Box<dyn Element>) {
        self.network.add(element);
    }

    fn way_back(&mut self) -> RouteId {
        self.way_back_to(0)
    }

    fn way_back_to(&mut self, lane: usize) -> RouteId {
        let Lane { from, to, .. } = self.lanes[lane];
        let end = ElementId::new(self.senders.index() + lane);
        self.roads.lay_way(self.between.way(to, from), end.into(), self.network)
    }

    fn hops(&self) -> Option<[Vec<Hop>; 2]> {
        let Lane { from, to, .. } = self.lanes[0];
        let hops = |from, to| self.roads.hops(&self.between.links(from, to, self.roads.fabrics));
        Some([hops(from, to), hops(to, from)])
    }

    fn asks_rtt(&self) -> bool {
        false
    }

    fn streams(&self) -> &Streams {
        self.streams
    }
}
