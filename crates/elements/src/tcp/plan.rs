//! TCP as a transport of a scenario: reading a group of flows, and making its two ends and the
//! applications there.

use std::sync::Arc;

use forebay_laws::control::{ControlFactory, Controls};
use forebay_laws::traffic::{self, TrafficKind, TrafficPool, Traffics};
use forebay_parameters::{Entry, Parameters, Problem, choose_or};
use forebay_units::Time;

use super::{Clients, Paths, TcpParameters, TcpReceivers, TcpSenders, VideoResult, Viewer};
use crate::FlowGroup;
use crate::rows::{Row, Rows};
use crate::transfers::{EmptyPath, TransferCount, TransferMeter, TransferResult, TransfersOfTag};
use crate::transport::{
    End, Facts, FlowReader, GroupCounts, Hop, Packets, Transport, TransportKind, WayBack, Wiring,
};

/// TCP in the table of transports.
pub const ENTRY: Entry<TransportKind> = Entry {
    name: "tcp",
    summary: "TCP as transport.",
    source: "RFC 9293; RFC 5681; RFC 6298; RFC 6675; RFC 8985",
    example: "tcp = {}",
    fields: TcpParameters::FIELDS,
    probes: &[],
    build: TransportKind {
        laws: &["control"],
        two_way: true,
        rows: &[TransferResult::KIND, TransfersOfTag::KIND, VideoResult::KIND],
        ..TransportKind::new(&read)
    },
};

/// TCP flows as the scenario describes them.
pub struct TcpPlan {
    /// The parameters of both ends.
    pub parameters: TcpParameters,
    control: Arc<ControlFactory>,
    traffic: TrafficKind,
    /// The ways when they are empty, if the flows are transfers.
    empty: Option<Paths>,
}

fn read(group: &FlowReader<'_, '_>) -> Result<Box<dyn Transport>, Problem> {
    group.refuse(&["linked"], "only calls have linked flows; use traffic")?;
    let parameters = TcpParameters::from_section(group.own)?;
    let (entry, chosen) =
        choose_or::<Controls>(group.own, "control", parameters.default_control())?;
    let control = parameters.build_control(entry, &chosen)?;
    let needs = control().needs();
    if needs.exact_marks && !parameters.ecn {
        let message = format!("is false: without marks {} is Reno", entry.name);
        group.own.warn("ecn", message);
    }
    let parameters = parameters.for_control(needs);
    let (entry, inner) = choose_or::<Traffics>(group.flow, "traffic", traffic::DEFAULT)?;
    let traffic = (entry.build)(&inner)?;
    check_clients(group, &traffic)?;
    let empty = || empty_paths(&parameters, &traffic, group.there, group.back);
    let empty = traffic.transfers.then(empty);
    Ok(Box::new(TcpPlan { parameters, control: Arc::new(control), traffic, empty }))
}

/// The links `there` and `back` when they are empty.
fn empty_paths(
    parameters: &TcpParameters,
    traffic: &TrafficKind,
    there: &[Hop],
    back: &[Hop],
) -> Paths {
    let (mss, segment) = (parameters.mss.bytes(), parameters.largest_packet());
    let request = traffic.requests.map_or(1, |plan| u64::from(plan.request));
    let link = |hop: &Hop| (hop.rate, hop.delay);
    Paths {
        there: EmptyPath::new(there.iter().map(link), mss, segment - mss),
        // A request is one packet, whatever it holds.
        back: EmptyPath::new(back.iter().map(link), 1, request - 1),
    }
}

/// Clients have all their connections.
fn check_clients(group: &FlowReader<'_, '_>, traffic: &TrafficKind) -> Result<(), Problem> {
    let connections = traffic.requests.map_or(1, |plan| plan.connections);
    if group.count.is_multiple_of(connections) {
        return Ok(());
    }
    let message = format!(
        "{} is not a multiple of {connections}, the connections of each client",
        group.count
    );
    Err(group.flow.fail("count", message))
}

impl TcpPlan {
    /// The receivers of flows with these starts and this stop, over the links of `paths`, with the
    /// applications there.
    fn receivers(
        &self,
        receivers: TcpReceivers,
        applications: Box<dyn TrafficPool>,
        (starts, stop): (Vec<Time>, Time),
        paths: Paths,
    ) -> TcpReceivers {
        let Some(plan) = self.traffic.requests else {
            let meter = TransferMeter::new(applications, &starts, stop, paths.there);
            return receivers.with_transfers(meter);
        };
        let clients = Clients::new(applications, plan, (starts, stop), paths);
        receivers.with_clients(match &self.traffic.video {
            Some(video) => clients.playing(Arc::clone(video)),
            None => clients,
        })
    }

    /// The senders of `group`.
    fn senders(&self, group: FlowGroup, wiring: &dyn Wiring) -> TcpSenders {
        let applications = self.traffic.pool_of(&group.path, group.starts.len(), wiring.streams());
        let mut senders = TcpSenders::new(group, &self.parameters, applications, &**self.control);
        if self.traffic.fresh {
            senders = senders.with_fresh_connections(Arc::clone(&self.control));
        }
        if self.traffic.requests.is_some() {
            senders = senders.answering(self.traffic.video.clone());
        }
        senders.pausing(self.traffic.pauses).reporting_rtt(wiring.asks_rtt())
    }

    /// The ways of transfers when they are empty, if the flows are such.
    fn paths(&self, wiring: &dyn Wiring) -> Option<Paths> {
        let own = self.empty.as_ref()?;
        Some(match wiring.hops() {
            Some([there, back]) => empty_paths(&self.parameters, &self.traffic, &there, &back),
            None => own.clone(),
        })
    }
}

impl Transport for TcpPlan {
    fn facts(&self) -> Facts {
        let TcpPlan { parameters, traffic, .. } = self;
        Facts {
            largest: Some(parameters.largest_packet()),
            mean_rate: traffic.mean_rate,
            adapts: true,
            endless: traffic.endless && parameters.window.is_none(),
            fresh: traffic.fresh,
            in_all: traffic.in_all,
            spreads: true,
            acknowledged: 0.5,
            end: End::Receivers,
            way_back: WayBack::Any(ENTRY.name),
            rerouted: true,
            packets: Packets::Segments,
            ..Facts::default()
        }
    }

    fn wire(&self, group: FlowGroup, wiring: &mut dyn Wiring) {
        let acks = wiring.way_back();
        let flows = group.starts.len();
        let mut receivers = TcpReceivers::new(group.first, flows, &self.parameters, acks)
            .with_marking(group.marking);
        if let Some(paths) = self.paths(wiring) {
            let applications = self.traffic.pool_of(&group.path, flows, wiring.streams());
            let times = (group.starts.clone(), group.stop);
            receivers = self.receivers(receivers, applications, times, paths);
        }
        let senders = self.senders(group, wiring);
        wiring.add(Box::new(senders));
        wiring.add(Box::new(receivers));
    }

    fn gathers(&self) -> bool {
        self.traffic.requests.is_some() && !self.traffic.common
    }

    fn wire_gathered(&self, groups: Vec<FlowGroup>, wiring: &mut dyn Wiring) {
        let [FlowGroup { first, stop, route, marking, .. }, ..] = groups[..] else { return };
        let starts: Vec<Time> = groups.iter().flat_map(|group| group.starts.clone()).collect();
        let mut routes = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            let back = wiring.way_back_to(at);
            routes.resize(routes.len() + group.starts.len(), back);
        }
        let receivers = TcpReceivers::new(first, starts.len(), &self.parameters, route)
            .with_marking(marking)
            .with_routes(routes);
        let parts = groups.iter().map(|group| (&*group.path, group.starts.len()));
        let applications = self.traffic.pool_of_parts(parts, wiring.streams());
        let paths = self.paths(wiring).expect("what is asked for are transfers");
        let receivers = self.receivers(receivers, applications, (starts, stop), paths);
        for group in groups {
            let senders = self.senders(group, wiring);
            wiring.add(Box::new(senders));
        }
        wiring.add(Box::new(receivers));
    }

    fn rows(&self, group: &mut GroupCounts<'_>) -> Vec<Rows> {
        let name = group.name.to_owned();
        if self.traffic.video.is_some() {
            let mut all = Vec::new();
            group.each_receivers(|own: &Vec<Viewer>| all.extend_from_slice(own));
            return vec![Rows::one(VideoResult::of(name, &all))];
        }
        if self.empty.is_some() {
            let own = group.tagged_receivers::<TransferCount>();
            return vec![Rows::one(TransferResult::of(name, &own))];
        }
        Vec::new()
    }
}
