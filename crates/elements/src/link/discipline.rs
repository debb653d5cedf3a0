//! A queue discipline at a link: what is asked of it, what follows for counters and observers, and
//! what judges packets beside it: a congestion detector, and the memory of a switch.
//!
//! Both kinds of links that choose the next packet when the transmitter becomes free have one; they
//! differ in what they offer the packet that is chosen.

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, Context, DropReason, ElementCounters, LinkId, Observation, Packet, QueueDisc, Verdict,
};
use forebay_units::{Span, Time};

use super::memory::Share;
use super::notifier::Notifier;
use super::transmitter::{QueueOccupancy, Transmitter};

/// The queue discipline of a link. `SHAPES`: it may hold packets back, which those that are
/// work-conserving do not pay for.
pub(super) struct Discipline<const SHAPES: bool> {
    link: LinkId,
    law: Box<dyn QueueDisc>,
    stream: Stream,
    notifier: Option<Notifier>,
    /// Share in the memory of a switch.
    share: Option<Share>,
    /// True if the memory is not asked about a packet that finds the link idle: it does not wait.
    idle_pass: bool,
    /// Time at which the law will have a packet to send, if it gave none when asked last.
    held_until: Time,
    /// True if a packet that finds the link idle may pass the law in one call.
    passes: bool,
}

/// Outcome of an arrival.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// The packet found the link idle and passes to the transmitter.
    Passes,
    /// It is in the queue.
    Waits,
    Dropped,
}

impl<const SHAPES: bool> Discipline<SHAPES> {
    /// The discipline `law` of `link`, which draws from `stream`, with what else judges packets.
    pub(super) fn new(
        link: LinkId,
        (law, stream): (Box<dyn QueueDisc>, Stream),
        (notifier, share): (Option<Notifier>, Option<Share>),
    ) -> Self {
        debug_assert!(SHAPES || law.is_work_conserving());
        let (held_until, passes, idle_pass) = (Time::ZERO, false, false);
        Self { link, law, stream, notifier, share, idle_pass, held_until, passes }
    }

    /// The link transmits at once what the law gives when a packet finds it idle.
    pub(super) fn serves_at_once(&mut self) {
        self.idle_pass = self.law.is_work_conserving();
    }

    /// Returns the time at which the next packet may leave, if some wait, none arrives before, and
    /// the transmitter is free from `free_at` on.
    #[inline(always)]
    pub(super) fn ready_at(&self, free_at: Time) -> Time {
        if SHAPES { free_at.max(self.held_until) } else { free_at }
    }

    /// The run begins: a packet may pass an idle link without being in the queue if the link has
    /// it `pass`, and no detector is asked about the queue.
    pub(super) fn let_pass(&mut self, pass: bool) {
        self.passes = pass && self.notifier.is_none();
    }

    /// `packet` arrives at `now` at a link that has been idle since `idle_since`, if it is. The
    /// queue's occupancy is `queue`.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        packet: &Packet,
        (now, idle_since): (Time, Option<Time>),
        queue: &mut QueueOccupancy,
        cx: &mut Context<'_>,
    ) -> Admission {
        if let Some(notifier) = &mut self.notifier {
            notifier.arrives(packet, now);
        }
        if self.share.is_some() && self.refuses(packet, (now, idle_since), cx) {
            return Admission::Dropped;
        }
        let marked;
        let mut packet = packet;
        let Some(verdict) = self.decide(packet, (now, idle_since), queue, cx) else {
            return Admission::Passes;
        };
        if verdict == Verdict::Mark {
            marked = mark(self.link, *packet, cx);
            packet = &marked;
        }
        if matches!(verdict, Verdict::Drop(_)) {
            if let Some(notifier) = &mut self.notifier {
                notifier.dropped(packet, cx);
            }
            return Admission::Dropped;
        }
        if let Some(notifier) = &mut self.notifier {
            notifier.enters(packet, self.law.as_ref(), cx);
        }
        let (link, backlog) = (self.link, queue.backlog);
        cx.observe(|| Observation::Enqueued { link, packet, backlog });
        Admission::Waits
    }

    /// Ask the memory of the switch if `packet` may wait; drop it if not.
    #[inline(never)]
    fn refuses(
        &mut self,
        packet: &Packet,
        (now, idle_since): (Time, Option<Time>),
        cx: &mut Context<'_>,
    ) -> bool {
        let passes = self.idle_pass && idle_since.is_some();
        let fits = passes || self.share.as_ref().is_none_or(|share| share.admits(packet, now));
        if !fits {
            cx.drop(self.link, packet, DropReason::Overflow);
            if let Some(notifier) = &mut self.notifier {
                notifier.dropped(packet, cx);
            }
        }
        !fits
    }

    /// Let the law decide on `packet`; `None` if it passes.
    #[inline(always)]
    fn decide(
        &mut self,
        packet: &Packet,
        (now, idle_since): (Time, Option<Time>),
        queue: &mut QueueOccupancy,
        cx: &mut Context<'_>,
    ) -> Option<Verdict> {
        let (link, notifier, share) = (self.link, &mut self.notifier, &self.share);
        let mut discard = |packet: Packet, reason| {
            drop_queued((link, queue, notifier, share), &packet, reason, now, cx);
        };
        let (law, stream) = (&mut self.law, &mut self.stream);
        let verdict = match idle_since {
            Some(since) if self.passes => {
                let verdict = law.pass_idle(packet, since, now, stream, &mut discard);
                if SHAPES && verdict.is_none() {
                    self.held_until = Time::ZERO;
                }
                verdict?
            }
            _ => law.enqueue(packet, idle_since, now, stream, &mut discard),
        };
        if cx.is_observed() {
            self.law.notes(&mut |note| cx.observe(|| Observation::Noted { link, note }));
        }
        if let Verdict::Drop(reason) = verdict {
            cx.drop(link, packet, reason);
            return Some(verdict);
        }
        queue.add(packet, now);
        if let Some(share) = &self.share {
            share.add(packet, now);
        }
        debug_assert_eq!(
            self.law.backlog(),
            queue.backlog,
            "the backlog of the queue discipline differs from the counted one"
        );
        Some(verdict)
    }

    /// Take the next packet to be sent out of the queue, if one may leave at `now`.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        now: Time,
        queue: &mut QueueOccupancy,
        cx: &mut Context<'_>,
    ) -> Option<Packet> {
        let (link, notifier, share) = (self.link, &mut self.notifier, &self.share);
        let next = self.law.dequeue(now, &mut self.stream, &mut |packet, reason| {
            drop_queued((link, queue, notifier, share), &packet, reason, now, cx);
        });
        if SHAPES {
            self.held_until = Time::ZERO;
        }
        let Some(mut departure) = next else {
            self.hold(now, queue.backlog);
            return None;
        };
        queue.remove(departure.packet.queued_info(), now);
        if let Some(share) = share {
            share.remove(&departure.packet, now);
        }
        if departure.marked {
            Transmitter::mark(link, &mut departure.packet, cx);
        }
        Some(departure.packet)
    }

    /// The law has given no packet at `now`, of those in `backlog`.
    #[inline(always)]
    fn hold(&mut self, now: Time, backlog: Backlog) {
        if SHAPES && backlog.packets > 0 {
            let ready = self.law.ready_at(now);
            debug_assert!(ready > now, "a queue discipline holds packets back until the past");
            self.held_until = ready.max(now + Span::from_ps(1));
        }
        debug_assert!(
            SHAPES || backlog.packets == 0,
            "a work-conserving queue discipline holds packets back"
        );
    }

    /// `packet` arrives at an idle link, and is transmitted without the law being asked.
    #[inline(always)]
    pub(super) fn pass(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if let Some(notifier) = &mut self.notifier {
            notifier.passes(packet, cx);
        }
    }

    /// Returns true if an idle link may transmit every packet without asking the law. One that
    /// shapes must see every packet that it lets pass.
    pub(super) fn is_transparent(&self) -> bool {
        !SHAPES && self.law.is_transparent()
    }

    /// Returns true if there is a congestion detector.
    pub(super) fn notifies(&self) -> bool {
        self.notifier.is_some()
    }

    /// Returns true if it shares the memory of a switch.
    pub(super) fn shares(&self) -> bool {
        self.share.is_some()
    }

    /// Its share in the memory of a switch.
    pub(super) fn share(&self) -> Option<Share> {
        self.share.clone()
    }

    /// Returns true if sources are notified of packets that are dropped from the queue.
    pub(super) fn notifies_at_dequeue(&self) -> bool {
        self.notifies() && self.law.drops_at_dequeue()
    }

    /// Returns the law's counts by class, brought up to `now`, if it has any.
    pub(super) fn class_counts(&mut self, now: Time) -> Option<&mut dyn ElementCounters> {
        self.law.class_counts(now).map(|counts| counts as &mut dyn ElementCounters)
    }

    /// Probes of the law, of the congestion detector and of the memory of the switch.
    pub(super) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.law.probes(visit);
        if let Some(notifier) = &self.notifier {
            notifier.probes(visit);
        }
        if let Some(share) = &self.share {
            share.probes(visit);
        }
    }
}

#[cold]
#[inline(never)]
fn mark(link: LinkId, mut packet: Packet, cx: &mut Context<'_>) -> Packet {
    Transmitter::mark(link, &mut packet, cx);
    packet
}

/// The law drops `packet`, which waited until `now`: count it, and notify its source.
fn drop_queued(
    (link, queue, notifier, share): (
        LinkId,
        &mut QueueOccupancy,
        &mut Option<Notifier>,
        &Option<Share>,
    ),
    packet: &Packet,
    reason: DropReason,
    now: Time,
    cx: &mut Context<'_>,
) {
    queue.remove(packet.queued_info(), now);
    if let Some(share) = share {
        share.remove(packet, now);
    }
    cx.drop(link, packet, reason);
    if let Some(notifier) = notifier {
        notifier.dropped(packet, cx);
    }
}
