//! Reading groups of flows and making their senders and receivers.

use std::sync::Arc;

use forebay_elements::FlowGroup;
use forebay_elements::Lateness;
use forebay_elements::calls::ClassPlan;
use forebay_elements::paced::ReceiverPlace;
use forebay_elements::tcp::{Paths, TcpParameters};
use forebay_elements::udp::{self, UdpParameters};
use forebay_engine::Network;
use forebay_kernel::Streams;
use forebay_laws::control::{ControlFactory, Controls};
use forebay_laws::traffic::{self, BuildTraffic, TrafficKind, Traffics};
use forebay_parameters::{Entry, Parameters, Problem, Section, choose, choose_or};
use forebay_units::quantity::show_span;
use forebay_units::{Rate, Size, Span, Time};

use crate::around::Around;
use crate::calls::{CallsPlan, Place, find_aggregate, read_calls};
use crate::media::{MediaPlan, read_media};
use crate::paced::{
    PacedPlan, PolicingPlan, WayBack, lateness, read_paced, read_policing, way_of_cells, ways_back,
};
use crate::roads::Roads;
use crate::sections::{FLOW_MECHANISMS, FlowParameters, FlowRows, names_of};
use crate::tcp::{TcpEnds, check_clients, empty_paths};
use crate::topology::Topology;
use forebay_network::{Destination, ElementId, FlowId, Marking, RouteId};

/// A group of flows as the scenario describes it.
pub(crate) struct FlowPlan {
    pub(crate) name: String,
    pub(crate) count: u32,
    /// Links there and back, by number.
    pub(crate) there: Vec<usize>,
    pub(crate) back: Vec<usize>,
    /// Largest packet that the group sends, in bytes.
    pub(crate) largest: u64,
    pub(crate) parameters: FlowParameters,
    pub(crate) path: String,
    pub(crate) transport: Transport,
    /// The aggregate that controls its calls.
    pub(crate) aggregate: Option<usize>,
    /// True if a conditioner on the way adapts to round-trip times, which TCP then reports.
    pub(crate) report_rtt: bool,
    pub(crate) policing: Option<PolicingPlan>,
    /// Ways on which notifications of congestion travel back.
    pub(crate) ways_back: Vec<WayBack>,
    late: Option<Lateness>,
    /// The ways when they are empty, if the flows are transfers.
    empty: Option<Paths>,
}

/// Transport of a group of flows.
pub(crate) enum Transport {
    Tcp(Box<TcpParameters>, Arc<ControlFactory>, TrafficKind),
    Udp(UdpParameters, TrafficKind),
    Calls(Box<CallsPlan>),
    Paced(Box<PacedPlan>),
    Media(Box<MediaPlan>),
}

/// Flows of a group that get a row each unless the scenario says otherwise.
const MAX_FLOW_ROWS: u32 = 10_000;

/// Read the section of one group of flows.
pub(crate) fn read_flow(
    name: &str,
    section: &Section<'_>,
    network: &Around<'_>,
) -> Result<FlowPlan, Problem> {
    let parameters = FlowParameters::read_among(section, FLOW_MECHANISMS)?;
    check_times(section, &parameters, network.duration)?;
    if parameters.count == 0 {
        return Err(section.fail("count", "is zero; a group has at least one flow"));
    }
    if parameters.precedence > 63 {
        let message = format!("{} is too large; allowed are 0 to 63", parameters.precedence);
        return Err(section.fail("precedence", message));
    }
    let (there, back) = routes(section, &parameters, network.topology)?;
    let transport = read_transport(section, (&there, &back), network)?;
    let policing = read_policing(section, &there, network.links)?;
    let (back, ways_back) = match &transport {
        Transport::Paced(paced) => {
            read_ways_back(section, &parameters, paced, (&there, back), network)?
        }
        _ => (back, Vec::new()),
    };
    let aggregate = aggregate_of(section, &parameters, &transport, network)?;
    let count = match &transport {
        Transport::Calls(_) if parameters.count != 1 => {
            let message = "calls come and go: give calls.initial, calls.rate or calls.surges";
            return Err(section.fail("count", message));
        }
        Transport::Calls(calls) => u32::try_from(calls.media()).expect("a list fits"),
        _ => parameters.count,
    };
    let largest = largest_packet(section, &transport)?;
    let least = match &transport {
        Transport::Paced(paced) => paced.parameters.size,
        Transport::Calls(_) if parameters.late_after.is_some() => {
            return Err(
                section.fail("late_after", "calls come and go: no flow has a fastest packet")
            );
        }
        _ => Size::from_bytes(1),
    };
    let late = parameters.late_after.map(|after| lateness(after, least, &there, network.links));
    let empty = read_empty(section, parameters.count, &transport, (&there, &back), network)?;
    let (name, path) = (name.to_owned(), section.path().to_owned());
    Ok(FlowPlan {
        name,
        count,
        there,
        back,
        largest,
        parameters,
        path,
        transport,
        aggregate,
        report_rtt: false,
        policing,
        ways_back,
        late,
        empty,
    })
}

/// The aggregate that the section names, if any.
fn aggregate_of(
    section: &Section<'_>,
    parameters: &FlowParameters,
    transport: &Transport,
    network: &Around<'_>,
) -> Result<Option<usize>, Problem> {
    let Some(name) = &parameters.aggregate else { return Ok(None) };
    if !matches!(transport, Transport::Calls(_)) {
        return Err(section.fail("aggregate", "only calls can belong to an aggregate"));
    }
    find_aggregate(name, network.aggregates, section).map(Some)
}

/// The ways `there` and `back` when they are empty, if the flows are transfers.
fn read_empty(
    section: &Section<'_>,
    count: u32,
    transport: &Transport,
    ways: (&[usize], &[usize]),
    network: &Around<'_>,
) -> Result<Option<Paths>, Problem> {
    let Transport::Tcp(tcp, _, traffic) = transport else { return Ok(None) };
    check_clients(section, count, traffic)?;
    Ok(empty_paths(tcp, traffic, ways, network.links))
}

/// The way back of what receivers answer, and those of what ports signal.
fn read_ways_back(
    section: &Section<'_>,
    parameters: &FlowParameters,
    paced: &PacedPlan,
    (there, back): (&[usize], Vec<usize>),
    network: &Around<'_>,
) -> Result<(Vec<usize>, Vec<WayBack>), Problem> {
    let back = if paced.is_explicit() { way_of_cells(section, there, network)? } else { back };
    if let Some(key) = paced.answers().filter(|_| back.is_empty()) {
        let FlowParameters { from, to, .. } = parameters;
        let paced = section.section("paced")?.expect("it was read");
        let message = format!(
            "receivers answer their sources, but no links lead from \"{to}\" back to \"{from}\""
        );
        return Err(paced.fail(key, message));
    }
    let ways = ways_back(section, (there, &back), parameters.route.is_some(), network)?;
    Ok((back, ways))
}

fn largest_packet(section: &Section<'_>, transport: &Transport) -> Result<u64, Problem> {
    let largest = match transport {
        Transport::Tcp(tcp, ..) => Some(tcp.largest_packet()),
        Transport::Udp(_, traffic) => traffic.largest.map(|size| size.bytes()),
        Transport::Calls(calls) => calls.largest(),
        Transport::Paced(paced) => Some(paced.parameters.size.bytes()),
        Transport::Media(media) => Some(media.largest()),
    };
    let message = "this traffic has no packets of its own: only TCP can carry it";
    largest.ok_or_else(|| section.fail("traffic", message))
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

/// The links there and back.
fn routes(
    section: &Section<'_>,
    parameters: &FlowParameters,
    topology: &Topology,
) -> Result<(Vec<usize>, Vec<usize>), Problem> {
    let FlowParameters { from, to, route, .. } = parameters;
    topology.require(from).map_err(|message| section.fail("from", message))?;
    topology.require(to).map_err(|message| section.fail("to", message))?;
    if from == to {
        let message = format!("\"{to}\" is also the sender's node; a flow joins two nodes");
        return Err(section.fail("to", message));
    }
    let one_way = section.node("tcp").is_none();
    let unreachable = |from: &str, to: &str| {
        let message = format!("no links lead from \"{from}\" to \"{to}\"");
        section.fail("to", message)
    };
    if let Some(nodes) = route {
        let fail = |message: String| section.fail("route", message);
        if nodes.first() != Some(from) || nodes.last() != Some(to) {
            return Err(fail(format!("the route must begin at \"{from}\" and end at \"{to}\"")));
        }
        let there = topology.along(nodes).map_err(fail)?;
        let back: Vec<String> = nodes.iter().rev().cloned().collect();
        let back = match topology.along(&back) {
            Ok(links) => links,
            Err(_) if one_way => Vec::new(),
            Err(message) => return Err(fail(message)),
        };
        return Ok((there, back));
    }
    let there = topology.shortest(from, to).ok_or_else(|| unreachable(from, to))?;
    let back = match topology.shortest(to, from) {
        Some(links) => links,
        // Datagrams need no way back.
        None if one_way => Vec::new(),
        None => return Err(unreachable(to, from)),
    };
    Ok((there, back))
}

fn read_transport(
    section: &Section<'_>,
    (there, back): (&[usize], &[usize]),
    network: &Around<'_>,
) -> Result<Transport, Problem> {
    let keys = ["tcp", "udp", "calls", "paced", "media"];
    let given = keys.map(|key| section.node(key).is_some().then_some(key));
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (None, _) => {
            let message =
                "needs a transport: tcp = {}, udp = {}, media = {}, calls = {} or paced = {}";
            Err(section.fail("", message))
        }
        (Some(one), Some(other)) => {
            Err(section.fail(other, format!("a flow has either {one} or {other}, not both")))
        }
        (Some("calls"), None) => {
            let calls = section.section("calls")?.expect("the key is present");
            Ok(Transport::Calls(Box::new(read_calls(section, &calls, network.duration)?)))
        }
        (Some("media"), None) => {
            Ok(Transport::Media(Box::new(read_media(section, back.is_empty())?)))
        }
        (Some("paced"), None) => {
            if let Some(key) = ["traffic", "linked"].iter().find(|key| section.node(key).is_some())
            {
                let message = "paced sources have an activity instead: paced.activity";
                return Err(section.fail(key, message));
            }
            let paced = section.section("paced")?.expect("the key is present");
            Ok(Transport::Paced(Box::new(read_paced(&paced, there, network.links)?)))
        }
        (Some(key), None) => {
            if section.node("linked").is_some() {
                return Err(section.fail("linked", "only calls have linked flows; use traffic"));
            }
            let inner = section.section(key)?.expect("the key is present");
            if key == "udp" {
                let parameters = UdpParameters::read(&inner)?;
                let traffic = read_traffic(section, None)?;
                check_header(&inner, parameters.header, &traffic)?;
                return Ok(Transport::Udp(parameters, traffic));
            }
            let parameters = TcpParameters::from_section(&inner)?;
            let (entry, chosen) =
                choose_or::<Controls>(&inner, "control", parameters.default_control())?;
            let control = parameters.build_control(entry, &chosen)?;
            let needs = control().needs();
            if needs.exact_marks && !parameters.ecn {
                let message = format!("is false: without marks {} is Reno", entry.name);
                inner.warn("ecn", message);
            }
            let parameters = parameters.for_control(needs);
            let traffic = read_traffic(section, Some(traffic::DEFAULT))?;
            Ok(Transport::Tcp(Box::new(parameters), Arc::new(control), traffic))
        }
    }
}

/// Datagrams hold their headers.
fn check_header(udp: &Section<'_>, header: Size, traffic: &TrafficKind) -> Result<(), Problem> {
    let Some(largest) = traffic.largest.filter(|largest| *largest < header) else {
        return Ok(());
    };
    let message = format!(
        "{} B are more than the datagrams of this traffic have ({} B); allowed is at most their \
         size, with IP and UDP headers of 28 B",
        header.bytes(),
        largest.bytes()
    );
    Err(udp.fail("header", message))
}

fn read_traffic(
    section: &Section<'_>,
    default: Option<&'static Entry<BuildTraffic>>,
) -> Result<TrafficKind, Problem> {
    let chosen = match default {
        Some(entry) => Some(choose_or::<Traffics>(section, "traffic", entry)?),
        None => choose::<Traffics>(section, "traffic")?,
    };
    let (entry, inner) = chosen.ok_or_else(|| {
        let names = names_of::<Traffics>(section);
        section.fail("traffic", format!("is missing; UDP needs one of: {names}"))
    })?;
    (entry.build)(&inner)
}

impl FlowPlan {
    /// The name of flow `index` of the group.
    pub(crate) fn flow_name(&self, index: u32) -> String {
        if self.count == 1 { self.name.clone() } else { format!("{}[{index}]", self.name) }
    }

    pub(crate) fn transport_name(&self) -> &'static str {
        match self.transport {
            Transport::Tcp(..) => "tcp",
            Transport::Udp(..) => "udp",
            Transport::Calls(_) => "calls",
            Transport::Paced(_) => "paced",
            Transport::Media(_) => "media",
        }
    }

    /// The mean rate of one flow, where it does not depend on the network.
    pub(crate) fn mean_rate(&self) -> Option<Rate> {
        match &self.transport {
            Transport::Tcp(_, _, traffic) | Transport::Udp(_, traffic) => traffic.mean_rate,
            Transport::Calls(_) => None,
            Transport::Paced(paced) => Some(paced.mean_rate()),
            Transport::Media(media) => media.mean_rate(),
        }
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

    /// The mean number of calls in a run of `duration`, and the rate of each in bit/s.
    pub(crate) fn mean_calls(&self, duration: Span) -> Option<(f64, f64)> {
        match &self.transport {
            Transport::Calls(calls) => Some((calls.present(duration).0, calls.mean_rate())),
            _ => None,
        }
    }

    /// The greatest number of calls at a time in a run of `duration`, about, and the key that asks
    /// for the most of them.
    pub(crate) fn most_calls(&self, duration: Span) -> Option<(f64, &'static str)> {
        match &self.transport {
            Transport::Calls(calls) => Some(calls.present(duration)),
            _ => None,
        }
    }

    pub(crate) fn is_tcp(&self) -> bool {
        matches!(self.transport, Transport::Tcp(..))
    }

    /// Returns true if TCP alone decides how much it sends: it never runs out of data, and no
    /// window that a receiver advertises is the limit.
    pub(crate) fn is_endless(&self) -> bool {
        let Transport::Tcp(parameters, _, traffic) = &self.transport else { return false };
        traffic.endless && parameters.window.is_none()
    }

    /// Its TCP parameters, if it has any.
    pub(crate) fn tcp(&self) -> Option<&TcpParameters> {
        match &self.transport {
            Transport::Tcp(parameters, ..) => Some(parameters),
            _ => None,
        }
    }

    /// The least rate of its sources over their peak rate, if they go by explicit rates.
    pub(crate) fn least_rate(&self) -> Option<f64> {
        match &self.transport {
            Transport::Paced(paced) => paced.least_rate(),
            _ => None,
        }
    }

    /// Returns true if its receivers are an element.
    pub(crate) fn has_receivers(&self) -> bool {
        match &self.transport {
            Transport::Tcp(..) => true,
            Transport::Paced(paced) => paced.has_receivers(),
            Transport::Media(media) => media.has_receivers(),
            Transport::Udp(..) | Transport::Calls(_) => false,
        }
    }

    /// The receivers' element of a group of flows that has one, given the senders'.
    pub(crate) fn receivers(senders: ElementId) -> ElementId {
        ElementId::new(senders.index() + 1)
    }

    /// Returns true if its sources are paced.
    pub(crate) fn is_paced(&self) -> bool {
        matches!(self.transport, Transport::Paced(_))
    }

    /// Returns true if its transfers are cut into frames.
    pub(crate) fn has_frames(&self) -> bool {
        matches!(&self.transport, Transport::Paced(paced) if paced.has_frames())
    }

    /// Returns true if its late packets are counted.
    pub(crate) fn counts_late(&self) -> bool {
        self.late.is_some()
    }

    /// Returns true if the completion times of its transfers are measured.
    pub(crate) fn has_transfers(&self) -> bool {
        self.empty.is_some() && !self.has_video()
    }

    /// Returns true if its clients play video.
    pub(crate) fn has_video(&self) -> bool {
        matches!(&self.transport, Transport::Tcp(_, _, traffic) if traffic.video.is_some())
    }

    /// Its policer given the senders' element, and the link in front of which it stands.
    pub(crate) fn policer(&self, senders: ElementId) -> Option<(ElementId, usize)> {
        let policing = self.policing.as_ref()?;
        let ends = if self.has_receivers() { 2 } else { 1 };
        Some((ElementId::new(senders.index() + ends), self.there[policing.place]))
    }

    /// Returns true if it consists of calls.
    pub(crate) fn has_calls(&self) -> bool {
        matches!(self.transport, Transport::Calls(_))
    }

    /// Returns true if its packets leave links that fail: not if it must pass certain nodes or a
    /// policer, nor if notifications find their way back from certain links.
    pub(crate) fn is_rerouted(&self) -> bool {
        self.parameters.route.is_none()
            && self.policing.is_none()
            && matches!(self.transport, Transport::Tcp(..) | Transport::Udp(..))
    }

    /// Make senders and receivers of flows that are there from the start, given the first
    /// of them and the roads. The senders' element.
    pub(crate) fn wire(
        &self,
        first: FlowId,
        roads: &Roads,
        network: &mut Network,
        streams: &Streams,
    ) -> ElementId {
        let senders = network.next_element();
        let end: Destination = match &self.transport {
            Transport::Udp(parameters, _) => network.add_sink(parameters.header.bytes()).into(),
            Transport::Paced(paced) if !paced.has_receivers() => {
                network.add_sink(paced.parameters.header.bytes()).into()
            }
            Transport::Media(media) => media.end(Self::receivers(senders).into(), network),
            _ => Self::receivers(senders).into(),
        };
        let data = roads.lay_past(&self.there, self.policer(senders), end, network);
        for (link, back) in &self.ways_back {
            let back = roads.lay(back, senders.into(), network);
            let port = roads.elements[*link].last().expect("a link has an element");
            network.add_reverse_route(*port, data, back);
        }
        if let Some(late) = &self.late {
            network.meter_deliveries(first, self.count, late);
        }
        let group = self.group(first, data, streams);
        let marking = group.marking;
        let name = format!("{}.traffic", self.path);
        let pool = |traffic: &TrafficKind| {
            let mut stream = |index: u32| streams.numbered(&name, u64::from(index));
            (traffic.pool)(self.count, &mut stream)
        };
        match &self.transport {
            Transport::Udp(_, traffic) => {
                network.add(udp::senders(group, pool(traffic)));
            }
            Transport::Tcp(parameters, control, traffic) => {
                let acks = roads.lay(&self.back, senders.into(), network);
                let (empty, report_rtt) = (self.empty.as_ref(), self.report_rtt);
                let ends = TcpEnds { parameters, control, traffic, empty, report_rtt };
                ends.wire(group, acks, &pool, network);
            }
            Transport::Paced(paced) => {
                paced.wire(group, network, streams);
                if paced.has_receivers() {
                    let back = if paced.is_explicit() {
                        Some(roads.lay_back(&self.there, &self.back, data, senders.into(), network))
                    } else {
                        paced.answers().map(|_| roads.lay(&self.back, senders.into(), network))
                    };
                    let flows = (first, self.count);
                    let place = ReceiverPlace { flows, back, marking };
                    paced.wire_receivers(place, network);
                }
            }
            Transport::Media(media) => {
                let back = |network: &mut Network| roads.lay(&self.back, senders.into(), network);
                media.wire(group, self.count, back, (network, streams));
            }
            Transport::Calls(_) => unreachable!("calls are wired with their aggregate"),
        }
        if let (Some(policing), Some((_, link))) = (&self.policing, self.policer(senders)) {
            policing.wire(first, self.count, roads.links[link], network);
        }
        senders
    }

    /// The class of calls that this group is, for the aggregate that the next element will be.
    pub(crate) fn class(
        &mut self,
        first: FlowId,
        roads: &Roads,
        network: &mut Network,
        streams: &Streams,
    ) -> ClassPlan {
        let aggregate = network.next_element();
        let route = roads.lay(&self.there, aggregate.into(), network);
        let group = self.group(first, route, streams);
        let Transport::Calls(plan) = &mut self.transport else {
            unreachable!("only calls make a class");
        };
        plan.class(Place {
            path: group.path,
            flow: first,
            route,
            marking: group.marking,
            start: group.starts[0],
            stop: group.stop,
        })
    }

    fn group(&self, first: FlowId, route: RouteId, streams: &Streams) -> FlowGroup {
        let name = format!("{}.start", self.path);
        let start = |index: u32| {
            let draw = || streams.numbered(&name, u64::from(index)).uniform();
            Time::ZERO + self.parameters.start.draw(draw)
        };
        FlowGroup {
            path: self.path.clone(),
            first,
            starts: (0..self.count).map(start).collect(),
            stop: self.parameters.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
            route,
            marking: Marking {
                precedence: u8::try_from(self.parameters.precedence).expect("checked when read"),
                dscp: self.parameters.dscp.unwrap_or_default().0,
            },
        }
    }
}
