//! Sets of numbers of packets as sorted, disjoint ranges.

use std::collections::VecDeque;

/// Numbers as half-open ranges: the segments that a receiver holds out of order, or the datagrams
/// that were answered. Work grows with the number of holes, not with that of packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    list: VecDeque<(u64, u64)>,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of ranges.
    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// The ranges, from the lowest.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.list.iter().copied()
    }

    /// Add `number`. Returns true if it is new.
    #[inline]
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        // Most make the last range longer.
        match self.list.back_mut() {
            Some(last) if last.1 == number => {
                last.1 += 1;
                true
            }
            _ => self.insert_elsewhere(number),
        }
    }

    /// As [`Ranges::insert`], where `number` does not follow the last range.
    fn insert_elsewhere(&mut self, number: u64) -> bool {
        let at = self.list.partition_point(|range| range.1 < number);
        let next = self.list.get(at + 1).copied();
        match self.list.get_mut(at) {
            Some(range) if range.0 <= number && number < range.1 => return false,
            Some(range) if range.1 == number => match next {
                Some((first, end)) if first == number + 1 => {
                    range.1 = end;
                    self.list.remove(at + 1);
                }
                _ => range.1 += 1,
            },
            Some(range) if range.0 == number + 1 => range.0 = number,
            _ => self.list.insert(at, (number, number + 1)),
        }
        true
    }

    /// Remove everything below `number`.
    pub(crate) fn remove_below(&mut self, number: u64) {
        while let Some(front) = self.list.front_mut()
            && front.0 < number
        {
            if front.1 > number {
                front.0 = number;
                break;
            }
            self.list.pop_front();
        }
    }

    /// The range that holds `number`.
    #[inline]
    pub(crate) fn holding(&self, number: u64) -> Option<(u64, u64)> {
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
    pub(crate) fn gap_from(&self, number: u64) -> u64 {
        self.holding(number).map_or(number, |range| range.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Ranges agree with a plain set of numbers under any mixture of additions and removals: by
        /// them a receiver keeps track of what has arrived.
        #[test]
        fn ranges_are_a_set(steps in prop::collection::vec((0u64..40, any::<u8>()), 1..200)) {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for (number, choice) in steps {
                if choice < 220 {
                    prop_assert_eq!(ranges.insert(number), set.insert(number));
                } else {
                    set = set.split_off(&number);
                    ranges.remove_below(number);
                }
                prop_assert_eq!(ranges.is_empty(), set.is_empty());
                prop_assert!(ranges.iter().flat_map(|(a, b)| a..b).eq(set.iter().copied()));
                let mut pairs = ranges.iter().zip(ranges.iter().skip(1));
                let apart = pairs.all(|(low, high)| low.1 < high.0);
                prop_assert!(apart, "touching ranges were not merged");
                prop_assert_eq!(ranges.count(), ranges.iter().count());
                let gap = (number..).find(|n| !set.contains(n)).unwrap();
                prop_assert_eq!(ranges.gap_from(number), gap);
            }
        }
    }
}
