//! Sets of classes, a bit each.

use std::slice::Iter;

/// Classes of each word of a set.
const WORD: usize = u64::BITS as usize;

/// A set of the classes of a scheduler. Up to 64 need no memory beside its own.
#[derive(Clone, Default)]
pub struct ClassSet {
    first: u64,
    /// Words of the classes from 64 on.
    others: Vec<u64>,
}

impl ClassSet {
    /// An empty set of some of `classes` classes.
    pub(in crate::queue) fn among(classes: usize) -> Self {
        Self { first: 0, others: vec![0; classes.saturating_sub(1) / WORD] }
    }

    /// The first `classes` classes.
    #[cfg(test)]
    pub(in crate::queue) fn all(classes: usize) -> Self {
        let mut all = Self::among(classes);
        (0..classes).for_each(|class| all.insert(class));
        all
    }

    /// The word with the bit of `class`, and that bit.
    #[inline(always)]
    fn word_of(&mut self, class: usize) -> (&mut u64, u64) {
        let bit = 1 << (class % WORD);
        if class < WORD {
            (&mut self.first, bit)
        } else {
            (&mut self.others[class / WORD - 1], bit)
        }
    }

    /// Word `at` of the set, if it has so many.
    #[inline(always)]
    pub(in crate::queue) fn word(&self, at: usize) -> Option<u64> {
        if at == 0 { Some(self.first) } else { self.others.get(at - 1).copied() }
    }

    #[inline(always)]
    pub(in crate::queue) fn contains(&self, class: usize) -> bool {
        self.word(class / WORD).is_some_and(|word| word >> (class % WORD) & 1 == 1)
    }

    #[inline(always)]
    pub(in crate::queue) fn insert(&mut self, class: usize) {
        let (word, bit) = self.word_of(class);
        *word |= bit;
    }

    #[inline(always)]
    pub(in crate::queue) fn remove(&mut self, class: usize) {
        let (word, bit) = self.word_of(class);
        *word &= !bit;
    }

    #[inline(always)]
    pub(in crate::queue) fn is_empty(&self) -> bool {
        self.first == 0 && self.others.iter().all(|word| *word == 0)
    }

    /// The classes, in the order of their numbers.
    #[inline]
    pub(in crate::queue) fn iter(&self) -> Classes<'_> {
        Classes { bits: self.first, base: 0, others: self.others.iter() }
    }
}

/// The classes of a set, in the order of their numbers.
pub struct Classes<'s> {
    bits: u64,
    base: usize,
    others: Iter<'s, u64>,
}

impl Iterator for Classes<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.bits = *self.others.next()?;
            self.base += WORD;
        }
        let class = self.base + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(class)
    }
}

/// The numbers of the bits of word `at` of sets.
pub(in crate::queue) fn classes_of(at: usize, bits: u64) -> Classes<'static> {
    Classes { bits, base: at * WORD, others: [].iter() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A set holds what was put into it, in the order of numbers, on both sides of the ends of its
    /// words.
    #[test]
    fn a_set_holds_what_was_put_into_it() {
        let mut set = ClassSet::among(200);
        assert!(set.is_empty());
        for class in [199, 64, 0, 63, 128] {
            set.insert(class);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 128, 199]);
        set.remove(64);
        assert!(set.contains(63) && !set.contains(64) && !set.contains(127));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 128, 199]);
        [0, 63, 128, 199].into_iter().for_each(|class| set.remove(class));
        assert!(set.is_empty());
        assert_eq!(classes_of(1, 0b101).collect::<Vec<_>>(), [64, 66]);
    }

    /// Sets of up to 64 classes take no memory beside their own: most schedulers have few.
    #[test]
    fn up_to_64_classes_need_one_word() {
        assert_eq!(
            [1, 64, 65, 128, 129].map(|classes| ClassSet::among(classes).others.len()),
            [0, 0, 1, 1, 2]
        );
    }
}
