//! Application data, cut into segments.

use std::collections::VecDeque;

/// Data that the application of one connection sends, and the sizes of its short segments: state
/// that few acknowledgements touch.
#[derive(Default)]
pub(in crate::tcp) struct Source {
    /// Size of the next write of the application, in bytes.
    pub(in crate::tcp) due: u64,
    /// Segments shorter than one MSS, neither acknowledged nor merged: number and bytes of data.
    shorts: VecDeque<(u64, u64)>,
}

/// The number after the last segment of a connection without end.
pub(in crate::tcp) const ENDLESS: u64 = u64::MAX;

impl Source {
    /// The application writes `bytes`. `end` is the number after the last segment written so far,
    /// `max` that after the last one sent. Returns the new `end`.
    ///
    /// A short last segment that has not been sent is filled first.
    pub(in crate::tcp) fn write(
        &mut self,
        mut bytes: u64,
        mut end: u64,
        max: u64,
        mss: u64,
    ) -> u64 {
        if bytes == u64::MAX || end == ENDLESS {
            return ENDLESS;
        }
        if let Some(&(number, held)) = self.shorts.back()
            && number + 1 == end
            && number >= max
        {
            self.shorts.pop_back();
            end = number;
            bytes = bytes.saturating_add(held);
        }
        end = end.saturating_add(bytes / mss);
        let rest = bytes % mss;
        if rest > 0 {
            self.shorts.push_back((end, rest));
            end = end.saturating_add(1);
        }
        end
    }

    /// The application writes no more: what lies from `max` on, which was not sent, is given up,
    /// and a segment without data follows, the FIN. Returns the new end.
    pub(in crate::tcp) fn close(&mut self, max: u64) -> u64 {
        while self.shorts.back().is_some_and(|short| short.0 >= max) {
            self.shorts.pop_back();
        }
        self.shorts.push_back((max, 0));
        max + 1
    }

    /// The number of the first short segment; `u64::MAX` if there is none.
    pub(in crate::tcp) fn first_short(&self) -> u64 {
        self.shorts.front().map_or(u64::MAX, |short| short.0)
    }

    /// Forget the segments below `una`, which are acknowledged.
    pub(in crate::tcp) fn forget_below(&mut self, una: u64) {
        while self.shorts.front().is_some_and(|short| short.0 < una) {
            self.shorts.pop_front();
        }
    }

    /// Bytes of data in segment `number`.
    pub(in crate::tcp) fn payload(&self, number: u64, mss: u64) -> u64 {
        match self.shorts.binary_search_by_key(&number, |short| short.0) {
            Ok(at) => self.shorts[at].1,
            Err(_) => mss,
        }
    }

    /// Bytes by which segments `first..end` fall short of full ones.
    pub(in crate::tcp) fn shortfall(&self, first: u64, end: u64, mss: u64) -> u64 {
        let from = self.shorts.partition_point(|short| short.0 < first);
        let within = self.shorts.range(from..).take_while(|short| short.0 < end);
        within.map(|short| mss - short.1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes written by an application are sent once, in no more segments than needed: 1500 B in
    /// segments of 1000 B, then 300 B more before and after the short segment is sent.
    #[test]
    fn short_segments_are_filled_until_they_are_sent() {
        let mut source = Source::default();
        let end = source.write(1500, 0, 0, 1000);
        assert_eq!((end, source.first_short(), source.payload(1, 1000)), (2, 1, 500));
        let end = source.write(300, end, 1, 1000);
        assert_eq!((end, source.payload(1, 1000)), (2, 800));
        // Segment 1 has been sent: further data go into segment 2.
        let end = source.write(300, end, 2, 1000);
        assert_eq!((end, source.payload(1, 1000), source.payload(2, 1000)), (3, 800, 300));
        assert_eq!(source.shortfall(0, 3, 1000), 200 + 700);
        assert_eq!(source.shortfall(0, 2, 1000), 200);
        // A write that fills the short segment exactly leaves no short segment.
        let end = source.write(700, end, 2, 1000);
        assert_eq!((end, source.shortfall(0, 3, 1000)), (3, 200));
        // What was not sent is given up: the FIN comes next, and has no data.
        let mut closed = Source::default();
        closed.write(2500, 0, 0, 1000);
        assert_eq!(
            (closed.close(1), closed.payload(0, 1000), closed.payload(1, 1000)),
            (2, 1000, 0)
        );
        assert_eq!((closed.close(1), closed.first_short()), (2, 1));
        source.forget_below(2);
        assert_eq!(source.first_short(), u64::MAX);
        assert_eq!(source.write(u64::MAX, end, 2, 1000), ENDLESS);
    }
}
