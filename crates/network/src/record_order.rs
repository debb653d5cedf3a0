//! Results that need packets in the order in which they were sent: the variation of delay from one
//! to the next, and the number lost in a row.

use std::collections::{BTreeMap, VecDeque};

use forebay_units::{PS_PER_S, Span, Time};

use crate::record::{Column, RecordTable};
use crate::{Distribution, Observation, Observer, Packet};

/// Packets of a flow that are followed at most; of more under way, the oldest are forgotten.
const MAX_FOLLOWED: usize = 1 << 20;
/// Quantiles of the variation that are listed.
const SHARES: [(&str, f64); 4] =
    [("p50_ipdv_s", 0.5), ("p95_ipdv_s", 0.95), ("p99_ipdv_s", 0.99), ("p999_ipdv_s", 0.999)];

/// Records, by flow group, delay variation and runs of losses of data packets.
///
/// The variation is that of RFC 3393 with consecutive packets as the selection function: the delay
/// of a packet minus that of the one that the flow sent before it; there is none where either was
/// lost. Listed are its absolute values, and the interarrival jitter of RFC 3550, section 6.4.1.
/// Runs are the loss periods of RFC 3357: packets sent one after the other that were all lost.
pub struct PacketOrder {
    groups: Vec<u32>,
    flows: Vec<Flow>,
    by_group: Vec<Tally>,
    from: Time,
    tables: Tables,
}

/// Tables that are to be recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tables {
    /// Variation of delay from packet to packet.
    pub jitter: bool,
    /// Numbers of packets lost in a row.
    pub losses: bool,
}

#[derive(Clone, Default)]
struct Flow {
    /// In the order of sending.
    under_way: VecDeque<Sent>,
    /// Delay of the packet before the first of these, if it was delivered.
    before: Option<Span>,
    /// Packets lost in a row before it.
    run: u64,
    /// Interarrival jitter, in seconds.
    smoothed: f64,
}

#[derive(Clone, Copy)]
struct Sent {
    created: Time,
    number: u64,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    UnderWay,
    Lost,
    Delivered(Span),
}

#[derive(Clone, Default)]
struct Tally {
    /// Absolute variation in picoseconds.
    variation: Distribution,
    /// Sum of the interarrival jitter after each pair.
    smoothed: f64,
    /// Number of times that so many were lost in a row.
    runs: BTreeMap<u64, u64>,
}

impl Tally {
    fn pair(&mut self, variation: Span, smoothed: f64) {
        self.variation.record(variation.ps());
        self.smoothed += smoothed;
    }
}

impl PacketOrder {
    /// Count what is known of after `from`; `groups[flow]` is the group of each flow.
    #[must_use]
    pub fn new(groups: Vec<u32>, from: Time, tables: Tables) -> Self {
        let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
        let flows = vec![Flow::default(); groups.len()];
        Self { groups, flows, by_group: vec![Tally::default(); count], from, tables }
    }

    fn sent(&mut self, packet: &Packet) {
        let flow = &mut self.flows[packet.flow.index()];
        if flow.under_way.len() >= MAX_FOLLOWED {
            flow.under_way.pop_front();
            flow.before = None;
        }
        let (created, number) = (packet.created, packet.number);
        flow.under_way.push_back(Sent { created, number, fate: Fate::UnderWay });
    }

    /// Settles the fate of `packet`, which is known at `now`. Of copies that a wire made, the first
    /// counts.
    fn settle(&mut self, packet: &Packet, fate: Fate, now: Time) {
        let index = packet.flow.index();
        let (flow, tally) =
            (&mut self.flows[index], &mut self.by_group[self.groups[index] as usize]);
        let first = flow.under_way.partition_point(|sent| sent.created < packet.created);
        let mut equal = flow.under_way.range_mut(first..);
        let own = equal
            .by_ref()
            .take_while(|sent| sent.created == packet.created)
            .find(|sent| sent.number == packet.number && sent.fate == Fate::UnderWay);
        let Some(own) = own else { return };
        own.fate = fate;
        let counts = now > self.from || self.from == Time::ZERO;
        flow.take_settled(counts.then_some(tally));
    }
}

impl Flow {
    /// Packets leave in the order of sending, as soon as it is known what became of them.
    fn take_settled(&mut self, mut tally: Option<&mut Tally>) {
        while let Some(first) = self.under_way.front().copied() {
            match first.fate {
                Fate::UnderWay => return,
                Fate::Lost => {
                    self.run += 1;
                    self.before = None;
                }
                Fate::Delivered(delay) => {
                    self.end_run(tally.as_deref_mut());
                    if let Some(before) = self.before {
                        let variation = delay.max(before) - delay.min(before);
                        self.smoothed += (variation.seconds() - self.smoothed) / 16.0;
                        if let Some(tally) = tally.as_deref_mut() {
                            tally.pair(variation, self.smoothed);
                        }
                    }
                    self.before = Some(delay);
                }
            }
            self.under_way.pop_front();
        }
    }

    fn end_run(&mut self, tally: Option<&mut Tally>) {
        let run = std::mem::take(&mut self.run);
        if let (Some(tally), 1..) = (tally, run) {
            *tally.runs.entry(run).or_default() += 1;
        }
    }
}

impl Observer for PacketOrder {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        match fact {
            Observation::Sent { packet } if !packet.is_feedback() => self.sent(packet),
            Observation::Delivered { packet, delay } if !packet.is_feedback() => {
                self.settle(packet, Fate::Delivered(*delay), now);
            }
            Observation::Dropped { packet, .. } if !packet.is_feedback() => {
                self.settle(packet, Fate::Lost, now);
            }
            _ => {}
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        for (flow, group) in self.flows.iter_mut().zip(&self.groups) {
            flow.end_run(Some(&mut self.by_group[*group as usize]));
        }
        let mut tables = Vec::new();
        if self.tables.jitter {
            tables.push(jitter(&self.by_group));
        }
        if self.tables.losses {
            tables.push(losses(&self.by_group));
        }
        tables
    }
}

fn jitter(by_group: &[Tally]) -> RecordTable {
    let seen: Vec<(u64, &Tally)> =
        (0..).zip(by_group).filter(|(_, tally)| tally.variation.count() > 0).collect();
    let whole = |of: &dyn Fn(&(u64, &Tally)) -> u64| Column::Whole(seen.iter().map(of).collect());
    let seconds = |of: &dyn Fn(&Distribution) -> Option<f64>| {
        let ps = seen.iter().filter_map(|(_, tally)| of(&tally.variation));
        Column::Float(ps.map(|ps| ps / PS_PER_S as f64).collect())
    };
    let mut columns = vec![
        ("group".to_owned(), whole(&|(group, _)| *group)),
        ("pairs".to_owned(), whole(&|(_, tally)| tally.variation.count())),
        ("mean_ipdv_s".to_owned(), seconds(&Distribution::mean)),
    ];
    for (name, share) in SHARES {
        columns.push((name.to_owned(), seconds(&|variation| variation.quantile(share))));
    }
    columns.push(("max_ipdv_s".to_owned(), seconds(&Distribution::most)));
    let rtp = seen.iter().map(|(_, tally)| tally.smoothed / tally.variation.count() as f64);
    columns.push(("rtp_jitter_s".to_owned(), Column::Float(rtp.collect())));
    RecordTable { name: "jitter".to_owned(), columns }
}

fn losses(by_group: &[Tally]) -> RecordTable {
    let rows = (0_u64..).zip(by_group).flat_map(|(group, tally)| {
        tally.runs.iter().map(move |(length, times)| (group, *length, *times))
    });
    let rows: Vec<(u64, u64, u64)> = rows.collect();
    let column = |of: fn(&(u64, u64, u64)) -> u64| Column::Whole(rows.iter().map(of).collect());
    RecordTable {
        name: "loss_runs".to_owned(),
        columns: vec![
            ("group".to_owned(), column(|row| row.0)),
            ("packets".to_owned(), column(|row| row.1)),
            ("runs".to_owned(), column(|row| row.2)),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DropReason, FlowId, LinkId, RouteId};

    const BOTH: Tables = Tables { jitter: true, losses: true };

    fn packet(flow: usize, number: u64) -> Packet {
        let created = Time::ZERO + Span::from_ms(10 * number);
        Packet::data(created, FlowId::new(flow), number, 500, RouteId::new(0))
    }

    /// The fates of packets sent every 10 ms: the delay in ms, or lost.
    fn run(order: &mut PacketOrder, flow: usize, fates: &[Option<u64>]) {
        let mut facts = Vec::new();
        for (number, fate) in (0..).zip(fates) {
            let packet = packet(flow, number);
            facts.push((packet.created, None, packet));
            let at = packet.created + Span::from_ms(fate.unwrap_or(3));
            facts.push((at, Some(*fate), packet));
        }
        facts.sort_by_key(|(at, ..)| *at);
        for (at, fate, packet) in &facts {
            let (link, reason) = (LinkId::new(0), DropReason::Overflow);
            let fact = match fate {
                None => Observation::Sent { packet },
                Some(None) => Observation::Dropped { link, packet, reason },
                Some(Some(ms)) => Observation::Delivered { packet, delay: Span::from_ms(*ms) },
            };
            order.observe(*at, &fact);
        }
    }

    fn floats(table: &RecordTable, name: &str) -> Vec<f64> {
        let found = table.columns.iter().find(|(column, _)| column == name).unwrap();
        let Column::Float(values) = &found.1 else { panic!("{name} is a number") };
        values.clone()
    }

    /// Variation is between consecutive packets of the order sent that both arrived: delays of 5,
    /// 8, lost, 6, 26 and 7 ms, the fifth arriving after the sixth: pairs differ by 3, 20 and 19
    /// ms, 14 on average. RFC 3550's jitter is 3/16 after the first, 3/16 + (20 - 3/16)/16 =
    /// 1.42578125 after the second, and 1.42578125 + (19 - 1.42578125)/16 = 2.524169921875 after
    /// the third; on average 1.379150390625 ms.
    #[test]
    fn variation_is_between_consecutive_packets_that_arrived() {
        let mut order = PacketOrder::new(vec![0], Time::ZERO, BOTH);
        run(&mut order, 0, &[Some(5), Some(8), None, Some(6), Some(26), Some(7)]);
        let tables = order.tables();
        assert!((floats(&tables[0], "mean_ipdv_s")[0] - 0.014).abs() < 1e-12);
        assert_eq!(floats(&tables[0], "max_ipdv_s"), [0.020]);
        assert!((floats(&tables[0], "p50_ipdv_s")[0] - 0.019).abs() < 0.019 / 128.0);
        assert!((floats(&tables[0], "rtp_jitter_s")[0] - 1.379_150_390_625e-3).abs() < 1e-12);
    }

    /// Losses in a row are of packets that one flow sent one after the other: runs of 2, 1 and, at
    /// the end, 2 packets of one flow, and of 3 of another of the same group.
    #[test]
    fn runs_are_of_packets_sent_one_after_the_other() {
        let mut order = PacketOrder::new(vec![1, 1], Time::ZERO, BOTH);
        run(&mut order, 0, &[Some(1), None, None, Some(40), None, Some(1), None, None]);
        run(&mut order, 1, &[None, None, None, Some(1)]);
        let tables = order.tables();
        let expected = [("group", [1, 1, 1]), ("packets", [1, 2, 3]), ("runs", [1, 2, 1])];
        for ((name, column), (known, values)) in tables[1].columns.iter().zip(expected) {
            assert_eq!((name.as_str(), column), (known, &Column::Whole(values.to_vec())));
        }
    }

    /// Packets that were sent before the end of the warm-up do not count.
    #[test]
    fn nothing_counts_before_the_end_of_the_warm_up() {
        let mut order = PacketOrder::new(vec![0], Time::ZERO + Span::from_ms(25), BOTH);
        run(&mut order, 0, &[Some(1), Some(4), Some(1), Some(7)]);
        let Column::Whole(pairs) = &order.tables()[0].columns[1].1 else { panic!("whole") };
        assert_eq!(*pairs, [1]);
    }
}
