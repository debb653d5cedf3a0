//! What every link has behind its queue: a transmitter and a length of wire.

use forebay_kernel::{Ring, Stream};
use forebay_network::{
    Backlog, Conditioner, Context, Ecn, Footprint, Observation, PRECEDENCES, Packet, Verdict,
};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};

use super::link::Residual;
use super::waiters::{Sent, Waiters};

/// A conditioner with the stream that it draws from.
pub type Conditioning = (Box<dyn Conditioner>, Stream);

/// A packet on its way: when its transmission begins, and when it reaches the far end.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) packet: Packet,
    pub(super) start: Time,
    pub(super) out: Time,
}

/// The transmission time of the two sizes that a link has seen last: links carry few sizes, and a
/// comparison is cheaper than a division.
#[derive(Clone, Copy, Default)]
struct SpanCache {
    sizes: [u16; 2],
    spans: [Span; 2],
}

/// What is counted of transmissions. Counted ahead when they are booked; what lies beyond the
/// present is taken back when somebody reads, and owed to the next window.
#[derive(Clone, Copy, Default)]
struct Booked {
    /// Packets and bytes by precedence, apart: a pair side by side would be counted as a vector,
    /// which takes longer to put together than to add.
    packets: [u64; PRECEDENCES],
    bytes: [u64; PRECEDENCES],
    /// Transmission times in ps, modulo 2^64: a long queue at a slow link holds more than the
    /// clock. The difference of what is booked and what lies beyond the present is below it again.
    busy: u64,
}

impl Booked {
    #[inline(always)]
    fn add(&mut self, packet: Footprint) {
        let slot = precedence_slot(packet.precedence());
        self.packets[slot] += 1;
        self.bytes[slot] += u64::from(packet.size());
    }
}

/// What waits, and how much that has been over time.
#[derive(Clone, Copy, Default)]
pub(super) struct Waiting {
    pub(super) backlog: Backlog,
    changed: Time,
    area: u128,
    /// What was counted of [`Waiting::wait_for`] up to `changed` and lies beyond it.
    beyond: u128,
    /// Most packets that waited at once for some time.
    pub(super) max: u32,
}

impl Waiting {
    #[inline(always)]
    pub(super) fn add(&mut self, packet: &Packet, now: Time) {
        self.integrate(now);
        self.backlog.add(packet);
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, packet: Footprint, at: Time) {
        self.integrate(at);
        self.backlog.remove(packet);
    }

    /// `packet` waits for `span` from now on: that is counted at once. For whoever calls neither
    /// [`Waiting::add`] nor [`Waiting::remove`], and [`Waiting::wait_until`] before others read.
    #[inline(always)]
    pub(super) fn wait_for(&mut self, packet: &Packet, span: Span) {
        self.area += u128::from(span.ps());
        self.backlog.add(packet);
    }

    /// It is `now`, and those that wait do so for `beyond` longer, in packet ps.
    pub(super) fn wait_until(&mut self, now: Time, beyond: u128) {
        self.area = self.area + self.beyond - beyond;
        (self.beyond, self.changed) = (beyond, now);
    }

    #[inline(always)]
    fn integrate(&mut self, now: Time) {
        let span = now.ps() - self.changed.ps();
        self.area += u128::from(self.backlog.packets) * u128::from(span);
        self.changed = now;
    }
}

/// Transmitter, propagation and the counters that belong to them.
pub(super) struct Line {
    pub(super) link: u32,
    pub(super) rate: Rate,
    pub(super) delay: Span,
    /// Transmission time of a byte, where it is a whole number of picoseconds: then no packet needs
    /// a division.
    byte: Option<Span>,
    cache: SpanCache,
    /// Packets in order: those that left the queue, then (in a FIFO link) those that wait. None
    /// where the next element is told early of what leaves: it has them.
    pub(super) slots: Ring<Slot>,
    /// What waits, where `slots` does not hold it or does not tell what has left.
    pub(super) waiters: Waiters,
    /// What left the queue last, where `slots` does not hold it.
    pub(super) last: Sent,
    /// End of the last transmission booked.
    pub(super) free_at: Time,
    pub(super) queue: Waiting,
    booked: Booked,
    owed: Booked,
    residual: Option<Residual>,
}

impl Line {
    pub(super) fn new(link: u32, rate: Rate, delay: Span, residual: Option<Residual>) -> Self {
        Self {
            residual,
            link,
            rate,
            delay,
            byte: whole_byte_time(rate),
            cache: SpanCache::default(),
            slots: Ring::default(),
            waiters: Waiters::default(),
            last: Sent::default(),
            free_at: Time::ZERO,
            queue: Waiting::default(),
            booked: Booked::default(),
            owed: Booked::default(),
        }
    }

    /// The idle link turns out to be transmitting a packet of lower priority; false if there are
    /// none.
    #[inline]
    pub(super) fn busy_below(&mut self, now: Time) -> bool {
        let Some((span, stream)) = &mut self.residual else {
            return false;
        };
        self.free_at = now + span.scaled(stream.uniform());
        true
    }

    #[inline(always)]
    fn transmission_time(&mut self, size: u16) -> Span {
        if let Some(byte) = self.byte {
            return byte.times(u64::from(size));
        }
        let SpanCache { sizes, spans } = &mut self.cache;
        if sizes[0] == size {
            return spans[0];
        }
        if sizes[1] == size {
            return spans[1];
        }
        self.divide(size)
    }

    #[cold]
    fn divide(&mut self, size: u16) -> Span {
        let SpanCache { sizes, spans } = &mut self.cache;
        let span = self.rate.transmission_time(Size::from_bytes(u64::from(size)));
        (sizes[1], spans[1]) = (sizes[0], spans[0]);
        (sizes[0], spans[0]) = (size, span);
        span
    }

    /// Book the transmission of `packet` for `start`; it follows all booked before. Gives the time
    /// at which the far end gets it.
    #[inline(always)]
    pub(super) fn book(&mut self, packet: &Packet, start: Time) -> Time {
        let out = self.transmit(packet, start);
        self.slots.push_back(Slot { packet: *packet, start, out });
        out
    }

    /// As [`Line::book`], for a packet that need not be kept: the far end has it, or knows of it.
    #[inline(always)]
    pub(super) fn transmit(&mut self, packet: &Packet, start: Time) -> Time {
        let span = self.transmission_time(packet.size);
        self.booked.add(packet.footprint());
        self.booked.busy = self.booked.busy.wrapping_add(span.ps());
        self.free_at = start + span;
        self.free_at + self.delay
    }

    /// The same for a packet whose transmission begins as it arrives at `at`.
    #[inline(always)]
    pub(super) fn pass(&mut self, packet: &Packet, at: Time) -> Time {
        self.last = Sent::new(packet, at);
        self.transmit(packet, at)
    }

    /// The same for a packet that arrives at `at` and waits until all booked before are gone: how
    /// long is counted at once. Its transmission, too, which is for [`Line::waiters`].
    #[inline(always)]
    pub(super) fn join(&mut self, packet: &Packet, at: Time) -> (Sent, Time) {
        let sent = Sent::new(packet, self.free_at);
        self.queue.wait_for(packet, sent.start.since(at));
        (sent, self.transmit(packet, sent.start))
    }

    /// Whether traffic of lower priority fills the link.
    pub(super) fn has_residual(&self) -> bool {
        self.residual.is_some()
    }

    /// When the far end gets `packet` if it arrives at `at`, next after all that is booked, and
    /// finds no packets of lower priority.
    #[inline]
    pub(super) fn soonest(&mut self, packet: &Packet, at: Time) -> Time {
        at.max(self.free_at) + self.transmission_time(packet.size) + self.delay
    }

    /// The far end gets nothing that is not booked before then, if the next packet arrives at `at`:
    /// a transmission takes some time, however short.
    #[inline]
    pub(super) fn not_before(&self, at: Time) -> Time {
        at.max(self.free_at) + self.delay + Span::from_ps(1)
    }

    /// The packet that reaches the far end now goes on. Gives the time of the next.
    #[inline(always)]
    pub(super) fn arrive(&mut self, cx: &mut Context<'_>) -> Option<Time> {
        let slot = self.slots.front().expect("the timer was set for a packet on the wire");
        debug_assert_eq!(slot.out, cx.now());
        cx.cross(&slot.packet);
        self.slots.pop_front();
        self.slots.front().map(|next| next.out)
    }

    /// If sinks follow, and all that is booked here has begun: let the packets go that have reached
    /// the far end by `now`.
    #[inline]
    pub(super) fn let_out(&mut self, now: Time, cx: &mut Context<'_>) {
        while let Some(slot) = self.slots.front()
            && slot.out <= now
        {
            cx.crossed_at(&slot.packet, slot.out);
            self.slots.pop_front();
        }
    }

    /// Let those of `waiters` go whose transmission has begun by `now`, where no law needs to know.
    #[inline(always)]
    pub(super) fn depart(&mut self, now: Time) {
        self.waiters.depart(now, &mut self.queue.backlog, |_| ());
    }

    /// Where waiting is counted ahead: let it count up to `now`.
    pub(super) fn wait_until(&mut self, now: Time) {
        self.queue.wait_until(now, self.waiters.beyond(now));
    }

    /// Whether the link is idle at `now`, and since when.
    #[inline]
    pub(super) fn idle_since(&self, now: Time) -> Option<Time> {
        (self.free_at <= now && self.queue.backlog.packets == 0).then_some(self.free_at)
    }

    #[inline]
    pub(super) fn backlog(&self) -> Backlog {
        self.queue.backlog
    }

    #[inline]
    pub(super) fn waits(&mut self, packet: &Packet, now: Time) {
        self.queue.add(packet, now);
    }

    /// What waits now waits for some time: remember the most.
    #[inline]
    pub(super) fn note_longest(&mut self) {
        self.queue.max = self.queue.max.max(self.queue.backlog.packets);
    }

    #[inline]
    pub(super) fn waits_no_more(&mut self, packet: &Packet, at: Time) {
        self.queue.remove(packet.footprint(), at);
    }

    /// What is booked for after `now`.
    fn beyond(&self, now: Time) -> Booked {
        let mut beyond = Booked::default();
        let kept = self.slots.iter().rev().map(|slot| Sent::new(&slot.packet, slot.start));
        // If any are kept, they are among those.
        let waiting = self.waiters.latest().filter(|_| self.slots.is_empty());
        for sent in kept.chain(waiting.copied()).chain([self.last]) {
            let span = self.rate.transmission_time(Size::from_bytes(u64::from(sent.packet.size())));
            let done = now.since(sent.start);
            if done >= span {
                break;
            }
            beyond.busy = beyond.busy.wrapping_add((span - done).ps());
            if sent.start > now {
                beyond.add(sent.packet);
            }
        }
        beyond
    }

    /// Bring the link's counters up to `now`. With `arrivals`, whatever was booked is counted as
    /// arrived: where transmissions are booked at arrival, nobody else has to.
    pub(super) fn settle(&mut self, arrivals: bool, cx: &mut Context<'_>) {
        let now = cx.now();
        let queue = &mut self.queue;
        queue.integrate(now);
        let count = cx.link(self.link);
        count.queue_area += std::mem::take(&mut queue.area);
        count.max_queue = count.max_queue.max(queue.max);
        queue.max = queue.backlog.packets;
        let booked = std::mem::take(&mut self.booked);
        let beyond = self.beyond(now);
        let owed = std::mem::replace(&mut self.owed, beyond);
        let busy = booked.busy.wrapping_add(owed.busy).wrapping_sub(beyond.busy);
        count.busy += busy;
        for (at, tally) in count.departed.iter_mut().enumerate() {
            tally.packets += booked.packets[at] + owed.packets[at] - beyond.packets[at];
            tally.bytes += booked.bytes[at] + owed.bytes[at] - beyond.bytes[at];
        }
        if arrivals {
            for (at, tally) in count.arrived.iter_mut().enumerate() {
                tally.packets += booked.packets[at];
                tally.bytes += booked.bytes[at];
            }
        }
    }

    /// Let the conditioners of `link` look at `packet` at `at`; false if one of them dropped it.
    #[inline(always)]
    pub(super) fn colour(
        link: u32,
        conditioning: &mut [Conditioning],
        packet: &mut Packet,
        at: Time,
        cx: &mut Context<'_>,
    ) -> bool {
        for (law, stream) in conditioning {
            let before = packet.ecn();
            let verdict = law.condition(packet, at, stream);
            if (verdict != Verdict::Accept || packet.ecn() != before)
                && !Self::judge(link, verdict, packet, cx)
            {
                return false;
            }
            cx.observe(|| Observation::Coloured { link, packet });
        }
        true
    }

    /// Do what a conditioner of `link` said of `packet`, beside its precedence; false if it is
    /// dropped.
    #[cold]
    #[inline(never)]
    fn judge(link: u32, verdict: Verdict, packet: &mut Packet, cx: &mut Context<'_>) -> bool {
        match verdict {
            Verdict::Drop(reason) => cx.turn_away(link, packet, reason),
            Verdict::Mark => Self::mark(link, packet, cx),
            Verdict::Accept => Self::count_mark(link, packet, cx),
        }
        !matches!(verdict, Verdict::Drop(_))
    }

    /// Count `packet` as arrived at `link`.
    #[inline]
    pub(super) fn count_arrival(link: u32, packet: &Packet, cx: &mut Context<'_>) {
        cx.link(link).arrived[precedence_slot(packet.precedence)].add(packet);
    }

    /// Set CE on `packet`.
    pub(super) fn mark(link: u32, packet: &mut Packet, cx: &mut Context<'_>) {
        debug_assert!(packet.is_ecn_capable(), "a law marked a packet that cannot be marked");
        *packet = packet.with_ecn(Ecn::Ce);
        Self::count_mark(link, packet, cx);
    }

    /// Count `packet` as marked at `link`, with what its ECN field says now.
    fn count_mark(link: u32, packet: &Packet, cx: &mut Context<'_>) {
        let (count, slot) = (cx.link(link), precedence_slot(packet.precedence));
        match packet.ecn() {
            Ecn::Ce => count.marked[slot] += 1,
            Ecn::Ect1 => count.threshold_marked[slot] += 1,
            Ecn::Ect0 | Ecn::NotEct => {}
        }
        cx.observe(|| Observation::Marked { link, packet });
    }

    /// Inner quantities of the queue and of the conditioners in front of it.
    pub(super) fn gauges(&self, conditioning: &[Conditioning], tell: &mut dyn FnMut(&str, f64)) {
        tell("queue_packets", f64::from(self.queue.backlog.packets));
        tell("queue_bytes", self.queue.backlog.bytes as f64);
        match conditioning {
            [(law, _)] => law.gauges(tell),
            several => {
                for (number, (law, _)) in several.iter().enumerate() {
                    law.gauges(&mut |name, value| tell(&format!("{name}.{number}"), value));
                }
            }
        }
    }
}

#[inline]
fn precedence_slot(precedence: u8) -> usize {
    usize::from(precedence).min(PRECEDENCES - 1)
}

/// The transmission time of a byte, if rounding has nothing to do.
fn whole_byte_time(rate: Rate) -> Option<Span> {
    let byte = rate.transmission_time(Size::from_bytes(1));
    let exact = u128::from(byte.ps()) * u128::from(rate.bps()) == u128::from(8 * PS_PER_S);
    exact.then_some(byte)
}
