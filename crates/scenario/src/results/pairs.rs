//! Results of pairs of nodes, of groups of flows that lead between several.

use forebay_elements::{Row, RowKind, RowsOf, TransferCount, TransferResult};
use forebay_network::{FlowCount, columns};
use forebay_units::{PS_PER_S, Span};
use serde::Serialize;

use crate::plan::between::Lane;
use crate::plan::{LaneEnds, Plan, Wired};
use crate::results::counted::sum;

columns! {
    /// Results of the flows of a group that lead from one node to another, where the group leads
    /// between several nodes, or in a fabric.
    #[derive(Clone, Debug, Serialize)]
    pub struct PairResult {
        /// `GROUP.FROM-TO`.
        pub name: String = Word,
        /// The group of flows.
        pub group: String = Word,
        /// The node of the senders.
        pub from: String = Word,
        /// The node of the receivers.
        pub to: String = Word,
        /// Number of flows.
        pub flows: u32 = Number,
        /// Data packets handed to the network, retransmissions included.
        pub sent_packets: u64 = Packets,
        /// Data packets that reached the destination, duplicates included.
        pub delivered_packets: u64 = Packets,
        /// Data packets dropped anywhere.
        pub dropped_packets: u64 = Packets as "dropped",
        /// Data packets that arrived with a congestion mark.
        pub marked_packets: u64 = Packets as "marked" if any,
        /// Payload handed to the receiving application, in bit/s.
        pub goodput_bps: f64 = BitsPerSecond + headline as "goodput",
        /// Mean one-way delay of delivered data packets in seconds; 0 if there are none.
        pub mean_delay_s: f64 = Seconds + headline as "mean delay" over delivered_packets,
        /// Transfers completed; of clients, none: they ask several nodes at a time.
        pub completed: u64 = Number,
        /// Mean completion time of these transfers in seconds; null if there are none.
        pub mean_completion_s: Option<f64> = Seconds over completed,
        /// Mean slowdown of these transfers; null if there are none.
        pub mean_slowdown: Option<f64> = Number as "slowdown" over completed,
    }
}

impl Row for PairResult {
    const KIND: RowKind = RowKind {
        name: "pairs",
        meaning: "A row a pair of nodes of a group of flows between several, up to 10,000 of a \
                  group; empty if there are none.",
        of: RowsOf::Flows,
        titles: &[("", "pairs of nodes, by group")],
        columns: Self::COLUMNS,
    };
}

/// Pairs of a group that get a row each.
const MAX_PAIRS: usize = 10_000;

/// The rows of pairs, in the order of the groups and of their flows.
pub(crate) fn pair_rows(plan: &Plan<'_>, wired: &mut Wired, measured: Span) -> Vec<PairResult> {
    let mut rows = Vec::new();
    let mut first = 0;
    for (at, flow) in plan.flows.iter().enumerate() {
        let (own, lanes) = (first, wired.lanes[at].clone());
        first += flow.count as usize;
        let Some(between) = flow.between.as_ref().filter(|_| lanes.len() <= MAX_PAIRS) else {
            continue;
        };
        let gathers = flow.transport.gathers();
        for LaneEnds { receivers, lane, .. } in lanes {
            let Lane { from, to, first, count } = lane.expect("the group has lanes");
            let flows = own + first as usize..own + (first + count) as usize;
            let total = sum(&wired.network.counters().flows[flows]);
            let transfers = receivers.filter(|_| !gathers).and_then(|element| {
                let own = wired.network.element_counters::<TransferCount>(element)?;
                Some(TransferResult::of(String::new(), own))
            });
            let name = |number: u32| between.nodes[number as usize].name.clone();
            rows.push(row((&flow.name, name(from), name(to)), count, &total, transfers, measured));
        }
    }
    rows
}

fn row(
    (group, from, to): (&str, String, String),
    flows: u32,
    total: &FlowCount,
    transfers: Option<TransferResult>,
    measured: Span,
) -> PairResult {
    let delivered = total.delivered.packets;
    let transfers = transfers.as_ref();
    PairResult {
        name: format!("{group}.{from}-{to}"),
        group: group.to_owned(),
        from,
        to,
        flows,
        sent_packets: total.sent.packets,
        delivered_packets: delivered,
        dropped_packets: total.dropped.packets,
        marked_packets: total.marked,
        goodput_bps: total.goodput as f64 * 8.0 / measured.seconds(),
        mean_delay_s: total.delay as f64 / delivered.max(1) as f64 / PS_PER_S as f64,
        completed: transfers.map_or(0, |transfers| transfers.completed),
        mean_completion_s: transfers.and_then(|transfers| transfers.mean_completion_s),
        mean_slowdown: transfers.and_then(|transfers| transfers.mean_slowdown),
    }
}
