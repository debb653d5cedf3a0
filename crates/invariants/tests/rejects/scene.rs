//! A small network that does not run: its facts are made up, so that any of them can be wrong.

use forebay_invariants::{
    Checker, ElementPlace, FlowKind, FlowPlace, Invariant, LinkPlace, Places, RingPlace, RoutePlace,
};
use forebay_network::{
    Backlog, Counters, DropReason, FlowCount, FlowId, LinkCount, LinkId, Observation, Packet,
    PacketBytes, PacketKind, RouteId,
};
use forebay_units::{Rate, Size, Span, Time};

/// Flows, by number.
pub const UDP: usize = 0;
pub const TCP: usize = 1;
pub const CALLS: usize = 2;
pub const PACED: usize = 3;
/// Links, by number: there, back, and two spans of a ring.
pub const CORE: usize = 0;
pub const BACK: usize = 1;
pub const SPAN: usize = 2;
pub const NEXT_SPAN: usize = 3;
/// Bytes of each packet: 1 ms at 1 Mbit/s; and of those that are header.
pub const SIZE: u16 = 125;
pub const HEADER: u64 = 25;

pub fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A checker of the network, and the facts that it is notified of.
pub struct Scene {
    pub checker: Checker,
}

impl Scene {
    pub fn new() -> Self {
        Self::of(places())
    }

    pub fn of(places: Places) -> Self {
        Self { checker: Checker::new(places) }
    }

    /// Returns the number of times that `invariant` was broken.
    pub fn breached(&self, invariant: Invariant) -> u64 {
        self.checker.report().breached(invariant)
    }

    pub fn fact(&mut self, us: u64, fact: &Observation<'_>) {
        self.checker.observe(at(us), fact);
    }

    pub fn begin(&mut self, flow: usize) {
        self.fact(0, &Observation::Started { flow: FlowId::new(flow) });
    }

    pub fn send(&mut self, us: u64, packet: &Packet) {
        self.fact(us, &Observation::Sent { packet });
    }

    /// `packet` comes to the queue of `link`, where `packets` of its size wait with it.
    pub fn queue(&mut self, us: u64, link: usize, packet: &Packet, packets: u32) {
        self.checker.received(at(us), link as u32, packet);
        self.enqueue(us, link, packet, packets);
    }

    pub fn enqueue(&mut self, us: u64, link: usize, packet: &Packet, packets: u32) {
        let backlog = Backlog { packets, bytes: u64::from(packets) * u64::from(packet.size) };
        self.fact(us, &Observation::Enqueued { link: LinkId::new(link), packet, backlog });
    }

    pub fn deliver(&mut self, us: u64, packet: &Packet) {
        let delay = at(us).since(packet.created);
        self.fact(us, &Observation::Delivered { packet, delay });
    }

    pub fn drop(&mut self, us: u64, link: usize, packet: &Packet, reason: DropReason) {
        self.fact(us, &Observation::Dropped { link: LinkId::new(link), packet, reason });
    }

    pub fn mark(&mut self, us: u64, packet: &Packet) {
        self.fact(us, &Observation::Marked { link: LinkId::new(CORE), packet });
    }

    pub fn colour(&mut self, us: u64, packet: &Packet) {
        self.fact(us, &Observation::Coloured { link: LinkId::new(CORE), packet });
    }

    /// A packet of `flow` crosses the link there, which takes 1 ms and 10 ms, as it should.
    pub fn pass(&mut self, flow: usize) -> Packet {
        let packet = data(flow, 0, 0);
        self.begin(flow);
        self.send(0, &packet);
        self.queue(0, CORE, &packet, 1);
        self.deliver(11_000, &packet);
        packet
    }

    /// The counters at `us`, with `held` packets.
    pub fn count(&mut self, us: u64, counters: &Counters, held: u64) {
        self.checker.counters(at(us), counters, held);
    }

    pub fn probe(&mut self, link: usize, name: &str, value: f64) {
        let probes = [(name.to_owned(), value)];
        self.checker.link_probes(at(0), link, &probes, &LinkCount::default());
    }
}

/// Packet `number` of `flow`, created at `us`, on the way there.
pub fn data(flow: usize, number: u64, us: u64) -> Packet {
    Packet::data(at(us), FlowId::new(flow), number, SIZE, RouteId::new(0))
}

/// Acknowledgement `number`, on the way back.
pub fn ack(number: u64, us: u64) -> Packet {
    let packet = Packet::data(at(us), FlowId::new(TCP), number, SIZE, RouteId::new(1));
    packet.with_kind(PacketKind::Ack)
}

/// Packet `number` on the way over two spans of the ring.
pub fn around(number: u64) -> Packet {
    Packet::data(at(0), FlowId::new(UDP), number, SIZE, RouteId::new(2))
}

/// The counters after [`Scene::pass`] of a datagram.
pub fn passed() -> Counters {
    let mut counters = Counters {
        flows: vec![FlowCount::default(); 4],
        links: vec![LinkCount::default(); 4],
        hops: 1,
        ..Counters::default()
    };
    let one = PacketBytes { packets: 1, bytes: u64::from(SIZE) };
    let flow = &mut counters.flows[UDP];
    (flow.sent, flow.delivered, flow.goodput) = (one, one, u64::from(SIZE));
    flow.max_delay = Span::from_ms(11);
    flow.delay = u128::from(flow.max_delay.ps());
    let link = &mut counters.links[CORE];
    (link.of(0).arrived, link.of(0).departed) = (one, one);
    link.busy = Span::from_ms(1).ps();
    counters
}

pub fn places() -> Places {
    let rate = Rate::from_bps(1_000_000);
    let link = |name: &str, from: &str, to: &str| LinkPlace {
        ends: (from.to_owned(), to.to_owned()),
        ..LinkPlace::plain(name, rate, Span::from_ms(10))
    };
    let buffers = (Size::from_bytes(1000), Size::from_bytes(2000));
    let ring = Some(RingPlace { ring: 0, high: Some(0), buffers });
    let span = |name: &str| LinkPlace { ring, may_idle: true, ..link(name, "a", "b") };
    let kinds = [
        FlowKind::Datagrams,
        FlowKind::Tcp { mss: u64::from(SIZE) - HEADER, overhead: HEADER, probes: false },
        FlowKind::Calls { first: CALLS },
        FlowKind::Paced { floor: Some(0.2) },
    ];
    let flow = |kind: FlowKind| FlowPlace {
        name: format!("{kind:?}"),
        kind,
        from: "a".to_owned(),
        to: "b".to_owned(),
    };
    Places {
        links: vec![link("core", "a", "b"), link("back", "b", "a"), span("s2"), span("s3")],
        flows: kinds.map(flow).to_vec(),
        routes: [vec![CORE], vec![BACK], vec![SPAN, NEXT_SPAN]]
            .map(|links| Some(RoutePlace::Over(links)))
            .into(),
        elements: [vec![CORE], vec![BACK], vec![SPAN, NEXT_SPAN]].map(ElementPlace::Links).to_vec(),
        end: at(1_000_000),
    }
}
