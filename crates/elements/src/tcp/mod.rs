//! TCP: a pool of senders and a pool of receivers for each group of flows.
//!
//! The standards are implemented on segments: a packet's number is that of its segment, counted
//! from 0, and an acknowledgement carries the next segment expected. Every segment holds one MSS of
//! data but the last of what the application has written so far. A connection exists from the
//! first, unless `handshake` has it opened and closed. The receiver takes everything at once, so
//! that its advertised window is constant.

mod accecn;
mod ack_routes;
mod applications;
mod parameters;
mod plan;
mod receiver;
mod sender;

pub use applications::clients::{Clients, Paths};
pub use applications::viewers::{VideoResult, Viewer};
pub use parameters::{
    EcnEcho, InitialWindow, LossDetection, NewRenoTimer, Pacing, Profile, Recovery, RecoveryWindow,
    ReportedRtt, RttGain, SackAtTimeout, TcpParameters, UndoBy,
};
pub use plan::{ENTRY, TcpPlan};
pub use receiver::TcpReceivers;
pub use sender::{CongestionState, SenderState, TcpSenders, segments};
