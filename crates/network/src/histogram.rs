//! Distributions of any number of values, in bounded memory: of delays, of how they vary, and of
//! completion times.
//!
//! One kind of histogram and one rule for quantiles serve all of them. Buckets are those of an HDR
//! histogram, a 128th of the value wide. The crate `hdrhistogram` does not serve here, where each
//! flow may have a histogram and each delivered packet is added to one. Its counts begin at zero: a
//! flow with delays of 20 ms, counted in ps, would take 14 kB instead of 600 bytes. Its quantiles
//! name a bucket, not a value in it. And with each value it keeps what a flow's counters hold
//! already.
//!
//! The number of a bucket is the leading bits of a floating-point number, equal on every platform,
//! WebAssembly included; counts are whole, so partitions may be merged in any order.

/// Buckets in each octave, as a power of two: the width of a bucket is at most a 128th of the
/// values in it.
const BITS: u32 = 7;
/// Buckets come in blocks of so many, a cache line.
const BLOCK: u32 = 16;

/// The rank, from 1, of the quantile of `share` of `count` values in ascending order: the first
/// that at least that share of all does not exceed.
#[must_use]
pub fn quantile_rank(share: f64, count: u64) -> u64 {
    ((share * count as f64).ceil() as u64).clamp(1, count.max(1))
}

/// Whole numbers of which there may be any number, counted in buckets.
///
/// 128 buckets of equal width for each doubling of the value, of which those from the smallest to
/// the largest exist. Values within a factor of two take about 600 bytes, and values over all 64
/// bits 30 kB. The unit is to be small: below 512, values are counted in steps of 4.
///
/// The largest value is kept by the code that counts the values, and handed in where it matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram {
    counts: Vec<u32>,
    /// Bucket of the first of the counts.
    first: u32,
    least: u64,
}

impl Histogram {
    /// A histogram of no values.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: Vec::new(), first: 0, least: u64::MAX }
    }

    /// Count `value`.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        if value < self.least {
            self.least = value;
        }
        let bucket = bucket_of(value);
        match self.counts.get_mut(bucket.wrapping_sub(self.first) as usize) {
            // More than four billion values in a bucket stay as many.
            Some(count) => *count = count.saturating_add(1),
            None => self.record_outside(bucket),
        }
    }

    #[cold]
    #[inline(never)]
    fn record_outside(&mut self, bucket: u32) {
        self.cover(bucket, bucket);
        self.counts[(bucket - self.first) as usize] += 1;
    }

    /// Make the buckets from `from` to `to`, where there are none, in whole blocks.
    fn cover(&mut self, from: u32, to: u32) {
        if self.counts.is_empty() {
            self.first = from / BLOCK * BLOCK;
        }
        let first = self.first.min(from / BLOCK * BLOCK);
        let end = (self.first + self.counts.len() as u32).max((to / BLOCK + 1) * BLOCK);
        let mut counts = vec![0; (end - first) as usize];
        let old = (self.first - first) as usize;
        counts[old..old + self.counts.len()].copy_from_slice(&self.counts);
        (self.counts, self.first) = (counts, first);
    }

    /// Add the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        self.cover(other.first, other.first + other.counts.len() as u32 - 1);
        let from = (other.first - self.first) as usize;
        for (mine, other) in self.counts[from..].iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*other);
        }
        self.least = self.least.min(other.least);
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// The smallest value; `None` if there are none.
    #[must_use]
    pub fn least(&self) -> Option<u64> {
        (self.least < u64::MAX).then_some(self.least)
    }

    /// The quantiles of `shares`, by [`quantile_rank`], given the largest value. All 0 if there are
    /// no values.
    ///
    /// Each is interpolated within its bucket, so that it is always within 0.8 % of the value and
    /// usually much closer; of equal values, and of the smallest and the largest, it is exact.
    #[must_use]
    pub fn quantiles<const N: usize>(&self, shares: [f64; N], most: u64) -> [u64; N] {
        let all = self.count();
        shares.map(|share| match quantile_rank(share, all) {
            _ if all == 0 => 0,
            1 => self.least,
            rank if rank == all => most,
            rank => self.of_rank(rank, most),
        })
    }

    fn of_rank(&self, rank: u64, most: u64) -> u64 {
        let mut before = 0;
        for (start, end, count) in self.buckets() {
            if rank <= before + count {
                // The middle of the part of the bucket that each of its values takes.
                let place = ((rank - before) as f64 - 0.5) / count as f64;
                return ((start + (end - start) * place) as u64).clamp(self.least, most);
            }
            before += count;
        }
        most
    }

    /// The buckets that hold values, in ascending order: the start of each, its end, and how many
    /// it holds. Its ends may lie beyond the smallest and the largest value.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        let held = self.counts.iter().zip(self.first..).filter(|(count, _)| **count > 0);
        held.map(|(count, bucket)| {
            let (start, end) = range_of(bucket);
            (start, end, u64::from(*count))
        })
    }

    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
        self.least = u64::MAX;
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The bucket of a value: the exponent and the first seven digits of its binary form, which those
/// of a floating-point number are, in fewer instructions than integers need. The last bit is left
/// out, so that the largest value is a signed number, which converts in one instruction; and the
/// last but one is set, so that 0 has an exponent.
#[inline(always)]
const fn bucket_of(value: u64) -> u32 {
    let halves = (value >> 1 | 1) as i64 as f64;
    (halves.to_bits() >> (52 - BITS)) as u32
}

/// The start of a bucket and its end. The first, which holds 0 to 3, stands for 0.
const fn range_of(bucket: u32) -> (f64, f64) {
    if bucket == bucket_of(0) {
        return (0.0, 0.0);
    }
    let start = f64::from_bits((bucket as u64) << (52 - BITS));
    let end = f64::from_bits((bucket as u64 + 1) << (52 - BITS));
    (2.0 * start, 2.0 * end)
}

/// A distribution of whole numbers that are counted nowhere else: number, mean, smallest and
/// largest are exact, and quantiles those of a [`Histogram`].
#[derive(Clone, Default, Debug)]
pub struct Distribution {
    histogram: Histogram,
    sum: u128,
    most: u64,
}

impl Distribution {
    /// Add a value.
    pub fn record(&mut self, value: u64) {
        self.histogram.record(value);
        self.sum += u128::from(value);
        self.most = self.most.max(value);
    }

    /// Add the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.sum += other.sum;
        self.most = self.most.max(other.most);
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// The mean; `None` if there are no values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.of_any(|all| all.sum as f64 / all.count() as f64)
    }

    /// The quantile of `share`; `None` if there are no values.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        self.of_any(|all| all.histogram.quantiles([share], all.most)[0] as f64)
    }

    /// The smallest value; `None` if there are no values.
    #[must_use]
    pub fn least(&self) -> Option<f64> {
        self.histogram.least().map(|least| least as f64)
    }

    /// The largest value; `None` if there are no values.
    #[must_use]
    pub fn most(&self) -> Option<f64> {
        self.of_any(|all| all.most as f64)
    }

    fn of_any(&self, of: impl FnOnce(&Self) -> f64) -> Option<f64> {
        (self.count() > 0).then(|| of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_kernel::math::exp;

    const SHARES: [f64; 8] = [0.0, 0.01, 0.25, 0.5, 0.95, 0.99, 0.999, 1.0];

    /// Percentiles are those of the values, which are kept and sorted here: of one and of many,
    /// over ten powers of ten, each within a 128th of the value.
    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut stream = Streams::new(1, 0).named("values");
        for (count, spread) in [(1, 1.0), (7, 20.0), (1000, 0.01), (100_000, 23.0)] {
            let (mut distribution, mut values) = (Distribution::default(), Vec::new());
            for _ in 0..count {
                let value = (1e3 * exp(stream.uniform() * spread)) as u64;
                distribution.record(value);
                values.push(value);
            }
            values.sort_unstable();
            for share in SHARES {
                let rank = ((share * f64::from(count)).ceil() as usize).max(1);
                let (exact, found) = (values[rank - 1], distribution.quantile(share).unwrap());
                assert!((found / exact as f64 - 1.0).abs() <= 1.0 / 128.0, "{count}, {share}");
            }
            let mean = values.iter().map(|value| *value as f64).sum::<f64>() / f64::from(count);
            assert!((distribution.mean().unwrap() / mean - 1.0).abs() < 1e-9);
            assert_eq!(distribution.most(), values.last().map(|value| *value as f64));
            assert_eq!(distribution.count(), u64::from(count as u32));
            assert_eq!(distribution.least(), values.first().map(|value| *value as f64));
        }
    }

    /// Quantiles of equal values are exact: a path of constant delay has no jitter.
    #[test]
    fn equal_values_are_exact() {
        for value in [0, 127, 12_345_000_000, u64::MAX] {
            let mut histogram = Histogram::new();
            (0..3).for_each(|_| histogram.record(value));
            assert_eq!(histogram.quantiles(SHARES, value), [value; 8]);
        }
        let mut histogram = Histogram::new();
        [0, 0, 0, 20_000].into_iter().for_each(|value| histogram.record(value));
        assert_eq!(histogram.quantiles([0.5, 1.0], 20_000), [0, 20_000]);
    }

    /// No values have no quantiles: a group in which nothing was completed has completion times
    /// neither of zero nor of centuries.
    #[test]
    fn no_values_have_no_quantiles() {
        let nothing = Distribution::default();
        assert_eq!((nothing.count(), nothing.mean(), nothing.most()), (0, None, None));
        assert_eq!((nothing.quantile(0.5), nothing.least()), (None, None));
        assert_eq!(nothing.histogram.quantiles(SHARES, 0), [0; 8]);
        let mut extremes = Distribution::default();
        extremes.record(0);
        extremes.record(u64::MAX);
        assert_eq!(extremes.quantile(0.5), Some(0.0));
        assert_eq!(extremes.quantile(1.0), Some(u64::MAX as f64));
        assert_eq!(extremes.mean(), Some(u64::MAX as f64 / 2.0));
    }

    /// Every value is counted in one bucket: each begins where that before it ends and is at most a
    /// 128th of its values wide; the first has the smallest values, and the last the largest.
    #[test]
    fn buckets_cover_every_value_once() {
        assert_eq!([0, 1, 2, 3].map(bucket_of), [bucket_of(0); 4]);
        let mut next = range_of(bucket_of(0) + 1).0;
        assert!(next <= 4.0);
        for bucket in bucket_of(0) + 1..bucket_of(u64::MAX) {
            let (start, end) = range_of(bucket);
            assert_eq!(start, next, "{bucket}");
            assert!((end - start) * 128.0 <= start, "{bucket}");
            next = end;
            // Below 512 buckets are narrower than the step in which values are counted; above 2^53
            // not every value is a floating-point number.
            if (512.0..9e15).contains(&start) {
                assert_eq!([start, end - 1.0].map(|value| bucket_of(value as u64)), [bucket; 2]);
            }
        }
        assert_eq!(next, 18_446_744_073_709_551_616.0);
    }

    /// Merged distributions are those of all flows: those of two flows, merged, equal that of one
    /// with the packets of both, whichever is longer.
    #[test]
    fn merged_values_are_those_of_all() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.record(*value));
            histogram
        };
        let (short, long) = (of(&[3_000, 3_000, 4_000]), of(&[4_000, 70_000_000]));
        for (one, other) in [(&short, &long), (&long, &short)] {
            let mut merged = one.clone();
            merged.merge(other);
            assert_eq!(merged, of(&[3_000, 3_000, 4_000, 4_000, 70_000_000]));
            merged.merge(&Histogram::new());
            assert_eq!(merged, of(&[3_000, 3_000, 4_000, 4_000, 70_000_000]));
        }
    }
}
