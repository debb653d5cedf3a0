//! From the tree of a scenario to a wired network.

use std::cell::RefCell;
use std::collections::BTreeSet;

use forebay_elements::subnetwork_keys;
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::{FlowGroups, LinkFacts};
use forebay_network::{DelayTable, FlowId, LinkId};
use forebay_parameters::{Echo, Node, Parameters, Problem, Registry, Section, did_you_mean};
use forebay_units::quantity::show_span;
use forebay_units::{Rate, Span, Time};

use crate::capture::check_captures;
use crate::plan::aggregates::{AggregatePlan, read_aggregate};
use crate::plan::around::Around;
use crate::plan::fabrics::{FABRICS, FabricPlan, Fabrics};
use crate::plan::flows::{FlowPlan, read_flow};
use crate::plan::hosts::{HostNodes, HostTags, check_groups, groups_of};
use crate::plan::links::{LinkPlan, join, read_link};
use crate::plan::rerouting::{Rerouting, draw_failures};
use crate::plan::roads::Roads;
use crate::plan::sections::{RecordParameters, SCENARIO_SECTIONS, ScenarioParameters};
use crate::plan::subnetworks::{SubnetworkPlan, check_ways, kinds_in, read_subnetworks};
use crate::plan::switches::{Memory, SwitchPlan, read_switches, share_of};
use crate::plan::topology::Topology;
use crate::plan::unlimited::warn_of_unlimited_queues;
use crate::plan::{LaneEnds, Plan, Wired};
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
        echo: Option<&'a Echo>,
        registry: &'a Registry,
    ) -> Result<Self, Problem> {
        let root = Section::root(root, echo)?.with_registry(registry);
        let keys = [&[LINKS], subnetwork_keys(registry).as_slice(), SCENARIO_SECTIONS].concat();
        let parameters = ScenarioParameters::read_among(&root, &keys)?;
        check_times(&root, &parameters)?;
        let record = match root.section("record")? {
            Some(section) => read_record(&section)?,
            None => RecordParameters::read(&Section::empty("record".to_owned(), echo))?,
        };
        let facts = facts_of_links(&root, &record);
        let mut links = Vec::new();
        let mut topology = Topology::default();
        let kind = kinds_in(&root).next().map(|entry| entry.name);
        let others = kind.is_some() || root.node(FABRICS).is_some();
        if let Some(section) = section_of_links(&root, others)? {
            check_names(&section)?;
            for name in section.keys() {
                let inner = section.section(name)?.expect("the key is present");
                for plan in read_link(name, &inner, &facts)? {
                    plan.check_failures(parameters.duration, kind, &inner)?;
                    join(&mut topology, &mut links, plan).map_err(|m| inner.fail("to", m))?;
                }
            }
        }
        let subnetworks = read_subnetworks(&root, &mut topology, &mut links)?;
        let (fabrics, switches) = Fabrics::read(&root, &mut topology, &mut links, &facts)?;
        let mut failing =
            links.iter().filter(|link| link.in_fabric()).filter_map(|link| link.failure.as_ref());
        failing.try_for_each(|failure| failure.check(parameters.duration, &root))?;
        let switches = read_switches(&root, &topology, &mut links, switches)?;
        let aggregates = read_aggregates(&root)?;
        let around = Around {
            fabrics: &fabrics,
            topology: &topology,
            links: &links,
            aggregates: &aggregates,
            duration: parameters.duration,
        };
        let flows = read_flows(&root, &around, &subnetworks)?;
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
            subnetworks,
            fabrics,
            switches,
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

    /// Read anew what a run takes from a plan: its laws, which keep state.
    pub(crate) fn renew(&mut self) -> Result<(), Problem> {
        let facts = link_facts(self.groups.clone(), &self.record);
        self.links.iter_mut().try_for_each(|link| link.renew(&facts))?;
        self.aggregates.iter_mut().try_for_each(AggregatePlan::renew)
    }

    /// Wire the network of one replication: the network, the elements of each link, and the
    /// senders' element of each group of flows. Elements are numbered as `order` has it.
    pub(crate) fn wire(&mut self, streams: &Streams, order: &mut TieOrder) -> Wired {
        let mut network = Network::new();
        draw_failures(&mut self.links, streams, Time::ZERO + self.parameters.duration);
        let places = self.reserve(&mut network);
        let links: Vec<LinkId> = self.links.iter().map(|_| network.add_link()).collect();
        let allocates: Vec<bool> = self.links.iter().map(LinkPlan::allocates).collect();
        let memories: Vec<Memory> = self.switches.iter().map(SwitchPlan::make).collect();
        let mut elements = vec![Vec::new(); links.len()];
        for at in order.of(links.len()) {
            let link = &mut self.links[at];
            elements[at] = match link.inner {
                Some(inner) => vec![inner.element(&places)],
                None => link.wire(links[at], share_of(link, &memories), &mut network, streams),
            };
        }
        let allocators = allocates.iter().zip(&elements);
        let allocators = allocators
            .map(|(allocates, elements)| elements.first().copied().filter(|_| *allocates))
            .collect();
        let fabric = |plan: &FabricPlan| plan.wire(&elements, &self.links, &mut network, streams);
        let by_rule = self.fabrics.all.iter().map(fabric).collect();
        let rerouting = Rerouting::of(&self.links);
        let (plans, fabrics) = (&*self.links, &self.fabrics);
        let (laid, ruled) = (RefCell::default(), RefCell::default());
        let roads =
            Roads { plans, fabrics, by_rule, links, elements, allocators, rerouting, laid, ruled };
        let firsts: Vec<FlowId> =
            self.flows.iter().map(|flow| network.add_flows(flow.count)).collect();
        let together = |flow: &FlowPlan| (flow.count, !flow.has_rows(self.record.flows));
        network.count_delays(DelayTable::new(&self.flows.iter().map(together).collect::<Vec<_>>()));
        let mut lanes = vec![Vec::new(); self.flows.len()];
        for at in order.of(self.flows.len()) {
            let flow = &self.flows[at];
            if let Some(rerouting) = &roads.rerouting {
                rerouting.pinned.set(!flow.is_rerouted());
            }
            if flow.aggregate.is_none() {
                lanes[at] = flow.wire(firsts[at], &roads, &mut network, streams);
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
                lanes[at] = vec![LaneEnds { senders: element, receivers: None, lane: None }];
                classes.push(self.flows[at].class(firsts[at], &roads, &mut network, streams));
            }
            aggregate.wire(classes, &mut network, streams);
        }
        debug_assert!(places.is_empty() || roads.rerouting.is_none(), "refused when read");
        for place in places.into_iter().enumerate() {
            self.place_subnetwork(place, &roads, &mut network, streams);
        }
        let Roads { laid, ruled, elements: links, .. } = roads;
        let senders = lanes.iter().map(|lanes| lanes[0].senders).collect();
        let (routes, ruled) = (laid.into_inner(), ruled.into_inner());
        Wired { network, links, senders, lanes, memories, routes, ruled }
    }
}

/// The groups of flows of the scenario whose root is `root`.
fn read_flows(
    root: &Section<'_>,
    around: &Around<'_>,
    subnetworks: &[SubnetworkPlan],
) -> Result<Vec<FlowPlan>, Problem> {
    let mut flows: Vec<FlowPlan> = Vec::new();
    let section = required(root, "flows")?;
    check_names(&section)?;
    let (mut members, mut hosts) = (Members::of(around.aggregates), HostNodes::default());
    let mut count = 0;
    for name in section.keys() {
        let inner = section.section(name)?.expect("the key is present");
        let mut plan = read_flow(name, &inner, around)?;
        plan.report_rtt = plan.there.iter().any(|number| around.links[*number].uses_rtt());
        members.add(&plan, &flows, &inner)?;
        hosts.add(&plan, around.topology, &inner)?;
        check_ways(&plan, subnetworks, around.links, &inner)?;
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

/// The section of links, which there must be unless there are subnetworks.
fn section_of_links<'a>(
    root: &Section<'a>,
    has_others: bool,
) -> Result<Option<Section<'a>>, Problem> {
    if has_others { root.section(LINKS) } else { required(root, LINKS).map(Some) }
}

/// Facts that the laws of all links may use, besides the rate of each.
fn facts_of_links(root: &Section<'_>, record: &RecordParameters) -> LinkFacts {
    let [flows, hosts] = ["flows", "hosts"].map(|key| root.section(key).ok().flatten());
    link_facts(groups_of(flows.as_ref(), hosts.as_ref()), record)
}

fn link_facts(flows: FlowGroups, record: &RecordParameters) -> LinkFacts {
    LinkFacts { flows, counts_classes: record.classes, ..LinkFacts::of(Rate::from_bps(0)) }
}

fn required<'a>(root: &Section<'a>, key: &str) -> Result<Section<'a>, Problem> {
    let section = root.section(key)?;
    section
        .filter(|section| section.keys().next().is_some())
        .ok_or_else(|| root.fail(key, format!("is missing; a scenario has at least one of {key}")))
}

fn read_aggregates<'a>(root: &Section<'a>) -> Result<Vec<AggregatePlan<'a>>, Problem> {
    let Some(section) = root.section("aggregates")? else {
        return Ok(Vec::new());
    };
    check_names(&section)?;
    section
        .keys()
        .map(|name| {
            let inner = section.section(name)?.expect("the key is present");
            read_aggregate(name, inner)
        })
        .collect()
}

/// The first group of flows of each aggregate, by number: an aggregate is one pair of edge nodes,
/// so its flows take one way.
struct Members<'p> {
    aggregates: &'p [AggregatePlan<'p>],
    first: Vec<Option<usize>>,
}

impl<'p> Members<'p> {
    fn of(aggregates: &'p [AggregatePlan<'p>]) -> Self {
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
    if record.synchronization == Some(Span::ZERO) {
        return Err(section.fail("synchronization", "is zero; a loss event lasts for a time"));
    }
    Ok(record)
}

/// A meter whose committed burst is smaller than a packet can never colour that packet green:
/// refuse it, as it cannot be meant.
fn check_bursts(links: &[LinkPlan<'_>], flows: &[FlowPlan]) -> Result<(), Problem> {
    for flow in flows {
        for number in &flow.there {
            if let Some((burst, problem)) = links[*number].burst()
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
