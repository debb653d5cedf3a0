//! Many queues over one pool of packets, of which a hash of the flow chooses one.

use forebay_kernel::Stream;
use forebay_network::{Backlog, Packet};
use forebay_parameters::{Problem, Section};
use forebay_units::Time;

use crate::queue::parts::flow_hash::{FlowHash, Tuples};
use crate::queue::parts::packet_pool::{PacketList, PacketPool};

/// The largest number of queues.
const MAX_QUEUES: u32 = 65_536;

/// Queues of flows.
pub(in crate::queue) struct FlowQueues {
    pool: PacketPool,
    queues: Vec<FlowQueue>,
    backlog: Backlog,
    tuples: Tuples,
    hash: FlowHash,
    /// Packets that joined others of another flow.
    collisions: u64,
}

#[derive(Clone, Copy, Default)]
struct FlowQueue {
    packets: PacketList,
    /// The 5-tuple of the packet that came last.
    tuple: u64,
}

/// The number of queues under `key`.
pub(in crate::queue) fn queue_count(
    section: &Section<'_>,
    key: &str,
    count: u32,
) -> Result<u32, Problem> {
    if (1..=MAX_QUEUES).contains(&count) {
        return Ok(count);
    }
    Err(section.fail(key, format!("{count} queues; allowed are 1 to {MAX_QUEUES}")))
}

impl FlowQueues {
    /// `count` empty queues for what `tuples` tells apart.
    pub(in crate::queue) fn new(count: u32, hash: FlowHash, tuples: Tuples) -> Self {
        let queues = vec![FlowQueue::default(); count as usize];
        let pool = PacketPool::default();
        Self { pool, queues, backlog: Backlog::default(), tuples, hash, collisions: 0 }
    }

    /// The queue of `packet`.
    #[inline]
    pub(in crate::queue) fn queue_of(&mut self, packet: &Packet, stream: &mut Stream) -> u32 {
        self.hash.queue(self.tuples.number(packet), self.queues.len() as u32, stream)
    }

    /// Append `packet` to `queue`.
    #[inline]
    pub(in crate::queue) fn push(&mut self, queue: u32, packet: &Packet, now: Time) {
        let (queue, tuple) = (&mut self.queues[queue as usize], self.tuples.number(packet));
        let collides = !queue.packets.is_empty() && queue.tuple != tuple;
        self.collisions += u64::from(collides);
        queue.tuple = tuple;
        self.pool.push(&mut queue.packets, packet, now);
        self.backlog.add(packet);
    }

    /// Remove the packet at the head of `queue`, with the time at which it entered.
    #[inline]
    pub(in crate::queue) fn pop(&mut self, queue: u32) -> Option<(Time, Packet)> {
        let head = self.pool.pop(&mut self.queues[queue as usize].packets)?;
        self.backlog.remove(head.1.queued_info());
        Some(head)
    }

    /// Remove the packet that came last of `queue`.
    pub(in crate::queue) fn pop_last(&mut self, queue: u32) -> Option<Packet> {
        let packet = self.pool.pop_last(&mut self.queues[queue as usize].packets)?;
        self.backlog.remove(packet.queued_info());
        Some(packet)
    }

    /// Change the hash function, and take out all packets that wait, each queue's in order, with
    /// the times at which they entered.
    pub(in crate::queue) fn perturb(&mut self, stream: &mut Stream) -> Vec<(Time, Packet)> {
        self.hash.perturb(stream);
        let mut waiting = Vec::with_capacity(self.backlog.packets as usize);
        for queue in 0..self.queues.len() as u32 {
            waiting.extend(std::iter::from_fn(|| self.pop(queue)));
        }
        waiting
    }

    /// Returns the backlog of all queues.
    #[inline]
    pub(in crate::queue) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns the backlog of `queue`.
    #[inline]
    pub(in crate::queue) fn backlog_of(&self, queue: u32) -> Backlog {
        self.queues[queue as usize].packets.backlog()
    }

    /// The queue with the most bytes; of equals the first.
    pub(in crate::queue) fn fattest(&self) -> u32 {
        let mut fattest = (0, 0);
        for (at, queue) in self.queues.iter().enumerate() {
            let bytes = queue.packets.backlog().bytes;
            if bytes > fattest.1 {
                fattest = (at as u32, bytes);
            }
        }
        fattest.0
    }

    /// The queue with the most packets; of equals the first.
    pub(in crate::queue) fn longest(&self) -> u32 {
        let mut longest = (0, 0);
        for (at, queue) in self.queues.iter().enumerate() {
            let packets = queue.packets.backlog().packets;
            if packets > longest.1 {
                longest = (at as u32, packets);
            }
        }
        longest.0
    }

    /// Packets that found packets of another flow at the end of their queue.
    pub(in crate::queue) fn collisions(&self) -> u64 {
        self.collisions
    }
}
