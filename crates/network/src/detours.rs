//! Routes that change at known times: what replaces a route from when on.

use forebay_units::Time;

use crate::RouteId;

/// Routes that replace each route, each from a time on, in order.
#[derive(Default)]
pub struct Detours {
    by_route: Vec<Vec<(Time, RouteId)>>,
}

impl Detours {
    /// Replaces `route`, for what is sent on it, by each of `routes` from its time on.
    pub fn add(&mut self, route: RouteId, routes: Vec<(Time, RouteId)>) {
        debug_assert!(routes.windows(2).all(|pair| pair[0].0 <= pair[1].0), "detours in order");
        if self.by_route.len() <= route.index() {
            self.by_route.resize(route.index() + 1, Vec::new());
        }
        self.by_route[route.index()] = routes;
    }

    /// The route that what is sent on `route` at `now` takes.
    #[must_use]
    pub fn current(&self, route: RouteId, now: Time) -> RouteId {
        let Some(routes) = self.by_route.get(route.index()) else { return route };
        let passed = routes.partition_point(|(from, _)| *from <= now);
        passed.checked_sub(1).map_or(route, |last| routes[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A route is replaced from the time of a detour on, until the time of the next; other routes
    /// stay.
    #[test]
    fn a_route_is_replaced_from_a_time_on() {
        let [own, other, detour] = [0, 1, 2].map(RouteId::new);
        let mut detours = Detours::default();
        detours.add(other, vec![(Time::from_ps(5), detour), (Time::from_ps(9), other)]);
        let taken = [4, 5, 8, 9].map(|now| detours.current(other, Time::from_ps(now)));
        assert_eq!(taken, [other, detour, detour, other]);
        for route in [own, detour] {
            assert_eq!(detours.current(route, Time::from_ps(6)), route);
        }
    }
}
