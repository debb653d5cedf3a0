//! The peak rate controller.

use forebay_units::{Rate, Size, Span, Time};

/// Spaces packets: after each the time runs in which it could be transmitted at the peak rate, and
/// the next leaves no earlier. So packet n leaves at max(arrival n, departure n-1 + size n-1 /
/// rate).
#[derive(Clone, Debug)]
pub struct PeakRate {
    rate: Rate,
    next: Time,
    /// The size of the latest packet and its transmission time: few sizes come, and a comparison is
    /// cheaper than a division.
    latest: (Size, Span),
}

impl PeakRate {
    /// A controller with a peak rate of `rate`.
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        Self { rate, next: Time::ZERO, latest: (Size::from_bytes(0), Span::ZERO) }
    }

    /// Returns the time from which the next packet may leave.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> Time {
        self.next
    }

    /// A packet of `size` leaves at `now`: the timer starts anew.
    #[inline]
    pub fn leaves(&mut self, size: Size, now: Time) {
        if size != self.latest.0 {
            self.latest = (size, self.rate.transmission_time(size));
        }
        self.next = now + self.latest.1;
    }

    /// Returns true if a packet of `size` that comes at `now` may leave at once, which it does
    /// then.
    #[inline]
    pub fn passes(&mut self, size: Size, now: Time) -> bool {
        let passes = self.next <= now;
        if passes {
            self.leaves(size, now);
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells leave no faster than the peak rate, and wait only when they need to. At 64 kbit/s a
    /// cell takes 424 / 64000 s = 6.625 ms; cells come at 0, 1, 2, 10 and 30 ms.
    #[test]
    fn the_test_vector_of_the_peak_rate_controller() {
        let mut law = PeakRate::new(Rate::from_bps(64_000));
        let departures = [0, 1_000, 2_000, 10_000, 30_000].map(|us| {
            let at = law.next().max(Time::ZERO + Span::from_us(us));
            law.leaves(Size::from_bytes(53), at);
            at
        });
        let expected = [0, 6_625, 13_250, 19_875, 30_000];
        assert_eq!(departures, expected.map(|us| Time::ZERO + Span::from_us(us)));
    }
}
