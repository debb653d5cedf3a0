//! Packets, the elements that they traverse, and the contracts of the laws that decide over
//! packets.
//!
//! One rule settles most questions: if time passes inside it, it is an [`Element`]; if it only
//! decides, it is a law ([`DropPolicy`], [`QueueDisc`], [`Conditioner`], [`ShaperLaw`],
//! [`Traffic`], [`CongestionControl`], [`AdmissionControl`], [`FlowTermination`],
//! [`CongestionDetector`], [`ExplicitRate`], [`Activity`], [`PaceControl`], [`RingFairness`]). A
//! law is given the time, a random stream and the facts, and returns a decision; it has no clock,
//! no event list and no log. [`Observer`]s are notified of facts and cannot influence a run. This
//! crate knows no mechanism: they live in `forebay-laws` and `forebay-elements`; `forebay-engine`
//! executes them.
#![doc = include_str!("../README.md")]

mod class_count;
mod columns;
mod context;
mod core;
mod counters;
mod delays;
mod detours;
mod drop_reason;
mod element;
pub mod executive;
mod forwarding;
mod histogram;
mod ids;
mod law;
mod law_fault;
mod logical_process;
mod lookahead;
mod note;
mod observation;
mod packet;
mod pair_table;
pub mod record;
pub mod record_order;
mod routes;
mod sack_blocks;
mod state;
pub mod synchronization;
mod table;
pub mod waits;
mod window;

pub use class_count::ClassCount;
pub use columns::{ResultColumn, Unit};
pub use context::Context;
pub use counters::{
    COMMON_PRECEDENCES, Counters, DeliveryMeter, ElementCounters, FlowCount, LinkCount, OwnCount,
    PacketBytes, PrecedenceCount,
};
pub use delays::DelayTable;
pub use drop_reason::DropReason;
pub use element::Element;
pub use forwarding::ForwardingRule;
pub use histogram::{Distribution, Histogram, quantile_rank};
pub use ids::{
    ChannelId, Destination, ElementId, FlowId, HostId, LinkId, NodeId, ReceiverId, RouteId, SinkId,
};
pub use law::{
    Ack, Arrival, Backlog, Burst, Conditioner, CongestionControl, ControlNeeds, Departure, Discard,
    DropPolicy, LostSegment, NextPacket, QueueDisc, RateSample, ShaperLaw, Signal, Traffic,
    Verdict,
};
pub use law_fault::LawFault;
pub use logical_process::{LogicalProcess, LookaheadContext};
pub use lookahead::{Departures, ExecutionMode, Lookahead};
pub use note::{LawNote, NoteColumn, NoteForm, NoteKind};
pub use observation::{CallEvent, Observation, Observer};
pub use packet::{Ecn, Marking, Packet, PacketKind, PcnMark, QueuedInfo};
pub use routes::{NextHop, PassThrough};
pub use sack_blocks::{EcnCounts, Payload, SackBlocks, SackSlot, SackTable};
pub use state::{BucketState, ElementState, MemoryState, Paid, StateFact, TcpSenderState};
pub use table::{Column, RecordTable};
pub use window::Window;

/// The input channels of an element: packets sent ahead to it, with their arrival times.
pub type InputChannels = forebay_kernel::InputChannels<Packet>;
