//! Calls: flows that arrive, are admitted or blocked, send, and end or are terminated.
//!
//! One element is an ingress-egress aggregate of a PCN domain (RFC 5559): the sources at its
//! ingress node, the sink at its egress node, and the control loop between them, whose signals take
//! a round-trip time. Calls cost memory only while they live: a place in a table, with one timer
//! for whatever is due next.

mod class;
mod count;
mod edge;
mod parameters;
mod plan;
mod table;

use forebay_kernel::Streams;
use forebay_laws::pcn_edge::Leaving;
use forebay_laws::pcn_edge::{Termination, TerminationSignal};
use forebay_network::{
    CallEvent, Context, Element, FlowId, LogicalProcess, Observation, OwnCount, Packet, PacketKind,
    PcnMark,
};
use forebay_units::{Span, Time};

pub use class::ClassPlan;
pub use count::{CallCount, CallResult};
pub use edge::EdgePlan;
pub use parameters::{
    BatchLaw, CallParameters, HoldingFrom, ProbingParameters, ProbingScheme, SurgeParameters,
};

pub use plan::{CallsPlan, ENTRY};

use class::{Class, Draft};
use edge::{Edge, Signal, Signals};
use table::{Call, CallTable, Probe};

/// IPv4, UDP and RTP headers within each packet: goodput counts the rest (RFC 791, RFC 768, RFC
/// 3550, section 5.1).
const HEADER: u64 = 40;

/// A call whose next packet is due within this time is talking (not silent): longer than the packet
/// interval of every codec.
const TALKING: Span = Span::from_ms(100);

/// The call of observations about one that was never let in.
const NO_CALL: u64 = u64::MAX;

/// An ingress-egress aggregate of calls.
pub struct Calls {
    classes: Vec<Class>,
    /// Rows of all classes; a class has one for each medium.
    rows: Vec<Row>,
    /// Counts of calls, by row.
    counts: Vec<CallCount>,
    calls: CallTable,
    present: u32,
    edge: Edge,
    streams: Streams,
    /// Time at which probes were prepared last.
    settled: Time,
}

struct Row {
    class: u32,
    flow: FlowId,
    present: u32,
}

/// Tokens name what is due: the upper bits say of what kind, the rest which. At one instant they
/// come in this order: what was decided elsewhere before what is done here, the end of an interval
/// before what happens in the next.
const WHICH: u32 = Signals::LAST;
const SIGNAL: u32 = 0 << 29;
const TIMER: u32 = 1 << 29;
const ADMISSION_INTERVAL: u32 = 2 << 29;
const TERMINATION_INTERVAL: u32 = 3 << 29;
const CALL: u32 = 4 << 29;
const ARRIVAL: u32 = 5 << 29;
const REROUTE: u32 = 6 << 29;

/// Origin of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Initial,
    New,
    Rerouted,
}

impl Calls {
    /// An aggregate of `classes` under `edge`; `path` names its random streams.
    #[must_use]
    pub fn new(classes: Vec<ClassPlan>, edge: EdgePlan, path: &str, streams: &Streams) -> Self {
        let mut rows = Vec::new();
        let classes = classes
            .into_iter()
            .zip(0..)
            .map(|(plan, class)| {
                let first = rows.len() as u32;
                rows.extend((0..plan.media.len() as u32).map(|medium| Row {
                    class,
                    flow: plan.flow.nth(medium),
                    present: 0,
                }));
                Class::new(plan, first, streams)
            })
            .collect();
        let edge = Edge::new(edge, streams.named(&format!("{path}.edge")));
        Self {
            classes,
            counts: vec![CallCount::default(); rows.len()],
            rows,
            calls: CallTable::default(),
            present: 0,
            edge,
            streams: *streams,
            settled: Time::ZERO,
        }
    }

    /// `count` calls of class `class` arrive now.
    fn arrive(&mut self, class: usize, count: u32, origin: Origin, cx: &mut Context<'_>) {
        for _ in 0..count {
            let draft = self.classes[class].draft(&self.streams);
            if origin == Origin::New && !self.edge.admits(self.calls_present()) {
                self.block(class, cx);
            } else {
                self.admit(class, draft, origin, cx);
            }
        }
    }

    /// Calls present; one of several linked flows counts as one, while its first flow lives.
    fn calls_present(&self) -> u32 {
        self.classes.iter().map(|class| self.rows[class.row as usize].present).sum()
    }

    fn block(&mut self, class: usize, cx: &mut Context<'_>) {
        let Class { plan, row, .. } = &self.classes[class];
        let row = *row as usize;
        for count in &mut self.counts[row..row + plan.media.len()] {
            count.blocked += 1;
        }
        let flow = plan.flow;
        cx.observe(|| Observation::Call { flow, call: NO_CALL, event: CallEvent::Blocked });
    }

    fn admit(&mut self, class: usize, mut draft: Draft, origin: Origin, cx: &mut Context<'_>) {
        let now = cx.now();
        let probing = if origin == Origin::New { self.edge.plan.probing.clone() } else { None };
        let wait = match (&probing, origin) {
            (Some(probing), _) if probing.scheme == ProbingScheme::BeforeMedia => probing.window,
            _ => Span::ZERO,
        };
        // Calls that were there before, here or elsewhere, have been set up.
        let delay = if origin == Origin::New { draft.media_delay } else { Span::ZERO };
        let media = now + wait + delay;
        let rtt = self.edge.plan.rtt.draw(|| draft.stream.uniform());
        let this = &self.classes[class];
        let end = this.end(&draft, now, media);
        for medium in 0..this.plan.media.len() {
            let this = &self.classes[class];
            let mut call = this.flow(medium, draft.serial, media, &self.streams);
            call.end = end;
            call.rtt = rtt;
            call.probe = probing.as_ref().map(|probing| {
                let until = now + probing.window;
                Box::new(Probe { left: probing.packets, next: now, until })
            });
            self.enter(call, origin, cx);
        }
    }

    /// Take a flow in and set its timer.
    fn enter(&mut self, call: Call, origin: Origin, cx: &mut Context<'_>) {
        let (due, row) = (call.due(), call.row);
        let place = self.calls.insert(call);
        assert!(place <= WHICH, "an aggregate has fewer than 2^29 calls at once");
        self.count_present(row, 1, cx.now());
        let count = &mut self.counts[row as usize];
        let event = match origin {
            Origin::New => {
                count.admitted += 1;
                CallEvent::Admitted
            }
            Origin::Rerouted => {
                count.rerouted += 1;
                CallEvent::Rerouted
            }
            Origin::Initial => {
                count.rerouted += 1;
                CallEvent::Initial
            }
        };
        self.report(place, event, cx);
        if due < Time::NEVER {
            cx.wake_at(due, CALL | place);
        }
    }

    fn count_present(&mut self, row: u32, change: i32, now: Time) {
        self.present = self.present.wrapping_add_signed(change);
        let (row, count) = (&mut self.rows[row as usize], &mut self.counts[row as usize]);
        row.present = row.present.wrapping_add_signed(change);
        count.change(row.present, now);
    }

    fn report(&mut self, place: u32, event: CallEvent, cx: &mut Context<'_>) {
        let call = self.calls.tag(place);
        let flow = self.rows[self.calls.at(place).row as usize].flow;
        cx.observe(|| Observation::Call { flow, call, event });
    }

    /// The call in `place` ends: nothing of it is sent any more. Its place is free once its timer
    /// has expired.
    fn end(&mut self, place: u32, event: CallEvent, cx: &mut Context<'_>) {
        let call = self.calls.at(place);
        debug_assert!(call.alive, "a call ends once");
        call.alive = false;
        let (row, waits) = (call.row, call.due() < Time::NEVER);
        self.count_present(row, -1, cx.now());
        let count = &mut self.counts[row as usize];
        match event {
            CallEvent::Terminated => count.terminated += 1,
            CallEvent::Refused => count.refused += 1,
            _ => count.ended += 1,
        }
        self.report(place, event, cx);
        if !waits {
            self.calls.release(place);
        }
    }

    /// The timer of `place` expired.
    #[inline]
    fn due(&mut self, place: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        let call = self.calls.at(place);
        if !call.alive {
            self.calls.release(place);
            return;
        }
        if call.end <= now {
            // Nothing is due any more: the place is free at once.
            call.next = Time::NEVER;
            call.probe = None;
            call.end = Time::NEVER;
            self.end(place, CallEvent::Ended, cx);
            return;
        }
        if call.probe.is_some() && call.next > now {
            self.send_probe(place, cx);
        } else {
            self.send(place, cx);
        }
        let due = self.calls.at(place).due();
        if due < Time::NEVER {
            cx.wake_at(due, CALL | place);
        }
    }

    /// The call in `place` sends a packet and plans the next.
    #[inline]
    fn send(&mut self, place: u32, cx: &mut Context<'_>) {
        let tag = self.calls.tag(place);
        let now = cx.now();
        let call = self.calls.at(place);
        let row = &self.rows[call.row as usize];
        let plan = &self.classes[row.class as usize].plan;
        let mut packet = Packet::data(now, row.flow, call.sent, call.size, plan.route)
            .with_marking(plan.marking)
            .with_pcn(PcnMark::Unmarked);
        packet.tag = tag;
        call.sent += 1;
        call.plan_packet(now);
        self.edge.entered += u64::from(packet.size);
        cx.send(packet);
    }

    fn send_probe(&mut self, place: u32, cx: &mut Context<'_>) {
        let tag = self.calls.tag(place);
        let now = cx.now();
        let probing = self.edge.plan.probing.as_ref().expect("a probe needs a scheme");
        let (size, interval) = (probing.size.bytes() as u16, probing.interval);
        let during = probing.scheme == ProbingScheme::DuringMediaDelay;
        let call = self.calls.at(place);
        let row = &self.rows[call.row as usize];
        let plan = &self.classes[row.class as usize].plan;
        let mut packet = Packet::data(now, row.flow, call.sent, size, plan.route)
            .with_marking(plan.marking)
            .with_pcn(PcnMark::Unmarked)
            .with_kind(PacketKind::Probe);
        packet.tag = tag;
        call.sent += 1;
        let media = call.media;
        let probe = call.probe.as_mut().expect("asked before");
        probe.left -= 1;
        probe.next = now + interval;
        if probe.next >= probe.until || (during && probe.next >= media) {
            probe.left = 0;
        }
        self.edge.entered += u64::from(size);
        cx.send(packet);
    }

    /// Send a signal from the egress to the ingress node.
    fn signal(&mut self, signal: Signal, rtt: Span, cx: &mut Context<'_>) {
        let number = self.edge.signals.keep(signal);
        let at = cx.now() + rtt;
        cx.wake_at(at, SIGNAL | number);
    }

    /// A signal has reached the ingress node.
    fn signalled(&mut self, signal: Signal, cx: &mut Context<'_>) {
        let now = cx.now();
        match signal {
            Signal::Admission(signal) => {
                let law = self.edge.plan.admission.as_mut().expect("it sent the signal");
                if let Some(at) = law.signalled(signal, now) {
                    cx.wake_at(at, TIMER);
                }
                self.report_blocking(cx);
            }
            Signal::Refuse(tag) => {
                if let Some(place) = self.calls.find(tag)
                    && self.calls.at(place).probe.as_ref().is_some_and(|probe| now < probe.until)
                {
                    self.end(place, CallEvent::Refused, cx);
                }
            }
            Signal::Termination(signal) => self.terminate(signal, cx),
        }
    }

    fn terminate(&mut self, signal: TerminationSignal, cx: &mut Context<'_>) {
        let now = cx.now();
        match self.edge.judge(signal, now) {
            Termination::Nothing => {}
            Termination::Call(tag) => {
                // A further mark of a call that has ended meanwhile is without effect.
                if let Some(place) = self.calls.find(tag) {
                    self.end(place, CallEvent::Terminated, cx);
                }
            }
            Termination::Amount(amount) => {
                // The marks of the two intervals that led here, and of the signals' way.
                let interval = self.edge.plan.termination.as_ref().and_then(|law| law.interval());
                let window = interval.unwrap_or(Span::ZERO).times(2) + self.edge.plan.rtt.mean();
                let since = Time::ZERO + now.since(Time::ZERO + window);
                let (rows, classes) = (&self.rows, &self.classes);
                let rate = |call: &Call| {
                    let row = &rows[call.row as usize];
                    let class = &classes[row.class as usize];
                    class.mean_rate(call.row - class.row)
                };
                for place in self.edge.choose(&self.calls, amount, since, rate) {
                    self.end(place, CallEvent::Terminated, cx);
                }
            }
        }
    }

    fn report_blocking(&mut self, cx: &mut Context<'_>) {
        let blocking = !self.edge.admits(0);
        if blocking != self.edge.blocking {
            self.edge.blocking = blocking;
            let flow = self.rows[0].flow;
            cx.observe(|| Observation::Admission { flow, blocking });
        }
    }

    /// An interval of measurement of one of the laws has ended.
    fn interval_ended(&mut self, kind: u32, cx: &mut Context<'_>) {
        let (now, rtt) = (cx.now(), self.edge.plan.rtt.mean());
        let (interval, signal) = if kind == ADMISSION_INTERVAL {
            let law = self.edge.plan.admission.as_mut().expect("it asked for the interval");
            (law.interval(), law.interval_ended(now).map(Signal::Admission))
        } else {
            let law = self.edge.plan.termination.as_mut().expect("it asked for the interval");
            let ended = (law.interval(), law.interval_ended(now).map(Signal::Termination));
            self.edge.close_interval(ended.0.unwrap_or(Span::MAX));
            ended
        };
        if let Some(signal) = signal {
            self.signal(signal, rtt, cx);
        }
        if let Some(interval) = interval {
            cx.wake_at(now + interval, kind);
        }
    }
}

impl LogicalProcess for Calls {}

impl Element for Calls {
    fn start(&mut self, cx: &mut Context<'_>) {
        for class in 0..self.classes.len() {
            let initial = self.classes[class].plan.parameters.initial;
            self.arrive(class, initial, Origin::Initial, cx);
            let begin = self.classes[class].plan.start;
            if let Some(at) = self.classes[class].next_arrival(begin) {
                cx.wake_at(at, ARRIVAL | class as u32);
            }
            if let Some(at) = self.classes[class].next_rerouted() {
                cx.wake_at(at, REROUTE | class as u32);
            }
        }
        let EdgePlan { admission, termination, .. } = &self.edge.plan;
        let admission = admission.as_ref().and_then(|law| law.interval());
        let termination = termination.as_ref().and_then(|law| law.interval());
        for (interval, kind) in
            [(admission, ADMISSION_INTERVAL), (termination, TERMINATION_INTERVAL)]
        {
            if let Some(interval) = interval {
                cx.wake_at(Time::ZERO + interval, kind);
            }
        }
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        if !packet.is_probe() {
            cx.counters().hand_over(packet.flow, u64::from(packet.size).saturating_sub(HEADER));
        }
        let mark = packet.pcn();
        let marked = mark > Some(PcnMark::Unmarked);
        let tested = marked && packet.is_probe();
        if !self.edge.watches() && !tested {
            return;
        }
        let now = cx.now();
        let answers = self.edge.leaves(&Leaving { now, mark, size: packet.size, call: packet.tag });
        let refuse = tested.then_some(Signal::Refuse(packet.tag));
        // The test of a call comes first: a marked probe refuses it, rather than terminating it.
        let signals = [
            refuse,
            answers.admission.map(Signal::Admission),
            answers.termination.map(Signal::Termination),
        ];
        let place = self.calls.find(packet.tag);
        if mark == Some(PcnMark::Excess)
            && let Some(place) = place
        {
            self.calls.at(place).marked = Some(now);
        }
        if signals.iter().any(Option::is_some) {
            let mean = self.edge.plan.rtt.mean();
            let rtt = place.map_or(mean, |place| self.calls.at(place).rtt);
            for signal in signals.into_iter().flatten() {
                self.signal(signal, rtt, cx);
            }
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        let which = token & WHICH;
        let class = which as usize;
        match token & !WHICH {
            CALL => self.due(which, cx),
            SIGNAL => {
                let signal = self.edge.signals.take(which);
                self.signalled(signal, cx);
            }
            ARRIVAL => {
                let row = self.classes[class].row;
                let present = self.rows[row as usize].present;
                let count = self.classes[class].batch(present);
                self.arrive(class, count, Origin::New, cx);
                if let Some(at) = self.classes[class].next_arrival(cx.now()) {
                    cx.wake_at(at, token);
                }
            }
            REROUTE => {
                let count = self.classes[class].take_rerouted(cx.now());
                self.arrive(class, count, Origin::Rerouted, cx);
                if let Some(at) = self.classes[class].next_rerouted() {
                    cx.wake_at(at, token);
                }
            }
            TIMER => {
                let law = self.edge.plan.admission.as_mut().expect("it set the timer");
                if let Some(at) = law.expired(cx.now()) {
                    cx.wake_at(at, TIMER);
                }
                self.report_blocking(cx);
            }
            kind => self.interval_ended(kind, cx),
        }
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        let now = cx.now();
        for (row, count) in self.rows.iter().zip(&mut self.counts) {
            count.change(row.present, now);
        }
        self.settled = now;
        OwnCount::of(&mut self.counts)
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        let soon = self.settled + TALKING;
        let (mut active, mut talking) = (0_u32, 0_u32);
        for (_, call) in self.calls.living() {
            active += u32::from(call.sent > 0);
            talking += u32::from(call.next <= soon);
        }
        visit("present_flows", f64::from(self.present));
        visit("active_flows", f64::from(active));
        visit("talking_flows", f64::from(talking));
        visit("blocking", f64::from(u8::from(self.edge.blocking)));
    }
}
