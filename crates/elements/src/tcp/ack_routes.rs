//! Routes on which receivers answer.

use forebay_network::RouteId;

/// Routes of acknowledgements.
pub(in crate::tcp) enum AckRoutes {
    /// One for all receivers: their senders are one element.
    One(RouteId),
    /// One for each.
    Each(Box<[RouteId]>),
}

impl AckRoutes {
    /// That of receiver `index`.
    #[inline(always)]
    pub(in crate::tcp) fn of(&self, index: u32) -> RouteId {
        match self {
            Self::One(route) => *route,
            Self::Each(routes) => routes[index as usize],
        }
    }

    pub(in crate::tcp) fn all(&self) -> &[RouteId] {
        match self {
            Self::One(route) => std::slice::from_ref(route),
            Self::Each(routes) => routes,
        }
    }
}
