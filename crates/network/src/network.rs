//! The network: elements, routes, and the loop that runs them.

use forebay_kernel::Digest;
use forebay_units::Time;

use crate::context::{Core, SINK, Sink, note};
use crate::{CallCount, Context, Element, FlowCount, Ledger, LinkCount, Observer};

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
    /// Events handled, those of the model that needed no entry in the event list included: the
    /// number does not depend on who watches.
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
        self.core.digests.push(Digest::default());
        index(self.elements.len() - 1)
    }

    /// The number that the next element will get.
    #[must_use]
    pub fn next_element(&self) -> u32 {
        index(self.elements.len())
    }

    /// Add a sink: the end of routes whose packets are only counted, as payload but for `header`
    /// bytes of each. Its number, for the end of [`Network::add_route`].
    pub fn add_sink(&mut self, header: u64) -> u32 {
        self.core.sinks.push(Sink { header, digest: Digest::default() });
        SINK | index(self.core.sinks.len() - 1)
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
            self.settle();
        }
        Progress {
            now: self.core.agenda.now(),
            events: self.events + self.core.unlisted,
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
            let now = self.core.agenda.now();
            note(&mut self.core.digests[to as usize], now, &packet);
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
        for me in 0..self.elements.len() {
            self.settle_one(me);
        }
    }

    fn settle_one(&mut self, me: usize) {
        self.elements[me].settle(&mut Context { core: &mut self.core, me: index(me) });
    }

    /// The inner quantities of element `number` at this instant.
    pub fn gauges(&mut self, number: u32, tell: &mut dyn FnMut(&str, f64)) {
        self.settle_one(number as usize);
        self.elements[number as usize].gauges(tell);
    }

    /// Packets inside elements at this instant.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.elements.iter().map(|element| element.held()).sum()
    }

    /// The fingerprint of the trajectory so far: what each element and each sink received, in
    /// order. How receptions at different places interleave shows in their times only, so that
    /// nobody needs to keep them in one line.
    #[must_use]
    pub fn digest(&mut self) -> u64 {
        self.settle();
        let mut all = Digest::default();
        let sinks = self.core.sinks.iter().map(|sink| &sink.digest);
        for (place, digest) in (0..).zip(self.core.digests.iter().chain(sinks)) {
            all.note(place, digest.value());
        }
        all.value()
    }
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a network has fewer than 2^32 parts")
}
