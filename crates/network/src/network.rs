//! The network: elements, routes, and the loop that runs them.

use forebay_units::Time;

use crate::context::Core;
use crate::{CallCount, Context, Element, FlowCount, Ledger, LinkCount, Observer, Packet};

/// A wired network, ready to run.
#[derive(Default)]
pub struct Network {
    elements: Vec<Box<dyn Element>>,
    core: Core,
    started: bool,
    events: u64,
}

/// What a run has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Simulated time reached.
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Link traversals: packets that reached the far end of a link.
    pub hops: u64,
    /// Whether the limit was reached; false if the budget of events was spent first.
    pub complete: bool,
}

impl Network {
    /// A network of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Add an element; its number.
    pub fn add(&mut self, element: Box<dyn Element>) -> u32 {
        self.elements.push(element);
        index(self.elements.len() - 1)
    }

    /// The number that the next element will get.
    #[must_use]
    pub fn next_element(&self) -> u32 {
        index(self.elements.len())
    }

    /// Add counters for `count` flows; the number of the first.
    pub fn add_flows(&mut self, count: u32) -> u32 {
        let first = index(self.core.ledger.flows.len());
        let total = first as usize + count as usize;
        self.core.ledger.flows.resize(total, FlowCount::default());
        first
    }

    /// Add counters for a class of calls; its number.
    pub fn add_calls(&mut self) -> u32 {
        self.core.ledger.calls.push(CallCount::default());
        index(self.core.ledger.calls.len() - 1)
    }

    /// Add counters for a link; its number.
    pub fn add_link(&mut self) -> u32 {
        self.core.ledger.links.push(LinkCount::default());
        index(self.core.ledger.links.len() - 1)
    }

    /// Add a route: the elements that a packet passes, each once, the last one its destination.
    /// Gives the number for [`Packet::route`].
    pub fn add_route(&mut self, elements: &[u32]) -> u32 {
        self.core.routes.add(elements)
    }

    /// Tell `observer` everything from now on.
    pub fn attach(&mut self, observer: Box<dyn Observer>) {
        self.core.observers.push(observer);
    }

    /// Give the observers back.
    pub fn detach(&mut self) -> Vec<Box<dyn Observer>> {
        std::mem::take(&mut self.core.observers)
    }

    /// Run until simulated time `limit` (everything due at or before it), or until `budget` events
    /// were handled. Call again to go on.
    pub fn run(&mut self, limit: Time, budget: u64) -> Progress {
        if !self.started {
            self.started = true;
            for me in 0..self.elements.len() {
                let cx = &mut Context { core: &mut self.core, me: index(me) };
                self.elements[me].start(cx);
                self.hand_on();
            }
        }
        let mut left = budget;
        let mut complete = true;
        while let Some(event) = self.core.agenda.take(limit) {
            let cx = &mut Context { core: &mut self.core, me: event.target };
            self.elements[event.target as usize].wake(event.token, cx);
            self.hand_on();
            left -= 1;
            if left == 0 {
                complete = false;
                break;
            }
        }
        self.events += budget - left;
        if complete {
            self.core.agenda.pass_to(limit);
        }
        Progress {
            now: self.core.agenda.now(),
            events: self.events,
            hops: self.core.traversals,
            complete,
        }
    }

    /// Deliver everything that elements have handed on, in order. What they hand on meanwhile comes
    /// after.
    #[inline]
    fn hand_on(&mut self) {
        let mut at = 0;
        while let Some(&to) = self.core.mail.to.get(at) {
            let packet = self.core.mail.packets[at];
            at += 1;
            note(&mut self.core, to, &packet);
            let cx = &mut Context { core: &mut self.core, me: to };
            self.elements[to as usize].receive(&packet, cx);
        }
        self.core.mail.clear();
    }

    /// Counters brought up to the present.
    pub fn ledger(&mut self) -> &Ledger {
        self.settle();
        &self.core.ledger
    }

    /// Begin a new window of measurement at the present.
    pub fn reset_counters(&mut self) {
        self.settle();
        let now = self.core.agenda.now();
        self.core.ledger.reset(now);
    }

    fn settle(&mut self) {
        let now = self.core.agenda.now();
        for element in &mut self.elements {
            element.settle(now, &mut self.core.ledger);
        }
    }

    /// The inner quantities of element `number` at this instant.
    pub fn gauges(&mut self, number: u32, tell: &mut dyn FnMut(&str, f64)) {
        let now = self.core.agenda.now();
        let element = &mut self.elements[number as usize];
        element.settle(now, &mut self.core.ledger);
        element.gauges(tell);
    }

    /// Packets inside elements at this instant.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.elements.iter().map(|element| element.held()).sum()
    }

    /// The fingerprint of the trajectory so far.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.core.digest.value()
    }
}

#[inline]
fn note(core: &mut Core, to: u32, packet: &Packet) {
    let now = core.agenda.now().ps();
    let header = u64::from(packet.size)
        | u64::from(packet.precedence) << 16
        | u64::from(packet.flag_bits()) << 24
        | u64::from(packet.flow) << 32;
    // Data of calls carry the call in their tag; the tag of an acknowledgement repeats a time.
    let call = if packet.is_ack() { 0 } else { packet.tag.rotate_left(16) };
    core.digest.note(now ^ (u64::from(to) << 44), packet.number.rotate_left(32) ^ header ^ call);
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a network has fewer than 2^32 parts")
}
