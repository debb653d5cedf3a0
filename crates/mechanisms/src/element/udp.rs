//! UDP (RFC 768): senders whose datagrams leave when the application writes them. The sink that
//! counts them is the network's.

use std::collections::VecDeque;

use forebay_kernel::fetch;
use forebay_network::{
    Context, Counters, Element, LogicalProcess, Lookahead, LookaheadContext, Packet,
};
use forebay_parameters::parameters;
use forebay_units::{Size, Span, Time};

use super::FlowGroup;
use super::end_flow;
use super::udp_sender::Sender;
use crate::traffic::TrafficPool;

parameters! {
    /// Parameters of UDP flows.
    pub struct UdpParameters {
        /// Bytes of IP and UDP header within each packet's size: goodput counts the rest.
        header: Size = "28 B", "RFC 768; RFC 791, section 3.1";
    }
}

/// The datagram senders of one group of flows.
///
/// Flows that all send at one constant interval share a single timer: once all have begun, the
/// order in which they send never changes, so a round-robin list takes the place of the event list.
pub(crate) struct UdpSenders<P> {
    group: FlowGroup,
    applications: P,
    timer: Option<RoundRobinTimer>,
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
    sender: Sender,
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
        member.sender.emit(member.index, group, cx);
        if self.cursor == self.members.len() {
            self.cursor = 0;
        }
        self.members[self.cursor].at
    }

    /// All flows have sent: form the cycle, with the state of each sender.
    fn form_cycle(&mut self, sender: &mut dyn FnMut(usize) -> Sender) {
        let member = |(at, index)| Member { at, sender: sender(index as usize), index };
        self.members = self.started.drain(..).map(member).collect();
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

/// Timer token: the group ends at its stop time.
const STOP: u32 = u32::MAX;

impl<P: TrafficPool> UdpSenders<P> {
    /// The senders of `group`, one for each of `applications`.
    pub(crate) fn new(group: FlowGroup, applications: P) -> Self {
        let flows = applications.len();
        let gap = applications.constant_gap().filter(|_| flows > 1);
        let timer = gap.map(RoundRobinTimer::new);
        Self { group, applications, timer }
    }

    /// The time of the next datagram of flow `index`, whose previous one left (or which started) at
    /// `from`.
    #[inline(always)]
    fn plan(&mut self, index: usize, from: Time) -> Option<Time> {
        let burst = self.applications.next(index)?;
        self.applications.sender(index).plan(u16::try_from(burst.size.bytes()).unwrap_or(u16::MAX));
        let at = from + burst.gap;
        (at < self.group.stop).then_some(at)
    }

    /// Flow `index` sends, repeatedly while no other event intervenes.
    fn send_repeatedly(&mut self, index: u32, cx: &mut Context<'_>) {
        let free = cx.idle_until();
        loop {
            self.applications.sender(index as usize).emit(index, &self.group, cx);
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

    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("nothing is routed to a UDP sender");
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == STOP {
            let flows = self.applications.len() as u32;
            (0..flows).for_each(|index| end_flow(self.group.first.nth(index), cx));
            return;
        }
        let Self { group, applications, timer } = self;
        let Some(timer) = timer else {
            self.send_repeatedly(token, cx);
            return;
        };
        if !timer.members.is_empty() {
            Self::send_round_robin(timer, group, cx);
            return;
        }
        let index = timer.pop_during_startup(group.stop);
        applications.sender(index as usize).emit(index, group, cx);
        if timer.not_started.is_empty() {
            timer.form_cycle(&mut |index| *applications.sender(index));
        }
        let next = timer.next();
        if next < Time::NEVER {
            cx.wake_at(next, 0);
        }
    }
}
