//! UDP: datagrams that leave when the application writes them, and the sink that counts them.

use std::collections::VecDeque;

use forebay_kernel::fetch;
use forebay_network::{Context, Element, Ledger, Packet};
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
    rota: Option<Rota>,
}

/// What one of them keeps: how many datagrams it has sent, and in the last 16 bits the size of the
/// next. One word, so that it fits beside what the application keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sender(u64);

struct Rota {
    gap: Span,
    /// Flows that have not sent yet, by the time of their first datagram.
    fresh: VecDeque<(Time, u32)>,
    /// Flows that have while others have not, by the time of their next: all within one interval of
    /// the latest sent.
    line: VecDeque<(Time, u32)>,
    /// All flows in a circle once each has sent, in the order in which they do.
    circle: Vec<Seat>,
    /// Whose turn in the circle it is.
    turn: usize,
}

/// The place of a flow in the circle. Whoever sends keeps it and gets a later time.
struct Seat {
    /// When it sends next; [`Time::NEVER`] for no more.
    at: Time,
    sender: Sender,
    index: u32,
}

impl Rota {
    fn new(gap: Span) -> Self {
        let (fresh, line) = (VecDeque::new(), VecDeque::new());
        Self { gap, fresh, line, circle: Vec::new(), turn: 0 }
    }

    /// When it is somebody's turn next; [`Time::NEVER`] if it is nobody's any more.
    fn next(&self) -> Time {
        if let Some(seat) = self.circle.get(self.turn) {
            return seat.at;
        }
        let (line, fresh) = (self.line.front(), self.fresh.front());
        line.into_iter().chain(fresh).map(|(at, _)| *at).min().unwrap_or(Time::NEVER)
    }

    /// Whoever is next in the circle sends, and again after the interval unless `stop` comes
    /// before. When it is somebody's turn next.
    #[inline(always)]
    fn send(&mut self, group: &FlowGroup, cx: &mut Context<'_>) -> Time {
        let seat = &mut self.circle[self.turn];
        let again = seat.at + self.gap;
        seat.at = if again < group.stop { again } else { Time::NEVER };
        self.turn += 1;
        seat.sender.emit(seat.index, group, cx);
        if self.turn == self.circle.len() {
            self.turn = 0;
        }
        self.circle[self.turn].at
    }

    /// All have sent: they form the circle, with what each keeps.
    fn close(&mut self, sender: &mut dyn FnMut(usize) -> Sender) {
        let seat = |(at, index)| Seat { at, sender: sender(index as usize), index };
        self.circle = self.line.drain(..).map(seat).collect();
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
        Self { group, applications, rota }
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

    /// Flow `index` sends, again and again while nothing else comes between.
    fn send_on(&mut self, index: u32, cx: &mut Context<'_>) {
        let free = cx.free_until();
        loop {
            self.applications.sender(index as usize).emit(index, &self.group, cx);
            match self.plan(index as usize, cx.now()) {
                Some(at) if cx.goes_on_at(at, index, free) => {}
                _ => return,
            }
        }
    }

    /// Whoever is next in the circle sends, again and again while nothing else comes between.
    fn take_turns(rota: &mut Rota, group: &FlowGroup, cx: &mut Context<'_>) {
        let free = cx.free_until();
        loop {
            let next = rota.send(group, cx);
            if next == Time::NEVER || !cx.goes_on_at(next, 0, free) {
                return;
            }
        }
    }
}

impl Sender {
    /// Its next datagram will have `size`.
    #[inline(always)]
    fn plan(&mut self, size: u16) {
        self.0 = (self.0 & !0xffff) | u64::from(size);
    }

    /// It sends, as flow `index` of `group`.
    #[inline(always)]
    fn emit(&mut self, index: u32, group: &FlowGroup, cx: &mut Context<'_>) {
        let (number, size) = (self.0 >> 16, self.0 as u16);
        self.0 += 1 << 16;
        let packet = Packet::data(cx.now(), group.first + index, number, size, group.route);
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
            let flows = self.applications.len() as u32;
            (0..flows).for_each(|index| cx.ended(self.group.first + index));
            return;
        }
        let Self { group, applications, rota } = self;
        let Some(rota) = rota else {
            self.send_on(token, cx);
            return;
        };
        if !rota.circle.is_empty() {
            Self::take_turns(rota, group, cx);
            return;
        }
        let index = rota.send_in_line(group.stop);
        applications.sender(index as usize).emit(index, group, cx);
        if rota.fresh.is_empty() {
            rota.close(&mut |index| *applications.sender(index));
        }
        let next = rota.next();
        if next < Time::NEVER {
            cx.wake_at(next, 0);
        }
    }

    fn foresee_timer(&self, token: u32, ledger: &Ledger) {
        if self.rota.is_none() && token != STOP {
            self.applications.foresee(token as usize);
            fetch(&ledger.flows[(self.group.first + token) as usize].sent);
        }
    }
}
