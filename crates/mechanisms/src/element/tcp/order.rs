//! The segments in flight in the order in which they were sent last.

use std::collections::VecDeque;

/// The segments in flight in the order of their last transmissions. Each operation takes constant
/// time, so that loss detection costs as much as there are segments that are late.
#[derive(Debug)]
pub(super) struct TransmissionOrder {
    /// The neighbours of each segment from `base` on.
    links: VecDeque<Neighbours>,
    base: u64,
    ends: Neighbours,
}

/// The segments sent before and after one; [`NONE`] at the ends, and both of itself for a segment
/// that is not in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Neighbours {
    before: u64,
    after: u64,
}

/// No segment.
const NONE: u64 = u64::MAX;

impl Neighbours {
    /// Of segment `number`, which is not in flight.
    const fn absent(number: u64) -> Self {
        Self { before: number, after: number }
    }
}

impl TransmissionOrder {
    pub(super) fn new() -> Self {
        Self { links: VecDeque::new(), base: 0, ends: Neighbours { before: NONE, after: NONE } }
    }

    /// The segment that was sent first.
    pub(super) fn first(&self) -> Option<u64> {
        Some(self.ends.after).filter(|number| *number != NONE)
    }

    /// The segment that was sent after `number`, which is in flight.
    pub(super) fn after(&self, number: u64) -> Option<u64> {
        Some(self.links.get(self.place(number)?)?.after).filter(|number| *number != NONE)
    }

    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.base)?).ok()
    }

    /// The links of segment `number`; those of the ends for [`NONE`].
    fn links(&mut self, number: u64) -> Option<&mut Neighbours> {
        if number == NONE {
            return Some(&mut self.ends);
        }
        let place = self.place(number)?;
        self.links.get_mut(place)
    }

    /// Segment `number` is sent, perhaps again.
    pub(super) fn push(&mut self, number: u64) {
        if number < self.base {
            return;
        }
        self.remove(number);
        while self.base + self.links.len() as u64 <= number {
            let next = self.base + self.links.len() as u64;
            self.links.push_back(Neighbours::absent(next));
        }
        let last = std::mem::replace(&mut self.ends.before, number);
        if let Some(links) = self.links(number) {
            *links = Neighbours { before: last, after: NONE };
        }
        if let Some(links) = self.links(last) {
            links.after = number;
        }
    }

    /// Segment `number` is no longer in flight, if it was.
    pub(super) fn remove(&mut self, number: u64) {
        let Some(links) = self.links(number) else { return };
        let absent = Neighbours::absent(number);
        let Neighbours { before, after } = std::mem::replace(links, absent);
        if (Neighbours { before, after }) == absent {
            return;
        }
        if let Some(links) = self.links(before) {
            links.after = after;
        }
        if let Some(links) = self.links(after) {
            links.before = before;
        }
    }

    /// No segment below `una`, which is all that is acknowledged, is in flight.
    pub(super) fn forget_below(&mut self, una: u64) {
        while self.base < una && !self.links.is_empty() {
            self.remove(self.base);
            self.links.pop_front();
            self.base += 1;
        }
        self.base = self.base.max(una);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(order: &TransmissionOrder) -> Vec<u64> {
        std::iter::successors(order.first(), |number| order.after(*number)).collect()
    }

    /// The order is that of the last transmissions, so that a segment sent again is not taken for
    /// one sent long ago, and one that has arrived is not taken for lost: it agrees with a plain
    /// list through a long random episode.
    #[test]
    fn the_order_is_that_of_the_last_transmissions() {
        let mut stream = forebay_kernel::Streams::new(3, 0).named("order");
        let (mut order, mut list, mut una, mut max) = (TransmissionOrder::new(), vec![], 0, 0);
        for _ in 0..20_000 {
            let any = una + stream.below(max - una + 1);
            match stream.below(5) {
                0 | 1 => {
                    order.push(max);
                    list.push(max);
                    max += 1;
                }
                2 if any < max => {
                    order.push(any);
                    list.retain(|number| *number != any);
                    list.push(any);
                }
                3 => {
                    order.remove(any);
                    list.retain(|number| *number != any);
                }
                _ if max - una > 20 => {
                    una += 1 + stream.below(15);
                    order.forget_below(una);
                    list.retain(|number| *number >= una);
                }
                _ => {}
            }
            assert_eq!(all(&order), list);
        }
    }
}
