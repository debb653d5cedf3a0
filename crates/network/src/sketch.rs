//! Quantiles of any number of values, in bounded memory.

use hdrhistogram::Histogram;

/// The distribution of whole numbers of which there may be any number. Count, mean, least and
/// largest are exact, and quantiles within 0.1 % of the value.
///
/// Values are counted in buckets whose width is at most a 1024th of what they hold (a log-linear
/// histogram with three significant digits), some hundred kilobytes at most.
pub struct Sketch {
    histogram: Histogram<u64>,
    sum: u128,
    least: u64,
    most: u64,
}

impl Sketch {
    /// The distribution of no values.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn new() -> Self {
        let histogram = Histogram::new(3).expect("three significant digits are allowed");
        Self { histogram, sum: 0, least: u64::MAX, most: 0 }
    }

    /// Add a value.
    pub fn record(&mut self, value: u64) {
        // The histogram grows by itself, and takes any value.
        let _ = self.histogram.record(value);
        self.sum += u128::from(value);
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The mean; `None` if there are no values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The smallest value which at least a share `p` of all does not exceed; `None` if there are no
    /// values.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        (self.count() > 0).then(|| {
            // The largest value of the bucket, which can exceed all values.
            self.histogram.value_at_quantile(p).clamp(self.least, self.most) as f64
        })
    }

    /// The largest value; `None` if there are no values.
    #[must_use]
    pub fn most(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.most as f64)
    }
}

impl Default for Sketch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_kernel::math::exp;

    /// Percentiles of completion times would not be those of the values, which are kept and sorted
    /// here: over ten powers of ten, and of a million values, each within 0.1 %.
    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut stream = Streams::new(1, 0).named("values");
        for (count, spread) in [(1, 1.0), (7, 20.0), (1000, 0.01), (1_000_000, 23.0)] {
            let (mut sketch, mut values) = (Sketch::new(), Vec::new());
            for _ in 0..count {
                let value = (1e3 * exp(stream.uniform() * spread)) as u64;
                sketch.record(value);
                values.push(value);
            }
            values.sort_unstable();
            for p in [0.0, 0.01, 0.25, 0.5, 0.95, 0.99, 0.999, 1.0] {
                let rank = ((p * f64::from(count)).ceil() as usize).max(1);
                let (exact, found) = (values[rank - 1] as f64, sketch.quantile(p).unwrap());
                assert!((found / exact - 1.0).abs() <= 1e-3, "{count}, {p}: {found}, {exact}");
            }
            let mean = values.iter().map(|value| *value as f64).sum::<f64>() / f64::from(count);
            assert!((sketch.mean().unwrap() / mean - 1.0).abs() < 1e-9);
            assert_eq!(sketch.most(), values.last().map(|value| *value as f64));
            assert_eq!(sketch.count(), u64::from(count as u32));
        }
    }

    /// A group in which nothing was completed would have completion times of zero, or of centuries.
    #[test]
    fn no_values_have_no_quantiles() {
        let sketch = Sketch::new();
        assert_eq!((sketch.count(), sketch.mean(), sketch.most()), (0, None, None));
        assert_eq!(sketch.quantile(0.5), None);
        let mut extremes = Sketch::new();
        extremes.record(0);
        extremes.record(u64::MAX);
        assert_eq!(extremes.quantile(0.5), Some(0.0));
        assert_eq!(extremes.quantile(1.0), Some(u64::MAX as f64));
        assert_eq!(extremes.mean(), Some(u64::MAX as f64 / 2.0));
    }
}
