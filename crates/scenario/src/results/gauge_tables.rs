//! The quantities that gauges read: name, unit, meaning, and the counter that each comes from.

use forebay_elements::calls::CallCount;
use forebay_network::{DropReason, FlowCount, LinkCount};
use forebay_parameters::Probe;

/// A quantity that is counted by `C`.
pub(crate) struct Counted<C> {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
    /// The counter, and that which it is taken over.
    count: fn(&C) -> [u128; 2],
    pub(crate) per: Per,
}

/// Divisor of the difference of a counter.
#[derive(Clone, Copy)]
pub(crate) enum Per {
    /// None: a number in the step.
    Step,
    /// The seconds of the step, after it was multiplied by this.
    Second(f64),
    /// The difference of another counter, after it was multiplied by this.
    Other(f64),
}

impl<C> Counted<C> {
    /// The sums over `counts`.
    pub(crate) fn read<'c>(&self, counts: impl IntoIterator<Item = &'c C>) -> [u128; 2]
    where
        C: 'c,
    {
        let add = |sum: [u128; 2], count: &C| {
            let [one, other] = (self.count)(count);
            [sum[0] + one, sum[1] + other]
        };
        counts.into_iter().fold([0; 2], add)
    }
}

/// Seconds of a picosecond.
const PICO: f64 = 1e-12;

/// Quantities that links count.
pub(crate) static LINKS_COUNTED: &[Counted<LinkCount>] = &[
    Counted {
        name: "throughput_bps",
        unit: "bit/s",
        meaning: "Bits sent in the step, per second.",
        count: |link| one(link.total(|packets| packets.sent_bits)),
        per: Per::Second(1.0),
    },
    Counted {
        name: "utilization",
        unit: "1",
        meaning: "Share of the step in which the link was transmitting.",
        count: |link| one(link.busy),
        per: Per::Second(PICO),
    },
    Counted {
        name: "arrived_bps",
        unit: "bit/s",
        meaning: "Bits that arrived in the step, per second.",
        count: |link| one(link.total(|packets| packets.arrived.bytes)),
        per: Per::Second(8.0),
    },
    Counted {
        name: "arrived_packets",
        unit: "packets",
        meaning: "Packets that arrived in the step.",
        count: |link| one(link.total(|packets| packets.arrived.packets)),
        per: Per::Step,
    },
    Counted {
        name: "departed_packets",
        unit: "packets",
        meaning: "Packets whose transmission began in the step.",
        count: |link| one(link.total(|packets| packets.departed.packets)),
        per: Per::Step,
    },
    Counted {
        name: "drops",
        unit: "packets",
        meaning: "Packets dropped in the step, for any reason.",
        count: |link| one(link.total(|packets| packets.dropped.iter().sum())),
        per: Per::Step,
    },
    Counted {
        name: "early_drops",
        unit: "packets",
        meaning: "Packets that the law dropped early in the step.",
        count: |link| one(link.total(|packets| packets.dropped[DropReason::Early as usize])),
        per: Per::Step,
    },
    Counted {
        name: "forced_drops",
        unit: "packets",
        meaning: "Packets that the law had to drop in the step.",
        count: |link| one(link.total(|packets| packets.dropped[DropReason::Forced as usize])),
        per: Per::Step,
    },
    Counted {
        name: "marks",
        unit: "packets",
        meaning: "Packets marked CE in the step.",
        count: |link| one(link.total(|packets| packets.marked)),
        per: Per::Step,
    },
    Counted {
        name: "threshold_marks",
        unit: "packets",
        meaning: "Packets threshold-marked in the step.",
        count: |link| one(link.total(|packets| packets.threshold_marked)),
        per: Per::Step,
    },
    Counted {
        name: "drop_share",
        unit: "1",
        meaning: "Packets dropped in the step, over those that arrived in it.",
        count: |link| {
            let arrived = link.total(|packets| packets.arrived.packets);
            let dropped = link.total(|packets| packets.dropped.iter().sum());
            [u128::from(dropped), u128::from(arrived)]
        },
        per: Per::Other(1.0),
    },
    Counted {
        name: "mean_queue_packets",
        unit: "packets",
        meaning: "Packets waiting, on average over the step.",
        count: |link| [link.queue_area, 0],
        per: Per::Second(PICO),
    },
];

/// The time that what waits at a link takes to leave.
pub(crate) const LINK_DELAY: Probe = Probe {
    name: "queue_delay_s",
    unit: "s",
    meaning: "Time that what waits takes to be sent at the rate of the link: the queueing delay of \
              a packet that arrives now, first in first out.",
};

/// Quantities that flows count.
pub(crate) static FLOWS_COUNTED: &[Counted<FlowCount>] = &[
    Counted {
        name: "throughput_bps",
        unit: "bit/s",
        meaning: "Bits on the wire that were delivered in the step, per second.",
        count: |flow| one(flow.delivered.bytes),
        per: Per::Second(8.0),
    },
    Counted {
        name: "goodput_bps",
        unit: "bit/s",
        meaning: "Payload that the receiving application got in the step, in order and once, per \
                  second.",
        count: |flow| one(flow.goodput),
        per: Per::Second(8.0),
    },
    Counted {
        name: "sent_bps",
        unit: "bit/s",
        meaning: "Bits on the wire that were sent in the step, retransmissions included, per \
                  second.",
        count: |flow| one(flow.sent.bytes),
        per: Per::Second(8.0),
    },
    Counted {
        name: "sent_packets",
        unit: "packets",
        meaning: "Data packets sent in the step, retransmissions included.",
        count: |flow| one(flow.sent.packets),
        per: Per::Step,
    },
    Counted {
        name: "delivered_packets",
        unit: "packets",
        meaning: "Data packets delivered in the step.",
        count: |flow| one(flow.delivered.packets),
        per: Per::Step,
    },
    Counted {
        name: "dropped_packets",
        unit: "packets",
        meaning: "Data packets that the network dropped in the step, known to the sender or not.",
        count: |flow| one(flow.dropped.packets),
        per: Per::Step,
    },
    Counted {
        name: "marked_packets",
        unit: "packets",
        meaning: "Data packets marked CE in the step.",
        count: |flow| one(flow.marked),
        per: Per::Step,
    },
    Counted {
        name: "retransmissions",
        unit: "packets",
        meaning: "Segments sent again in the step.",
        count: |flow| one(flow.retransmissions),
        per: Per::Step,
    },
    Counted {
        name: "timeouts",
        unit: "1",
        meaning: "Retransmission timeouts in the step.",
        count: |flow| one(flow.timeouts),
        per: Per::Step,
    },
    Counted {
        name: "mean_delay_s",
        unit: "s",
        meaning: "Mean one-way delay of the data packets delivered in the step; without any, of \
                  those before.",
        count: |flow| [flow.delay, u128::from(flow.delivered.packets)],
        per: Per::Other(PICO),
    },
];

/// Quantities that a group of TCP senders shows.
pub(crate) const FLOW_PROBES: &[Probe] = &[
    Probe { name: "active_flows", unit: "1", meaning: "Flows that have begun and not ended." },
    Probe {
        name: "mean_cwnd_bytes",
        unit: "bytes",
        meaning: "Congestion window, on average over \
        them.",
    },
    Probe {
        name: "mean_flight_packets",
        unit: "packets",
        meaning: "Segments sent and not \
        acknowledged, on average over them.",
    },
    Probe {
        name: "mean_srtt_s",
        unit: "s",
        meaning: "Smoothed round-trip time, on average over \
        them.",
    },
];

/// Quantities that a single TCP sender shows while it lasts.
pub(crate) const TCP_PROBES: &[Probe] = &[
    Probe { name: "cwnd_bytes", unit: "bytes", meaning: "Congestion window." },
    Probe { name: "ssthresh_bytes", unit: "bytes", meaning: "Slow-start threshold." },
    Probe {
        name: "flight_packets",
        unit: "packets",
        meaning: "Segments sent and not \
        acknowledged.",
    },
    Probe { name: "srtt_s", unit: "s", meaning: "Smoothed round-trip time." },
    Probe { name: "rto_s", unit: "s", meaning: "Retransmission timeout." },
];

/// Quantities that calls count.
pub(crate) static CALLS: &[Counted<CallCount>] = &[
    Counted {
        name: "offered_calls",
        unit: "1",
        meaning: "New calls that arrived in the step.",
        count: |calls| one(calls.admitted + calls.blocked),
        per: Per::Step,
    },
    Counted {
        name: "admitted_calls",
        unit: "1",
        meaning: "New calls that were admitted in the step.",
        count: |calls| one(calls.admitted),
        per: Per::Step,
    },
    Counted {
        name: "blocked_calls",
        unit: "1",
        meaning: "New calls that were blocked in the step.",
        count: |calls| one(calls.blocked),
        per: Per::Step,
    },
    Counted {
        name: "terminated_calls",
        unit: "1",
        meaning: "Calls that flow termination ended in the step.",
        count: |calls| one(calls.terminated),
        per: Per::Step,
    },
];

fn one(count: u64) -> [u128; 2] {
    [u128::from(count), 0]
}
