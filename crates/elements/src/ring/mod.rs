//! A packet ring: stations with insertion buffers on two ringlets (RFC 2892), whatever law shares
//! the spans between them.
//!
//! One ring is one element, as its stations see each other through messages as well as packets. To
//! the rest of the network it is a box that a packet passes once: it comes in at one station, as
//! the table of legs says by the packet's route, and leaves for the next element of its route at
//! another. Destinations strip their packets, so spans that one flow leaves free carry others.
//!
//! Each ringlet is a circle of [`port::Port`]s in the order of its data: port `p` sends to `p + 1`.
//! A message about data that leaves port `p` runs the other way, so it is sent by the same
//! station's port on the other ringlet, which is number `n - 1 - p` there.

mod host;
mod parameters;
pub(crate) mod plan;
mod port;
mod rows;

use forebay_laws::fairness::{RingClass, RingFairness, RingFrame, RingMessage};
use forebay_network::{Context, Element, LinkId, LogicalProcess, OwnCount, Packet};
use forebay_units::{Rate, Size, Span, Time};

pub use parameters::{RingParameters, StationParameters};
use port::{Port, Served};
pub use rows::RingResult;

/// The way of a route's packets on the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leg {
    /// Ringlet: 0 or 1.
    pub ringlet: u8,
    /// The port at which they come in, in the order of the ringlet's data.
    pub from: u16,
    /// Number of spans that they pass: 1 up to the number of stations less 1.
    pub spans: u16,
}

/// The buffers of each station, on each ringlet. Sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// True if high priority has a transit buffer of its own; if not, transit goes before the host.
    pub dual: bool,
    /// Size of the high-priority transit buffer.
    pub high_limit: u64,
    /// Size of the low-priority, or only, transit buffer.
    pub low_limit: u64,
    /// With less room than this in the low-priority transit buffer it counts as full, and the host
    /// sends nothing. Two of the largest packets: one may arrive and another be arriving while the
    /// host sends one.
    pub reserve: u64,
    /// Above this filling of the low-priority transit buffer the host sends no low priority
    /// (TB_HI_THRESHOLD).
    pub stop: u64,
    /// Size of each queue of the host.
    pub host_limit: u64,
    /// True if the host has a queue for each destination, served in turn; false for one for all.
    pub by_destination: bool,
}

/// One station on one ringlet.
pub struct PortParts {
    /// The span that leaves it, which is one of the network's links.
    pub link: LinkId,
    /// Propagation delay of that span.
    pub delay: Span,
    /// Its fairness law.
    pub law: Box<dyn RingFairness>,
    /// Time at which its first interval ends.
    pub phase: Span,
}

/// Parts of a ring.
pub struct RingParts {
    /// Rate of every span.
    pub rate: Rate,
    /// Its buffers.
    pub buffers: Buffers,
    /// The highest precedence that is high priority, if any is.
    pub high: Option<u8>,
    /// Size of a message between neighbours.
    pub message: Size,
    /// The ports of both ringlets, each in the order of its data: what is port `p` of one is port
    /// `n - 1 - p` of the other.
    pub ports: [Vec<PortParts>; 2],
    /// The ways of packets, by route; `None` for routes that do not pass the ring.
    pub legs: Vec<Option<Leg>>,
}

// What timers are set for. At one instant a transmitter becomes free before anything arrives.
const FREE: u32 = 0;
const MESSAGE: u32 = 1;
const ARRIVE: u32 = 2;
const TICK: u32 = 3;
const ACCESS: u32 = 4;

/// Ways of packets over the ring, as stations know them.
struct Ways {
    stations: usize,
    legs: Vec<Option<Leg>>,
    high: Option<u8>,
}

impl Ways {
    fn leg(&self, packet: &Packet) -> Leg {
        self.legs[packet.route.index()].expect("only packets whose routes pass the ring arrive")
    }

    /// `packet` as the port at `place` of its ringlet sees it; nothing is `ahead` at its
    /// destination.
    fn frame(&self, packet: &Packet, place: usize) -> RingFrame {
        let leg = self.leg(packet);
        let behind = (place + self.stations - usize::from(leg.from)) % self.stations;
        let behind = u16::try_from(behind).expect("a ring has few stations");
        let high = self.high.is_some_and(|high| packet.precedence <= high);
        let class = if high { RingClass::High } else { RingClass::Low };
        RingFrame { size: packet.size, class, ahead: leg.spans - behind, behind }
    }
}

/// A ring.
pub struct Ring {
    stations: usize,
    /// Those of ringlet 0, then those of ringlet 1.
    ports: Vec<Port>,
    /// Time at which each port's first interval ends.
    phases: Vec<Span>,
    ways: Ways,
    message: Size,
}

impl Ring {
    /// The ring of `parts`.
    #[must_use]
    pub fn new(parts: RingParts) -> Self {
        let RingParts { rate, buffers, high, message, ports, legs } = parts;
        let stations = ports[0].len();
        let ports: Vec<PortParts> = ports.into_iter().flatten().collect();
        let phases = ports.iter().map(|port| port.phase).collect();
        let port = |port| Port::new(port, buffers, rate, stations);
        let ports = ports.into_iter().map(port).collect();
        Self { stations, ports, phases, ways: Ways { stations, legs, high }, message }
    }

    /// The number of port `place` of a ringlet.
    fn number(&self, ringlet: usize, place: usize) -> usize {
        ringlet * self.stations + place % self.stations
    }

    /// Ringlet and place of port `number`.
    fn place(&self, number: usize) -> (usize, usize) {
        (number / self.stations, number % self.stations)
    }

    /// Set a timer of port `number`.
    fn set(&self, at: Time, kind: u32, number: usize, cx: &mut Context<'_>) {
        let token = kind as usize * self.ports.len() + number;
        cx.wake_at(at, u32::try_from(token).expect("a ring has few stations"));
    }

    /// Let port `number` send what goes next, if its transmitter is free.
    fn serve(&mut self, number: usize, cx: &mut Context<'_>) {
        let now = cx.now();
        if self.ports[number].transmitter.free_at <= now && self.ports[number].is_waiting() {
            let (_, place) = self.place(number);
            let port = &mut self.ports[number];
            match port.serve(&self.ways, place, self.message, now) {
                Served::Packet(out) => {
                    if port.transmitter.in_flight.len() == 1 {
                        self.set(out, ARRIVE, number, cx);
                    }
                }
                Served::Message(out) => self.set(out, MESSAGE, number, cx),
                Served::Nothing(again) => {
                    if let Some(at) = again
                        && port.due.is_none_or(|due| at < due)
                    {
                        port.due = Some(at);
                        self.set(at, ACCESS, number, cx);
                    }
                    return;
                }
            }
        }
        let port = &mut self.ports[number];
        if !port.waking && port.is_waiting() && port.transmitter.free_at > now {
            port.waking = true;
            let free_at = port.transmitter.free_at;
            self.set(free_at, FREE, number, cx);
        }
    }

    /// The first packet on the span that leaves port `number` reaches the next station.
    fn arrive(&mut self, number: usize, cx: &mut Context<'_>) {
        let (ringlet, place) = self.place(number);
        let in_flight = &mut self.ports[number].transmitter.in_flight;
        let packet = in_flight.front().expect("the timer was set for it").packet;
        in_flight.pop_front();
        if let Some(next) = in_flight.front() {
            let out = next.out;
            self.set(out, ARRIVE, number, cx);
        }
        let place = (place + 1) % self.stations;
        let frame = self.ways.frame(&packet, place);
        if frame.ahead == 0 {
            cx.cross(&packet);
            return;
        }
        cx.counters().hops += 1;
        let next = self.number(ringlet, place);
        self.ports[next].enter(&packet, &frame, cx);
        self.serve(next, cx);
        self.ports[next].transmitter.update_max_queue();
    }

    /// The interval of port `number`'s law has ended.
    fn tick(&mut self, number: usize, cx: &mut Context<'_>) {
        let now = cx.now();
        let port = &mut self.ports[number];
        let state = port.state();
        if let Some(interval) = port.law.interval() {
            let message = port.law.interval_ended(&state, now);
            self.set(now + interval, TICK, number, cx);
            if let Some(message) = message {
                self.notify(number, message, cx);
            }
        }
        self.serve(number, cx);
    }

    /// The station of port `number` notifies its neighbour upstream.
    fn notify(&mut self, number: usize, message: RingMessage, cx: &mut Context<'_>) {
        let (ringlet, place) = self.place(number);
        let other = self.number(1 - ringlet, self.stations - 1 - place);
        self.ports[other].messages.push_back(message);
        self.serve(other, cx);
    }

    /// The first message on the span that leaves port `number` reaches the next station.
    fn hear(&mut self, number: usize, cx: &mut Context<'_>) {
        let (ringlet, place) = self.place(number);
        let (_, mut message) = self.ports[number].told.pop_front().expect("a timer was set for it");
        message.origin += 1;
        // It describes the other ringlet, for the port of the station at `place + 1`.
        let next = (place + 1) % self.stations;
        let to = self.number(1 - ringlet, self.stations - 1 - next);
        if self.ports[to].law.heard(&message, cx.now()) {
            self.notify(to, message, cx);
        }
        self.serve(to, cx);
    }
}

impl LogicalProcess for Ring {}

impl Element for Ring {
    fn start(&mut self, cx: &mut Context<'_>) {
        // Laws of a ringlet that carries nothing have nothing to share.
        let used = |ringlet: usize| {
            self.ways.legs.iter().flatten().any(|leg| usize::from(leg.ringlet) == ringlet)
        };
        let used = [used(0), used(1)];
        for number in 0..self.ports.len() {
            if used[number / self.stations] && self.ports[number].law.interval().is_some() {
                self.set(cx.now() + self.phases[number], TICK, number, cx);
            }
        }
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let leg = self.ways.leg(packet);
        let place = usize::from(leg.from);
        let number = self.number(usize::from(leg.ringlet), place);
        let frame = self.ways.frame(packet, place);
        self.ports[number].join(packet, &frame, cx);
        self.serve(number, cx);
        // A packet that is sent at once has not waited.
        self.ports[number].transmitter.update_max_queue();
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let ports = u32::try_from(self.ports.len()).expect("a ring has few stations");
        let (kind, number) = (token / ports, (token % ports) as usize);
        match kind {
            FREE => {
                self.ports[number].waking = false;
                self.serve(number, cx);
            }
            MESSAGE => self.hear(number, cx),
            ARRIVE => self.arrive(number, cx),
            TICK => self.tick(number, cx),
            _ => {
                if self.ports[number].due == Some(cx.now()) {
                    self.ports[number].due = None;
                    self.serve(number, cx);
                }
            }
        }
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        self.ports.iter_mut().for_each(|port| port.transmitter.sync_counters(false, cx));
        OwnCount::held(self.ports.iter().map(Port::held).sum())
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.ports[part as usize].probes(visit);
    }
}
