//! From the tree of a scenario to a wired network.

use std::collections::BTreeSet;

use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::LinkFacts;
use forebay_network::{DelayTable, ElementId, FlowId, LinkId};
use forebay_parameters::{Echo, Node, Parameters, Problem, Registry, Section, did_you_mean};
use forebay_units::quantity::show_span;
use forebay_units::{Rate, Span, Time};

use crate::capture::check_captures;
use crate::plan::aggregates::{AggregatePlan, read_aggregate};
use crate::plan::around::Around;
use crate::plan::flows::{FlowPlan, read_flow};
use crate::plan::hosts::{HostNodes, HostTags, check_groups, groups_of};
use crate::plan::links::{LinkPlan, read_link};
use crate::plan::rerouting::{Rerouting, draw_failures};
use crate::plan::rings::{RingPlan, leg, read_ring};
use crate::plan::roads::Roads;
use crate::plan::sections::{RecordParameters, SCENARIO_SECTIONS, ScenarioParameters};
use crate::plan::topology::Topology;
use crate::plan::unlimited::warn_of_unlimited_queues;
use crate::plan::{Plan, Wired};
use crate::read::names::{AGGREGATES, FLOWS, LINKS, check_names, check_unique};
use crate::results::series::single_flows;
use crate::ties::TieOrder;

/// The clock reaches 213 days; what is due after the end of a run must lie within it too.
const MAX_DURATION: Span = Span::from_s(100 * 24 * 3600);

/// Flows that one network can hold: their numbers are 32 bits, their state is memory.
const MAX_FLOWS: u64 = 100_000_000;

impl<'a> Plan<'a> {
    /// Read the whole scenario; every value read is echoed into `echo`.
    pub(crate) fn read(
        root: &'a Node,
        echo: &'a Echo,
        registry: &'a Registry,
    ) -> Result<Self, Problem> {
        let root = Section::root(root, echo)?.with_registry(registry);
        let parameters = ScenarioParameters::read_among(&root, SCENARIO_SECTIONS)?;
        check_times(&root, &parameters)?;
        let record = match root.section("record")? {
            Some(section) => read_record(&section)?,
            None => RecordParameters::read(&Section::empty("record".to_owned(), echo))?,
        };
        let facts = facts_of_links(&root, &record);
        let mut links = Vec::new();
        let mut topology = Topology::default();
        let rings = root.section("rings")?;
        if let Some(section) = section_of_links(&root, rings.is_some())? {
            check_names(&section)?;
            for name in section.keys() {
                let inner = section.section(name)?.expect("the key is present");
                for plan in read_link(name, &inner, &facts)? {
                    plan.check_failures(parameters.duration, rings.is_some(), &inner)?;
                    join(&mut topology, &mut links, plan).map_err(|m| inner.fail("to", m))?;
                }
            }
        }
        let rings =
            rings.map_or(Ok(Vec::new()), |rings| read_rings(&rings, &mut topology, &mut links))?;
        let aggregates = read_aggregates(&root)?;
        let around = Around {
            topology: &topology,
            links: &links,
            aggregates: &aggregates,
            duration: parameters.duration,
        };
        let flows = read_flows(&root, &around, &rings)?;
        let host_tags = HostTags::read(&root, &flows)?;
        facts.flows.place(flows.iter().map(|flow| flow.count));
        check_bursts(&links, &flows)?;
        warn_of_unlimited_queues(&links, &flows);
        let names_of_links = links.iter().map(|link| link.name.as_str()).collect();
        let groups: Vec<_> = flows.iter().map(|flow| (flow.name.as_str(), flow.count)).collect();
        check_unique(&root, names_of_links, &groups)?;
        let nodes = topology.nodes().len();
        let plan = Self {
            parameters,
            record,
            links,
            rings,
            aggregates,
            flows,
            groups: facts.flows,
            host_tags,
            nodes,
        };
        if let Some(section) = root.section("record")? {
            check_series(&section, &plan)?;
            check_captures(&section, &plan)?;
        }
        Ok(plan)
    }

    /// Wire the network of one replication: the network, the elements of each link, and the
    /// senders' element of each group of flows. Elements are numbered as `order` has it.
    pub(crate) fn wire(&mut self, streams: &Streams, order: &mut TieOrder) -> Wired {
        let mut network = Network::new();
        draw_failures(&mut self.links, streams, Time::ZERO + self.parameters.duration);
        let rings: Vec<ElementId> = self.rings.iter().map(|_| network.reserve()).collect();
        let links: Vec<LinkId> = self.links.iter().map(|_| network.add_link()).collect();
        let mut elements = vec![Vec::new(); links.len()];
        for at in order.of(links.len()) {
            let link = &mut self.links[at];
            elements[at] = match link.span {
                Some(span) => vec![rings[span.ring]],
                None => link.wire(links[at], &mut network, streams),
            };
        }
        let placed = self.links.iter().zip(&elements);
        let allocator = |(link, elements): (&LinkPlan<'_>, &Vec<ElementId>)| {
            if link.allocates { elements.first().copied() } else { None }
        };
        let allocators = placed.map(allocator).collect();
        let rerouting = Rerouting::of(&self.links);
        let roads = Roads { links, elements, allocators, rerouting, ..Roads::default() };
        let firsts: Vec<FlowId> =
            self.flows.iter().map(|flow| network.add_flows(flow.count)).collect();
        let together = |flow: &FlowPlan| (flow.count, !flow.has_rows(self.record.flows));
        network.count_delays(DelayTable::new(&self.flows.iter().map(together).collect::<Vec<_>>()));
        // Filled in below: each group has senders.
        let mut senders = vec![network.next_element(); self.flows.len()];
        for at in order.of(self.flows.len()) {
            let flow = &mut self.flows[at];
            if let Some(rerouting) = &roads.rerouting {
                rerouting.pinned.set(!flow.is_rerouted());
            }
            if flow.aggregate.is_none() {
                senders[at] = flow.wire(firsts[at], &roads, &mut network, streams);
            }
        }
        let members = self.members();
        for (aggregate, members) in self.aggregates.iter_mut().zip(members) {
            let element = network.next_element();
            let mut classes = Vec::new();
            if let Some(rerouting) = &roads.rerouting {
                rerouting.pinned.set(true);
            }
            for at in members {
                senders[at] = element;
                classes.push(self.flows[at].class(firsts[at], &roads, &mut network, streams));
            }
            aggregate.wire(classes, &mut network, streams);
        }
        debug_assert!(self.rings.is_empty() || roads.rerouting.is_none(), "refused when read");
        for (number, element) in rings.into_iter().enumerate() {
            self.place_ring((number, element), &roads, &mut network, streams);
        }
        let routes = roads.laid.into_inner();
        Wired { network, links: roads.elements, senders, routes }
    }

    /// Make the element of ring `number`, for whose place the routes are laid.
    fn place_ring(
        &self,
        (number, element): (usize, ElementId),
        roads: &Roads,
        network: &mut Network,
        streams: &Streams,
    ) {
        let mut legs = Vec::new();
        for (route, links) in &*roads.laid.borrow() {
            let spans: Vec<_> = links.iter().map(|link| self.links[*link].span).collect();
            let place = route.index();
            if legs.len() <= place {
                legs.resize(place + 1, None);
            }
            legs[place] = leg(number, &spans).expect("ways were checked when they were read");
        }
        let spans = self.links.iter().zip(&roads.links);
        let links: Vec<LinkId> = spans
            .filter(|(link, _)| link.span.is_some_and(|span| span.ring == number))
            .map(|(_, id)| *id)
            .collect();
        network.place(element, Box::new(self.rings[number].element(&links, legs, streams)));
    }
}

/// The groups of flows of the scenario whose root is `root`.
fn read_flows(
    root: &Section<'_>,
    around: &Around<'_>,
    rings: &[RingPlan],
) -> Result<Vec<FlowPlan>, Problem> {
    let mut flows: Vec<FlowPlan> = Vec::new();
    let section = required(root, "flows")?;
    check_names(&section)?;
    let (mut members, mut hosts) = (Members::of(around.aggregates), HostNodes::default());
    let mut count = 0;
    for name in section.keys() {
        let inner = section.section(name)?.expect("the key is present");
        let mut plan = read_flow(name, &inner, around)?;
        plan.report_rtt = plan.there.iter().any(|number| around.links[*number].uses_rtt);
        members.add(&plan, &flows, &inner)?;
        hosts.add(&plan, around.topology, &inner)?;
        check_rings(&plan, rings, around.links, &inner)?;
        count += u64::from(plan.count);
        flows.push(plan);
        if count > MAX_FLOWS {
            let message = format!("a scenario has at most {MAX_FLOWS} flows in all");
            return Err(inner.fail("count", message));
        }
    }
    members.check(root)?;
    check_groups(&flows, &section)?;
    Ok(flows)
}

/// The section of links, which there must be unless there are rings.
fn section_of_links<'a>(
    root: &Section<'a>,
    has_rings: bool,
) -> Result<Option<Section<'a>>, Problem> {
    if has_rings { root.section("links") } else { required(root, "links").map(Some) }
}

/// Facts that the laws of all links may use, besides the rate of each.
fn facts_of_links(root: &Section<'_>, record: &RecordParameters) -> LinkFacts {
    let [flows, hosts] = ["flows", "hosts"].map(|key| root.section(key).ok().flatten());
    let flows = groups_of(flows.as_ref(), hosts.as_ref());
    LinkFacts { flows, counts_classes: record.classes, ..LinkFacts::of(Rate::from_bps(0)) }
}

/// Add a link between two nodes that are not joined yet.
pub(crate) fn join<'a>(
    topology: &mut Topology,
    links: &mut Vec<LinkPlan<'a>>,
    plan: LinkPlan<'a>,
) -> Result<(), String> {
    let delay = plan.delay.ps();
    if let Some(other) = topology.add(&plan.from, &plan.to, links.len(), delay) {
        let other = &links[other].name;
        return Err(format!(
            "a link from \"{}\" to \"{}\" exists already: {other}",
            plan.from, plan.to
        ));
    }
    links.push(plan);
    Ok(())
}

/// The rings, whose spans join the links.
pub(crate) fn read_rings<'a>(
    rings: &Section<'a>,
    topology: &mut Topology,
    links: &mut Vec<LinkPlan<'a>>,
) -> Result<Vec<RingPlan>, Problem> {
    check_names(rings)?;
    let mut read = Vec::new();
    for name in rings.keys() {
        let section = rings.section(name)?.expect("the key is present");
        let ring = read_ring(name, &section)?;
        for span in ring.spans(read.len()) {
            let only = !ring.doubles(span.span);
            let plan = LinkPlan::of_span(span, &ring, &section);
            if only {
                join(topology, links, plan).map_err(|message| section.fail("stations", message))?;
            } else {
                links.push(plan);
            }
        }
        read.push(ring);
    }
    Ok(read)
}

/// Packets pass a ring once, on one ringlet, and fit into its buffers.
fn check_rings(
    plan: &FlowPlan,
    rings: &[RingPlan],
    links: &[LinkPlan<'_>],
    section: &Section<'_>,
) -> Result<(), Problem> {
    if rings.is_empty() {
        return Ok(());
    }
    for way in [&plan.there, &plan.back] {
        let spans: Vec<_> = way.iter().map(|link| links[*link].span).collect();
        for (number, ring) in rings.iter().enumerate() {
            let passes = leg(number, &spans)
                .map_err(|wrong| section.fail("route", format!("{wrong}: rings.{}", ring.name)))?;
            if passes.is_some() && plan.largest > ring.largest() {
                let message = format!(
                    "packets of {} B are larger than rings.{} takes ({} B)",
                    plan.largest,
                    ring.name,
                    ring.largest()
                );
                return Err(section.fail("", message));
            }
        }
    }
    Ok(())
}

fn required<'a>(root: &Section<'a>, key: &str) -> Result<Section<'a>, Problem> {
    let section = root.section(key)?;
    section
        .filter(|section| section.keys().next().is_some())
        .ok_or_else(|| root.fail(key, format!("is missing; a scenario has at least one of {key}")))
}

fn read_aggregates(root: &Section<'_>) -> Result<Vec<AggregatePlan>, Problem> {
    let Some(section) = root.section("aggregates")? else {
        return Ok(Vec::new());
    };
    check_names(&section)?;
    section
        .keys()
        .map(|name| {
            let inner = section.section(name)?.expect("the key is present");
            read_aggregate(name, &inner)
        })
        .collect()
}

/// The first group of flows of each aggregate, by number: an aggregate is one pair of edge nodes,
/// so its flows take one way.
struct Members<'p> {
    aggregates: &'p [AggregatePlan],
    first: Vec<Option<usize>>,
}

impl<'p> Members<'p> {
    fn of(aggregates: &'p [AggregatePlan]) -> Self {
        Self { aggregates, first: vec![None; aggregates.len()] }
    }

    /// Add `plan`, which comes after the `earlier` ones.
    fn add(
        &mut self,
        plan: &FlowPlan,
        earlier: &[FlowPlan],
        section: &Section<'_>,
    ) -> Result<(), Problem> {
        let Some(number) = plan.aggregate else { return Ok(()) };
        let first = *self.first[number].get_or_insert(earlier.len());
        match earlier.get(first).filter(|other| other.there != plan.there) {
            None => Ok(()),
            Some(other) => {
                let message = format!(
                    "flows.{} of aggregate \"{}\" takes another way; an aggregate has one ingress \
                     node, one egress node and one way between them",
                    other.name, self.aggregates[number].name
                );
                Err(section.fail("aggregate", message))
            }
        }
    }

    /// Refuse an aggregate without flows.
    fn check(&self, root: &Section<'_>) -> Result<(), Problem> {
        match self.aggregates.iter().zip(&self.first).find(|(_, first)| first.is_none()) {
            None => Ok(()),
            Some((aggregate, _)) => {
                let section = root.section("aggregates")?.expect("it was read");
                let message = "is empty: no flows name it as their aggregate";
                Err(section.fail(&aggregate.name, message))
            }
        }
    }
}

fn check_times(root: &Section<'_>, parameters: &ScenarioParameters) -> Result<(), Problem> {
    let ScenarioParameters { duration, warm_up, .. } = parameters;
    if *duration == Span::ZERO {
        return Err(root.fail("duration", "is zero; a run needs time"));
    }
    if *duration > MAX_DURATION {
        let message = format!(
            "{} is too long; allowed are up to {}",
            show_span(*duration),
            show_span(MAX_DURATION)
        );
        return Err(root.fail("duration", message));
    }
    if warm_up >= duration {
        let message = format!(
            "{} leaves nothing to measure of a duration of {}",
            show_span(*warm_up),
            show_span(*duration)
        );
        return Err(root.fail("warm_up", message));
    }
    Ok(())
}

fn read_record(section: &Section<'_>) -> Result<RecordParameters, Problem> {
    let record = RecordParameters::read(section)?;
    if record.series == Some(Span::ZERO) {
        return Err(section.fail("series", "is zero; an interval is needed"));
    }
    Ok(record)
}

/// A meter whose committed burst is smaller than a packet can never colour that packet green:
/// refuse it, as it cannot be meant.
fn check_bursts(links: &[LinkPlan<'_>], flows: &[FlowPlan]) -> Result<(), Problem> {
    for flow in flows {
        for number in &flow.there {
            if let Some((burst, problem)) = &links[*number].burst
                && *burst < flow.largest
            {
                let message = format!(
                    "a committed burst of {burst} B is smaller than the packets of flows.{} \
                     ({} B), which could never conform",
                    flow.name, flow.largest
                );
                return Err(Problem { message, ..problem.clone() });
            }
        }
    }
    Ok(())
}

/// Refuse to sample what is not there.
fn check_series(section: &Section<'_>, plan: &Plan<'_>) -> Result<(), Problem> {
    let Some(wanted) = &plan.record.series_of else { return Ok(()) };
    let names = plan
        .links
        .iter()
        .map(|link| (LINKS, &link.name))
        .chain(plan.flows.iter().map(|flow| (FLOWS, &flow.name)))
        .chain(plan.aggregates.iter().map(|aggregate| (AGGREGATES, &aggregate.name)));
    let mut known: Vec<String> = names.map(|(kind, name)| format!("{kind}.{name}")).collect();
    known.extend([LINKS, FLOWS, AGGREGATES].map(str::to_owned));
    let every: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    let is_flow = |entry: &String| {
        let entry = std::slice::from_ref(entry);
        plan.flows.iter().any(|flow| !single_flows(Some(entry), flow).is_empty())
    };
    for entry in wanted {
        if !every.contains(entry.as_str()) && !is_flow(entry) {
            let hint = did_you_mean(entry, known.iter().map(String::as_str));
            let message = format!(
                "\"{entry}\" is not in this scenario{hint}; allowed are links, flows, aggregates, \
                 one of them by its name, such as \"{}\", and a flow of a group, such as \
                 \"flows.NAME[0]\"",
                known[0]
            );
            return Err(section.fail("series_of", message));
        }
    }
    Ok(())
}
