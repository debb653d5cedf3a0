//! Facts about TCP, and what its senders state of their connections.

use forebay_network::{Observation, Packet, PacketKind, RouteId, TcpSenderState, Window};
use forebay_units::{Size, Span, Time};

use crate::Invariant as Must;
use crate::checker::{Checker, show};
use crate::places::FlowKind;
use crate::report::Place;

/// Sums of bytes in floating point.
const ROUNDING: f64 = 1e-6;

impl Checker {
    /// Segment size of `flow`, if it is TCP.
    fn mss(&self, flow: usize) -> f64 {
        match self.places.flows[flow].kind {
            FlowKind::Tcp { mss, .. } => mss as f64,
            _ => 0.0,
        }
    }

    pub(crate) fn sent_by_tcp(&mut self, packet: &Packet, overhead: u64) {
        let (flow, number) = (packet.flow.index(), packet.number);
        let (place, payload) = (Place::Flow(flow), u64::from(packet.size).saturating_sub(overhead));
        if packet.is_syn() || packet.kind() == PacketKind::Report {
            return;
        }
        let model = &mut self.flows[flow].tcp;
        if packet.kind() == PacketKind::Ack {
            let expected = model.expected;
            // A receiver that echoes marks exactly first acknowledges what it had.
            let right = number == expected || (self.now, number) == model.before;
            self.check(Must::TcpAck, place, right, || {
                format!("{}; the receiver has all below {expected}", show(packet))
            });
            return;
        }
        let next = model.next_new;
        if packet.is_retransmission() {
            let causes = model.causes;
            self.check(Must::TcpSequence, place, number < next, || {
                format!("{}; never sent are those from {next} on", show(packet))
            });
            // A loss probe is the last segment, and comes when nothing else does.
            let probes = matches!(self.places.flows[flow].kind, FlowKind::Tcp { probes: true, .. });
            let due = causes > 0 || probes && number + 1 == next;
            self.check(Must::TcpRepeatCause, place, due, || show(packet));
        } else {
            model.send(number, payload);
            self.check(Must::TcpSequence, place, number == next, || {
                format!("{}; the next is {next}", show(packet))
            });
        }
    }

    pub(crate) fn delivered_by_tcp(&mut self, packet: &Packet, overhead: u64) {
        let (flow, now) = (packet.flow.index(), self.now);
        if packet.kind() == PacketKind::Report {
            return;
        }
        let model = &mut self.flows[flow].tcp;
        if packet.kind() == PacketKind::Ack {
            let (number, next) = (packet.number, model.next_new);
            // A duplicate, or SACK blocks with one that is none. What is beside an acknowledgement
            // may be counters alone, which is not seen here.
            model.causes += u64::from(number == model.acked || !packet.sack_slot().is_none());
            model.acknowledge(number);
            self.check(Must::TcpAckSent, Place::Flow(flow), number <= next, || {
                format!("{}; sent are those below {next}", show(packet))
            });
        } else if !packet.is_syn() {
            let payload = u64::from(packet.size).saturating_sub(overhead);
            model.deliver(packet, payload, now);
        }
    }

    /// A transfer of `bytes` that was begun at `begun` has arrived whole on the `flows` from `flow`
    /// on.
    pub(crate) fn completed(&mut self, flow: usize, flows: usize, begun: Time, bytes: u64) {
        let (now, place) = (self.now, Place::Flow(flow));
        let arrived = self.flows[flow..flow + flows].iter().map(|flow| flow.tcp.arrived).sum();
        let model = &mut self.flows[flow].tcp;
        model.transferred += bytes;
        let transferred: u64 = model.transferred;
        let routes = std::mem::take(&mut model.routes);
        self.check(Must::TransferBytes, place, transferred <= arrived, || {
            format!("{transferred} B completed, {arrived} B in order")
        });
        let floor = self.transfer_floor(&routes, Size::from_bytes(bytes));
        self.flows[flow].tcp.routes = routes;
        let causal = begun + floor <= now;
        self.check(Must::TransferFloor, place, causal, || {
            format!("{bytes} B from {} to {} ps, at least {} ps", begun.ps(), now.ps(), floor.ps())
        });
    }

    /// The least time that `data` takes over `routes`: the transmission at the slowest link of a
    /// route, and propagation. What takes several routes is no faster than if all were the fastest
    /// and each carried its share.
    fn transfer_floor(&self, routes: &[RouteId], data: Size) -> Span {
        let links = |route: &RouteId| self.places.route(*route).unwrap_or_default();
        let of = |route: &RouteId| links(route).iter().map(|link| &self.places.links[*link]);
        let transmission = |route: &RouteId| {
            // A link that changes may be as fast as it likes.
            let fixed = of(route).filter(|link| link.changes.is_none());
            fixed.map(|link| link.rate.transmission_time(data)).max().unwrap_or_default()
        };
        let delay =
            |route: &RouteId| of(route).fold(Span::ZERO, |sum, link| sum + link.least_delay());
        let fastest = routes.iter().map(transmission).min().unwrap_or_default();
        let share = Span::from_ps(fastest.ps() / (routes.len() as u64).max(1));
        share + routes.iter().map(delay).min().unwrap_or_default()
    }

    pub(crate) fn window(&mut self, flow: usize, cwnd: f64, ssthresh: f64) {
        let mss = self.mss(flow);
        let fine = cwnd.is_finite() && cwnd >= mss * (1.0 - ROUNDING);
        self.check(Must::TcpWindow, Place::Flow(flow), fine, || {
            format!("{cwnd} B, segments have {mss} B")
        });
        let fine = ssthresh >= mss * (1.0 - ROUNDING);
        self.check(Must::TcpThreshold, Place::Flow(flow), fine, || {
            format!("{ssthresh} B, segments have {mss} B")
        });
    }

    pub(crate) fn reduced(&mut self, fact: &Observation<'_>) {
        let Observation::Reduced { flow, signal, before, flight, cwnd, ssthresh } = *fact else {
            return;
        };
        let flow = flow.index();
        self.window(flow, cwnd, ssthresh);
        let (mss, place) = (self.mss(flow), Place::Flow(flow));
        let model = &self.flows[flow].tcp;
        let outstanding = model.outstanding as f64;
        let most = before.max(2.0 * mss) * (1.0 + ROUNDING);
        self.check(Must::TcpReduction, place, cwnd <= most, || {
            format!("{} takes the window from {before} B to {cwnd} B", signal.name())
        });
        let within = flight <= before.min(outstanding) * (1.0 + ROUNDING);
        self.check(Must::TcpFlight, place, within && flight >= 0.0, || {
            format!("{flight} B in flight, a window of {before} B, {outstanding} B outstanding")
        });
    }

    pub(crate) fn tcp_state(&mut self, state: &TcpSenderState) {
        let place = Place::Flow(state.flow.index());
        let TcpSenderState { una, nxt, max, end, rto, rto_bounds: (least, most), .. } = *state;
        let in_order = una <= nxt && nxt <= max && max <= end;
        self.check(Must::TcpPointers, place, in_order, || {
            format!("una {una}, nxt {nxt}, max {max}, written {end}")
        });
        let Window { cwnd, ssthresh, .. } = state.window;
        self.window(state.flow.index(), cwnd, ssthresh);
        self.check(Must::TcpRto, place, (least..=most).contains(&rto), || {
            format!("{} ps, allowed are {} to {} ps", rto.ps(), least.ps(), most.ps())
        });
        let running = una == max || state.deadline < Time::NEVER;
        self.check(Must::TcpTimer, place, running, || format!("{} segments", max - una));
        if state.receiver_window.is_finite() {
            let outstanding = self.flows[state.flow.index()].tcp.outstanding as f64;
            let most = state.receiver_window;
            self.check(Must::TcpReceiverWindow, place, outstanding <= most, || {
                format!("{outstanding} B outstanding, a window of {most} B")
            });
        }
        self.check_scoreboard(state);
    }

    fn check_scoreboard(&mut self, state: &TcpSenderState) {
        let place = Place::Flow(state.flow.index());
        let TcpSenderState { una, max, pipe, resent, sacked, sacked_total, .. } = state;
        let Some(pipe) = *pipe else { return };
        let apart = sacked.windows(2).all(|pair| pair[0].1 < pair[1].0);
        let filled = sacked.iter().all(|(first, end)| first < end);
        let within = sacked.first().is_none_or(|(first, _)| first > una)
            && sacked.last().is_none_or(|(_, end)| end <= max);
        let total: u64 = sacked.iter().map(|(first, end)| end.saturating_sub(*first)).sum();
        let sane = apart && filled && within && total == *sacked_total;
        self.check(Must::TcpScoreboard, place, sane, || {
            format!("{sacked:?} of {sacked_total} segments, una {una}, max {max}")
        });
        let most = max.saturating_sub(*una).saturating_sub(total) + resent;
        self.check(Must::TcpPipe, place, pipe <= most, || {
            format!("{pipe} segments; outstanding and not SACKed are {most}")
        });
    }
}
