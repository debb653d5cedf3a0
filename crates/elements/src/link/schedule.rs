//! Capacity of a link over time: rates and propagation delays that change at given times, and
//! opportunities for delivery.
//!
//! What was offered from the start of the run to a time is computed in whole units of a bit times a
//! picosecond over a second, so that the end of a transmission over any number of changes is exact
//! but for the one rounding of all transmissions: up to the next picosecond.

use forebay_units::{PS_PER_S, Rate, Span, Time};

/// Units of work in a bit: a rate in bit/s times a span in ps is work.
const BIT: u128 = PS_PER_S as u128;

/// Rates over time: each holds from its time until the next, and all of them again after the
/// period if there is one.
#[derive(Clone, Debug)]
pub struct RateSchedule {
    steps: Vec<RateStep>,
    /// The period in ps and the work that it offers.
    period: Option<(u64, u128)>,
}

#[derive(Clone, Copy, Debug)]
struct RateStep {
    at: u64,
    rate: Rate,
    /// Work offered in the period before it.
    before: u128,
}

impl RateSchedule {
    /// The rates of `steps`, which are in order and begin at the start of the run.
    ///
    /// # Panics
    /// Without steps, if they do not begin at zero or are not in order, or if a `period` does not
    /// end after the last or offers nothing; scenario reading refuses these.
    #[must_use]
    pub fn new(steps: &[(Span, Rate)], period: Option<Span>) -> Self {
        assert!(steps.first().is_some_and(|(at, _)| *at == Span::ZERO), "rates begin at zero");
        assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0), "rates are in order");
        let mut before = 0;
        let mut read: Vec<RateStep> = Vec::with_capacity(steps.len());
        for (at, rate) in steps {
            if let Some(last) = read.last() {
                before += work(last.rate, at.ps() - last.at);
            }
            read.push(RateStep { at: at.ps(), rate: *rate, before });
        }
        let last = read[read.len() - 1];
        let period = period.map(|period| {
            assert!(period.ps() > last.at, "a period ends after its last rate");
            (period.ps(), before + work(last.rate, period.ps() - last.at))
        });
        assert!(period.is_none_or(|(_, offered)| offered > 0), "a period offers something");
        Self { steps: read, period }
    }

    /// The rate at `now`.
    #[must_use]
    pub fn rate(&self, now: Time) -> Rate {
        self.step(self.period.map_or(now.ps(), |(period, _)| now.ps() % period)).rate
    }

    /// Bits offered from `from` to `to`, in fractions of a bit.
    #[must_use]
    pub fn offered(&self, from: Time, to: Time) -> f64 {
        (self.until(to) - self.until(from.min(to))) as f64 / BIT as f64
    }

    /// Returns the time at which a transmission of `bits` that begins at `start` ends: the
    /// remaining bits continue at the new rate where it changes. [`Time::NEVER`] if no more is
    /// offered.
    #[must_use]
    pub fn end(&self, start: Time, bits: u64) -> Time {
        if start == Time::NEVER {
            return Time::NEVER;
        }
        self.reached(self.until(start) + u128::from(bits) * BIT)
    }

    /// The rates until `end`, one by one; `None` if they are more than `most`.
    #[must_use]
    pub fn list(&self, end: Time, most: usize) -> Option<Vec<(Time, Rate)>> {
        let mut list = Vec::new();
        let mut begin = Time::ZERO;
        loop {
            for step in &self.steps {
                let at = begin + Span::from_ps(step.at);
                if at > end {
                    return Some(list);
                }
                if list.len() == most {
                    return None;
                }
                list.push((at, step.rate));
            }
            match self.period {
                None => return Some(list),
                Some((period, _)) => begin += Span::from_ps(period),
            }
        }
    }

    /// Whole bits offered from `from` to `to`.
    pub(super) fn whole_bits(&self, from: Time, to: Time) -> u64 {
        let work = self.until(to) - self.until(from.min(to));
        u64::try_from(work / BIT).unwrap_or(u64::MAX)
    }

    /// The step in force `at` ps after the beginning of a period.
    fn step(&self, at: u64) -> &RateStep {
        &self.steps[self.steps.partition_point(|step| step.at <= at) - 1]
    }

    /// Work offered up to `time`.
    fn until(&self, time: Time) -> u128 {
        let (whole, rest) = match self.period {
            None => (0, time.ps()),
            Some((period, offered)) => {
                (u128::from(time.ps() / period) * offered, time.ps() % period)
            }
        };
        let step = self.step(rest);
        whole + step.before + work(step.rate, rest - step.at)
    }

    /// The first time at which so much work, more than none, has been offered.
    fn reached(&self, target: u128) -> Time {
        let (whole, rest) = match self.period {
            None => (0, target),
            Some((period, offered)) => {
                let periods = (target - 1) / offered;
                (periods * u128::from(period), target - periods * offered)
            }
        };
        // The last step before the target offers what is missing, unless it offers nothing at all.
        let step = &self.steps[self.steps.partition_point(|step| step.before < rest) - 1];
        if step.rate.bps() == 0 {
            return Time::NEVER;
        }
        let span = (rest - step.before).div_ceil(u128::from(step.rate.bps()));
        let ps = whole + u128::from(step.at) + span;
        u64::try_from(ps).map_or(Time::NEVER, Time::from_ps)
    }
}

fn work(rate: Rate, ps: u64) -> u128 {
    u128::from(rate.bps()) * u128::from(ps)
}

/// Opportunities for delivery at given times, over and over again.
///
/// As a trace of mahimahi is replayed (Netravali et al., *Mahimahi: accurate record-and-replay for
/// HTTP*, USENIX ATC 2015, section 4): the last time is the period, and an opportunity at time 0 is
/// in effect at the end of each period, as no packet is there at the start of the run.
#[derive(Clone, Debug)]
pub struct Opportunities {
    times: Vec<OpportunityTime>,
    period: u64,
}

/// Bytes that an opportunity delivers at most.
pub const OPPORTUNITY_BYTES: u64 = 1500;

#[derive(Clone, Copy, Debug)]
struct OpportunityTime {
    at: u64,
    /// Opportunities up to this time, from the beginning of the period.
    until: u64,
}

impl Opportunities {
    /// An opportunity at each of `times`, which are in order.
    ///
    /// # Panics
    /// If the last is at zero, there is none, or they are not in order; scenario reading refuses
    /// these.
    #[must_use]
    pub fn new(times: &[Span]) -> Self {
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "opportunities are in order");
        let period = times.last().map_or(0, |last| last.ps());
        assert!(period > 0, "a trace takes time");
        let at_zero = times.iter().take_while(|at| **at == Span::ZERO).count();
        let mut read: Vec<OpportunityTime> = Vec::new();
        for (at, until) in times[at_zero..].iter().zip(1..) {
            match read.last_mut().filter(|last| last.at == at.ps()) {
                Some(last) => last.until = until,
                None => read.push(OpportunityTime { at: at.ps(), until }),
            }
        }
        read.last_mut().expect("the last is not at zero").until += at_zero as u64;
        Self { times: read, period }
    }

    /// Bits at each time with opportunities until `end`; `None` if these are more than `most`.
    #[must_use]
    pub fn list(&self, end: Time, most: usize) -> Option<Vec<(Time, u64)>> {
        let (mut list, mut now) = (Vec::new(), Time::ZERO);
        loop {
            let next = self.next(now);
            if next > end {
                return Some(list);
            }
            if list.len() == most {
                return None;
            }
            list.push((next, 8 * self.offered(now, next)));
            now = next;
        }
    }

    /// The first time after `now` at which there are opportunities.
    pub(super) fn next(&self, now: Time) -> Time {
        let (whole, rest) = (now.ps() / self.period, now.ps() % self.period);
        let next = self.times[self.times.partition_point(|each| each.at <= rest)].at;
        let ps = u128::from(whole) * u128::from(self.period) + u128::from(next);
        u64::try_from(ps).map_or(Time::NEVER, Time::from_ps)
    }

    /// Bytes that can be delivered after `from` and up to `to`.
    #[must_use]
    pub fn offered(&self, from: Time, to: Time) -> u64 {
        (self.until(to) - self.until(from.min(to))) * OPPORTUNITY_BYTES
    }

    /// Opportunities up to `time`.
    fn until(&self, time: Time) -> u64 {
        let each = self.times[self.times.len() - 1].until;
        let (whole, rest) = (time.ps() / self.period, time.ps() % self.period);
        let passed = self.times.partition_point(|each| each.at <= rest);
        whole * each + passed.checked_sub(1).map_or(0, |last| self.times[last].until)
    }
}

/// Capacity of a link over time.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// Rates.
    Rates(RateSchedule),
    /// Opportunities for delivery.
    Opportunities(Opportunities),
}

impl Capacity {
    /// Bits offered after `from` and up to `to`.
    #[must_use]
    pub fn offered(&self, from: Time, to: Time) -> f64 {
        match self {
            Self::Rates(rates) => rates.offered(from, to),
            Self::Opportunities(times) => 8.0 * times.offered(from, to) as f64,
        }
    }
}

/// Propagation delays over time: each holds from its time until the next, and all of them again
/// after the period if there is one.
#[derive(Clone, Debug)]
pub struct DelaySchedule {
    /// In order, the first at zero.
    steps: Vec<(Span, Span)>,
    period: Option<Span>,
}

impl DelaySchedule {
    /// The delays of `steps`, which are in order and begin at the start of the run.
    ///
    /// # Panics
    /// If they do not begin at zero; scenario reading sees to that.
    #[must_use]
    pub fn new(steps: Vec<(Span, Span)>, period: Option<Span>) -> Self {
        assert!(steps.first().is_some_and(|(at, _)| *at == Span::ZERO), "delays begin at zero");
        Self { steps, period }
    }

    /// The delay at `now`.
    #[must_use]
    pub fn delay(&self, now: Time) -> Span {
        let at = self.period.map_or(now.ps(), |period| now.ps() % period.ps());
        self.steps[self.steps.partition_point(|(from, _)| from.ps() <= at) - 1].1
    }

    /// The least delay.
    #[must_use]
    pub fn least(&self) -> Span {
        self.steps.iter().map(|(_, delay)| *delay).min().unwrap_or_default()
    }

    /// The only delay, if it never changes.
    #[must_use]
    pub fn fixed(&self) -> Option<Span> {
        let first = self.steps[0].1;
        self.steps.iter().all(|(_, delay)| *delay == first).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    fn rates(steps: &[(u64, u64)], period: Option<u64>) -> RateSchedule {
        let steps: Vec<_> =
            steps.iter().map(|(ms, bps)| (Span::from_ms(*ms), Rate::from_bps(*bps))).collect();
        RateSchedule::new(&steps, period.map(Span::from_ms))
    }

    /// The remaining bits of a packet continue at the new rate when the link becomes slower: 8000
    /// bit begun at 9 ms have 1 ms at 1 Mbit/s (1000 bit) and then need 7000 bit at 500 kbit/s, 14
    /// ms: the end is at 24 ms.
    #[test]
    fn remaining_bits_continue_at_the_new_rate() {
        let schedule = rates(&[(0, 1_000_000), (10, 500_000)], None);
        assert_eq!(schedule.end(at(9 * MS), 8000), at(24 * MS));
        assert_eq!(schedule.end(at(2 * MS), 8000), at(10 * MS));
        assert_eq!(schedule.end(at(10 * MS), 8000), at(26 * MS));
        let [before, after] = [at(10 * MS - 1), at(10 * MS)].map(|now| schedule.rate(now).bps());
        assert_eq!((before, after), (1_000_000, 500_000));
        assert_eq!(schedule.offered(at(5 * MS), at(20 * MS)), 10_000.0);
    }

    /// A transmission over changes is rounded once, not at each of them: 3 bit at 3 bit/s and then
    /// 7 bit/s. From 1 ps before the change of 1 s on, 3e-12 bit are sent before it, and the rest
    /// takes (3 - 3e-12) / 7 s = 428,571,428,571 ps exactly (3e12 - 3 = 7 * 428,571,428,571), so no
    /// rounding at all; without the first ps it is 428,571,428,571.43 ps, rounded up.
    #[test]
    fn there_is_one_rounding() {
        let second = PS_PER_S;
        let schedule = rates(&[(0, 3), (1000, 7)], None);
        assert_eq!(schedule.end(at(second - 1), 3), at(second + 428_571_428_571));
        assert_eq!(schedule.end(at(second), 3), at(second + 428_571_428_572));
        let fixed = rates(&[(0, 34_000_000)], None);
        for (bytes, start) in [(576, 0), (1, 17), (1500, 3)] {
            let size = forebay_units::Size::from_bytes(bytes);
            let span = Rate::from_bps(34_000_000).transmission_time(size);
            assert_eq!(fixed.end(at(start), 8 * bytes), at(start) + span);
        }
    }

    /// A link that stalls sends nothing meanwhile, and continues afterwards: at 1 Mbit/s with a
    /// pause from 5 to 25 ms, 8000 bit begun at 0 end at 28 ms.
    #[test]
    fn a_rate_of_zero_stalls() {
        let schedule = rates(&[(0, 1_000_000), (5, 0), (25, 1_000_000)], None);
        assert_eq!(schedule.end(at(0), 8000), at(28 * MS));
        assert_eq!(schedule.end(at(0), 5000), at(5 * MS));
        assert_eq!(schedule.end(at(7 * MS), 1000), at(26 * MS));
        let ended = rates(&[(0, 1_000_000), (5, 0)], None);
        assert_eq!(ended.end(at(0), 5000), at(5 * MS));
        assert_eq!(ended.end(at(0), 5001), Time::NEVER);
        assert_eq!(ended.end(Time::NEVER, 1), Time::NEVER);
    }

    /// A schedule repeats without drift: 1 Mbit/s for 10 of 20 ms is 10,000 bit a period. 25,000
    /// bit begun at 0 end half-way through the third: at 45 ms; begun in a pause, at 15 ms, 10,000
    /// bit end with the next active part, at 30 ms.
    #[test]
    fn a_schedule_repeats() {
        let schedule = rates(&[(0, 1_000_000), (10, 0)], Some(20));
        assert_eq!(schedule.end(at(0), 25_000), at(45 * MS));
        assert_eq!(schedule.end(at(15 * MS), 10_000), at(30 * MS));
        assert_eq!(schedule.end(at(0), 10_000), at(10 * MS));
        assert_eq!(schedule.offered(at(5 * MS), at(1005 * MS)), 500_000.0);
        assert_eq!(schedule.rate(at(1009 * MS)).bps(), 1_000_000);
        assert_eq!(schedule.rate(at(1010 * MS)).bps(), 0);
    }

    /// Opportunities at the seam of two periods come once each, and none is lost: at 3, 3, 7 ms,
    /// then at 10, 10, 14 ms.
    #[test]
    fn opportunities_repeat_after_the_last() {
        let times = Opportunities::new(&[3, 3, 7].map(Span::from_ms));
        let mut now = at(0);
        let mut seen = Vec::new();
        for _ in 0..4 {
            let next = times.next(now);
            seen.push((next.ps() / MS, times.offered(now, next)));
            now = next;
        }
        assert_eq!(seen, [(3, 3000), (7, 1500), (10, 3000), (14, 1500)]);
        assert_eq!(times.offered(at(0), at(700 * MS)), 300 * 1500);
        assert_eq!(times.next(at(3 * MS - 1)), at(3 * MS));
        // One at 0 comes with the last of the period before.
        let times = Opportunities::new(&[0, 5].map(Span::from_ms));
        assert_eq!((times.next(at(0)), times.offered(at(0), at(5 * MS))), (at(5 * MS), 3000));
    }

    /// Delays change at the given times, and hold until the next.
    #[test]
    fn delays_hold_until_the_next() {
        let steps = vec![(Span::ZERO, Span::from_ms(5)), (Span::from_ms(10), Span::from_ms(20))];
        let delays = DelaySchedule::new(steps, Some(Span::from_ms(30)));
        let seen = [0, 10 * MS - 1, 10 * MS, 29 * MS, 30 * MS, 40 * MS];
        assert_eq!(seen.map(|now| delays.delay(at(now)).ps() / MS), [5, 5, 20, 20, 5, 20]);
        assert_eq!(delays.fixed(), None);
        let one = DelaySchedule::new(vec![(Span::ZERO, Span::from_ms(5))], None);
        assert_eq!(one.fixed(), Some(Span::from_ms(5)));
    }
}
