//! Watching a network: an observer of its facts, and a wrapper around each element that sees what
//! the element receives. Neither can change what happens.

use std::sync::{Arc, Mutex, MutexGuard};

use forebay_network::{
    Context, Counters, Element, ElementId, FlowId, LogicalProcess, Lookahead, Observation,
    Observer, OwnCount, Packet, RecordTable,
};
use forebay_units::Time;

use crate::Checker;

/// Receptions of an element between two looks at its inner state: gathering that may take as long
/// as its queue is.
const LOOK_EVERY: u32 = 16;

/// A checker that several watch for.
#[derive(Clone)]
pub struct Watch(Arc<Mutex<Checker>>);

impl Watch {
    /// Watch for `checker`.
    #[must_use]
    pub fn new(checker: Checker) -> Self {
        Self(Arc::new(Mutex::new(checker)))
    }

    /// The checker.
    ///
    /// # Panics
    /// If a check has panicked before.
    pub fn checker(&self) -> MutexGuard<'_, Checker> {
        self.0.lock().expect("a checker does not panic")
    }

    /// The observer to attach.
    #[must_use]
    pub fn observer(&self) -> Box<dyn Observer> {
        Box::new(self.clone())
    }

    /// `element`, which is `id`, watched.
    #[must_use]
    pub fn wrap(&self, id: ElementId, element: Box<dyn Element>) -> Box<dyn Element> {
        Box::new(Watched { element, number: id.number(), received: 0, watch: self.clone() })
    }
}

impl Observer for Watch {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        self.checker().observe(now, fact);
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}

/// An element whose receptions are watched.
struct Watched {
    element: Box<dyn Element>,
    number: u32,
    received: u32,
    watch: Watch,
}

impl Watched {
    /// Look at the inner state, as far as it concerns `flow`.
    fn look(&mut self, flow: FlowId, cx: &mut Context<'_>) {
        let now = cx.now();
        if let Some(state) = self.element.counters(cx).state {
            let (number, mut checker) = (self.number, self.watch.checker());
            state.inspect(Some(flow), &mut |fact| checker.state(now, number, &fact));
        }
    }
}

impl LogicalProcess for Watched {
    fn on_notify(&mut self, cx: &mut Context<'_>) {
        self.element.on_notify(cx);
    }

    fn prefetch_timer(&self, token: u32, counters: &Counters) {
        self.element.prefetch_timer(token, counters);
    }

    fn prefetch_packet(&self, packet: &Packet) {
        self.element.prefetch_packet(packet);
    }
}

impl Element for Watched {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.element.start(cx);
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        self.watch.checker().received(cx.now(), self.number, packet);
        self.element.receive(packet, cx);
        self.received = self.received.wrapping_add(1);
        if self.received.is_multiple_of(LOOK_EVERY) {
            self.look(packet.flow, cx);
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        self.element.wake(token, cx);
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        self.element.counters(cx)
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.element.probes(part, visit);
    }

    fn lookahead(&self) -> Lookahead<'_> {
        self.element.lookahead()
    }
}
