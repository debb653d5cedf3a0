//! The distribution of the one-way delays of each flow, counted where packets are delivered.

use forebay_units::Span;

use crate::FlowId;

/// Buckets in each octave, as a power of two: the width of a bucket is at most a 128th of the
/// delays in it.
const BITS: u32 = 7;
/// Buckets come in blocks of so many, a cache line.
const BLOCK: u32 = 16;

/// A distribution of delays, of which there may be any number, in bounded memory.
///
/// A log-linear histogram: 128 buckets of equal width for each doubling of the delay, of which
/// those from the shortest to the longest delay exist. A flow whose delays stay within a factor of
/// two takes about 600 bytes, and one whose delays span everything that a [`Span`] holds 30 kB.
///
/// A quantile is interpolated within its bucket, so that it is always within 0.8 % of the value and
/// usually much closer; of equal delays, and of the shortest and the longest, it is exact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelayDistribution {
    counts: Vec<u32>,
    /// Bucket of the first of the counts.
    first: u32,
    least: Span,
}

impl DelayDistribution {
    /// The distribution of no delays.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: Vec::new(), first: 0, least: Span::MAX }
    }

    /// Count a packet that took `delay`.
    #[inline(always)]
    pub fn record(&mut self, delay: Span) {
        if delay < self.least {
            self.least = delay;
        }
        let bucket = bucket_of(delay.ps());
        match self.counts.get_mut(bucket.wrapping_sub(self.first) as usize) {
            // More than four billion packets in a bucket stay as many.
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

    /// Add the delays of `other`.
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

    /// The smallest delay; `None` if there are none.
    #[must_use]
    pub fn least(&self) -> Option<Span> {
        (self.least < Span::MAX).then_some(self.least)
    }

    /// The delays, in seconds, that the shares `shares` of all do not exceed: that of a share p of
    /// n is the one of rank p n, rounded up, in ascending order. All 0 if there are none. The
    /// longest delay, `most`, is counted with the packets.
    #[must_use]
    pub fn quantiles<const N: usize>(&self, shares: [f64; N], most: Span) -> [f64; N] {
        let all = self.counts.iter().map(|count| u64::from(*count)).sum::<u64>();
        shares.map(|share| {
            let last = all.max(1) as f64;
            match (share * all as f64).ceil().clamp(1.0, last) {
                _ if all == 0 => 0.0,
                1.0 => self.least.seconds(),
                rank if rank == last => most.seconds(),
                rank => self.of_rank(rank, most).seconds(),
            }
        })
    }

    fn of_rank(&self, rank: f64, most: Span) -> Span {
        let mut before = 0.0;
        for (count, bucket) in self.counts.iter().zip(self.first..) {
            let count = f64::from(*count);
            if rank <= before + count {
                let (start, width) = range_of(bucket);
                // The middle of the part of the bucket that each of its delays takes.
                let place = (rank - before - 0.5) / count;
                let delay = Span::from_ps((start + width * place) as u64);
                return delay.clamp(self.least, most);
            }
            before += count;
        }
        most
    }

    fn clear(&mut self) {
        self.counts.fill(0);
        self.least = Span::MAX;
    }
}

impl Default for DelayDistribution {
    fn default() -> Self {
        Self::new()
    }
}

/// The bucket of a delay: the exponent and the first seven digits of its binary form, which those
/// of a floating-point number are, in fewer instructions than integers need. The last bit, 1 ps, is
/// left out, so that the longest delay is a signed number, which converts in one instruction; and 0
/// counts as 2 ps.
#[inline(always)]
const fn bucket_of(ps: u64) -> u32 {
    let halves = (ps >> 1 | 1) as i64 as f64;
    (halves.to_bits() >> (52 - BITS)) as u32
}

/// The smallest delay of a bucket, in ps, and its width.
const fn range_of(bucket: u32) -> (f64, f64) {
    let start = f64::from_bits((bucket as u64) << (52 - BITS));
    let end = f64::from_bits((bucket as u64 + 1) << (52 - BITS));
    (2.0 * start, 2.0 * (end - start))
}

/// The delays of all flows: of each flow by itself, or of many together.
#[derive(Clone, Default, Debug)]
pub struct DelayTable {
    distributions: Vec<DelayDistribution>,
    /// By flow, which of the distributions is its; empty if each has that of its own number.
    shared: Vec<u32>,
}

impl DelayTable {
    /// Each flow has a distribution of its own or, of the flows of a group that is `together`, one
    /// for all. `groups` are the numbers of flows of consecutive groups, and whether they are.
    ///
    /// # Panics
    /// If there are 2^32 flows or more.
    #[must_use]
    pub fn new(groups: &[(u32, bool)]) -> Self {
        let mut shared = Vec::new();
        let mut next = 0_u32;
        for (count, together) in groups {
            shared.extend((0..*count).map(|flow| if *together { next } else { next + flow }));
            let own = if *together { 1 } else { *count };
            next = next.checked_add(own).expect("fewer than 2^32 flows");
        }
        if groups.iter().all(|(_, together)| !together) {
            shared = Vec::new();
        }
        Self { distributions: vec![DelayDistribution::new(); next as usize], shared }
    }

    /// Count a data packet of `flow`, which took `delay`; of a flow that the table does not know,
    /// nothing.
    #[inline(always)]
    pub fn record(&mut self, flow: FlowId, delay: Span) {
        let mut at = flow.index();
        if !self.shared.is_empty() {
            at = self.shared[at] as usize;
        }
        if let Some(distribution) = self.distributions.get_mut(at) {
            distribution.record(delay);
        }
    }

    /// The distribution of `flow`, or of all with which it is counted.
    ///
    /// # Panics
    /// If the table does not know the flow.
    #[must_use]
    pub fn of(&self, flow: FlowId) -> &DelayDistribution {
        let slot = self.shared.get(flow.index()).map_or(flow.index(), |slot| *slot as usize);
        &self.distributions[slot]
    }

    /// The same flows, of which nothing was counted.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let distributions = vec![DelayDistribution::new(); self.distributions.len()];
        Self { distributions, shared: self.shared.clone() }
    }

    /// Count from here on: a new measurement window begins.
    pub fn reset(&mut self) {
        self.distributions.iter_mut().for_each(DelayDistribution::clear);
    }

    /// Add what was counted in another partition.
    pub fn merge(&mut self, other: &Self) {
        for (mine, other) in self.distributions.iter_mut().zip(&other.distributions) {
            mine.merge(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_kernel::math::exp;

    const SHARES: [f64; 7] = [0.0, 0.25, 0.5, 0.95, 0.99, 0.999, 1.0];

    /// Percentiles of delay would not be those of the delays, which are kept and sorted here: of
    /// one and of many, over nine powers of ten, each within a 128th of the value.
    #[test]
    fn quantiles_are_those_of_the_sorted_delays() {
        let mut stream = Streams::new(1, 0).named("values");
        for (count, spread) in [(1, 1.0), (7, 20.0), (1000, 0.01), (100_000, 21.0)] {
            let (mut distribution, mut delays) = (DelayDistribution::new(), Vec::new());
            for _ in 0..count {
                let delay = Span::from_ps((1e3 * exp(stream.uniform() * spread)) as u64);
                distribution.record(delay);
                delays.push(delay);
            }
            delays.sort_unstable();
            for (share, found) in
                SHARES.into_iter().zip(distribution.quantiles(SHARES, *delays.last().unwrap()))
            {
                let rank = ((share * f64::from(count)).ceil() as usize).max(1);
                let exact = delays[rank - 1].seconds();
                assert!((found / exact - 1.0).abs() <= 1.0 / 128.0, "{count}, {share}");
            }
            assert_eq!(distribution.least(), delays.first().copied());
        }
    }

    /// A path of constant delay would seem to have jitter, or one on which nothing was delivered to
    /// have delays.
    #[test]
    fn equal_delays_are_exact_and_none_are_zero() {
        for delay in [Span::ZERO, Span::from_ps(127), Span::from_us(12_345), Span::MAX] {
            let mut distribution = DelayDistribution::new();
            (0..3).for_each(|_| distribution.record(delay));
            assert_eq!(distribution.quantiles(SHARES, delay), [delay.seconds(); 7]);
        }
        let nothing = DelayDistribution::new();
        assert_eq!((nothing.quantiles(SHARES, Span::ZERO), nothing.least()), ([0.0; 7], None));
    }

    /// Delays would be counted in no bucket or in one of others: each begins where that before it
    /// ends and is at most a 128th of its delays wide; the first has the shortest delays, and the
    /// last the longest.
    #[test]
    fn buckets_cover_every_delay_once() {
        let mut next = 2.0;
        for bucket in bucket_of(0)..bucket_of(u64::MAX) {
            let (start, width) = range_of(bucket);
            assert_eq!(start, next, "{bucket}");
            assert!(width * 128.0 <= start, "{bucket}");
            next = start + width;
            // Below 512 ps buckets are narrower than the step in which delays are counted; above
            // 2^53 ps, two hours and a half, not every delay is a floating-point number.
            if (512.0..9e15).contains(&start) {
                assert_eq!([start, next - 1.0].map(|ps| bucket_of(ps as u64)), [bucket; 2]);
            }
        }
        assert_eq!(next, 18_446_744_073_709_551_616.0);
        assert_eq!([0, 1, 2].map(bucket_of), [bucket_of(3); 3]);
    }

    /// Delays of a group would be those of some of its flows only: what two flows took, merged, is
    /// what one that had the packets of both would have taken, whichever is longer.
    #[test]
    fn merged_delays_are_those_of_all() {
        let delays = |us: &[u64]| {
            let mut distribution = DelayDistribution::new();
            us.iter().for_each(|us| distribution.record(Span::from_us(*us)));
            distribution
        };
        let (short, long) = (delays(&[3, 3, 4]), delays(&[4, 70_000]));
        for (one, other) in [(&short, &long), (&long, &short)] {
            let mut merged = one.clone();
            merged.merge(other);
            assert_eq!(merged, delays(&[3, 3, 4, 4, 70_000]));
            merged.merge(&DelayDistribution::new());
            assert_eq!(merged, delays(&[3, 3, 4, 4, 70_000]));
        }
    }

    /// A flow would be charged with the delays of another, or the window after a warm-up with those
    /// before it.
    #[test]
    fn flows_are_counted_apart_or_together() {
        let mut table = DelayTable::new(&[(2, false), (2, true), (1, false)]);
        let flow = FlowId::new;
        let packets = [(0, 10), (1, 20), (2, 30), (3, 40), (4, 50)];
        for (number, us) in packets {
            table.record(flow(number), Span::from_us(us));
        }
        let least = |table: &DelayTable| {
            let us = |delay: Span| delay.ps() / 1_000_000;
            packets.map(|(number, _)| table.of(flow(number)).least().map(us))
        };
        assert_eq!(least(&table), [10, 20, 30, 30, 50].map(Some));
        let median = |number| table.of(flow(number)).quantiles([0.5], Span::MAX)[0];
        assert_eq!(median(2), 30e-6);
        let mut other = table.fresh();
        assert_eq!(least(&other), [None; 5]);
        other.record(flow(0), Span::from_us(5));
        other.merge(&table);
        assert_eq!(least(&other), [5, 20, 30, 30, 50].map(Some));
        table.reset();
        assert_eq!(least(&table), [None; 5]);
        let mut apart = DelayTable::new(&[(2, false), (1, false)]);
        for (number, us) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
            apart.record(flow(number), Span::from_us(us));
        }
        assert_eq!(
            [0, 1, 2].map(|number| apart.of(flow(number)).least().unwrap().ps()),
            [1_000_000, 2_000_000, 3_000_000]
        );
    }
}
