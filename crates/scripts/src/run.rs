//! Running a script on the model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use forebay_elements::FlowGroup;
use forebay_elements::tcp::{
    CongestionState, SenderState, TcpParameters, TcpReceivers, TcpSenders,
};
use forebay_engine::Network;
use forebay_kernel::{Stream, Streams};
use forebay_laws::traffic::pool_of;
use forebay_network::{
    Burst, Context, Ecn, Element, FlowId, LogicalProcess, Marking, Packet, PacketKind, RouteId,
    SackBlocks, Traffic,
};
use forebay_parameters::Registry;
use forebay_units::{Size, Span, Time};

use crate::language::{NAMES, UNLIMITED};
use crate::numbering::Numbering;
use crate::problem::{Problem, place};
use crate::report::{Report, judge};
use crate::script::{Action, Event, Role, Script};
use crate::seen::Seen;
use crate::segment::{EcnField, EcnOption, Flags, Segment};

/// State shared between the elements of a run and the caller.
#[derive(Default)]
struct Log {
    seen: Vec<Seen>,
    /// Index of an event that asks for what the model cannot do, and why.
    refused: Option<(usize, String)>,
    /// Places at which the segments sent so far begin, for a sender.
    numbering: Option<Numbering>,
}

/// Number of events that a run may take, and of packets that it may see.
const BUDGET: u64 = 1_000_000;

/// A timestamp of a script counts ms.
const TICK: u64 = Span::from_ms(1).ps();

impl Script {
    /// Run the script on the model.
    ///
    /// # Errors
    /// If an event asks for what the model cannot do, such as an acknowledgement of half a segment.
    pub fn run(&self) -> Result<Report, Problem> {
        self.run_with(&forebay_laws::registry())
    }

    /// Run a script that [`Script::read_with`] has read with `registry`.
    ///
    /// # Errors
    /// As [`Script::run`].
    pub fn run_with(&self, registry: &Registry) -> Result<Report, Problem> {
        let built = self.settings.build(registry);
        let built = built.map_err(|error| self.problem(None, error.to_string()))?;
        let log = Arc::new(Mutex::new(Log::default()));
        let sender = self.role == Role::Sender;
        let tcp = built.tcp;
        let mut network = Network::new();
        let flow = network.add_flows(1);
        let (host, wire) = (network.reserve(), network.reserve());
        let route = network.add_route(&[], wire);
        let role = if sender {
            let group = FlowGroup {
                path: "flows.script".to_owned(),
                first: flow,
                starts: vec![Time::ZERO],
                stop: Time::NEVER,
                route,
                marking: Marking::default(),
            };
            let writes = Writes(self.events.iter().filter_map(written).collect());
            let applications = pool_of([(writes, Streams::new(0, 0).named("script"))]);
            let sender = TcpSenders::new(group, &tcp, applications, &built.control);
            Host::Sender(Box::new(sender))
        } else {
            Host::Receiver(TcpReceivers::new(flow, 1, &tcp, route))
        };
        let overhead = tcp.largest_packet() - tcp.mss.bytes();
        let rig = Rig {
            host: role,
            events: self.events.clone(),
            log: Arc::clone(&log),
            path: (flow, route),
            overhead,
            numbering: self.numbering.clone(),
            mss: tcp.mss.bytes() as f64,
            timeouts: (0, 0),
        };
        lock(&log).numbering = sender.then(|| Numbering::new(tcp.mss.bytes()));
        network.place(host, Box::new(rig));
        let numbering = self.numbering.clone();
        network.place(wire, Box::new(Wire { log: Arc::clone(&log), tcp, overhead, numbering }));
        let end = self.events.last().map_or(Time::ZERO, |event| event.at);
        let complete = network.run(end, BUDGET).complete;
        drop(network);
        let log = std::mem::take(&mut *lock(&log));
        let report = judge(self, &log.seen);
        match log.refused {
            Some((index, why)) if report.passed() => Err(self.problem(Some(index), why)),
            None if !complete && report.passed() => {
                let why = format!("the script takes more than {BUDGET} events; at most so many");
                Err(self.problem(None, why))
            }
            _ => Ok(report),
        }
    }

    fn problem(&self, event: Option<usize>, message: String) -> Problem {
        let offset = event.and_then(|index| self.events.get(index)).map(|event| event.offset);
        let (line, column) = offset.map_or((None, 0), |offset| {
            let (line, column) = place(&self.text, offset);
            (Some(line), column)
        });
        Problem { script: self.name.clone(), line, column, message }
    }
}

/// The log, also after a panic of the model, which is the caller's to see.
fn lock(log: &Mutex<Log>) -> std::sync::MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

fn written(event: &Event) -> Option<u64> {
    match event.action {
        Action::Write(bytes) => Some(bytes),
        _ => None,
    }
}

/// The application of a script: it writes what the script says, and the script says when.
struct Writes(VecDeque<u64>);

impl Traffic for Writes {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        let size = self.0.pop_front().map(Size::from_bytes)?;
        Some(Burst { gap: Span::ZERO, size })
    }
}

enum Host {
    Sender(Box<TcpSenders>),
    Receiver(TcpReceivers),
}

/// The host under test, and the script that drives it. What happens at one instant happens in the
/// order of the script, behind the timers of the host that are due then.
struct Rig {
    host: Host,
    events: Vec<Event>,
    log: Arc<Mutex<Log>>,
    /// The flow, and the route that it takes.
    path: (FlowId, RouteId),
    /// Bytes of a packet beside its data.
    overhead: u64,
    numbering: Numbering,
    mss: f64,
    /// The first segment not acknowledged, and how many timeouts there were when it became that.
    timeouts: (u64, u64),
}

/// Timer tokens of the host below this one are its own; event `i` has token `i + EVENTS`. A group
/// of one flow has a timer with token 0, writes with the top bit, and a timer of loss detection
/// with the two highest.
const EVENTS: u32 = 1;
const WRITE: u32 = 1 << 31;
const LOSS_TIMER: u32 = 3 << 30;

impl LogicalProcess for Rig {}

impl Element for Rig {
    fn start(&mut self, cx: &mut Context<'_>) {
        match &mut self.host {
            Host::Sender(host) => host.start(cx),
            Host::Receiver(host) => host.start(cx),
        }
        for (token, event) in (EVENTS..WRITE).zip(&self.events) {
            cx.wake_at(event.at, token);
        }
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        match &mut self.host {
            Host::Sender(host) => host.receive(packet, cx),
            Host::Receiver(host) => host.receive(packet, cx),
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        match (token, &mut self.host) {
            (LOSS_TIMER, Host::Sender(host)) => host.wake(token, cx),
            // The script says when the application writes.
            (WRITE.., _) => {}
            (0, Host::Sender(host)) => host.wake(0, cx),
            (0, Host::Receiver(host)) => host.wake(0, cx),
            _ => self.step((token - EVENTS) as usize, cx),
        }
    }
}

impl Rig {
    fn step(&mut self, index: usize, cx: &mut Context<'_>) {
        if lock(&self.log).refused.is_some() {
            return;
        }
        if let Host::Sender(host) = &mut self.host {
            host.expire_if_due(0, cx);
        }
        lock(&self.log).seen.push(Seen::Reached(index));
        let Some(event) = self.events.get(index) else { return };
        match event.action.clone() {
            Action::Expect(_) => {}
            Action::Write(_) => {
                if let Host::Sender(host) = &mut self.host {
                    host.write_now(0, cx);
                }
            }
            Action::Inject(segment) => {
                match self.packet(&segment, cx) {
                    Ok(packet) => self.receive(&packet, cx),
                    Err(why) => lock(&self.log).refused = Some((index, why)),
                }
                self.note_progress(cx);
            }
            Action::Assert(_) => {
                let values = self.values(cx);
                lock(&self.log).seen.push(Seen::Values(index, values));
            }
        }
    }

    /// The packet that `segment` is to the host.
    fn packet(&self, segment: &Segment, cx: &mut Context<'_>) -> Result<Packet, String> {
        let now = cx.now();
        match self.host {
            Host::Sender(_) => self.acknowledgement(segment, cx),
            Host::Receiver(_) => {
                if segment.opens() {
                    let size = self.overhead as u16;
                    let syn = Packet::data(now, self.path.0, 0, size, self.path.1);
                    return Ok(syn.with_kind(PacketKind::Syn));
                }
                let number = segment_of(&self.numbering, segment.first)?;
                let sent = segment.timestamps.map_or(now, |(value, _)| of_ticks(value));
                if sent > now {
                    return Err(
                        "TS val is later than the packet; it is its sending time in ms".to_owned()
                    );
                }
                let size = u16::try_from(self.overhead + segment.length());
                let size = size.map_err(|_| "the packet is larger than 65535 bytes".to_owned())?;
                let ecn = match segment.ecn {
                    Some(EcnField::Is(field)) => field,
                    Some(EcnField::Capable) => Ecn::Ect0,
                    None => Ecn::NotEct,
                };
                let packet = Packet::data(sent, self.path.0, number, size, self.path.1);
                let last = segment.flags.fin;
                Ok(packet.with_ecn(ecn).with_cwr(segment.flags.cwr).as_last(last))
            }
        }
    }

    fn acknowledgement(&self, segment: &Segment, cx: &mut Context<'_>) -> Result<Packet, String> {
        let now = cx.now();
        let log = lock(&self.log);
        let numbering = log.numbering.as_ref().unwrap_or(&self.numbering);
        let number = segment_of(numbering, segment.ack.unwrap_or(1))?;
        let mut ack = Packet::data(now, self.path.0, number, 40, self.path.1)
            .with_kind(PacketKind::Ack)
            .with_ace(segment.flags.ace());
        if segment.flags.syn {
            ack = ack.as_last(true);
        }
        if let Some((_, echo)) = segment.timestamps {
            if of_ticks(echo) > now {
                return Err("TS ecr is later than the packet; it is the sending time in ms of \
                            what is acknowledged"
                    .to_owned());
            }
            ack = ack.with_timestamp_echo(of_ticks(echo));
        }
        let next = self.unacknowledged().max(number);
        if matches!(&self.host, Host::Sender(host) if host.is_sacked(0, next)) {
            return Err(format!(
                "byte {} was reported in a block and is expected next: a receiver of the model \
                 never discards what it has reported (RFC 2018, section 8)",
                numbering.byte(next)
            ));
        }
        let mut blocks = SackBlocks::default();
        for (first, end) in &segment.sack {
            let block = (segment_of(numbering, *first)?, segment_of(numbering, *end)?);
            if (block.0..block.1).contains(&next) {
                return Err(format!(
                    "block {first}:{end} holds byte {}, which is the next one expected",
                    numbering.byte(next)
                ));
            }
            blocks.push(block.0, block.1);
        }
        if let Some(counts) = segment.counts {
            blocks = blocks.with_ecn(counts.as_sent());
        }
        if blocks != SackBlocks::default() {
            ack.set_sack_slot(cx.sack_blocks().store(blocks));
        }
        Ok(ack)
    }

    /// The first segment that is not acknowledged to a sender.
    fn unacknowledged(&self) -> u64 {
        match &self.host {
            Host::Sender(host) => host.state(0).unacknowledged,
            Host::Receiver(_) => 0,
        }
    }

    /// Timeouts count from the last acknowledgement of new data.
    fn note_progress(&mut self, cx: &mut Context<'_>) {
        let acknowledged = self.unacknowledged();
        if acknowledged > self.timeouts.0 {
            self.timeouts = (acknowledged, timeouts(cx));
        }
    }

    /// Returns what assertions can name, in the order of [`NAMES`].
    fn values(&self, cx: &mut Context<'_>) -> [f64; NAMES.len()] {
        let Host::Sender(host) = &self.host else {
            return [0.0; NAMES.len()];
        };
        let state @ SenderState { window, round_trip, .. } = host.state(0);
        let microseconds = |ps: f64| ps / Span::from_us(1).ps() as f64;
        let segments = |bytes: f64| (bytes / self.mss).floor().min(UNLIMITED);
        let (srtt, rttvar) = round_trip.unwrap_or((0.0, 0.0));
        let expired = (timeouts(cx) - self.timeouts.1) as f64;
        [
            segments(window.cwnd),
            segments(window.ssthresh),
            congestion(state.congestion),
            microseconds(srtt),
            microseconds(rttvar),
            microseconds(state.timeout.ps() as f64),
            expired,
            expired,
            cx.counters().flows.first().map_or(0.0, |flow| flow.retransmissions as f64),
            (state.unsent - state.unacknowledged) as f64,
            state.sacked as f64,
            self.mss,
            window.cwnd,
            window.ssthresh,
            state.pipe as f64,
            state.marked.0 as f64,
            state.marked.1 as f64,
        ]
    }
}

fn congestion(state: CongestionState) -> f64 {
    match state {
        CongestionState::Open => 0.0,
        CongestionState::Disorder => 1.0,
        CongestionState::Cwr => 2.0,
        CongestionState::Recovery => 3.0,
        CongestionState::Loss => 4.0,
    }
}

fn timeouts(cx: &mut Context<'_>) -> u64 {
    cx.counters().flows.first().map_or(0, |flow| flow.timeouts)
}

fn of_ticks(value: u64) -> Time {
    Time::from_ps(value.saturating_mul(TICK))
}

fn segment_of(numbering: &Numbering, byte: u64) -> Result<u64, String> {
    numbering.segment(byte).ok_or_else(|| {
        let near = numbering.around(byte);
        format!("{byte} is no limit of a segment sent so far; the nearest are {near}")
    })
}

/// The far end of the wire: it notes what the host sends.
struct Wire {
    log: Arc<Mutex<Log>>,
    tcp: TcpParameters,
    overhead: u64,
    /// Segments that the script injects, for a receiver.
    numbering: Numbering,
}

impl LogicalProcess for Wire {}

impl Element for Wire {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let blocks = cx.sack_blocks().take(packet.sack_slot());
        let mut log = lock(&self.log);
        if log.seen.len() as u64 >= BUDGET {
            log.refused.get_or_insert((0, format!("more than {BUDGET} packets are sent")));
            return;
        }
        let mut seen = Segment {
            ecn: Some(EcnField::Is(packet.ecn())),
            flags: Flags { ece: packet.ece(), cwr: packet.cwr(), ..Flags::default() },
            counts: blocks.ecn().map(EcnOption::of),
            first: 1,
            end: 1,
            ack: Some(1),
            ..Segment::default()
        };
        let closes = self.tcp.handshake && packet.is_last();
        match &mut log.numbering {
            Some(_) if packet.is_syn() => {
                (seen.first, seen.end, seen.ack, seen.flags.syn) = (0, 0, None, true);
            }
            Some(numbering) => {
                seen.flags.fin = closes;
                let bytes = u64::from(packet.size).saturating_sub(self.overhead);
                if packet.number == numbering.segments() {
                    // A FIN takes a number as a byte does.
                    numbering.add(bytes + u64::from(closes));
                }
                seen.first = numbering.byte(packet.number);
                seen.end = seen.first + bytes;
            }
            None if closes => {
                (seen.first, seen.end, seen.flags.syn) = (0, 0, true);
            }
            None => {
                seen.ack = Some(self.numbering.byte(packet.number));
                seen.flags.ae = packet.ace() & 0b100 > 0;
                let limits = |n: u64| self.numbering.byte(n);
                seen.sack = blocks.as_slice().iter().map(|b| (limits(b.0), limits(b.1))).collect();
            }
        }
        if self.tcp.timestamps {
            let ms = |time: Time| time.ps() / TICK;
            seen.timestamps = Some(if packet.is_feedback() {
                (0, ms(packet.timestamp_echo()))
            } else {
                (ms(packet.created), 0)
            });
        }
        log.seen.push(Seen::Sent(cx.now(), seen));
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {}
}
