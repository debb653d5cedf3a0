//! Elements: model components in which time passes. They hold packets or timers, and ask the laws
//! of `forebay_laws`.
#![doc = include_str!("../README.md")]

pub mod allocator;
pub mod bounds;
pub mod calls;
pub mod fabric;
pub mod impairments;
mod inner;
mod lateness;
pub mod link;
pub mod media;
pub mod paced;
pub mod policer;
mod ranges;
mod registry;
pub mod ring;
mod rows;
pub mod shaper;
mod subnetwork;
pub mod tcp;
mod transfers;
mod transport;
pub mod udp;

use forebay_network::{Context, DropReason, FlowId, LinkId, Marking, Observation, Packet, RouteId};
use forebay_units::Time;

pub use inner::{InnerForm, InnerSection};
pub use lateness::{Lateness, LatenessResult};
pub use registry::{SUBNETWORKS, TRANSPORTS, registry};
pub use rows::{Row, RowKind, RowTables, Rows, RowsOf, TagCount, TagCounts};
pub use subnetwork::{
    InnerLink, ReadSubnetwork, Subnetwork, SubnetworkKind, SubnetworkParts, Subnetworks, Transit,
    subnetwork_keys,
};
pub use transfers::{
    Completed, EmptyPath, TransferCount, TransferMeter, TransferResult, TransfersOfTag,
};
pub use transport::{
    CallLoad, CountersOf, End, Facts, FlowReader, GroupCounts, Hop, Packets, ReadTransport,
    Transport, TransportKind, Transports, WayBack, Wiring, names_of,
};

/// A group of flows that differ only in their start times: what sources need to know of the
/// network.
#[derive(Clone, Debug)]
pub struct FlowGroup {
    /// Component path, such as `flows.tcp1`: names the random streams.
    pub path: String,
    /// The first flow; the others follow.
    pub first: FlowId,
    /// Time at which each flow starts.
    pub starts: Vec<Time>,
    /// Time at which all flows stop sending new data; [`Time::NEVER`] if they do not.
    pub stop: Time,
    /// The route that their packets take.
    pub route: RouteId,
    /// Class and colour with which their packets (and acknowledgements) are sent.
    pub marking: Marking,
}

/// Count `packet` as arrived at `link`.
#[inline]
fn count_arrival(link: LinkId, packet: &Packet, cx: &mut Context<'_>) {
    cx.counters().count_arrival(link, packet);
}

/// Drop `packet` as it arrives at `link`: count the arrival and the drop.
#[inline]
fn drop_arriving(link: LinkId, packet: &Packet, reason: DropReason, cx: &mut Context<'_>) {
    count_arrival(link, packet, cx);
    cx.drop(link, packet, reason);
}

/// `flow` has ended: record when.
fn end_flow(flow: FlowId, cx: &mut Context<'_>) {
    let now = cx.now();
    cx.counters().flows[flow.index()].ended = Some(now);
    cx.observe(|| Observation::Ended { flow });
}
