//! Choice of the packet that is seen among several equal ones.

use forebay_network::RouteId;

use crate::ledger::{Entry, Fit, Whereabouts};
use crate::places::{ElementPlace, Places, RoutePlace};

/// Destination of a packet when it is seen: tells equal packets apart.
pub(crate) enum Towards {
    /// One of these links is the next of its route.
    Links(Vec<usize>),
    /// It comes into this element, which does not hold it yet; one of these links is the next.
    Element(u32, Vec<usize>),
    /// It comes to this element, a part of the wire of this link, after that other part.
    Wire { element: u32, link: usize, after: Option<u32> },
    /// It has crossed this link, and has not come to another.
    Beyond(usize),
    /// It is queued at this link.
    Queue(usize),
    /// Its destination.
    End,
}

impl Towards {
    /// Returns the degree to which `entry`, on `route`, fits a fact about a packet on its way
    /// there.
    pub(crate) fn fit(&self, entry: &Entry, route: RouteId, places: &Places) -> Fit {
        let next = |links: &[usize]| links.iter().any(|link| is_next(route, entry, *link, places));
        let between = entry.at == Whereabouts::Between;
        match self {
            Self::Links(links) => {
                let there = between && is_of(entry.element, links, places);
                Fit::of(there && next(links), next(links))
            }
            Self::Element(element, links) => {
                let there = !(between && entry.element == Some(*element)) && next(links);
                Fit::of(there, there)
            }
            Self::Wire { element, link, after } => {
                let on_link = entry.at == Whereabouts::Link(*link);
                let there = if after.is_none() { on_link } else { entry.element == *after };
                let near = entry.is_beyond(*link) && entry.element != Some(*element);
                Fit::of(there, on_link || near)
            }
            Self::Beyond(link) => Fit::of(entry.is_beyond(*link), false),
            Self::Queue(link) => Fit::of(entry.at == Whereabouts::Link(*link), false),
            Self::End => Fit::of(is_through(route, entry, places), false),
        }
    }
}

/// Returns true if `element` is that of one of `links`.
fn is_of(element: Option<u32>, links: &[usize], places: &Places) -> bool {
    let place = element.and_then(|number| places.elements.get(number as usize));
    matches!(place, Some(ElementPlace::Links(own)) if own.iter().any(|link| links.contains(link)))
}

/// Returns true if `link` can be the next of `route` for a packet that is where `entry` says.
fn is_next(route: RouteId, entry: &Entry, link: usize, places: &Places) -> bool {
    match places.routes.get(route.index()).and_then(Option::as_ref) {
        Some(RoutePlace::Over(links)) => links.get(entry.hops) == Some(&link),
        Some(RoutePlace::Between { from, .. }) => {
            let at = entry.last_link.map_or(from, |last| &places.links[last].ends.1);
            places.links[link].ends.0 == *at
        }
        None => false,
    }
}

/// Returns true if a packet on `route` that is where `entry` says has passed all its links.
fn is_through(route: RouteId, entry: &Entry, places: &Places) -> bool {
    match places.routes.get(route.index()).and_then(Option::as_ref) {
        Some(RoutePlace::Over(links)) => entry.hops == links.len(),
        Some(RoutePlace::Between { to, .. }) => {
            entry.last_link.is_some_and(|last| places.links[last].ends.1 == *to)
        }
        None => entry.hops == 0,
    }
}
