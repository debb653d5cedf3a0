//! UDP: datagrams that leave when the application writes them, and the sink that counts them.

use std::collections::VecDeque;

use forebay_network::{Context, Element, Packet};
use forebay_parameters::parameters;
use forebay_units::{Size, Span, Time};

use super::FlowGroup;
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
/// Flows that all send at one constant interval share a single timer: once all have begun, their
/// order never changes, so whoever has sent joins the back of the line.
pub(crate) struct UdpSenders<P> {
    group: FlowGroup,
    applications: P,
    senders: Vec<Sender>,
    rota: Option<Rota>,
}

/// One of them.
#[derive(Clone, Copy, Default)]
struct Sender {
    /// Datagrams that it has sent.
    sent: u64,
    /// Size of the next.
    size: u16,
}

struct Rota {
    gap: Span,
    /// Flows that have not sent yet, by the time of their first datagram.
    fresh: VecDeque<(Time, u32)>,
    /// Flows that have while others have not, by the time of their next: all within one interval of
    /// the latest sent.
    line: VecDeque<(Time, u32)>,
    /// All flows in a circle once each has sent: whoever sends keeps the place and gets a later
    /// time, [`Time::NEVER`] for no more.
    circle: Vec<(Time, u32)>,
    /// Whose turn in the circle it is.
    turn: usize,
}

impl Rota {
    fn new(gap: Span) -> Self {
        let (fresh, line) = (VecDeque::new(), VecDeque::new());
        Self { gap, fresh, line, circle: Vec::new(), turn: 0 }
    }

    /// When it is somebody's turn next; [`Time::NEVER`] if it is nobody's any more.
    fn next(&self) -> Time {
        if let Some((at, _)) = self.circle.get(self.turn) {
            return *at;
        }
        let (line, fresh) = (self.line.front(), self.fresh.front());
        line.into_iter().chain(fresh).map(|(at, _)| *at).min().unwrap_or(Time::NEVER)
    }

    /// Whoever is next in the circle sends now, and again after the interval unless `stop` comes
    /// before. Who that is, and when it is somebody's turn next.
    #[inline(always)]
    fn send(&mut self, stop: Time) -> (u32, Time) {
        let (at, index) = &mut self.circle[self.turn];
        let again = *at + self.gap;
        *at = if again < stop { again } else { Time::NEVER };
        let index = *index;
        self.turn += 1;
        if self.turn == self.circle.len() {
            self.turn = 0;
        }
        (index, self.circle[self.turn].0)
    }

    /// Whoever is next sends now while some have not sent. Of two at one time, whoever has sent
    /// before is first.
    fn send_in_line(&mut self, stop: Time) -> u32 {
        let first = match (self.line.front(), self.fresh.front()) {
            (Some(next), Some(first)) => first.0 < next.0,
            (line, _) => line.is_none(),
        };
        let queue = if first { &mut self.fresh } else { &mut self.line };
        let (at, index) = queue.pop_front().expect("the timer was set for somebody");
        if at + self.gap < stop {
            self.line.push_back((at + self.gap, index));
        }
        if self.fresh.is_empty() {
            self.circle = self.line.drain(..).collect();
        }
        index
    }
}

/// The token of the timer that ends the group at its stop time.
const STOP: u32 = u32::MAX;

impl<P: TrafficPool> UdpSenders<P> {
    /// The senders of `group`, one for each of `applications`.
    pub(crate) fn new(group: FlowGroup, applications: P) -> Self {
        let flows = applications.len();
        let gap = applications.constant_gap().filter(|_| flows > 1);
        let rota = gap.map(Rota::new);
        Self { group, applications, senders: vec![Sender::default(); flows], rota }
    }

    /// The time of the next datagram of flow `index`, whose previous one left (or which started) at
    /// `from`.
    #[inline(always)]
    fn plan(&mut self, index: usize, from: Time) -> Option<Time> {
        let burst = self.applications.next(index)?;
        self.senders[index].size = u16::try_from(burst.size.bytes()).unwrap_or(u16::MAX);
        let at = from + burst.gap;
        (at < self.group.stop).then_some(at)
    }

    /// Flow `index` sends, again and again while nothing else comes between.
    fn send_on(&mut self, index: u32, cx: &mut Context<'_>) {
        let free = cx.free_until();
        loop {
            self.senders[index as usize].emit(index, &self.group, cx);
            match self.plan(index as usize, cx.now()) {
                Some(at) if cx.goes_on_at(at, index, free) => {}
                _ => return,
            }
        }
    }

    /// Whoever is next in the circle sends, again and again while nothing else comes between.
    fn take_turns(
        rota: &mut Rota,
        senders: &mut [Sender],
        group: &FlowGroup,
        cx: &mut Context<'_>,
    ) {
        let free = cx.free_until();
        loop {
            let (index, next) = rota.send(group.stop);
            senders[index as usize].emit(index, group, cx);
            if next == Time::NEVER || !cx.goes_on_at(next, 0, free) {
                return;
            }
        }
    }
}

impl Sender {
    /// It sends, as flow `index` of `group`.
    #[inline(always)]
    fn emit(&mut self, index: u32, group: &FlowGroup, cx: &mut Context<'_>) {
        let (flow, number) = (group.first + index, self.sent);
        self.sent += 1;
        let packet = Packet::data(cx.now(), flow, number, self.size, group.route);
        cx.send(packet.with_precedence(group.precedence));
    }
}

impl<P: TrafficPool> Element for UdpSenders<P> {
    fn start(&mut self, cx: &mut Context<'_>) {
        if self.group.stop != Time::NEVER {
            cx.wake_at(self.group.stop, STOP);
        }
        let mut fresh = Vec::new();
        for (index, start) in std::mem::take(&mut self.group.starts).into_iter().enumerate() {
            let token = index as u32;
            match self.plan(index, start) {
                Some(at) if self.rota.is_some() => fresh.push((at, token)),
                Some(at) => cx.wake_at(at, token),
                None => {}
            }
        }
        if let Some(rota) = &mut self.rota {
            fresh.sort_unstable();
            rota.fresh = fresh.into();
            let first = rota.next();
            if first < Time::NEVER {
                cx.wake_at(first, 0);
            }
        }
    }

    fn sends(&self) -> &[u32] {
        std::slice::from_ref(&self.group.route)
    }

    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("nothing is routed to a UDP sender");
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == STOP {
            let flows = self.senders.len() as u32;
            (0..flows).for_each(|index| cx.ended(self.group.first + index));
            return;
        }
        let Self { group, senders, rota, .. } = self;
        let Some(rota) = rota else {
            self.send_on(token, cx);
            return;
        };
        if !rota.circle.is_empty() {
            Self::take_turns(rota, senders, group, cx);
            return;
        }
        let index = rota.send_in_line(group.stop);
        senders[index as usize].emit(index, group, cx);
        let next = rota.next();
        if next < Time::NEVER {
            cx.wake_at(next, 0);
        }
    }
}
