//! Values of segments by number.

use std::ops::{Index, IndexMut};

/// One value of each outstanding segment, in a slot that the low bits of its number tell: the
/// number of slots is a power of two.
#[derive(Debug)]
pub(in super::super) struct ByNumber<T> {
    slots: Vec<T>,
}

impl<T: Copy> ByNumber<T> {
    pub(in super::super) const fn new() -> Self {
        Self { slots: Vec::new() }
    }

    /// Sets the value of segment `number`, where those of all from `first` on are kept.
    #[inline(always)]
    pub(in super::super) fn put(&mut self, first: u64, number: u64, value: T) {
        if number - first >= self.slots.len() as u64 {
            self.grow(first, number, value);
        }
        self[number] = value;
    }

    #[cold]
    fn grow(&mut self, first: u64, number: u64, value: T) {
        let room = (number - first + 1).next_power_of_two().max(4) as usize;
        let mut grown = Self { slots: vec![value; room] };
        (first..number).for_each(|kept| grown[kept] = self[kept]);
        *self = grown;
    }

    #[inline(always)]
    const fn slot(&self, number: u64) -> usize {
        number as usize & self.slots.len().wrapping_sub(1)
    }
}

impl<T: Copy> Index<u64> for ByNumber<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, number: u64) -> &T {
        &self.slots[self.slot(number)]
    }
}

impl<T: Copy> IndexMut<u64> for ByNumber<T> {
    #[inline(always)]
    fn index_mut(&mut self, number: u64) -> &mut T {
        let slot = self.slot(number);
        &mut self.slots[slot]
    }
}
