//! The contract of elements, the logical processes of a network.
//!
//! Logical processes and lookahead are those of R. M. Fujimoto, *Parallel and Distributed
//! Simulation Systems*, 2000.

use forebay_units::{Rate, Span};

use crate::{Context, Counters, Packet};

/// A logical process: a box in which time passes, as it holds packets or timers.
///
/// It acts only through its [`Context`]. Elements are called one at a time, so none needs a lock; a
/// packet that one hands on is received by the next after the current call has returned.
pub trait Element: Send {
    /// The run begins: set the first timers.
    fn start(&mut self, _cx: &mut Context<'_>) {}

    /// A packet arrived.
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>);

    /// A packet in its [input channels](Context::inputs) that it
    /// [asked to be notified of](Context::notify_before) was sent ahead to it, or they hold
    /// [many](Context::notify_in_batches); or what follows needs all that has left by now.
    fn on_notify(&mut self, _cx: &mut Context<'_>) {}

    /// Whether it schedules the departure of each packet when it accepts it: from then on it knows
    /// when it will hand the packet on, and packets leave in order.
    fn schedules_departures(&self) -> bool {
        false
    }

    /// The lookahead of an element that [schedules departures](Element::schedules_departures): how
    /// long, at least, it knows of a packet before the far end gets it. The propagation delay of a
    /// link.
    fn ahead(&self) -> Span {
        Span::ZERO
    }

    /// The rate of an element that [schedules departures](Element::schedules_departures), if it has
    /// one. It decides whether sending packets ahead pays, and nothing else.
    fn rate(&self) -> Option<Rate> {
        None
    }

    /// Whether it can take packets from input channels: before they arrive, if all come from links
    /// that send ahead ([`Element::on_notify`]); and up to [`Element::ahead`] late, if all come
    /// from hosts whose execution is deferred.
    fn expects(&self) -> bool {
        false
    }

    /// The routes on which it sends, if it is a host whose execution can be deferred: no other
    /// element sends on them, and [`Element::can_defer`] holds.
    fn own_routes(&self) -> &[u32] {
        &[]
    }

    /// Whether its execution can be deferred, with the times at which it should have acted: it acts
    /// on nothing but its packets and its timers, and touches nothing but what its [`Context`]
    /// gives. Its own counters are read after [`Element::sync_counters`] only.
    fn can_defer(&self) -> bool {
        !self.own_routes().is_empty()
    }

    /// A timer set with [`Context::wake_at`] expired.
    fn wake(&mut self, token: u32, cx: &mut Context<'_>);

    /// The timer with `token` is among the next to expire, in a network of very many flows:
    /// [fetch](forebay_kernel::fetch()) the data that will be needed then. Changes nothing.
    fn prefetch_timer(&self, _token: u32, _counters: &Counters) {}

    /// `packet` is among the next to be received, in a network of very many flows: as
    /// [`Element::prefetch_timer`]. The executive fetches the counters of its flow.
    fn prefetch_packet(&self, _packet: &Packet) {}

    /// Bring counters up to the current time; called before they are read. Must not change the
    /// trajectory: it sets no timer and hands nothing on, but may send ahead what is decided.
    fn sync_counters(&mut self, _cx: &mut Context<'_>) {}

    /// Visit the internal quantities worth plotting, by name, with their values at this instant.
    /// Called after [`Element::sync_counters`].
    fn probes(&self, _visit: &mut dyn FnMut(&str, f64)) {}

    /// The probes of one part, of an element that is presented as several, as a ring is by its
    /// spans.
    fn probes_of(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.probes(visit);
    }

    /// How many packets it holds, for the check that packets are conserved.
    fn held(&self) -> u64 {
        0
    }
}

/// How far the execution of an element may deviate from the order of events: what it may send ahead
/// and receive ahead, and by how much it may be deferred. Follows from the routes and the
/// observers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lookahead {
    /// Every packet comes by the input channels: ahead of its time from links that send ahead, or
    /// late from hosts whose execution is deferred. See [`Element::on_notify`].
    pub expects: bool,
    /// All packets that leave go to elements with input channels, or also to sinks: they are sent
    /// there by [`Context::send_ahead`] ahead of their time, and a departure needs no event.
    pub early: bool,
    /// All packets that leave go to sinks: these need no input channels, and a departure needs no
    /// event. See [`Context::crossed_at`].
    pub quiet: bool,
    /// Departures need to be decided only when counters or probes are read, or (unless `quiet`)
    /// when they could have reached the element that takes them from an input channel.
    pub lazy: bool,
    /// If `early`: how long after a packet has left it can still be sent ahead.
    pub slack: Span,
    /// By how much its own execution may be deferred, or that of the hosts that hand it packets.
    pub late: Span,
}
