//! CoDel's law for one queue, which CoDel has one of and FQ-CoDel many.

use forebay_network::{Departure, Discard, DropReason, Packet};
use forebay_parameters::choice;
use forebay_units::{Span, Time};

/// The parameters of the law, which queues share.
pub(in crate::queue) struct CoDelLaw {
    pub(in crate::queue) target: Span,
    pub(in crate::queue) interval: Span,
    /// While no more than these bytes wait behind a packet, it is not dropped (maxpacket).
    pub(in crate::queue) mtu: u64,
    pub(in crate::queue) ecn: bool,
    /// Delay above which every ECN-capable packet is marked.
    pub(in crate::queue) ce_threshold: Option<Span>,
    /// Rules by which the dropping state is entered.
    pub(in crate::queue) edition: Edition,
}

choice! {
    /// Publication whose rules hold for entering the dropping state.
    pub enum Edition {
        /// Nichols and Jacobson 2012, appendix: the dropping state is entered when packets have
        /// been late for an interval and the last drop was due less than an interval ago, or when
        /// they have been late for two; in the first case with a count of two less than before.
        /// Less than a packet of the largest size is no queue.
        Queue2012 = "queue_2012",
        /// RFC 8289, section 5.5: it is entered when packets have been late for an interval; with
        /// the drops of the last stay as count if that was less than 16 intervals ago. A packet of
        /// the largest size is no queue.
        Rfc8289 = "rfc8289",
    }
}

/// The packets over which the law decides.
pub(in crate::queue) trait CoDelQueue {
    /// Remove the packet at the head, with the time at which it entered.
    fn pop(&mut self) -> Option<(Time, Packet)>;

    /// Bytes that wait.
    fn bytes(&self) -> u64;
}

/// The state of a queue; names in parentheses are those of the pseudo-code of RFC 8289.
#[derive(Clone, Copy)]
pub(in crate::queue) struct CoDelState {
    /// Time at which the sojourn time will have been above the target for an interval
    /// (first_above_time); never while it is below.
    above_until: Time,
    /// Time at which the next packet is to be dropped (drop_next).
    pub(in crate::queue) next_drop: Time,
    /// Drops since the dropping state was entered (count), which continues from a former stay in
    /// it.
    pub(in crate::queue) count: u32,
    /// The count at the last entry (lastcount).
    count_at_entry: u32,
    /// True while packets are being dropped.
    pub(in crate::queue) dropping: bool,
}

impl Default for CoDelState {
    fn default() -> Self {
        Self {
            above_until: Time::NEVER,
            next_drop: Time::ZERO,
            count: 0,
            count_at_entry: 0,
            dropping: false,
        }
    }
}

/// A packet at the head, taken out of the queue.
struct Head {
    packet: Packet,
    /// True if packets have waited for longer than the target since an interval ago (ok_to_drop).
    late: bool,
}

/// Context of a dequeue.
struct Dequeue<'a, 'b, Q> {
    law: &'a CoDelLaw,
    queue: &'a mut Q,
    now: Time,
    discard: &'a mut Discard<'b>,
    sojourn: &'a mut Span,
}

impl CoDelState {
    /// The packet that leaves `queue`, after those that are dropped before it. `sojourn` becomes
    /// the time for which the last of them all has waited.
    pub(in crate::queue) fn dequeue(
        &mut self,
        law: &CoDelLaw,
        queue: &mut impl CoDelQueue,
        now: Time,
        discard: &mut Discard<'_>,
        sojourn: &mut Span,
    ) -> Option<Departure> {
        let at = &mut Dequeue { law, queue, now, discard, sojourn };
        let head = self.head(at);
        let next = if self.dropping {
            self.go_on(head, at)
        } else {
            let head = head?;
            let enters = head.late && self.may_enter(law, now);
            if enters { self.enter(head.packet, at) } else { Some(unmarked(head)) }
        };
        let Some(threshold) = law.ce_threshold else { return next };
        let late = *at.sojourn > threshold;
        next.map(|next| Departure {
            marked: next.marked || late && next.packet.is_ecn_capable(),
            ..next
        })
    }

    /// A packet leaves its queue, empty but for it, as it comes; or there is none to leave.
    #[inline]
    pub(in crate::queue) fn passed(&mut self) {
        (self.above_until, self.dropping) = (Time::NEVER, false);
    }

    /// Take the packet at the head out and judge how long it has waited (dodequeue).
    fn head<Q: CoDelQueue>(&mut self, at: &mut Dequeue<'_, '_, Q>) -> Option<Head> {
        let Some((arrived, packet)) = at.queue.pop() else {
            self.above_until = Time::NEVER;
            return None;
        };
        *at.sojourn = at.now.since(arrived);
        // On slow links a single packet takes longer than the target: one may always wait.
        if *at.sojourn < at.law.target || at.law.spares(at.queue.bytes()) {
            self.above_until = Time::NEVER;
            return Some(Head { packet, late: false });
        }
        if self.above_until == Time::NEVER {
            self.above_until = at.now + at.law.interval;
        }
        // Where it was below the target until now, this lies a whole interval ahead.
        Some(Head { packet, late: at.now >= self.above_until })
    }

    /// Returns the time of the drop that follows one at `from`: drops come closer with the root of
    /// their number, to which TCP's rate answers linearly.
    fn next_after(&self, from: Time, law: &CoDelLaw) -> Time {
        from + law.interval.scaled(1.0 / f64::from(self.count).sqrt())
    }

    /// In the dropping state: drop all that is due by now, unless a mark does.
    fn go_on<Q: CoDelQueue>(
        &mut self,
        mut head: Option<Head>,
        at: &mut Dequeue<'_, '_, Q>,
    ) -> Option<Departure> {
        while let Some(Head { packet, late: true }) = head
            && at.now >= self.next_drop
        {
            self.count = self.count.saturating_add(1);
            if at.law.marks(&packet) {
                self.next_drop = self.next_after(self.next_drop, at.law);
                return Some(Departure { packet, marked: true });
            }
            (at.discard)(packet, DropReason::Forced);
            head = self.head(at);
            if head.as_ref().is_some_and(|head| head.late) {
                self.next_drop = self.next_after(self.next_drop, at.law);
            }
        }
        self.dropping = head.as_ref().is_some_and(|head| head.late);
        head.map(unmarked)
    }

    /// Returns true if the dropping state may be entered at `now`, as packets are late.
    fn may_enter(&self, law: &CoDelLaw, now: Time) -> bool {
        match law.edition {
            Edition::Queue2012 => {
                let late_for_two = now.since(self.above_until) >= law.interval;
                late_for_two || now.since(self.next_drop) < law.interval
            }
            Edition::Rfc8289 => true,
        }
    }

    /// Drop or mark the first packet and enter the dropping state.
    fn enter<Q: CoDelQueue>(
        &mut self,
        packet: Packet,
        at: &mut Dequeue<'_, '_, Q>,
    ) -> Option<Departure> {
        let next = if at.law.marks(&packet) {
            Some(Departure { packet, marked: true })
        } else {
            (at.discard)(packet, DropReason::Forced);
            self.head(at).map(unmarked)
        };
        self.dropping = true;
        // Soon after the last stay, begin near the rate of drops that held the queue then.
        let (before, least, intervals) = match at.law.edition {
            Edition::Queue2012 => (self.count.saturating_sub(2), 0, 1),
            Edition::Rfc8289 => (self.count - self.count_at_entry, 1, 16),
        };
        let soon = at.now.since(self.next_drop) < at.law.interval.times(intervals);
        self.count = if before > least && soon { before } else { 1 };
        self.count_at_entry = self.count;
        self.next_drop = self.next_after(at.now, at.law);
        next
    }

    /// `drops` packets were dropped for another reason: signal more strongly.
    pub(in crate::queue) fn strengthen(&mut self, drops: u32) {
        self.count = self.count.saturating_add(drops);
    }
}

impl CoDelLaw {
    /// Returns true if no packet is late with `bytes` behind it.
    fn spares(&self, bytes: u64) -> bool {
        match self.edition {
            Edition::Queue2012 => bytes < self.mtu,
            Edition::Rfc8289 => bytes <= self.mtu,
        }
    }

    /// Returns true if `packet` can be marked and shall be.
    fn marks(&self, packet: &Packet) -> bool {
        self.ecn && packet.is_ecn_capable()
    }
}

/// The packet at the head, as it is.
fn unmarked(head: Head) -> Departure {
    Departure { packet: head.packet, marked: false }
}
