//! The network: elements, routes, and the loop that runs them.

use forebay_kernel::Digest;
use forebay_units::Time;

use crate::context::{Core, Letter, SINK, Sink, Standing, note};
use crate::{CallCount, Context, Element, FlowCount, Ledger, LinkCount, Observer};

/// A wired network, ready to run.
#[derive(Default)]
pub struct Network {
    places: Vec<Place>,
    core: Core,
    started: bool,
    events: u64,
}

/// An element in its place.
struct Place {
    element: Box<dyn Element>,
    /// What it received, unless that was expected.
    digest: Digest,
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
        self.places.push(Place { element, digest: Digest::default() });
        index(self.places.len() - 1)
    }

    /// The number that the next element will get.
    #[must_use]
    pub fn next_element(&self) -> u32 {
        index(self.places.len())
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
            self.take_stands();
            for me in 0..self.places.len() {
                let cx = &mut Context { core: &mut self.core, me: index(me) };
                self.places[me].element.start(cx);
                self.hand_on();
            }
        }
        let mut left = budget;
        let mut complete = true;
        while let Some(event) = self.core.agenda.take(limit) {
            let cx = &mut Context { core: &mut self.core, me: event.target };
            self.places[event.target as usize].element.wake(event.token, cx);
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
            events: self.events.wrapping_add_signed(self.core.unlisted),
            hops: self.core.traversals,
            complete,
        }
    }

    /// Find out how elements stand to their neighbours. Observers are told of everything in its
    /// time, so for them nobody is early.
    fn take_stands(&mut self) {
        let watched = !self.core.observers.is_empty();
        let books: Vec<bool> = self.places.iter().map(|p| p.element.books() && !watched).collect();
        let expects: Vec<bool> = self.places.iter().map(|p| p.element.expects()).collect();
        self.core.expected = vec![Digest::default(); self.places.len()];
        self.core.standings = self.core.routes.standings(&books, &expects);
    }

    /// Deliver everything that elements have handed on, in order. What they hand on meanwhile comes
    /// after.
    #[inline(always)]
    fn hand_on(&mut self) {
        while self.core.mail.full {
            self.core.mail.full = false;
            let Letter { packet, to, at, early } = self.core.mail.first;
            let place = &mut self.places[to as usize];
            let cx = &mut Context { core: &mut self.core, me: to };
            if early {
                place.element.expect(&packet, at, cx);
            } else {
                note(&mut place.digest, at, &packet);
                place.element.receive(&packet, cx);
            }
            if !self.core.mail.full {
                self.core.mail.refill();
            }
        }
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
        for me in 0..self.places.len() {
            self.settle_one(me);
        }
    }

    fn settle_one(&mut self, me: usize) {
        self.places[me].element.settle(&mut Context { core: &mut self.core, me: index(me) });
        // Settling may announce packets that arrive later.
        self.hand_on();
    }

    /// The inner quantities of element `number` at this instant.
    pub fn gauges(&mut self, number: u32, tell: &mut dyn FnMut(&str, f64)) {
        self.settle_one(number as usize);
        self.places[number as usize].element.gauges(tell);
    }

    /// Packets inside elements at this instant.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.places.iter().map(|place| place.element.held()).sum()
    }

    /// The fingerprint of the trajectory so far: what each element and each sink received, in
    /// order. How receptions at different places interleave shows in their times only, so that
    /// nobody needs to keep them in one line.
    #[must_use]
    pub fn digest(&mut self) -> u64 {
        self.settle();
        let mut all = Digest::default();
        let elements = self.places.iter().enumerate().map(|(number, place)| {
            match self.core.standings.get(number) {
                Some(Standing { expects: true, .. }) => &self.core.expected[number],
                _ => &place.digest,
            }
        });
        let sinks = self.core.sinks.iter().map(|sink| &sink.digest);
        for (place, digest) in (0..).zip(elements.chain(sinks)) {
            all.note(place, digest.value());
        }
        all.value()
    }
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a network has fewer than 2^32 parts")
}
