//! TCP as a transport of a scenario: reading a group of flows, and making its two ends and the
//! applications there.

use std::sync::Arc;

use forebay_laws::control::{ControlFactory, Controls};
use forebay_laws::traffic::{self, TrafficKind, TrafficPool, Traffics};
use forebay_parameters::{Entry, Parameters, Problem, choose_or};

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
    let empty = empty_paths(&parameters, &traffic, group);
    Ok(Box::new(TcpPlan { parameters, control: Arc::new(control), traffic, empty }))
}

/// The ways of `group` when they are empty, if `traffic` is transfers.
fn empty_paths(
    parameters: &TcpParameters,
    traffic: &TrafficKind,
    group: &FlowReader<'_, '_>,
) -> Option<Paths> {
    let (mss, segment) = (parameters.mss.bytes(), parameters.largest_packet());
    let request = traffic.requests.map_or(1, |plan| u64::from(plan.request));
    let link = |hop: &Hop| (hop.rate, hop.delay);
    traffic.transfers.then(|| Paths {
        there: EmptyPath::new(group.there.iter().map(link), mss, segment - mss),
        // A request is one packet, whatever it holds.
        back: EmptyPath::new(group.back.iter().map(link), 1, request - 1),
    })
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
    /// The receivers of `group`, with the applications there that `pool` makes.
    fn receivers(
        &self,
        group: &FlowGroup,
        receivers: TcpReceivers,
        applications: Box<dyn TrafficPool>,
    ) -> TcpReceivers {
        let Some(paths) = &self.empty else { return receivers };
        let stop = group.stop;
        let Some(plan) = self.traffic.requests else {
            let (starts, path) = (&group.starts, paths.there.clone());
            return receivers.with_transfers(TransferMeter::new(applications, starts, stop, path));
        };
        let times = (group.starts.clone(), stop);
        let clients = Clients::new(applications, plan, times, paths.clone());
        receivers.with_clients(match &self.traffic.video {
            Some(video) => clients.playing(Arc::clone(video)),
            None => clients,
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
        let pool = || self.traffic.pool_of(&group.path, group.starts.len(), wiring.streams());
        let receivers = TcpReceivers::new(group.first, group.starts.len(), &self.parameters, acks)
            .with_marking(group.marking);
        let receivers = if self.empty.is_some() {
            self.receivers(&group, receivers, pool())
        } else {
            receivers
        };
        let applications = pool();
        let mut senders = TcpSenders::new(group, &self.parameters, applications, &**self.control);
        if self.traffic.fresh {
            senders = senders.with_fresh_connections(Arc::clone(&self.control));
        }
        if self.traffic.requests.is_some() {
            senders = senders.answering(self.traffic.video.clone());
        }
        let asked = wiring.asks_rtt();
        wiring.add(Box::new(senders.pausing(self.traffic.pauses).reporting_rtt(asked)));
        wiring.add(Box::new(receivers));
    }

    fn rows(&self, group: &mut GroupCounts<'_>) -> Vec<Rows> {
        let name = group.name.to_owned();
        if self.traffic.video.is_some() {
            return vec![Rows::one(VideoResult::of(name, group.receivers::<Vec<Viewer>>()))];
        }
        if self.empty.is_some() {
            let own = group.tagged_receivers::<TransferCount>();
            return vec![Rows::one(TransferResult::of(name, own))];
        }
        Vec::new()
    }
}
