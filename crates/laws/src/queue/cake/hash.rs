//! CAKE's set-associative hash: a flow whose queue is in use looks for another one in its set.

use crate::queue::cake::hosts::{Hosts, Isolation, Sets};

/// State of a flow in its tin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::queue) enum Rotation {
    /// It has nothing to send, and nothing is remembered of it.
    #[default]
    Idle,
    /// New: it is served before others.
    Sparse,
    /// Empty, it waits among the bulk flows for its turn, and still counts as sparse.
    SparseWait,
    /// It has a standing queue.
    Bulk,
    /// It is empty, but the law remembers its congestion.
    Decaying,
}

/// Hashes of the 5-tuple and of the hosts of a packet.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct FlowKey {
    pub(in crate::queue) flow: u32,
    pub(in crate::queue) source: u32,
    pub(in crate::queue) destination: u32,
}

/// Entry of a queue, by which it is found and its owner known.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// The hash of the flow for which it is reserved.
    tag: u32,
    source: u32,
    destination: u32,
}

/// The hash table of a tin.
pub(in crate::queue) struct SetHash {
    pub(in crate::queue) sets: Sets,
    ways: Vec<Way>,
    pub(in crate::queue) hosts: Hosts,
    /// Packets that found their queue in its first place, in another, took a free one, or shared
    /// one with another flow.
    pub(in crate::queue) directs: u64,
    pub(in crate::queue) hits: u64,
    pub(in crate::queue) misses: u64,
    pub(in crate::queue) collisions: u64,
}

impl SetHash {
    pub(in crate::queue) fn new(queues: u32, isolation: Isolation) -> Self {
        let (sets, hosts) = (Sets::new(queues, false), Hosts::new(queues, isolation));
        Self { sets, ways: Vec::new(), hosts, directs: 0, hits: 0, misses: 0, collisions: 0 }
    }

    /// The place of the queue that is in use for the flow with the hash `key`, if there is one,
    /// where `rotation` says what the queue at each place is.
    pub(in crate::queue) fn known(
        &mut self,
        key: u32,
        rotation: impl Fn(u32) -> Rotation,
    ) -> Option<u32> {
        let (mut places, length) = self.sets.places(key);
        self.ways.resize(length as usize, Way::default());
        let first = places.clone().next();
        let reserved = places.find(|place| self.ways[*place as usize].tag == key);
        let known = reserved.filter(|queue| rotation(*queue) != Rotation::Idle);
        self.directs += u64::from(known.is_some() && known == first);
        self.hits += u64::from(known.is_some() && known != first);
        known
    }

    /// The place of the queue of a flow that has none in use.
    pub(in crate::queue) fn find(
        &mut self,
        key: FlowKey,
        rotation: impl Fn(u32) -> Rotation,
    ) -> u32 {
        let (mut places, _) = self.sets.places(key.flow);
        let first = places.clone().next().unwrap_or(0);
        let used = |queue: u32| rotation(queue) != Rotation::Idle;
        let reserved = places.clone().find(|place| self.ways[*place as usize].tag == key.flow);
        if let Some(queue) = reserved {
            self.hits += u64::from(queue != first);
            self.take(queue, key, false);
            return queue;
        }
        if let Some(queue) = places.find(|place| !used(*place)) {
            self.misses += 1;
            self.take(queue, key, false);
            return queue;
        }
        self.collisions += 1;
        let bulk = rotation(first) == Rotation::Bulk;
        if bulk {
            self.leave(first);
        }
        self.take(first, key, bulk);
        first
    }

    /// Returns the number of queues in use.
    pub(in crate::queue) fn length(&self) -> usize {
        self.ways.len()
    }

    /// Reserve `queue` for a flow, which is a bulk flow of its hosts if `bulk`.
    fn take(&mut self, queue: u32, key: FlowKey, bulk: bool) {
        let source = self.hosts.source_of(key.source);
        let destination = self.hosts.destination_of(key.destination);
        self.ways[queue as usize] = Way { tag: key.flow, source, destination };
        if bulk {
            self.join(queue);
        }
    }

    /// The flow of `queue` becomes a bulk flow of its hosts.
    pub(in crate::queue) fn join(&mut self, queue: u32) {
        let Way { source, destination, .. } = self.ways[queue as usize];
        self.hosts.join(source, destination);
    }

    /// The flow of `queue` ceases to be one.
    pub(in crate::queue) fn leave(&mut self, queue: u32) {
        let Way { source, destination, .. } = self.ways[queue as usize];
        self.hosts.leave(source, destination);
    }

    /// Among how many bulk flows of the busier of its hosts the flow of `queue` shares; at least 1.
    pub(in crate::queue) fn load(&self, queue: u32) -> u32 {
        let Way { source, destination, .. } = self.ways[queue as usize];
        self.hosts.load(source, destination)
    }
}
