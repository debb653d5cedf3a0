//! Reading groups of flows and making their senders and receivers.

use forebay_kernel::Streams;
use forebay_mechanisms::congestion::{self, CONTROLS, ControlFactory};
use forebay_mechanisms::element::FlowGroup;
use forebay_mechanisms::element::tcp::{TcpParameters, TcpReceivers, TcpSenders};
use forebay_mechanisms::element::udp::{UdpParameters, UdpSenders, UdpSink};
use forebay_mechanisms::traffic::{self, TRAFFICS, TrafficKind};
use forebay_network::Network;
use forebay_parameters::{Parameters, Problem, Section, choose};
use forebay_units::quantity::show_span;
use forebay_units::{Span, Time};

use crate::sections::{FLOW_MECHANISMS, FlowParameters, by_default};
use crate::topology::Topology;

/// A group of flows as the scenario describes it.
pub(crate) struct FlowPlan {
    pub(crate) name: String,
    pub(crate) count: u32,
    /// Links there and back, by number.
    pub(crate) there: Vec<usize>,
    pub(crate) back: Vec<usize>,
    /// Largest packet that the group sends, in bytes.
    pub(crate) largest: u64,
    parameters: FlowParameters,
    path: String,
    transport: Transport,
    traffic: TrafficKind,
}

enum Transport {
    Tcp(Box<TcpParameters>, ControlFactory),
    Udp(UdpParameters),
}

/// Read the section of one group of flows.
pub(crate) fn read_flow(
    name: &str,
    section: &Section<'_>,
    topology: &Topology,
    duration: Span,
) -> Result<FlowPlan, Problem> {
    let parameters = FlowParameters::read_among(section, FLOW_MECHANISMS)?;
    check_times(section, &parameters, duration)?;
    if parameters.count == 0 {
        return Err(section.fail("count", "is zero; a group has at least one flow"));
    }
    if parameters.precedence > 63 {
        let message = format!("{} is too large; allowed are 0 to 63", parameters.precedence);
        return Err(section.fail("precedence", message));
    }
    let (there, back) = routes(section, &parameters, topology)?;
    let transport = read_transport(section)?;
    let traffic = match choose(section, "traffic", TRAFFICS)? {
        Some((entry, inner)) => (entry.build)(&inner)?,
        None if matches!(transport, Transport::Tcp(..)) => {
            (traffic::DEFAULT.build)(&by_default(section, "traffic", traffic::DEFAULT))?
        }
        None => {
            let names: Vec<&str> = TRAFFICS.iter().map(|entry| entry.name).collect();
            let message = format!("is missing; UDP needs one of: {}", names.join(", "));
            return Err(section.fail("traffic", message));
        }
    };
    let largest = match (&transport, traffic.largest) {
        (Transport::Tcp(tcp, _), _) => tcp.largest_packet(),
        (Transport::Udp(_), Some(size)) => size.bytes(),
        (Transport::Udp(_), None) => {
            let message = "this traffic has no packets of its own: only TCP can carry it";
            return Err(section.fail("traffic", message));
        }
    };
    let path = section.path().to_owned();
    let (name, count) = (name.to_owned(), parameters.count);
    Ok(FlowPlan { name, count, there, back, largest, parameters, path, transport, traffic })
}

fn check_times(
    section: &Section<'_>,
    parameters: &FlowParameters,
    duration: Span,
) -> Result<(), Problem> {
    let start = parameters.start.earliest();
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
            Err(_) if section.node("udp").is_some() => Vec::new(),
            Err(message) => return Err(fail(message)),
        };
        return Ok((there, back));
    }
    let there = topology.shortest(from, to).ok_or_else(|| unreachable(from, to))?;
    let back = match topology.shortest(to, from) {
        Some(links) => links,
        // Datagrams need no way back.
        None if section.node("udp").is_some() => Vec::new(),
        None => return Err(unreachable(to, from)),
    };
    Ok((there, back))
}

fn read_transport(section: &Section<'_>) -> Result<Transport, Problem> {
    match (section.section("tcp")?, section.section("udp")?) {
        (Some(_), Some(_)) => Err(section.fail("udp", "a flow has either tcp or udp, not both")),
        (None, None) => Err(section.fail("", "needs a transport: tcp = {} or udp = {}")),
        (None, Some(udp)) => Ok(Transport::Udp(UdpParameters::read(&udp)?)),
        (Some(tcp), None) => {
            let parameters = TcpParameters::from_section(&tcp)?;
            let control = match choose(&tcp, "control", CONTROLS)? {
                Some((entry, inner)) => (entry.build)(&inner)?,
                None => {
                    (congestion::DEFAULT.build)(&by_default(&tcp, "control", congestion::DEFAULT))?
                }
            };
            Ok(Transport::Tcp(Box::new(parameters), control))
        }
    }
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
        }
    }

    /// Make senders and receivers, given the elements of each link. The number of the senders'
    /// element.
    pub(crate) fn wire(&self, links: &[Vec<u32>], network: &mut Network, streams: &Streams) -> u32 {
        let first = network.add_flows(self.count);
        let senders = network.next_element();
        let receivers = senders + 1;
        let route = |links_on_it: &[usize], end: u32| -> Vec<u32> {
            let passed = links_on_it.iter().flat_map(|link| links[*link].iter().copied());
            passed.chain(std::iter::once(end)).collect()
        };
        let data = network.add_route(&route(&self.there, receivers));
        let acks = network.add_route(&route(&self.back, senders));
        let group = self.group(first, data, streams);
        let precedence = group.precedence;
        let name = format!("{}.traffic", self.path);
        let traffic = |index: u32| {
            let mut stream = streams.numbered(&name, u64::from(index));
            ((self.traffic.make)(&mut stream), stream)
        };
        let indices = 0..self.count;
        match &self.transport {
            Transport::Udp(parameters) => {
                let flows = indices.map(traffic).collect();
                network.add(Box::new(UdpSenders::new(group, flows)));
                network.add(Box::new(UdpSink::new(parameters)));
            }
            Transport::Tcp(parameters, control) => {
                let flow = |index| {
                    let (traffic, stream) = traffic(index);
                    (traffic, control(), stream)
                };
                let flows = indices.map(flow).collect();
                let count = self.count as usize;
                let receivers =
                    TcpReceivers::new(first, count, parameters, acks).with_precedence(precedence);
                network.add(Box::new(TcpSenders::new(group, parameters, flows)));
                network.add(Box::new(receivers));
            }
        }
        senders
    }

    fn group(&self, first: u32, route: u32, streams: &Streams) -> FlowGroup {
        let name = format!("{}.start", self.path);
        let start =
            |index: u32| self.parameters.start.draw(&mut streams.numbered(&name, u64::from(index)));
        FlowGroup {
            path: self.path.clone(),
            first,
            starts: (0..self.count).map(start).collect(),
            stop: self.parameters.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop),
            route,
            precedence: u8::try_from(self.parameters.precedence).expect("checked when read"),
        }
    }
}
