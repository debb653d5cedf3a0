//! Clients: receivers that ask for what they receive, and ask again when they have it.

use std::sync::Arc;

use forebay_laws::traffic::{RequestPlan, TrafficPool, VideoPlan};
use forebay_network::{Context, ElementCounters, FlowId, Marking, Observation, Packet, PacketKind};
use forebay_units::{Size, Span, Time};

use super::viewers::Viewers;
use crate::tcp::ack_routes::AckRoutes;
use crate::transfers::{Completed, EmptyPath, TransferCount};

/// The clients at the receivers of a group of flows.
///
/// A client has one or several connections. It asks for the objects of a page, one at a time on
/// each connection, and once it has all of them, thinks, and asks for the next page. A request is
/// one packet on the way of the acknowledgements. One that is not answered is repeated, as a TCP
/// segment would be (RFC 6298, sections 2.1 and 5.5); the sender takes each once. How large an
/// object is the application at the sender draws; one with the same random stream tells it here.
pub struct Clients {
    applications: Box<dyn TrafficPool>,
    plan: RequestPlan,
    stop: Time,
    paths: Paths,
    flows: Vec<Asked>,
    clients: Vec<Client>,
    /// Times at which flows start.
    starts: Vec<Time>,
    count: TransferCount,
    /// If they play what they ask for, and choose its bit rate.
    viewers: Option<Viewers>,
}

/// The links there and back when they are empty.
#[derive(Clone, Debug)]
pub struct Paths {
    /// For data.
    pub there: EmptyPath,
    /// For requests, each of which is a segment.
    pub back: EmptyPath,
}

/// Flows, routes and marking of requests.
pub(in crate::tcp) struct Place<'p> {
    pub(in crate::tcp) first: FlowId,
    pub(in crate::tcp) routes: &'p AckRoutes,
    pub(in crate::tcp) marking: Marking,
}

/// State of the requests on one connection.
struct Asked {
    /// Number of requests so far.
    number: u64,
    /// Bytes handed over so far, and bytes until the present object is complete.
    arrived: u64,
    end: u64,
    /// Time of the request for the present object; never once something of it has arrived.
    begun: Time,
    /// Time at which the request is repeated; never once something has arrived.
    deadline: Time,
    /// Time of the pending event of the timer.
    pending: Time,
    timeout: Span,
}

/// The state of one client.
#[derive(Clone, Copy)]
struct Client {
    /// Time at which it began to ask for the present page; never while it thinks.
    begun: Time,
    /// Size of the first object of the next page, and whether it was due before the client was
    /// ready to ask for it.
    first: Size,
    waited: bool,
    /// Objects still to be asked for, asked for and not complete, and bytes of those asked for.
    left: u32,
    under_way: u32,
    bytes: u64,
}

/// Timer tokens: a request is repeated, or a page begun. The rest is the number of the flow or
/// client; delayed acknowledgements have neither bit.
const REPEAT: u32 = 1 << 31;
const PAGE: u32 = 1 << 30;

/// The number of the packet of request `number` for a chunk of video at `level`.
fn number_with_level(number: u64, level: usize) -> u64 {
    number << LEVEL_BITS | level as u64
}

/// Number and level of a request for a chunk of video.
pub(in crate::tcp) fn number_and_level(packet: &Packet) -> (u64, usize) {
    let level = packet.number & ((1 << LEVEL_BITS) - 1);
    (packet.number >> LEVEL_BITS, level as usize)
}

/// Bits of a level, of which there are up to 64.
const LEVEL_BITS: u32 = 6;

/// The longest time until a request is repeated.
const MAX_TIMEOUT: Span = Span::from_s(60);

impl Clients {
    /// Those of `applications`, which are equal to those at the senders.
    ///
    /// They start at `starts`, and begin nothing from `stop` on.
    ///
    /// # Panics
    /// If there is not one application for each flow, or not all clients have all connections.
    #[must_use]
    pub fn new(
        applications: Box<dyn TrafficPool>,
        plan: RequestPlan,
        (starts, stop): (Vec<Time>, Time),
        paths: Paths,
    ) -> Self {
        assert!(applications.len() == starts.len(), "one application for each flow");
        assert!(starts.len().is_multiple_of(plan.connections as usize), "whole clients");
        let asked = || Asked {
            number: 0,
            arrived: 0,
            end: 0,
            begun: Time::NEVER,
            deadline: Time::NEVER,
            pending: Time::NEVER,
            timeout: plan.retry,
        };
        let flows: Vec<Asked> = std::iter::repeat_with(asked).take(applications.len()).collect();
        let idle = Client {
            begun: Time::NEVER,
            first: Size::from_bytes(0),
            waited: false,
            left: 0,
            under_way: 0,
            bytes: 0,
        };
        let clients = vec![idle; flows.len() / plan.connections as usize];
        let count = TransferCount::default();
        Self { applications, plan, stop, paths, flows, clients, starts, count, viewers: None }
    }

    /// The same, which ask for chunks of a video and play it.
    #[must_use]
    pub fn playing(mut self, video: Arc<VideoPlan>) -> Self {
        self.viewers = Some(Viewers::new(video, self.clients.len()));
        self
    }

    /// The run begins.
    pub(in crate::tcp) fn start(&mut self, cx: &mut Context<'_>) {
        for client in 0..self.clients.len() as u32 {
            let start = self.starts[(client * self.plan.connections) as usize];
            self.think(client, start, cx);
        }
    }

    /// Returns true if a timer of these clients has this token.
    pub(in crate::tcp) fn owns(token: u32) -> bool {
        token & (REPEAT | PAGE) != 0
    }

    /// A timer expired.
    pub(in crate::tcp) fn wake(&mut self, token: u32, place: &Place<'_>, cx: &mut Context<'_>) {
        if token & PAGE != 0 {
            self.begin_page(token & !PAGE, place, cx);
            return;
        }
        let index = token & !REPEAT;
        let now = cx.now();
        let asked = &mut self.flows[index as usize];
        if now != asked.pending {
            return;
        }
        asked.pending = Time::NEVER;
        if asked.deadline == Time::NEVER {
            return;
        }
        if asked.deadline <= now {
            asked.timeout = asked.timeout.times(2).min(MAX_TIMEOUT);
            self.send(index, place, cx);
        }
        self.set_timer(index, cx);
    }

    /// `bytes` more were handed over on flow `index`.
    pub(in crate::tcp) fn arrived(
        &mut self,
        index: u32,
        bytes: u64,
        place: &Place<'_>,
        cx: &mut Context<'_>,
    ) {
        let asked = &mut self.flows[index as usize];
        asked.arrived += bytes;
        asked.deadline = Time::NEVER;
        let begun = std::mem::replace(&mut asked.begun, Time::NEVER);
        if begun != Time::NEVER {
            self.count.add_start(cx.now().since(begun));
        }
        if asked.arrived < asked.end {
            return;
        }
        let client = index / self.plan.connections;
        let state = &mut self.clients[client as usize];
        state.under_way -= 1;
        if state.left > 0 {
            let size = self.draw(index).1;
            self.ask(index, size, place, cx);
        } else if state.under_way == 0 {
            self.end_page(client, place, cx);
        }
    }

    /// Returns the counts up to `now`.
    pub(in crate::tcp) fn count(&mut self, now: Time) -> &mut dyn ElementCounters {
        if let Some(viewers) = &mut self.viewers {
            return viewers.count(now);
        }
        let under_way = self.clients.iter().filter(|client| client.begun < Time::NEVER).count();
        self.count.set_unfinished(under_way as u64);
        &mut self.count
    }

    /// Draws the next values of the application of flow `index`: a time to think, and the size of
    /// an object.
    fn draw(&mut self, index: u32) -> (Span, Size) {
        let burst = self.applications.next(index as usize).expect("a client never stops asking");
        (burst.gap, burst.size)
    }

    /// `client` thinks from `from` on, and begins a page then, unless the group has stopped.
    fn think(&mut self, client: u32, from: Time, cx: &mut Context<'_>) {
        let (gap, size) = match &mut self.viewers {
            Some(viewers) => viewers.next(client as usize, from),
            None => self.draw(client * self.plan.connections),
        };
        let first = (client * self.plan.connections) as usize;
        let begins = self.applications.asking(first).begins.map(|span| self.starts[first] + span);
        let at = begins.map_or(from + gap, |begins| begins.max(from));
        let state = &mut self.clients[client as usize];
        (state.first, state.waited) = (size, begins.is_some_and(|begins| begins < from));
        if at < self.stop {
            cx.wake_at(at, client | PAGE);
        }
    }

    fn begin_page(&mut self, client: u32, place: &Place<'_>, cx: &mut Context<'_>) {
        let first = client * self.plan.connections;
        let state = &mut self.clients[client as usize];
        (state.begun, state.left, state.bytes) = (cx.now(), self.plan.objects, 0);
        let size = state.first;
        self.ask(first, size, place, cx);
        for index in first + 1..first + self.plan.connections.min(self.plan.objects) {
            let size = self.draw(index).1;
            self.ask(index, size, place, cx);
        }
    }

    fn end_page(&mut self, client: u32, place: &Place<'_>, cx: &mut Context<'_>) {
        let state = &mut self.clients[client as usize];
        let Client { begun, bytes, waited, .. } = *state;
        state.begun = Time::NEVER;
        let Paths { there, back } = &self.paths;
        let ideal = back.time(1) + there.time(bytes);
        let now = cx.now();
        self.count.add(&Completed { begun, bytes, ideal }, waited, now);
        if let Some(viewers) = &mut self.viewers {
            viewers.completed(client as usize, begun, now);
        }
        let first = client * self.plan.connections;
        let (flow, flows) = (place.first.nth(first), self.plan.connections);
        cx.observe(|| Observation::Completed { flow, flows, begun, bytes, ideal });
        self.think(client, now, cx);
    }

    /// Ask for an object of `size` on flow `index`, on which nothing is under way.
    fn ask(&mut self, index: u32, size: Size, place: &Place<'_>, cx: &mut Context<'_>) {
        let state = &mut self.clients[(index / self.plan.connections) as usize];
        state.left -= 1;
        state.under_way += 1;
        state.bytes += size.bytes();
        let asked = &mut self.flows[index as usize];
        asked.end = asked.arrived + size.bytes();
        asked.begun = cx.now();
        asked.number += 1;
        asked.timeout = self.plan.retry;
        self.send(index, place, cx);
        self.set_timer(index, cx);
    }

    /// Send the present request of flow `index`, perhaps again.
    fn send(&mut self, index: u32, place: &Place<'_>, cx: &mut Context<'_>) {
        let asked = &mut self.flows[index as usize];
        asked.deadline = cx.now() + asked.timeout;
        let number = match &self.viewers {
            // A viewer has one connection.
            Some(viewers) => number_with_level(asked.number, viewers.level(index as usize)),
            None => asked.number,
        };
        let flow = place.first.nth(index);
        let size = self.applications.asking(index as usize).request.unwrap_or(self.plan.request);
        let packet = Packet::data(cx.now(), flow, number, size, place.routes.of(index));
        cx.send(packet.with_kind(PacketKind::Report).with_marking(place.marking));
    }

    /// See to an event of the timer of flow `index` at its deadline, or before.
    fn set_timer(&mut self, index: u32, cx: &mut Context<'_>) {
        let asked = &mut self.flows[index as usize];
        if asked.deadline < asked.pending {
            asked.pending = asked.deadline;
            cx.wake_at(asked.deadline, index | REPEAT);
        }
    }
}
