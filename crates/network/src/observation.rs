//! Observers, and the closed vocabulary of facts that they are notified of.

use std::sync::{Arc, Mutex, PoisonError};

use forebay_units::{Span, Time};

use crate::{Backlog, DropReason, FlowId, LawNote, LinkId, Packet, RecordTable, Signal};

/// Event in the life of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEvent {
    /// It was present from the start of the run.
    Initial,
    /// It was admitted.
    Admitted,
    /// It was blocked.
    Blocked,
    /// It arrived by a reroute, without admission control.
    Rerouted,
    /// Probing refused it after it had been admitted.
    Refused,
    /// Flow termination ended it.
    Terminated,
    /// It ended by itself.
    Ended,
}

impl CallEvent {
    /// The event's name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Admitted => "admitted",
            Self::Blocked => "blocked",
            Self::Rerouted => "rerouted",
            Self::Refused => "refused",
            Self::Terminated => "terminated",
            Self::Ended => "ended",
        }
    }
}

/// A fact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Observation<'a> {
    /// A host handed a packet to the network.
    Sent {
        /// The packet.
        packet: &'a Packet,
    },
    /// A conditioner set the precedence of a packet.
    Coloured {
        /// The link where it happened.
        link: LinkId,
        /// The packet as it leaves the conditioner.
        packet: &'a Packet,
    },
    /// A queue accepted a packet.
    Enqueued {
        /// The link where it happened.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
        /// The backlog, including this packet.
        backlog: Backlog,
    },
    /// A packet leaves the queue of a link: its transmission begins, now or, where nothing can
    /// change that any more, at a time to come.
    Departs {
        /// The link where it happens.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
        /// Time at which its transmission begins.
        at: Time,
    },
    /// A queue set the CE codepoint instead of dropping.
    Marked {
        /// The link where it happened.
        link: LinkId,
        /// The packet, marked.
        packet: &'a Packet,
    },
    /// A queue law has taken a note, such as that it has adapted its parameters, on the arrival of
    /// a packet.
    Noted {
        /// The link where it happened.
        link: LinkId,
        /// The note.
        note: &'a LawNote<'a>,
    },
    /// A packet was dropped.
    Dropped {
        /// The link where it happened.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
        /// The reason.
        reason: DropReason,
    },
    /// The wire of a link made two of a packet.
    Duplicated {
        /// The link where it happened.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
    },
    /// A packet reached its destination.
    Delivered {
        /// The packet.
        packet: &'a Packet,
        /// Time since it was handed to the network.
        delay: Span,
    },
    /// A sender changed its congestion window.
    Window {
        /// The flow of the sender or source.
        flow: FlowId,
        /// Congestion window in bytes.
        cwnd: f64,
        /// Slow-start threshold in bytes.
        ssthresh: f64,
    },
    /// A paced source changed the scale of its rate.
    Pace {
        /// The flow of the sender or source.
        flow: FlowId,
        /// Its rate over its nominal rate; 0 between sessions.
        scale: f64,
    },
    /// A retransmission timer expired.
    Timeout {
        /// The flow of the sender or source.
        flow: FlowId,
    },
    /// A sender reduced its congestion window.
    Reduced {
        /// The flow of the sender or source.
        flow: FlowId,
        /// The congestion signal that caused it.
        signal: Signal,
        /// Congestion window in bytes before.
        before: f64,
        /// Bytes in flight as estimated by the sender, at most the window.
        flight: f64,
        /// Congestion window in bytes afterwards, before any inflation by fast recovery.
        cwnd: f64,
        /// Slow-start threshold in bytes afterwards.
        ssthresh: f64,
    },
    /// A flow began.
    Started {
        /// The flow.
        flow: FlowId,
    },
    /// A flow ended: all its data delivered, or its stop time reached.
    Ended {
        /// The flow.
        flow: FlowId,
    },
    /// All that the application of a flow wrote at once, or that a client asked for, has reached
    /// the receiving application.
    Completed {
        /// The flow; of a client with several, the first.
        flow: FlowId,
        /// Number of the client's flows, 1 for a write.
        flows: u32,
        /// Time at which it was written, or asked for.
        begun: Time,
        /// Its bytes, without headers.
        bytes: u64,
        /// The time that its segments would take on the same links if these were empty.
        ideal: Span,
    },
    /// A call began, ended, or was not admitted.
    Call {
        /// The first flow of its class.
        flow: FlowId,
        /// Number of the call, which its packets carry in [`Packet::tag`]; `u64::MAX` if it was
        /// blocked.
        call: u64,
        /// Event that happened.
        event: CallEvent,
    },
    /// The ingress node of an aggregate begins or stops blocking new calls.
    Admission {
        /// The first flow of the aggregate.
        flow: FlowId,
        /// True if it blocks from now on.
        blocking: bool,
    },
}

/// An observer of a run, which is notified of facts and cannot influence what happens: recording
/// more never changes a run.
pub trait Observer: Send {
    /// `fact` has happened at `now`.
    fn observe(&mut self, now: Time, fact: &Observation<'_>);

    /// Returns what was recorded, as tables of columns.
    fn tables(&mut self) -> Vec<RecordTable>;
}

/// An observer whose results are asked of it by others.
impl<O: Observer> Observer for Arc<Mutex<O>> {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        self.lock().unwrap_or_else(PoisonError::into_inner).observe(now, fact);
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        self.lock().unwrap_or_else(PoisonError::into_inner).tables()
    }
}
