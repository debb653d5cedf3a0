//! Inner state that elements show, so that it can be checked from outside: quantities for which a
//! standard gives bounds, and which no fact and no counter tells.
//!
//! An element shows it beside its counters ([`OwnCount::state`](crate::OwnCount::state)); nothing
//! is gathered unless someone asks.

use forebay_units::{Rate, Span, Time};

use crate::{FlowId, Window};

/// Property that the packets that a token bucket pays for have in common: those that pass it
/// without having tokens fall outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paid {
    /// They get this precedence.
    Precedence(u8),
    /// Only such packets are let through.
    Passed,
    /// Only such PCN packets leave without a mark.
    Unmarked,
}

/// A token bucket.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BucketState {
    /// Tokens in it, in bytes (of a pool of cells: in cells).
    pub level: f64,
    /// Bound that its definition keeps the level above: 0, unless it may be in debt.
    pub least: f64,
    /// Level when full, in the unit of `level`.
    pub depth: f64,
    /// Rate at which tokens come, and what the packets are that it pays for in full: these keep to
    /// rate and depth. `None` where they may not, as where the depth changes.
    pub pays: Option<(Rate, Paid)>,
}

/// State that a TCP sender has of its connection, in segments where the standards count bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpSenderState {
    /// The flow.
    pub flow: FlowId,
    /// The first segment not acknowledged (SND.UNA).
    pub una: u64,
    /// The next segment to send (SND.NXT).
    pub nxt: u64,
    /// The next segment never sent (SND.MAX).
    pub max: u64,
    /// The next segment that the application has not written.
    pub end: u64,
    /// Congestion window, threshold and segment size.
    pub window: Window,
    /// The receiver's window in bytes; infinite for none.
    pub receiver_window: f64,
    /// The estimate of what is in the network (pipe), if there is a record of segments.
    pub pipe: Option<u64>,
    /// Segments of the record that were sent again and are not SACKed.
    pub resent: u64,
    /// Segments reported by SACK, as half-open ranges.
    pub sacked: Vec<(u64, u64)>,
    /// Number of segments that the record takes these to be.
    pub sacked_total: u64,
    /// The retransmission timeout.
    pub rto: Span,
    /// Least and largest timeout that the parameters allow.
    pub rto_bounds: (Span, Span),
    /// Time at which the retransmission timer expires; [`Time::NEVER`] if it is off.
    pub deadline: Time,
}

/// State of a memory that the ports of a switch share, as one of them states it. In bytes of
/// packets that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryState {
    /// Bytes that the memory holds at most.
    pub size: u64,
    /// Bytes that it holds.
    pub held: u64,
    /// Sum of what it counts for all queues.
    pub sum: u64,
    /// Sum of what it counts for the queues of this port.
    pub of_port: u64,
    /// Bytes that wait at this port.
    pub waiting: u64,
}

/// A part of the inner state of an element.
#[derive(Clone, PartialEq, Debug)]
pub enum StateFact {
    /// A token bucket of a law.
    Bucket(BucketState),
    /// A TCP sender.
    TcpSender(Box<TcpSenderState>),
    /// The memory that a port shares with others.
    Memory(MemoryState),
}

/// An element, or a part of one, that states its inner state.
pub trait ElementState {
    /// Visit the inner state: all of it, or with `flow` at least what belongs to that flow.
    fn inspect(&self, flow: Option<FlowId>, visit: &mut dyn FnMut(StateFact));
}
