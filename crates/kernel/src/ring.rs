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

/// What becomes of a value that [`Ring::pass_into`] shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// It stays, and so does whatever is behind it.
    Stays,
    /// It goes into the other ring.
    Goes,
    /// It goes nowhere.
    Ends,
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

    /// The last.
    #[inline(always)]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        self.len.checked_sub(1).and_then(|last| self.get(last))
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

    /// Take the first away if it `goes`, which is chosen without a jump. There is one, then.
    #[inline(always)]
    pub fn pop_front_if(&mut self, goes: bool) {
        debug_assert!(self.len > 0 || !goes, "nothing to take away");
        self.first = self.first.wrapping_add(usize::from(goes));
        self.len -= usize::from(goes);
    }

    /// What stands in the first place: the first, or some old value if there is none.
    ///
    /// # Panics
    /// If nothing was ever appended.
    #[inline(always)]
    #[must_use]
    pub fn first_place(&self) -> &T {
        &self.places[self.place(0)]
    }

    /// Take values away, the first first, which go into `to` as `pass` writes them, or end: until
    /// `to` holds `most`, has no room left, or `pass` lets one stay. How many were taken.
    #[inline(always)]
    pub fn pass_into(
        &mut self,
        to: &mut Self,
        most: usize,
        mut pass: impl FnMut(&T, &mut T) -> Passing,
    ) -> usize {
        let before = self.len;
        while self.pass_stretch(to, most, &mut pass) {}
        before - self.len
    }

    /// As [`Ring::pass_into`], as far as memory goes on in both: then places need not be found one
    /// by one. Whether there may be more.
    #[inline(always)]
    fn pass_stretch(
        &mut self,
        to: &mut Self,
        most: usize,
        pass: &mut impl FnMut(&T, &mut T) -> Passing,
    ) -> bool {
        let (start, place) = (self.place(0), to.place(to.len));
        let from = &self.places[start..(start + self.len).min(self.places.len())];
        let room = to.room().min(most.saturating_sub(to.len));
        let end = (place + room).min(to.places.len());
        let into = &mut to.places[place..end];
        if from.is_empty() || into.is_empty() {
            return false;
        }
        let (mut went, mut last) = (0, Passing::Goes);
        let mut places = into.iter_mut();
        // Both side by side would be found by their index, which costs more.
        for value in from {
            let Some(place) = places.next() else { break };
            last = pass(value, place);
            if last != Passing::Goes {
                break;
            }
            went += 1;
        }
        let taken = went + usize::from(last == Passing::Ends);
        self.first = self.first.wrapping_add(taken);
        self.len -= taken;
        to.len += went;
        last != Passing::Stays
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

    /// Take the one with `index` others before it out of the middle: those behind it move up.
    pub fn remove(&mut self, index: usize) -> Option<T> {
        let found = *self.get(index)?;
        for behind in index + 1..self.len {
            let (to, from) = (self.place(behind - 1), self.place(behind));
            self.places[to] = self.places[from];
        }
        self.len -= 1;
        Some(found)
    }

    /// Have at most so many places, a power of two, if it is empty.
    pub fn narrow(&mut self, places: usize) {
        if self.is_empty() {
            self.places.truncate(places);
            self.first = 0;
        }
    }

    /// All, the first first, in two stretches: memory goes on within each.
    #[inline]
    #[must_use]
    pub fn stretches(&self) -> [&[T]; 2] {
        let start = self.place(0);
        let end = (start + self.len).min(self.places.len());
        [&self.places[start..end], &self.places[..self.len - (end - start)]]
    }

    /// All, the first first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (0..self.len).map(|index| &self.places[self.place(index)])
    }

    /// All, the first first, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (start, end) = (self.place(0), self.place(0) + self.len);
        let (behind, from) = self.places.split_at_mut(start);
        let ahead = self.len.min(from.len());
        let closed = end.saturating_sub(start + from.len());
        from[..ahead].iter_mut().chain(&mut behind[..closed])
    }

    /// Append all of `other`, which is empty then. There is room for one more afterwards.
    pub fn append(&mut self, other: &mut Self) {
        let Some(filling) = other.front() else { return };
        if self.room() <= other.len {
            self.widen(self.len + other.len + 1, *filling);
        }
        other.pass_into(self, usize::MAX, |value, place| {
            *place = *value;
            Passing::Goes
        });
    }

    /// Double the places and append `value`, which stands in the new ones.
    #[cold]
    #[inline(never)]
    fn grow_for(&mut self, value: T) {
        self.widen((2 * self.len).max(4), value);
        self.len += 1;
    }

    /// Have as many places, or a few more: `filling` stands in the new ones.
    #[cold]
    fn widen(&mut self, places: usize, filling: T) {
        let all: Vec<T> = self.iter().copied().collect();
        self.places = all;
        self.first = 0;
        self.places.resize(places.next_power_of_two(), filling);
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
                if number % 3 == 0 {
                    ring.pop_front_if(true);
                } else {
                    ring.pop_front();
                }
            }
            let place = stream.below(400) as usize;
            assert_eq!(ring.remove(place), queue.remove(place));
            ring.narrow(16);
            assert_eq!((ring.len(), ring.is_empty()), (queue.len(), queue.is_empty()));
            assert_eq!((ring.front(), ring.get(3)), (queue.front(), queue.get(3)));
            assert_eq!(ring.get(queue.len()), None);
            assert!(queue.is_empty() || Some(ring.first_place()) == queue.front());
            ring.pop_front_if(false);
            assert!(queue.len() < 2 || Some(ring.behind_first()) == queue.get(1));
            assert!(ring.iter().rev().eq(queue.iter().rev()));
            assert!(ring.stretches().concat().iter().eq(&queue));
            ring.iter_mut().chain(&mut queue).for_each(|value| *value += 1);
            assert!(ring.iter().eq(&queue));
            if number % 500 == 0 {
                let (mut more, mut others) = (ring.clone(), queue.clone());
                ring.append(&mut more);
                queue.append(&mut others);
                assert!(more.is_empty() && ring.room() > 0 && ring.iter().eq(&queue));
            }
        }
    }

    /// Otherwise packets would be lost or change places where many pass at once, or one that has to
    /// wait would be overtaken.
    #[test]
    fn what_passes_goes_in_order_until_something_stays() {
        let (mut from, mut to) = (Ring::default(), Ring::default());
        (0..6).for_each(|number| to.push_back(number));
        for _ in 0..6 {
            to.pop_front();
        }
        (0..20).for_each(|number| from.push_back(number));
        let mut rest = |value: &u64, place: &mut u64| {
            *place = 100 + value;
            match value {
                2 => Passing::Ends,
                5 => Passing::Stays,
                _ => Passing::Goes,
            }
        };
        assert_eq!(from.pass_into(&mut to, 6, &mut rest), 5);
        assert!(to.iter().eq(&[100, 101, 103, 104]));
        assert_eq!(from.pop_front(), &5);
        assert_eq!(from.pass_into(&mut to, 6, &mut rest), 2);
        // Eight places, of which six are taken.
        assert_eq!(from.pass_into(&mut to, 20, &mut rest), 2);
        assert!(to.iter().eq(&[100, 101, 103, 104, 106, 107, 108, 109]));
        assert_eq!((from.len(), from.front()), (10, Some(&10)));
        assert_eq!(from.pass_into(&mut to, 20, &mut rest), 0);
    }
}
