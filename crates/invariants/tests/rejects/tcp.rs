//! Wrong TCP: facts of windows, segments and acknowledgements, and states of senders.

use forebay_invariants::Invariant as Must;
use forebay_network::{FlowId, Observation, Signal, StateFact, TcpSenderState, Window};
use forebay_units::{Span, Time};

use crate::Case;
use crate::scene::{BACK, CORE, HEADER, SIZE, Scene, TCP, ack, at, data};

const MSS: f64 = SIZE as f64 - HEADER as f64;

fn window(s: &mut Scene, cwnd: f64, ssthresh: f64) {
    s.fact(0, &Observation::Window { flow: FlowId::new(TCP), cwnd, ssthresh });
}

/// A reduction from `before` to `cwnd` with `flight` in flight, when two segments are outstanding.
fn reduce(s: &mut Scene, before: f64, flight: f64, cwnd: f64) {
    s.send(0, &data(TCP, 0, 0));
    s.send(0, &data(TCP, 1, 0));
    let (flow, signal, ssthresh) = (FlowId::new(TCP), Signal::Loss, 2.0 * MSS);
    s.fact(0, &Observation::Reduced { flow, signal, before, flight, cwnd, ssthresh });
}

/// Ten segments outstanding, three of them SACKed, as a sender should know it.
fn sound() -> TcpSenderState {
    TcpSenderState {
        flow: FlowId::new(TCP),
        una: 5,
        nxt: 15,
        max: 15,
        end: 20,
        window: Window { cwnd: 10.0 * MSS, ssthresh: 5.0 * MSS, smss: MSS },
        receiver_window: f64::INFINITY,
        pipe: Some(7),
        resent: 0,
        sacked: vec![(7, 8), (10, 12)],
        sacked_total: 3,
        rto: Span::from_ms(300),
        rto_bounds: (Span::from_ms(200), Span::from_s(60)),
        deadline: at(500_000),
    }
}

fn state(s: &mut Scene, change: impl FnOnce(&mut TcpSenderState)) {
    let mut state = sound();
    change(&mut state);
    s.checker.state(at(0), 0, &StateFact::TcpSender(Box::new(state)));
}

/// `bytes` that were written at `begun` us are there when a segment of 100 B has just arrived after
/// 11 ms, 10 ms of which it has propagated; 100 B take 0.8 ms.
fn complete(s: &mut Scene, begun: u64, bytes: u64) {
    s.pass(TCP);
    let (flow, begun, ideal) = (FlowId::new(TCP), at(begun), Span::ZERO);
    s.fact(11_000, &Observation::Completed { flow, flows: 1, begun, bytes, ideal });
}

/// Segment 0 reaches the receiver, which has all below 1 then.
fn first_segment(s: &mut Scene) {
    s.pass(TCP);
}

pub const CASES: &[Case] = &[
    (Must::TcpWindow, |s| window(s, MSS - 1.0, 2.0 * MSS)),
    (Must::TcpWindow, |s| window(s, f64::NAN, 2.0 * MSS)),
    (Must::TcpThreshold, |s| window(s, MSS, 0.0)),
    (Must::TransferBytes, |s| complete(s, 0, 101)),
    (Must::TransferFloor, |s| complete(s, 201, 100)),
    (Must::TcpReduction, |s| reduce(s, 4.0 * MSS, 2.0 * MSS, 5.0 * MSS)),
    // More in flight than the window, and than was sent.
    (Must::TcpFlight, |s| reduce(s, MSS, 2.0 * MSS, MSS)),
    (Must::TcpFlight, |s| reduce(s, 9.0 * MSS, 3.0 * MSS, MSS)),
    // A gap, a segment again that is said to be new, and one sent again that was never sent.
    (Must::TcpSequence, |s| s.send(0, &data(TCP, 1, 0))),
    (Must::TcpSequence, |s| {
        s.send(0, &data(TCP, 0, 0));
        s.send(1, &data(TCP, 0, 1));
    }),
    (Must::TcpSequence, |s| s.send(0, &data(TCP, 3, 0).as_retransmission())),
    (Must::TcpRepeatCause, |s| {
        s.send(0, &data(TCP, 0, 0));
        s.send(1, &data(TCP, 0, 1).as_retransmission());
    }),
    (Must::TcpPointers, |s| state(s, |state| state.una = 16)),
    (Must::TcpPointers, |s| state(s, |state| state.end = 14)),
    (Must::TcpReceiverWindow, |s| {
        s.send(0, &data(TCP, 0, 0));
        s.send(0, &data(TCP, 1, 0));
        state(s, |state| state.receiver_window = 1.5 * MSS);
    }),
    // Blocks that touch, overlap, stand in the wrong order, are empty, reach below or above.
    (Must::TcpScoreboard, |s| state(s, |state| state.sacked = vec![(7, 9), (9, 10)])),
    (Must::TcpScoreboard, |s| state(s, |state| state.sacked = vec![(7, 9), (8, 10)])),
    (Must::TcpScoreboard, |s| state(s, |state| state.sacked = vec![(10, 12), (7, 8)])),
    (Must::TcpScoreboard, |s| state(s, |state| state.sacked = vec![(7, 7), (9, 12)])),
    (Must::TcpScoreboard, |s| state(s, |state| state.sacked = vec![(5, 8)])),
    (Must::TcpScoreboard, |s| state(s, |state| state.sacked = vec![(13, 16)])),
    (Must::TcpScoreboard, |s| state(s, |state| state.sacked_total = 4)),
    (Must::TcpPipe, |s| state(s, |state| state.pipe = Some(8))),
    (Must::TcpRto, |s| state(s, |state| state.rto = Span::from_ms(199))),
    (Must::TcpRto, |s| state(s, |state| state.rto = Span::from_s(61))),
    (Must::TcpTimer, |s| state(s, |state| state.deadline = Time::NEVER)),
    // The receiver has segment 0 and says less, or more.
    (Must::TcpAck, |s| {
        first_segment(s);
        s.send(12_000, &ack(0, 12_000));
    }),
    (Must::TcpAck, |s| {
        first_segment(s);
        s.send(12_000, &ack(2, 12_000));
    }),
    (Must::TcpAckSent, |s| {
        let ack = ack(1, 0);
        s.send(0, &ack);
        s.queue(0, BACK, &ack, 1);
        s.deliver(11_000, &ack);
    }),
];

/// Right TCP is accepted: a loss repaired after duplicate acknowledgements, and the state of a
/// sender meanwhile.
#[test]
fn right_tcp_breaks_nothing() {
    let mut s = Scene::new();
    s.begin(TCP);
    let segments: Vec<_> = (0..3).map(|number| data(TCP, number, 0)).collect();
    for (segment, packets) in segments.iter().zip(1..) {
        s.send(0, segment);
        s.queue(0, CORE, segment, packets);
    }
    s.drop(0, CORE, &segments[1], forebay_network::DropReason::Forced);
    s.deliver(11_000, &segments[0]);
    s.send(11_000, &ack(1, 11_000));
    s.deliver(12_000, &segments[2]);
    s.send(12_000, &ack(1, 12_000));
    for us in [11_000, 12_000] {
        s.queue(12_000, BACK, &ack(1, us), if us == 11_000 { 1 } else { 2 });
    }
    s.deliver(23_000, &ack(1, 11_000));
    s.deliver(24_000, &ack(1, 12_000));
    let (flow, signal, ssthresh) = (FlowId::new(TCP), Signal::Loss, 2.0 * MSS);
    let (before, flight, cwnd) = (3.0 * MSS, 2.0 * MSS, 2.0 * MSS);
    s.fact(24_000, &Observation::Reduced { flow, signal, before, flight, cwnd, ssthresh });
    let again = data(TCP, 1, 24_000).as_retransmission();
    s.send(24_000, &again);
    s.queue(24_000, CORE, &again, 1);
    s.deliver(35_000, &again);
    // Segments 1 and 2 are in order now.
    s.send(35_000, &ack(3, 35_000));
    state(&mut s, |_| {});
    assert_eq!(s.checker.report().breaches(), []);
}

/// Transfers as fast as can be are accepted: 100 B that were written 10.8 ms ago.
#[test]
fn a_transfer_may_take_what_its_links_take() {
    let mut s = Scene::new();
    complete(&mut s, 200, 100);
    assert_eq!(s.breached(Must::TransferFloor) + s.breached(Must::TransferBytes), 0);
}
