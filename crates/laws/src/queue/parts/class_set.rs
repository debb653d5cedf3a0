//! Sets of classes, a bit each.

/// Classes of each word of a set.
const WORD: usize = u64::BITS as usize;

/// A set of the classes of a scheduler. Up to 64 need no memory beside its own.
#[derive(Clone, Default)]
pub struct ClassSet {
    first: u64,
    /// Words of the classes from 64 on.
    others: Vec<u64>,
    /// A bit for each of these that is not empty: few classes of very many are found at once.
    nonempty: Vec<u64>,
}

impl ClassSet {
    /// An empty set of some of `classes` classes.
    pub(in crate::queue) fn among(classes: usize) -> Self {
        let others = classes.saturating_sub(1) / WORD;
        Self { first: 0, others: vec![0; others], nonempty: vec![0; others.div_ceil(WORD)] }
    }

    /// The first `classes` classes.
    #[cfg(test)]
    pub(in crate::queue) fn all(classes: usize) -> Self {
        let mut all = Self::among(classes);
        (0..classes).for_each(|class| all.insert(class));
        all
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
        if class < WORD {
            self.first |= 1 << class;
        } else {
            let at = class / WORD - 1;
            self.others[at] |= 1 << (class % WORD);
            self.nonempty[at / WORD] |= 1 << (at % WORD);
        }
    }

    #[inline(always)]
    pub(in crate::queue) fn remove(&mut self, class: usize) {
        if class < WORD {
            self.first &= !(1 << class);
        } else {
            let at = class / WORD - 1;
            self.others[at] &= !(1 << (class % WORD));
            let empty = u64::from(self.others[at] == 0);
            self.nonempty[at / WORD] &= !(empty << (at % WORD));
        }
    }

    #[inline(always)]
    pub(in crate::queue) fn is_empty(&self) -> bool {
        self.first == 0 && self.nonempty.iter().all(|word| *word == 0)
    }

    /// The first word behind word `at` in which this set or `other`, among as many, has classes.
    #[inline]
    pub(in crate::queue) fn next_word(&self, other: &Self, at: usize) -> Option<usize> {
        let (mut group, first) = (at / WORD, at % WORD);
        let mut mask = u64::MAX << first;
        while let (Some(mine), Some(others)) = (self.nonempty.get(group), other.nonempty.get(group))
        {
            let found = (mine | others) & mask;
            if found != 0 {
                return Some(group * WORD + found.trailing_zeros() as usize + 1);
            }
            (group, mask) = (group + 1, u64::MAX);
        }
        None
    }

    /// The classes, in the order of their numbers.
    #[inline]
    pub(in crate::queue) fn iter(&self) -> Classes<'_> {
        Classes { bits: self.first, word: 0, set: self }
    }

    /// The classes from `class` on, in the order of their numbers.
    #[inline]
    pub(in crate::queue) fn iter_from(&self, class: usize) -> Classes<'_> {
        let word = class / WORD;
        let bits = self.word(word).unwrap_or_default() & u64::MAX << (class % WORD);
        Classes { bits, word, set: self }
    }
}

/// The classes of a set, in the order of their numbers.
pub struct Classes<'s> {
    bits: u64,
    word: usize,
    set: &'s ClassSet,
}

impl Iterator for Classes<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.word = self.set.next_word(self.set, self.word)?;
            self.bits = self.set.word(self.word)?;
        }
        let class = self.word * WORD + self.bits.trailing_zeros() as usize;
        self.bits &= self.bits - 1;
        Some(class)
    }
}

/// The numbers of the bits of word `at` of sets.
pub(in crate::queue) fn classes_of(at: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let class = at * WORD + bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            class
        })
    })
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
        assert_eq!(set.iter_from(64).collect::<Vec<_>>(), [64, 128, 199]);
        set.remove(64);
        assert!(set.contains(63) && !set.contains(64) && !set.contains(127));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 128, 199]);
        [0, 63, 128, 199].into_iter().for_each(|class| set.remove(class));
        assert!(set.is_empty());
        assert_eq!(classes_of(1, 0b101).collect::<Vec<_>>(), [64, 66]);
    }

    /// Few classes are found among very many, and words in which neither of two sets has any are
    /// skipped: words 0, 1, 65 and 156 hold classes 0 to 63, from 64, 4160 and 9984 on.
    #[test]
    fn few_classes_are_found_among_many() {
        let (mut set, mut other) = (ClassSet::among(10_000), ClassSet::among(10_000));
        [64, 4160, 9999].into_iter().for_each(|class| set.insert(class));
        other.insert(4223);
        other.insert(9983);
        let words = |set: &ClassSet, other: &ClassSet| {
            std::iter::successors(Some(0), |at| set.next_word(other, *at)).collect::<Vec<_>>()
        };
        assert_eq!(words(&set, &other), [0, 1, 65, 155, 156]);
        assert_eq!(words(&set, &set), [0, 1, 65, 156]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [64, 4160, 9999]);
        assert_eq!(set.iter_from(4161).collect::<Vec<_>>(), [9999]);
        [64, 4160, 9999].into_iter().for_each(|class| set.remove(class));
        assert!(set.is_empty() && set.iter().next().is_none());
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
