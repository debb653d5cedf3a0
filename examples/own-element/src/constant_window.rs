//! A constant window: as many packets are outstanding as it allows, each of which is acknowledged.
//! The oldest is sent again if no acknowledgement comes for some time.

use std::collections::VecDeque;

use forebay_elements::{
    End, Facts, FlowGroup, FlowReader, GroupCounts, Row, RowKind, Rows, RowsOf, Transport,
    TransportKind, WayBack, Wiring,
};
use forebay_network::{
    Context, Element, ElementCounters, FlowId, LogicalProcess, Lookahead, Marking, OwnCount,
    Packet, PacketKind, RouteId, columns,
};
use forebay_parameters::{Entry, Parameters, Problem, parameters};
use forebay_units::{Size, Span, Time};
use serde::Serialize;

/// The transport in its table.
pub const ENTRY: Entry<TransportKind> = Entry {
    name: "constant_window",
    summary: "A constant window of packets, each of which is acknowledged.",
    source: "Bertsekas and Gallager, Data Networks, 1992, section 6.2 (window flow control)",
    example: "constant_window = { window = 4 }",
    fields: WindowParameters::FIELDS,
    probes: &[],
    build: TransportKind {
        rows: &[WindowResult::KIND, ArrivalResult::KIND],
        two_way: true,
        ..TransportKind::new(&read)
    },
};

parameters! {
    /// Parameters of flows with a constant window.
    pub struct WindowParameters {
        /// Number of packets that are outstanding.
        window: u32 = 10, "Bertsekas and Gallager, section 6.2";
        /// Size of the packets.
        size: Size = "1000 B", "-";
        /// Size of an acknowledgement.
        ack: Size = "40 B", "-";
        /// Time after which the oldest packet is sent again.
        timeout: Span = "1 s", "-";
    }
}

columns! {
    /// Windows of a group of flows.
    #[derive(Clone, Debug, Serialize)]
    pub struct WindowResult {
        /// Name of the group.
        pub name: String = Word,
        /// Packets acknowledged.
        pub acknowledged_packets: u64 = Packets + headline as "acknowledged",
        /// Packets sent again.
        pub resent_packets: u64 = Packets as "sent again" if any,
        /// Mean time from sending a packet to its acknowledgement, in seconds.
        pub mean_rtt_s: f64 = Seconds + headline as "mean round trip" over acknowledged_packets,
    }
}

impl Row for WindowResult {
    const KIND: RowKind = RowKind {
        name: "windows",
        meaning: "A row a group of flows with a constant window; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "constant windows")],
        columns: Self::COLUMNS,
    };
}

columns! {
    /// Arrivals at the receivers of a group of flows.
    #[derive(Clone, Debug, Serialize)]
    pub struct ArrivalResult {
        /// Name of the group.
        pub name: String = Word,
        /// Packets that arrived for the first time.
        pub new_packets: u64 = Packets + headline as "new",
        /// Packets that had arrived before.
        pub repeated_packets: u64 = Packets as "repeated",
    }
}

impl Row for ArrivalResult {
    const KIND: RowKind = RowKind {
        name: "window_arrivals",
        meaning: "A row a group of flows with a constant window: what arrived.",
        of: RowsOf::Flows,
        titles: &[("", "arrivals of constant windows")],
        columns: Self::COLUMNS,
    };
}

fn read(group: &FlowReader<'_, '_>) -> Result<Box<dyn Transport>, Problem> {
    group.refuse(&["traffic", "linked"], "a constant window is full at all times: no traffic")?;
    let parameters = WindowParameters::read(group.own)?;
    if parameters.window == 0 {
        return Err(group.own.fail("window", "is zero; allowed are 1 and more"));
    }
    for (key, size) in [("size", parameters.size), ("ack", parameters.ack)] {
        if !(1..=65_535).contains(&size.bytes()) {
            let message = "is not a packet size; allowed are 1 B to 65535 B";
            return Err(group.own.fail(key, message));
        }
    }
    Ok(Box::new(WindowPlan(parameters)))
}

/// Flows with a constant window as the scenario describes them.
struct WindowPlan(WindowParameters);

impl Transport for WindowPlan {
    fn facts(&self) -> Facts {
        Facts {
            largest: Some(self.0.size.bytes()),
            adapts: true,
            acknowledged: 1.0,
            end: End::Receivers,
            way_back: WayBack::Any("window"),
            ..Facts::default()
        }
    }

    fn wire(&self, group: FlowGroup, wiring: &mut dyn Wiring) {
        let back = wiring.way_back();
        let receivers = Receivers {
            first: group.first,
            back,
            marking: group.marking,
            ack: self.0.ack.bytes() as u16,
            arrived: vec![Arrived::default(); group.starts.len()],
            count: ArrivalCount::default(),
        };
        let senders = vec![Sender::default(); group.starts.len()];
        let count = WindowCount::default();
        wiring.add(Box::new(Senders { group, parameters: self.0.clone(), senders, count }));
        wiring.add(Box::new(receivers));
    }

    fn rows(&self, group: &mut GroupCounts<'_>) -> Vec<Rows> {
        let name = group.name.to_owned();
        let sent: &WindowCount = group.senders();
        let windows = WindowResult {
            name: name.clone(),
            acknowledged_packets: sent.acknowledged,
            resent_packets: sent.resent,
            mean_rtt_s: sent.rtt.seconds() / sent.acknowledged.max(1) as f64,
        };
        let ArrivalCount { new_packets, repeated_packets } = *group.receivers();
        let arrivals = ArrivalResult { name, new_packets, repeated_packets };
        vec![Rows::one(windows), Rows::one(arrivals)]
    }
}

/// The senders of a group.
struct Senders {
    group: FlowGroup,
    parameters: WindowParameters,
    senders: Vec<Sender>,
    count: WindowCount,
}

#[derive(Clone, Default)]
struct Sender {
    next: u64,
    /// Packets that are not acknowledged: number and time of sending, in the order of sending.
    outstanding: VecDeque<(u64, Time)>,
}

#[derive(Clone, Copy, Default)]
struct WindowCount {
    acknowledged: u64,
    resent: u64,
    rtt: Span,
}

impl ElementCounters for WindowCount {
    fn reset(&mut self, _now: Time) {
        *self = Self::default();
    }
}

impl Senders {
    /// Flow `index` sends packet `number`, perhaps `again`, and waits for its acknowledgement.
    fn send(&mut self, index: u32, number: u64, again: bool, cx: &mut Context<'_>) {
        let (now, flow) = (cx.now(), self.group.first.nth(index));
        let size = self.parameters.size.bytes() as u16;
        let packet = Packet::data(now, flow, number, size, self.group.route);
        self.senders[index as usize].outstanding.push_back((number, now));
        let packet = packet.with_marking(self.group.marking);
        cx.send(if again { packet.as_retransmission() } else { packet });
    }

    /// Fill the window of flow `index`.
    fn fill(&mut self, index: u32, cx: &mut Context<'_>) {
        while cx.now() < self.group.stop {
            let sender = &mut self.senders[index as usize];
            if sender.outstanding.len() >= self.parameters.window as usize {
                return;
            }
            let number = sender.next;
            sender.next += 1;
            self.send(index, number, false, cx);
        }
    }
}

impl LogicalProcess for Senders {}

impl Element for Senders {
    fn start(&mut self, cx: &mut Context<'_>) {
        for (index, start) in (0..).zip(&self.group.starts) {
            cx.wake_at(*start, index);
        }
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(std::slice::from_ref(&self.group.route))
    }

    fn receive(&mut self, ack: &Packet, cx: &mut Context<'_>) {
        cx.deliver(ack);
        let index = ack.flow.index_in(self.group.first);
        let outstanding = &mut self.senders[index as usize].outstanding;
        let Some(place) = outstanding.iter().position(|(number, _)| *number == ack.number) else {
            return;
        };
        let (_, sent) = outstanding.remove(place).expect("it was found there");
        self.count.acknowledged += 1;
        self.count.rtt = self.count.rtt + cx.now().since(sent);
        self.fill(index, cx);
    }

    /// A flow starts, or its oldest packet may be due to be sent again.
    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let (now, timeout) = (cx.now(), self.parameters.timeout);
        while let Some((number, sent)) = self.senders[token as usize].outstanding.front().copied() {
            if sent + timeout > now {
                break;
            }
            self.senders[token as usize].outstanding.pop_front();
            self.count.resent += 1;
            self.send(token, number, true, cx);
        }
        self.fill(token, cx);
        if let Some((_, sent)) = self.senders[token as usize].outstanding.front() {
            cx.wake_at(*sent + timeout, token);
        }
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::of(&mut self.count)
    }
}

/// The receivers of a group.
struct Receivers {
    first: FlowId,
    back: RouteId,
    marking: Marking,
    ack: u16,
    arrived: Vec<Arrived>,
    count: ArrivalCount,
}

/// Packets of a flow that have arrived: all below `below`, and the others.
#[derive(Clone, Default)]
struct Arrived {
    below: u64,
    others: std::collections::BTreeSet<u64>,
}

#[derive(Clone, Copy, Default)]
struct ArrivalCount {
    new_packets: u64,
    repeated_packets: u64,
}

impl ElementCounters for ArrivalCount {
    fn reset(&mut self, _now: Time) {
        *self = Self::default();
    }
}

impl Arrived {
    /// Note packet `number`; true if it is new.
    fn note(&mut self, number: u64) -> bool {
        if number < self.below || !self.others.insert(number) {
            return false;
        }
        while self.others.remove(&self.below) {
            self.below += 1;
        }
        true
    }
}

impl LogicalProcess for Receivers {}

impl Element for Receivers {
    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(std::slice::from_ref(&self.back))
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        let index = packet.flow.index_in(self.first) as usize;
        if self.arrived[index].note(packet.number) {
            self.count.new_packets += 1;
            cx.counters().hand_over(packet.flow, u64::from(packet.size));
        } else {
            self.count.repeated_packets += 1;
        }
        let ack = Packet::data(cx.now(), packet.flow, packet.number, self.ack, self.back);
        cx.send(ack.with_marking(self.marking).with_kind(PacketKind::Ack));
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("receivers wait for nothing");
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        OwnCount::of(&mut self.count)
    }
}
