//! Laying routes over the elements of links.

use std::cell::RefCell;
use std::collections::BTreeMap;

use forebay_elements::Hop;
use forebay_engine::Network;
use forebay_network::{Destination, ElementId, LinkId, RouteId};
use forebay_units::Time;

use crate::plan::between::Way;
use crate::plan::fabrics::{FabricHost, Fabrics, WiredFabric};
use crate::plan::links::LinkPlan;
use crate::plan::rerouting::Rerouting;

/// The elements of links, and the routes laid over them.
pub(crate) struct Roads<'p> {
    pub(crate) plans: &'p [LinkPlan<'p>],
    pub(crate) fabrics: &'p Fabrics,
    /// The fabrics in the network.
    pub(crate) by_rule: Vec<WiredFabric>,
    /// The links, in the order of the scenario.
    pub(crate) links: Vec<LinkId>,
    /// The elements of each link.
    pub(crate) elements: Vec<Vec<ElementId>>,
    /// The element of each link that gives explicit rates, if one does.
    pub(crate) allocators: Vec<Option<ElementId>>,
    /// Changes of routes by failures, if there are any.
    pub(crate) rerouting: Option<Rerouting>,
    /// The links of each route that goes by no rule.
    pub(crate) laid: RefCell<Vec<(RouteId, Vec<usize>)>>,
    /// The ends of each route that goes by rule.
    pub(crate) ruled: RefCell<Vec<(RouteId, [FabricHost; 2])>>,
}

impl Roads<'_> {
    /// Lay the route over `links` to `end`.
    pub(crate) fn lay(&self, links: &[usize], end: Destination, network: &mut Network) -> RouteId {
        self.lay_past(links, None, end, network)
    }

    /// Lay the route on `way` to `end`.
    pub(crate) fn lay_way(&self, way: Way<'_>, end: Destination, network: &mut Network) -> RouteId {
        match way {
            Way::Links(links) => self.lay(links, end, network),
            Way::Rule { fabric, from, to } => {
                let route = self.by_rule[fabric].lay(from, to, end, network);
                self.ruled
                    .borrow_mut()
                    .push((route, [from, to].map(|host| FabricHost { fabric, host })));
                route
            }
        }
    }

    /// Rate and delay of each of these links.
    pub(crate) fn hops(&self, links: &[usize]) -> Vec<Hop> {
        let hop =
            |link: &usize| Hop { rate: self.plans[*link].rate, delay: self.plans[*link].delay };
        links.iter().map(hop).collect()
    }

    /// The same, past an element in front of one of the links.
    pub(crate) fn lay_past(
        &self,
        links: &[usize],
        element: Option<(ElementId, usize)>,
        end: Destination,
        network: &mut Network,
    ) -> RouteId {
        let mut passed = Vec::new();
        for link in links {
            passed.extend(element.filter(|(_, at)| at == link).map(|(element, _)| element));
            passed.extend(&self.elements[*link]);
        }
        self.lay_over(links, passed, end, network)
    }

    /// Lay the route over `back` to `end` on which cells carry rates to the source that sends on
    /// route `data` over `there`, the same nodes: past what gives rates at each of these links,
    /// which the cells reach at its near end.
    pub(crate) fn lay_back(
        &self,
        there: &[usize],
        back: &[usize],
        data: RouteId,
        end: Destination,
        network: &mut Network,
    ) -> RouteId {
        let mut passed = Vec::new();
        for (link, port) in back.iter().zip(there.iter().rev()) {
            passed.extend(&self.elements[*link]);
            passed.extend(self.allocators[*port]);
        }
        let route = self.lay_over(back, passed, end, network);
        for allocator in there.iter().filter_map(|port| self.allocators[*port]) {
            network.add_reverse_route(allocator, data, route);
            network.add_reverse_route(allocator, route, data);
        }
        route
    }

    /// Lay the route past elements of `links` to `end`.
    fn lay_over(
        &self,
        links: &[usize],
        mut passed: Vec<ElementId>,
        end: Destination,
        network: &mut Network,
    ) -> RouteId {
        // The spans of a ring are one element.
        passed.dedup();
        let route = network.add_route(&passed, end);
        self.laid.borrow_mut().push((route, links.to_vec()));
        if let Some(rerouting) = &self.rerouting {
            self.lay_detours((route, links), &rerouting.detours(links), end, network);
        }
        route
    }

    /// Lay what packets of `route`, over `links`, take from the time of each of `detours` on.
    fn lay_detours(
        &self,
        (route, links): (RouteId, &[usize]),
        detours: &[(Time, Vec<usize>)],
        end: Destination,
        network: &mut Network,
    ) {
        let mut known = BTreeMap::from([(links.to_vec(), route)]);
        let mut routes = Vec::new();
        for (at, links) in detours {
            let route = *known.entry(links.clone()).or_insert_with(|| {
                let passed: Vec<ElementId> =
                    links.iter().flat_map(|link| self.elements[*link].clone()).collect();
                let route = network.add_route(&passed, end);
                self.laid.borrow_mut().push((route, links.clone()));
                route
            });
            routes.push((*at, route));
        }
        if !routes.is_empty() {
            network.add_detours(route, routes);
        }
    }
}
