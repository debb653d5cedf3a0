//! Times that packets wait in the queues of links.

use std::collections::BTreeMap;

use forebay_units::{PS_PER_S, Time};

use crate::record::{Column, RecordTable};
use crate::{Distribution, LinkId, Observation, Observer, Packet};

/// Quantiles that are listed.
const SHARES: [(&str, f64); 7] = [
    ("p05_s", 0.05),
    ("p25_s", 0.25),
    ("p50_s", 0.5),
    ("p75_s", 0.75),
    ("p90_s", 0.9),
    ("p95_s", 0.95),
    ("p99_s", 0.99),
];

/// Records, by link, how long the packets waited in the queue that were transmitted, from their
/// arrival to the beginning of their transmission. Packets of every kind count, as
/// acknowledgements do.
pub struct WaitLog {
    from: Time,
    until: Time,
    /// Arrivals of packets that wait.
    arrivals: BTreeMap<Key, Time>,
    by_link: Vec<Distribution>,
}

/// A link and what tells a packet from all others. Of two copies that a wire made and that wait in
/// the same queue, the second counts.
type Key = (u32, u32, Time, u64, u8);

impl WaitLog {
    /// A log of the waits at `links` links that end from `from` on, and before `until`.
    #[must_use]
    pub fn new(links: usize, (from, until): (Time, Time)) -> Self {
        Self {
            from,
            until,
            arrivals: BTreeMap::new(),
            by_link: vec![Distribution::default(); links],
        }
    }

    fn departs(&mut self, link: LinkId, packet: &Packet, at: Time) {
        let Some(arrived) = self.arrivals.remove(&key(link, packet)) else { return };
        if (self.from..self.until).contains(&at)
            && let Some(waits) = self.by_link.get_mut(link.index())
        {
            waits.record(at.since(arrived).ps());
        }
    }
}

fn key(link: LinkId, packet: &Packet) -> Key {
    (link.number(), packet.flow.number(), packet.created, packet.number, packet.kind() as u8)
}

impl Observer for WaitLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        match *fact {
            Observation::Enqueued { link, packet, .. } => {
                self.arrivals.insert(key(link, packet), now);
            }
            Observation::Departs { link, packet, at } => self.departs(link, packet, at),
            Observation::Dropped { link, packet, .. } => {
                self.arrivals.remove(&key(link, packet));
            }
            _ => {}
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let links: Vec<_> =
            (0..).zip(&self.by_link).filter(|(_, waits)| waits.count() > 0).collect();
        let seconds = |of: &dyn Fn(&Distribution) -> Option<f64>| {
            let value = |(_, waits): &(u64, &Distribution)| of(waits).unwrap_or(0.0);
            Column::Float(links.iter().map(|link| value(link) / PS_PER_S as f64).collect())
        };
        let mut columns = vec![
            ("link".to_owned(), Column::Whole(links.iter().map(|(link, _)| *link).collect())),
            (
                "packets".to_owned(),
                Column::Whole(links.iter().map(|(_, waits)| waits.count()).collect()),
            ),
            ("mean_s".to_owned(), seconds(&Distribution::mean)),
        ];
        let quantile = |(name, share): (&str, f64)| {
            (name.to_owned(), seconds(&|waits: &Distribution| waits.quantile(share)))
        };
        columns.extend(SHARES.map(quantile));
        columns.push(("max_s".to_owned(), seconds(&Distribution::most)));
        vec![RecordTable { name: "waits".to_owned(), columns }]
    }
}
