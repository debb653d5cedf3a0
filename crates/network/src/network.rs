//! The network: elements, routes, and the regions that run them.

use forebay_kernel::Digest;
use forebay_units::Time;

use crate::border::Cut;
use crate::context::Sink;
use crate::parallel::Exchange;
use crate::region::{Place, Region};
use crate::routes::SINK;
use crate::standing::stand;
use crate::{
    CallCount, Context, Element, FlowCount, FrameCount, Lateness, Ledger, LinkCount, Observer,
    PacedCount, Packet, PolicerCount, Standing,
};

/// A wired network, ready to run.
pub struct Network {
    /// One until the run begins, at least.
    regions: Vec<Region>,
    /// The region of each element, where there are several.
    division: Vec<u32>,
    /// Threads for several regions.
    threads: usize,
    /// What several regions share.
    exchange: Option<Exchange>,
    /// The counters of several regions together, if nothing has happened since.
    together: Option<Ledger>,
    started: bool,
}

/// Whose place is kept. A run in which it is still there is a bug.
struct Reserved;

impl Element for Reserved {
    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("an element was reserved and never made");
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("it sets no timers");
    }
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

impl Default for Network {
    fn default() -> Self {
        Self {
            regions: vec![Region::default()],
            division: Vec::new(),
            threads: 1,
            exchange: None,
            together: None,
            started: false,
        }
    }
}

impl Network {
    /// A network of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Add an element; its number.
    pub fn add(&mut self, element: Box<dyn Element>) -> u32 {
        self.whole().places.push(Place::of(element));
        self.next_element() - 1
    }

    /// Keep the next number for an element that is not made yet: see [`Network::place`].
    pub fn reserve(&mut self) -> u32 {
        self.add(Box::new(Reserved))
    }

    /// Put `element` where [`Network::reserve`] has kept a place.
    pub fn place(&mut self, number: u32, element: Box<dyn Element>) {
        self.whole().places[number as usize].element = element;
    }

    /// The number that the next element will get.
    #[must_use]
    pub fn next_element(&self) -> u32 {
        index(self.regions[0].places.len())
    }

    /// Add a sink: the end of routes whose packets are only counted, as payload but for `header`
    /// bytes of each. Its number, for the end of [`Network::add_route`].
    pub fn add_sink(&mut self, header: u64) -> u32 {
        let sinks = &mut self.whole().core.sinks;
        sinks.push(Sink { header, digest: Digest::default() });
        SINK | index(sinks.len() - 1)
    }

    /// Add counters for `count` flows; the number of the first.
    pub fn add_flows(&mut self, count: u32) -> u32 {
        let flows = &mut self.whole().core.ledger.flows;
        let first = index(flows.len());
        flows.resize(first as usize + count as usize, FlowCount::default());
        first
    }

    /// Add counters for a class of calls; its number.
    pub fn add_calls(&mut self) -> u32 {
        let calls = &mut self.whole().core.ledger.calls;
        calls.push(CallCount::default());
        index(calls.len() - 1)
    }

    /// Add counters for `count` paced sources; the number of the first.
    pub fn add_paced(&mut self, count: u32) -> u32 {
        let paced = &mut self.whole().core.ledger.paced;
        let first = index(paced.len());
        paced.resize(first as usize + count as usize, PacedCount::default());
        first
    }

    /// Add counters for `count` receivers of frames; the number of the first.
    pub fn add_frames(&mut self, count: u32) -> u32 {
        let frames = &mut self.whole().core.ledger.frames;
        let first = index(frames.len());
        frames.resize(first as usize + count as usize, FrameCount::default());
        first
    }

    /// Add counters for a policer; its number.
    pub fn add_policer(&mut self) -> u32 {
        let policers = &mut self.whole().core.ledger.policers;
        policers.push(PolicerCount::default());
        index(policers.len() - 1)
    }

    /// Count the packets of the `count` flows from `first` on that `lateness` says are late.
    pub fn count_late(&mut self, first: u32, count: u32, lateness: &Lateness) {
        let all = &mut self.whole().core.ledger.lateness;
        let (first, end) = (first as usize, first as usize + count as usize);
        all.resize(all.len().max(end), Lateness::default());
        all[first..end].fill(lateness.clone());
    }

    /// Add counters for a link; its number.
    pub fn add_link(&mut self) -> u32 {
        let links = &mut self.whole().core.ledger.links;
        links.push(LinkCount::default());
        index(links.len() - 1)
    }

    /// Add a route: the elements that a packet passes, each once, the last one its destination.
    /// Gives the number for [`crate::Packet::route`].
    pub fn add_route(&mut self, elements: &[u32]) -> u32 {
        self.whole().core.routes.add(elements)
    }

    /// Have [`crate::Context::way_back`] tell `element`, which is asked about packets of `route`,
    /// that `back` leads to their source.
    pub fn add_way_back(&mut self, element: u32, route: u32, back: u32) {
        self.whole().core.routes.add_back(element, route, back);
    }

    /// Tell `observer` everything. Before the run begins.
    pub fn attach(&mut self, observer: Box<dyn Observer>) {
        assert!(!self.started, "observers are told of everything from the beginning");
        self.whole().core.observers.push(observer);
    }

    /// Give the observers back.
    pub fn detach(&mut self) -> Vec<Box<dyn Observer>> {
        std::mem::take(&mut self.whole().core.observers)
    }

    /// Have the network run in several regions on at most so many threads: `regions` names the
    /// region of each element, from 0. Several regions a thread can be spread by what there is to
    /// do, and are kinder to caches. Nothing that happens depends on any of it. Before the run
    /// begins; without effect if there are observers then, who must be told of everything in order.
    ///
    /// Where a route leads from one region into another, it leaves an element that
    /// [books](Element::books) packets [ahead](Element::ahead) of their time, and whatever follows
    /// that element, on any route, lies in other regions; sinks do of themselves. An element that
    /// sends lies in the region of the first element of its routes.
    pub fn divide(&mut self, regions: Vec<u32>, threads: usize) {
        assert!(!self.started, "a network is divided before it runs");
        (self.division, self.threads) = (regions, threads);
    }

    /// Regions that the network runs in; known when the run has begun.
    #[must_use]
    pub fn regions(&self) -> usize {
        self.regions.len()
    }

    /// Run until simulated time `limit` (everything due at or before it), or until `budget` events
    /// were handled. Call again to go on. Several regions look at the budget when they meet.
    ///
    /// # Panics
    /// If the network was [divided](Network::divide) where it cannot be.
    pub fn run(&mut self, limit: Time, budget: u64) -> Progress {
        if !self.started {
            self.started = true;
            self.begin();
        }
        self.together = None;
        self.regions.iter_mut().for_each(|region| region.core.look = limit);
        let complete = match &self.exchange {
            Some(exchange) => exchange.run(&mut self.regions, limit, budget),
            None => {
                let region = &mut self.regions[0];
                let complete = region.advance(limit, budget);
                if complete {
                    region.finish(limit);
                }
                complete
            }
        };
        let listed: u64 = self.regions.iter().map(|region| region.events).sum();
        let unlisted: i64 = self.regions.iter().map(|region| region.core.unlisted).sum();
        Progress {
            now: self.now(),
            events: listed.wrapping_add_signed(unlisted),
            hops: self.regions.iter().map(|region| region.core.traversals).sum(),
            complete,
        }
    }

    /// Counters brought up to the present, which is the limit of a [run](Network::run) that is
    /// complete; before that, some may be ahead of it.
    pub fn ledger(&mut self) -> &Ledger {
        if self.regions.len() == 1 {
            self.settle();
            return &self.regions[0].core.ledger;
        }
        if self.together.is_none() {
            self.settle();
            let mut ledgers = self.regions.iter().map(|region| &region.core.ledger);
            let mut all = ledgers.next().expect("a network has a region").clone();
            ledgers.for_each(|ledger| all.take_in(ledger));
            self.together = Some(all);
        }
        self.together.as_ref().expect("it was made above")
    }

    /// Begin a new window of measurement at the present.
    pub fn reset_counters(&mut self) {
        self.settle();
        self.together = None;
        for region in &mut self.regions {
            let now = region.core.agenda.now();
            region.core.ledger.reset(now);
        }
    }

    /// The inner quantities of part `part` of element `number` at this instant; most elements have
    /// one part, 0.
    pub fn gauges(&mut self, number: u32, part: u32, tell: &mut dyn FnMut(&str, f64)) {
        let home = self.home_of(number as usize);
        let region = &mut self.regions[home];
        region.settle_sites();
        region.settle_one(number as usize);
        region.places[number as usize].element.gauges_of(part, tell);
    }

    /// Packets inside elements at this instant.
    #[must_use]
    pub fn held(&self) -> u64 {
        let places = self.regions.iter().flat_map(|region| &region.places);
        let told = self.regions.iter().map(|region| region.core.feeds.held());
        places.map(|place| place.element.held()).chain(told).sum()
    }

    /// The fingerprint of the trajectory so far: what each element and each sink received, in
    /// order. How receptions at different places interleave shows in their times only, so that
    /// nobody needs to keep them in one line.
    #[must_use]
    pub fn digest(&mut self) -> u64 {
        self.settle();
        let elements = if self.exchange.is_some() {
            self.division.len()
        } else {
            self.regions[0].places.len()
        };
        let of_element = |number: usize| {
            let region = &self.regions[self.home_of(number)];
            match region.core.standings.get(number) {
                Some(Standing { expects: true, .. }) => region.core.feeds.digest(number),
                _ => region.places[number].digest,
            }
        };
        // A sink lies where packets reach it, if any do; it is told of them or not.
        let of_sink = |number: usize| {
            let mut digests = self.regions.iter().flat_map(|region| {
                let told = region.core.feeds.digest(elements + number);
                [region.core.sinks[number].digest, told]
            });
            digests.find(|digest| *digest != Digest::default()).unwrap_or_default()
        };
        let sinks = (0..self.regions[0].core.sinks.len()).map(of_sink);
        let mut all = Digest::default();
        for (place, digest) in (0..).zip((0..elements).map(of_element).chain(sinks)) {
            all.take_in(place, digest.value());
        }
        all.value()
    }

    /// All of the network, which is not divided yet.
    fn whole(&mut self) -> &mut Region {
        &mut self.regions[0]
    }

    /// The region of element `number`.
    fn home_of(&self, number: usize) -> usize {
        if self.exchange.is_some() { self.division[number] as usize } else { 0 }
    }

    fn now(&self) -> Time {
        let times = self.regions.iter().map(|region| region.core.agenda.now());
        times.min().unwrap_or(Time::ZERO)
    }

    /// Divide the network if that is wanted, and let every element set its first timers. Observers
    /// are told of everything in its time, so for them nobody is told early.
    fn begin(&mut self) {
        let mut whole = std::mem::take(&mut self.regions[0]);
        let watched = !whole.core.observers.is_empty();
        let count = self.division.iter().max().map_or(1, |last| *last as usize + 1);
        let one = watched || count == 1;
        if one {
            self.division = vec![0; whole.places.len()];
        }
        let cut = Cut::new(&whole, &self.division);
        stand(&mut whole, &cut, watched);
        if one {
            self.regions[0] = whole;
        } else {
            let ahead = cut.ahead(&whole);
            let (regions, roads) = cut.divide(whole, count);
            self.regions = regions;
            self.exchange = Some(Exchange::new((count, self.threads), ahead, roads));
        }
        self.regions.iter_mut().for_each(Region::start);
    }

    fn settle(&mut self) {
        self.regions.iter_mut().for_each(Region::settle);
    }
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a network has fewer than 2^32 parts")
}
