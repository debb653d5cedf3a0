//! The contract of elements: boxes in which time passes.

use forebay_units::{Rate, Span};

use crate::{Context, Ledger, Packet};

/// A box in which time passes: it holds packets or timers.
///
/// It acts only through its [`Context`]. Elements are told of everything one at a time, so none
/// needs a lock; a packet that one sends is received by the next after the present call has
/// returned.
pub trait Element: Send {
    /// The run begins: set the first timers.
    fn start(&mut self, _cx: &mut Context<'_>) {}

    /// A packet arrived.
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>);

    /// There is news in its [inbox](Context::inbox) that it [listens to](Context::listen_before);
    /// or who follows needs to know all that has left by now.
    fn told(&mut self, _cx: &mut Context<'_>) {}

    /// Whether it knows of each packet when it takes it in at what time it will hand it on, and
    /// does so in order.
    fn books(&self) -> bool {
        false
    }

    /// Where it [books](Element::books): how long before the far end gets a packet it knows of it,
    /// at the least. The propagation delay of a link.
    fn ahead(&self) -> Span {
        Span::ZERO
    }

    /// Where it [books](Element::books): its rate, if it has one. That tells whether it is worth it
    /// to tell others early of what leaves, and nothing else.
    fn rate(&self) -> Option<Rate> {
        None
    }

    /// Whether it can be told of packets before they arrive, if all come from links that tell early
    /// ([`Element::told`]); and whether it can receive them up to [`Element::ahead`] late, if all
    /// come from hosts that are run late.
    fn expects(&self) -> bool {
        false
    }

    /// The routes on which it sends, if it is a host that can be run late: nobody else sends on
    /// them, and what [`Element::can_lag`] says holds.
    fn sends(&self) -> &[u32] {
        &[]
    }

    /// Whether it can be run late, with the times at which it should have acted: it acts on nothing
    /// but its packets and its timers, and touches nothing but what its [`Context`] gives. What it
    /// counts itself is read after [`Element::settle`] only.
    fn can_lag(&self) -> bool {
        !self.sends().is_empty()
    }

    /// A timer set with [`Context::wake_at`] expired.
    fn wake(&mut self, token: u32, cx: &mut Context<'_>);

    /// The timer with `token` will expire soon, where there are very many: time to
    /// [fetch](forebay_kernel::fetch()) what will be needed then. Changes nothing.
    fn foresee_timer(&self, _token: u32, _ledger: &Ledger) {}

    /// `packet` will be received soon, in a network of very many flows: as
    /// [`Element::foresee_timer`]. The counters of its flow are fetched by others.
    fn foresee_packet(&self, _packet: &Packet) {}

    /// Bring counters up to the present; asked before they are read. Must not change what happens:
    /// it sets no timer and sends nothing, but may announce what it has decided.
    fn settle(&mut self, _cx: &mut Context<'_>) {}

    /// Inner quantities worth plotting at this instant: told by name. Asked after
    /// [`Element::settle`].
    fn gauges(&self, _tell: &mut dyn FnMut(&str, f64)) {}

    /// The gauges of one part, where an element is several to those who look at it, as a ring is to
    /// its spans.
    fn gauges_of(&self, _part: u32, tell: &mut dyn FnMut(&str, f64)) {
        self.gauges(tell);
    }

    /// Packets held inside, for the check of conservation.
    fn held(&self) -> u64 {
        0
    }
}

/// How an element stands to its neighbours, which the routes and the observers decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    /// Every packet comes through the inbox: ahead of its time from links that tell early, or late
    /// from hosts that are run late. See [`Element::told`].
    pub expects: bool,
    /// Whatever leaves goes to elements that expect it, or also to sinks: they are told by
    /// [`Context::announce`] ahead of its time, and leaving needs no event.
    pub early: bool,
    /// Whatever leaves goes to sinks: these need not be told, and leaving needs no event. See
    /// [`Context::crossed_at`].
    pub quiet: bool,
    /// What leaves needs to be decided only when somebody looks, or (unless `quiet`) when it could
    /// have reached whoever expects it.
    pub lazy: bool,
    /// Where it is `early`: how long after a packet has left others can still be told of it.
    pub slack: Span,
    /// How late it may be run itself, or be handed packets by hosts that are.
    pub late: Span,
}
