//! UDP (RFC 768): senders whose datagrams leave when the application writes them. The sink that
//! counts them is the network's; where they are echoed, reflectors take its place.

mod echo;

use std::any::{Any, TypeId};
use std::collections::VecDeque;

use forebay_kernel::fetch;
use forebay_laws::Dscp;
use forebay_laws::traffic::{Datagram, Datagrams, PoissonPool, TrafficKind, TrafficPool, Traffics};
use forebay_network::{
    Context, Counters, Element, LogicalProcess, Lookahead, LookaheadContext, Marking, OwnCount,
    Packet,
};
use forebay_parameters::{Entry, Parameters, Problem, Section, choose, parameters};
use forebay_units::{Size, Span, Time};

use super::FlowGroup;
use super::end_flow;
use crate::rows::{Row, Rows};
use crate::transport::{
    End, Facts, FlowReader, GroupCounts, Transport, TransportKind, WayBack, Wiring, names_of,
};
use echo::{Echoes, Reflectors, RoundTripCount};

pub use echo::RoundTripResult;

parameters! {
    /// Parameters of UDP flows.
    pub struct UdpParameters {
        /// Bytes of IP and UDP header within each packet's size: goodput counts the rest.
        header: Size = "28 B", "RFC 768; RFC 791, section 3.1";
        /// The far end answers each datagram at once with one of the same size and precedence, and
        /// the results have the round-trip times.
        echo: Option<bool>, "RFC 2681, section 2";
        /// DSCP of these answers; that of the group if left out.
        echo_dscp: Option<Dscp>, "RFC 2681, section 2.8.1 (Type-P)";
    }
}

impl UdpParameters {
    /// Returns true if datagrams are answered.
    fn echoes(&self) -> bool {
        self.echo == Some(true)
    }
}

/// UDP in the table of transports.
pub const ENTRY: Entry<TransportKind> = Entry {
    name: "udp",
    summary: "UDP as transport.",
    source: "RFC 768",
    example: "udp = {}\ntraffic = { cbr = { rate = \"2 Mbit/s\", size = \"500 B\" } }",
    fields: UdpParameters::FIELDS,
    probes: &[],
    build: TransportKind { rows: &[RoundTripResult::KIND], ..TransportKind::new(&read) },
};

/// UDP flows as the scenario describes them.
struct UdpPlan {
    parameters: UdpParameters,
    traffic: TrafficKind,
}

fn read(group: &FlowReader<'_, '_>) -> Result<Box<dyn Transport>, Problem> {
    group.refuse(&["linked"], "only calls have linked flows; use traffic")?;
    let parameters = UdpParameters::read(group.own)?;
    if parameters.echo_dscp.is_some() && !parameters.echoes() {
        return Err(group.own.fail("echo_dscp", "goes with echo = true: nothing is answered"));
    }
    let (entry, inner) = choose::<Traffics>(group.flow, "traffic")?.ok_or_else(|| {
        let names = names_of::<Traffics>(group.flow);
        group.flow.fail("traffic", format!("is missing; UDP needs one of: {names}"))
    })?;
    let traffic = (entry.build)(&inner)?;
    check_header(group.own, parameters.header, &traffic)?;
    Ok(Box::new(UdpPlan { parameters, traffic }))
}

/// Datagrams hold their headers.
fn check_header(udp: &Section<'_>, header: Size, traffic: &TrafficKind) -> Result<(), Problem> {
    let Some(largest) = traffic.largest.filter(|largest| *largest < header) else {
        return Ok(());
    };
    let message = format!(
        "{} B are more than the datagrams of this traffic have ({} B); allowed is at most their \
         size, with IP and UDP headers of 28 B",
        header.bytes(),
        largest.bytes()
    );
    Err(udp.fail("header", message))
}

impl Transport for UdpPlan {
    fn facts(&self) -> Facts {
        let header = self.parameters.header;
        let (end, way_back, acknowledged) = if self.parameters.echoes() {
            (End::Receivers, WayBack::Any("echo"), 1.0)
        } else {
            (End::Sink { header }, WayBack::None, 0.0)
        };
        Facts {
            largest: self.traffic.largest.map(Size::bytes),
            mean_rate: self.traffic.mean_rate,
            end,
            way_back,
            acknowledged,
            rerouted: true,
            spreads: true,
            ..Facts::default()
        }
    }

    fn wire(&self, group: FlowGroup, wiring: &mut dyn Wiring) {
        let count = group.starts.len();
        let applications = self.traffic.pool_of(&group.path, count, wiring.streams());
        if !self.parameters.echoes() {
            wiring.add(senders(group, applications, None));
            return;
        }
        let Marking { precedence, dscp } = group.marking;
        let dscp = self.parameters.echo_dscp.map_or(dscp, |own| own.0);
        let reflectors = Reflectors {
            header: self.parameters.header.bytes(),
            back: wiring.way_back(),
            marking: Marking { precedence, dscp },
        };
        let echoes = Echoes::new(group.first, count);
        wiring.add(senders(group, applications, Some(Box::new(echoes))));
        wiring.add(Box::new(reflectors));
    }

    fn rows(&self, group: &mut GroupCounts<'_>) -> Vec<Rows> {
        if !self.parameters.echoes() {
            return Vec::new();
        }
        let mut all = RoundTripCount::default();
        group.each_senders(|own: &RoundTripCount| all.merge(own));
        let flows = group.counters.flows();
        vec![Rows::one(RoundTripResult::of(group.name.to_owned(), &flows, &all))]
    }
}

/// The datagram senders of one group of flows.
///
/// Flows that all send at one constant interval share a single timer: once all have begun, the
/// order in which they send never changes, so a round-robin list takes the place of the event list.
struct UdpSenders<P> {
    group: FlowGroup,
    applications: P,
    timer: Option<RoundRobinTimer>,
    /// Taker of what comes back, where datagrams are echoed.
    echoes: Option<Box<Echoes>>,
}

struct RoundRobinTimer {
    gap: Span,
    /// Flows that have not sent yet, by the time of their first datagram.
    not_started: VecDeque<(Time, u32)>,
    /// Flows that have sent while others have not, by the time of their next datagram: all within
    /// one interval of the latest sent.
    started: VecDeque<(Time, u32)>,
    /// All flows once each has sent, in cyclic order of sending.
    members: Vec<Member>,
    /// The member that sends next.
    cursor: usize,
}

/// A flow in the cyclic order. A flow that sends keeps its place and gets a later time.
struct Member {
    /// Time at which it sends next; [`Time::NEVER`] if it has stopped.
    at: Time,
    datagrams: Datagrams,
    index: u32,
}

impl RoundRobinTimer {
    fn new(gap: Span) -> Self {
        let (not_started, started) = (VecDeque::new(), VecDeque::new());
        Self { gap, not_started, started, members: Vec::new(), cursor: 0 }
    }

    /// Returns the time at which the next datagram is due; [`Time::NEVER`] if no flow sends any
    /// more.
    fn next(&self) -> Time {
        if let Some(member) = self.members.get(self.cursor) {
            return member.at;
        }
        let (started, not_started) = (self.started.front(), self.not_started.front());
        started.into_iter().chain(not_started).map(|(at, _)| *at).min().unwrap_or(Time::NEVER)
    }

    /// The next member of the cycle sends, and again after the interval unless `stop` comes before.
    /// Returns when the next datagram is due.
    #[inline(always)]
    fn send(&mut self, group: &FlowGroup, cx: &mut Context<'_>) -> Time {
        let member = &mut self.members[self.cursor];
        let again = member.at + self.gap;
        member.at = if again < group.stop { again } else { Time::NEVER };
        self.cursor += 1;
        let (index, due) = (member.index, member.datagrams.take());
        emit(due, index, group, cx);
        if self.cursor == self.members.len() {
            self.cursor = 0;
        }
        self.members[self.cursor].at
    }

    /// All flows have sent: form the cycle, with the state of each sender.
    fn form_cycle<P: TrafficPool>(&mut self, applications: &mut P) {
        let mut member = |(at, index)| {
            let datagrams = *applications.datagrams(index as usize);
            Member { at, datagrams, index }
        };
        self.members = self.started.drain(..).map(&mut member).collect();
    }

    /// The flow that sends now, while some have not sent yet. At equal times, flows that have sent
    /// precede flows that have not.
    fn pop_during_startup(&mut self, stop: Time) -> u32 {
        let first = match (self.started.front(), self.not_started.front()) {
            (Some(next), Some(first)) => first.0 < next.0,
            (started, _) => started.is_none(),
        };
        let queue = if first { &mut self.not_started } else { &mut self.started };
        let (at, index) = queue.pop_front().expect("the timer was set for a flow");
        if at + self.gap < stop {
            self.started.push_back((at + self.gap, index));
        }
        index
    }
}

/// Send the datagram `due` of flow `index` of `group`.
#[inline(always)]
fn emit(due: Datagram, index: u32, group: &FlowGroup, cx: &mut Context<'_>) {
    let flow = group.first.nth(index);
    let packet = Packet::data(cx.now(), flow, due.number(), due.size(), group.route);
    cx.send(packet.with_marking(group.marking));
}

/// Timer token: the group ends at its stop time.
const STOP: u32 = u32::MAX;

/// The senders of `group`, one for each of `applications`. Those of Poisson traffic, which asks its
/// law for each packet, are compiled for it: by calls through a table of functions an M/M/1 queue
/// takes some 4 % more instructions.
fn senders(
    group: FlowGroup,
    applications: Box<dyn TrafficPool>,
    echoes: Option<Box<Echoes>>,
) -> Box<dyn Element> {
    if applications.as_ref().type_id() != TypeId::of::<PoissonPool>() {
        return Box::new(UdpSenders::new(group, applications, echoes));
    }
    let applications: Box<dyn Any> = applications;
    let poisson = applications.downcast::<PoissonPool>().expect("it is of this type");
    Box::new(UdpSenders::new(group, *poisson, echoes))
}

impl<P: TrafficPool> UdpSenders<P> {
    fn new(group: FlowGroup, applications: P, echoes: Option<Box<Echoes>>) -> Self {
        let flows = applications.len();
        let gap = applications.constant_gap().filter(|_| flows > 1);
        let timer = gap.map(RoundRobinTimer::new);
        Self { group, applications, timer, echoes }
    }

    /// The time of the next datagram of flow `index`, whose previous one left (or which started) at
    /// `from`.
    #[inline(always)]
    fn plan(&mut self, index: usize, from: Time) -> Option<Time> {
        let at = from + self.applications.plan(index)?;
        (at < self.group.stop).then_some(at)
    }

    /// Flow `index` sends, repeatedly while no other event intervenes.
    fn send_repeatedly(&mut self, index: u32, cx: &mut Context<'_>) {
        let free = cx.idle_until();
        loop {
            emit(self.applications.datagrams(index as usize).take(), index, &self.group, cx);
            match self.plan(index as usize, cx.now()) {
                Some(at) if cx.continue_at(at, index, free) => {}
                _ => return,
            }
        }
    }

    /// The next members of the cycle send, repeatedly while no other event intervenes.
    fn send_round_robin(timer: &mut RoundRobinTimer, group: &FlowGroup, cx: &mut Context<'_>) {
        let free = cx.idle_until();
        loop {
            let next = timer.send(group, cx);
            if next == Time::NEVER || !cx.continue_at(next, 0, free) {
                return;
            }
        }
    }
}

impl<P: TrafficPool> LogicalProcess for UdpSenders<P> {
    fn prefetch_timer(&self, token: u32, counters: &Counters) {
        if self.timer.is_none() && token != STOP {
            self.applications.foresee(token as usize);
            fetch(&counters.flows[self.group.first.nth(token).index()].sent);
        }
    }
}

impl<P: TrafficPool> Element for UdpSenders<P> {
    fn start(&mut self, cx: &mut Context<'_>) {
        if self.group.stop != Time::NEVER {
            cx.wake_at(self.group.stop, STOP);
        }
        let mut not_started = Vec::new();
        for (index, start) in std::mem::take(&mut self.group.starts).into_iter().enumerate() {
            let token = index as u32;
            match self.plan(index, start) {
                Some(at) if self.timer.is_some() => not_started.push((at, token)),
                Some(at) => cx.wake_at(at, token),
                None => {}
            }
        }
        if let Some(timer) = &mut self.timer {
            not_started.sort_unstable();
            timer.not_started = not_started.into();
            let first = timer.next();
            if first < Time::NEVER {
                cx.wake_at(first, 0);
            }
        }
    }

    fn lookahead(&self) -> Lookahead<'_> {
        Lookahead::host(std::slice::from_ref(&self.group.route))
    }

    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let echoes = self.echoes.as_mut().expect("only echoes are routed to a UDP sender");
        echoes.receive(packet, cx);
    }

    fn counters(&mut self, _cx: &mut Context<'_>) -> OwnCount<'_> {
        match &mut self.echoes {
            Some(echoes) => OwnCount::of(&mut echoes.count),
            None => OwnCount::default(),
        }
    }

    fn probes(&self, part: u32, visit: &mut dyn FnMut(&str, f64)) {
        if let Some(echoes) = &self.echoes {
            echoes.probes(part, visit);
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == STOP {
            let flows = self.applications.len() as u32;
            (0..flows).for_each(|index| end_flow(self.group.first.nth(index), cx));
            return;
        }
        let Self { group, applications, timer, .. } = self;
        let Some(timer) = timer else {
            self.send_repeatedly(token, cx);
            return;
        };
        if !timer.members.is_empty() {
            Self::send_round_robin(timer, group, cx);
            return;
        }
        let index = timer.pop_during_startup(group.stop);
        emit(applications.datagrams(index as usize).take(), index, group, cx);
        if timer.not_started.is_empty() {
            timer.form_cycle(applications);
        }
        let next = timer.next();
        if next < Time::NEVER {
            cx.wake_at(next, 0);
        }
    }
}
