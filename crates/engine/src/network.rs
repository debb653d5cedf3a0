//! The network: elements and routes, and the partitions (logical processes) that execute them
//! (Fujimoto, *Parallel and Distributed Simulation Systems*, 2000).

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forebay_kernel::Digest;
use forebay_network::executive::Sink;
use forebay_network::{
    Context, Counters, DelayTable, DeliveryMeter, Destination, Element, ElementCounters, ElementId,
    ExecutionMode, FlowCount, FlowId, ForwardingRule, LinkCount, LinkId, LogicalProcess, NodeId,
    Observer, Packet, ReceiverId, RouteId, SinkId, StateFact,
};
use forebay_units::Time;

use crate::boundary::PartitionMap;
use crate::lookahead::analyse;
use crate::parallel::Exchange;
use crate::partition::Partition;
use crate::slot::Slot;

/// A wired network, ready to run.
pub struct Network {
    /// At least one; exactly one until the run begins.
    partitions: Vec<Partition>,
    /// The partition of each element, where there are several.
    partition_of: Vec<u32>,
    /// Threads for several partitions.
    threads: usize,
    /// State that several partitions share.
    exchange: Option<Exchange>,
    /// The merged counters of several partitions, if nothing has happened since.
    merged: Option<Counters>,
    started: bool,
    /// True if every counter is at the current time, and nothing has happened since.
    synced: bool,
    /// Data packets sent before the present measurement window, and those of them that neither
    /// arrived nor were dropped before it.
    before: Traffic,
}

/// Data packets of all flows so far, warm-up included.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// Packets that were sent.
    pub sent: u64,
    /// Those of them that neither arrived nor were dropped yet.
    pub held: u64,
}

/// Fills a reserved slot. A run in which one is left is a bug.
struct Placeholder;

impl LogicalProcess for Placeholder {}

impl Element for Placeholder {
    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("an element was reserved and never made");
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("a placeholder sets no timers");
    }
}

/// State that a run has reached so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Simulated time reached.
    pub now: Time,
    /// Events handled, including those of the model that needed no entry in the event list: the
    /// number does not depend on observers.
    pub events: u64,
    /// Packet hops: packets that reached the far end of a link.
    pub hops: u64,
    /// True if the limit was reached; false if the budget of events was spent first.
    pub complete: bool,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            partitions: vec![Partition::default()],
            partition_of: Vec::new(),
            threads: 1,
            exchange: None,
            merged: None,
            started: false,
            synced: false,
            before: Traffic::default(),
        }
    }
}

impl Network {
    /// An empty network.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Add an element; its identifier.
    pub fn add(&mut self, element: Box<dyn Element>) -> ElementId {
        let id = self.next_element();
        self.whole().slots.push(Slot::of(element));
        id
    }

    /// Reserve the next identifier for an element that is added later: see [`Network::place`].
    pub fn reserve(&mut self) -> ElementId {
        self.add(Box::new(Placeholder))
    }

    /// Put `element` in the slot that [`Network::reserve`] has reserved.
    pub fn place(&mut self, id: ElementId, element: Box<dyn Element>) {
        self.whole().slots[id.index()].element = element;
    }

    /// The identifier that the next element will get.
    #[must_use]
    pub fn next_element(&self) -> ElementId {
        ElementId::new(self.elements())
    }

    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.partitions[0].slots.len()
    }

    /// Add a sink: an end of routes that only counts packets, as payload except for `header` bytes
    /// of each. Its identifier, for the end of [`Network::add_route`].
    pub fn add_sink(&mut self, header: u64) -> SinkId {
        let sinks = &mut self.whole().core.sinks;
        sinks.push(Sink { header, digest: Digest::default() });
        SinkId::new(sinks.len() - 1)
    }

    /// Add counters for `count` flows; the first of them.
    pub fn add_flows(&mut self, count: u32) -> FlowId {
        let flows = &mut self.whole().core.counters.flows;
        let first = FlowId::new(flows.len());
        flows.resize(first.index() + count as usize, FlowCount::default());
        first
    }

    /// Count the delays of the data packets of all flows in `delays`.
    pub fn count_delays(&mut self, delays: DelayTable) {
        self.whole().core.delays = delays;
    }

    /// Count the data packets of the `count` flows from `first` on, where they are delivered, with
    /// copies of `meter` as well.
    pub fn meter_deliveries(&mut self, first: FlowId, count: u32, meter: &dyn DeliveryMeter) {
        let meters = &mut self.whole().core.meters;
        let (first, end) = (first.index(), first.index() + count as usize);
        meters.resize_with(meters.len().max(end), || None);
        meters[first..end].fill_with(|| Some(meter.fresh()));
    }

    /// Add counters for a link; its identifier.
    pub fn add_link(&mut self) -> LinkId {
        let links = &mut self.whole().core.counters.links;
        links.push(LinkCount::default());
        LinkId::new(links.len() - 1)
    }

    /// Add a route: the elements that a packet passes, each once, and the element or sink at its
    /// end. Its identifier, for [`crate::Packet::route`].
    pub fn add_route(&mut self, elements: &[ElementId], end: impl Into<Destination>) -> RouteId {
        self.whole().core.routes.add(elements, end.into())
    }

    /// Add the rule by which a fabric forwards; the first of its nodes, which the others follow.
    pub fn add_rule(&mut self, rule: Box<dyn ForwardingRule>) -> NodeId {
        self.whole().core.routes.add_rule(rule)
    }

    /// Have what leaves `link` be forwarded by rule at `node` of a fabric.
    pub fn lead_to(&mut self, link: ElementId, node: NodeId) {
        self.whole().core.routes.lead_to(link, node);
    }

    /// Have what leaves `link` be handed to `next`, an element of its wire, on all routes by rule.
    pub fn lead_on(&mut self, link: ElementId, next: ElementId) {
        self.whole().core.routes.lead_on(link, next);
    }

    /// Add a route by rule: from `first`, a link from a host of a fabric, to the host `goal`, where
    /// its packets are for `end`. All that follows a node of a fabric lies in one partition.
    pub fn add_route_by_rule(
        &mut self,
        first: ElementId,
        goal: NodeId,
        end: impl Into<Destination>,
    ) -> RouteId {
        self.whole().core.routes.add_by_rule(first, goal, end.into())
    }

    /// Replaces `route`, for what is sent on it, by each of `routes` from its time on. Then no host
    /// is deferred, as its packets enter the network at changing places; and the network cannot be
    /// divided.
    pub fn add_detours(&mut self, route: RouteId, routes: Vec<(Time, RouteId)>) {
        self.whole().core.detours.get_or_insert_default().add(route, routes);
    }

    /// Set the reverse route from `element` for packets of `route`: `back` leads to their source.
    /// [`crate::Context::reverse_route`] looks it up.
    pub fn add_reverse_route(&mut self, element: ElementId, route: RouteId, back: RouteId) {
        self.whole().core.routes.add_reverse(element, route, back);
    }

    /// Replace every element by what `wrap` makes of it, given its number. Before the run begins:
    /// for observation of what elements receive.
    pub fn wrap_elements(
        &mut self,
        wrap: &mut dyn FnMut(ElementId, Box<dyn Element>) -> Box<dyn Element>,
    ) {
        assert!(!self.started, "elements must be wrapped before the run begins");
        for (index, slot) in self.whole().slots.iter_mut().enumerate() {
            let element = std::mem::replace(&mut slot.element, Box::new(Placeholder));
            slot.element = wrap(ElementId::new(index), element);
        }
    }

    /// Returns the destination that follows `element` on `route`. To be called before the run
    /// begins.
    pub fn after(&mut self, element: ElementId, route: RouteId) -> Destination {
        assert!(!self.started, "routes lead out of partitions once the run has begun");
        self.whole().core.routes.after(element, route).to()
    }

    /// Visit the inner state that `element` states, at the current time.
    pub fn inspect(&mut self, element: ElementId, visit: &mut dyn FnMut(StateFact)) {
        if let Some(state) = self.synced(element).own_count(element).state {
            state.inspect(None, visit);
        }
    }

    /// Attach an observer, which is notified of every fact. Before the run begins.
    pub fn attach(&mut self, observer: Box<dyn Observer>) {
        assert!(!self.started, "observers must be attached before the run begins");
        self.whole().core.observers.push(observer);
    }

    /// Detach and return the observers.
    pub fn detach(&mut self) -> Vec<Box<dyn Observer>> {
        std::mem::take(&mut self.whole().core.observers)
    }

    /// Run the network in several partitions on at most `threads` threads: `partition_of` is the
    /// partition of each element, from 0. With several partitions a thread the load can be balanced
    /// and caches are used better. The trajectory does not depend on any of it. Before the run
    /// begins; without effect if there are observers then, which must be notified of all facts in
    /// order.
    ///
    /// Where a route leads from one partition into another, it leaves an element that
    /// schedules departures, with a [span](forebay_network::Lookahead::span) of lookahead,
    /// and whatever follows that element, on any route, lies in other partitions; sinks do so
    /// automatically. An element that sends lies in the partition of the first element of its
    /// routes.
    pub fn divide(&mut self, partition_of: Vec<u32>, threads: usize) {
        assert!(!self.started, "a network must be divided before the run begins");
        (self.partition_of, self.threads) = (partition_of, threads);
    }

    /// Have the run stop soon after another thread has set `flag`: [`Network::run`] then unwinds
    /// with [`Cancelled`](forebay_network::executive::Cancelled), and the network is not to be used
    /// any more. Before the run begins.
    pub fn stop_on(&mut self, flag: Arc<AtomicBool>) {
        assert!(!self.started, "how a run is stopped must be said before it begins");
        self.whole().core.cancelled = flag;
    }

    /// Number of partitions that the network runs in; known when the run has begun.
    #[must_use]
    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Run until simulated time `limit` (everything due at or before it), or until `budget` events
    /// were handled, or one that stood for very many packets. Call again to continue. Several
    /// partitions check the budget at barriers.
    ///
    /// # Panics
    /// If the network was [divided](Network::divide) where that is not possible.
    pub fn run(&mut self, limit: Time, budget: u64) -> Progress {
        if !self.started {
            self.started = true;
            self.begin();
        }
        (self.merged, self.synced) = (None, false);
        self.partitions.iter_mut().for_each(|partition| partition.core.sync_time = limit);
        let complete = match &self.exchange {
            Some(exchange) => exchange.run(&mut self.partitions, limit, budget),
            None => {
                let partition = &mut self.partitions[0];
                let complete = partition.advance(limit, budget);
                if complete {
                    partition.finish(limit);
                    self.synced = true;
                }
                complete
            }
        };
        let list_events: u64 = self.partitions.iter().map(|partition| partition.events).sum();
        let virtual_events: i64 =
            self.partitions.iter().map(|partition| partition.core.virtual_events).sum();
        Progress {
            now: self.now(),
            events: list_events.wrapping_add_signed(virtual_events),
            hops: self.partitions.iter().map(|partition| partition.core.counters.hops).sum(),
            complete,
        }
    }

    /// Number of flows that are counted.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.partitions[0].core.counters.flows.len()
    }

    /// Ways in which the elements are executed, once a [run](Network::run) has begun.
    #[must_use]
    pub fn modes(&self) -> &[ExecutionMode] {
        &self.partitions[0].core.modes
    }

    /// Data packets that all flows have sent so far: a sum over flows, which takes its time where
    /// there are very many. Counters need not be at the current time.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        let flows = self.partitions.iter().flat_map(|partition| &partition.core.counters.flows);
        let add = |(sent, gone): (u64, u64), flow: &FlowCount| {
            (
                sent + flow.sent.packets + flow.duplicated,
                gone + flow.delivered.packets + flow.dropped.packets,
            )
        };
        let (sent, gone) = flows.fold((0, 0), add);
        Traffic {
            sent: self.before.sent + sent,
            held: (self.before.held + sent).saturating_sub(gone),
        }
    }

    /// The counters, brought up to the current time, which is the limit of a [run](Network::run)
    /// that is complete; before that, some may be ahead of it.
    pub fn counters(&mut self) -> &Counters {
        if self.partitions.len() == 1 {
            self.sync_counters();
            return &self.partitions[0].core.counters;
        }
        if self.merged.is_none() {
            self.sync_counters();
            let mut counters = self.partitions.iter().map(|partition| &partition.core.counters);
            let mut merged = counters.next().expect("a network has a partition").clone();
            counters.for_each(|counters| merged.merge(counters));
            self.merged = Some(merged);
        }
        self.merged.as_ref().expect("the counters were merged above")
    }

    /// [`Network::counters`], and the delays of the measurement window.
    pub fn counters_and_delays(&mut self) -> (&Counters, Cow<'_, DelayTable>) {
        self.counters();
        let mut parts = self.partitions.iter().map(|partition| &partition.core);
        let first = parts.next().expect("a network has a partition");
        let mut delays = Cow::Borrowed(&first.delays);
        parts.for_each(|part| delays.to_mut().merge(&part.delays));
        (self.merged.as_ref().unwrap_or(&first.counters), delays)
    }

    /// Begin a new measurement window at the current time.
    pub fn reset_counters(&mut self) {
        self.sync_counters();
        self.before = self.traffic();
        self.merged = None;
        for partition in &mut self.partitions {
            let now = partition.core.event_list.now();
            partition.core.counters.reset(now);
            partition.core.delays.reset();
            partition.core.meters.iter_mut().flatten().for_each(|meter| meter.reset(now));
            for me in ElementId::all(partition.slots.len()) {
                if let Some(counters) = partition.own_count(me).counters {
                    counters.reset(now);
                }
            }
        }
    }

    /// The counters of `element`'s own, brought up to the current time as
    /// [`Network::counters`]; `None` if it has none of type `C`.
    pub fn element_counters<C: ElementCounters>(&mut self, element: ElementId) -> Option<&C> {
        self.counters_of(element)?.downcast_ref()
    }

    /// The same, of whatever type they are.
    pub fn counters_of(&mut self, element: ElementId) -> Option<&dyn Any> {
        let counters: &mut dyn Any = self.synced(element).own_count(element).counters?;
        Some(counters)
    }

    /// The meter of `flow`, after [`Network::counters`]; `None` if it has none of type `M`.
    #[must_use]
    pub fn delivery_meter<M: DeliveryMeter>(&self, flow: FlowId) -> Option<&M> {
        // All packets of a flow are delivered in one partition.
        let delivers = |partition: &&Partition| {
            partition.core.counters.flows[flow.index()].delivered.packets > 0
        };
        let partition = self.partitions.iter().find(delivers).unwrap_or(&self.partitions[0]);
        let meter: &dyn Any = partition.core.meters.get(flow.index())?.as_deref()?;
        meter.downcast_ref()
    }

    /// Visit the probes of part `part` of `element`, with their values at the current time;
    /// most elements have one part, 0.
    pub fn probes(&mut self, element: ElementId, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.synced(element).slots[element.index()].element.probes(part, visit);
    }

    /// The partition of `element`, whose counters are at the current time.
    fn synced(&mut self, element: ElementId) -> &mut Partition {
        let owner = self.owner_of(element);
        let partition = &mut self.partitions[owner];
        if !self.synced {
            partition.sync_groups();
            partition.sync_element(element);
        }
        partition
    }

    /// Packets inside elements and in channels at the current time.
    #[must_use]
    pub fn held(&mut self) -> u64 {
        // Packets can move between elements and channels while counters are brought up to date.
        self.sync_counters();
        let partitions = self.partitions.iter_mut();
        partitions.map(|partition| partition.held() + partition.core.channels.held()).sum()
    }

    /// The digest of the trajectory so far: what each element and each sink received, in order.
    /// The order of receptions at different elements enters through their times only, so that no
    /// global sequence of them is needed.
    #[must_use]
    pub fn digest(&mut self) -> u64 {
        self.sync_counters();
        let elements = self.elements();
        let of_element = |element: ElementId| {
            let partition = &self.partitions[self.owner_of(element)];
            match partition.core.modes.get(element.index()) {
                Some(ExecutionMode { takes_from_channels: true, .. }) => {
                    partition.core.channels.digest(element.into())
                }
                _ => partition.slots[element.index()].digest,
            }
        };
        // A sink lies in the partition where packets reach it, if any do, and takes them either
        // from a channel or directly.
        let of_sink = |sink: SinkId| {
            let mut digests = self.partitions.iter().flat_map(|partition| {
                let receiver = ReceiverId::new(elements + sink.index());
                let from_channel = partition.core.channels.digest(receiver);
                [partition.core.sinks[sink.index()].digest, from_channel]
            });
            digests.find(|digest| *digest != Digest::default()).unwrap_or_default()
        };
        let sinks = SinkId::all(self.partitions[0].core.sinks.len()).map(of_sink);
        let mut all = Digest::default();
        for (index, digest) in (0..).zip(ElementId::all(elements).map(of_element).chain(sinks)) {
            all.take_in(index, digest.value());
        }
        all.value()
    }

    /// The whole network, before it is divided.
    fn whole(&mut self) -> &mut Partition {
        &mut self.partitions[0]
    }

    /// The partition of `element`.
    fn owner_of(&self, element: ElementId) -> usize {
        if self.exchange.is_some() { self.partition_of[element.index()] as usize } else { 0 }
    }

    fn now(&self) -> Time {
        let times = self.partitions.iter().map(|partition| partition.core.event_list.now());
        times.min().unwrap_or(Time::ZERO)
    }

    /// Divide the network if several partitions are asked for, and let every element set its first
    /// timers. Observers are notified of every fact when it happens, so with observers no element
    /// sends ahead.
    fn begin(&mut self) {
        let mut whole = std::mem::take(&mut self.partitions[0]);
        let watched = !whole.core.observers.is_empty();
        let count = self.partition_of.iter().max().map_or(1, |last| *last as usize + 1);
        let undivided = watched || count == 1;
        if undivided {
            self.partition_of = vec![0; whole.slots.len()];
        }
        let partition_map = PartitionMap::new(&whole, &self.partition_of);
        analyse(&mut whole, &partition_map, watched);
        if undivided {
            self.partitions[0] = whole;
        } else {
            let ahead = partition_map.ahead(&whole);
            let (partitions, remote_routes) = partition_map.divide(whole, count);
            self.partitions = partitions;
            self.exchange = Some(Exchange::new((count, self.threads), ahead, remote_routes));
        }
        self.partitions.iter_mut().for_each(Partition::start);
    }

    fn sync_counters(&mut self) {
        if self.synced {
            return;
        }
        self.partitions.iter_mut().for_each(Partition::sync_counters);
        self.synced = true;
    }
}

#[cfg(test)]
mod tests;
