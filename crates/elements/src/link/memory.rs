//! The memory of a switch, from which the queues of all its ports draw: who holds how much of it,
//! and who may have more.
//!
//! It counts the packets that wait, as backlogs do: not those in transmission. The part that is not
//! reserved is shared, and a law says how much of that a queue may hold
//! ([`BufferSharing`]). Ports that share a memory are executed event by event, in one order of
//! time, so that none sees what another has not done yet.

use std::sync::{Arc, Mutex, MutexGuard};

use forebay_laws::sharing::{BufferSharing, MemoryFacts};
use forebay_network::{Backlog, ElementState, FlowId, MemoryState, Packet, PacketBytes, StateFact};
use forebay_units::{Size, Span, Time};

use super::memory_rows::SwitchResult;
use super::transmitter::Conditioning;

/// Dimensions of a shared memory.
#[derive(Clone, Copy, Debug)]
pub struct MemorySize {
    /// All that it holds.
    pub memory: Size,
    /// Part of it that each queue has for itself alone.
    pub reserved: Size,
    /// Ports that share it.
    pub ports: usize,
    /// Queues of each port: a packet of precedence p waits in queue p, or in the last one.
    pub queues: usize,
}

impl MemorySize {
    /// The bytes that are not reserved; `None` if more are reserved than there are.
    #[must_use]
    pub fn shared(&self) -> Option<u64> {
        let queues = (self.ports as u64).checked_mul(self.queues as u64)?;
        self.memory.bytes().checked_sub(self.reserved.bytes().checked_mul(queues)?)
    }
}

/// A memory that the ports of a switch share.
pub struct SharedMemory {
    size: MemorySize,
    /// Bytes that are not reserved.
    shared: u64,
    law: Box<dyn BufferSharing>,
    /// Bytes that wait, by port and queue.
    held: Vec<u64>,
    /// Sum of these.
    total: u64,
    /// Bytes used of the shared part.
    used: u64,
    /// Threshold of the first queue of each port when it was asked for last.
    thresholds: Vec<u64>,
    changed: Time,
    /// Time integral of `total`, in byte ps.
    area: u128,
    /// Most bytes that were held for some time.
    most: u64,
    refused: PacketBytes,
}

impl SharedMemory {
    /// An empty memory of `size`, which `law` shares out.
    ///
    /// # Panics
    /// If more is reserved than there is; scenario reading refuses it.
    #[must_use]
    pub fn new(size: MemorySize, law: Box<dyn BufferSharing>) -> Self {
        let shared = size.shared().expect("no more is reserved than there is");
        let mut memory = Self {
            size,
            shared,
            law,
            held: vec![0; size.ports * size.queues],
            total: 0,
            used: 0,
            thresholds: Vec::new(),
            changed: Time::ZERO,
            area: 0,
            most: 0,
            refused: PacketBytes::default(),
        };
        let threshold = memory.law.threshold(&memory.facts(0, Time::ZERO));
        memory.thresholds = vec![threshold; size.ports];
        memory
    }

    /// The place of the queue of packets of `precedence` at `port`.
    fn place(&self, port: usize, precedence: u8) -> usize {
        port * self.size.queues + usize::from(precedence).min(self.size.queues - 1)
    }

    fn facts(&self, place: usize, now: Time) -> MemoryFacts {
        MemoryFacts {
            now,
            queue: place % self.size.queues,
            own: self.held[place],
            size: self.shared,
            used: self.used,
            queues: self.held.len(),
        }
    }

    /// The part of `held` bytes of a queue that is not reserved for it.
    fn beyond(&self, held: u64) -> u64 {
        held.saturating_sub(self.size.reserved.bytes())
    }

    /// Returns true if `packet` may wait at `port`: within what is reserved for its queue, or
    /// within the threshold of its queue where the shared part has room. Else it counts as refused.
    pub fn admits(&mut self, port: usize, packet: &Packet, now: Time) -> bool {
        let place = self.place(port, packet.precedence);
        let facts = self.facts(place, now);
        let before = self.beyond(facts.own);
        let beyond = self.beyond(facts.own + u64::from(packet.size));
        let fits = beyond == 0 || {
            let threshold = self.law.threshold(&facts);
            if facts.queue == 0 {
                self.thresholds[port] = threshold;
            }
            beyond <= threshold && beyond - before <= facts.free()
        };
        if !fits {
            self.refused.add(packet);
        }
        fits
    }

    /// `packet` waits at `port` from `now` on.
    pub fn add(&mut self, port: usize, packet: &Packet, now: Time) {
        let place = self.place(port, packet.precedence);
        self.change(place, self.held[place] + u64::from(packet.size), now);
    }

    /// `packet` has left the queue of `port` at `now`.
    pub fn remove(&mut self, port: usize, packet: &Packet, now: Time) {
        let (place, size) = (self.place(port, packet.precedence), u64::from(packet.size));
        debug_assert!(self.held[place] >= size, "more leaves a queue than it holds");
        self.change(place, self.held[place] - size, now);
    }

    fn change(&mut self, place: usize, held: u64, now: Time) {
        self.integrate(now);
        let before = std::mem::replace(&mut self.held[place], held);
        self.total = self.total + held - before;
        self.used = self.used + self.beyond(held) - self.beyond(before);
    }

    fn integrate(&mut self, now: Time) {
        let span = now.since(self.changed).ps();
        if span > 0 {
            self.area += u128::from(self.total) * u128::from(span);
            // What comes and goes at one instant was never held.
            self.most = self.most.max(self.total);
            self.changed = now;
        }
    }

    /// The bytes that wait, by port and queue.
    pub fn held(&self) -> impl Iterator<Item = &[u64]> {
        self.held.chunks(self.size.queues)
    }

    /// Count anew from `now` on.
    pub fn reset(&mut self, now: Time) {
        self.integrate(now);
        (self.area, self.most, self.refused) = (0, self.total, PacketBytes::default());
    }

    /// The row of the switch `name`, over a window of `measured` up to `now`.
    pub fn row(&mut self, name: String, now: Time, measured: Span) -> SwitchResult {
        self.integrate(now);
        SwitchResult {
            name,
            memory_bytes: self.size.memory.bytes(),
            mean_used_bytes: self.area as f64 / measured.ps() as f64,
            max_used_bytes: self.most.max(self.total),
            refused_packets: self.refused.packets,
            refused_bytes: self.refused.bytes,
        }
    }

    /// The state that `port` states, where `backlog` waits.
    fn state(&self, port: usize, backlog: Backlog) -> MemoryState {
        let own = port * self.size.queues..(port + 1) * self.size.queues;
        MemoryState {
            size: self.size.memory.bytes(),
            held: self.total,
            sum: self.held.iter().sum(),
            of_port: self.held[own].iter().sum(),
            waiting: backlog.bytes,
        }
    }

    fn probes(&self, port: usize, visit: &mut dyn FnMut(&str, f64)) {
        visit("memory_bytes", self.total as f64);
        visit("memory_threshold_bytes", self.thresholds[port] as f64);
    }
}

/// The share of a port in the memory of its switch.
#[derive(Clone)]
pub struct Share {
    memory: Arc<Mutex<SharedMemory>>,
    port: usize,
}

impl Share {
    /// That of `port`, by its number among those of the switch.
    #[must_use]
    pub const fn new(memory: Arc<Mutex<SharedMemory>>, port: usize) -> Self {
        Self { memory, port }
    }

    fn memory(&self) -> MutexGuard<'_, SharedMemory> {
        self.memory.lock().expect("a memory does not panic")
    }

    pub(super) fn admits(&self, packet: &Packet, now: Time) -> bool {
        self.memory().admits(self.port, packet, now)
    }

    pub(super) fn add(&self, packet: &Packet, now: Time) {
        self.memory().add(self.port, packet, now);
    }

    pub(super) fn remove(&self, packet: &Packet, now: Time) {
        self.memory().remove(self.port, packet, now);
    }

    pub(super) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.memory().probes(self.port, visit);
    }
}

/// Inner state that a link states: its conditioners, and its share in a memory.
pub(super) struct Stated {
    pub(super) conditioning: Vec<Conditioning>,
    share: Option<Share>,
    backlog: Backlog,
}

impl Stated {
    pub(super) fn new(conditioning: Vec<Conditioning>, share: Option<Share>) -> Self {
        Self { conditioning, share, backlog: Backlog::default() }
    }

    /// The state while `backlog` waits.
    pub(super) fn with(&mut self, backlog: Backlog) -> &dyn ElementState {
        self.backlog = backlog;
        self
    }
}

impl ElementState for Stated {
    fn inspect(&self, flow: Option<FlowId>, visit: &mut dyn FnMut(StateFact)) {
        self.conditioning.inspect(flow, visit);
        if let Some(share) = &self.share {
            let state = share.memory().state(share.port, self.backlog);
            visit(StateFact::Memory(state));
        }
    }
}

#[cfg(test)]
mod tests;
