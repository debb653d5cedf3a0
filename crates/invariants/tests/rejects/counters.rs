//! Forged counters: a datagram has crossed the link, and they say otherwise.

use forebay_invariants::{CallTotals, Invariant as Must};
use forebay_network::{CallEvent, Counters, DropReason, FlowCount, FlowId, LinkCount, Observation};
use forebay_units::Span;

use crate::Case;
use crate::scene::{CALLS, CORE, SIZE, Scene, TCP, UDP, at, data, passed, places};

/// The datagram passes, and its counters are those of [`passed`], changed by `forge`.
fn forged(s: &mut Scene, forge: impl FnOnce(&mut Counters)) {
    s.pass(UDP);
    let mut counters = passed();
    forge(&mut counters);
    s.count(20_000, &counters, 0);
}

fn flow(s: &mut Scene, forge: impl FnOnce(&mut FlowCount)) {
    forged(s, |counters| forge(&mut counters.flows[UDP]));
}

fn link(s: &mut Scene, forge: impl FnOnce(&mut LinkCount)) {
    forged(s, |counters| forge(&mut counters.links[CORE]));
}

/// Reports `event` of a call of the class of calls.
fn call(s: &mut Scene, call: u64, event: CallEvent) {
    s.fact(0, &Observation::Call { flow: FlowId::new(CALLS), call, event });
}

pub const CASES: &[Case] = &[
    // An element has lost the packet that the link holds, or made one.
    (Must::PacketsHeld, |s| {
        s.pass(UDP);
        s.send(12_000, &data(UDP, 1, 12_000));
        s.count(20_000, &passed(), 0);
    }),
    (Must::PacketsHeld, |s| {
        s.pass(UDP);
        s.count(20_000, &passed(), 1);
    }),
    (Must::PacketHops, |s| forged(s, |counters| counters.hops += 1)),
    (Must::FlowSent, |s| flow(s, |flow| flow.sent.bytes -= 1)),
    (Must::FlowDelivered, |s| flow(s, |flow| flow.delivered.packets = 0)),
    (Must::FlowDropped, |s| flow(s, |flow| flow.dropped.packets = 1)),
    (Must::FlowFeedback, |s| flow(s, |flow| flow.acks[1] = 1)),
    (Must::FlowDelay, |s| flow(s, |flow| flow.delay += 1)),
    (Must::FlowDelay, |s| flow(s, |flow| flow.max_delay = Span::from_ms(12))),
    (Must::DelayMean, |s| flow(s, |flow| flow.max_delay = Span::from_ms(10))),
    (Must::FlowMarks, |s| flow(s, |flow| flow.marked = 1)),
    (Must::FlowRepeats, |s| flow(s, |flow| flow.retransmissions = 1)),
    (Must::FlowRepeats, |s| flow(s, |flow| flow.timeouts = 1)),
    (Must::FlowBalance, |s| flow(s, |flow| flow.delivered.packets = 2)),
    (Must::FlowGoodput, |s| flow(s, |flow| flow.goodput = u64::from(SIZE) + 1)),
    (Must::FlowDropPlaces, |s| {
        link(s, |link| link.of(1).dropped[DropReason::Early as usize] = 1);
    }),
    (Must::LinkArrivals, |s| link(s, |link| link.of(0).arrived.bytes += 1)),
    // Counted under another precedence.
    (Must::LinkArrivals, |s| {
        link(s, |link| {
            link.of(5).arrived = std::mem::take(&mut link.of(0).arrived);
        });
    }),
    (Must::LinkBalance, |s| link(s, |link| link.of(0).departed.packets = 0)),
    (Must::LinkBalance, |s| link(s, |link| link.of(0).departed.packets = 2)),
    (Must::LinkDrops, |s| link(s, |link| link.of(0).dropped[0] = 1)),
    (Must::LinkMarks, |s| link(s, |link| link.of(0).marked = 1)),
    (Must::LinkMarks, |s| link(s, |link| link.of(0).threshold_marked = 1)),
    (Must::LinkBusy, |s| link(s, |link| link.busy = Span::from_ms(21).ps())),
    // Busy for longer, and for less, than a packet of 1 ms takes.
    (Must::LinkWork, |s| link(s, |link| link.busy += 1)),
    (Must::LinkWork, |s| link(s, |link| link.busy -= 1)),
    (Must::LinkMeanQueue, |s| link(s, |link| link.queue_area = 1)),
    (Must::TcpInOrder, |s| {
        s.pass(TCP);
        let mut counters = passed();
        counters.flows.swap(UDP, TCP);
        // The receiver hands header over as well.
        s.count(20_000, &counters, 0);
    }),
    (Must::CallLife, |s| call(s, 7, CallEvent::Ended)),
    (Must::CallLife, |s| {
        call(s, 7, CallEvent::Admitted);
        call(s, 7, CallEvent::Admitted);
    }),
    (Must::CallPresent, |s| {
        call(s, 7, CallEvent::Admitted);
        s.checker.call_counters(CALLS, &CallTotals { admitted: 1, ..CallTotals::default() });
    }),
    (Must::CallCounters, |s| {
        call(s, 7, CallEvent::Admitted);
        call(s, u64::MAX, CallEvent::Blocked);
        let totals = CallTotals { admitted: 2, present: 1, ..CallTotals::default() };
        s.checker.call_counters(CALLS, &totals);
    }),
    (Must::CallSilent, |s| {
        call(s, 7, CallEvent::Admitted);
        call(s, 7, CallEvent::Terminated);
        let mut packet = data(CALLS, 0, 5);
        packet.tag = 7;
        s.send(5, &packet);
    }),
    (Must::CallAdmission, |s| {
        for _ in 0..2 {
            let flow = FlowId::new(CALLS);
            s.fact(0, &Observation::Admission { flow, blocking: true });
        }
    }),
];

/// Right counters are accepted: before and after a measurement window opens with a packet under
/// way, and those of calls.
#[test]
fn right_counters_break_nothing() {
    let mut s = Scene::of(places());
    s.pass(UDP);
    let mut counters = passed();
    s.count(20_000, &counters, 0);
    // A packet is queued at 20 ms and under way when counting begins anew at 20.5 ms.
    let packet = data(UDP, 1, 20_000);
    s.send(20_000, &packet);
    s.queue(20_000, CORE, &packet, 1);
    let link = &mut counters.links[CORE];
    link.of(0).arrived.packets += 1;
    link.of(0).arrived.bytes += u64::from(SIZE);
    link.of(0).departed = link.of(0).arrived;
    link.busy = Span::from_us(1500).ps();
    counters.flows[UDP].sent = counters.links[CORE].of(0).arrived;
    s.count(20_500, &counters, 1);
    s.checker.reset(at(20_500), &counters);
    counters.reset(at(20_500));
    s.deliver(31_000, &packet);
    let delivered = passed().flows[UDP];
    counters.flows[UDP] = FlowCount { sent: forebay_network::PacketBytes::default(), ..delivered };
    counters.links[CORE].busy = Span::from_us(500).ps();
    counters.hops = 2;
    s.count(31_000, &counters, 0);
    assert_eq!(s.checker.report().breaches(), []);
    assert_eq!(s.checker.report().checked(Must::LinkWork), 12);
    let mut s = Scene::of(places());
    call(&mut s, 1, CallEvent::Initial);
    call(&mut s, 2, CallEvent::Admitted);
    call(&mut s, 1, CallEvent::Ended);
    let totals =
        CallTotals { admitted: 1, rerouted: 1, ended: 1, present: 1, ..CallTotals::default() };
    s.checker.call_counters(CALLS, &totals);
    assert_eq!(s.checker.report().breaches(), []);
}
