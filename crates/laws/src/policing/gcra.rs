//! The generic cell rate algorithm.

use forebay_units::{Span, Time};

/// GCRA(T, tau) in its form of virtual scheduling: a cell conforms if it comes at most tau before
/// its theoretical arrival time, and only then that moves on by T.
#[derive(Clone, Debug)]
pub struct Gcra {
    increment: Span,
    limit: Span,
    /// Theoretical arrival time of the next cell; `None` before the first.
    expected: Option<Time>,
}

impl Gcra {
    /// One cell each `increment`, with a tolerance of `limit`.
    #[must_use]
    pub const fn new(increment: Span, limit: Span) -> Self {
        Self { increment, limit, expected: None }
    }

    /// Returns true if a cell that comes at `now` conforms.
    #[inline]
    pub fn conforms(&mut self, now: Time) -> bool {
        let expected = self.expected.unwrap_or(now);
        if now + self.limit < expected {
            return false;
        }
        self.expected = Some(expected.max(now) + self.increment);
        true
    }

    /// The theoretical arrival time of the next cell.
    #[must_use]
    pub fn expected(&self) -> Option<Time> {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policing::bounds::{arrivals, most_above};

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Cells conform to the contract that I.371 defines. T = 10, tau = 16: TAT 0 -> 10, 20, 30 with
    /// cells at 0, 4, 8 (20 - 16 <= 8); 12 < 30 - 16 not; 20 -> 40; 22 < 24 not; 40 -> 50; 41 ->
    /// 60; 42, 43 < 44 not.
    #[test]
    fn the_test_vector_of_virtual_scheduling() {
        let mut law = Gcra::new(Span::from_us(10), Span::from_us(16));
        let conforms = [0, 4, 8, 12, 20, 22, 40, 41, 42, 43].map(|us| law.conforms(at(us)));
        let expected = [true, true, true, false, true, false, true, true, false, false];
        assert_eq!(conforms, expected);
        assert_eq!(law.expected(), Some(at(60)));
    }

    /// Bursts conform as long as the tolerance allows: of cells back to back, delta apart, 1 +
    /// floor(tau / (T - delta)) conform (I.371, annex A).
    #[test]
    fn a_burst_conforms_as_long_as_the_tolerance_allows() {
        for (increment, limit, delta) in [(10, 16, 2), (10, 40, 2), (100, 350, 30), (7, 0, 1)] {
            let mut law = Gcra::new(Span::from_us(increment), Span::from_us(limit));
            let burst = (0..1000).take_while(|number| law.conforms(at(number * delta))).count();
            assert_eq!(burst as u64, 1 + limit / (increment - delta));
        }
    }

    /// The two forms of the algorithm in I.371 agree: the continuous-state leaky bucket drains with
    /// time, holds T more after each conforming cell, and admits a cell that finds at most tau. And
    /// no window holds more conforming cells than 1 + (tau + window) / T.
    #[test]
    fn virtual_scheduling_equals_the_continuous_leaky_bucket() {
        let (increment, limit) = (Span::from_us(1000), Span::from_us(3500));
        let mut law = Gcra::new(increment, limit);
        let (mut level, mut last) = (Span::ZERO, Time::ZERO);
        let mut conforming = Vec::new();
        for now in arrivals(20_000, Span::from_us(800), 4) {
            let left = level - now.since(last);
            let fits = left <= limit;
            assert_eq!(law.conforms(now), fits, "{now:?}");
            if fits {
                (level, last) = (left + increment, now);
                conforming.push(now);
            }
        }
        let most = most_above(&conforming, 1e3);
        assert!(most <= 1.0 + 3.5 + 1e-6 && most > 3.5, "{most}");
    }
}
