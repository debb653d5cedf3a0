//! Reading groups of flows and making their senders and receivers.

use std::any::Any;

use forebay_elements::calls::{CallsPlan, ClassPlan};
use forebay_elements::tcp::{TcpParameters, TcpPlan};
use forebay_elements::{
    End, Facts, FlowGroup, FlowReader, Hop, Lateness, ReadTransport, Transport, TransportKind,
    Transports, WayBack, Wiring,
};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_network::{Destination, Element, ElementId, FlowId, Marking, RouteId};
use forebay_parameters::{Entry, Parameters, Problem, Section};
use forebay_units::quantity::show_span;
use forebay_units::{Rate, Span, Time};

use crate::plan::LaneEnds;
use crate::plan::aggregates::find_aggregate;
use crate::plan::around::Around;
use crate::plan::between::Between;
use crate::plan::policing::{PolicingPlan, read_policing};
use crate::plan::roads::Roads;
use crate::plan::sections::{FLOW_MECHANISMS, FlowParameters, FlowRows};
use crate::plan::tags::check_tags;
use crate::plan::ways::{WayOfNotices, lateness, routes, way_of_cells, ways_of_notices};

/// A group of flows as the scenario describes it.
pub(crate) struct FlowPlan {
    pub(crate) name: String,
    pub(crate) count: u32,
    /// The names of the nodes of both ends.
    pub(crate) labels: [String; 2],
    /// The nodes of both ends, where there are several, or in a fabric.
    pub(crate) between: Option<Between>,
    /// Links there and back, by number; with several nodes, those of one of the longest ways.
    pub(crate) there: Vec<usize>,
    pub(crate) back: Vec<usize>,
    /// Largest packet that the group sends, in bytes.
    pub(crate) largest: u64,
    pub(crate) parameters: FlowParameters,
    pub(crate) path: String,
    /// The key of its transport.
    pub(crate) kind: &'static str,
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) facts: Facts,
    /// The aggregate that controls its calls.
    pub(crate) aggregate: Option<usize>,
    /// True if a conditioner on the way adapts to round-trip times, which TCP then reports.
    pub(crate) report_rtt: bool,
    pub(crate) policing: Option<PolicingPlan>,
    /// Ways on which notifications of congestion travel back.
    pub(crate) ways_back: Vec<WayOfNotices>,
    late: Option<Lateness>,
    pub(crate) tags: Vec<String>,
}

/// Message on a transport that has one node at each end, where there are several.
const ONE_NODE: &str = "goes with one node at each end that is no host of a fabric; between \
                        several lead tcp and udp";

/// Flows of a group that get a row each unless the scenario says otherwise.
const MAX_FLOW_ROWS: u32 = 10_000;

/// Read the section of one group of flows.
pub(crate) fn read_flow(
    name: &str,
    section: &Section<'_>,
    network: &Around<'_>,
) -> Result<FlowPlan, Problem> {
    let transports = section.registry().entries::<Transports>();
    let keys: Vec<&str> = transports.iter().map(|entry| entry.name).collect();
    let parameters =
        FlowParameters::read_among(section, &[keys.as_slice(), FLOW_MECHANISMS].concat())?;
    check_times(section, &parameters, network.duration)?;
    let tags = check_tags(section, parameters.tags.as_ref())?;
    check_numbers(section, &parameters)?;
    let entry = transport_of(section, transports)?;
    let between = Between::read(section, &parameters, network)?;
    let (there, back) = match &between {
        Some(between) => between.longest(network.fabrics),
        None => routes(section, &parameters, entry.build.two_way, network.topology)?,
    };
    let derived = between.as_ref().filter(|_| section.node("count").is_none());
    let count = match derived.filter(|_| parameters.load.is_none()) {
        Some(between) => between.count(section)?,
        None => parameters.count,
    };
    let own = section.section(entry.name)?.expect("the key is present");
    let read = entry.build.read;
    let ways = (there.as_slice(), back.as_slice());
    let transport = read_transport(read, (section, &own), count, ways, network)?;
    let facts = transport.facts();
    if between.is_some() && !facts.spreads {
        return Err(section.fail(entry.name, ONE_NODE));
    }
    let count = match parameters.load {
        Some(load) => count_of_load(section, load, &parameters, (&between, &facts), network)?,
        None => count,
    };
    if derived.is_some() {
        section.echo_derived("count", &count);
    }
    let policing = read_policing(section, facts.calls.is_some(), &there, network.links)?;
    let own = (entry.name, &own);
    let back = way_back(&facts, section, own, &parameters, (&there, back), network)?;
    let ways_back = if facts.notified {
        ways_of_notices(section, (&there, &back), parameters.route.is_some(), network)?
    } else {
        Vec::new()
    };
    let aggregate = aggregate_of(section, &parameters, &facts, network)?;
    let message = "this traffic has no packets of its own: only TCP can carry it";
    let largest = facts.largest.ok_or_else(|| section.fail("traffic", message))?;
    if facts.calls.is_some() && parameters.late_after.is_some() {
        let message = "calls come and go: no flow has a fastest packet";
        return Err(section.fail("late_after", message));
    }
    let late = parameters.late_after;
    let late = late.map(|after| lateness(after, facts.least, &there, network.links));
    Ok(FlowPlan {
        name: name.to_owned(),
        count: facts.calls.map_or(count, |calls| calls.flows),
        labels: [parameters.from.label(), parameters.to.label()],
        between,
        there,
        back,
        largest,
        path: section.path().to_owned(),
        parameters,
        kind: entry.name,
        transport,
        facts,
        aggregate,
        report_rtt: false,
        policing,
        ways_back,
        late,
        tags,
    })
}

/// Refuse a number of flows or a precedence that is out of range.
fn check_numbers(section: &Section<'_>, parameters: &FlowParameters) -> Result<(), Problem> {
    if parameters.count == 0 {
        return Err(section.fail("count", "is zero; a group has at least one flow"));
    }
    if parameters.precedence > 63 {
        let message = format!("{} is too large; allowed are 0 to 63", parameters.precedence);
        return Err(section.fail("precedence", message));
    }
    Ok(())
}

/// Number of flows whose bytes are `load` of what twice the bisection of their fabric carries while
/// flows start.
fn count_of_load(
    section: &Section<'_>,
    load: f64,
    parameters: &FlowParameters,
    (between, facts): (&Option<Between>, &Facts),
    network: &Around<'_>,
) -> Result<u32, Problem> {
    let fail = |message: &str| Err(section.fail("load", message));
    if section.node("count").is_some() {
        return fail("there is a count already; use one of the two keys");
    }
    if !(load > 0.0 && load <= MAX_LOAD) {
        return fail("is out of range; allowed are numbers above 0, up to 10");
    }
    let fabric = between.as_ref().and_then(|between| between.nodes[0].host);
    let Some(fabric) = fabric.map(|host| &network.fabrics.all[host.fabric]) else {
        return fail("goes with flows between the hosts of a fabric");
    };
    let Some(bytes) = facts.in_all else {
        return fail("goes with flows that come to an end, such as traffic = { file = { ... } }");
    };
    let span = parameters.start.most() - parameters.start.least();
    if span == Span::ZERO {
        return fail("goes with random starts, such as start = { uniform = [\"0 s\", \"20 ms\"] }");
    }
    let flows = load * 2.0 * fabric.shape.bisection() * span.seconds() / (8.0 * bytes);
    if !(0.5..f64::from(u32::MAX)).contains(&flows) {
        let message = format!("makes {flows:.1} flows; allowed are loads of 1 flow and more");
        return fail(&message);
    }
    Ok(flows.round() as u32)
}

/// The highest load on a fabric.
const MAX_LOAD: f64 = 10.0;

/// The transport whose key `section` has.
fn transport_of<'t>(
    section: &Section<'_>,
    transports: &'t [Entry<TransportKind>],
) -> Result<&'t Entry<TransportKind>, Problem> {
    let mut given = transports.iter().filter(|entry| section.node(entry.name).is_some());
    match (given.next(), given.next()) {
        (Some(only), None) => Ok(only),
        (Some(one), Some(other)) => {
            let message = format!("a flow has either {} or {}, not both", one.name, other.name);
            Err(section.fail(other.name, message))
        }
        (None, _) => {
            let names: Vec<String> =
                transports.iter().map(|entry| format!("{} = {{}}", entry.name)).collect();
            let (last, others) = names.split_last().expect("there are transports");
            let message = format!("needs a transport: {} or {last}", others.join(", "));
            Err(section.fail("", message))
        }
    }
}

fn read_transport(
    read: &ReadTransport,
    (section, own): (&Section<'_>, &Section<'_>),
    count: u32,
    (there, back): (&[usize], &[usize]),
    network: &Around<'_>,
) -> Result<Box<dyn Transport>, Problem> {
    let hop = |link: &usize| {
        let link = &network.links[*link];
        Hop { rate: link.rate, delay: link.delay }
    };
    let [there, back] = [there, back].map(|links| links.iter().map(hop).collect::<Vec<_>>());
    read(&FlowReader {
        flow: section,
        own,
        count,
        duration: network.duration,
        there: &there,
        back: &back,
    })
}

/// The aggregate that the section names, if any.
fn aggregate_of(
    section: &Section<'_>,
    parameters: &FlowParameters,
    facts: &Facts,
    network: &Around<'_>,
) -> Result<Option<usize>, Problem> {
    let Some(name) = &parameters.aggregate else { return Ok(None) };
    if facts.calls.is_none() {
        return Err(section.fail("aggregate", "only calls can belong to an aggregate"));
    }
    find_aggregate(name, network.aggregates, section).map(Some)
}

/// The way back of what receivers answer; `back` unless they need another.
fn way_back(
    facts: &Facts,
    section: &Section<'_>,
    (name, own): (&str, &Section<'_>),
    parameters: &FlowParameters,
    (there, back): (&[usize], Vec<usize>),
    network: &Around<'_>,
) -> Result<Vec<usize>, Problem> {
    let (back, key) = match facts.way_back {
        WayBack::None => return Ok(back),
        WayBack::Any(key) => (back, key),
        WayBack::SameNodes(key) => (way_of_cells((section, name), there, network)?, key),
    };
    if back.is_empty() {
        let FlowParameters { from, to, .. } = parameters;
        let message = format!(
            "receivers answer their sources, but no links lead from \"{to}\" back to \"{from}\""
        );
        return Err(own.fail(key, message));
    }
    Ok(back)
}

fn check_times(
    section: &Section<'_>,
    parameters: &FlowParameters,
    duration: Span,
) -> Result<(), Problem> {
    let start = parameters.start.least();
    if start >= duration {
        let message =
            format!("{} is not before the end at {}", show_span(start), show_span(duration));
        return Err(section.fail("start", message));
    }
    match parameters.stop {
        Some(stop) if stop <= start => {
            let message =
                format!("{} is not after the start at {}", show_span(stop), show_span(start));
            Err(section.fail("stop", message))
        }
        _ => Ok(()),
    }
}

impl FlowPlan {
    /// The name of flow `index` of the group.
    pub(crate) fn flow_name(&self, index: u32) -> String {
        if self.count == 1 { self.name.clone() } else { format!("{}[{index}]", self.name) }
    }

    /// The links of all ways that its packets can take, there and back, but those by rule.
    pub(crate) fn ways(&self) -> impl Iterator<Item = &Vec<usize>> {
        let others = self.between.iter().flat_map(Between::listed);
        [&self.there, &self.back].into_iter().chain(others)
    }

    /// Number of ways side by side that its flows take.
    pub(crate) fn abreast(&self) -> f64 {
        self.between.as_ref().map_or(1.0, Between::abreast)
    }

    /// The mean rate of one flow, where it does not depend on the network.
    pub(crate) fn mean_rate(&self) -> Option<Rate> {
        self.facts.mean_rate
    }

    /// Interval in which its flows may send, in a run of `duration`.
    pub(crate) fn times(&self, duration: Span) -> (Span, Span) {
        let stop = self.parameters.stop.map_or(duration, |stop| stop.min(duration));
        (self.parameters.start.least(), stop)
    }

    /// Returns true if each of its flows has a row in results, given `rows` of the scenario.
    pub(crate) fn has_rows(&self, rows: Option<FlowRows>) -> bool {
        match rows {
            // The flows of a call have their counters apart from what is known of calls.
            _ if self.has_calls() => true,
            None => self.count <= MAX_FLOW_ROWS,
            Some(rows) => rows == FlowRows::Each,
        }
    }

    /// Its TCP parameters, if it has any.
    pub(crate) fn tcp(&self) -> Option<&TcpParameters> {
        let transport: &dyn Any = self.transport.as_ref();
        transport.downcast_ref::<TcpPlan>().map(|tcp| &tcp.parameters)
    }

    /// Returns true if its receivers are an element.
    pub(crate) fn has_receivers(&self) -> bool {
        self.facts.end == End::Receivers
    }

    /// The receivers' element of a group of flows that has one, given the senders'.
    pub(crate) fn receivers(senders: ElementId) -> ElementId {
        ElementId::new(senders.index() + 1)
    }

    /// Returns true if its late packets are counted.
    pub(crate) fn counts_late(&self) -> bool {
        self.late.is_some()
    }

    /// Its policer given the senders' element, and the link in front of which it stands.
    pub(crate) fn policer(&self, senders: ElementId) -> Option<(ElementId, usize)> {
        let policing = self.policing.as_ref()?;
        let ends = if self.has_receivers() { 2 } else { 1 };
        Some((ElementId::new(senders.index() + ends), self.there[policing.place]))
    }

    /// Returns true if it consists of calls.
    pub(crate) fn has_calls(&self) -> bool {
        self.facts.calls.is_some()
    }

    /// Returns true if its packets leave links that fail: not if it must pass certain nodes or a
    /// policer, nor if notifications find their way back from certain links.
    pub(crate) fn is_rerouted(&self) -> bool {
        self.parameters.route.is_none() && self.policing.is_none() && self.facts.rerouted
    }

    /// Make senders and receivers, given the first of the flows and the roads. The elements of each
    /// lane.
    pub(crate) fn wire(
        &self,
        first: FlowId,
        roads: &Roads<'_>,
        network: &mut Network,
        streams: &Streams,
    ) -> Vec<LaneEnds> {
        if let Some(late) = &self.late {
            network.meter_deliveries(first, self.count, late);
        }
        match &self.between {
            None => vec![self.wire_pair(first, roads, network, streams)],
            Some(between) => self.wire_lanes((between, first), roads, network, streams),
        }
    }

    /// The same for a group with one node at each end.
    fn wire_pair(
        &self,
        first: FlowId,
        roads: &Roads<'_>,
        network: &mut Network,
        streams: &Streams,
    ) -> LaneEnds {
        let senders = network.next_element();
        let end: Destination = match self.facts.end {
            End::Sink { header } => network.add_sink(header.bytes()).into(),
            End::Receivers => Self::receivers(senders).into(),
            End::Senders => senders.into(),
        };
        let data = roads.lay_past(&self.there, self.policer(senders), end, network);
        for (link, back) in &self.ways_back {
            let back = roads.lay(back, senders.into(), network);
            let port = roads.elements[*link].last().expect("a link has an element");
            network.add_reverse_route(*port, data, back);
        }
        let group = self.group((first, 0, self.count), data, streams);
        let (there, back) = (&self.there, &self.back);
        let ways = Ways { there, back, kind: self.facts.way_back, data, senders };
        let asks_rtt = self.report_rtt;
        self.transport.wire(group, &mut Place { ways, roads, network, streams, asks_rtt });
        if let (Some(policing), Some((_, link))) = (&self.policing, self.policer(senders)) {
            policing.wire(first, self.count, roads.links[link], network);
        }
        let receivers = self.has_receivers().then(|| Self::receivers(senders));
        LaneEnds { senders, receivers, lane: None }
    }

    /// The class of calls that this group is, for the aggregate that the next element will be.
    pub(crate) fn class(
        &self,
        first: FlowId,
        roads: &Roads<'_>,
        network: &mut Network,
        streams: &Streams,
    ) -> ClassPlan {
        let aggregate = network.next_element();
        let route = roads.lay(&self.there, aggregate.into(), network);
        let group = self.group((first, 0, self.count), route, streams);
        let transport: &dyn Any = self.transport.as_ref();
        let calls = transport.downcast_ref::<CallsPlan>();
        calls.expect("only calls belong to an aggregate").class(group)
    }

    /// The flows from number `from` of the group on, `count` of them; `first` is the first of them.
    pub(crate) fn group(
        &self,
        (first, from, count): (FlowId, u32, u32),
        route: RouteId,
        streams: &Streams,
    ) -> FlowGroup {
        let name = format!("{}.start", self.path);
        let start = |index: u32| {
            let draw = || streams.numbered(&name, u64::from(index)).uniform();
            Time::ZERO + self.parameters.start.draw(draw)
        };
        FlowGroup {
            path: self.path.clone(),
            first,
            starts: (from..from + count).map(start).collect(),
            stop: self.parameters.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
            route,
            marking: Marking {
                precedence: u8::try_from(self.parameters.precedence).expect("checked when read"),
                dscp: self.parameters.dscp.unwrap_or_default().0,
            },
        }
    }
}

/// The ways of a group of flows.
struct Ways<'w> {
    there: &'w [usize],
    back: &'w [usize],
    kind: WayBack,
    /// The route of its packets.
    data: RouteId,
    senders: ElementId,
}

/// The network at the place of a group of flows.
struct Place<'w> {
    ways: Ways<'w>,
    roads: &'w Roads<'w>,
    network: &'w mut Network,
    streams: &'w Streams,
    asks_rtt: bool,
}

impl Wiring for Place<'_> {
    fn add(&mut self, element: Box<dyn Element>) {
        self.network.add(element);
    }

    fn way_back(&mut self) -> RouteId {
        let Ways { there, back, kind, data, senders } = self.ways;
        let (roads, end) = (self.roads, Destination::from(senders));
        match kind {
            WayBack::SameNodes(_) => roads.lay_back(there, back, data, end, self.network),
            WayBack::Any(_) | WayBack::None => roads.lay(back, end, self.network),
        }
    }

    fn asks_rtt(&self) -> bool {
        self.asks_rtt
    }

    fn streams(&self) -> &Streams {
        self.streams
    }
}
