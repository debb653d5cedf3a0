//! Reading subnetworks, such as rings, and making their elements.

use forebay_elements::{Subnetwork, SubnetworkKind, SubnetworkParts, Subnetworks};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_network::{ElementId, LinkId};
use forebay_parameters::{Entry, Problem, Section, name_fault};

use crate::plan::Plan;
use crate::plan::flows::FlowPlan;
use crate::plan::links::{Inner, LinkPlan, join};
use crate::plan::roads::Roads;
use crate::plan::topology::Topology;
use crate::read::names::check_names;

/// A subnetwork as the scenario describes it.
pub(crate) struct SubnetworkPlan {
    pub(crate) name: String,
    /// The section of its kind.
    kind: &'static str,
    pub(crate) own: Box<dyn Subnetwork>,
}

/// The kinds of subnetworks that the scenario with this `root` has.
pub(crate) fn kinds_in<'a>(
    root: &Section<'a>,
) -> impl Iterator<Item = &'a Entry<SubnetworkKind>> + use<'a> {
    let root = root.clone();
    let entries = root.registry().entries::<Subnetworks>();
    entries.iter().filter(move |entry| root.node(entry.name).is_some())
}

/// Read the subnetworks of the scenario with this `root`, and add their links.
pub(crate) fn read_subnetworks<'a>(
    root: &Section<'a>,
    topology: &mut Topology,
    links: &mut Vec<LinkPlan<'a>>,
) -> Result<Vec<SubnetworkPlan>, Problem> {
    let mut plans = Vec::new();
    for entry in kinds_in(root) {
        let all = root.section(entry.name)?.expect("the key is present");
        check_names(&all)?;
        for name in all.keys() {
            let section = all.section(name)?.expect("the key is present");
            let own = (entry.build.read)(&section)?;
            let fail = |fault: String| section.fail(entry.build.nodes, fault);
            for (number, link) in own.links().into_iter().enumerate() {
                for node in [&link.from, &link.to] {
                    name_fault(node).map_or(Ok(()), |fault| Err(fail(fault)))?;
                }
                let place = Inner { subnetwork: plans.len(), link: number, element: link.element };
                let routed = link.routed;
                let plan = LinkPlan::of_subnetwork(name, link, place, &section);
                if routed {
                    join(topology, links, plan).map_err(fail)?;
                } else {
                    links.push(plan);
                }
            }
            plans.push(SubnetworkPlan { name: name.to_owned(), kind: entry.name, own });
        }
    }
    Ok(plans)
}

/// The links of subnetwork `number` that a way of links at these places passes, by runs.
fn runs(number: usize, way: impl Iterator<Item = Option<Inner>>) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut within = false;
    for place in way {
        match place.filter(|place| place.subnetwork == number) {
            Some(place) if within => runs.last_mut().expect("one has begun").push(place.link),
            Some(place) => runs.push(vec![place.link]),
            None => {}
        }
        within = place.is_some_and(|place| place.subnetwork == number);
    }
    runs
}

/// Check that the packets of `flow` can pass the `subnetworks` on their way, and fit into them.
pub(crate) fn check_ways(
    flow: &FlowPlan,
    subnetworks: &[SubnetworkPlan],
    links: &[LinkPlan<'_>],
    section: &Section<'_>,
) -> Result<(), Problem> {
    for way in flow.ways() {
        for (number, SubnetworkPlan { name, kind, own }) in subnetworks.iter().enumerate() {
            let runs = runs(number, way.iter().map(|link| links[*link].inner));
            own.check_way(&runs)
                .map_err(|wrong| section.fail("route", format!("{wrong}: {kind}.{name}")))?;
            if let Some(largest) = own.largest().filter(|most| flow.largest > *most)
                && !runs.is_empty()
            {
                let message = format!(
                    "packets of {} B are larger than {kind}.{name} takes ({largest} B)",
                    flow.largest
                );
                return Err(section.fail("", message));
            }
        }
    }
    Ok(())
}

impl Plan<'_> {
    /// Places in `network` for the elements of each subnetwork.
    pub(crate) fn reserve(&self, network: &mut Network) -> Vec<Vec<ElementId>> {
        let places =
            |plan: &SubnetworkPlan| (0..plan.own.elements()).map(|_| network.reserve()).collect();
        self.subnetworks.iter().map(places).collect()
    }

    /// The links of subnetwork `number`, by their numbers in the network, in its order.
    pub(crate) fn links_within(&self, number: usize) -> impl Iterator<Item = usize> {
        let inner = self.links.iter().map(|link| link.inner).enumerate();
        inner
            .filter(move |(_, inner)| inner.is_some_and(|inner| inner.subnetwork == number))
            .map(|(link, _)| link)
    }

    /// Make the elements of subnetwork `number` in their `places`, once all routes are laid.
    pub(crate) fn place_subnetwork(
        &self,
        (number, places): (usize, Vec<ElementId>),
        roads: &Roads<'_>,
        network: &mut Network,
        streams: &Streams,
    ) {
        let mut passed = Vec::new();
        for (route, links) in &*roads.laid.borrow() {
            let place = route.index();
            if passed.len() <= place {
                passed.resize(place + 1, Vec::new());
            }
            passed[place] = runs(number, links.iter().map(|link| self.links[*link].inner));
        }
        let links: Vec<LinkId> = self.links_within(number).map(|link| roads.links[link]).collect();
        let parts = SubnetworkParts { links: &links, passed: &passed, streams };
        let elements = self.subnetworks[number].own.wire(&parts);
        debug_assert_eq!(elements.len(), places.len(), "a subnetwork has its elements");
        for (place, element) in places.into_iter().zip(elements) {
            network.place(place, element);
        }
    }
}
