//! The contracts of laws at the edges of a PCN domain (RFC 5559): what the egress node reports to
//! the ingress node of an ingress-egress aggregate, and what the ingress node does about it.
//!
//! A law has two halves that see each other only through signals: methods named `leaves` and
//! `interval_ended` are asked at the egress node, `signalled` and `expired` at the ingress node.
//! The element carries the signals and knows how long they take.

use forebay_units::{Span, Time};

use forebay_network::PcnMark;

/// A packet of the aggregate as the egress node sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaving {
    /// The present.
    pub now: Time,
    /// Its mark; `None` if it is not PCN traffic.
    pub mark: Option<PcnMark>,
    /// Its size on the wire in bytes.
    pub size: u16,
    /// The call that it belongs to.
    pub call: u64,
}

/// Report of the egress node to the ingress node about admission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdmissionSignal {
    /// "Admission-stop": block new calls.
    Stop,
    /// "Admission-continue": admit new calls.
    Continue,
}

/// Flow admission of an aggregate: which new calls are blocked.
pub trait AdmissionControl: Send {
    /// Egress node: a packet leaves the domain. A signal for the ingress node, if there is one.
    fn leaves(&mut self, _packet: &Leaving) -> Option<AdmissionSignal> {
        None
    }

    /// Egress node: the interval over which it measures, if it does.
    fn interval(&self) -> Option<Span> {
        None
    }

    /// Egress node: an interval of measurement has ended.
    fn interval_ended(&mut self, _now: Time) -> Option<AdmissionSignal> {
        None
    }

    /// Ingress node: a signal has arrived. When [`AdmissionControl::expired`] is to be called, if a
    /// timer is to be set.
    fn signalled(&mut self, _signal: AdmissionSignal, _now: Time) -> Option<Time> {
        None
    }

    /// Ingress node: the timer has expired. When the next does, if one is to be set.
    fn expired(&mut self, _now: Time) -> Option<Time> {
        None
    }

    /// Ingress node: whether a new call may in while `present` calls of the aggregate are.
    fn admits(&self, present: u32) -> bool;
}

/// Report of the egress node to the ingress node about termination.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TerminationSignal {
    /// Terminate this call.
    Call(u64),
    /// Result of an interval of measurement.
    Report {
        /// True if it saw excess-traffic-marked packets.
        excess: bool,
        /// The rate that the path can sustain, in bit/s (SAR of RFC 6661, section 3.3.2).
        sustainable: f64,
    },
}

/// Action of the ingress node on a [`TerminationSignal`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Termination {
    /// Nothing.
    Nothing,
    /// Terminate this call.
    Call(u64),
    /// Terminate calls of this rate in all, in bit/s; those seen with excess-traffic marks first.
    Amount(f64),
}

/// Flow termination of an aggregate: which calls in progress must end.
pub trait FlowTermination: Send {
    /// Egress node: a packet leaves the domain. A signal for the ingress node, if there is one.
    fn leaves(&mut self, packet: &Leaving) -> Option<TerminationSignal>;

    /// Egress node: the interval over which it measures, if it does.
    fn interval(&self) -> Option<Span> {
        None
    }

    /// Egress node: an interval of measurement has ended.
    fn interval_ended(&mut self, _now: Time) -> Option<TerminationSignal> {
        None
    }

    /// Ingress node: a signal has arrived. `sent` is the rate in bit/s at which the aggregate
    /// entered the domain during the interval of measurement that ended last (0 for laws that
    /// measure no intervals).
    fn signalled(&mut self, signal: TerminationSignal, sent: f64, now: Time) -> Termination;
}
