//! Lookahead of elements, and the execution that follows from it.
//!
//! In conservative parallel simulation a logical process with lookahead notifies its neighbours
//! early what they will receive, and each advances as far as its input is known (K. M. Chandy and
//! J. Misra, CACM 24 (1981) 198-206; R. M. Fujimoto, *Parallel and Distributed Simulation Systems*,
//! 2000). The lookahead of a link is its propagation delay.

use forebay_units::{Rate, Span};

use crate::RouteId;

/// Properties that the engine may assume of an element.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lookahead<'a> {
    /// True if it schedules the departure of each packet when it accepts it: from then on it knows
    /// when it will hand the packet on, and packets leave in order.
    pub schedules_departures: bool,
    /// Least span, if it schedules departures, for which it knows of a packet before the far end
    /// gets it: the propagation delay of a link.
    pub span: Span,
    /// Its rate, if it schedules departures and has one. It decides whether sending packets ahead
    /// pays, and nothing else.
    pub rate: Option<Rate>,
    /// True if it can take packets from input channels: before they arrive, if all come from links
    /// that send ahead ([`crate::LogicalProcess::on_notify`]); and up to `span` late, if all come
    /// from hosts whose execution is deferred.
    pub accepts_ahead: bool,
    /// The routes on which it sends, if it is a host whose execution can be deferred: no other
    /// element sends on them.
    pub own_routes: &'a [RouteId],
    /// True if its execution can be deferred, with the times at which it should have acted: it acts
    /// on nothing but its packets and its timers, and touches nothing but what its
    /// [`crate::Context`] gives.
    pub can_defer: bool,
}

impl Lookahead<'_> {
    /// Nothing: the element is executed event by event.
    pub const NONE: Self = Self {
        schedules_departures: false,
        span: Span::ZERO,
        rate: None,
        accepts_ahead: false,
        own_routes: &[],
        can_defer: false,
    };
}

impl<'a> Lookahead<'a> {
    /// A host whose execution can be deferred, and which alone sends on `own_routes`.
    #[must_use]
    pub const fn host(own_routes: &'a [RouteId]) -> Self {
        Self { own_routes, can_defer: !own_routes.is_empty(), ..Lookahead::NONE }
    }
}

/// Ways in which what leaves an element reaches the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Departures {
    /// An event brings the packet when it reaches the far end.
    #[default]
    Timed,
    /// All elements that follow have input channels, and sinks may: packets are
    /// [sent ahead](crate::LookaheadContext::send_ahead) of their time and need no event.
    Ahead,
    /// Only sinks follow: they need no input channels, and a departure no event. See
    /// [`crate::LookaheadContext::crossed_at`].
    ToSinks,
}

/// Way in which an element is executed, as the engine has found it from the routes, the lookahead
/// of all elements and the observers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExecutionMode {
    /// True if every packet comes by the input channels: ahead of its time from links that send
    /// ahead, or late from hosts whose execution is deferred. See
    /// [`crate::LogicalProcess::on_notify`].
    pub takes_from_channels: bool,
    /// Way in which what leaves it reaches the next.
    pub departures: Departures,
    /// True if departures need to be decided only when counters or probes are read, or (where they
    /// are sent ahead) when they could have reached the element that takes them from an input
    /// channel.
    pub lazy: bool,
    /// Span after the departure of a packet within which it can still be sent ahead, where
    /// departures are.
    pub slack: Span,
    /// Span by which its own execution may be deferred, or that of the hosts that hand it packets.
    pub late: Span,
}

impl ExecutionMode {
    /// Returns true if what leaves is sent ahead.
    #[inline(always)]
    #[must_use]
    pub const fn sends_ahead(&self) -> bool {
        matches!(self.departures, Departures::Ahead)
    }

    /// Returns true if what leaves goes to sinks only.
    #[inline(always)]
    #[must_use]
    pub const fn to_sinks(&self) -> bool {
        matches!(self.departures, Departures::ToSinks)
    }
}
