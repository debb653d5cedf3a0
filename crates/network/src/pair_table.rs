//! A sparse table by element and route: open addressing with linear probing and multiplicative
//! hashing (Knuth, *The Art of Computer Programming*, vol. 3, section 6.4).
//!
//! A look-up happens at most hops of packets, so it must cost little more than that in a matrix,
//! which for 10,000 elements and 10,000 routes would take a gigabyte. Nothing iterates over the
//! table, so the order of its entries cannot reach a result.

use crate::{ElementId, RouteId};

/// Values by element and route.
#[derive(Clone)]
pub(crate) struct PairTable<V> {
    /// At most a quarter full, so that most lie where they are looked for first; a power of two of
    /// them.
    entries: Vec<Entry<V>>,
    /// Number of bits by which a hash is shifted to become an index.
    shift: u32,
    len: usize,
}

#[derive(Clone, Copy)]
struct Entry<V> {
    /// [`VACANT`] if there is no value.
    key: u64,
    value: V,
}

/// The key of no pair: the greatest number identifies nothing.
const VACANT: u64 = u64::MAX;

/// 2^64 over the golden ratio, odd: spreads consecutive keys (Fibonacci hashing).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl<V: Copy + Default> Default for PairTable<V> {
    fn default() -> Self {
        Self::with_bits(3)
    }
}

impl<V: Copy + Default> PairTable<V> {
    fn with_bits(bits: u32) -> Self {
        let entries = vec![Entry { key: VACANT, value: V::default() }; 1 << bits];
        Self { entries, shift: u64::BITS - bits, len: 0 }
    }

    /// The value of `pair`.
    #[inline(always)]
    pub(crate) fn get(&self, pair: (ElementId, RouteId)) -> Option<&V> {
        let key = key_of(pair);
        // Most entries lie where they are looked for first.
        let first = &self.entries[self.home_of(key)];
        if first.key == key { Some(&first.value) } else { self.get_displaced(key) }
    }

    #[cold]
    fn get_displaced(&self, key: u64) -> Option<&V> {
        let entry = &self.entries[self.place_of(key)];
        (entry.key == key).then_some(&entry.value)
    }

    /// The value of `pair`, mutably.
    pub(crate) fn get_mut(&mut self, pair: (ElementId, RouteId)) -> Option<&mut V> {
        let (key, place) = (key_of(pair), self.place_of(key_of(pair)));
        let entry = &mut self.entries[place];
        (entry.key == key).then_some(&mut entry.value)
    }

    /// Set the value of `pair`; returns the one before.
    pub(crate) fn insert(&mut self, pair: (ElementId, RouteId), value: V) -> Option<V> {
        if 4 * (self.len + 1) > self.entries.len() {
            self.grow();
        }
        let key = key_of(pair);
        let place = self.place_of(key);
        let entry = &mut self.entries[place];
        let replaced = std::mem::replace(entry, Entry { key, value });
        let is_new = replaced.key == VACANT;
        self.len += usize::from(is_new);
        (!is_new).then_some(replaced.value)
    }

    /// Number of pairs with a value.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The place of `key`, or the vacant one where it would be.
    fn place_of(&self, key: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = self.home_of(key);
        loop {
            let held = self.entries[place].key;
            if held == key || held == VACANT {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    /// The first place at which `key` is looked for.
    #[inline(always)]
    fn home_of(&self, key: u64) -> usize {
        (key.wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    fn grow(&mut self) {
        let bits = u64::BITS - self.shift + 1;
        let old = std::mem::replace(self, Self::with_bits(bits));
        for Entry { key, value } in old.entries {
            if key != VACANT {
                let place = self.place_of(key);
                self.entries[place] = Entry { key, value };
                self.len += 1;
            }
        }
    }
}

#[inline(always)]
fn key_of((element, route): (ElementId, RouteId)) -> u64 {
    u64::from(element.number()) << 32 | u64::from(route.number())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn pair(element: usize, route: usize) -> (ElementId, RouteId) {
        (ElementId::new(element), RouteId::new(route))
    }

    /// The table holds what an ordered map of the same pairs does, also after it has grown.
    #[test]
    fn it_holds_what_an_ordered_map_holds() {
        let mut stream = forebay_kernel::Streams::new(1, 0).named("pairs");
        let (mut table, mut map) = (PairTable::default(), BTreeMap::new());
        for value in 0..5000_u32 {
            let pair = pair(stream.below(90) as usize, stream.below(90) as usize);
            assert_eq!(table.insert(pair, value), map.insert(pair, value));
        }
        assert_eq!(table.len(), map.len());
        for element in 0..91 {
            for route in 0..91 {
                let pair = pair(element, route);
                assert_eq!(table.get(pair), map.get(&pair));
            }
        }
    }

    /// Consecutive pairs, which are the usual ones, do not lie in one another's way: networks of
    /// many routes are fast to build and to run.
    #[test]
    fn consecutive_pairs_are_found_at_once() {
        let mut table = PairTable::default();
        let pairs = (0..100).flat_map(|element| (0..1000).map(move |route| pair(element, route)));
        pairs.clone().for_each(|pair| assert_eq!(table.insert(pair, ()), None));
        let length = table.entries.len();
        let steps =
            |pair| (table.place_of(key_of(pair)) + length - table.home_of(key_of(pair))) % length;
        let total: usize = pairs.clone().map(steps).sum();
        // Linear probing at load a takes (1 + 1/(1 - a))/2 - 1 steps past the first on average:
        // 1/6 at one quarter (Knuth, section 6.4, Theorem K).
        assert!(total <= pairs.count() / 6, "{total} steps");
    }
}
