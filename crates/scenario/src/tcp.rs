//! Making the two ends of TCP flows, and the applications there.

use std::sync::Arc;

use forebay_engine::Network;
use forebay_mechanisms::control::ControlFactory;
use forebay_mechanisms::element::FlowGroup;
use forebay_mechanisms::element::tcp::{TcpParameters, TcpReceivers, TcpSenders};
use forebay_mechanisms::traffic::{TrafficKind, TrafficPool};
use forebay_mechanisms::{EmptyPath, TransferMeter};
use forebay_network::RouteId;

use crate::links::LinkPlan;

/// What the ends of a group of flows are made of.
pub(crate) struct TcpEnds<'p> {
    pub(crate) parameters: &'p TcpParameters,
    pub(crate) control: &'p Arc<ControlFactory>,
    pub(crate) traffic: &'p TrafficKind,
    /// The way there when it is empty, if the flows are transfers.
    pub(crate) empty: Option<&'p EmptyPath>,
    pub(crate) report_rtt: bool,
}

/// The way over links of `there` when it is empty, if `traffic` is transfers.
pub(crate) fn empty_path(
    parameters: &TcpParameters,
    traffic: &TrafficKind,
    there: &[usize],
    links: &[LinkPlan<'_>],
) -> Option<EmptyPath> {
    let (mss, segment) = (parameters.mss.bytes(), parameters.largest_packet());
    let links = there.iter().map(|link| (links[*link].rate, links[*link].delay));
    traffic.transfers.then(|| EmptyPath::new(links, mss, segment - mss))
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
        if let Some(path) = empty {
            let (starts, stop) = (&group.starts, group.stop);
            let meter = TransferMeter::new(pool(traffic), starts, stop, path.clone());
            receivers = receivers.with_transfers(meter);
        }
        let mut senders = TcpSenders::new(group, parameters, pool(traffic), &***control);
        if traffic.fresh {
            senders = senders.with_fresh_connections(Arc::clone(control));
        }
        network.add(Box::new(senders.reporting_rtt(report_rtt)));
        network.add(Box::new(receivers));
    }
}
