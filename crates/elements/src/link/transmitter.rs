//! The output of every link: a non-preemptive transmitter and a propagation delay.
//!
//! In a FIFO link the start of each transmission follows from Lindley's recursion: the later of the
//! arrival and the end of the previous transmission (Lindley, *The theory of queues with a single
//! server*, Proc. Cambridge Philos. Soc. 48 (1952) 277-289).

use forebay_kernel::{RingBuffer, Stream};
use forebay_network::{
    Backlog, COMMON_PRECEDENCES, Conditioner, Context, Ecn, LinkCount, LinkId, Lookahead,
    LookaheadContext, Observation, Packet, PacketBytes, QueuedInfo, Verdict,
};
use forebay_units::{PS_PER_S, Rate, Size, Span, Time};

use super::BackgroundTraffic;
use super::waiting::{Scheduled, WaitingList};
use crate::drop_arriving;

/// A conditioner with the random stream that it draws from.
pub type Conditioning = (Box<dyn Conditioner>, Stream);

/// A packet in flight, or scheduled, and when it reaches the far end.
#[derive(Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) packet: Packet,
    pub(crate) out: Time,
}

/// The transmission times of the two packet sizes seen last: a link carries few sizes, and a
/// comparison is cheaper than a division.
#[derive(Clone, Copy, Default)]
struct SpanCache {
    sizes: [u16; 2],
    spans: [Span; 2],
}

/// Totals over transmissions. A transmission is counted when it is scheduled; the part that lies
/// after the present is subtracted when counters are read, and carried over to the next measurement
/// window.
#[derive(Default)]
struct TxTotals {
    /// Packets and bytes by precedence, in two arrays: a pair side by side would be added as a
    /// vector, which takes longer to assemble than to add.
    packets: [u64; COMMON_PRECEDENCES],
    bytes: [u64; COMMON_PRECEDENCES],
    /// The same of higher precedences, up to the highest seen.
    higher: Vec<PacketBytes>,
    /// Transmission times in ps, modulo 2^64: a long queue at a slow link holds more than the clock
    /// can express. The difference between what is scheduled and what is not yet sent is below it
    /// again.
    busy: u64,
}

impl TxTotals {
    #[inline(always)]
    fn add(&mut self, packet: QueuedInfo) {
        let index = usize::from(packet.precedence());
        if index < COMMON_PRECEDENCES {
            self.packets[index] += 1;
            self.bytes[index] += u64::from(packet.size());
        } else {
            self.add_higher(index - COMMON_PRECEDENCES, packet);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_higher(&mut self, index: usize, packet: QueuedInfo) {
        if self.higher.len() <= index {
            self.higher.resize(index + 1, PacketBytes::default());
        }
        let tally = &mut self.higher[index];
        tally.packets += 1;
        tally.bytes += u64::from(packet.size());
    }

    /// Number of precedences, from 0, that it may have counted packets of.
    fn precedences(&self) -> usize {
        COMMON_PRECEDENCES + self.higher.len()
    }

    fn of(&self, precedence: usize) -> PacketBytes {
        match precedence.checked_sub(COMMON_PRECEDENCES) {
            None => {
                PacketBytes { packets: self.packets[precedence], bytes: self.bytes[precedence] }
            }
            Some(index) => self.higher.get(index).copied().unwrap_or_default(),
        }
    }
}

/// The part of a packet in transmission that is not sent yet.
#[derive(Clone, Copy)]
struct Unfinished {
    precedence: u8,
    bits: u64,
}

/// Packets and bytes that wait in the queue, and the time integral of its length.
#[derive(Clone, Copy, Default)]
pub(crate) struct QueueOccupancy {
    pub(crate) backlog: Backlog,
    changed: Time,
    area: u128,
    /// The part of what [`QueueOccupancy::count_wait`] has counted that lies after `changed`.
    not_yet_sent: u128,
    /// Maximum number of packets that waited at once for some time.
    pub(crate) max: u32,
}

impl QueueOccupancy {
    #[inline(always)]
    pub(crate) fn add(&mut self, packet: &Packet, now: Time) {
        self.integrate(now);
        self.backlog.add(packet);
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, packet: QueuedInfo, at: Time) {
        self.integrate(at);
        self.backlog.remove(packet);
    }

    /// `packet` waits for `span` from now on, all of which is counted at once. For callers that use
    /// neither [`QueueOccupancy::add`] nor [`QueueOccupancy::remove`], and call
    /// [`QueueOccupancy::sync_wait`] before counters are read.
    #[inline(always)]
    pub(crate) fn count_wait(&mut self, packet: &Packet, span: Span) {
        self.area += u128::from(span.ps());
        self.backlog.add(packet);
    }

    /// Bring the integral up to `now`; what waits will do so for `not_yet_sent` packet ps more.
    pub(crate) fn sync_wait(&mut self, now: Time, not_yet_sent: u128) {
        self.area = self.area + self.not_yet_sent - not_yet_sent;
        (self.not_yet_sent, self.changed) = (not_yet_sent, now);
    }

    #[inline(always)]
    fn integrate(&mut self, now: Time) {
        let span = now.ps() - self.changed.ps();
        self.area += u128::from(self.backlog.packets) * u128::from(span);
        self.changed = now;
    }

    /// The packets that wait now do so for some time: update the maximum.
    #[inline]
    pub(crate) fn update_max(&mut self) {
        self.max = self.max.max(self.backlog.packets);
    }

    /// Bring `count` up to `now`.
    #[inline]
    pub(crate) fn report(&mut self, now: Time, count: &mut LinkCount) {
        self.integrate(now);
        count.queue_area += std::mem::take(&mut self.area);
        count.max_queue = count.max_queue.max(self.max);
        self.max = self.backlog.packets;
    }

    /// Probes of the queue and of the conditioners in front of it.
    pub(crate) fn probes(&self, conditioning: &[Conditioning], visit: &mut dyn FnMut(&str, f64)) {
        visit("queue_packets", f64::from(self.backlog.packets));
        visit("queue_bytes", self.backlog.bytes as f64);
        match conditioning {
            [(law, _)] => law.probes(visit),
            several => {
                for (number, (law, _)) in several.iter().enumerate() {
                    law.probes(&mut |name, value| visit(&format!("{name}.{number}"), value));
                }
            }
        }
    }
}

/// A transmitter, its propagation delay and their counters.
pub(crate) struct Transmitter {
    pub(crate) link: LinkId,
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    /// Transmission time of a byte, if it is a whole number of picoseconds: then no packet needs a
    /// division.
    byte_time: Option<Span>,
    cache: SpanCache,
    /// Packets in the order of transmission: those that have left the queue, then (in a FIFO link)
    /// those that wait. Empty where departures are sent ahead: the next element holds them.
    pub(crate) in_flight: RingBuffer<InFlight>,
    /// Packets that wait, where `in_flight` does not hold them or does not tell what has left the
    /// queue.
    pub(crate) waiting: WaitingList,
    /// Packet that left the queue last, where `in_flight` does not hold it.
    pub(crate) last: Scheduled,
    /// End of the last transmission scheduled.
    pub(crate) free_at: Time,
    pub(crate) queue: QueueOccupancy,
    scheduled_totals: TxTotals,
    carried_over: TxTotals,
    /// Part of the packet in transmission that was left to send when counters were last read.
    unfinished: Option<Unfinished>,
    background: Option<BackgroundTraffic>,
}

impl Transmitter {
    pub(crate) fn new(
        link: LinkId,
        rate: Rate,
        delay: Span,
        background: Option<BackgroundTraffic>,
    ) -> Self {
        Self {
            background,
            link,
            rate,
            delay,
            byte_time: whole_byte_time(rate),
            cache: SpanCache::default(),
            in_flight: RingBuffer::default(),
            waiting: WaitingList::default(),
            last: Scheduled::default(),
            free_at: Time::ZERO,
            queue: QueueOccupancy::default(),
            scheduled_totals: TxTotals::default(),
            carried_over: TxTotals::default(),
            unfinished: None,
        }
    }

    /// The lookahead of its link: transmissions are scheduled before packets reach the far end.
    pub(crate) fn lookahead(&self) -> Lookahead<'static> {
        Lookahead {
            schedules_departures: true,
            span: self.delay,
            rate: Some(self.rate),
            ..Lookahead::NONE
        }
    }

    /// The idle link turns out to be transmitting a packet of the background traffic. Returns false
    /// if there is none.
    #[inline]
    pub(crate) fn occupied_by_background(&mut self, now: Time) -> bool {
        let Some((span, stream)) = &mut self.background else {
            return false;
        };
        self.free_at = now + span.scaled(stream.uniform());
        true
    }

    #[inline(always)]
    fn transmission_time(&mut self, size: u16) -> Span {
        if let Some(byte_time) = self.byte_time {
            return byte_time.times(u64::from(size));
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

    /// Schedule the transmission of `packet` for `start`, after all scheduled before. Returns the
    /// time at which it reaches the far end.
    #[inline(always)]
    pub(crate) fn schedule_tx(&mut self, packet: &Packet, start: Time) -> Time {
        let out = self.transmit_now(packet, start);
        self.in_flight.push_back(InFlight { packet: *packet, out });
        out
    }

    /// As [`Transmitter::schedule_tx`], for a packet that need not be kept: the far end has it, or
    /// it was sent ahead.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, packet: &Packet, start: Time) -> Time {
        let span = self.transmission_time(packet.size);
        self.scheduled_totals.add(packet.queued_info());
        self.scheduled_totals.busy = self.scheduled_totals.busy.wrapping_add(span.ps());
        self.free_at = start + span;
        self.free_at + self.delay
    }

    /// The same for a packet that arrives at `at` and is transmitted without waiting.
    #[inline(always)]
    pub(crate) fn transmit_now(&mut self, packet: &Packet, at: Time) -> Time {
        self.last = Scheduled::new(packet, at);
        self.transmit(packet, at)
    }

    /// The same for a packet that arrives at `at` and waits until all scheduled before it are sent.
    /// Its waiting time is counted at once.
    #[inline(always)]
    pub(crate) fn enqueue_tx(&mut self, packet: &Packet, at: Time) -> Time {
        let scheduled = Scheduled::new(packet, self.free_at);
        self.queue.count_wait(packet, scheduled.start.since(at));
        self.update_max_queue();
        self.waiting.push(scheduled);
        self.transmit(packet, scheduled.start)
    }

    /// Returns the time at which the transmission of `packet` begins if it reaches the far end at
    /// `out`.
    pub(crate) fn start_of(&mut self, packet: &Packet, out: Time) -> Time {
        let takes = self.transmission_time(packet.size) + self.delay;
        Time::from_ps(out.ps() - takes.ps())
    }

    /// Returns true if background traffic fills the link.
    pub(crate) fn has_background(&self) -> bool {
        self.background.is_some()
    }

    /// Returns the time at which `packet` reaches the far end if it arrives at `at`, next after all
    /// that is scheduled, and finds no background traffic.
    #[inline]
    pub(crate) fn earliest_exit(&mut self, packet: &Packet, at: Time) -> Time {
        at.max(self.free_at) + self.transmission_time(packet.size) + self.delay
    }

    /// A lower bound on the time at which a packet that is not scheduled yet reaches the far end,
    /// if the next one arrives at `at`: a transmission takes some time, however short.
    #[inline]
    pub(crate) fn exit_lower_bound(&self, at: Time) -> Time {
        at.max(self.free_at) + self.delay + Span::from_ps(1)
    }

    /// Hand the packet that reaches the far end now to the next element. Returns when the next
    /// packet reaches the far end.
    #[inline(always)]
    pub(crate) fn deliver_first(&mut self, cx: &mut Context<'_>) -> Option<Time> {
        let entry = self.in_flight.front().expect("the timer was set for a packet in flight");
        debug_assert_eq!(entry.out, cx.now());
        cx.cross(&entry.packet);
        self.in_flight.pop_front();
        self.in_flight.front().map(|next| next.out)
    }

    /// On a link to sinks where every scheduled transmission has begun: deliver the packets that
    /// have reached the far end by `now`.
    #[inline]
    pub(crate) fn release_to_sinks(&mut self, now: Time, cx: &mut Context<'_>) {
        while let Some(entry) = self.in_flight.front()
            && entry.out <= now
        {
            cx.crossed_at(&entry.packet, entry.out);
            self.in_flight.pop_front();
        }
    }

    /// Brings the count of waiting times to `now`, where they are counted at arrival.
    pub(crate) fn sync_wait(&mut self, now: Time) {
        self.queue.sync_wait(now, self.waiting.remaining_wait(now));
    }

    /// Returns true if the link is idle at `now`, after the departures from the queue up to some
    /// time.
    #[inline(always)]
    pub(crate) fn is_idle(&self, now: Time) -> bool {
        self.free_at <= now && self.queue.backlog.packets == 0
    }

    /// Returns the time since which the link has been idle at `now`; `None` if it is busy.
    #[inline]
    pub(crate) fn idle_since(&self, now: Time) -> Option<Time> {
        self.is_idle(now).then_some(self.free_at)
    }

    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        self.queue.backlog
    }

    #[inline]
    pub(crate) fn count_enqueued(&mut self, packet: &Packet, now: Time) {
        self.queue.add(packet, now);
    }

    /// The packets that wait now do so for some time: update the maximum.
    #[inline]
    pub(crate) fn update_max_queue(&mut self) {
        self.queue.update_max();
    }

    #[inline]
    pub(crate) fn count_dequeued(&mut self, packet: &Packet, at: Time) {
        self.queue.remove(packet.queued_info(), at);
    }

    /// The part of what is scheduled that lies after `now`: transmissions that have not begun, and
    /// what is left of the one that has.
    fn not_yet_sent(&self, now: Time) -> (TxTotals, Option<Unfinished>) {
        let (mut not_yet_sent, mut unfinished) = (TxTotals::default(), None);
        for scheduled in self.waiting.newest_first().chain([&self.last]) {
            let span =
                self.rate.transmission_time(Size::from_bytes(u64::from(scheduled.packet.size())));
            let done = now.since(scheduled.start);
            if done >= span {
                break;
            }
            not_yet_sent.busy = not_yet_sent.busy.wrapping_add((span - done).ps());
            if scheduled.start > now {
                not_yet_sent.add(scheduled.packet);
            } else {
                let bits = 8 * u64::from(scheduled.packet.size());
                // A transmission of days takes some 2^64 ps.
                let sent = u128::from(bits) * u128::from(done.ps()) / u128::from(span.ps());
                let precedence = scheduled.packet.precedence();
                unfinished = Some(Unfinished { precedence, bits: bits - sent as u64 });
            }
        }
        (not_yet_sent, unfinished)
    }

    /// Bring the link's counters up to `now`. With `arrivals`, what was scheduled is counted as
    /// arrived too: where transmissions are scheduled at arrival, arrivals are counted nowhere
    /// else.
    pub(crate) fn sync_counters(&mut self, arrivals: bool, cx: &mut Context<'_>) {
        let now = cx.now();
        let count = cx.counters().link(self.link);
        self.queue.report(now, count);
        let scheduled_totals = std::mem::take(&mut self.scheduled_totals);
        let (not_yet_sent, unfinished) = self.not_yet_sent(now);
        let carried_over = &self.carried_over;
        let busy =
            scheduled_totals.busy.wrapping_add(carried_over.busy).wrapping_sub(not_yet_sent.busy);
        count.busy += busy;
        if let Some(Unfinished { precedence, bits }) = self.unfinished {
            count.of(precedence).sent_bits += bits;
        }
        // What is not yet sent was scheduled now or before.
        let precedences = scheduled_totals.precedences().max(carried_over.precedences());
        for precedence in 0..precedences {
            let [scheduled, carried_over, not_yet_sent] =
                [&scheduled_totals, carried_over, &not_yet_sent].map(|part| part.of(precedence));
            let tally = count.of(precedence as u8);
            tally.departed.packets +=
                scheduled.packets + carried_over.packets - not_yet_sent.packets;
            let bytes = scheduled.bytes + carried_over.bytes - not_yet_sent.bytes;
            tally.departed.bytes += bytes;
            tally.sent_bits += 8 * bytes;
            if arrivals {
                tally.arrived.packets += scheduled.packets;
                tally.arrived.bytes += scheduled.bytes;
            }
        }
        if let Some(Unfinished { precedence, bits }) = unfinished {
            count.of(precedence).sent_bits -= bits;
        }
        (self.carried_over, self.unfinished) = (not_yet_sent, unfinished);
    }

    /// Apply the conditioners of `link` to `packet` at `at`. Returns false if one of them drops it.
    #[inline(always)]
    pub(crate) fn condition(
        link: LinkId,
        conditioning: &mut [Conditioning],
        packet: &mut Packet,
        at: Time,
        cx: &mut Context<'_>,
    ) -> bool {
        for (law, stream) in conditioning {
            let before = packet.ecn();
            let verdict = law.condition(packet, at, stream);
            if (verdict != Verdict::Accept || packet.ecn() != before)
                && !Self::apply_verdict(link, verdict, packet, cx)
            {
                return false;
            }
            cx.observe(|| Observation::Coloured { link, packet });
        }
        true
    }

    /// Apply the `verdict` of a conditioner of `link` on `packet`, besides its precedence. Returns
    /// false if it is dropped.
    #[cold]
    #[inline(never)]
    fn apply_verdict(
        link: LinkId,
        verdict: Verdict,
        packet: &mut Packet,
        cx: &mut Context<'_>,
    ) -> bool {
        match verdict {
            Verdict::Drop(reason) => drop_arriving(link, packet, reason, cx),
            Verdict::Mark => Self::mark(link, packet, cx),
            // What clears the field marks nothing.
            Verdict::Accept if !packet.is_ecn_capable() => {}
            Verdict::Accept => Self::count_mark(link, packet, cx),
        }
        !matches!(verdict, Verdict::Drop(_))
    }

    /// Set CE on `packet`.
    pub(crate) fn mark(link: LinkId, packet: &mut Packet, cx: &mut Context<'_>) {
        debug_assert!(packet.is_ecn_capable(), "a law marked a packet that is not ECN-capable");
        *packet = packet.with_ecn(Ecn::Ce);
        Self::count_mark(link, packet, cx);
    }

    /// Count `packet` as marked at `link`, according to its present ECN field.
    fn count_mark(link: LinkId, packet: &Packet, cx: &mut Context<'_>) {
        let count = cx.counters().link(link).of(packet.precedence);
        match packet.ecn() {
            Ecn::Ce => count.marked += 1,
            Ecn::Ect1 => count.threshold_marked += 1,
            Ecn::Ect0 | Ecn::NotEct => {}
        }
        cx.observe(|| Observation::Marked { link, packet });
    }

    /// Probes of the queue and of the conditioners in front of it.
    pub(crate) fn probes(&self, conditioning: &[Conditioning], visit: &mut dyn FnMut(&str, f64)) {
        self.queue.probes(conditioning, visit);
    }
}

/// The transmission time of a byte, if it needs no rounding.
fn whole_byte_time(rate: Rate) -> Option<Span> {
    let byte_time = rate.transmission_time(Size::from_bytes(1));
    let exact = u128::from(byte_time.ps()) * u128::from(rate.bps()) == u128::from(8 * PS_PER_S);
    exact.then_some(byte_time)
}
