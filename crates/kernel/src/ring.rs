//! A queue of plain data in a ring.

/// First in, first out, in one block of memory whose length is a power of two.
///
/// What the standard library's `VecDeque` does, for data that is copied: places are found by a mask
/// instead of a comparison, which the innermost loops of a simulation notice.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    places: Vec<T>,
    /// Where the first stands, before the mask.
    first: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), first: 0, len: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// An empty ring with room for a few, which hold `filling` meanwhile.
    #[must_use]
    pub fn with_room(filling: T) -> Self {
        Self { places: vec![filling; 4], first: 0, len: 0 }
    }

    /// How many it holds.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds nothing.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        self.first.wrapping_add(index) & self.places.len().wrapping_sub(1)
    }

    /// The first.
    #[inline(always)]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// The one with `index` others before it.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len { self.places.get(self.place(index)) } else { None }
    }

    /// What stands in the place behind the first: the second, or some old value if there is none.
    ///
    /// # Panics
    /// If nothing was ever appended.
    #[inline(always)]
    #[must_use]
    pub fn behind_first(&self) -> &T {
        &self.places[self.place(1)]
    }

    /// How many can be appended without more room being made.
    #[inline(always)]
    #[must_use]
    pub fn room(&self) -> usize {
        self.places.len() - self.len
    }

    /// Append `value`.
    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.room() == 0 {
            self.grow_for(value);
            return;
        }
        let place = self.place(self.len);
        self.places[place] = value;
        self.len += 1;
    }

    /// Append `value`, for which there is [room](Ring::room).
    #[inline(always)]
    pub fn push_into_room(&mut self, value: T) {
        debug_assert!(self.room() > 0, "no room");
        let place = self.place(self.len);
        self.places[place] = value;
        self.len += 1;
    }

    /// Double the room of a ring that is full.
    pub fn grow(&mut self) {
        let filling = *self.front().expect("what is full holds something");
        self.grow_for(filling);
        self.len -= 1;
    }

    /// Take the first away, which can be read in its place until the next change.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn pop_front(&mut self) -> &T {
        assert!(self.len > 0, "nothing to take away");
        let place = self.place(0);
        self.first = self.first.wrapping_add(1);
        self.len -= 1;
        &self.places[place]
    }

    /// Take the first `count` away.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn skip(&mut self, count: usize) {
        assert!(count <= self.len, "nothing to take away");
        self.first = self.first.wrapping_add(count);
        self.len -= count;
    }

    /// Have at most so many places, a power of two, if it is empty.
    pub fn narrow(&mut self, places: usize) {
        if self.is_empty() {
            self.places.truncate(places);
            self.first = 0;
        }
    }

    /// All, the first first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (0..self.len).map(|index| &self.places[self.place(index)])
    }

    /// Double the places and append `value`, which stands in the new ones.
    #[cold]
    #[inline(never)]
    fn grow_for(&mut self, value: T) {
        let all: Vec<T> = self.iter().copied().collect();
        self.places = all;
        self.first = 0;
        self.places.resize((2 * self.len).max(4), value);
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;
    use std::collections::VecDeque;

    /// Otherwise packets would change places in a queue, or get lost where the ring closes.
    #[test]
    fn it_is_a_queue() {
        let mut stream = Streams::new(5, 0).named("ring");
        let (mut ring, mut queue) = (Ring::with_room(0), VecDeque::new());
        assert!(ring.is_empty() && ring.room() > 0);
        for number in 0..20_000_u64 {
            // In phases that fill it and phases that empty it.
            let filling = (number / 700).is_multiple_of(2);
            if stream.happens(if filling { 0.6 } else { 0.4 }) {
                match ring.room() {
                    // In one step or in two.
                    0 if number % 2 == 0 => {
                        ring.grow();
                        ring.push_into_room(number);
                    }
                    1.. if number % 2 == 0 => ring.push_into_room(number),
                    _ => ring.push_back(number),
                }
                queue.push_back(number);
            } else if queue.len() > 3 && number % 7 == 0 {
                ring.skip(3);
                queue.drain(..3);
            } else if queue.pop_front().is_some() {
                ring.pop_front();
            }
            ring.narrow(16);
            assert_eq!((ring.len(), ring.is_empty()), (queue.len(), queue.is_empty()));
            assert_eq!((ring.front(), ring.get(3)), (queue.front(), queue.get(3)));
            assert_eq!(ring.get(queue.len()), None);
            assert!(queue.len() < 2 || Some(ring.behind_first()) == queue.get(1));
            assert!(ring.iter().rev().eq(queue.iter().rev()));
        }
    }
}
