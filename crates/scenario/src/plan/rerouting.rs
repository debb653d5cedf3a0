//! The routes that flows take while links are down.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use forebay_kernel::Streams;
use forebay_units::Time;

use crate::plan::links::LinkPlan;
use crate::plan::topology::Topology;

/// Draw when the links of `plans` fail until `end`.
pub(crate) fn draw_failures(plans: &mut [LinkPlan<'_>], streams: &Streams, end: Time) {
    for failure in plans.iter_mut().filter_map(|link| link.failure.as_mut()) {
        failure.draw(streams, end);
    }
}

/// The routes that the network has at each time, as far as failures decide them.
pub(crate) struct Rerouting {
    /// The names of both ends of each link.
    ends: Vec<(String, String)>,
    /// Changes, each with the time from which on it holds: the links without the failed ones, and
    /// none for those before the first failure.
    topologies: Vec<(Time, usize)>,
    distinct: Vec<Topology>,
    /// True if the routes laid now keep to their links.
    pub(crate) pinned: Cell<bool>,
}

impl Rerouting {
    /// Of a network of `plans`; `None` if no link fails.
    pub(crate) fn of(plans: &[LinkPlan<'_>]) -> Option<Self> {
        let mut changes: BTreeMap<Time, Vec<(usize, bool)>> = BTreeMap::new();
        for (number, link) in plans.iter().enumerate() {
            // The switches of a fabric find other ways by themselves.
            let Some(failure) = link.failure.as_ref().filter(|_| !link.in_fabric()) else {
                continue;
            };
            for (from, until) in &failure.times {
                for (at, fails) in [(*from, true), (*until, false)] {
                    let noticed = at + failure.detection;
                    if noticed < Time::NEVER {
                        changes.entry(noticed).or_default().push((number, fails));
                    }
                }
            }
        }
        if changes.is_empty() {
            return None;
        }
        let mut down: BTreeMap<usize, u32> = BTreeMap::new();
        let (mut known, mut distinct) = (BTreeMap::new(), Vec::new());
        let mut topologies = Vec::new();
        for (at, changes) in changes {
            for (link, fails) in changes {
                let count = down.entry(link).or_default();
                *count = if fails { *count + 1 } else { count.saturating_sub(1) };
            }
            let failed: BTreeSet<usize> =
                down.iter().filter(|(_, count)| **count > 0).map(|(link, _)| *link).collect();
            let place = *known.entry(failed).or_insert_with_key(|failed| {
                distinct.push(topology(plans, failed));
                distinct.len() - 1
            });
            topologies.push((at, place));
        }
        let ends = plans.iter().map(|link| (link.from.clone(), link.to.clone())).collect();
        Some(Self { ends, topologies, distinct, pinned: Cell::new(true) })
    }

    /// Paths that packets take instead of `links`, each with the time from which they do.
    pub(crate) fn detours(&self, links: &[usize]) -> Vec<(Time, Vec<usize>)> {
        let (Some(first), Some(last)) = (links.first(), links.last()) else { return Vec::new() };
        if self.pinned.get() {
            return Vec::new();
        }
        let (from, to) = (&self.ends[*first].0, &self.ends[*last].1);
        let paths: Vec<Option<Vec<usize>>> =
            self.distinct.iter().map(|topology| topology.shortest(from, to)).collect();
        let mut detours: Vec<(Time, Vec<usize>)> = Vec::new();
        for (at, place) in &self.topologies {
            let now = detours.last().map_or(links, |(_, path)| path.as_slice());
            if let Some(path) = paths[*place].as_ref().filter(|path| path.as_slice() != now) {
                detours.push((*at, path.clone()));
            }
        }
        detours
    }
}

/// The links of `plans` but for the `failed` ones.
fn topology(plans: &[LinkPlan<'_>], failed: &BTreeSet<usize>) -> Topology {
    let mut topology = Topology::default();
    for (number, link) in plans.iter().enumerate().filter(|(number, _)| !failed.contains(number)) {
        topology.add(&link.from, &link.to, number, link.delay.ps());
    }
    topology
}
