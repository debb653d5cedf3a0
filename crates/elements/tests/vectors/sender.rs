//! A vector of a TCP sender: the acknowledgements that reach it in random episodes, and what it
//! says and sends.
//!
//! `validation/vectors/README.md` defines the fields.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forebay_elements::FlowGroup;
use forebay_elements::tcp::{TcpParameters, TcpSenders};
use forebay_engine::Network;
use forebay_kernel::{Stream, Streams};
use forebay_laws::control::{CONTROLS, build_by_rfcs};
use forebay_laws::traffic::pool_of;
use forebay_network::{
    Burst, Context, Element, FlowId, LogicalProcess, Marking, Packet, PacketKind, RouteId,
    SackBlocks, Traffic,
};
use forebay_parameters::Value;
use forebay_units::{Size, Time};

use crate::support::{build, parameters, table, with};
use crate::vector::Keys;

/// Episodes, by vector and seed, in which the sender is known to differ from its standards. One in
/// which it no longer does is to be taken off.
const KNOWN: &[(&str, &[u64])] = &[
    // RFC 8985, section 6.2: RACK.min_RTT has all round-trip times of an acknowledgement (step 1)
    // before those of segments sent again are compared with it (step 2); the sender takes segment
    // by segment.
    ("tcp/rfc8985", &[388]),
];

/// A vector as its file has it.
pub struct SenderVector {
    pub name: String,
    pub title: String,
    pub mechanism: String,
    pub source: String,
    control: String,
    parameters: Value,
    episodes: Vec<Episode>,
}

/// One episode: its seed, the initial window in segments, and what happens.
struct Episode {
    seed: u64,
    window: u64,
    rows: Vec<Row>,
}

/// A row of an episode.
struct Row {
    at: Time,
    event: Event,
    after: State,
    sent: Vec<Sent>,
}

#[derive(Clone, PartialEq, Debug)]
enum Event {
    /// The application writes so many segments.
    Write(u64),
    Timer,
    Ack(Acknowledgement),
}

/// An acknowledgement; `echo` is the rank of the segment whose timestamp it echoes among all that
/// were sent.
#[derive(Clone, PartialEq, Debug)]
struct Acknowledgement {
    number: u64,
    blocks: Vec<(u64, u64)>,
    ece: bool,
    echo: Option<usize>,
}

/// Statements of a sender: segments in flight, if the standard says how many these are, and its
/// window and threshold in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct State {
    in_flight: Option<u64>,
    cwnd: f64,
    ssthresh: f64,
}

/// A segment that was sent, and whether it has CWR.
type Sent = (u64, bool);

impl SenderVector {
    /// Returns true if `text` is one.
    pub fn is_one(text: &str) -> bool {
        text.lines().any(|line| line.starts_with("seeds ="))
    }

    /// Read the vector called `name`.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let mut file = Keys::of(name, parameters(text))?;
        let mut expected = Keys::of("expected", file.must("expected")?)?;
        let texts = expected.list("episodes")?.unwrap_or_default();
        expected.end()?;
        let seeds = file.list("seeds")?.unwrap_or_default();
        if seeds.len() != texts.len() {
            return Err(format!("{} seeds and {} episodes", seeds.len(), texts.len()));
        }
        let episodes = seeds.iter().zip(&texts).map(|row| match row {
            (&Value::Integer(seed), Value::Text(text)) => Episode::read(seed as u64, text),
            (seed, text) => Err(format!("episode {} of seed {}", text.show(), seed.show())),
        });
        let vector = Self {
            name: name.to_owned(),
            title: file.text("title")?,
            mechanism: file.text("mechanism")?,
            source: file.text("source")?,
            control: file.text("control")?,
            parameters: file.must("parameters")?,
            episodes: episodes.collect::<Result<_, _>>()?,
        };
        // An input of the program that makes the episodes.
        file.number("ack_delay_ms")?;
        file.end()?;
        Ok(vector)
    }

    /// Runs the vector; the error says what is not as the vector says.
    pub fn run(&self) -> Result<(), String> {
        let mut wrong = Vec::new();
        for episode in &self.episodes {
            let seed = episode.seed;
            let known = KNOWN.iter().any(|(name, at)| *name == self.name && at.contains(&seed));
            match episode.compare(&self.play(episode)?) {
                Err(difference) if !known => wrong.push(format!("seed {seed}: {difference}")),
                Ok(()) if known => wrong.push(format!("seed {seed}: agrees; take it off KNOWN")),
                _ => {}
            }
        }
        match wrong.first() {
            None => Ok(()),
            Some(first) => Err(format!("{} of {}; {first}", wrong.len(), self.episodes.len())),
        }
    }

    /// Rows of what a sender does that is handed the acknowledgements of `episode`.
    fn play(&self, episode: &Episode) -> Result<Vec<Row>, String> {
        let window = Value::Text(format!("{} packets", episode.window));
        let values = with(&self.parameters, "initial_window", window);
        let tcp = build(&values, TcpParameters::from_section).map_err(|why| why.to_string())?;
        let entry = CONTROLS.iter().find(|entry| entry.name == self.control);
        let entry = entry.ok_or_else(|| format!("no control is called {}", self.control))?;
        let control = build(&table(&[]), build_by_rfcs(entry)).map_err(|why| why.to_string())?;
        let mut network = Network::new();
        let flow = network.add_flows(1);
        let (host, wire) = (network.reserve(), network.reserve());
        let route = network.add_route(&[], wire);
        let group = FlowGroup {
            path: "flows.vector".to_owned(),
            first: flow,
            starts: vec![Time::ZERO],
            stop: Time::NEVER,
            route,
            marking: Marking::default(),
        };
        let writes = episode.writes(tcp.mss);
        let segments = writes.iter().map(|write| write.size.bytes() / tcp.mss.bytes()).collect();
        let applications = pool_of([(Writes(writes), Streams::new(0, 0).named("vector"))]);
        let sender = TcpSenders::new(group, &tcp, applications, &*control);
        let log = Arc::new(Mutex::new(Vec::new()));
        let acks = episode.acks().map(|(at, ack)| (at, ack.clone())).collect();
        let rig = Rig { sender, flow, route, acks, writes: segments, log: Arc::clone(&log) };
        network.place(host, Box::new(rig));
        network.place(wire, Box::new(Wire { log: Arc::clone(&log) }));
        network.run(Time::NEVER, u64::MAX);
        drop(network);
        Ok(significant(std::mem::take(&mut *lock(&log))))
    }
}

/// `rows` without events of a timer at which nothing happened.
fn significant(rows: Vec<Row>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::new();
    for row in rows {
        let idle = kept.last().is_some_and(|last| last.after == row.after);
        if row.event != Event::Timer || !row.sent.is_empty() || !idle {
            kept.push(row);
        }
    }
    kept
}

impl Episode {
    fn read(seed: u64, text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let ["window", window] = head[..] else {
            return Err(format!("an episode begins with {head:?}"));
        };
        let mut before = State { in_flight: None, cwnd: 0.0, ssthresh: 0.0 };
        let rows = lines.map(|line| {
            let row = Row::read(line, before)?;
            before = row.after;
            Ok(row)
        });
        let rows = rows.collect::<Result<_, String>>()?;
        Ok(Self { seed, window: number(window)?, rows })
    }

    fn acks(&self) -> impl Iterator<Item = (Time, &Acknowledgement)> {
        self.rows.iter().filter_map(|row| match &row.event {
            Event::Ack(ack) => Some((row.at, ack)),
            _ => None,
        })
    }

    fn writes(&self, mss: Size) -> VecDeque<Burst> {
        let mut last = Time::ZERO;
        let writes = self.rows.iter().filter_map(|row| match row.event {
            Event::Write(segments) => {
                let gap = row.at.since(std::mem::replace(&mut last, row.at));
                Some(Burst { gap, size: Size::from_bytes(segments * mss.bytes()) })
            }
            _ => None,
        });
        writes.collect()
    }

    fn compare(&self, found: &[Row]) -> Result<(), String> {
        for (row, found) in self.rows.iter().zip(found) {
            if !row.agrees(found) {
                return Err(format!("expected\n  {row}\nfound\n  {found}"));
            }
        }
        match (self.rows.get(found.len()), found.get(self.rows.len())) {
            (Some(row), _) => Err(format!("expected\n  {row}\nfound nothing more")),
            (None, Some(found)) => Err(format!("expected nothing more, found\n  {found}")),
            (None, None) => Ok(()),
        }
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

impl Row {
    /// Read a row behind one after which the state is `before`.
    fn read(line: &str, before: State) -> Result<Self, String> {
        let (head, tail) = line.split_once(" > ").ok_or_else(|| format!("row: {line}"))?;
        let mut head = head.split(' ');
        let micros: f64 = number(head.next().unwrap_or_default())?;
        let mut row = Self {
            at: Time::from_ps((micros * 1e6).round() as u64),
            event: Event::Timer,
            after: before,
            sent: Vec::new(),
        };
        let mut words = head.peekable();
        match words.peek().map(|word| word.split_at(1)) {
            Some(("t", "imer")) => {}
            Some(("w", rest)) => row.event = Event::Write(number(rest)?),
            _ => row.event = Event::Ack(Acknowledgement::read(words)?),
        }
        for word in tail.split(' ') {
            match word.split_at(1) {
                ("f", "-") => row.after.in_flight = None,
                ("f", rest) => row.after.in_flight = Some(number(rest)?),
                ("c", rest) => row.after.cwnd = number(rest)?,
                ("h", rest) => row.after.ssthresh = number(rest)?,
                ("x", rest) => row.sent = rest.split(',').map(sent).collect::<Result<_, _>>()?,
                _ => return Err(format!("word {word} of row {line}")),
            }
        }
        Ok(row)
    }

    /// Returns true if `found` is the same, but for a nanosecond, and where nothing is expected.
    fn agrees(&self, found: &Self) -> bool {
        let near = self.at.ps().abs_diff(found.at.ps()) <= 1000;
        let in_flight = self.after.in_flight.and(found.after.in_flight);
        let after = State { in_flight, ..found.after };
        near && self.event == found.event && self.after == after && self.sent == found.sent
    }
}

/// A segment that was sent, such as `17`, or `17w` with CWR.
fn sent(text: &str) -> Result<Sent, String> {
    let digits = text.trim_end_matches('w');
    Ok((number(digits)?, digits.len() < text.len()))
}

impl Acknowledgement {
    fn read<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut ack = Self { number: 0, blocks: Vec::new(), ece: false, echo: None };
        let block = |text: &str| {
            let (first, end) = text.split_once('-').ok_or_else(|| format!("block {text}"))?;
            Ok((number(first)?, number(end)?))
        };
        for word in words {
            match word.split_at(1) {
                ("a", rest) => ack.number = number(rest)?,
                ("s", rest) => {
                    ack.blocks = rest.split(',').map(block).collect::<Result<_, String>>()?;
                }
                ("e", "") => ack.ece = true,
                ("t", rest) => ack.echo = Some(number(rest)?),
                _ => return Err(format!("word {word} of an acknowledgement")),
            }
        }
        Ok(ack)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, event, after, sent } = self;
        let micros = at.ps() as f64 / 1e6;
        write!(f, "{micros} us, {event:?}: {after:?}, sent {sent:?}")
    }
}

/// The application of an episode.
struct Writes(VecDeque<Burst>);

impl Traffic for Writes {
    fn next(&mut self, _stream: &mut Stream) -> Option<Burst> {
        self.0.pop_front()
    }
}

/// The sender, and what drives it.
struct Rig {
    sender: TcpSenders,
    flow: FlowId,
    route: RouteId,
    acks: Vec<(Time, Acknowledgement)>,
    /// Segments of the writes that are to come.
    writes: VecDeque<u64>,
    log: Arc<Mutex<Vec<Row>>>,
}

/// The rows so far, also after a panic of the sender, which is the test's to see.
fn lock(log: &Mutex<Vec<Row>>) -> MutexGuard<'_, Vec<Row>> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Timer tokens of the rig lie between those of the sender, which are 0 and have one of the two
/// highest bits, writes of the application the highest alone: acknowledgement `i` has token `i +
/// ACKS`.
const ACKS: u32 = 1;
const HIGH: u32 = 1 << 30;
const WRITE: u32 = 1 << 31;

impl LogicalProcess for Rig {}

impl Element for Rig {
    fn start(&mut self, cx: &mut Context<'_>) {
        self.sender.start(cx);
        for (token, (at, _)) in (ACKS..HIGH).zip(&self.acks) {
            cx.wake_at(*at, token);
        }
    }

    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {}

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let event = if (ACKS..HIGH).contains(&token) {
            let ack = self.acks[(token - ACKS) as usize].1.clone();
            let packet = self.packet(&ack, cx);
            self.sender.receive(&packet, cx);
            Event::Ack(ack)
        } else {
            self.sender.wake(token, cx);
            if token == WRITE {
                Event::Write(self.writes.pop_front().unwrap_or(0))
            } else {
                Event::Timer
            }
        };
        let state = self.sender.state(0);
        let (cwnd, ssthresh) = (state.window.cwnd, state.window.ssthresh);
        let after = State { in_flight: Some(state.pipe), cwnd, ssthresh };
        let row = Row { at: cx.now(), event, after, sent: Vec::new() };
        lock(&self.log).push(row);
    }
}

impl Rig {
    fn packet(&self, ack: &Acknowledgement, cx: &mut Context<'_>) -> Packet {
        // The time of each segment that was sent.
        let log = lock(&self.log);
        let mut times = log.iter().flat_map(|row| row.sent.iter().map(|_| row.at));
        let echo = ack.echo.map_or(Some(Time::ZERO), |rank| times.nth(rank));
        let mut packet = Packet::data(cx.now(), self.flow, ack.number, 40, self.route)
            .with_kind(PacketKind::Ack)
            .with_ece(ack.ece)
            .with_timestamp_echo(echo.unwrap_or(Time::ZERO));
        let mut blocks = SackBlocks::default();
        ack.blocks.iter().for_each(|(first, end)| blocks.push(*first, *end));
        if !ack.blocks.is_empty() {
            packet.set_sack_slot(cx.sack_blocks().store(blocks));
        }
        packet
    }
}

/// The far end of the wire: it notes what the sender sends.
struct Wire {
    log: Arc<Mutex<Vec<Row>>>,
}

impl LogicalProcess for Wire {}

impl Element for Wire {
    fn receive(&mut self, packet: &Packet, _cx: &mut Context<'_>) {
        let mut log = lock(&self.log);
        let row = log.last_mut().expect("segments are sent by an event");
        row.sent.push((packet.number, packet.cwr()));
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {}
}
