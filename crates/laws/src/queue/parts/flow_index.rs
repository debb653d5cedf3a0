//! Places of those queues of flows that are in use, by their numbers.

/// No queue.
const NONE: u32 = u32::MAX;

/// Entries of the first table.
const FIRST_ENTRIES: usize = 8;

/// A hash table with linear probing. It is at most half full, until it has an entry for each queue
/// there could be. Numbers of queues are evenly distributed themselves: they are their own hash.
pub(in crate::queue) struct FlowIndex {
    /// A power of two of them, or none.
    entries: Vec<Entry>,
    used: usize,
    /// Number of queues there could be.
    queues: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    queue: u32,
    place: u32,
}

impl FlowIndex {
    const FREE: Entry = Entry { queue: NONE, place: NONE };

    /// An index of some of `queues` queues, of which none is in use.
    pub(in crate::queue) fn new(queues: u32) -> Self {
        Self { entries: Vec::new(), used: 0, queues }
    }

    /// Returns the number of queues there could be.
    #[inline]
    pub(in crate::queue) fn queues(&self) -> u32 {
        self.queues
    }

    /// The place of `queue`, if it is in use.
    #[inline]
    pub(in crate::queue) fn place(&self, queue: u32) -> Option<u32> {
        let last = self.entries.len().wrapping_sub(1);
        let mut at = queue as usize & last;
        loop {
            let entry = self.entries.get(at)?;
            if entry.queue == queue {
                return Some(entry.place);
            }
            if entry.queue == NONE {
                return None;
            }
            at = (at + 1) & last;
        }
    }

    /// Note the place of `queue`, which has none so far.
    pub(in crate::queue) fn insert(&mut self, queue: u32, place: u32) {
        self.used += 1;
        let length = self.entries.len();
        if length < self.queues as usize && 2 * self.used > length {
            let larger = vec![Self::FREE; FIRST_ENTRIES.max(2 * length)];
            for entry in std::mem::replace(&mut self.entries, larger) {
                if entry.queue != NONE {
                    self.put(entry);
                }
            }
        }
        self.put(Entry { queue, place });
    }

    fn put(&mut self, entry: Entry) {
        let last = self.entries.len() - 1;
        let mut at = entry.queue as usize & last;
        while self.entries[at].queue != NONE {
            at = (at + 1) & last;
        }
        self.entries[at] = entry;
    }

    /// The queues in use and their places, in no order.
    pub(in crate::queue) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let used = self.entries.iter().filter(|entry| entry.queue != NONE);
        used.map(|entry| (entry.queue, entry.place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each queue has its own place, up to the last of them: an index is a map, whatever the number
    /// of queues and the order in which they come into use.
    #[test]
    fn an_index_is_a_map() {
        let stream = &mut forebay_kernel::Streams::new(1, 0).named("index");
        for queues in [1, 7, 8, 100, 1024, 65_536] {
            let mut index = FlowIndex::new(queues);
            let mut places = vec![None; queues as usize];
            let mut used = 0;
            for draw in 0..4 * queues {
                // At the end all that have not been drawn.
                let queue = if draw < 3 * queues {
                    stream.below(u64::from(queues)) as u32
                } else {
                    draw - 3 * queues
                };
                assert_eq!(index.place(queue), places[queue as usize]);
                if places[queue as usize].is_none() {
                    index.insert(queue, used);
                    places[queue as usize] = Some(used);
                    used += 1;
                }
            }
            let mut all: Vec<_> = index.iter().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq((0..queues).map(|at| (at, places[at as usize].unwrap()))));
        }
    }

    /// An index grows with the queues in use, as most links have few flows.
    #[test]
    fn an_index_is_as_large_as_it_is_used() {
        let mut index = FlowIndex::new(1024);
        assert_eq!(index.entries.len(), 0);
        (0..20).for_each(|flow| index.insert(50 * flow, flow));
        assert_eq!(index.entries.len(), 64, "the power of two above twice 20");
    }
}
