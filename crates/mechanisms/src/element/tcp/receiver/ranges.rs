//! Sets of segment numbers as sorted, disjoint ranges.

use std::collections::VecDeque;

/// Segment numbers as half-open ranges: what a receiver holds out of order, and what a sender knows
/// to have arrived. Work grows with the number of holes, not with the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    list: VecDeque<(u64, u64)>,
    total: u64,
}

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of segments in the set.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.total = 0;
    }

    pub(super) fn last(&self) -> Option<(u64, u64)> {
        self.list.back().copied()
    }

    /// Returns the number of ranges.
    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    /// The ranges, from the lowest.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.list.iter().copied()
    }

    /// Add `first..end`. How many of its segments are new, and how many of those lie below `mark`.
    #[inline]
    pub(super) fn insert(&mut self, first: u64, end: u64, mark: u64) -> (u64, u64) {
        debug_assert!(first < end);
        // Most are known already, or make the last range longer.
        match self.list.back_mut() {
            Some(last) if last.0 <= first && first <= last.1 => {
                let known = last.1;
                if end <= known {
                    return (0, 0);
                }
                last.1 = end;
                self.total += end - known;
                (end - known, clip(known, end, mark))
            }
            _ => self.insert_elsewhere(first, end, mark),
        }
    }

    /// As [`Ranges::insert`], where `first..end` does not begin in the last range or at its end.
    fn insert_elsewhere(&mut self, first: u64, end: u64, mark: u64) -> (u64, u64) {
        let at = match self.list.back() {
            Some(last) if last.1 < first => self.list.len(),
            _ => self.list.partition_point(|range| range.1 < first),
        };
        match self.list.get(at) {
            Some(range) if range.0 <= first && end <= range.1 => (0, 0),
            Some(range) if range.0 <= end => self.merge(at, (first, end), mark),
            _ => {
                self.list.insert(at, (first, end));
                self.total += end - first;
                (end - first, clip(first, end, mark))
            }
        }
    }

    /// As [`Ranges::insert`]: the ranges from place `from` on that overlap or touch `first..end`,
    /// of which there is one at least, become one with it.
    fn merge(&mut self, from: usize, (first, end): (u64, u64), mark: u64) -> (u64, u64) {
        let (mut fresh, mut below) = (end - first, clip(first, end, mark));
        let (mut to, mut merged) = (from, (first, end));
        while let Some(&(a, b)) = self.list.get(to)
            && a <= end
        {
            let (x, y) = (a.max(first), b.min(end));
            if x < y {
                fresh -= y - x;
                below -= clip(x, y, mark);
            }
            merged = (merged.0.min(a), merged.1.max(b));
            to += 1;
        }
        self.list[from] = merged;
        if to > from + 1 {
            self.list.drain(from + 1..to);
        }
        self.total += fresh;
        (fresh, below)
    }

    /// Remove everything below `number`. How many segments below `mark` went.
    pub(super) fn remove_below(&mut self, number: u64, mark: u64) -> u64 {
        let mut gone = 0;
        while let Some(front) = self.list.front_mut()
            && front.0 < number
        {
            let (first, end) = (front.0, front.1.min(number));
            gone += clip(first, end, mark);
            self.total -= end - first;
            if front.1 > number {
                front.0 = number;
                break;
            }
            self.list.pop_front();
        }
        gone
    }

    /// The range that holds `number`.
    #[inline]
    pub(super) fn holding(&self, number: u64) -> Option<(u64, u64)> {
        // What was sent last is asked for most.
        match self.list.back() {
            Some(&last) if last.0 <= number => (number < last.1).then_some(last),
            _ => self.holding_below(number),
        }
    }

    /// As [`Ranges::holding`], where `number` lies below the last range.
    fn holding_below(&self, number: u64) -> Option<(u64, u64)> {
        let at = self.list.partition_point(|range| range.1 <= number);
        self.list.get(at).copied().filter(|range| range.0 <= number)
    }

    /// The smallest number from `number` on that is not in the set.
    pub(super) fn gap_from(&self, number: u64) -> u64 {
        self.holding(number).map_or(number, |range| range.1)
    }

    /// The `rank`-th highest number in the set, counted from 1; `None` if the set is smaller.
    pub(super) fn nth_highest(&self, rank: u64) -> Option<u64> {
        let mut left = rank;
        for &(first, end) in self.list.iter().rev() {
            if end - first >= left {
                return Some(end - left);
            }
            left -= end - first;
        }
        None
    }
}

/// Returns the number of `first..end` that lie below `mark`.
fn clip(first: u64, end: u64, mark: u64) -> u64 {
    end.min(mark).saturating_sub(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Ranges agree with a plain set of numbers under any mixture of additions and removals: by
        /// them a sender or receiver keeps track of what has arrived.
        #[test]
        fn ranges_are_a_set(
            steps in prop::collection::vec((0u64..60, 1u64..9, any::<bool>()), 1..80),
            mark in 0u64..70,
        ) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (at, length, add) in steps {
                if add {
                    let new: Vec<u64> = (at..at + length).filter(|n| set.insert(*n)).collect();
                    let below = new.iter().filter(|n| **n < mark).count() as u64;
                    let told = ranges.insert(at, at + length, mark);
                    prop_assert_eq!(told, (new.len() as u64, below));
                } else {
                    let gone = set.iter().filter(|n| **n < at.min(mark)).count() as u64;
                    set = set.split_off(&at);
                    prop_assert_eq!(ranges.remove_below(at, mark), gone);
                }
                prop_assert_eq!(ranges.total(), set.len() as u64);
                prop_assert_eq!(ranges.is_empty(), set.is_empty());
                prop_assert!(ranges.iter().flat_map(|(a, b)| a..b).eq(set.iter().copied()));
                let mut pairs = ranges.iter().zip(ranges.iter().skip(1));
                let cold = pairs.all(|(low, high)| low.1 < high.0);
                prop_assert!(cold, "touching ranges were not merged");
                let gap = (at..).find(|n| !set.contains(n)).unwrap();
                prop_assert_eq!(ranges.gap_from(at), gap);
                prop_assert_eq!(ranges.nth_highest(3), set.iter().rev().nth(2).copied());
            }
        }
    }
}
