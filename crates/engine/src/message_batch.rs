//! Batched message passing: what crosses a boundary in one window.
//!
//! Messages between logical processes are exchanged only at the end of a window, all in one batch,
//! as in synchronous conservative execution (Fujimoto, *Parallel and Distributed Simulation
//! Systems*, 2000).

use forebay_kernel::{RingBuffer, Timed, empty_queue};
use forebay_units::Time;

use crate::partition::Partition;
use forebay_network::{Packet, SackBlocks};

/// A channel from one partition into another. A link sends its packets into an outbox: a channel of
/// its own partition that no element reads. Between windows they move on, all together, to their
/// receiver.
pub(crate) struct RemoteChannel {
    pub(crate) outbox: u32,
    /// The receiver in the other partition.
    pub(crate) inputs: u32,
    /// The input channel by which they arrive there.
    pub(crate) channel: u32,
}

/// All channels from one partition into another.
pub(crate) struct RemoteRoute {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) channels: Vec<RemoteChannel>,
}

/// Packets in transit from one partition to another.
pub(crate) struct MessageBatch {
    /// By channel of the route, in timestamp order.
    queues: Vec<RingBuffer<Timed<Packet>>>,
    /// The SACK blocks of packets, which refer to them by index, counted from 1.
    blocks: Vec<SackBlocks>,
}

impl MessageBatch {
    /// An empty batch for `route`.
    pub(crate) fn new(route: &RemoteRoute) -> Self {
        Self { queues: route.channels.iter().map(|_| empty_queue()).collect(), blocks: Vec::new() }
    }

    /// Take the packets that `partition` sends by `route`. The arrival time of the first;
    /// [`Time::NEVER`] if there are none.
    pub(crate) fn take_from(&mut self, partition: &mut Partition, route: &RemoteRoute) -> Time {
        let mut first = Time::NEVER;
        for (channel, queue) in route.channels.iter().zip(&mut self.queues) {
            first = first.min(partition.core.channels.drain_outbox(channel.outbox, queue));
            let from = &mut partition.core.sack_blocks;
            for (packet, _) in queue.iter_mut().filter(|(packet, _)| packet.sack_slot != 0) {
                self.blocks.push(from.take(packet.sack_slot));
                let slot = u32::try_from(self.blocks.len());
                packet.sack_slot = slot.expect("a window has fewer than 2^32 SACK block lists");
            }
        }
        first
    }

    /// Put all packets into the input channels of `partition` to which `route` leads.
    pub(crate) fn deliver_to(&mut self, partition: &mut Partition, route: &RemoteRoute) {
        for (channel, queue) in route.channels.iter().zip(&mut self.queues) {
            let to = &mut partition.core.sack_blocks;
            for (packet, _) in queue.iter_mut().filter(|(packet, _)| packet.sack_slot != 0) {
                packet.sack_slot = to.store(self.blocks[packet.sack_slot as usize - 1]);
            }
            partition.core.channels.append(channel.inputs, channel.channel, queue);
        }
        self.blocks.clear();
        partition.deliver_notifications();
    }
}
