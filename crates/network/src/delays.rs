//! The one-way delays of each flow, counted where packets are delivered.

use forebay_units::Span;

use crate::{FlowId, Histogram};

/// The delays of all flows: of each flow by itself, or of many together.
#[derive(Clone, Default, Debug)]
pub struct DelayTable {
    histograms: Vec<Histogram>,
    /// Index of the histogram of each flow; empty if each has that of its own number.
    shared: Vec<u32>,
}

impl DelayTable {
    /// Each flow has a histogram of its own or, of the flows of a group that is `together`, one
    /// for all. `groups` are the numbers of flows of consecutive groups, and whether they are.
    ///
    /// # Panics
    /// If there are 2^32 flows or more.
    #[must_use]
    pub fn new(groups: &[(u32, bool)]) -> Self {
        let mut shared = Vec::new();
        let mut next = 0_u32;
        for (count, together) in groups {
            shared.extend((0..*count).map(|flow| if *together { next } else { next + flow }));
            let own = if *together { 1 } else { *count };
            next = next.checked_add(own).expect("fewer than 2^32 flows");
        }
        if groups.iter().all(|(_, together)| !together) {
            shared = Vec::new();
        }
        Self { histograms: vec![Histogram::new(); next as usize], shared }
    }

    /// Count a data packet of `flow`, which took `delay`; of a flow that the table does not know,
    /// nothing.
    #[inline(always)]
    pub fn record(&mut self, flow: FlowId, delay: Span) {
        let mut at = flow.index();
        if !self.shared.is_empty() {
            at = self.shared[at] as usize;
        }
        if let Some(histogram) = self.histograms.get_mut(at) {
            histogram.record(delay.ps());
        }
    }

    /// The delays in ps of `flow`, or of all with which it is counted.
    ///
    /// # Panics
    /// If the table does not know the flow.
    #[must_use]
    pub fn of(&self, flow: FlowId) -> &Histogram {
        let slot = self.shared.get(flow.index()).map_or(flow.index(), |slot| *slot as usize);
        &self.histograms[slot]
    }

    /// The same flows, of which nothing was counted.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let histograms = vec![Histogram::new(); self.histograms.len()];
        Self { histograms, shared: self.shared.clone() }
    }

    /// Count from here on: a new measurement window begins.
    pub fn reset(&mut self) {
        self.histograms.iter_mut().for_each(Histogram::clear);
    }

    /// Add what was counted in another partition.
    pub fn merge(&mut self, other: &Self) {
        for (mine, other) in self.histograms.iter_mut().zip(&other.histograms) {
            mine.merge(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flows are counted apart, or together where they are of one group, and a window begins
    /// without the delays of the warm-up.
    #[test]
    fn flows_are_counted_apart_or_together() {
        let mut table = DelayTable::new(&[(2, false), (2, true), (1, false)]);
        let flow = FlowId::new;
        let packets = [(0, 10), (1, 20), (2, 30), (3, 40), (4, 50)];
        for (number, us) in packets {
            table.record(flow(number), Span::from_us(us));
        }
        let least = |table: &DelayTable| {
            let us = |ps: u64| ps / 1_000_000;
            packets.map(|(number, _)| table.of(flow(number)).least().map(us))
        };
        assert_eq!(least(&table), [10, 20, 30, 30, 50].map(Some));
        let median = |number| table.of(flow(number)).quantiles([0.5], u64::MAX)[0];
        assert_eq!(median(2), 30_000_000);
        let mut other = table.fresh();
        assert_eq!(least(&other), [None; 5]);
        other.record(flow(0), Span::from_us(5));
        other.merge(&table);
        assert_eq!(least(&other), [5, 20, 30, 30, 50].map(Some));
        table.reset();
        assert_eq!(least(&table), [None; 5]);
        let mut apart = DelayTable::new(&[(2, false), (1, false)]);
        for (number, us) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
            apart.record(flow(number), Span::from_us(us));
        }
        assert_eq!(
            [0, 1, 2].map(|number| apart.of(flow(number)).least().unwrap()),
            [1_000_000, 2_000_000, 3_000_000]
        );
    }
}
