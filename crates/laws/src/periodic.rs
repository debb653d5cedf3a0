//! Updates at intervals, of laws, which have no clock.

use forebay_units::{Span, Time};

/// Effect of an update on those that follow: they have to be made up for one by one, or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Update {
    /// The next one has an effect of its own.
    Changing,
    /// Only the last of those that follow has an effect, if any has, as long as no packet moves.
    Settled,
}

/// Times of the updates that a law makes every so often.
///
/// A law is asked when a packet comes or leaves, and then makes up for the updates that were due
/// since, each as of its own time, so that every decision is as if they had been made in time. That
/// can be after days without a packet: once an update has [settled](Update::Settled), all but the
/// last of those that are due are passed over.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Periodic {
    due: Time,
    interval: Span,
}

impl Periodic {
    /// Updates every `interval`, the first one so long after the start of the run.
    ///
    /// # Panics
    /// If the interval is zero.
    #[must_use]
    pub fn every(interval: Span) -> Self {
        assert!(interval > Span::ZERO, "updates without an interval never end");
        Self { due: Time::ZERO + interval, interval }
    }

    /// Returns the time at which the next one is due.
    #[must_use]
    pub const fn due(&self) -> Time {
        self.due
    }

    /// Make the updates that are due by `now`, at which each is handed its time.
    #[inline]
    pub fn catch_up(&mut self, now: Time, mut update: impl FnMut(Time) -> Update) {
        while self.due <= now {
            let found = update(self.due);
            self.due += self.interval;
            if found == Update::Settled && self.due <= now {
                let missed = now.since(self.due).ps() / self.interval.ps();
                self.due += self.interval.times(missed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Time {
        Time::ZERO + Span::from_ms(time)
    }

    /// Each update is made once and with its own time: every 15 ms there are two by 44 ms, at 15
    /// and 30 ms, and the third is due at 45 ms, before what happens then.
    #[test]
    fn each_update_is_made_at_its_time() {
        let mut updates = Periodic::every(Span::from_ms(15));
        let mut made = Vec::new();
        for now in [0, 14, 44, 44, 45] {
            updates.catch_up(ms(now), |at| {
                made.push((now, at));
                Update::Changing
            });
        }
        assert_eq!(made, [(44, ms(15)), (44, ms(30)), (45, ms(45))]);
        assert_eq!(updates.due(), ms(60));
    }

    /// Updates that have settled are passed over, instead of 576 million of 15 ms for a queue left
    /// alone for a hundred days. An average that is halved reaches the smallest of 2^10 after ten,
    /// and the eleventh finds that nothing changes; then the last one due is made.
    #[test]
    fn what_has_settled_is_passed_over() {
        let mut updates = Periodic::every(Span::from_ms(15));
        let (mut average, mut made) = (1024_u32, Vec::new());
        let days = ms(100 * 24 * 3_600_000);
        updates.catch_up(days, |at| {
            made.push(at);
            let before = average;
            average = (average / 2).max(1);
            if average == before { Update::Settled } else { Update::Changing }
        });
        assert_eq!((average, made.len()), (1, 12));
        assert_eq!(made[10], ms(11 * 15));
        assert_eq!(made[11], days, "a hundred days are a whole number of 15 ms");
        assert_eq!(updates.due(), days + Span::from_ms(15));
    }
}
