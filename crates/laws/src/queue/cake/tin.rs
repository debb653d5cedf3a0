//! A tin of CAKE: queues of flows, served by deficit round robin that puts sparse flows first.

use std::cmp::Reverse;

use forebay_kernel::Stream;
use forebay_network::{Departure, Discard, DropReason, Packet};
use forebay_parameters::choice;
use forebay_units::Time;

use crate::queue::cake::hash::{FlowKey, Rotation, SetHash};
use crate::queue::cake::hosts::Isolation;
use crate::queue::cake::shaper::Clock;
use crate::queue::parts::ack_filter::AckFilter;
use crate::queue::parts::cobalt_core::{CobaltLaw, CobaltState, Fate};
use crate::queue::parts::packet_pool::{PacketList, PacketPool};

choice! {
    /// Delay of a packet up to which it is not dropped, in transmissions of the largest packet at
    /// the share of its tin.
    pub enum Spared {
        /// Four (Linux since 4.19).
        Packets = "packets",
        /// Four for each flow of its tin that has a standing queue: none where it is the only
        /// one that waits (before CAKE was in Linux).
        Flows = "flows",
    }
}

/// No queue.
const NONE: u32 = u32::MAX;

/// Deficits of flows are in these parts of a byte, so that hosts can share a quantum.
const PARTS: i64 = 1 << 16;

/// A list of queues, doubly linked.
#[derive(Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy)]
struct FlowQueue {
    packets: PacketList,
    cobalt: CobaltState,
    /// Parts of bytes that it may still send in this round.
    deficit: i64,
    rotation: Rotation,
    /// Chain that it is in; of no meaning while it is idle.
    chain: usize,
    before: u32,
    behind: u32,
}

impl Default for FlowQueue {
    fn default() -> Self {
        Self {
            packets: PacketList::default(),
            cobalt: CobaltState::default(),
            deficit: 0,
            rotation: Rotation::Idle,
            chain: NEW,
            before: NONE,
            behind: NONE,
        }
    }
}

/// The chains, by the order in which they are looked at.
const NEW: usize = 0;
const OLD: usize = 1;
const DECAYING: usize = 2;

/// Number of flows in each rotation.
#[derive(Clone, Copy, Default)]
struct Flows {
    sparse: u32,
    bulk: u32,
    decaying: u32,
}

/// Counts since the start.
#[derive(Clone, Copy, Default)]
struct Counts {
    aqm_drops: u64,
    marks: u64,
    overflow_drops: u64,
    filtered_acks: u64,
}

/// A tin.
pub(in crate::queue) struct Tin {
    law: CobaltLaw,
    spared: Spared,
    /// Bytes that a flow, and the tin, may send in a round.
    quantum: i64,
    share: i64,
    hash: SetHash,
    queues: Vec<FlowQueue>,
    chains: [Chain; 3],
    flows: Flows,
    /// Bytes that the tin may still send in this round.
    deficit: i64,
    /// The tin's own schedule, under a shaper.
    clock: Option<Clock>,
    packets: u32,
    /// The queue that was served last.
    served: u32,
    counts: Counts,
}

impl Tin {
    pub(in crate::queue) fn new(
        queues: u32,
        isolation: Isolation,
        (law, spared): (CobaltLaw, Spared),
        (quantum, share): (i64, i64),
        clock: Option<Clock>,
    ) -> Self {
        Self {
            law,
            spared,
            quantum,
            share,
            hash: SetHash::new(queues, isolation),
            queues: Vec::new(),
            chains: [Chain { first: NONE, last: NONE }; 3],
            flows: Flows::default(),
            deficit: 0,
            clock,
            packets: 0,
            served: 0,
            counts: Counts::default(),
        }
    }

    /// The queue that is in use for the flow with the hash `key`, if there is one.
    pub(in crate::queue) fn known(&mut self, key: u32) -> Option<u32> {
        let queues = &self.queues;
        let rotation = |at: u32| queues.get(at as usize).map_or(Rotation::Idle, |of| of.rotation);
        self.hash.known(key, rotation)
    }

    /// The queue of a flow that has none in use.
    pub(in crate::queue) fn find(&mut self, key: FlowKey) -> u32 {
        self.queues.resize_with(self.hash.length(), FlowQueue::default);
        let queues = &self.queues;
        self.hash.find(key, |queue| queues[queue as usize].rotation)
    }

    /// Append `packet` to `queue`.
    pub(in crate::queue) fn push(
        &mut self,
        queue: u32,
        packet: &Packet,
        now: Time,
        pool: &mut PacketPool,
    ) {
        pool.push(&mut self.queues[queue as usize].packets, packet, now);
        self.packets += 1;
    }

    /// Remove the acknowledgement that `packet`, the last of `queue`, makes superfluous.
    pub(in crate::queue) fn filter(
        &mut self,
        queue: u32,
        packet: &Packet,
        filter: AckFilter,
        pool: &mut PacketPool,
    ) -> Option<Packet> {
        let ack = filter.apply(pool, &mut self.queues[queue as usize].packets, packet)?;
        self.packets -= 1;
        self.counts.filtered_acks += 1;
        Some(ack)
    }

    /// A packet came into `queue`: give the flow its place.
    pub(in crate::queue) fn arrived(&mut self, queue: u32) {
        let index = queue as usize;
        match self.queues[index].rotation {
            Rotation::Idle | Rotation::Decaying => {
                if self.queues[index].rotation == Rotation::Decaying {
                    self.flows.decaying -= 1;
                    self.unlink(queue);
                }
                self.append(queue, NEW);
                self.queues[index].rotation = Rotation::Sparse;
                self.flows.sparse += 1;
                self.queues[index].deficit = self.quantum_of(queue);
            }
            Rotation::SparseWait => {
                self.queues[index].rotation = Rotation::Bulk;
                self.flows.sparse -= 1;
                self.flows.bulk += 1;
                self.hash.join(queue);
            }
            Rotation::Sparse | Rotation::Bulk => {}
        }
    }

    /// Returns the law of queues with as many flows as there are.
    fn law_now(&self) -> CobaltLaw {
        match self.spared {
            Spared::Packets => self.law,
            Spared::Flows => {
                let flows = u64::from(self.flows.bulk);
                CobaltLaw { spared: self.law.spared.times(flows), ..self.law }
            }
        }
    }

    /// Returns the quantum that the flow of `queue` may send in a round, in parts of a byte.
    fn quantum_of(&self, queue: u32) -> i64 {
        self.quantum * PARTS / i64::from(self.hash.load(queue))
    }

    fn append(&mut self, queue: u32, chain: usize) {
        let last = self.chains[chain].last;
        let entry = &mut self.queues[queue as usize];
        (entry.chain, entry.before, entry.behind) = (chain, last, NONE);
        match self.queues.get_mut(last as usize) {
            Some(last) => last.behind = queue,
            None => self.chains[chain].first = queue,
        }
        self.chains[chain].last = queue;
    }

    fn unlink(&mut self, queue: u32) {
        let FlowQueue { chain, before, behind, .. } = self.queues[queue as usize];
        match self.queues.get_mut(before as usize) {
            Some(before) => before.behind = behind,
            None => self.chains[chain].first = behind,
        }
        match self.queues.get_mut(behind as usize) {
            Some(behind) => behind.before = before,
            None => self.chains[chain].last = before,
        }
    }

    /// Returns the time at which the tin's own schedule lets the next packet leave, if it has
    /// flows.
    pub(in crate::queue) fn scheduled(&self) -> Option<Time> {
        let waits = self.flows.sparse + self.flows.bulk > 0;
        self.clock.filter(|_| waits).map(|clock| clock.next)
    }

    /// A packet arrives at `now`: if it finds none in the tin, time that was not used is lost.
    pub(in crate::queue) fn start(&mut self, now: Time) {
        if let Some(clock) = self.clock.as_mut().filter(|_| self.packets == 0) {
            clock.next = clock.next.max(now);
        }
    }

    /// Returns true if the tin is not served now: it has sent more than its share, or has no flows.
    pub(in crate::queue) fn must_wait(&self) -> bool {
        self.deficit < 0 || self.flows.sparse + self.flows.bulk == 0
    }

    /// Let it send its share in the next round, if it has nothing left.
    pub(in crate::queue) fn renew(&mut self) {
        if self.deficit <= 0 {
            self.deficit += self.share;
        }
    }

    /// The packet of the queue served last takes `bytes` on the wire.
    pub(in crate::queue) fn sent(&mut self, bytes: u64, now: Time) {
        if let Some(clock) = &mut self.clock {
            clock.charge_tin(bytes, now);
        }
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX / PARTS).min(i64::MAX / PARTS);
        self.deficit = self.deficit.saturating_sub(bytes);
        let deficit = &mut self.queues[self.served as usize].deficit;
        *deficit = deficit.saturating_sub(bytes * PARTS);
    }

    /// The next packet, with the time at which it entered; `None` where the queue that is next
    /// turns out to be empty: then the choice begins anew, and is no more the `first`.
    pub(in crate::queue) fn dequeue(
        &mut self,
        (pool, first): (&mut PacketPool, bool),
        now: Time,
        stream: &mut Stream,
        discard: &mut Discard<'_>,
    ) -> Option<(Time, Departure)> {
        let queue = self.next_queue(first, None)?;
        self.served = queue;
        let law = self.law_now();
        loop {
            let flow = &mut self.queues[queue as usize];
            let Some((entered, packet)) = pool.pop(&mut flow.packets) else {
                self.emptied(queue, now);
                return None;
            };
            self.packets -= 1;
            let fate = flow.cobalt.decide(&law, (entered, &packet), now, stream);
            // The last packet may be marked, but is not dropped.
            if !matches!(fate, Fate::Drop | Fate::Blue) || flow.packets.is_empty() {
                let marked = fate == Fate::Mark;
                self.counts.marks += u64::from(marked);
                return Some((entered, Departure { packet, marked }));
            }
            self.counts.aqm_drops += 1;
            let reason = if fate == Fate::Blue { DropReason::Early } else { DropReason::Forced };
            discard(packet, reason);
        }
    }

    /// Turn of a queue, where none holds packets but one that `own` names and its packet may pass,
    /// if that is of this tin; returns whether it does. Else as [`Tin::dequeue`].
    pub(in crate::queue) fn passes(
        &mut self,
        own: Option<(u32, &Packet)>,
        first: bool,
        now: Time,
        stream: &mut Stream,
    ) -> bool {
        let Some(queue) = self.next_queue(first, own.map(|(own, _)| own)) else { return false };
        self.served = queue;
        let Some((_, packet)) = own.filter(|(own, _)| *own == queue) else {
            self.emptied(queue, now);
            return false;
        };
        // The last packet is not dropped, and one that has not waited is not marked.
        self.queues[queue as usize].cobalt.decide(&self.law, (now, packet), now, stream);
        true
    }

    /// The queue to be served: at the first choice of a dequeue a decaying one, which is empty and
    /// has to be looked after; else the first new or old one with bytes left to send. A packet is
    /// to pass the queue `own`, which counts as one that holds it.
    fn next_queue(&mut self, first: bool, own: Option<u32>) -> Option<u32> {
        let decaying = self.chains[DECAYING].first;
        if first && decaying != NONE {
            return Some(decaying);
        }
        loop {
            let chains = [NEW, OLD, DECAYING].map(|chain| self.chains[chain].first);
            let queue = chains.into_iter().find(|first| *first != NONE)?;
            let flow = self.queues[queue as usize];
            if flow.deficit > 0 {
                return Some(queue);
            }
            if flow.rotation == Rotation::Sparse {
                if flow.packets.is_empty() && own != Some(queue) {
                    self.queues[queue as usize].rotation = Rotation::SparseWait;
                } else {
                    self.queues[queue as usize].rotation = Rotation::Bulk;
                    self.flows.sparse -= 1;
                    self.flows.bulk += 1;
                    self.hash.join(queue);
                }
            }
            self.queues[queue as usize].deficit += self.quantum_of(queue);
            self.unlink(queue);
            self.append(queue, OLD);
        }
    }

    /// `queue` was to be served and is empty: it is idle, or remembered while its law does.
    fn emptied(&mut self, queue: u32, now: Time) {
        let index = queue as usize;
        self.queues[index].cobalt.emptied(&self.law, now);
        match self.queues[index].rotation {
            Rotation::Bulk => {
                self.flows.bulk -= 1;
                self.hash.leave(queue);
            }
            Rotation::Sparse | Rotation::SparseWait => self.flows.sparse -= 1,
            Rotation::Decaying => self.flows.decaying -= 1,
            Rotation::Idle => {}
        }
        self.unlink(queue);
        if self.queues[index].cobalt.is_at_rest(now) {
            self.queues[index].rotation = Rotation::Idle;
        } else {
            self.append(queue, DECAYING);
            self.queues[index].rotation = Rotation::Decaying;
            self.flows.decaying += 1;
        }
    }

    /// The queue with the most bytes, and how many; of equals the first.
    pub(in crate::queue) fn fattest(&self) -> (u32, u64) {
        let sizes = self.hash.sets.iter().map(|(queue, place)| {
            (self.queues[place as usize].packets.bytes(), Reverse(queue), place)
        });
        sizes.max().map_or((0, 0), |(bytes, _, place)| (place, bytes))
    }

    /// Remove the packet at the head of `queue`, as there is no room.
    pub(in crate::queue) fn overflow(
        &mut self,
        queue: u32,
        pool: &mut PacketPool,
        now: Time,
    ) -> Option<Packet> {
        let flow = &mut self.queues[queue as usize];
        let (_, packet) = pool.pop(&mut flow.packets)?;
        flow.cobalt.overflowed(&self.law, now);
        self.packets -= 1;
        self.counts.overflow_drops += 1;
        Some(packet)
    }

    /// Returns true if `queue` holds nothing.
    pub(in crate::queue) fn is_empty(&self, queue: u32) -> bool {
        self.queues[queue as usize].packets.is_empty()
    }

    /// Visit what it states of itself.
    pub(in crate::queue) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("packets", f64::from(self.packets));
        visit("sparse_flows", f64::from(self.flows.sparse));
        visit("bulk_flows", f64::from(self.flows.bulk));
        visit("decaying_flows", f64::from(self.flows.decaying));
        visit("aqm_drops", self.counts.aqm_drops as f64);
        visit("marks", self.counts.marks as f64);
        visit("overflow_drops", self.counts.overflow_drops as f64);
        visit("filtered_acks", self.counts.filtered_acks as f64);
        visit("way_hits", self.hash.hits as f64);
        visit("way_collisions", self.hash.collisions as f64);
    }
}
