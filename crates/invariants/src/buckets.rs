//! Token buckets from outside.

use forebay_units::{PS_PER_S, Time};

use crate::places::BucketPlace;

/// A bucket that is filled by what is paid for and drains at the rate of the tokens: the dual of a
/// token bucket, which it mirrors without knowing of it.
#[derive(Default)]
pub(crate) struct BucketModel {
    /// Bytes paid for beyond what the rate covers.
    level: f64,
    at: Time,
}

/// Rounding of sums of bytes in floating point, over a bucket's depth.
pub(crate) const ROUNDING: f64 = 1e-6;

impl BucketModel {
    /// `size` bytes are paid for at `now`: the level after it.
    pub(crate) fn fill(&mut self, bucket: &BucketPlace, size: u16, now: Time) -> f64 {
        let span = now.since(self.at).ps() as f64 / PS_PER_S as f64;
        self.at = self.at.max(now);
        let drained = bucket.rate.bps() as f64 / 8.0 * span;
        self.level = (self.level - drained).max(0.0) + f64::from(size);
        self.level
    }
}
