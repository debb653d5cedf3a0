//! Contract of the sharing of a buffer: how much of the memory of a switch a queue may hold.

use forebay_units::Time;

/// The facts of an arrival at a queue that shares a memory with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryFacts {
    /// The current time.
    pub now: Time,
    /// Number of the queue at its port, from 0.
    pub queue: usize,
    /// Bytes that wait in this queue, without the arriving packet.
    pub own: u64,
    /// Bytes of the shared part of the memory: all but what is reserved for queues.
    pub size: u64,
    /// Bytes of the shared part that are used, without the arriving packet.
    pub used: u64,
    /// Number of queues that share it, of all ports.
    pub queues: usize,
}

impl MemoryFacts {
    /// Bytes of the shared part that are free.
    #[must_use]
    pub const fn free(&self) -> u64 {
        self.size.saturating_sub(self.used)
    }
}

/// Says how much of a shared memory a queue may hold.
pub trait BufferSharing: Send {
    /// Returns the bytes that the queue may hold now beyond what is reserved for it, the arriving
    /// packet included. Whether the memory has room for them is asked besides.
    fn threshold(&mut self, facts: &MemoryFacts) -> u64;
}
