//! What every link has behind its queue: a transmitter and a length of wire.

use std::collections::VecDeque;

use forebay_kernel::Stream;
use forebay_network::{
    Backlog, Conditioner, Context, Ecn, Observation, PRECEDENCES, Packet, Tally, Verdict,
};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};

use super::link::Residual;

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
    departed: [Tally; PRECEDENCES],
    /// Transmission times in ps, modulo 2^64: a long queue at a slow link holds more than the
    /// clock. The difference of what is booked and what lies beyond the present is below it again.
    busy: u64,
}

/// Transmitter, propagation and the counters that belong to them.
pub(super) struct Line {
    pub(super) link: u32,
    rate: Rate,
    delay: Span,
    /// Transmission time of a byte, where it is a whole number of picoseconds: then no packet needs a
    /// division.
    byte: Option<Span>,
    cache: SpanCache,
    /// Packets in order: those that left the queue, then (in a FIFO link) those that wait.
    pub(super) slots: VecDeque<Slot>,
    /// End of the last transmission booked.
    pub(super) free_at: Time,
    backlog: Backlog,
    changed: Time,
    area: u128,
    max_queue: u32,
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
            slots: VecDeque::new(),
            free_at: Time::ZERO,
            backlog: Backlog::default(),
            changed: Time::ZERO,
            area: 0,
            max_queue: 0,
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

    #[inline]
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
        let span = self.rate.transmission_time(Size::from_bytes(u64::from(size)));
        (sizes[1], spans[1]) = (sizes[0], spans[0]);
        (sizes[0], spans[0]) = (size, span);
        span
    }

    /// Book the transmission of `packet` for `start`; it follows all booked before. Gives the time
    /// at which the far end gets it if nothing else is under way: then a timer must be set.
    #[inline]
    pub(super) fn book(&mut self, packet: &Packet, start: Time) -> Option<Time> {
        let span = self.transmission_time(packet.size);
        self.booked.departed[precedence_slot(packet.precedence)].add(packet);
        self.booked.busy = self.booked.busy.wrapping_add(span.ps());
        self.free_at = start + span;
        let out = self.free_at + self.delay;
        let alone = self.slots.is_empty();
        self.slots.push_back(Slot { packet: *packet, start, out });
        alone.then_some(out)
    }

    /// The packet that reaches the far end now goes on; a timer is set for the next.
    #[inline(always)]
    pub(super) fn arrive(&mut self, token: u32, cx: &mut Context<'_>) {
        let slot = self.slots.front().expect("the timer was set for a packet on the wire");
        debug_assert_eq!(slot.out, cx.now());
        cx.cross(&slot.packet);
        self.slots.pop_front();
        if let Some(next) = self.slots.front() {
            cx.wake_at(next.out, token);
        }
    }

    /// Whether the link is idle at `now`, and since when.
    #[inline]
    pub(super) fn idle_since(&self, now: Time) -> Option<Time> {
        (self.free_at <= now && self.backlog.packets == 0).then_some(self.free_at)
    }

    #[inline]
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    #[inline]
    pub(super) fn waits(&mut self, packet: &Packet, now: Time) {
        self.integrate(now);
        self.backlog.add(packet);
    }

    /// What waits now waits for some time: remember the most.
    #[inline]
    pub(super) fn note_longest(&mut self) {
        self.max_queue = self.max_queue.max(self.backlog.packets);
    }

    #[inline]
    pub(super) fn waits_no_more(&mut self, packet: &Packet, at: Time) {
        self.integrate(at);
        self.backlog.remove(packet);
    }

    #[inline]
    fn integrate(&mut self, now: Time) {
        let span = now.ps() - self.changed.ps();
        self.area += u128::from(self.backlog.packets) * u128::from(span);
        self.changed = now;
    }

    /// What is booked for after `now`.
    fn beyond(&self, now: Time) -> Booked {
        let mut beyond = Booked::default();
        for slot in self.slots.iter().rev() {
            let span = self.rate.transmission_time(slot.packet.wire_size());
            let done = now.since(slot.start);
            if done >= span {
                break;
            }
            beyond.busy = beyond.busy.wrapping_add((span - done).ps());
            if slot.start > now {
                beyond.departed[precedence_slot(slot.packet.precedence)].add(&slot.packet);
            }
        }
        beyond
    }

    /// Bring the link's counters up to `now`.
    pub(super) fn settle(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        self.integrate(now);
        let count = cx.link(self.link);
        count.queue_area += std::mem::take(&mut self.area);
        count.max_queue = count.max_queue.max(self.max_queue);
        self.max_queue = self.backlog.packets;
        let booked = std::mem::take(&mut self.booked);
        let beyond = self.beyond(now);
        let owed = std::mem::replace(&mut self.owed, beyond);
        let busy = booked.busy.wrapping_add(owed.busy).wrapping_sub(beyond.busy);
        count.busy += busy;
        for (at, tally) in count.departed.iter_mut().enumerate() {
            let (booked, owed) = (booked.departed[at], owed.departed[at]);
            tally.packets += booked.packets + owed.packets - beyond.departed[at].packets;
            tally.bytes += booked.bytes + owed.bytes - beyond.departed[at].bytes;
        }
    }

    /// Condition and count a packet that arrives at `link`; false if a conditioner dropped it.
    pub(super) fn condition(
        link: u32,
        conditioning: &mut [Conditioning],
        packet: &mut Packet,
        cx: &mut Context<'_>,
    ) -> bool {
        let passes = Self::colour(link, conditioning, packet, cx);
        if passes {
            Self::count_arrival(link, packet, cx);
        }
        passes
    }

    /// Let the conditioners of `link` look at `packet`; false if one of them dropped it.
    pub(super) fn colour(
        link: u32,
        conditioning: &mut [Conditioning],
        packet: &mut Packet,
        cx: &mut Context<'_>,
    ) -> bool {
        for (law, stream) in conditioning {
            let before = packet.ecn();
            match law.condition(packet, cx.now(), stream) {
                Verdict::Accept if packet.ecn() == before => {}
                Verdict::Accept => Self::count_mark(link, packet, cx),
                Verdict::Mark => Self::mark(link, packet, cx),
                Verdict::Drop(reason) => {
                    Self::count_arrival(link, packet, cx);
                    cx.discard(link, packet, reason);
                    return false;
                }
            }
            cx.observe(|| Observation::Coloured { link, packet });
        }
        true
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
        tell("queue_packets", f64::from(self.backlog.packets));
        tell("queue_bytes", self.backlog.bytes as f64);
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
