//! Ring buffer (circular queue) of plain data: Knuth, *The Art of Computer Programming*, vol. 1,
//! section 2.2.2.

/// A first-in, first-out queue in one block of memory whose length is a power of two.
///
/// Does what the standard library's `VecDeque` does, for data that is copied: slots are indexed by
/// a mask instead of a comparison, which makes a difference in the innermost loops of a simulation.
#[derive(Clone, Debug)]
pub struct RingBuffer<T> {
    slots: Vec<T>,
    /// Index of the first value, before the mask.
    head: usize,
    len: usize,
}

/// Decision on a value that [`RingBuffer::forward_into`] offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forward {
    /// It is kept, and so are all values behind it.
    Keep,
    /// It is moved to the other buffer.
    Move,
    /// It is removed and not moved.
    Drop,
}

impl<T> Default for RingBuffer<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), head: 0, len: 0 }
    }
}

impl<T: Copy> RingBuffer<T> {
    /// An empty buffer with room for a few values; free slots hold `filling` meanwhile.
    #[must_use]
    pub fn with_room(filling: T) -> Self {
        Self { slots: vec![filling; 4], head: 0, len: 0 }
    }

    /// Number of values.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if it holds no values.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot of the value at `index`, counted from the first.
    #[inline(always)]
    fn slot(&self, index: usize) -> usize {
        self.head.wrapping_add(index) & self.slots.len().wrapping_sub(1)
    }

    /// The first value.
    #[inline(always)]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// The last value.
    #[inline(always)]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        self.len.checked_sub(1).and_then(|last| self.get(last))
    }

    /// The value with `index` others before it.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len { self.slots.get(self.slot(index)) } else { None }
    }

    /// The slot behind the first: the second value, or some old one if there is none.
    ///
    /// # Panics
    /// If the buffer never had room for a value.
    #[inline(always)]
    #[must_use]
    pub fn peek_second(&self) -> &T {
        &self.slots[self.slot(1)]
    }

    /// Number of values that can be appended without growing.
    #[inline(always)]
    #[must_use]
    pub fn room(&self) -> usize {
        self.slots.len() - self.len
    }

    /// Append `value`.
    #[inline(always)]
    pub fn push_back(&mut self, value: T) {
        if self.room() == 0 {
            self.grow_for(value);
            return;
        }
        let slot = self.slot(self.len);
        self.slots[slot] = value;
        self.len += 1;
    }

    /// Append `value`, for which there is [room](RingBuffer::room).
    #[inline(always)]
    pub fn push_into_room(&mut self, value: T) {
        debug_assert!(self.room() > 0, "no room");
        let slot = self.slot(self.len);
        self.slots[slot] = value;
        self.len += 1;
    }

    /// Double the capacity of a full buffer.
    pub fn grow(&mut self) {
        let filling = *self.front().expect("a full buffer holds a value");
        self.grow_for(filling);
        self.len -= 1;
    }

    /// Remove the first value, which can be read in its slot until the next change.
    ///
    /// # Panics
    /// If the buffer is empty.
    #[inline(always)]
    pub fn pop_front(&mut self) -> &T {
        assert!(self.len > 0, "the buffer is empty");
        let slot = self.slot(0);
        self.len -= 1;
        self.head = self.advanced(1);
        &self.slots[slot]
    }

    /// Remove the first value if `goes`, in which case there must be one. Takes no branch.
    #[inline(always)]
    pub fn pop_front_if(&mut self, goes: bool) {
        debug_assert!(self.len > 0 || !goes, "the buffer is empty");
        self.head = self.head.wrapping_add(usize::from(goes));
        self.len -= usize::from(goes);
    }

    /// The first slot: the first value, or some old one if there is none.
    ///
    /// # Panics
    /// If the buffer never had room for a value.
    #[inline(always)]
    #[must_use]
    pub fn first_place(&self) -> &T {
        &self.slots[self.slot(0)]
    }

    /// Remove values in order: `transfer` writes each into the next slot of `to`, or drops it.
    /// Stops when `to` holds `limit` values or has no room left, or when `transfer` keeps a value.
    /// Returns how many were removed.
    #[inline(always)]
    pub fn forward_into(
        &mut self,
        to: &mut Self,
        limit: usize,
        mut transfer: impl FnMut(&T, &mut T) -> Forward,
    ) -> usize {
        let before = self.len;
        while self.forward_slice(to, limit, &mut transfer) {}
        self.head = self.advanced(0);
        before - self.len
    }

    /// The index of the first value after `count` were removed. A buffer begins anew whenever it is
    /// empty, so that a short queue stays in its cache lines.
    #[inline(always)]
    fn advanced(&self, count: usize) -> usize {
        if self.len == 0 { 0 } else { self.head.wrapping_add(count) }
    }

    /// As [`RingBuffer::forward_into`], for the slots that are contiguous in both buffers, so that
    /// they need not be indexed one by one. Returns whether there may be more to remove.
    #[inline(always)]
    fn forward_slice(
        &mut self,
        to: &mut Self,
        limit: usize,
        transfer: &mut impl FnMut(&T, &mut T) -> Forward,
    ) -> bool {
        let (start, free) = (self.slot(0), to.slot(to.len));
        let from = &self.slots[start..(start + self.len).min(self.slots.len())];
        let room = to.room().min(limit.saturating_sub(to.len));
        let end = (free + room).min(to.slots.len());
        let into = &mut to.slots[free..end];
        if from.is_empty() || into.is_empty() {
            return false;
        }
        let (mut moved, mut last) = (0, Forward::Move);
        let mut slots = into.iter_mut();
        // Zipped slices would be indexed, which costs more.
        for value in from {
            let Some(slot) = slots.next() else { break };
            last = transfer(value, slot);
            if last != Forward::Move {
                break;
            }
            moved += 1;
        }
        let removed = moved + usize::from(last == Forward::Drop);
        self.head = self.head.wrapping_add(removed);
        self.len -= removed;
        to.len += moved;
        last != Forward::Keep
    }

    /// Remove the first `count` values.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn skip(&mut self, count: usize) {
        assert!(count <= self.len, "the buffer holds fewer values");
        self.len -= count;
        self.head = self.advanced(count);
    }

    /// Remove the value with `index` others before it; those behind it move up.
    pub fn remove(&mut self, index: usize) -> Option<T> {
        let found = *self.get(index)?;
        for behind in index + 1..self.len {
            let (to, from) = (self.slot(behind - 1), self.slot(behind));
            self.slots[to] = self.slots[from];
        }
        self.len -= 1;
        Some(found)
    }

    /// Shrink an empty buffer to at most `slots` slots, a power of two; leaves any other as it is.
    pub fn narrow(&mut self, slots: usize) {
        if self.is_empty() {
            self.slots.truncate(slots);
            self.head = 0;
        }
    }

    /// All values in order, as two slices, each contiguous in memory.
    #[inline]
    #[must_use]
    pub fn as_slices(&self) -> [&[T]; 2] {
        let start = self.slot(0);
        let end = (start + self.len).min(self.slots.len());
        [&self.slots[start..end], &self.slots[..self.len - (end - start)]]
    }

    /// All values in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (0..self.len).map(|index| &self.slots[self.slot(index)])
    }

    /// All values in order, mutably.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (start, end) = (self.slot(0), self.slot(0) + self.len);
        let (low, high) = self.slots.split_at_mut(start);
        let before_wrap = self.len.min(high.len());
        let wrapped = end.saturating_sub(start + high.len());
        high[..before_wrap].iter_mut().chain(&mut low[..wrapped])
    }

    /// Move all values of `other` to the end. There is room for one more afterwards, unless `other`
    /// was empty.
    pub fn append(&mut self, other: &mut Self) {
        let Some(filling) = other.front() else { return };
        if self.room() <= other.len {
            self.widen(self.len + other.len + 1, *filling);
        }
        other.forward_into(self, usize::MAX, |value, slot| {
            *slot = *value;
            Forward::Move
        });
    }

    /// Double the capacity and append `value`, which also fills the new slots.
    #[cold]
    #[inline(never)]
    fn grow_for(&mut self, value: T) {
        self.widen((2 * self.len).max(4), value);
        self.len += 1;
    }

    /// Grow to at least `slots` slots, rounded up to a power of two; new ones hold `filling`.
    #[cold]
    fn widen(&mut self, slots: usize, filling: T) {
        let all: Vec<T> = self.iter().copied().collect();
        self.slots = all;
        self.head = 0;
        self.slots.resize(slots.next_power_of_two(), filling);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;
    use std::collections::VecDeque;

    /// A ring buffer holds what a queue of the standard library does, also where it wraps around:
    /// packets are neither reordered nor lost.
    #[test]
    fn it_is_a_queue() {
        let mut stream = Streams::new(5, 0).named("ring");
        let (mut buffer, mut queue) = (RingBuffer::with_room(0), VecDeque::new());
        assert!(buffer.is_empty() && buffer.room() > 0);
        for number in 0..20_000_u64 {
            // Phases that mostly fill the buffer alternate with phases that mostly empty it.
            let filling = (number / 700).is_multiple_of(2);
            if stream.happens(if filling { 0.6 } else { 0.4 }) {
                match buffer.room() {
                    // In one step or in two.
                    0 if number % 2 == 0 => {
                        buffer.grow();
                        buffer.push_into_room(number);
                    }
                    1.. if number % 2 == 0 => buffer.push_into_room(number),
                    _ => buffer.push_back(number),
                }
                queue.push_back(number);
            } else if queue.len() > 3 && number % 7 == 0 {
                buffer.skip(3);
                queue.drain(..3);
            } else if queue.pop_front().is_some() {
                if number % 3 == 0 {
                    buffer.pop_front_if(true);
                } else {
                    buffer.pop_front();
                }
            }
            let index = stream.below(400) as usize;
            assert_eq!(buffer.remove(index), queue.remove(index));
            buffer.narrow(16);
            assert_eq!((buffer.len(), buffer.is_empty()), (queue.len(), queue.is_empty()));
            assert_eq!((buffer.front(), buffer.get(3)), (queue.front(), queue.get(3)));
            assert_eq!(buffer.get(queue.len()), None);
            assert!(queue.is_empty() || Some(buffer.first_place()) == queue.front());
            buffer.pop_front_if(false);
            assert!(queue.len() < 2 || Some(buffer.peek_second()) == queue.get(1));
            assert!(buffer.iter().rev().eq(queue.iter().rev()));
            assert!(buffer.as_slices().concat().iter().eq(&queue));
            buffer.iter_mut().chain(&mut queue).for_each(|value| *value += 1);
            assert!(buffer.iter().eq(&queue));
            if number % 500 == 0 {
                let (mut more, mut others) = (buffer.clone(), queue.clone());
                buffer.append(&mut more);
                queue.append(&mut others);
                assert!(more.is_empty() && buffer.room() > 0 && buffer.iter().eq(&queue));
            }
        }
    }

    /// Values are forwarded in order, as many at once as there is room for, until one is kept: none
    /// is lost, and one that has to wait is not overtaken.
    #[test]
    fn values_are_forwarded_in_order_until_one_is_kept() {
        let (mut from, mut to) = (RingBuffer::default(), RingBuffer::default());
        (0..6).for_each(|number| to.push_back(number));
        for _ in 0..6 {
            to.pop_front();
        }
        (0..20).for_each(|number| from.push_back(number));
        let mut transfer = |value: &u64, slot: &mut u64| {
            *slot = 100 + value;
            match value {
                2 => Forward::Drop,
                5 => Forward::Keep,
                _ => Forward::Move,
            }
        };
        assert_eq!(from.forward_into(&mut to, 6, &mut transfer), 5);
        assert!(to.iter().eq(&[100, 101, 103, 104]));
        assert_eq!(from.pop_front(), &5);
        assert_eq!(from.forward_into(&mut to, 6, &mut transfer), 2);
        // Eight slots, six of which are occupied.
        assert_eq!(from.forward_into(&mut to, 20, &mut transfer), 2);
        assert!(to.iter().eq(&[100, 101, 103, 104, 106, 107, 108, 109]));
        assert_eq!((from.len(), from.front()), (10, Some(&10)));
        assert_eq!(from.forward_into(&mut to, 20, &mut transfer), 0);
    }
}
