//! Choice of the packet that is seen among several equal ones.

use crate::ledger::{Entry, Fit, Whereabouts};
use crate::places::{ElementPlace, Places};

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
    pub(crate) fn fit(&self, entry: &Entry, route: &[usize], places: &Places) -> Fit {
        let next = |links: &[usize]| route.get(entry.hops).is_some_and(|next| links.contains(next));
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
                let near = entry.is_beyond(*link, route) && entry.element != Some(*element);
                Fit::of(there, on_link || near)
            }
            Self::Beyond(link) => Fit::of(entry.is_beyond(*link, route), false),
            Self::Queue(link) => Fit::of(entry.at == Whereabouts::Link(*link), false),
            Self::End => Fit::of(entry.hops == route.len(), false),
        }
    }
}

/// Returns true if `element` is that of one of `links`.
fn is_of(element: Option<u32>, links: &[usize], places: &Places) -> bool {
    let place = element.and_then(|number| places.elements.get(number as usize));
    matches!(place, Some(ElementPlace::Links(own)) if own.iter().any(|link| links.contains(link)))
}
