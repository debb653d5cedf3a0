//! The contract of elements: the boxes of a network in which time passes.

use crate::{Context, LogicalProcess, Lookahead, OwnCount, Packet};

/// A box in which time passes, as it holds packets or timers: a source, link, shaper, ring or sink.
///
/// It acts only through its [`Context`]. Elements are called one at a time, so none needs a lock; a
/// packet that one hands on is received by the next after the current call has returned. How it can
/// be executed ahead of events, or after them, is stated by [`Element::lookahead`] and
/// [`LogicalProcess`]; an element that says nothing of it is executed event by event.
pub trait Element: LogicalProcess + Send {
    /// The run begins: set the first timers.
    fn start(&mut self, _cx: &mut Context<'_>) {}

    /// A packet arrived.
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>);

    /// A timer set with [`Context::wake_at`] expired.
    fn wake(&mut self, token: u32, cx: &mut Context<'_>);

    /// Bring counters up to the current time, and show the own ones; called before they are read.
    /// Must not change the trajectory: it sets no timer and hands nothing on, but may send ahead
    /// what is decided.
    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::default()
    }

    /// Visit the internal quantities worth plotting, by name, with their values at this instant.
    /// Called after [`Element::counters`]. Most elements have one part, 0; one that is
    /// presented as several, as a ring is by its spans, has as many parts. Senders show their group
    /// as part 0, and flow n of it as part n + 1.
    fn probes(&self, _part: u32, _visit: &mut dyn FnMut(&str, f64)) {}

    /// Returns the properties that the engine may assume of this element. Asked when the run
    /// begins.
    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::NONE
    }
}
