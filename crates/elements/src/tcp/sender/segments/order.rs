//! The order of last transmissions.

use super::{Segment, Segments};

/// The order of last transmissions: each operation takes constant time, so that loss detection by
/// time costs as much as there are segments that are late.
impl Segments {
    /// The segment in the network that was sent first.
    #[must_use]
    pub fn oldest(&self) -> Option<u64> {
        (self.listed > 0).then_some(self.oldest)
    }

    /// The segment that was sent after `number`, which is in the network.
    #[must_use]
    pub fn sent_after(&self, number: u64) -> Option<u64> {
        (number != self.newest).then(|| self.get(number).map(|it| self.number(it.later)))?
    }

    /// The outstanding segment whose number has these low bits.
    const fn number(&self, low: u32) -> u64 {
        self.base + low.wrapping_sub(self.base as u32) as u64
    }

    /// Segment `number` is the last to be sent.
    pub(super) fn append(&mut self, number: u64) {
        let low = number as u32;
        let mut earlier = low;
        if self.listed == 0 {
            self.oldest = number;
        } else {
            self.list[self.newest].later = low;
            earlier = self.newest as u32;
        }
        let segment = &mut self.list[number];
        (segment.earlier, segment.later) = (earlier, low);
        self.newest = number;
        self.listed += 1;
    }

    /// Put all segments in the network into the order anew.
    pub(super) fn order_anew(&mut self) {
        let in_network = |number: &u64| self.list[*number].copies() > 0;
        let mut numbers: Vec<u64> = (self.base..self.end).filter(in_network).collect();
        numbers.sort_by_key(|number| self.list[*number].sent);
        self.listed = 0;
        numbers.into_iter().for_each(|number| self.append(number));
    }

    /// Segment `number`, which is in the order, leaves it.
    #[inline(always)]
    pub(super) fn unlink(&mut self, number: u64) {
        if self.ordered {
            self.unlink_ordered(number);
        }
    }

    fn unlink_ordered(&mut self, number: u64) {
        let Segment { earlier, later, .. } = self.list[number];
        let (before, after) = (self.number(earlier), self.number(later));
        match (number == self.oldest, number == self.newest) {
            (true, true) => {}
            (true, false) => self.oldest = after,
            (false, true) => self.newest = before,
            (false, false) => {
                (self.list[before].later, self.list[after].earlier) = (later, earlier);
            }
        }
        self.listed -= 1;
    }
}
