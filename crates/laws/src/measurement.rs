//! Counts of an egress node during an interval of measurement (RFC 6661, section 3.2.1).

use forebay_network::PcnMark;
use forebay_parameters::{Problem, Section};
use forebay_units::Span;

use crate::pcn_edge::Leaving;

/// Bytes of an aggregate by their mark: NM, ThM and ETM of RFC 6661.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Measurement {
    pub unmarked: u64,
    pub threshold: u64,
    pub excess: u64,
}

impl Measurement {
    /// Count a packet; other traffic than PCN's does not count.
    pub(crate) fn count(&mut self, packet: &Leaving) {
        let size = u64::from(packet.size);
        match packet.mark {
            None => {}
            Some(PcnMark::Unmarked) => self.unmarked += size,
            Some(PcnMark::Threshold) => self.threshold += size,
            Some(PcnMark::Excess) => self.excess += size,
        }
    }

    /// The share of `marked` bytes in all; 0 without traffic.
    pub(crate) fn share(&self, marked: u64) -> f64 {
        let all = self.unmarked + self.threshold + self.excess;
        // Both counts are exact in 64-bit floats and the division rounds to nearest, as reading a
        // decimal does: a share that equals a limit on paper equals it here.
        if all == 0 { 0.0 } else { marked as f64 / all as f64 }
    }
}

/// The rate of `bytes` in `interval`, in bit/s.
pub(crate) fn rate(bytes: u64, interval: Span) -> f64 {
    8.0 * bytes as f64 / interval.seconds()
}

/// Refuse an interval of measurement over which there is no rate.
pub(crate) fn check_interval(section: &Section<'_>, interval: Span) -> Result<(), Problem> {
    if interval < Span::from_ms(1) {
        let message = "is too short to measure a rate; allowed are intervals from 1 ms";
        return Err(section.fail("interval", message));
    }
    Ok(())
}

/// Refuse a limit that no congestion level could be compared with.
pub(crate) fn check_limit(section: &Section<'_>, limit: f64) -> Result<(), Problem> {
    if !(0.0..=1.0).contains(&limit) {
        let message = format!("{limit} is not a congestion level; allowed are 0 to 1");
        return Err(section.fail("limit", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_units::Time;

    /// Bytes are counted by mark, and other traffic is not counted: it does not thin out the marks.
    #[test]
    fn bytes_are_counted_by_mark() {
        let mut counted = Measurement::default();
        let marks = [PcnMark::Unmarked, PcnMark::Threshold, PcnMark::Excess].map(Some);
        for (mark, size) in marks.into_iter().chain([None]).zip([75, 20, 5, 1500]) {
            counted.count(&Leaving { now: Time::ZERO, mark, size, call: 0 });
        }
        assert_eq!(counted, Measurement { unmarked: 75, threshold: 20, excess: 5 });
    }

    /// Shares are the decimals that a reader means, so that a level equal to its limit does not
    /// fall below it by rounding: k of n bytes are exactly the decimal k/n for every n that divides
    /// a power of ten.
    #[test]
    fn shares_are_the_decimals_that_a_reader_means() {
        for (marked, all, text) in [
            (1, 10, "0.1"),
            (3, 10, "0.3"),
            (7, 100, "0.07"),
            (33, 200, "0.165"),
            (29, 1000, "0.029"),
        ] {
            let counted = Measurement { unmarked: all - marked, threshold: 0, excess: marked };
            assert_eq!(counted.share(marked), text.parse::<f64>().unwrap());
        }
        assert_eq!(Measurement::default().share(0), 0.0);
    }

    /// Rates are bits by seconds: 3000 B in 240 ms are 12500 B/s.
    #[test]
    fn rates_are_bits_by_seconds() {
        assert_eq!(rate(3000, Span::from_ms(240)), 100_000.0);
    }
}
