//! Stub elements for the unit tests of this crate: each declares a lookahead, does what a closure
//! says, and logs its calls.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use forebay_kernel::ChannelTable;
use forebay_network::executive::Sink;
use forebay_network::{
    ChannelId, Context, Counters, Element, ElementId, FlowCount, FlowId, LogicalProcess, Lookahead,
    LookaheadContext, OwnCount, Packet, ReceiverId, RouteId, SinkId,
};
use forebay_units::{Span, Time};

use crate::boundary::PartitionMap;
use crate::lookahead::analyse;
use crate::partition::Partition;
use crate::slot::Slot;

/// Request of the engine to an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Start,
    Receive(Packet),
    Wake(u32),
    Notify,
    Count,
}

/// A call: the element, its time in ps, what was asked, and the number of the packet or the token
/// of the timer, 0 for neither. Starts are not logged, and prefetches have no time.
pub(crate) type Logged = (usize, u64, &'static str, u64);

/// Action of a stub on each call.
type Act = Box<dyn FnMut(Call, &mut Context<'_>) + Send>;

/// The calls at all stubs that share it, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Logged>>>);

impl Log {
    /// Add an entry.
    pub(crate) fn push(&self, entry: Logged) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// All entries since it was last asked.
    pub(crate) fn take(&self) -> Vec<Logged> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An element that declares a lookahead, logs its calls and does what a closure says.
pub(crate) struct Stub {
    number: usize,
    declared: Lookahead<'static>,
    own_routes: Vec<RouteId>,
    log: Log,
    act: Act,
}

impl Stub {
    /// Element `number`, which acts on each call by `act`.
    pub(crate) fn new(
        number: usize,
        declared: Lookahead<'_>,
        log: &Log,
        act: impl FnMut(Call, &mut Context<'_>) + Send + 'static,
    ) -> Box<Self> {
        let own_routes = declared.own_routes.to_vec();
        let declared = Lookahead {
            schedules_departures: declared.schedules_departures,
            span: declared.span,
            rate: declared.rate,
            accepts_ahead: declared.accepts_ahead,
            can_defer: declared.can_defer,
            ..Lookahead::NONE
        };
        Box::new(Self { number, declared, own_routes, log: log.clone(), act: Box::new(act) })
    }

    fn call(&mut self, call: Call, cx: &mut Context<'_>) {
        let (what, number) = match call {
            Call::Start => ("start", 0),
            Call::Receive(packet) => ("receive", packet.number),
            Call::Wake(token) => ("wake", token.into()),
            Call::Notify => ("notify", 0),
            Call::Count => ("count", 0),
        };
        if call != Call::Start {
            self.log.push((self.number, cx.now().ps(), what, number));
        }
        (self.act)(call, cx);
    }
}

impl LogicalProcess for Stub {
    fn on_notify(&mut self, cx: &mut Context<'_>) {
        self.call(Call::Notify, cx);
    }

    fn prefetch_timer(&self, token: u32, _counters: &Counters) {
        self.log.push((self.number, 0, "prefetch timer", token.into()));
    }

    fn prefetch_packet(&self, packet: &Packet) {
        self.log.push((self.number, 0, "prefetch packet", packet.number));
    }
}

impl Element for Stub {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.call(Call::Start, cx);
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        self.call(Call::Receive(*packet), cx);
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        self.call(Call::Wake(token), cx);
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        self.call(Call::Count, cx);
        OwnCount::held(1)
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        visit("part", part.into());
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead { own_routes: &self.own_routes, ..self.declared }
    }
}

/// The lookahead of a link with a propagation delay of `span` ps, which takes packets from input
/// channels too.
pub(crate) fn link(span: u64) -> Lookahead<'static> {
    Lookahead { accepts_ahead: true, ..wire(span) }
}

/// The lookahead of a link with a propagation delay of `span` ps, which can only send ahead.
pub(crate) fn wire(span: u64) -> Lookahead<'static> {
    Lookahead { schedules_departures: true, span: Span::from_ps(span), ..Lookahead::NONE }
}

/// The first routes of a network.
static ROUTES: [RouteId; 4] = [RouteId::new(0), RouteId::new(1), RouteId::new(2), RouteId::new(3)];

/// The lookahead of a host that alone sends on these `routes`, of the first four.
pub(crate) fn host(routes: Range<usize>) -> Lookahead<'static> {
    Lookahead::host(&ROUTES[routes])
}

/// Acts as a link with a propagation delay of `span` ps that transmits in no time.
pub(crate) fn transmits(span: u64) -> impl FnMut(Call, &mut Context<'_>) + Send + 'static {
    let mut under_way = VecDeque::new();
    move |call, cx| match call {
        Call::Receive(packet) => {
            let at = cx.now() + Span::from_ps(span);
            if cx.execution_mode().sends_ahead() {
                cx.send_ahead(&packet, at);
            } else {
                under_way.push_back(packet);
                cx.wake_at(at, 0);
            }
        }
        Call::Wake(_) => under_way.pop_front().iter().for_each(|packet| cx.cross(packet)),
        _ => {}
    }
}

/// Does nothing on any call.
pub(crate) fn idle(_call: Call, _cx: &mut Context<'_>) {}

/// Sets timers when the run begins: (ps, token).
pub(crate) fn timers(at: &[(u64, u32)]) -> impl FnMut(Call, &mut Context<'_>) + Send + 'static {
    let at = at.to_vec();
    move |call, cx| {
        if call == Call::Start {
            at.iter().for_each(|(at, token)| cx.wake_at(Time::from_ps(*at), *token));
        }
    }
}

/// In the elements of a route: sink 0.
pub(crate) const SINK: usize = usize::MAX;

/// Send `packet` ahead on a channel of a receiver, where it will arrive at `at`.
pub(crate) fn send_ahead(
    channels: &mut ChannelTable<Packet>,
    (receiver, channel): (usize, usize),
    packet: &Packet,
    at: Time,
) {
    channels.send(ReceiverId::new(receiver), ChannelId::new(channel), packet, at);
}

/// Packet `number` of flow 0 on `route`, of 100 B, created at 0.
pub(crate) fn packet(number: u64, route: RouteId) -> Packet {
    Packet::data(Time::ZERO, FlowId::new(0), number, 100, route)
}

/// A partition of stubs with one flow, and their log.
pub(crate) struct Stubs {
    pub(crate) whole: Partition,
    pub(crate) log: Log,
}

impl Stubs {
    /// No elements.
    pub(crate) fn new() -> Self {
        let mut whole = Partition::default();
        whole.core.counters.flows.push(FlowCount::default());
        Self { whole, log: Log::default() }
    }

    /// Elements that only declare their lookahead, and routes.
    pub(crate) fn declared(elements: &[Lookahead<'_>], routes: &[&[usize]]) -> Self {
        let mut stubs = Self::new();
        elements.iter().for_each(|declared| {
            stubs.add(*declared, idle);
        });
        routes.iter().for_each(|route| {
            stubs.route(route);
        });
        stubs
    }

    /// Add an element; its number.
    pub(crate) fn add(
        &mut self,
        declared: Lookahead<'_>,
        act: impl FnMut(Call, &mut Context<'_>) + Send + 'static,
    ) -> usize {
        let number = self.whole.slots.len();
        self.whole.slots.push(Slot::of(Stub::new(number, declared, &self.log, act)));
        number
    }

    /// Add a route past the elements of these numbers, of which the last is its end: an element or
    /// [`SINK`], which has 40 B of header.
    pub(crate) fn route(&mut self, elements: &[usize]) -> RouteId {
        let (end, passed) = elements.split_last().expect("a route has an end");
        let end = if *end == SINK {
            let digest = Default::default();
            self.whole.core.sinks.resize_with(1, || Sink { header: 40, digest });
            SinkId::new(0).into()
        } else {
            ElementId::new(*end).into()
        };
        let passed: Vec<ElementId> = passed.iter().copied().map(ElementId::new).collect();
        self.whole.core.routes.add(&passed, end)
    }

    /// Determine the lookahead, as in one partition.
    pub(crate) fn analyse(&mut self) {
        let partition_of = vec![0; self.whole.slots.len()];
        let partition_map = PartitionMap::new(&self.whole, &partition_of);
        analyse(&mut self.whole, &partition_map, false);
    }
}
