//! Between the bytes that a script counts and the segments that the model counts.

/// Places at which the segments of a connection begin. Segment 0 begins with byte 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Numbering {
    /// The first byte of each segment, and behind the last one the next byte.
    starts: Vec<u64>,
    mss: u64,
}

/// Maximum number of segments that a script may name.
pub(crate) const MAX_SEGMENTS: u64 = 1_000_000;

impl Numbering {
    /// No segments yet; full ones have `mss` bytes.
    pub(crate) fn new(mss: u64) -> Self {
        Self { starts: vec![1], mss: mss.max(1) }
    }

    /// The segments that lie at `wanted`, bytes as half-open ranges, and those that fill what lies
    /// between them. The error names the index of the range that fits nowhere, and says why.
    pub(crate) fn of_ranges(wanted: &[(u64, u64)], mss: u64) -> Result<Self, (usize, String)> {
        let mut numbering = Self::new(mss);
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|at| (wanted[*at], *at));
        let mut last = None;
        for at in order {
            let (first, end) = wanted[at];
            if last == Some((first, end)) {
                continue;
            }
            last = Some((first, end));
            let next = numbering.next();
            if first < next {
                let message = format!(
                    "bytes {first} to {end} overlap other segments; the model's segments have \
                     fixed limits, and the next one begins with byte {next}"
                );
                return Err((at, message));
            }
            let (full, rest) = ((first - next) / numbering.mss, (first - next) % numbering.mss);
            if rest > 0 {
                let message = format!(
                    "the {} bytes before byte {first} are no whole number of segments of {} bytes",
                    first - next,
                    numbering.mss
                );
                return Err((at, message));
            }
            if numbering.segments() + full >= MAX_SEGMENTS {
                let message = format!("more than {MAX_SEGMENTS} segments; allowed are so many");
                return Err((at, message));
            }
            for _ in 0..full {
                numbering.add(numbering.mss);
            }
            numbering.add(end - first);
        }
        Ok(numbering)
    }

    /// The next segment has `bytes` of data.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.starts.push(self.next().saturating_add(bytes));
    }

    /// Returns the number of segments that are known.
    pub(crate) fn segments(&self) -> u64 {
        self.starts.len() as u64 - 1
    }

    /// The byte behind the last segment.
    fn next(&self) -> u64 {
        self.starts.last().copied().unwrap_or(1)
    }

    /// The segment that begins with `byte`; of the byte behind the last segment, the next one.
    pub(crate) fn segment(&self, byte: u64) -> Option<u64> {
        self.starts.binary_search(&byte).ok().map(|at| at as u64)
    }

    /// The first byte of segment `number`; full segments follow the last one.
    pub(crate) fn byte(&self, number: u64) -> u64 {
        let known = usize::try_from(number).ok().and_then(|at| self.starts.get(at)).copied();
        let beyond = number.saturating_sub(self.segments());
        known.unwrap_or_else(|| self.next().saturating_add(beyond.saturating_mul(self.mss)))
    }

    /// The limits of segments nearest to `byte`, for messages.
    pub(crate) fn around(&self, byte: u64) -> String {
        let at = self.starts.partition_point(|start| *start < byte);
        let near = [at.checked_sub(1), Some(at)];
        let near = near.iter().flatten().filter_map(|at| self.starts.get(*at));
        near.map(u64::to_string).collect::<Vec<_>>().join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes are those of the segments named: with 1000 B in a full segment, bytes 1..1001 are
    /// segment 0, a short one of 300 B at 2001 is segment 2, and 1001..2001, not named, lies
    /// between.
    #[test]
    fn bytes_are_those_of_the_segments_named() {
        let wanted = [(2001, 2301), (1, 1001), (1, 1001), (2301, 3301)];
        let numbering = Numbering::of_ranges(&wanted, 1000).unwrap();
        let segments = [1, 1001, 2001, 2301, 3301].map(|byte| numbering.segment(byte));
        assert_eq!(segments, [Some(0), Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(numbering.segment(1500), None);
        assert_eq!([0, 2, 3, 4, 6].map(|n| numbering.byte(n)), [1, 2001, 2301, 3301, 5301]);
        assert_eq!(numbering.around(1500), "1001 and 2001");
    }

    /// Segments that overlap, or that fit nowhere in the model, are refused.
    #[test]
    fn segments_that_overlap_or_fit_nowhere_are_refused() {
        let refused = |wanted: &[(u64, u64)]| Numbering::of_ranges(wanted, 1000).unwrap_err();
        assert_eq!(refused(&[(1, 1001), (501, 1501)]).0, 1);
        assert!(refused(&[(501, 1501)]).1.contains("no whole number"));
        assert!(refused(&[(1, 2), (4_000_000_002, 4_000_000_003)]).1.contains("more than"));
    }
}
