//! Results of the hosts where flows begin and end.

use forebay_laws::FlowGroups;
use forebay_network::{FlowCount, Histogram, columns};
use forebay_units::Span;
use serde::Serialize;

use crate::plan::flows::FlowPlan;
use crate::plan::hosts::HostTags;
use crate::results::counted::{Counted, sum};

columns! {
    /// Results of a host: a node, or a machine behind one that flows name.
    #[derive(Clone, Debug, Serialize)]
    pub struct HostResult {
        /// Name of the host.
        pub name: String = Word,
        /// The node that it is, or behind which it is.
        pub node: String = Word as "node" if any,
        /// Its tags; left out without any.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub tags: Vec<String> = Word,
        /// Flows that begin here.
        pub flows_from: u32 = Number,
        /// Data packets that it handed to the network, retransmissions included.
        pub sent_packets: u64 = Packets as "sent" over flows_from,
        /// Data packets of these flows that reached their destination, duplicates included.
        pub delivered_packets: u64 = Packets,
        /// Data packets of these flows dropped anywhere.
        pub dropped_packets: u64 = Packets as "dropped" over flows_from,
        /// Data packets of these flows that arrived with a congestion mark.
        pub marked_packets: u64 = Packets,
        /// Delivered data packets of these flows on the wire, headers included, in bit/s.
        pub throughput_bps: f64 = BitsPerSecond as "throughput" over flows_from,
        /// Payload of these flows handed to the receiving applications, in bit/s.
        pub goodput_bps: f64 = BitsPerSecond,
        /// Mean one-way delay of delivered data packets of these flows in seconds; 0 if there are
        /// none.
        pub mean_delay_s: f64 = Seconds over delivered_packets,
        /// 95th percentile of these delays, in seconds; 0 as above.
        pub p95_delay_s: f64 = Seconds over delivered_packets,
        /// 99th percentile of these delays, in seconds; 0 as above.
        pub p99_delay_s: f64 = Seconds over delivered_packets,
        /// Flows that end here.
        pub flows_to: u32 = Number,
        /// Data packets that reached it, duplicates included.
        pub received_packets: u64 = Packets as "received" over flows_to,
        /// Data packets on their way to it that were dropped anywhere.
        pub lost_packets: u64 = Packets,
        /// Data packets that reached it with a congestion mark.
        pub received_marked_packets: u64 = Packets,
        /// Data packets that reached it, headers included, in bit/s.
        pub received_throughput_bps: f64 = BitsPerSecond as "throughput" over flows_to,
        /// Payload handed to its applications, in bit/s.
        pub received_goodput_bps: f64 = BitsPerSecond,
        /// Mean one-way delay of the data packets that reached it, in seconds; 0 if there are none.
        pub received_mean_delay_s: f64 = Seconds over received_packets,
        /// 95th percentile of these delays, in seconds; 0 as above.
        pub received_p95_delay_s: f64 = Seconds over received_packets,
        /// 99th percentile of these delays, in seconds; 0 as above.
        pub received_p99_delay_s: f64 = Seconds over received_packets,
    }
}

/// Counters of several flows together.
#[derive(Clone, Default)]
pub(crate) struct Total {
    flows: u32,
    count: FlowCount,
    delays: Histogram,
}

impl Total {
    /// Of so many flows.
    pub(crate) fn of(flows: u32, count: FlowCount, delays: Histogram) -> Self {
        Self { flows, count, delays }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.flows += other.flows;
        self.count = sum([&self.count, &other.count]);
        self.delays.merge(&other.delays);
    }

    /// Returns the number of flows.
    pub(crate) fn flows(&self) -> u32 {
        self.flows
    }

    /// Returns the bytes of their goodput.
    pub(crate) fn goodput(&self) -> f64 {
        self.count.goodput as f64
    }

    pub(crate) fn counted(&self, measured: Span) -> Counted {
        Counted::of(&self.count, &self.delays, measured)
    }
}

/// The rows of hosts, given the totals of each group, in the order of `plans`.
pub(crate) fn host_rows(
    plans: &[FlowPlan],
    (groups, tags): (&FlowGroups, &HostTags),
    totals: &[Total],
    measured: Span,
) -> Vec<HostResult> {
    let mut nodes = vec![""; groups.hosts().len()];
    let mut ends = [vec![Total::default(); nodes.len()], vec![Total::default(); nodes.len()]];
    for (at, (plan, total)) in plans.iter().zip(totals).enumerate() {
        let hosts = groups.hosts_of_group(at).into_iter().zip(plan.hosts());
        for ((host, (_, node)), end) in hosts.zip(&mut ends) {
            nodes[host.index()] = node;
            end[host.index()].add(total);
        }
    }
    let [from, to] = ends;
    let rows = groups.hosts().iter().zip(nodes).zip(from.iter().zip(&to));
    let row = |((name, node), ends): ((&String, &str), (&Total, &Total))| HostResult {
        tags: tags.of(name).to_vec(),
        ..row(name, node, ends, measured)
    };
    rows.map(row).collect()
}

fn row(name: &str, node: &str, (from, to): (&Total, &Total), measured: Span) -> HostResult {
    let (sent, received) = (from.counted(measured), to.counted(measured));
    HostResult {
        name: name.to_owned(),
        node: node.to_owned(),
        tags: Vec::new(),
        flows_from: from.flows,
        sent_packets: sent.sent_packets,
        delivered_packets: sent.delivered_packets,
        dropped_packets: sent.dropped_packets,
        marked_packets: sent.marked_packets,
        throughput_bps: sent.throughput_bps,
        goodput_bps: sent.goodput_bps,
        mean_delay_s: sent.mean_delay_s,
        p95_delay_s: sent.p95_delay_s,
        p99_delay_s: sent.p99_delay_s,
        flows_to: to.flows,
        received_packets: received.delivered_packets,
        lost_packets: received.dropped_packets,
        received_marked_packets: received.marked_packets,
        received_throughput_bps: received.throughput_bps,
        received_goodput_bps: received.goodput_bps,
        received_mean_delay_s: received.mean_delay_s,
        received_p95_delay_s: received.p95_delay_s,
        received_p99_delay_s: received.p99_delay_s,
    }
}
