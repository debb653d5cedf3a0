//! Quantities with their units: [`Time`], [`Span`], [`Rate`], [`Size`], [`Frequency`].
//!
//! Each is an integer in one stated unit behind a type, so that seconds never meet bytes by
//! accident. There is one lossy conversion, [`Rate::transmission_time`], and it rounds up: a link
//! that serves packets for these times never exceeds its rate. [`quantity`] reads and prints the
//! texts (`"34 Mbit/s"`, `"2.5 ms"`, `"45 kB"`).
#![doc = include_str!("../README.md")]

pub mod quantity;

use std::ops::{Add, AddAssign, Sub};

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant of simulated time: picoseconds since the start of the run.
///
/// 64 bits reach 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every instant that a run can reach.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    #[must_use]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The last instant before this one; the start has none before it and stays.
    #[must_use]
    pub const fn just_before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// The span since `earlier`; zero if `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

/// A length of time in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than every run.
    pub const MAX: Self = Self(u64::MAX);

    /// `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// `ms` milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// `s` seconds.
    #[must_use]
    pub const fn from_s(s: u64) -> Self {
        Self(s * PS_PER_S)
    }

    /// `seconds` rounded to the nearest picosecond; negative and NaN become zero, huge values
    /// saturate.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        Self::nearest(seconds * PS_PER_S as f64)
    }

    /// Picoseconds.
    #[must_use]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Seconds.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// This span `times` over, saturating.
    #[must_use]
    pub const fn times(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }

    /// The whole number of picoseconds nearest to `ps`; negative and NaN become zero, huge values
    /// saturate.
    #[inline]
    #[must_use]
    pub fn nearest(ps: f64) -> Self {
        // A float-to-integer cast saturates and sends NaN to zero, on every platform alike.
        Self((ps + 0.5) as u64)
    }

    /// This span scaled by `factor`, rounded to the nearest picosecond, saturating.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self::nearest(self.0 as f64 * factor)
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// A data rate in bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Rate(u64);

impl Rate {
    /// `bps` bit/s.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Bit/s.
    #[must_use]
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Byte/s.
    #[must_use]
    pub const fn bytes_per_second(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// The time to transmit `size`, rounded up to the next picosecond.
    ///
    /// # Panics
    /// If the rate is zero: scenario reading refuses such links.
    #[must_use]
    pub fn transmission_time(self, size: Size) -> Span {
        assert!(self.0 > 0, "a link has a rate above zero");
        const PS_BITS: u64 = 8 * PS_PER_S;
        // The product fits 64 bits up to 2.3 MB; packets stay on the cheap division.
        match size.0.checked_mul(PS_BITS) {
            Some(work) => Span(work.div_ceil(self.0)),
            None => {
                let ps = (u128::from(size.0) * u128::from(PS_BITS)).div_ceil(u128::from(self.0));
                Span(u64::try_from(ps).unwrap_or(u64::MAX))
            }
        }
    }
}

/// Rate of events: a millionth of an event an hour is one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Frequency(u64);

impl Frequency {
    /// One event an hour.
    pub const HOURLY: u64 = 1_000_000;

    /// `n` millionths of an event an hour.
    #[must_use]
    pub const fn from_micro_per_hour(n: u64) -> Self {
        Self(n)
    }

    /// Millionths of an event an hour.
    #[must_use]
    pub const fn micro_per_hour(self) -> u64 {
        self.0
    }

    /// Events a second.
    #[must_use]
    pub const fn per_second(self) -> f64 {
        self.0 as f64 / (3600 * Self::HOURLY) as f64
    }
}

/// An amount of data in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Size(u64);

impl Size {
    /// `bytes` bytes.
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// Bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transmission times are rounded up: 576 B at 34 Mbit/s takes 4608 bit / 34e6 bit/s =
    /// 135,529,411.76.. ps.
    #[test]
    fn transmission_time_rounds_up() {
        let rate = Rate::from_bps(34_000_000);
        assert_eq!(rate.transmission_time(Size::from_bytes(576)), Span::from_ps(135_529_412));
        // 1 byte at 800 Gbit/s is 10 ps exactly: nothing to round.
        let fast = Rate::from_bps(800_000_000_000);
        assert_eq!(fast.transmission_time(Size::from_bytes(1)), Span::from_ps(10));
    }

    /// The transmission time of a huge transfer is exact, and that of one that takes longer than
    /// time goes is the longest span: none wraps around to a short one.
    #[test]
    fn transmission_time_of_huge_sizes_is_exact() {
        // 1 TB at 1 Gbit/s: 8e12 bit / 1e9 bit/s = 8000 s.
        let rate = Rate::from_bps(1_000_000_000);
        assert_eq!(rate.transmission_time(Size::from_bytes(1_000_000_000_000)), Span::from_s(8000));
        // 3 MB at 7 bit/s: 24e6 / 7 s = 3428571.428571428571428.. s, rounded up; the product of
        // bits and picoseconds is 2.4e19, more than 64 bits hold.
        let slow = Rate::from_bps(7);
        let ps = 3_428_571_428_571_428_572;
        assert_eq!(slow.transmission_time(Size::from_bytes(3_000_000)), Span::from_ps(ps));
        // 1 TB at 1 bit/s is 8e24 ps, longer than time goes.
        let slowest = Rate::from_bps(1);
        assert_eq!(slowest.transmission_time(Size::from_bytes(1_000_000_000_000)), Span::MAX);
    }

    /// Quantities are numbers in the units that their methods name.
    #[test]
    fn quantities_are_numbers_in_their_units() {
        assert_eq!(Time::from_ps(2_500_000_000_000).seconds(), 2.5);
        assert_eq!(Time::from_ps(7).ps(), 7);
        assert_eq!(Span::from_us(2_500_000).seconds(), 2.5);
        assert_eq!(Span::from_us(3).ps(), 3_000_000);
        assert_eq!(Span::from_ms(3).ps(), 3_000_000_000);
        assert_eq!(Span::from_s(3).ps(), 3_000_000_000_000);
        assert_eq!(Rate::from_bps(20).bytes_per_second(), 2.5);
        // 9000 an hour are 2.5 a second.
        assert_eq!(Frequency::from_micro_per_hour(9000 * Frequency::HOURLY).per_second(), 2.5);
        assert_eq!(Size::from_bytes(3).bits(), 24);
        assert_eq!(Size::from_bytes(u64::MAX).bits(), u64::MAX);
    }

    /// Times and spans add up, and stop at their ends instead of wrapping around.
    #[test]
    fn times_and_spans_add_up_to_the_ends() {
        let (time, span) = (Time::from_ps(10), Span::from_ps(4));
        assert_eq!(time + span, Time::from_ps(14));
        let mut later = time;
        later += span;
        assert_eq!(later, Time::from_ps(14));
        assert_eq!(Time::from_ps(14).since(time), span);
        assert_eq!(time.since(Time::from_ps(14)), Span::ZERO);
        assert_eq!(Time::NEVER + span, Time::NEVER);
        assert_eq!(time.just_before(), Time::from_ps(9));
        assert_eq!(Time::ZERO.just_before(), Time::ZERO);
        assert_eq!(span + Span::from_ps(6), Span::from_ps(10));
        assert_eq!(Span::MAX + span, Span::MAX);
        assert_eq!(Span::from_ps(6) - span, Span::from_ps(2));
        assert_eq!(span - Span::from_ps(6), Span::ZERO);
        assert_eq!(span.times(3), Span::from_ps(12));
        assert_eq!(Span::MAX.times(2), Span::MAX);
    }

    /// A span from a float is the nearest in whole picoseconds, so random spans are not shorter
    /// than drawn on average.
    #[test]
    fn spans_from_floats_are_the_nearest() {
        for (ps, whole) in [(0.4, 0), (0.5, 1), (1.4, 1), (1.6, 2)] {
            assert_eq!(Span::nearest(ps), Span::from_ps(whole), "{ps}");
        }
        assert_eq!(Span::nearest(f64::INFINITY), Span::MAX);
        assert_eq!(Span::from_ps(10).scaled(0.25), Span::from_ps(3));
        assert_eq!(Span::from_ps(10).scaled(1.5), Span::from_ps(15));
    }

    /// A span from a negative float is zero, so no draw moves the clock backwards.
    #[test]
    fn spans_from_floats_never_go_negative() {
        assert_eq!(Span::from_seconds(-1.0), Span::ZERO);
        assert_eq!(Span::from_seconds(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_seconds(2.5e-3), Span::from_us(2500));
    }
}
