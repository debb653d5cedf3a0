//! Making the two ends of TCP flows, and the applications there.

use std::sync::Arc;

use forebay_elements::FlowGroup;
use forebay_elements::tcp::{Clients, Paths, TcpParameters, TcpReceivers, TcpSenders};
use forebay_elements::{EmptyPath, TransferMeter};
use forebay_engine::Network;
use forebay_laws::control::ControlFactory;
use forebay_laws::traffic::{TrafficKind, TrafficPool};
use forebay_network::RouteId;
use forebay_parameters::{Problem, Section};

use crate::links::LinkPlan;

/// Parts from which the ends of a group of flows are made.
pub(crate) struct TcpEnds<'p> {
    pub(crate) parameters: &'p TcpParameters,
    pub(crate) control: &'p Arc<ControlFactory>,
    pub(crate) traffic: &'p TrafficKind,
    /// The ways when they are empty, if the flows are transfers.
    pub(crate) empty: Option<&'p Paths>,
    pub(crate) report_rtt: bool,
}

/// The ways over links `there` and `back` when they are empty, if `traffic` is transfers.
pub(crate) fn empty_paths(
    parameters: &TcpParameters,
    traffic: &TrafficKind,
    (there, back): (&[usize], &[usize]),
    links: &[LinkPlan<'_>],
) -> Option<Paths> {
    let (mss, segment) = (parameters.mss.bytes(), parameters.largest_packet());
    let request = traffic.requests.map_or(1, |plan| u64::from(plan.request));
    let link = |link: &usize| (links[*link].rate, links[*link].delay);
    traffic.transfers.then(|| Paths {
        there: EmptyPath::new(there.iter().map(link), mss, segment - mss),
        // A request is one packet, whatever it holds.
        back: EmptyPath::new(back.iter().map(link), 1, request - 1),
    })
}

/// Clients have all their connections.
pub(crate) fn check_clients(
    flow: &Section<'_>,
    count: u32,
    traffic: &TrafficKind,
) -> Result<(), Problem> {
    let connections = traffic.requests.map_or(1, |plan| plan.connections);
    if count.is_multiple_of(connections) {
        return Ok(());
    }
    let message =
        format!("{count} is not a multiple of {connections}, the connections of each client");
    Err(flow.fail("count", message))
}

impl TcpEnds<'_> {
    /// Make senders and receivers of `group`, whose acknowledgements take the route `acks`; `pool`
    /// makes their applications, each time the same.
    pub(crate) fn wire(
        self,
        group: FlowGroup,
        acks: RouteId,
        pool: &dyn Fn(&TrafficKind) -> Box<dyn TrafficPool>,
        network: &mut Network,
    ) {
        let Self { parameters, control, traffic, empty, report_rtt } = self;
        let mut receivers = TcpReceivers::new(group.first, group.starts.len(), parameters, acks)
            .with_marking(group.marking);
        if let Some(paths) = empty {
            let (applications, stop) = (pool(traffic), group.stop);
            receivers = match traffic.requests {
                Some(plan) => {
                    let times = (group.starts.clone(), stop);
                    let clients = Clients::new(applications, plan, times, paths.clone());
                    receivers.with_clients(match &traffic.video {
                        Some(video) => clients.playing(Arc::clone(video)),
                        None => clients,
                    })
                }
                None => {
                    let (starts, path) = (&group.starts, paths.there.clone());
                    receivers.with_transfers(TransferMeter::new(applications, starts, stop, path))
                }
            };
        }
        let mut senders = TcpSenders::new(group, parameters, pool(traffic), &***control);
        if traffic.fresh {
            senders = senders.with_fresh_connections(Arc::clone(control));
        }
        if traffic.requests.is_some() {
            senders = senders.answering(traffic.video.clone());
        }
        network.add(Box::new(senders.pausing(traffic.pauses).reporting_rtt(report_rtt)));
        network.add(Box::new(receivers));
    }
}
