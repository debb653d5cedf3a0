//! The order of simultaneous events.
//!
//! Events of one instant are ordered by the number of the element that they concern, and arrivals
//! of one instant at one element by the numbers of the links that they come over. Numbers are given
//! as the scenario lists links and flows, so that order is arbitrary: results should not rest on
//! it. Giving them in another order shows whether they do.

use std::collections::BTreeMap;

use forebay_kernel::{Stream, Streams};
use forebay_network::record::{Column, RecordTable};
use forebay_network::{FlowId, LinkId, Observation, Observer};
use forebay_units::Time;

/// Treatment of simultaneous events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// They are ordered as the scenario lists links and flows, and not counted.
    #[default]
    Listed,
    /// As listed, and counted: a table `ties`.
    Counted,
    /// In the random order of this number, and counted.
    Shuffled(u64),
}

/// Order in which elements are numbered.
pub(crate) struct TieOrder {
    stream: Option<Stream>,
}

impl TieOrder {
    /// The random order that is asked for, or that of the scenario.
    pub(crate) fn new(ties: Ties) -> Self {
        let stream = match ties {
            Ties::Shuffled(number) => Some(Streams::new(number, 0).named("ties")),
            Ties::Listed | Ties::Counted => None,
        };
        Self { stream }
    }

    /// The places `0..count` in the order in which their elements are numbered.
    pub(crate) fn of(&mut self, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..count).collect();
        if let Some(stream) = &mut self.stream {
            // Fisher and Yates: Knuth, The Art of Computer Programming, vol. 2, algorithm 3.4.2P.
            for last in (1..count).rev() {
                places.swap(last, stream.below(last as u64 + 1) as usize);
            }
        }
        places
    }
}

/// Counts packets that arrive at a link at the instant at which one of another flow does: their
/// order is arbitrary. That of packets of one flow is not, nor do two come over one link at once.
#[derive(Default)]
pub(crate) struct TieCount {
    /// Arrival time and flow of the last packet of each link.
    last: BTreeMap<LinkId, (Time, FlowId)>,
    ties: BTreeMap<LinkId, u64>,
}

impl Observer for TieCount {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        let (Observation::Enqueued { link, packet, .. }
        | Observation::Dropped { link, packet, .. }) = *fact
        else {
            return;
        };
        let last = self.last.insert(link, (now, packet.flow));
        if last.is_some_and(|(at, flow)| at == now && flow != packet.flow) {
            *self.ties.entry(link).or_default() += 1;
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        let links = self.ties.keys().map(|link| u64::from(link.number())).collect();
        let packets = self.ties.values().copied().collect();
        let columns = vec![
            ("link".to_owned(), Column::Whole(links)),
            ("packets".to_owned(), Column::Whole(packets)),
        ];
        vec![RecordTable { name: "ties".to_owned(), columns }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every place has its turn exactly once, and a shuffled order is not the listed one.
    #[test]
    fn every_place_has_its_turn() {
        assert_eq!(TieOrder::new(Ties::Listed).of(4), [0, 1, 2, 3]);
        let mut shuffled = TieOrder::new(Ties::Shuffled(1)).of(100);
        assert_ne!(shuffled, (0..100).collect::<Vec<_>>());
        shuffled.sort_unstable();
        assert_eq!(shuffled, (0..100).collect::<Vec<_>>());
    }

    /// Every order is as likely as the others: all six of three places come, each a sixth of the
    /// times. Of 6000 draws 1000 are expected, with a standard deviation of sqrt(6000 * 1/6 * 5/6)
    /// = 29; five of those are passed once in a million.
    #[test]
    fn every_order_is_as_likely() {
        let mut order = TieOrder::new(Ties::Shuffled(7));
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            *counts.entry(order.of(3)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (855..=1145).contains(count)), "{counts:?}");
    }
}
