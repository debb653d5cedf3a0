//! COBALT's law for one queue: CoDel's control law without its memory of a former stay, and BLUE,
//! which drops by chance where a queue overflows.
//!
//! As in Linux (`net/sched/sch_cake.c`), but for square roots, which are exact here.

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_units::{Rate, Size, Span, Time};

/// The parameters of the law, which queues share.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct CobaltLaw {
    pub(in crate::queue) target: Span,
    pub(in crate::queue) interval: Span,
    /// Delay up to which nothing is dropped: four transmissions of the largest packet, or that for
    /// each of several flows.
    pub(in crate::queue) spared: Span,
    pub(in crate::queue) ecn: bool,
    /// Steps of BLUE's probability: up when the queue overflows, and down when it is empty.
    pub(in crate::queue) increment: f64,
    pub(in crate::queue) decrement: f64,
}

impl CobaltLaw {
    /// The law with what a link of `rate` and packets of `mtu` need: a target of at least one and a
    /// half of them, and an interval of at least twice the target that grows with it.
    pub(in crate::queue) fn on(mut self, rate: Rate, mtu: Size) -> Self {
        let packet = if mtu.bytes() == 0 { Span::ZERO } else { rate.transmission_time(mtu) };
        let target = packet.scaled(1.5).max(self.target);
        let longer = Span::from_ps(target.ps() - self.target.ps());
        self.interval = (self.interval + longer).max(target.times(2));
        self.target = target;
        self.spared = packet.times(4);
        self
    }
}

/// Decision on a packet that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::queue) enum Fate {
    Pass,
    Mark,
    /// Dropped because the queue stands.
    Drop,
    /// Dropped by chance, because the queue has overflowed.
    Blue,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::queue) struct CobaltState {
    /// Time at which the next packet is to be dropped; while none is, until when the queue counts
    /// as used.
    pub(in crate::queue) next_drop: Time,
    /// Time at which BLUE's probability moved last.
    moved: Time,
    /// Drops and marks of this stay above the target, and what is left of former ones.
    pub(in crate::queue) count: u32,
    /// BLUE's probability.
    pub(in crate::queue) probability: f64,
    pub(in crate::queue) dropping: bool,
}

impl CobaltState {
    /// Returns the time at which a drop is due that follows one at `from`.
    fn next_after(&self, from: Time, law: &CobaltLaw) -> Time {
        from + law.interval.scaled(1.0 / f64::from(self.count.max(1)).sqrt())
    }

    /// A packet had to be dropped because there was no room.
    pub(in crate::queue) fn overflowed(&mut self, law: &CobaltLaw, now: Time) {
        if now.since(self.moved) > law.target {
            self.probability = (self.probability + law.increment).min(1.0);
            self.moved = now;
        }
        self.dropping = true;
        self.next_drop = now;
        self.count = self.count.max(1);
    }

    /// The queue was to be served at `now` and was empty.
    pub(in crate::queue) fn emptied(&mut self, law: &CobaltLaw, now: Time) {
        if self.probability > 0.0 && now.since(self.moved) > law.target {
            self.probability = (self.probability - law.decrement).max(0.0);
            self.moved = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next_drop {
            self.count -= 1;
            self.next_drop = self.next_after(self.next_drop, law);
        }
    }

    /// Returns true if nothing is left of a former congestion.
    pub(in crate::queue) fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0.0 && self.count == 0 && now >= self.next_drop
    }

    /// Decide on `packet`, which leaves at `now` and entered at `entered`.
    pub(in crate::queue) fn decide(
        &mut self,
        law: &CobaltLaw,
        (entered, packet): (Time, &Packet),
        now: Time,
        stream: &mut Stream,
    ) -> Fate {
        let sojourn = now.since(entered);
        let due = self.count > 0 && now >= self.next_drop;
        let stands = sojourn > law.target && sojourn > law.spared;
        // Whether more is due then is judged by the schedule as it was found.
        let mut behind = now > self.next_drop;
        if stands && !self.dropping {
            self.next_drop = self.next_after(now, law);
        }
        self.dropping = stands;
        if stands {
            self.count = self.count.max(1);
        }
        let mut fate = Fate::Pass;
        if due && self.dropping {
            fate = if law.ecn && packet.is_ecn_capable() { Fate::Mark } else { Fate::Drop };
            self.count = self.count.saturating_add(1);
            self.next_drop = self.next_after(self.next_drop, law);
            behind = now > self.next_drop;
        } else if due {
            behind = self.forget(law, now);
        }
        if self.probability > 0.0 && fate != Fate::Drop && stream.happens(self.probability) {
            fate = Fate::Blue;
        }
        if self.count == 0 {
            self.next_drop = now + law.interval;
        } else if behind && matches!(fate, Fate::Pass | Fate::Mark) {
            self.next_drop = now;
        }
        fate
    }

    /// Without a standing queue, let the count fall at the rate at which it rose; whether it still
    /// is behind.
    fn forget(&mut self, law: &CobaltLaw, now: Time) -> bool {
        while self.count > 0 && now >= self.next_drop {
            self.count -= 1;
            self.next_drop = self.next_after(self.next_drop, law);
        }
        now > self.next_drop
    }
}
