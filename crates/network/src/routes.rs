//! Routes: which element comes after which.

/// Numbers with this bit name sinks.
pub(crate) const SINK: u32 = 1 << 31;

/// What follows an element on a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// The element, or a sink.
    pub(crate) to: u32,
    /// Whose inbox is told of packets for it ahead of their time, and by which feed; [`NO_FEED`] if
    /// none is.
    pub(crate) inbox: u32,
    pub(crate) feed: u32,
}

/// Where all that leaves some element goes: who is told of it ahead of its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Onward(pub(crate) Step);

/// A way from one inbox into another: all that comes by one feed goes there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane {
    pub(crate) receiver: u32,
    pub(crate) feed: u32,
}

/// Whoever follows is not told ahead of time.
pub(crate) const NO_FEED: u32 = u32::MAX;

/// Where an element leads, as one region sees it.
pub(crate) enum Lead {
    /// To what follows, in this region.
    Stays,
    /// Into another region: this inbox is told.
    Leaves(u32),
    /// It concerns other regions.
    Nowhere,
}

/// An entry of the table for a route that does not pass the element.
const NOT_HERE: Step = Step::to(u32::MAX);

impl Step {
    const fn to(to: u32) -> Self {
        Self { to, inbox: to, feed: NO_FEED }
    }
}

/// Which element comes next, by element and route: what a router's forwarding table is.
#[derive(Default)]
pub(crate) struct Routes {
    first: Vec<Step>,
    next: Vec<Vec<Step>>,
    /// By element and route: the route that leads back from there.
    back: Vec<Vec<Option<u32>>>,
}

impl Routes {
    /// Add the route that passes `elements`; its number.
    pub(crate) fn add(&mut self, elements: &[u32]) -> u32 {
        assert!(elements.len() > 1 || elements[0] & SINK == 0, "a route passes an element");
        let route = self.first.len();
        self.first.push(Step::to(*elements.first().expect("a route has a destination")));
        for pair in elements.windows(2) {
            let here = pair[0] as usize;
            if self.next.len() <= here {
                self.next.resize(here + 1, Vec::new());
            }
            let row = &mut self.next[here];
            if row.len() <= route {
                row.resize(route + 1, NOT_HERE);
            }
            assert_eq!(row[route], NOT_HERE, "a route passes an element once");
            row[route] = Step::to(pair[1]);
        }
        u32::try_from(route).expect("a network has fewer than 2^32 routes")
    }

    /// From `element`, `back` leads to where `route` comes from.
    pub(crate) fn add_back(&mut self, element: u32, route: u32, back: u32) {
        let (element, route) = (element as usize, route as usize);
        if self.back.len() <= element {
            self.back.resize(element + 1, Vec::new());
        }
        let row = &mut self.back[element];
        if row.len() <= route {
            row.resize(route + 1, None);
        }
        row[route] = Some(back);
    }

    /// The route that leads from `element` back to where `route` comes from, if one was laid.
    #[inline]
    pub(crate) fn back(&self, element: u32, route: u32) -> Option<u32> {
        *self.back.get(element as usize)?.get(route as usize)?
    }

    /// The routes that lead from `element` back to where others come from.
    pub(crate) fn backs(&self, element: u32) -> impl Iterator<Item = u32> {
        self.back.get(element as usize).into_iter().flatten().flatten().copied()
    }

    /// The first element of each route.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = u32> {
        self.first.iter().map(|step| step.to)
    }

    /// What comes first on a route.
    #[inline]
    pub(crate) fn first(&self, route: u32) -> Step {
        self.first[route as usize]
    }

    /// Have what comes first on `route` told in its own inbox, which only senders feed.
    pub(crate) fn lay_first_feed(&mut self, route: u32) {
        let first = &mut self.first[route as usize];
        (first.inbox, first.feed) = (first.to, 0);
    }

    #[inline]
    pub(crate) fn after(&self, element: u32, route: u32) -> Step {
        self.next[element as usize][route as usize]
    }

    /// Who is told ahead of time of all that leaves `element`, if that is one: what follows it on
    /// all routes that pass it, or the site of all that do.
    pub(crate) fn onward(&self, element: u32) -> Option<Onward> {
        let mut steps = self.steps(element);
        let first = steps.next().filter(|step| step.feed != NO_FEED)?;
        let same = |step: Step| (step.inbox, step.feed) == (first.inbox, first.feed);
        steps.all(same).then_some(Onward(first))
    }

    /// What follows `element` on the routes that pass it.
    pub(crate) fn following(&self, element: u32) -> impl Iterator<Item = u32> {
        self.steps(element).map(|step| step.to)
    }

    /// The same, with who is told of it.
    pub(crate) fn steps(&self, element: u32) -> impl Iterator<Item = Step> {
        let here = self.next.get(element as usize).into_iter().flatten();
        here.filter(|step| **step != NOT_HERE).copied()
    }

    /// Have whatever follows `element` told where `feed(next)` says: by which feed of what inbox.
    pub(crate) fn lay_feeds(&mut self, element: u32, feed: &dyn Fn(u32) -> Option<(u32, u32)>) {
        let here = self.next.get_mut(element as usize).into_iter().flatten();
        for step in here.filter(|step| **step != NOT_HERE) {
            if let Some((inbox, feed)) = feed(step.to) {
                (step.inbox, step.feed) = (inbox, feed);
            }
        }
    }

    /// The table of a region, given where each element leads to what follows it.
    pub(crate) fn within(&self, lead: &dyn Fn(u32, Step) -> Lead) -> Self {
        let row = |(element, row): (u32, &Vec<Step>)| {
            let lead = |step: &Step| match (*step != NOT_HERE).then(|| lead(element, *step)) {
                Some(Lead::Stays) => *step,
                Some(Lead::Leaves(door)) => Step { inbox: door, feed: 0, ..*step },
                Some(Lead::Nowhere) | None => NOT_HERE,
            };
            let row: Vec<Step> = row.iter().map(lead).collect();
            if row.iter().all(|step| *step == NOT_HERE) { Vec::new() } else { row }
        };
        let next = (0..).zip(&self.next).map(row).collect();
        Self { first: self.first.clone(), next, back: self.back.clone() }
    }
}
