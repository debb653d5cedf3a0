//! UDP: datagrams that leave when the application writes them, and the sink that counts them.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{Context, Element, Packet, Traffic};
use forebay_parameters::parameters;
use forebay_units::{Size, Span, Time};

use super::FlowGroup;

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
pub struct UdpSenders {
    group: FlowGroup,
    flows: Vec<Sender>,
    rota: Option<Rota>,
}

struct Sender {
    traffic: Box<dyn Traffic>,
    stream: Stream,
    size: u16,
    sent: u64,
}

struct Rota {
    gap: Span,
    /// Flows that have not sent yet, by the time of their first datagram.
    fresh: VecDeque<(Time, u32)>,
    /// Flows that have, by the time of their next: all within one interval of the latest sent.
    line: VecDeque<(Time, u32)>,
}

impl Rota {
    /// Whose turn is next, and when: of two at one time, whoever has sent before.
    #[inline]
    fn front(&self) -> Option<(Time, u32)> {
        match (self.line.front(), self.fresh.front()) {
            (Some(next), Some(first)) if first.0 < next.0 => Some(*first),
            (Some(next), _) => Some(*next),
            (None, first) => first.copied(),
        }
    }

    /// The flow in front sends now: it joins the back unless `stop` comes before its next datagram.
    #[inline]
    fn turn(&mut self, stop: Time) -> u32 {
        let (at, index) = self.front().expect("the timer was set for the front");
        let queue =
            if self.line.front() == Some(&(at, index)) { &mut self.line } else { &mut self.fresh };
        queue.pop_front();
        let again = at + self.gap;
        if again < stop {
            self.line.push_back((again, index));
        }
        index
    }
}

/// The token of the timer that ends the group at its stop time.
const STOP: u32 = u32::MAX;

impl UdpSenders {
    /// The senders of `group`: each with its traffic and the stream that this draws from.
    #[must_use]
    pub fn new(group: FlowGroup, flows: Vec<(Box<dyn Traffic>, Stream)>) -> Self {
        let gap = flows.first().and_then(|(traffic, _)| traffic.constant_gap());
        let alike = flows.len() > 1 && flows.iter().all(|(t, _)| t.constant_gap() == gap);
        let rota = gap.filter(|_| alike).map(|gap| Rota {
            gap,
            fresh: VecDeque::new(),
            line: VecDeque::new(),
        });
        let flows = flows
            .into_iter()
            .map(|(traffic, stream)| Sender { traffic, stream, size: 0, sent: 0 })
            .collect();
        Self { group, flows, rota }
    }

    /// The time of the next datagram of flow `index`, whose previous one left (or which started) at
    /// `from`.
    fn plan(&mut self, index: usize, from: Time) -> Option<Time> {
        let sender = &mut self.flows[index];
        let burst = sender.traffic.next(&mut sender.stream)?;
        sender.size = u16::try_from(burst.size.bytes()).unwrap_or(u16::MAX);
        let at = from + burst.gap;
        (at < self.group.stop).then_some(at)
    }

    #[inline]
    fn emit(&mut self, index: u32, cx: &mut Context<'_>) {
        let sender = &mut self.flows[index as usize];
        let flow = self.group.first + index;
        let packet = Packet::data(cx.now(), flow, sender.sent, sender.size, self.group.route)
            .with_precedence(self.group.precedence);
        sender.sent += 1;
        cx.send(packet);
    }
}

impl Element for UdpSenders {
    fn start(&mut self, cx: &mut Context<'_>) {
        if self.group.stop != Time::NEVER {
            cx.wake_at(self.group.stop, STOP);
        }
        let mut first = Vec::with_capacity(self.flows.len());
        for index in 0..self.flows.len() {
            if let Some(at) = self.plan(index, self.group.starts[index]) {
                first.push((at, index as u32));
            }
        }
        match &mut self.rota {
            Some(rota) => {
                first.sort_unstable();
                rota.fresh = first.into();
                if let Some((at, _)) = rota.front() {
                    cx.wake_at(at, 0);
                }
            }
            None => first.into_iter().for_each(|(at, index)| cx.wake_at(at, index)),
        }
    }

    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("nothing is routed to a UDP sender");
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == STOP {
            let flows = self.flows.len() as u32;
            (0..flows).for_each(|index| cx.ended(self.group.first + index));
            return;
        }
        let Some(rota) = &mut self.rota else {
            self.emit(token, cx);
            if let Some(at) = self.plan(token as usize, cx.now()) {
                cx.wake_at(at, token);
            }
            return;
        };
        let index = rota.turn(self.group.stop);
        if let Some((next, _)) = rota.front() {
            cx.wake_at(next, 0);
        }
        self.emit(index, cx);
    }
}

/// Where datagrams end.
pub struct UdpSink {
    header: u64,
}

impl UdpSink {
    /// A sink for flows with these parameters.
    #[must_use]
    pub fn new(parameters: &UdpParameters) -> Self {
        Self { header: parameters.header.bytes() }
    }
}

impl Element for UdpSink {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        cx.deliver(packet);
        cx.hand_over(packet.flow, u64::from(packet.size).saturating_sub(self.header));
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("a sink sets no timer");
    }
}
