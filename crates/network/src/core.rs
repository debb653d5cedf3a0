//! State that the engine and [`Context`](crate::Context) share: that of a partition apart from its
//! elements, which one executes and through which the other acts.
//!
//! For the engine only: an element acts through its context. Logical processes, timestamped
//! channels and the lower bound on timestamps are those of R. M. Fujimoto, *Parallel and
//! Distributed Simulation Systems*, 2000.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forebay_kernel::{ChannelTable, Digest, EventList, RingBuffer};
use forebay_units::{Span, Time};

use crate::detours::Detours;
use crate::routes::Routes;
use crate::{
    Counters, DelayTable, DeliveryMeter, Ecn, ElementId, ExecutionMode, FlowId, InputChannels,
    Observer, Packet, ReceiverId, RouteId, SackTable,
};

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
    /// Time at which it is received: the current time of the element that handed it on.
    pub at: Time,
    /// The element that receives it.
    pub to: ElementId,
}

/// Packets handed on and not yet received, first in, first out. There is rarely more than one, so
/// the first is stored apart from the queue.
pub struct PendingDeliveries {
    /// The first, if `full`.
    pub first: PendingDelivery,
    /// True if there is a first.
    pub full: bool,
    /// Deliveries pushed while `first` was occupied or others waited here.
    queue: RingBuffer<PendingDelivery>,
}

impl Default for PendingDeliveries {
    fn default() -> Self {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 0, RouteId::new(0));
        let first = PendingDelivery { packet, at: Time::ZERO, to: ElementId::new(0) };
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
    /// Routes that change, if any do.
    pub detours: Option<Box<Detours>>,
    /// The counters.
    pub counters: Counters,
    /// The delays of each flow that are counted.
    pub delays: DelayTable,
    /// Meter of each flow, up to the last that has one.
    pub meters: Vec<Option<Box<dyn DeliveryMeter>>>,
    /// Notified of every fact.
    pub observers: Vec<Box<dyn Observer>>,
    /// Sinks by number.
    pub sinks: Vec<Sink>,
    /// True if prefetching pays.
    pub prefetches: bool,
    /// Events of the model that never were in the event list, less the entries of the event list
    /// that were no events of the model.
    pub virtual_events: i64,
    /// Execution mode of each element; known when the run begins.
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
    /// Set by another thread when the run is to stop: see [`Core::stop_if_cancelled`].
    pub cancelled: Arc<AtomicBool>,
}

/// Panic payload with which a cancelled run unwinds: it has no result, and its state is not to be
/// used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled;

impl Core {
    /// End the run by unwinding with [`Cancelled`] if it was cancelled. Called between batches, so
    /// that a run stops soon even where one event stands for very many packets.
    #[inline]
    pub fn stop_if_cancelled(&self) {
        if self.cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
    }

    /// Up to when all that arrives at `receiver`, an element or the first member of a host group,
    /// is known: the least clock of its input channels, but no later than `sync_time`; and at least
    /// the lower bound on timestamps.
    #[inline]
    pub fn safe_until(&self, receiver: ReceiverId) -> Time {
        self.lbts.max(self.channels.inputs(receiver).safe_until().min(self.sync_time))
    }

    /// Move the input channels of `receiver` out of the table, so that packets can be read in place
    /// while they are processed.
    #[inline]
    pub fn take_inputs(&mut self, receiver: ReceiverId) -> InputChannels {
        std::mem::take(self.channels.inputs_mut(receiver))
    }

    /// Put the input channels of `receiver` back, and count what was taken from them as having
    /// crossed the upstream link.
    #[inline]
    pub fn return_inputs(&mut self, receiver: ReceiverId, mut inputs: InputChannels) {
        let taken = std::mem::take(&mut inputs.taken);
        self.counters.hops += taken;
        self.virtual_events += taken as i64;
        *self.channels.inputs_mut(receiver) = inputs;
    }

    /// Count the arrival at `at` of `packet`, which was sent ahead to a sink and has so many bytes
    /// of header.
    #[inline(always)]
    pub fn count_at_sink(&mut self, packet: &Packet, at: Time, header: u64) {
        self.count_delivery(packet, at, u64::from(packet.size).saturating_sub(header));
    }

    /// Count `packet` as delivered at `at`. Returns its delay.
    #[inline(always)]
    pub(crate) fn count_delivery(&mut self, packet: &Packet, at: Time, payload: u64) -> Span {
        let delay = at.since(packet.created);
        let flow = self.counters.flow(packet);
        // Written only with a payload: acknowledgements touch none of the counters of data.
        if payload > 0 {
            flow.goodput += payload;
        }
        if packet.is_feedback() {
            flow.acks[1] += 1;
            return delay;
        }
        flow.delivered.add(packet);
        flow.delay += u128::from(delay.ps());
        // Rare cases: their counters are not written, and perhaps not even read, in the usual one.
        if packet.ecn() == Ecn::Ce {
            flow.marked += 1;
        }
        if delay > flow.max_delay {
            flow.max_delay = delay;
        }
        self.delays.record(packet.flow, delay);
        if let Some(Some(meter)) = self.meters.get_mut(packet.flow.index()) {
            meter.delivered(delay);
        }
        delay
    }
}

/// State of its host group that a deferred element uses in place of the network's event list.
pub struct LocalTimers<'a> {
    /// The event list of its members' timers.
    pub timers: &'a mut EventList,
    /// Before which time nothing is due in the host group except its timers.
    pub arrival_bound: Time,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChannelId;

    fn delivery(number: u64) -> PendingDelivery {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), number, 100, RouteId::new(0));
        PendingDelivery { packet, at: Time::from_ps(number), to: ElementId::new(number as usize) }
    }

    /// Packets that elements hand on at one instant are delivered in the order in which they were
    /// handed on.
    #[test]
    fn pending_deliveries_leave_first_in_first_out() {
        let mut pending = PendingDeliveries::default();
        let (mut sent, mut taken) = (0, Vec::new());
        // As the engine does: take the first; what the receiver hands on comes behind the others.
        for _ in 0..3 {
            pending.push(delivery(sent));
            sent += 1;
        }
        while pending.full {
            pending.full = false;
            taken.push((
                pending.first.packet.number,
                pending.first.at.ps(),
                pending.first.to.index(),
            ));
            if sent < 10 {
                pending.push(delivery(sent));
                sent += 1;
            }
            if !pending.full {
                pending.refill();
            }
        }
        assert_eq!(
            taken,
            (0..10).map(|number| (number, number, number as usize)).collect::<Vec<_>>()
        );
        pending.refill();
        assert!(!pending.full);
    }

    /// Input is known up to the channel clocks, no further than counters are asked for, and at
    /// least up to the lower bound on timestamps: an element processes no packet before all that
    /// precede it are known, and waits for none that is certain.
    #[test]
    fn input_is_known_up_to_the_channel_clocks_and_no_further_than_is_asked() {
        let at = Time::from_ps;
        let mut core = Core {
            channels: ChannelTable::new(&[(vec![ElementId::new(1)], true)]),
            ..Core::default()
        };
        core.channels.send(ReceiverId::new(0), ChannelId::ONLY, &delivery(0).packet, at(50));
        let mut known = |lbts, sync_time| {
            (core.lbts, core.sync_time) = (at(lbts), at(sync_time));
            core.safe_until(ReceiverId::new(0)).ps()
        };
        assert_eq!(
            [known(10, 100), known(10, 30), known(60, 100), known(40, 30)],
            [50, 30, 60, 40]
        );
    }
}
