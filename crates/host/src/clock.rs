//! Simulated time as a stack counts it.

#![expect(clippy::disallowed_types, reason = "stacks take an Instant; only differences count")]

use std::time::{Duration, Instant};

use forebay_units::Time;

const PS_PER_NS: u64 = 1000;

/// Simulated time as [`Instant`]s, for stacks that take these. One base a run; only differences to
/// it count.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    base: Instant,
}

impl Clock {
    /// A clock whose time zero is the instant at which it is made.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "two clocks are never equal")]
    pub fn new() -> Self {
        Self { base: Instant::now() }
    }

    /// `time` in whole nanoseconds, rounded down: so a stack that is woken at the time that it
    /// named, or later, is never told an earlier one.
    #[must_use]
    pub fn instant(&self, time: Time) -> Instant {
        self.base + Duration::from_nanos(time.ps() / PS_PER_NS)
    }

    /// The time of `instant`; [`Time::ZERO`] if that lies before the base, [`Time::NEVER`] if no
    /// run reaches it.
    #[must_use]
    pub fn time(&self, instant: Instant) -> Time {
        let nanoseconds = instant.saturating_duration_since(self.base).as_nanos();
        u64::try_from(nanoseconds * u128::from(PS_PER_NS)).map_or(Time::NEVER, Time::from_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack that names an instant is woken at that instant, to the nanosecond, and a packet that
    /// arrives within a nanosecond counts as arrived at its beginning: times never decrease.
    #[test]
    fn instants_and_times_agree() {
        let clock = Clock::new();
        let time = Time::from_ps(1_234_567);
        assert_eq!(clock.time(clock.instant(time)), Time::from_ps(1_234_000));
        let named = clock.instant(Time::ZERO) + Duration::from_micros(7);
        assert_eq!(clock.instant(clock.time(named)), named);
        assert_eq!(clock.time(clock.base - Duration::from_secs(1)), Time::ZERO);
        assert_eq!(clock.time(clock.base + Duration::from_secs(1 << 40)), Time::NEVER);
    }
}
