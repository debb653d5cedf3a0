//! A host: a stack with its application, at work on simulated time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forebay_network::executive::Cancelled;
use forebay_network::{Context, Ecn, FlowId, LawFault, Marking, Packet, Payload, RouteId};
use forebay_units::{Span, Time};

use crate::endpoint::{Datagram, Party, Progress, Transmit};
use crate::script::{Fate, Scripted};

/// Most datagrams that a stack may send at one instant.
pub const MAX_AT_ONCE: u32 = 65_536;
/// Most times that a stack may ask to be called again at one instant without sending anything.
pub const MAX_IDLE_CALLS: u32 = 1_000;

/// Timer token of a host in its element: its place there.
pub(crate) type Token = u32;

/// A host, shared by its elements: one for each of its peers and directions.
#[derive(Clone)]
pub(crate) struct HostRef(Arc<Mutex<Host>>);

impl HostRef {
    pub(crate) fn new(host: Host) -> Self {
        Self(Arc::new(Mutex::new(host)))
    }

    /// The host. Elements are called one at a time, so it is free, unless a stack has panicked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Host> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way from one address of a host to a peer: a flow of the network.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) route: RouteId,
    pub(crate) flow: FlowId,
    pub(crate) marking: Marking,
    /// Bytes of a packet that are not the datagram's.
    pub(crate) header: u64,
    /// The largest packet.
    pub(crate) mtu: u64,
    /// Number of the next datagram.
    pub(crate) next: u64,
}

/// A datagram that a host sent, as far as two runs must agree on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Departure {
    pub(crate) time: Time,
    pub(crate) host: usize,
    pub(crate) size: u16,
    pub(crate) class: (u8, Ecn),
}

/// All datagrams of a run, where it is compared with another.
pub(crate) type Trace = Arc<Mutex<Vec<Departure>>>;

/// Counts of a host over the whole run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostCount {
    /// Datagrams and their bytes, sent and received.
    pub(crate) sent: [u64; 2],
    pub(crate) received: [u64; 2],
    /// Those among the received that were marked CE.
    pub(crate) marked: u64,
    /// Those that came to an address that the host has left.
    pub(crate) missed: u64,
}

/// A datagram that is about to enter the network.
#[derive(Clone)]
struct Outbound {
    /// Its place among the ways of its host.
    way: usize,
    dscp: u8,
    ecn: Ecn,
    payload: Payload,
}

/// A stack with its application at one place of the network.
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) number: usize,
    pub(crate) party: Box<dyn Party>,
    /// Its addresses, of which it has one at a time.
    pub(crate) addresses: Vec<SocketAddr>,
    address: usize,
    /// Changes of its address to come, in the order of time.
    pub(crate) moves: Vec<(Time, usize)>,
    pub(crate) ways: Vec<Way>,
    /// Time at which it starts.
    pub(crate) start: Time,
    pub(crate) started: bool,
    /// True once an element has set its first timers.
    scheduled: bool,
    /// Times at which a timer of the network expires for it.
    pending: BTreeSet<Time>,
    progress: Progress,
    pub(crate) count: HostCount,
    /// Bytes that its application had read when it was asked last.
    delivered: u64,
    /// The flow of the datagram that it received last.
    heard: Option<FlowId>,
    pub(crate) finished: Option<Time>,
    /// True if its transfer was counted as completed.
    pub(crate) completed: bool,
    pub(crate) failed: Option<(Time, String)>,
    pub(crate) trace: Option<Trace>,
    pub(crate) script: Option<Scripted>,
    /// Datagrams that its script holds back, each with the time until when, in that order.
    held: VecDeque<(Time, Outbound)>,
    /// Bytes of the datagram that is written.
    buffer: Vec<u8>,
}

impl Host {
    pub(crate) fn new(name: String, number: usize, party: Box<dyn Party>) -> Self {
        Self {
            name,
            number,
            party,
            addresses: Vec::new(),
            address: 0,
            moves: Vec::new(),
            ways: Vec::new(),
            start: Time::ZERO,
            started: false,
            scheduled: false,
            pending: BTreeSet::new(),
            progress: Progress::Waiting,
            count: HostCount::default(),
            delivered: 0,
            heard: None,
            finished: None,
            completed: false,
            failed: None,
            trace: None,
            script: None,
            held: VecDeque::new(),
            buffer: Vec::new(),
        }
    }

    /// The run begins: have it woken when it starts, and when its address changes. Each of its
    /// elements says so; the first one sets the timers.
    pub(crate) fn schedule(&mut self, token: Token, cx: &mut Context<'_>) {
        if !std::mem::replace(&mut self.scheduled, true) {
            let moves = self.moves.iter().map(|(time, _)| *time);
            for time in std::iter::once(self.start).chain(moves).collect::<BTreeSet<_>>() {
                cx.wake_at(time, token);
                self.pending.insert(time);
            }
        }
    }

    /// A datagram has arrived by a flow that leads to its address `to`.
    pub(crate) fn receive(
        &mut self,
        packet: &Packet,
        payload: &Payload,
        token: Token,
        cx: &mut Context<'_>,
    ) {
        if !self.started || payload.to != self.addresses[self.address] {
            self.count.missed += 1;
            return;
        }
        let now = cx.now();
        self.count.received[0] += 1;
        self.count.received[1] += payload.bytes.len() as u64;
        self.count.marked += u64::from(packet.ecn() == Ecn::Ce);
        self.heard = Some(packet.flow);
        let datagram = Datagram {
            from: payload.from,
            to: payload.to,
            ecn: packet.ecn(),
            dscp: packet.dscp(),
            bytes: &payload.bytes,
        };
        self.guarded(now, |host| host.party.receive(now, datagram));
        let probes = self.probes();
        if let Some(script) = &mut self.script
            && script.peer.contains(&payload.from)
        {
            script.receive(now, payload.bytes.len() as u64, packet.ecn(), probes);
        }
        self.serve(token, cx);
    }

    /// A timer has expired: it starts, its address changes, or something that it waits for is due.
    pub(crate) fn wake(&mut self, token: Token, cx: &mut Context<'_>) {
        let now = cx.now();
        while self.pending.first().is_some_and(|time| *time <= now) {
            self.pending.pop_first();
        }
        while self.held.front().is_some_and(|(until, _)| *until <= now)
            && let Some((_, outbound)) = self.held.pop_front()
        {
            self.enter(outbound, cx);
        }
        let mut due = !self.started && self.start <= now;
        self.started |= due;
        while let Some((time, address)) = self.moves.first().copied()
            && time <= now
        {
            self.moves.remove(0);
            self.address = address;
            let local = self.addresses[address];
            self.guarded(now, |host| host.party.moved(now, local));
            due = true;
        }
        if !self.started {
            return;
        }
        if self.guarded(now, |host| host.party.timeout()).is_some_and(|time| time <= now) {
            self.guarded(now, |host| host.party.wake(now));
            due = true;
        }
        if due || matches!(self.progress, Progress::Until(time) if time <= now) {
            self.serve(token, cx);
        } else {
            self.arm(token, cx);
        }
    }

    /// Let the application and the stack do all that they can do now.
    fn serve(&mut self, token: Token, cx: &mut Context<'_>) {
        let now = cx.now();
        let (mut sent, mut idle) = (0, 0);
        loop {
            let progress = self.guarded(now, |host| host.party.advance(now));
            let before = sent;
            self.transmit(&mut sent, cx);
            idle = if sent > before { 0 } else { idle + 1 };
            if idle > MAX_IDLE_CALLS {
                self.fault(
                    now,
                    &format!(
                        "asks to be called again at once, {MAX_IDLE_CALLS} times without sending \
                         anything"
                    ),
                );
            }
            let busy = match progress {
                Progress::Busy => true,
                Progress::Until(time) => time <= now,
                _ => false,
            };
            self.note(progress, now, cx);
            let timeout = self.guarded(now, |host| host.party.timeout());
            if timeout.is_some_and(|time| time <= now) {
                self.guarded(now, |host| host.party.wake(now));
            } else if !busy {
                break;
            }
        }
        self.arm(token, cx);
    }

    /// Send what the stack has for now.
    fn transmit(&mut self, sent: &mut u32, cx: &mut Context<'_>) {
        let now = cx.now();
        loop {
            let mut bytes = std::mem::take(&mut self.buffer);
            bytes.clear();
            let next = self.guarded(now, |host| host.party.transmit(now, &mut bytes));
            let Some(transmit) = next else {
                self.buffer = bytes;
                return;
            };
            *sent += 1;
            if *sent > MAX_AT_ONCE {
                let message = format!("does not stop transmitting: {MAX_AT_ONCE} datagrams");
                self.fault(now, &message);
            }
            self.send(transmit, bytes, cx);
        }
    }

    fn send(&mut self, transmit: Transmit, bytes: Vec<u8>, cx: &mut Context<'_>) {
        let now = cx.now();
        let from = self.addresses[self.address];
        let found = self.ways.iter().position(|way| way.from == from && way.to == transmit.to);
        let Some(place) = found else {
            let known: Vec<String> = self
                .ways
                .iter()
                .filter(|way| way.from == from)
                .map(|way| way.to.to_string())
                .collect();
            let message = format!(
                "sends to {}, where no host is that it reaches; from {from} it reaches {}",
                transmit.to,
                known.join(", ")
            );
            self.fault(now, &message);
        };
        let way = self.ways[place];
        let size = bytes.len() as u64 + way.header;
        if size > way.mtu {
            let message = format!(
                "sends a datagram of {} B, {size} B with headers; the MTU is {} B",
                bytes.len(),
                way.mtu
            );
            self.fault(now, &message);
        }
        self.count.sent[0] += 1;
        self.count.sent[1] += bytes.len() as u64;
        let dscp = transmit.dscp.unwrap_or(way.marking.dscp);
        if let Some(trace) = &self.trace {
            let class = (dscp, transmit.ecn);
            let departure = Departure { time: now, host: self.number, size: size as u16, class };
            trace.lock().unwrap_or_else(PoisonError::into_inner).push(departure);
        }
        let payload = Payload { from, to: transmit.to, bytes };
        self.fare(Outbound { way: place, dscp, ecn: transmit.ecn, payload }, cx);
    }

    /// Have a datagram that the stack sends fare as the script says, if there is one.
    fn fare(&mut self, mut outbound: Outbound, cx: &mut Context<'_>) {
        let now = cx.now();
        let probes = self.probes();
        let fate = match &mut self.script {
            Some(script) if script.peer.contains(&outbound.payload.to) => {
                script.send(now, outbound.payload.bytes.len() as u64, outbound.ecn, probes)
            }
            _ => Fate::default(),
        };
        if fate.lost {
            return;
        }
        if fate.marked {
            if outbound.ecn == Ecn::NotEct {
                self.fault(now, "sends a datagram not capable of ECN that its script marks CE");
            }
            outbound.ecn = Ecn::Ce;
        }
        for _ in 0..fate.copies {
            self.enter_after(fate.held, outbound.clone(), cx);
        }
        self.enter_after(fate.held, outbound, cx);
    }

    /// Have a datagram enter the network when `span` is over.
    fn enter_after(&mut self, span: Span, outbound: Outbound, cx: &mut Context<'_>) {
        if span == Span::ZERO {
            self.enter(outbound, cx);
        } else {
            let until = cx.now() + span;
            let place = self.held.partition_point(|(other, _)| *other <= until);
            self.held.insert(place, (until, outbound));
        }
    }

    /// Have a datagram enter the network.
    fn enter(&mut self, outbound: Outbound, cx: &mut Context<'_>) {
        let now = cx.now();
        let Outbound { way: place, dscp, ecn, payload } = outbound;
        let way = self.ways[place];
        self.ways[place].next += 1;
        let size = payload.bytes.len() as u64 + way.header;
        let packet = Packet::data(now, way.flow, way.next, size as u16, way.route);
        let mut packet = packet.with_marking(Marking { dscp, ..way.marking }).with_ecn(ecn);
        match cx.sack_blocks().store_payload(payload) {
            Some(slot) => packet.set_sack_slot(slot),
            None => self.fault(now, "has more datagrams in flight than there is room for"),
        }
        cx.send(packet);
    }

    /// Inner quantities of the stack, if a script logs them.
    fn probes(&self) -> BTreeMap<String, f64> {
        let mut probes = BTreeMap::new();
        if self.script.is_some() {
            self.party.probes(&mut |name, value| {
                probes.insert(name.to_owned(), value);
            });
        }
        probes
    }

    /// Note how far the application is, and count what it has read.
    fn note(&mut self, progress: Progress, now: Time, cx: &mut Context<'_>) {
        let delivered = self.party.delivered();
        if let Some(flow) = self.heard
            && delivered > self.delivered
        {
            cx.counters().hand_over(flow, delivered - self.delivered);
        }
        self.delivered = self.delivered.max(delivered);
        match &progress {
            Progress::Finished if self.finished.is_none() => self.finished = Some(now),
            Progress::Failed(reason) if self.failed.is_none() => {
                self.failed = Some((now, reason.clone()));
            }
            _ => {}
        }
        self.progress = progress;
    }

    /// Set the timer for what it waits for next.
    fn arm(&mut self, token: Token, cx: &mut Context<'_>) {
        let now = cx.now();
        let timeout = self.guarded(now, |host| host.party.timeout()).unwrap_or(Time::NEVER);
        let until = match self.progress {
            Progress::Until(time) => time,
            _ => Time::NEVER,
        };
        let held = self.held.front().map_or(Time::NEVER, |(until, _)| *until);
        let next = timeout.min(until).min(held).max(now);
        if next < self.pending.first().copied().unwrap_or(Time::NEVER) {
            self.pending.insert(next);
            cx.wake_at(next, token);
        }
    }

    /// The result of `call` of the stack or its application; where it panics, that ends the run.
    fn guarded<R>(&mut self, now: Time, call: impl FnOnce(&mut Self) -> R) -> R {
        match catch_unwind(AssertUnwindSafe(|| call(self))) {
            Ok(result) => result,
            Err(panic) if panic.is::<LawFault>() || panic.is::<Cancelled>() => resume_unwind(panic),
            Err(panic) if panic.is::<Raised>() => {
                let raised = panic.downcast_ref::<Raised>().map_or("", |Raised(what)| what);
                self.end(now, raised)
            }
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                self.fault(now, &format!("panicked: {}", text.unwrap_or("without a message")))
            }
        }
    }

    /// End the run: this stack is at fault.
    fn fault(&self, now: Time, what: &str) -> ! {
        self.end(now, &format!("its stack {what}"))
    }

    /// End the run for this reason.
    fn end(&self, now: Time, what: &str) -> ! {
        LawFault::new(format!("host {} at {} s: {what}", self.name, now.seconds())).end_run()
    }
}

/// An error of a stack or its application on its way to the host.
struct Raised(String);

/// End the run from within a call of a stack or its application, which is at fault: `what` follows
/// the name of the host and the time, as in "its application raised an error". Errors of languages
/// whose functions may fail at any place come this way.
pub fn fail(what: String) -> ! {
    resume_unwind(Box::new(Raised(what)))
}
