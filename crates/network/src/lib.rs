//! Packets, the boxes that they pass, and the contracts of the laws that decide over them.
//!
//! One rule settles most questions: if time passes inside it, it is an [`Element`]; if it only
//! decides, it is a law ([`QueueManager`], [`QueueDiscipline`], [`Conditioner`], [`ShapingLaw`],
//! [`Traffic`], [`CongestionControl`], [`AdmissionControl`], [`FlowTermination`],
//! [`CongestionDetector`], [`ExplicitRate`], [`Activity`], [`RateControl`], [`RingFairness`]). A
//! law is handed the time, a random stream and the facts, and answers; it has no clock, no event
//! list and no log. [`Observer`]s are told facts and cannot answer back. This crate knows no
//! mechanism: they live in `forebay-mechanisms`.

mod border;
mod context;
mod edge;
mod element;
mod feeds;
mod foresight;
mod lateness;
mod law;
mod ledger;
mod merge;
mod network;
mod observation;
mod pace;
mod packet;
mod parallel;
mod parcels;
pub mod record;
mod region;
mod resource;
mod ring;
mod routes;
mod site;
mod standing;

pub use context::{Context, SackBlocks};
pub use edge::{
    AdmissionControl, AdmissionSignal, FlowTermination, Leaving, Termination, TerminationSignal,
};
pub use element::{Element, Standing};
pub use feeds::Inbox;
pub use lateness::Lateness;
pub use law::{
    Ack, Adjustment, Arrival, Backlog, Burst, Conditioner, CongestionControl, Departure, Discard,
    QueueDiscipline, QueueManager, Region, ShapingLaw, Signal, Traffic, Verdict, Window,
};
pub use ledger::{
    CallCount, FlowCount, FrameCount, Ledger, LinkCount, PRECEDENCES, PacedCount, PolicerCount,
    Tally,
};
pub use network::{Network, Progress};
pub use observation::{CallEvent, DropReason, Observation, Observer};
pub use pace::{
    Activity, CongestionDetector, ExplicitRate, Lasts, Notice, Pace, Phase, RateControl, Session,
};
pub use packet::{Ecn, Footprint, Packet, PcnMark};
pub use resource::{CellRate, ResourceCell};
pub use ring::{
    RingAccess, RingClass, RingDemand, RingFairness, RingFrame, RingMessage, RingNotice, RingState,
};
pub use routes::{Lane, Onward};
