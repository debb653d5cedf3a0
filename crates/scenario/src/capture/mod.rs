//! Captures: what a packet analyser at the near end of a link would see, as files of the format
//! pcapng.
//!
//! What goes out over the link is seen when its transmission begins, what comes in over the link
//! the other way when it arrives. Elements behind captured links are wrapped, so that a run
//! without captures has no cost.

mod headers;
mod numbering;
mod pcapng;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use forebay_elements::tcp::{EcnEcho, TcpParameters};
use forebay_network::record::{Column, RecordTable};
use forebay_network::{
    Context, Counters, Destination, Element, LogicalProcess, Lookahead, Observation, Observer,
    OwnCount, Packet, PacketKind, Payload, SackBlocks,
};
use forebay_parameters::{Length, Problem, Section, did_you_mean};
use forebay_units::{Rate, Span, Time};

use crate::plan::flows::FlowPlan;
use crate::plan::links::LinkPlan;
use crate::plan::{Plan, Wired};
use headers::{End, Envelope, Tcp};
use numbering::Numbering;
use pcapng::{Frame, Way};

/// Memory of a captured packet: what is kept of it, and the same in the file.
pub(crate) const CAPTURED_PACKET: u64 = 250;

/// The beginning of the names of tables that are captures.
const TABLE: &str = "capture-";

/// Refuse to capture what is no link, and where flows have several nodes: packets of a capture have
/// the addresses of two.
pub(crate) fn check_captures(section: &Section<'_>, plan: &Plan<'_>) -> Result<(), Problem> {
    let several = plan.flows.iter().find(|flow| flow.between.is_some());
    if let (Some(flow), Some([_, ..])) = (several, plan.record.capture.as_deref()) {
        let message = format!(
            "{} leads between several nodes, or hosts of a fabric; captures have flows with one \
             node at each end",
            flow.path
        );
        return Err(section.fail("capture", message));
    }
    for name in plan.record.capture.iter().flatten() {
        let link = plan.links.iter().find(|link| link.name == *name);
        let links = plan.links.iter().filter(|link| link.inner.is_none());
        let message = match link {
            Some(link) if link.inner.is_none() => continue,
            Some(link) => format!("\"{name}\" is a part of {}; captured are links", link.path()),
            None => {
                let names = links.clone().map(|link| link.name.as_str());
                let hint = did_you_mean(name, names);
                format!("\"{name}\" is not a link of this scenario{hint}")
            }
        };
        let known: Vec<&str> = links.take(20).map(|link| link.name.as_str()).collect();
        let message = format!("{message}; links are {}", known.join(", "));
        return Err(section.fail("capture", message));
    }
    Ok(())
}

/// Have the links captured that the scenario names.
pub(crate) fn attach(plan: &Plan<'_>, wired: &mut Wired) {
    let Some(names) = plan.record.capture.as_ref().filter(|names| !names.is_empty()) else {
        return;
    };
    let mut nodes = Nodes::default();
    for link in &plan.links {
        nodes.number(&link.from);
        nodes.number(&link.to);
    }
    let mut recorder = Recorder {
        most: plan.record.capture_packets as usize,
        flows: plan.flows.iter().map(|flow| FlowFacts::of(flow, plan, &mut nodes)).collect(),
        ..Recorder::default()
    };
    let mut first = 0;
    for facts in &mut recorder.flows {
        (facts.first, first) = (first, first + facts.count);
    }
    let mut taps: BTreeMap<usize, Seen> = BTreeMap::new();
    let mut known: Vec<&String> = Vec::new();
    for name in names {
        if known.contains(&name) {
            continue;
        }
        known.push(name);
        let file = recorder.files.len();
        recorder.files.push(Capture { name: name.clone(), ..Capture::default() });
        for (number, link) in plan.links.iter().enumerate() {
            let captured = plan.links.iter().find(|link| link.name == *name);
            let captured = captured.expect("the scenario was checked");
            let Some(way) = way_past(captured, link) else { continue };
            let hop = [nodes.number(&link.from), nodes.number(&link.to)];
            let before = if way == Way::Out { Before::of(link) } else { Before::default() };
            let point = Point { file, way, hop, before };
            place(point, (number, link), wired, &mut taps, &mut recorder.sinks);
        }
    }
    let tap = Tap(Arc::new(Mutex::new(recorder)));
    wired.network.wrap_elements(&mut |id, element| match taps.remove(&id.index()) {
        Some(points) => Box::new(Tapped { element, points, tap: tap.clone() }),
        None => element,
    });
    wired.network.attach(Box::new(tap));
}

/// The direction in which packets on `link` pass the near end of the `captured` link, if they do.
fn way_past(captured: &LinkPlan<'_>, link: &LinkPlan<'_>) -> Option<Way> {
    if link.name == captured.name {
        return Some(Way::Out);
    }
    let back = link.from == captured.to && link.to == captured.from && link.inner.is_none();
    back.then_some(Way::In)
}

/// See at `point` what crosses a link: behind its transmitter what goes out, behind all its
/// elements what comes in.
fn place(
    point: Point,
    (number, link): (usize, &LinkPlan<'_>),
    wired: &mut Wired,
    taps: &mut BTreeMap<usize, Seen>,
    sinks: &mut Seen,
) {
    let elements = &wired.links[number];
    let behind = if point.way == Way::Out { link.beyond } else { elements.len() };
    let last = elements[behind - 1];
    for (route, links) in &wired.routes {
        if links.contains(&number) {
            let points = match wired.network.after(last, *route) {
                Destination::Element(next) => {
                    taps.entry(next.index()).or_default().entry(route.index()).or_default()
                }
                Destination::Sink(_) => sinks.entry(route.index()).or_default(),
            };
            points.push(point);
        }
    }
}

/// Numbers of nodes by name.
#[derive(Default)]
struct Nodes(BTreeMap<String, u32>);

impl Nodes {
    fn number(&mut self, name: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name.to_owned()).or_insert(next)
    }
}

/// Points at which packets are seen, by route.
type Seen = BTreeMap<usize, Vec<Point>>;

/// A point at which packets are seen, and the file that they go to.
#[derive(Clone, Copy)]
struct Point {
    file: usize,
    way: Way,
    /// The nodes at the near and the far end of the link that brings them.
    hop: [u32; 2],
    before: Before,
}

/// Time from the sighting of a packet to its arrival at the far end.
#[derive(Clone, Copy, Default)]
struct Before {
    delay: Span,
    rate: Option<Rate>,
}

impl Before {
    /// Returns the time from the start of the transmission on `link`. On a link that changes, the
    /// transmission time is not known: the packet is seen one propagation delay before its arrival,
    /// and if that delay changes too, at the far end.
    fn of(link: &LinkPlan<'_>) -> Self {
        match link.changes() {
            None => Self { delay: link.delay, rate: Some(link.rate) },
            Some(changes) => Self { delay: changes.delays.fixed().unwrap_or_default(), rate: None },
        }
    }

    fn time(self, now: Time, packet: &Packet) -> Time {
        let sent = self.rate.map(|rate| rate.transmission_time(packet.wire_size()));
        now.ps()
            .checked_sub((self.delay + sent.unwrap_or_default()).ps())
            .map_or(Time::ZERO, Time::from_ps)
    }
}

/// Facts about a group of flows from which headers are made.
struct FlowFacts {
    first: u32,
    count: u32,
    nodes: [u32; 2],
    tcp: Option<TcpFacts>,
}

#[derive(Clone, Copy)]
struct TcpFacts {
    mss: u16,
    overhead: u64,
    handshake: bool,
    accurate: bool,
    timestamps: bool,
    /// The window that the receiver advertises, in bytes.
    window: u64,
}

impl FlowFacts {
    fn of(flow: &FlowPlan, plan: &Plan<'_>, nodes: &mut Nodes) -> Self {
        let end = |at: Option<&usize>| at.map(|at| &plan.links[*at]);
        let from = end(flow.there.first()).map_or(0, |link| nodes.number(&link.from));
        let to = end(flow.there.last()).map_or(0, |link| nodes.number(&link.to));
        Self { first: 0, count: flow.count, nodes: [from, to], tcp: flow.tcp().map(TcpFacts::of) }
    }
}

impl TcpFacts {
    /// The most that a header can say: 65,535 shifted by 14 (RFC 7323, section 2.3).
    const MAX_WINDOW: u64 = 65_535 << 14;

    fn of(tcp: &TcpParameters) -> Self {
        let mss = tcp.mss.bytes();
        let window = match tcp.window {
            Some(Length::Bytes(bytes)) => bytes,
            Some(Length::Packets(packets)) => packets.saturating_mul(mss),
            None => Self::MAX_WINDOW,
        };
        Self {
            mss: mss as u16,
            overhead: tcp.largest_packet() - mss,
            handshake: tcp.handshake,
            accurate: tcp.ecn && tcp.ecn_echo == Some(EcnEcho::AccEcn),
            timestamps: tcp.timestamps,
            window: window.min(Self::MAX_WINDOW),
        }
    }

    /// Returns the number of bits by which windows are shifted.
    fn shift(&self) -> u8 {
        (0..14).find(|shift| self.window >> shift <= 65_535).unwrap_or(14)
    }

    /// The segment that `packet` is.
    fn segment(&self, packet: &Packet, numbering: &Numbering, blocks: SackBlocks) -> Tcp {
        let mut segment = Tcp::default();
        let header = &mut segment.header;
        header.ack = true;
        header.acknowledgment_number = numbering.of_peer() as u32;
        header.window_size = (self.window >> self.shift()) as u16;
        if packet.is_feedback() {
            segment.timestamps = Some((ms(packet.created), ms(packet.timestamp_echo())));
            self.acknowledgement(&mut segment, packet, numbering, blocks);
        } else {
            segment.timestamps = Some((ms(packet.created), 0));
            self.data(&mut segment, packet, numbering);
        }
        segment.timestamps = segment.timestamps.filter(|_| self.timestamps);
        if segment.header.syn {
            segment.offer = Some((self.mss, self.shift()));
            segment.header.window_size = self.window.min(65_535) as u16;
        }
        segment
    }

    fn acknowledgement(
        &self,
        segment: &mut Tcp,
        packet: &Packet,
        numbering: &Numbering,
        blocks: SackBlocks,
    ) {
        let header = &mut segment.header;
        header.sequence_number = numbering.of_peer() as u32;
        header.acknowledgment_number = numbering.byte(packet.number) as u32;
        header.ece = packet.ece();
        if self.accurate {
            let ace = packet.ace();
            // AE (RFC 9768) has the place of NS.
            (header.ns, header.cwr, header.ece) = (ace & 4 != 0, ace & 2 != 0, ace & 1 != 0);
        }
        let answers = if self.accurate { numbering.is_opening() } else { packet.is_last() };
        if self.handshake && answers {
            header.sequence_number = header.sequence_number.saturating_sub(1);
            header.syn = true;
            return;
        }
        let bytes = |number: &u64| numbering.byte(*number);
        let all = blocks.as_slice().iter();
        segment.blocks = all.map(|(first, end)| (bytes(first), bytes(end))).collect();
        segment.counts = blocks;
    }

    fn data(&self, segment: &mut Tcp, packet: &Packet, numbering: &Numbering) {
        let header = &mut segment.header;
        if packet.is_syn() {
            (header.sequence_number, header.acknowledgment_number) = (numbering.syn() as u32, 0);
            (header.ack, header.syn) = (false, true);
            return;
        }
        header.sequence_number = numbering.byte(packet.number) as u32;
        header.cwr = packet.cwr();
        header.psh = packet.is_pushed() || packet.is_last();
        header.fin = packet.is_last() && self.handshake;
        segment.data = self.payload(packet);
    }

    fn payload(&self, packet: &Packet) -> u64 {
        u64::from(packet.size).saturating_sub(self.overhead)
    }
}

/// The clock of timestamps, in whole milliseconds.
fn ms(time: Time) -> u64 {
    time.ps() / Span::from_ms(1).ps()
}

/// One capture on its way.
#[derive(Default)]
struct Capture {
    name: String,
    packets: Vec<Captured>,
    /// Their headers, one behind the other.
    bytes: Vec<u8>,
}

struct Captured {
    at: Time,
    way: Way,
    start: usize,
    kept: u16,
    length: u32,
}

impl Capture {
    /// The file. Packets were noted when they arrived at far ends, and are in the order of time.
    fn file(mut self) -> Vec<u8> {
        self.packets.sort_by_key(|packet| packet.at);
        let writer = format!("Forebay {}", crate::VERSION);
        let most = self.packets.iter().map(|packet| packet.kept).max().unwrap_or_default();
        let most = headers::MAX_KEPT_BYTES.max(usize::from(most)) as u32;
        let mut file = pcapng::begin(&self.name, &writer, most);
        for Captured { at, way, start, kept, length } in self.packets {
            let bytes = &self.bytes[start..start + usize::from(kept)];
            pcapng::add(&mut file, &Frame { time: at.ps() / 1000, way, bytes, length });
        }
        file
    }
}

/// Data that travel beside a packet.
#[derive(Clone, Copy, Default)]
struct Beside<'p> {
    blocks: SackBlocks,
    payload: Option<&'p Payload>,
}

/// The captures of a run.
#[derive(Default)]
struct Recorder {
    /// Packets of each capture, at most.
    most: usize,
    flows: Vec<FlowFacts>,
    files: Vec<Capture>,
    /// Points at which packets that reach a sink are seen, by route.
    sinks: Seen,
    connections: BTreeMap<u32, Numbering>,
}

impl Recorder {
    fn facts(&self, packet: &Packet) -> &FlowFacts {
        let flow = packet.flow.number();
        &self.flows[self.flows.partition_point(|facts| facts.first <= flow) - 1]
    }

    /// A host sends `packet`.
    fn sent(&mut self, packet: &Packet) {
        let Some(tcp) = self.facts(packet).tcp else { return };
        let numbering = self
            .connections
            .entry(packet.flow.number())
            .or_insert_with(|| Numbering::new(u64::from(tcp.mss), tcp.handshake));
        match packet.kind() {
            PacketKind::Syn => numbering.open(packet.is_retransmission()),
            PacketKind::Data => {
                let closes = tcp.handshake && packet.is_last();
                numbering.send(packet.number, tcp.payload(packet), closes);
            }
            _ => {}
        }
    }

    /// `packet`, with what is beside it, has arrived behind `points`.
    fn arrived(&mut self, now: Time, packet: &Packet, beside: Beside<'_>, points: &[Point]) {
        for point in points {
            if self.files[point.file].packets.len() == self.most {
                continue;
            }
            let (bytes, length) = self.bytes(packet, beside, point);
            let file = &mut self.files[point.file];
            let at = point.before.time(now, packet);
            let (start, kept) = (file.bytes.len(), bytes.len() as u16);
            file.packets.push(Captured { at, way: point.way, start, kept, length });
            file.bytes.extend(bytes);
        }
    }

    /// The bytes of `packet` that are kept, and its length: headers, and the data of a real stack.
    fn bytes(&self, packet: &Packet, beside: Beside<'_>, point: &Point) -> (Vec<u8>, u32) {
        /// The first of the dynamic ports, and how many there are (RFC 6335, section 6).
        const PORTS: (u16, u32) = (49_152, 16_384);
        let flow = packet.flow.number();
        let facts = self.facts(packet);
        let port = |number: u32| PORTS.0 + (number % PORTS.1) as u16;
        let class = (packet.dscp(), packet.ecn());
        if let Some(Payload { from, to, bytes }) = beside.payload
            && let (Some(from), Some(to)) = (End::at(*from), End::at(*to))
        {
            let envelope = Envelope { from, to, hop: point.hop, class };
            return headers::datagram(&envelope, bytes);
        }
        let from = End::of_node(facts.nodes[0], port(flow));
        let to = End::of_node(facts.nodes[1], port(flow / PORTS.1));
        let (from, to) = if packet.is_feedback() { (to, from) } else { (from, to) };
        let envelope = Envelope { from, to, hop: point.hop, class };
        let plain = matches!(packet.kind(), PacketKind::Data | PacketKind::Syn | PacketKind::Ack);
        match (&facts.tcp, self.connections.get(&flow)) {
            (Some(tcp), Some(numbering)) if plain => {
                headers::tcp(&envelope, &tcp.segment(packet, numbering, beside.blocks))
            }
            _ => headers::udp(&envelope, packet.size),
        }
    }
}

/// Observer of packets for all captures.
#[derive(Clone)]
struct Tap(Arc<Mutex<Recorder>>);

impl Tap {
    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        self.0.lock().expect("a recorder does not panic")
    }
}

impl Observer for Tap {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        match fact {
            Observation::Sent { packet } => self.recorder().sent(packet),
            Observation::Delivered { packet, .. } => {
                let mut recorder = self.recorder();
                if let Some(points) = recorder.sinks.get(&packet.route.index()).cloned() {
                    recorder.arrived(now, packet, Beside::default(), &points);
                }
            }
            _ => {}
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let files = std::mem::take(&mut self.recorder().files).into_iter();
        let table = |file: Capture| RecordTable {
            name: format!("{TABLE}{}", file.name),
            columns: vec![("byte".to_owned(), Column::Byte(file.file()))],
        };
        files.map(table).collect()
    }
}

/// An element behind a captured link.
struct Tapped {
    element: Box<dyn Element>,
    points: Seen,
    tap: Tap,
}

impl LogicalProcess for Tapped {
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

impl Element for Tapped {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.element.start(cx);
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if let Some(points) = self.points.get(&packet.route.index()) {
            let (now, slot) = (cx.now(), packet.sack_slot());
            let table = cx.sack_blocks();
            let beside = Beside { blocks: table.get(slot), payload: table.payload(slot) };
            self.tap.recorder().arrived(now, packet, beside, points);
        }
        self.element.receive(packet, cx);
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
