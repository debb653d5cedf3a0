//! Capacity that a link that changes offers, added up in the plainest way.

use forebay_units::{Rate, Time};

/// Capacity that a link offers over time.
#[derive(Clone, Debug)]
pub enum Offer {
    /// Rates, each from its time on. The first time is zero.
    Rates(Vec<(Time, Rate)>),
    /// Bits that are offered at each of these times, in order.
    Bits(Vec<(Time, u64)>),
}

/// One bit, as a multiple of a bit/s over a ps.
pub(crate) const BIT: u128 = 1_000_000_000_000;

impl Offer {
    /// Bits times [`BIT`] that are offered after `from` and up to `to`.
    pub(crate) fn between(&self, from: Time, to: Time) -> u128 {
        match self {
            Self::Rates(steps) => {
                let first = steps.partition_point(|(at, _)| *at <= from).saturating_sub(1);
                let mut offered = 0;
                for (place, (at, rate)) in steps.iter().enumerate().skip(first) {
                    let next = steps.get(place + 1).map_or(Time::NEVER, |(next, _)| *next);
                    let span = to.min(next).since(from.max(*at));
                    offered += u128::from(rate.bps()) * u128::from(span.ps());
                    if next >= to {
                        break;
                    }
                }
                offered
            }
            Self::Bits(times) => {
                let first = times.partition_point(|(at, _)| *at <= from);
                let within = times[first..].iter().take_while(|(at, _)| *at <= to);
                within.map(|(_, bits)| u128::from(*bits) * BIT).sum()
            }
        }
    }

    /// Returns the capacity offered at the very instant `at`.
    pub(crate) fn at(&self, at: Time) -> u128 {
        match self {
            Self::Rates(_) => 0,
            Self::Bits(_) => self.between(at.just_before(), at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers add up over the given rates or bits, for any interval: a link that changes is held to
    /// this sum.
    #[test]
    fn offers_add_up() {
        let at = Time::from_ps;
        let bps = Rate::from_bps;
        let rates = Offer::Rates(vec![(at(0), bps(3)), (at(10), bps(0)), (at(20), bps(7))]);
        // 3 for 5 ps, nothing for 10 ps, 7 for 4 ps.
        assert_eq!(rates.between(at(5), at(24)), 15 + 28);
        assert_eq!((rates.between(at(12), at(18)), rates.at(at(20))), (0, 0));
        assert_eq!(rates.between(at(30), at(31)), 7);
        let bits = Offer::Bits(vec![(at(3), 10), (at(7), 20)]);
        assert_eq!(bits.between(at(3), at(7)), 20 * BIT);
        assert_eq!((bits.between(at(2), at(6)), bits.at(at(7))), (10 * BIT, 20 * BIT));
    }
}
