//! Links that fail and come back, and the routes that flows take meanwhile.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use forebay_kernel::Streams;
use forebay_mechanisms::element::link::{Capacity, DelaySchedule, RateSchedule};
use forebay_mechanisms::impairment::{OutageParameters, OutagePlan};
use forebay_parameters::{Parameters, Problem, Section, choice, parameters};
use forebay_units::{Rate, Span, Time};

use crate::links::LinkPlan;
use crate::topology::Topology;

parameters! {
    /// When a link fails and comes back, both directions of it, and how the network reacts.
    pub struct FailureParameters {
        ..times: OutageParameters;
        /// How long after each change routes follow it: of groups of TCP and UDP flows that name no
        /// `route` and have no policing, the packets sent from then on take the shortest path over
        /// the links that are up, or the one before if there is none. Those on their way stay on
        /// theirs.
        detection: Span = "0 s", "RFC 5880, section 6.8.4 (detection time)";
        /// What becomes of packets that wait at the link when it fails, or come to it while it is
        /// down.
        waiting: Waiting = "lost", "-";
    }
}

choice! {
    /// Packets that wait at a link that is down.
    pub enum Waiting {
        /// They are transmitted and lost on the wire, as is what reaches the far end then.
        Lost = "lost",
        /// They wait until it is up: the transmitter pauses, and what is on the wire arrives.
        Kept = "kept",
    }
}

/// How a link fails, and when, once that is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    plan: OutagePlan,
    /// Names the random stream.
    path: String,
    detection: Span,
    pub(crate) waiting: Waiting,
    /// When it is down: from a time until another.
    pub(crate) times: Vec<(Time, Time)>,
}

/// Outages that are expected at most: their routes are computed beforehand.
const MOST_OUTAGES: u64 = 10_000;

impl Failure {
    /// The failures of the link of `section`, if it has any.
    pub(crate) fn read(section: &Section<'_>) -> Result<Option<Self>, Problem> {
        let Some(own) = section.section("failure")? else { return Ok(None) };
        let FailureParameters { times, detection, waiting } = FailureParameters::read(&own)?;
        let plan = times.plan(&own)?;
        let path = own.path().to_owned();
        Ok(Some(Self { plan, path, detection, waiting, times: Vec::new() }))
    }

    /// Refuse more failures within `duration` than routes can be computed for.
    pub(crate) fn check(&self, duration: Span, section: &Section<'_>) -> Result<(), Problem> {
        let cycle = self.plan.mean_cycle();
        if cycle.is_none_or(|cycle| duration.ps() / cycle.ps().max(1) <= MOST_OUTAGES) {
            return Ok(());
        }
        let message = format!("fails too often: more than {MOST_OUTAGES} times are expected");
        Err(section.fail("failure", message))
    }

    /// Draw the outages until `end`.
    fn draw(&mut self, streams: &Streams, end: Time) {
        self.times = self.plan.clone().outages(end, &mut streams.named(&self.path));
    }

    /// A link of `rate` and `delay` that pauses while it is down.
    pub(crate) fn pauses(&self, rate: Rate, delay: Span) -> (Capacity, DelaySchedule) {
        let mut steps: Vec<(Span, Rate)> = vec![(Span::ZERO, rate)];
        for (from, until) in &self.times {
            for (at, rate) in [(*from, Rate::from_bps(0)), (*until, rate)] {
                let at = at.since(Time::ZERO);
                // It can fail at the instant at which it came back.
                if steps.last().is_some_and(|(last, _)| *last == at) {
                    steps.pop();
                }
                if at < Span::MAX {
                    steps.push((at, rate));
                }
            }
        }
        let delays = DelaySchedule::new(vec![(Span::ZERO, delay)], None);
        (Capacity::Rates(RateSchedule::new(&steps, None)), delays)
    }
}

/// Draw when the links of `plans` fail until `end`.
pub(crate) fn draw(plans: &mut [LinkPlan<'_>], streams: &Streams, end: Time) {
    for failure in plans.iter_mut().filter_map(|link| link.failure.as_mut()) {
        failure.draw(streams, end);
    }
}

/// The routes that the network has at each time, as far as failures decide them.
pub(crate) struct Rerouting {
    /// The names of both ends of each link.
    ends: Vec<(String, String)>,
    /// From when on: the links without the failed ones, and none for those before the first
    /// failure.
    topologies: Vec<(Time, usize)>,
    distinct: Vec<Topology>,
    /// Whether the routes laid now keep to their links.
    pub(crate) pinned: Cell<bool>,
}

impl Rerouting {
    /// Of a network of `plans`; `None` if no link fails.
    pub(crate) fn of(plans: &[LinkPlan<'_>]) -> Option<Self> {
        let mut changes: BTreeMap<Time, Vec<(usize, bool)>> = BTreeMap::new();
        for (number, link) in plans.iter().enumerate() {
            let Some(failure) = &link.failure else { continue };
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

    /// What packets take instead of `links`, and from when on, where that changes.
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
