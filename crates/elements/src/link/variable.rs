//! Links whose rate or propagation delay changes, and links that deliver at given opportunities.
//!
//! Every hop of such a link has its events: it states no lookahead, so that other links, executed
//! with it, pay nothing. The queue discipline chooses the next packet when the transmitter becomes
//! free; drop policies are asked through a FIFO discipline.
//!
//! - Under a [schedule of rates](super::RateSchedule) a transmission that a change of rate
//!   interrupts continues at the new rate; its end is known when it begins. The delay of a packet
//!   is that in force when its last bit is sent; no packet overtakes another on the wire, so what
//!   follows a long delay arrives no earlier than what it follows.
//! - At an [opportunity](super::Opportunities) as many bytes leave as it has room for, of the
//!   packet under way first and then of those that wait; what is left of it is lost. A packet has
//!   left when its last byte has, and one that arrives at the instant of an opportunity misses it.

use forebay_kernel::RingBuffer;
use forebay_network::{Context, Element, LinkId, LogicalProcess, Observation, OwnCount, Packet};
use forebay_units::{Rate, Size, Span, Time};

use super::discipline::{Admission, Discipline};
use super::kind::{Changes, Link};
use super::memory::Stated;
use super::schedule::{Capacity, DelaySchedule, OPPORTUNITY_BYTES};
use super::transmitter::{InFlight, QueueOccupancy, Transmitter};
use super::{LinkParts, OUT};
use crate::count_arrival;

/// A link whose capacity or propagation delay changes over time, as it was read.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The rate that queue laws, conditioners and estimates take as its own.
    pub rate: Rate,
    /// Its propagation delay, at the start.
    pub delay: Span,
    /// Its capacity over time.
    pub capacity: Capacity,
    /// Its propagation delays over time.
    pub delays: DelaySchedule,
}

impl Link for Variable {
    fn rate(&self) -> Rate {
        self.rate
    }

    fn delay(&self) -> Span {
        self.delay
    }

    fn changes(&self) -> Option<Changes<'_>> {
        Some(Changes { capacity: Some(&self.capacity), delays: &self.delays })
    }

    fn element(&self, parts: LinkParts) -> Box<dyn Element> {
        let LinkParts { link, conditioning, queue: (queue, stream), notifier, share, .. } = parts;
        let stated = Stated::new(conditioning, share.clone());
        let law = (queue.into_discipline(), stream);
        let mut discipline = Discipline::new(link, law, (notifier, share));
        if let Capacity::Rates(_) = self.capacity {
            discipline.serves_at_once();
        }
        let changes = (self.capacity.clone(), self.delays.clone());
        Box::new(VariableLink::new(link, changes, stated, discipline))
    }
}

/// Timer token: the transmitter is free and packets wait, or there is an opportunity.
const SERVE: u32 = 1;

/// A link whose capacity or propagation delay changes over time.
struct VariableLink {
    link: LinkId,
    capacity: Capacity,
    delays: DelaySchedule,
    stated: Stated,
    discipline: Discipline<true>,
    occupancy: QueueOccupancy,
    sending: Option<Sending>,
    /// End of the last transmission; with opportunities, the last time at which a packet left.
    free_at: Time,
    /// Expiry of the timer of [`SERVE`] that is in force; [`Time::NEVER`] for none.
    wake_time: Time,
    in_flight: RingBuffer<InFlight>,
    /// Time at which the last packet sent reaches the far end.
    last_out: Time,
}

/// The packet in transmission.
#[derive(Clone, Copy)]
struct Sending {
    packet: Packet,
    start: Time,
    /// Time at which it ends; [`Time::NEVER`] where opportunities decide that.
    end: Time,
    /// Bytes that opportunities have not delivered.
    left: u64,
    /// Bits that are counted as sent.
    counted: u64,
    /// Time up to which the transmission is counted as busy time.
    since: Time,
}

impl VariableLink {
    fn new(
        link: LinkId,
        (capacity, delays): (Capacity, DelaySchedule),
        stated: Stated,
        discipline: Discipline<true>,
    ) -> Self {
        Self {
            link,
            capacity,
            delays,
            stated,
            discipline,
            occupancy: QueueOccupancy::default(),
            sending: None,
            free_at: Time::ZERO,
            wake_time: Time::NEVER,
            in_flight: RingBuffer::default(),
            last_out: Time::ZERO,
        }
    }

    fn waits(&self) -> bool {
        self.occupancy.backlog.packets > 0
    }

    /// Returns the time since which the link has been idle at `now`; `None` if it is busy.
    fn idle_since(&self, now: Time) -> Option<Time> {
        let sends = match self.capacity {
            Capacity::Rates(_) => self.free_at > now,
            Capacity::Opportunities(_) => self.sending.is_some(),
        };
        (!sends && !self.waits()).then_some(self.free_at)
    }

    /// Count what was sent of the packet in transmission up to `now`.
    fn settle(&mut self, now: Time, cx: &mut Context<'_>) {
        let Some(sending) = &mut self.sending else { return };
        let (until, all) = (now.min(sending.end), 8 * u64::from(sending.packet.size));
        let sent = match &self.capacity {
            Capacity::Rates(_) if until == sending.end => all,
            Capacity::Rates(rates) => rates.whole_bits(sending.start, until).min(all),
            Capacity::Opportunities(_) => all - 8 * sending.left,
        };
        let count = cx.counters().link(self.link);
        count.busy += until.since(sending.since).ps();
        count.of(sending.packet.precedence).sent_bits += sent - sending.counted;
        (sending.counted, sending.since) = (sent, until);
        if sent == all {
            self.sending = None;
        }
    }

    /// Take the next packet out of the queue at `now`, if one may leave, and begin to send it.
    fn begin(&mut self, now: Time, cx: &mut Context<'_>) -> Option<Packet> {
        let packet = self.discipline.next(now, &mut self.occupancy, cx)?;
        cx.counters().link(self.link).of(packet.precedence).departed.add(&packet);
        let link = self.link;
        cx.observe(|| Observation::Departs { link, packet: &packet, at: now });
        let (start, left) = (now, u64::from(packet.size));
        let end = Time::NEVER;
        self.sending = Some(Sending { packet, start, end, left, counted: 0, since: now });
        Some(packet)
    }

    /// The last bit of `packet` is sent at `end`.
    fn send(&mut self, packet: Packet, end: Time, cx: &mut Context<'_>) {
        self.free_at = end;
        let out = (end + self.delays.delay(end)).max(self.last_out);
        self.last_out = out;
        let alone = self.in_flight.is_empty();
        self.in_flight.push_back(InFlight { packet, out });
        if alone && out < Time::NEVER {
            cx.wake_at(out, OUT);
        }
    }

    /// Do what is due by `now` before anything that arrives then.
    fn serve(&mut self, now: Time, cx: &mut Context<'_>) {
        match &self.capacity {
            Capacity::Rates(_) => {
                if self.waits() && self.due() <= now {
                    self.transmit_next(now, cx);
                }
            }
            Capacity::Opportunities(_) => {
                if self.wake_time <= now {
                    self.wake_time = Time::NEVER;
                    self.take_opportunity(now, cx);
                }
            }
        }
    }

    /// Returns the time at which the next transmission is due if packets wait, under a schedule of
    /// rates.
    fn due(&self) -> Time {
        self.discipline.ready_at(self.free_at)
    }

    /// The transmitter is free at `now`: transmit the next packet, if one may leave.
    fn transmit_next(&mut self, now: Time, cx: &mut Context<'_>) {
        self.settle(now, cx);
        let Some(packet) = self.begin(now, cx) else { return };
        let Capacity::Rates(rates) = &self.capacity else { return };
        let end = rates.end(now, Size::from_bytes(u64::from(packet.size)).bits());
        if let Some(sending) = &mut self.sending {
            sending.end = end;
        }
        self.send(packet, end, cx);
    }

    /// There are opportunities at `now`: send what they have room for.
    fn take_opportunity(&mut self, now: Time, cx: &mut Context<'_>) {
        let Capacity::Opportunities(times) = &self.capacity else { return };
        let mut room = times.offered(now.just_before(), now);
        debug_assert!(room >= OPPORTUNITY_BYTES, "the timer was set for an opportunity");
        while room > 0 {
            if self.sending.is_none() && self.begin(now, cx).is_none() {
                return;
            }
            let Some(sending) = &mut self.sending else { return };
            let sent = room.min(sending.left);
            sending.left -= sent;
            room -= sent;
            if sending.left == 0 {
                let packet = sending.packet;
                self.settle(now, cx);
                self.send(packet, now, cx);
            }
        }
    }

    /// Set the timer if something is to be sent.
    fn arm(&mut self, now: Time, cx: &mut Context<'_>) {
        let next = match &self.capacity {
            Capacity::Rates(_) if self.waits() => self.due(),
            Capacity::Opportunities(times) if self.waits() || self.sending.is_some() => {
                times.next(now)
            }
            _ => Time::NEVER,
        };
        if next < self.wake_time {
            self.wake_time = next;
            cx.wake_at(next, SERVE);
        }
    }

    /// `packet`, which has passed the conditioners, arrives at the queue at `now`.
    fn accept(&mut self, packet: &Packet, now: Time, cx: &mut Context<'_>) {
        count_arrival(self.link, packet, cx);
        self.serve(now, cx);
        let arrival = (now, self.idle_since(now));
        let admission = self.discipline.admit(packet, arrival, &mut self.occupancy, cx);
        if admission == Admission::Dropped {
            return;
        }
        // The discipline may send an arrival before what it holds back.
        if matches!(self.capacity, Capacity::Rates(_)) && self.free_at <= now {
            self.transmit_next(now, cx);
        }
        // A packet that is served at once has not waited.
        self.occupancy.update_max();
    }

    /// The packet that reaches the far end now, and those with it.
    fn deliver(&mut self, cx: &mut Context<'_>) {
        let now = cx.now();
        while let Some(entry) = self.in_flight.front() {
            if entry.out > now {
                if entry.out < Time::NEVER {
                    cx.wake_at(entry.out, OUT);
                }
                return;
            }
            debug_assert_eq!(entry.out, now, "the timer was set for a packet in flight");
            cx.cross(&entry.packet);
            self.in_flight.pop_front();
        }
    }
}

impl LogicalProcess for VariableLink {}

impl Element for VariableLink {
    fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let (mut packet, now) = (*packet, cx.now());
        if Transmitter::condition(self.link, &mut self.stated.conditioning, &mut packet, now, cx) {
            self.accept(&packet, now, cx);
            self.arm(now, cx);
        }
    }

    fn wake(&mut self, token: u32, cx: &mut Context<'_>) {
        if token == OUT {
            self.deliver(cx);
            return;
        }
        let now = cx.now();
        // An arrival at this instant may have done it, or an earlier timer have been set.
        if self.wake_time != now {
            return;
        }
        self.serve(now, cx);
        self.wake_time = Time::NEVER;
        self.arm(now, cx);
    }

    fn counters(&mut self, cx: &mut Context<'_>) -> OwnCount<'_> {
        let now = cx.now();
        self.settle(now, cx);
        self.occupancy.report(now, cx.counters().link(self.link));
        // Under a schedule of rates what is in transmission is in flight already.
        let apart = matches!(self.capacity, Capacity::Opportunities(_)) && self.sending.is_some();
        let held = self.in_flight.len() as u64 + u64::from(self.occupancy.backlog.packets);
        let (held, counters) = (held + u64::from(apart), self.discipline.class_counts(now));
        let state = self.stated.with(self.occupancy.backlog);
        OwnCount { held, counters, state: Some(state) }
    }

    fn probes(&self, _part: u32, visit: &mut dyn FnMut(&str, f64)) {
        self.occupancy.probes(&self.stated.conditioning, visit);
        self.discipline.probes(visit);
    }
}
