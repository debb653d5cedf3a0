//! CAKE's shaper: virtual clocks of the link and of each tin, without a burst.

use forebay_units::{Rate, Size, Time};

/// Clock that each packet that leaves moves on.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Clock {
    rate: Rate,
    /// Time at which the next packet may leave.
    pub(in crate::queue) next: Time,
}

impl Clock {
    pub(in crate::queue) fn new(rate: Rate) -> Self {
        Self { rate, next: Time::ZERO }
    }

    /// A packet of `bytes` leaves at `now`, where the tin holds its packets back as best it can:
    /// one that is behind its schedule catches up, one that is ahead of it is not more so than by
    /// this packet.
    pub(in crate::queue) fn charge_tin(&mut self, bytes: u64, now: Time) {
        let span = self.rate.transmission_time(Size::from_bytes(bytes));
        if self.next < now {
            self.next += span;
        } else {
            self.next = self.next.max(now + span);
        }
    }
}

/// The clocks of the link.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Shaper {
    clock: Clock,
    /// Time at which the next packet may leave at two thirds of the rate, whatever else was
    /// charged.
    failsafe: Time,
}

impl Shaper {
    pub(in crate::queue) fn new(rate: Rate) -> Self {
        Self { clock: Clock::new(rate), failsafe: Time::ZERO }
    }

    /// A packet arrives at `now` and finds nothing waiting: time that was not used is lost.
    pub(in crate::queue) fn start(&mut self, now: Time) {
        if self.clock.next < now {
            (self.clock.next, self.failsafe) = (now, now);
        }
    }

    /// Returns the time at which the next packet may leave.
    pub(in crate::queue) fn ready(&self) -> Time {
        self.clock.next.min(self.failsafe)
    }

    /// A packet of `bytes` leaves.
    pub(in crate::queue) fn charge(&mut self, bytes: u64) {
        let span = self.clock.rate.transmission_time(Size::from_bytes(bytes));
        self.clock.next += span;
        self.failsafe += span.scaled(1.5);
    }
}
