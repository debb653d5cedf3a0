//! Counters of flows, of one or of several added up.

use forebay_network::{FlowCount, Histogram, PacketBytes, columns};
use forebay_units::{PS_PER_S, Span};
use serde::Serialize;

columns! {
    /// The counters of a flow, or of several added up.
    #[derive(Clone, Debug, Serialize)]
    pub struct Counted {
        /// Data packets handed to the network, retransmissions included.
        pub sent_packets: u64 = Packets as "sent",
        /// Data packets that reached the destination, duplicates included.
        pub delivered_packets: u64 = Packets as "delivered",
        /// Data packets dropped anywhere.
        pub dropped_packets: u64 = Packets as "dropped",
        /// Data packets that the wire of a link made of others: they are not among those sent.
        pub duplicated_packets: u64 = Packets,
        /// Data packets that arrived with a congestion mark (CE; of PCN traffic:
        /// excess-traffic-marked, ETM).
        pub marked_packets: u64 = Packets as "marked" if any,
        /// Delivered data packets on the wire, headers included, in bit/s.
        pub throughput_bps: f64 = BitsPerSecond + headline as "throughput",
        /// Payload handed to the receiving application, in order and once (of frames, what arrived
        /// whole), in bit/s.
        pub goodput_bps: f64 = BitsPerSecond as "goodput",
        /// Mean one-way delay of delivered data packets in seconds; 0 if there are none.
        pub mean_delay_s: f64 = Seconds + headline as "mean delay" over delivered_packets,
        /// Smallest one-way delay in seconds; 0 as above.
        pub min_delay_s: f64 = Seconds as "least" in delays over delivered_packets,
        /// Median of the one-way delay in seconds, within 0.8 % like the other percentiles; 0 as
        /// above.
        pub p50_delay_s: f64 = Seconds as "median" in delays over delivered_packets,
        /// 95th percentile of the one-way delays, in seconds; 0 as above.
        pub p95_delay_s: f64 = Seconds + headline as "95 %" in delays over delivered_packets,
        /// 99th percentile of the one-way delays, in seconds; 0 as above.
        pub p99_delay_s: f64 = Seconds as "99 %" in delays over delivered_packets,
        /// 99.9th percentile of the one-way delays, in seconds; 0 as above.
        pub p999_delay_s: f64 = Seconds as "99.9 %" in delays over delivered_packets,
        /// Largest one-way delay in seconds.
        pub max_delay_s: f64 = Seconds as "largest" in delays over delivered_packets,
        /// Data packets sent again.
        pub retransmissions: u64 = Packets as "retransmissions" in tcp,
        /// Retransmission timeouts.
        pub timeouts: u64 = Number as "timeouts" in tcp,
        /// Acknowledgements sent, requests of clients, and echoes of datagrams; of paced sources,
        /// notifications and reports sent to them, and resource-management cells, counted there and
        /// back.
        pub sent_acks: u64 = Packets,
        /// Acknowledgements, requests and echoes, or notifications, reports and resource-management
        /// cells, dropped.
        pub dropped_acks: u64 = Packets,
    }
}

/// Add up the counters of several flows.
pub(crate) fn sum<'c>(flows: impl IntoIterator<Item = &'c FlowCount>) -> FlowCount {
    let mut total = FlowCount::default();
    let add = |to: &mut PacketBytes, from: &PacketBytes| {
        to.packets += from.packets;
        to.bytes += from.bytes;
    };
    for flow in flows {
        add(&mut total.sent, &flow.sent);
        add(&mut total.delivered, &flow.delivered);
        add(&mut total.dropped, &flow.dropped);
        total.duplicated += flow.duplicated;
        total.marked += flow.marked;
        total.goodput += flow.goodput;
        total.delay += flow.delay;
        total.max_delay = total.max_delay.max(flow.max_delay);
        for (to, from) in total.acks.iter_mut().zip(flow.acks) {
            *to += from;
        }
        total.retransmissions += flow.retransmissions;
        total.timeouts += flow.timeouts;
    }
    total
}

impl Counted {
    /// The quantities of `count` and `delays` over a window of `measured`.
    pub(crate) fn of(count: &FlowCount, delays: &Histogram, measured: Span) -> Self {
        let per_second = |bytes: u64| bytes as f64 * 8.0 / measured.seconds();
        let seconds = |ps| Span::from_ps(ps).seconds();
        let delivered = count.delivered.packets;
        let mean_delay = count.delay as f64 / delivered.max(1) as f64 / PS_PER_S as f64;
        let shares = [0.5, 0.95, 0.99, 0.999];
        let [p50, p95, p99, p999] = delays.quantiles(shares, count.max_delay.ps()).map(seconds);
        Self {
            sent_packets: count.sent.packets,
            delivered_packets: delivered,
            dropped_packets: count.dropped.packets,
            duplicated_packets: count.duplicated,
            marked_packets: count.marked,
            throughput_bps: per_second(count.delivered.bytes),
            goodput_bps: per_second(count.goodput),
            mean_delay_s: mean_delay,
            min_delay_s: delays.least().map_or(0.0, seconds),
            p50_delay_s: p50,
            p95_delay_s: p95,
            p99_delay_s: p99,
            p999_delay_s: p999,
            max_delay_s: count.max_delay.seconds(),
            retransmissions: count.retransmissions,
            timeouts: count.timeouts,
            sent_acks: count.acks[0],
            dropped_acks: count.acks[2],
        }
    }
}
