//! The counters that fairness laws keep of traffic: octets, aged and low-passed at each interval.

/// A counter of octets and its low-passed value.
///
/// Traffic of constant rate, with `o` octets an interval, holds the counter at `o` times the
/// coefficient of ageing when an interval ends: then old octets fade as fast as new ones come.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Counter {
    /// Octets counted, aged.
    pub(super) octets: f64,
    /// The value of `octets` at the ends of intervals, low-passed.
    pub(super) smooth: f64,
}

impl Counter {
    /// Count a frame.
    pub(super) fn add(&mut self, size: u16) {
        self.octets += f64::from(size);
    }

    /// The end of an interval: the filter takes in the octets, then these age by their part
    /// `1 / age`, or by that of `most` if they are more.
    pub(super) fn end_interval(&mut self, filter: f64, age: f64, most: f64) {
        self.smooth += (self.octets - self.smooth) / filter;
        self.octets -= self.octets.min(most) / age;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value that a congested station advertises follows its traffic as fast as RFC 2892 says:
    /// lp = ((N - 1) lp + octets) / N before ageing, 8000 / 512 = 15.625.
    #[test]
    fn the_filter_takes_in_octets_before_they_age() {
        let mut counter = Counter { octets: 8000.0, smooth: 0.0 };
        counter.end_interval(512.0, 4.0, f64::INFINITY);
        assert_eq!(counter, Counter { octets: 6000.0, smooth: 15.625 });
        counter.end_interval(512.0, 4.0, f64::INFINITY);
        // (511 * 15.625 + 6000) / 512
        assert_eq!(counter.smooth, 15.625 + (6000.0 - 15.625) / 512.0);
    }

    /// A counter stands for a rate: octets of a constant rate settle at the coefficient of ageing
    /// times those of an interval, x = (1 - 1/4) x + 8000.
    #[test]
    fn constant_traffic_settles_at_its_octets_times_the_coefficient() {
        let mut counter = Counter::default();
        for _ in 0..200 {
            counter.octets += 8000.0;
            counter.end_interval(64.0, 4.0, f64::INFINITY);
        }
        let settled = counter.octets + 8000.0;
        assert!((settled - 32_000.0).abs() < 1e-9, "{settled}");
    }

    /// A station that has been cut does not forget at once what it has just sent: RFC 2892 ages by
    /// the lesser of allowance and usage.
    #[test]
    fn octets_above_the_most_fade_no_faster() {
        let mut counter = Counter { octets: 32_000.0, smooth: 0.0 };
        counter.end_interval(64.0, 4.0, 1000.0);
        assert_eq!(counter.octets, 31_750.0);
        counter.end_interval(64.0, 4.0, 0.0);
        assert_eq!(counter.octets, 31_750.0);
    }
}
