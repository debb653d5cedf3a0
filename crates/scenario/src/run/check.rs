//! Checking a run: what the invariants need to know of a scenario, and when counters and probes are
//! compared with what was seen.

use std::collections::BTreeMap;

use forebay_elements::link::Capacity;
use forebay_elements::{Packets, Transit};
use forebay_invariants::{
    BucketPlace, BufferLimit, CallTotals, Changes, Checker, ElementPlace, FlowKind, FlowPlace,
    Invariant, LinkPlace, Offer, Places, Report, RingPlace, RoutePlace, Watch,
};
use forebay_network::record::{Column, RecordTable};
use forebay_network::{ElementId, Histogram, StateFact};
use forebay_parameters::{Length, Node, Parameter, Value};
use forebay_units::{Rate, Span, Time};

use crate::plan::flows::FlowPlan;
use crate::plan::links::Inner;
use crate::plan::{LaneEnds, Plan, Wired};
use crate::results::RunResult;
use crate::results::elements::visit_calls;
use crate::results::series::Series;

/// The parameters of a scenario by key path, as text.
type Resolved = BTreeMap<String, String>;

/// Number of times that counters and probes are looked at in a run, apart from its end.
const LOOKS: u64 = 16;

/// Invariants of any run, as JSON: group, name, sentence and source of each.
#[must_use]
pub fn invariants() -> String {
    let all = Invariant::ALL.iter().map(|it| {
        serde_json::json!({
            "group": it.group(),
            "name": it.name(),
            "sentence": it.sentence(),
            "source": it.source(),
        })
    });
    serde_json::Value::Array(all.collect()).to_string()
}

/// The checking of one run.
pub(crate) struct Checking {
    watch: Watch,
    next: Time,
    every: Span,
    warm_up: Time,
}

impl Checking {
    /// Have the network of `wired` watched.
    pub(crate) fn attach(plan: &Plan<'_>, wired: &mut Wired, resolved: &Resolved) -> Self {
        let watch = Watch::new(Checker::new(places(plan, wired, resolved)));
        let network = &mut wired.network;
        network.wrap_elements(&mut |id, element| watch.wrap(id, element));
        network.attach(watch.observer());
        let warm_up = Time::ZERO + plan.parameters.warm_up;
        let every = Span::from_ps((plan.parameters.duration.ps() / LOOKS).max(1));
        Self { watch, next: Time::ZERO + every, every, warm_up }
    }

    /// Series whose last sample is at the end of the run.
    pub(crate) fn series(&self, plan: &Plan<'_>, wired: &Wired) -> Option<Series> {
        let duration = plan.parameters.duration.ps();
        let parts =
            [LOOKS, 10, 8, 5, 4, 2, 1].into_iter().find(|parts| duration.is_multiple_of(*parts))?;
        Some(Series::new(Span::from_ps(duration / parts), plan, wired))
    }

    /// Time at which counters are looked at next.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// A measurement window opens at `now`.
    pub(crate) fn reset(&self, now: Time, wired: &mut Wired) {
        let counters = wired.network.counters();
        self.watch.checker().reset(now, counters);
    }

    /// All that is due by `now` has happened: compare counters and probes with what was seen.
    pub(crate) fn look(&mut self, now: Time, plan: &Plan<'_>, wired: &mut Wired) {
        while self.next <= now {
            self.next += self.every;
        }
        let network = &mut wired.network;
        let held = network.held();
        let counters = network.counters().clone();
        self.watch.checker().counters(now, &counters, held);
        for (number, elements) in wired.links.iter().enumerate() {
            let (mut probes, part) = (Vec::new(), plan.links[number].part);
            for element in elements {
                network.probes(*element, part, &mut |name, value| {
                    probes.push((name.to_owned(), value));
                });
            }
            let count = &counters.links[number];
            self.watch.checker().link_probes(now, number, &probes, count);
        }
        let mut first = 0;
        for (flow, sender) in plan.flows.iter().zip(&wired.senders) {
            let mut probes = Vec::new();
            network.probes(*sender, 0, &mut |name, value| probes.push((name.to_owned(), value)));
            self.watch.checker().flow_probes(now, first, &probes);
            first += flow.count as usize;
        }
        for id in ElementId::all(network.next_element().index()) {
            network.inspect(id, &mut |fact| {
                self.watch.checker().state(now, id.number(), &fact);
            });
        }
        self.look_at_calls(plan, wired);
    }

    /// Compare the counters of calls, whose rows are in the order of the results.
    fn look_at_calls(&self, plan: &Plan<'_>, wired: &mut Wired) {
        let firsts = firsts(&plan.flows);
        visit_calls(plan, wired, |at, own| {
            for (index, count) in own.iter().enumerate() {
                let totals = CallTotals {
                    admitted: count.admitted,
                    // A call of several flows is blocked once.
                    blocked: if index == 0 { count.blocked } else { 0 },
                    rerouted: count.rerouted,
                    refused: count.refused,
                    terminated: count.terminated,
                    ended: count.ended,
                    present: u64::from(count.present),
                };
                self.watch.checker().call_counters(firsts[at] + index, &totals);
            }
        });
    }

    /// Findings about the run that gave the first of `results`; the second is that of the same run,
    /// not observed. `delays` are those of each group in the first.
    pub(crate) fn report(
        self,
        results: (&RunResult, &RunResult),
        delays: &[(Histogram, Span)],
        series: Option<Series>,
    ) -> Report {
        let mut checker = self.watch.checker();
        let [watched, unwatched] = [results.0, results.1]
            .map(|result| serde_json::to_value(result).expect("a result is plain data with names"));
        checker.check_result(&watched);
        for (group, (delays, _)) in results.0.groups.iter().zip(delays) {
            let delivered = group.counted.delivered_packets;
            checker.check_histogram(&format!("groups.{}", group.name), delays.count(), delivered);
        }
        let tables = series.map_or_else(Vec::new, Series::tables);
        self.check_series(&mut checker, results.0, &tables);
        for (key, value) in unwatched.as_object().into_iter().flatten() {
            // In how many partitions it ran does not matter.
            if key != "regions" {
                let (seen, value) = (watched[key].to_string(), value.to_string());
                checker.check_unwatched(key, &seen, &value);
            }
        }
        checker.report().clone()
    }

    /// Series of links against their totals.
    fn check_series(&self, checker: &mut Checker, result: &RunResult, tables: &[RecordTable]) {
        for link in &result.links {
            let place = format!("series/links.{}", link.name);
            let Some(table) = tables.iter().find(|table| table.name == place) else { continue };
            let sum = |name: &str| {
                let time = floats(table, "time_s")?.iter();
                let rows = time.zip(floats(table, name)?);
                let own = rows.filter(|(time, _)| **time > self.warm_up.seconds());
                Some(own.map(|(_, value)| *value).sum::<f64>())
            };
            let arrived = link.arrived_packets.iter().sum::<u64>();
            let totals = [
                ("arrived_packets", arrived),
                ("drops", link.drops),
                ("marks", link.marks),
                ("threshold_marks", link.threshold_marks),
            ];
            for (name, total) in totals {
                if let Some(sum) = sum(name) {
                    checker.check_series(&place, name, sum, total as f64);
                }
            }
        }
    }
}

fn floats<'t>(table: &'t RecordTable, name: &str) -> Option<&'t [f64]> {
    match table.columns.iter().find(|(known, _)| known == name)? {
        (_, Column::Float(values)) => Some(values),
        _ => None,
    }
}

/// The first flow of each group.
fn firsts(flows: &[FlowPlan]) -> Vec<usize> {
    let counts = flows.iter().map(|flow| flow.count as usize);
    counts
        .scan(0, |next, count| {
            let first = *next;
            *next += count;
            Some(first)
        })
        .collect()
}

/// Facts about the network that the checker needs.
fn places(plan: &Plan<'_>, wired: &mut Wired, resolved: &Resolved) -> Places {
    let mut links = Vec::new();
    for number in 0..plan.links.len() {
        links.push(link_place(number, plan, wired, resolved));
    }
    for (flow, senders) in plan.flows.iter().zip(&wired.senders) {
        if let Some((_, link)) = flow.policer(*senders) {
            links[link].polices = true;
        }
    }
    let mut flows = Vec::new();
    for (flow, lanes) in plan.flows.iter().zip(&wired.lanes) {
        let end = |at: Option<&usize>, far: bool| {
            let link = at.map(|at| &plan.links[*at]);
            link.map_or(String::new(), |link| if far { &link.to } else { &link.from }.clone())
        };
        let (from, to) = (end(flow.there.first(), false), end(flow.there.last(), true));
        let first = flows.len();
        for LaneEnds { lane, .. } in
            lanes.iter().take(if flow.between.is_some() { lanes.len() } else { 1 })
        {
            let ends = flow.between.as_ref().zip(*lane).map(|(between, lane)| {
                [lane.from, lane.to].map(|number| between.nodes[number as usize].name.clone())
            });
            let [from, to] = ends.unwrap_or_else(|| [from.clone(), to.clone()]);
            let numbers = lane.map_or(0..flow.count, |lane| lane.first..lane.first + lane.count);
            for index in numbers {
                let (from, to, kind) = (from.clone(), to.clone(), flow_kind(flow, first));
                flows.push(FlowPlace { name: flow.flow_name(index), kind, from, to });
            }
        }
    }
    let laid = wired.routes.iter().map(|(route, links)| (route, RoutePlace::Over(links.clone())));
    let ruled = wired.ruled.iter().map(|(route, [from, to])| {
        let hops = plan.fabrics.all[from.fabric].way(from.host, to.host).len();
        let [from, to] = [from, to].map(|host| plan.fabrics.name_of(*host));
        (route, RoutePlace::Between { from, to, hops })
    });
    let mut routes = Vec::new();
    for (route, place) in laid.chain(ruled) {
        routes.resize(routes.len().max(route.index() + 1), None);
        routes[route.index()] = Some(place);
    }
    let elements = element_places(plan, wired);
    Places { links, flows, routes, elements, end: Time::ZERO + plan.parameters.duration }
}

fn element_places(plan: &Plan<'_>, wired: &Wired) -> Vec<ElementPlace> {
    let mut places = vec![ElementPlace::Host; wired.network.next_element().index()];
    for (flow, senders) in plan.flows.iter().zip(&wired.senders) {
        if let Some((policer, link)) = flow.policer(*senders) {
            places[policer.index()] = ElementPlace::Policer(link);
        }
    }
    for (number, own) in wired.links.iter().enumerate() {
        let (before, beyond) = own.split_at(plan.links[number].beyond);
        for element in before {
            match &mut places[element.index()] {
                ElementPlace::Links(links) => links.push(number),
                place => *place = ElementPlace::Links(vec![number]),
            }
        }
        let mut after = None;
        for at in beyond {
            let wire = ElementPlace::Wire { link: number, after };
            places[at.index()] = wire;
            after = Some(at.number());
        }
    }
    places
}

fn flow_kind(flow: &FlowPlan, first: usize) -> FlowKind {
    match (flow.facts.packets, flow.tcp()) {
        (Packets::Calls, _) => FlowKind::Calls { first },
        (Packets::Paced { floor }, _) => FlowKind::Paced { floor },
        (Packets::Segments, Some(tcp)) => {
            let mss = tcp.mss.bytes();
            FlowKind::Tcp { mss, overhead: tcp.largest_packet() - mss, probes: tcp.probes_tail() }
        }
        (Packets::Datagrams | Packets::Segments, _) => FlowKind::Datagrams,
    }
}

fn link_place(number: usize, plan: &Plan<'_>, wired: &mut Wired, resolved: &Resolved) -> LinkPlace {
    let link = &plan.links[number];
    let ring = link.inner.and_then(|Inner { subnetwork: ring, .. }| {
        let Transit { high, buffers } = plan.subnetworks[ring].own.transit()?;
        Some(RingPlace { ring, high, buffers })
    });
    let path = format!("{}.", link.path());
    let has = |key: &str| {
        let key = format!("{path}{key}");
        resolved.range(key.clone()..).next().is_some_and(|(path, _)| path.starts_with(&key))
    };
    let queue = format!("{path}queue.");
    let own = || resolved.range(queue.clone()..).take_while(|(key, _)| key.starts_with(&queue));
    let given = || own().filter(|(_, value)| *value != crate::plan::sections::ABSENT);
    let has_part = |name: &str| given().any(|(key, _)| key.split('.').any(|part| part == name));
    let mut buckets = Vec::new();
    if link.inner.is_none() && has("conditioner.") {
        for element in &wired.links[number] {
            wired.network.inspect(*element, &mut |fact| {
                if let StateFact::Bucket(bucket) = fact
                    && let Some((rate, paid)) = bucket.pays
                {
                    let depth = bucket.depth - bucket.least;
                    buckets.push(BucketPlace { rate, depth, paid });
                }
            });
        }
    }
    let end = Time::ZERO + plan.parameters.duration;
    let changes = link.changes().map(|changes| Changes {
        offer: changes.capacity.and_then(|capacity| offer(capacity, end)),
        delay: changes.delays.fixed(),
        least_delay: changes.delays.least(),
    });
    LinkPlace {
        changes,
        ends: (link.from.clone(), link.to.clone()),
        // A queue that shapes holds the packet that is next outside that which it took it from.
        limit: if link.inner.is_some() || link.holds_back {
            BufferLimit::default()
        } else {
            limit(&path, resolved)
        },
        may_idle: link.may_idle(),
        shares: link.port.is_some(),
        shapes: has("shaper.") || link.holds_back,
        polices: has("conditioner"),
        bleaches: resolved
            .range(format!("{path}conditioner")..)
            .take_while(|(key, _)| key.starts_with(&format!("{path}conditioner")))
            .any(|(key, _)| key.split('.').any(|part| part == "ecn_bleaching")),
        impaired: has("impairment") || link.failure.is_some(),
        reorders: given().any(|(key, value)| {
            let classify = |at| resolved.get(&format!("{at}.classify"));
            let by = key.strip_suffix(".perturb").and_then(classify);
            // Where flows collide, cake gives the queue to the newer one, as under Linux.
            let few = key.ends_with("cake.queues") && value.parse::<u32>().is_ok_and(|n| n < 1024);
            few || by.is_some_and(|by| by == "flow_hash")
        }),
        by_ecn: has_part("dualpi2") || has_part("ecn_classes") || has_part("rules"),
        ring,
        buckets,
        ..LinkPlace::plain(&link.name, Rate::from_bps(link.rate.bps()), link.delay)
    }
}

/// Entries of the list of what a link offers, at most.
const MAX_OFFERS: usize = 4_000_000;

/// Transmission capacity that a link of `capacity` offers until `end`; `None` if that is too much
/// to list.
fn offer(capacity: &Capacity, end: Time) -> Option<Offer> {
    Some(match capacity {
        Capacity::Rates(rates) => Offer::Rates(rates.list(end, MAX_OFFERS)?),
        Capacity::Opportunities(times) => Offer::Bits(times.list(end, MAX_OFFERS)?),
    })
}

/// The limit of the queue of the link at `path`: that of its classes together, if there are
/// several; none unless all have one in the same unit. A class that decides when packets leave
/// holds the one at its head outside its queue.
fn limit(path: &str, resolved: &Resolved) -> BufferLimit {
    let path = format!("{path}queue.");
    let queue = resolved.range(path.clone()..).take_while(|(key, _)| key.starts_with(&path));
    let limits: Vec<_> = queue.filter(|(key, _)| key.ends_with(".limit")).collect();
    let outside = |key: &&String| key.contains(".classes") && !key.ends_with(".droptail.limit");
    let heads = limits.iter().map(|(key, _)| *key).filter(outside).count() as u64;
    let limits = limits.into_iter();
    let lengths: Option<Vec<Length>> =
        limits.map(|(_, text)| Length::read(&Node::new(Value::Text(text.clone()))).ok()).collect();
    let (mut packets, mut bytes) = (None, None);
    for length in lengths.unwrap_or_default() {
        let sum = match length {
            Length::Packets(n) => (&mut packets, n),
            Length::Bytes(n) => (&mut bytes, n),
        };
        *sum.0 = Some(sum.0.unwrap_or(0_u64).saturating_add(sum.1));
    }
    let one_unit = packets.is_none() || bytes.is_none();
    packets = packets.map(|most| most.saturating_add(heads));
    if one_unit && (bytes.is_none() || heads == 0) {
        BufferLimit { packets, bytes }
    } else {
        BufferLimit::default()
    }
}
