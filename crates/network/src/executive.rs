//! What the engine and [`Context`](crate::Context) share: the state of a partition apart from its
//! elements, which one executes and through which the other acts.
//!
//! For the engine only: an element acts through its context. Logical processes, timestamped channels
//! and the lower bound on timestamps are those of R. M. Fujimoto, *Parallel and Distributed
//! Simulation Systems*, 2000.

use forebay_kernel::{ChannelTable, Digest, EventList, RingBuffer};
use forebay_units::Time;

pub use crate::routes::{Hop, NO_CHANNEL, PartitionHop, Routes, SINK};
use crate::{Context, Counters, ExecutionMode, Observer, Packet, SackTable};

/// A destination of routes that only counts what it receives.
pub struct Sink {
    /// Bytes of each packet that are not payload.
    pub header: u64,
    /// Digest of what it received.
    pub digest: Digest,
}

/// A packet that an element has handed to the next, which has not received it yet.
#[derive(Clone, Copy)]
pub struct PendingDelivery {
    /// The packet.
    pub packet: Packet,
    /// When it is received: the current time of the element that handed it on.
    pub at: Time,
    /// The element that receives it.
    pub to: u32,
}

/// Packets handed on and not yet received, first in, first out. There is rarely more than one, so
/// the first is stored apart from the queue.
pub struct PendingDeliveries {
    /// The first, if `full`.
    pub first: PendingDelivery,
    /// Whether there is a first.
    pub full: bool,
    /// Deliveries pushed while `first` was occupied or others waited here.
    queue: RingBuffer<PendingDelivery>,
}

impl Default for PendingDeliveries {
    fn default() -> Self {
        let packet = Packet::data(Time::ZERO, 0, 0, 0, 0);
        let first = PendingDelivery { packet, at: Time::ZERO, to: 0 };
        Self { first, full: false, queue: RingBuffer::default() }
    }
}

impl PendingDeliveries {
    /// Append a delivery.
    #[inline(always)]
    pub fn push(&mut self, delivery: PendingDelivery) {
        if self.full || !self.queue.is_empty() {
            self.queue.push_back(delivery);
        } else {
            self.first = delivery;
            self.full = true;
        }
    }

    /// The first was taken and received: move the next to its place.
    #[inline(always)]
    pub fn refill(&mut self) {
        if let Some(next) = self.queue.front() {
            self.first = *next;
            self.queue.pop_front();
            self.full = true;
        }
    }
}

/// The state of a partition apart from its elements: event list, routes, counters and channels.
#[derive(Default)]
pub struct Core {
    /// The event list; its clock is the current time of the partition.
    pub event_list: EventList,
    /// Packets handed on and not yet received.
    pub pending: PendingDeliveries,
    /// The forwarding tables.
    pub routes: Routes,
    /// The counters.
    pub counters: Counters,
    /// Notified of every fact.
    pub observers: Vec<Box<dyn Observer>>,
    /// By number of the sink.
    pub sinks: Vec<Sink>,
    /// Whether prefetching pays.
    pub prefetches: bool,
    /// Events of the model that never were in the event list, less the entries of the event list
    /// that were no events of the model.
    pub virtual_events: i64,
    /// How each element is executed; known when the run begins.
    pub modes: Vec<ExecutionMode>,
    /// Packets sent ahead and not yet processed by their receivers.
    pub channels: ChannelTable<Packet>,
    /// Lower bound on the timestamps still to come: every arrival up to then is already in the
    /// input channels, at all receivers that have any.
    pub lbts: Time,
    /// Counters and probes are not read before all that is due by then has been handled.
    pub sync_time: Time,
    /// SACK blocks of the acknowledgements in flight.
    pub sack_blocks: SackTable,
}

impl Core {
    /// Up to when all that arrives at `receiver`, an element or the first member of a host group,
    /// is known: the least clock of its input channels, but no later than `sync_time`; and at least
    /// the lower bound on timestamps.
    #[inline]
    pub fn safe_until(&self, receiver: u32) -> Time {
        self.lbts.max(self.channels.inputs(receiver).safe_until().min(self.sync_time))
    }
}

/// What a deferred element uses of its host group in place of the network's event list.
pub struct LocalTimers<'a> {
    /// The event list of its members' timers.
    pub timers: &'a mut EventList,
    /// Before which time nothing is due in the host group except its timers.
    pub arrival_bound: Time,
}

/// What [`Context`] offers to the engine.
pub trait Executive<'a> {
    /// The context of element `me` at `now`, with the timers of its host group if it is deferred.
    fn new(core: &'a mut Core, me: u32, now: Time, local: Option<LocalTimers<'a>>) -> Self;

    /// The context of element `me`, whose execution is not deferred, at `now`.
    #[inline(always)]
    fn of(core: &'a mut Core, me: u32, now: Time) -> Self
    where
        Self: Sized,
    {
        Self::new(core, me, now, None)
    }

    /// The shared state.
    fn core(&mut self) -> &mut Core;

    /// Set the current time of the element.
    fn set_now(&mut self, now: Time);

    /// Before which time no timer of the host group of this element is due. [`Time::ZERO`] if a
    /// packet was handed on that must be received first, or if a batched receiver holds many
    /// packets.
    fn undisturbed_until(&self) -> Time;

    /// Count the arrival at `at` of `packet`, which was sent ahead to a sink and has so many bytes
    /// of header.
    fn count_at_sink(&mut self, packet: &Packet, at: Time, header: u64);
}

impl<'a> Executive<'a> for Context<'a> {
    #[inline(always)]
    fn new(core: &'a mut Core, me: u32, now: Time, local: Option<LocalTimers<'a>>) -> Self {
        Self { core, me, now, local }
    }

    #[inline(always)]
    fn core(&mut self) -> &mut Core {
        self.core
    }

    #[inline(always)]
    fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    #[inline(always)]
    fn undisturbed_until(&self) -> Time {
        let timers = self.local.as_ref().map_or(Time::ZERO, |local| local.timers.lower_bound());
        if self.core.channels.flush | self.core.pending.full { Time::ZERO } else { timers }
    }

    #[inline(always)]
    fn count_at_sink(&mut self, packet: &Packet, at: Time, header: u64) {
        self.count_delivery(packet, at, u64::from(packet.size).saturating_sub(header));
    }
}
