//! Batched message passing: what crosses a boundary in one window.
//!
//! Messages between logical processes are exchanged only at the end of a window, all in one batch,
//! as in synchronous conservative execution (Fujimoto, *Parallel and Distributed Simulation
//! Systems*, 2000).

use forebay_kernel::{RingBuffer, Timed, empty_queue};
use forebay_network::{ChannelId, Packet, ReceiverId, SackBlocks, SackSlot};
use forebay_units::Time;

use crate::partition::Partition;

/// A channel from one partition into another. A link sends its packets into an outbox: a channel of
/// its own partition that no element reads. Between windows they move on, all together, to their
/// receiver.
pub(crate) struct RemoteChannel {
    pub(crate) outbox: ReceiverId,
    /// The receiver in the other partition.
    pub(crate) inputs: ReceiverId,
    /// The input channel by which they arrive there.
    pub(crate) channel: ChannelId,
}

/// All channels from one partition into another.
pub(crate) struct RemoteRoute {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) channels: Vec<RemoteChannel>,
}

/// Packets in transit from one partition to another.
pub(crate) struct MessageBatch {
    /// Packets of each channel of the route, in timestamp order.
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
            for (packet, _) in queue.iter_mut().filter(|(packet, _)| !packet.sack_slot().is_none())
            {
                self.blocks.push(from.take(packet.sack_slot()));
                packet.set_sack_slot(SackSlot::new(self.blocks.len()).unwrap_or_default());
            }
        }
        first
    }

    /// Put all packets into the input channels of `partition` to which `route` leads.
    pub(crate) fn deliver_to(&mut self, partition: &mut Partition, route: &RemoteRoute) {
        for (channel, queue) in route.channels.iter().zip(&mut self.queues) {
            let to = &mut partition.core.sack_blocks;
            for (packet, _) in queue.iter_mut().filter(|(packet, _)| !packet.sack_slot().is_none())
            {
                packet.set_sack_slot(to.store(self.blocks[packet.sack_slot().number() - 1]));
            }
            partition.core.channels.append(channel.inputs, channel.channel, queue);
        }
        self.blocks.clear();
        partition.deliver_notifications();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stubs::{Stubs, link, packet, send_ahead, wire};
    use forebay_network::{Lookahead, PacketKind, RouteId};

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    fn blocks(first: u64) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        blocks.push(first, first + 1);
        blocks
    }

    /// A partition with two outboxes, numbers 4 and 5, and one with two receivers, 1 and 2, of a
    /// channel each; and the route from one to the other.
    fn two() -> (Partition, Partition, RemoteRoute) {
        let partition = || {
            let elements = [wire(10), link(10), link(10), Lookahead::NONE];
            let mut stubs = Stubs::declared(&elements, &[&[0, 1, 3], &[0, 2, 3]]);
            stubs.analyse();
            stubs.whole.core.channels = stubs.whole.core.channels.fresh(2);
            stubs.whole
        };
        let channel = |outbox, inputs| RemoteChannel {
            outbox: ReceiverId::new(outbox),
            inputs: ReceiverId::new(inputs),
            channel: ChannelId::ONLY,
        };
        let route = RemoteRoute { from: 0, to: 1, channels: vec![channel(4, 2), channel(5, 1)] };
        (partition(), partition(), route)
    }

    fn received(partition: &mut Partition, receiver: usize) -> Vec<(u64, u64)> {
        let inputs = partition.core.channels.inputs_mut(ReceiverId::new(receiver));
        std::iter::from_fn(|| {
            inputs.take(at(1_000_000)).map(|(packet, at)| (packet.number, at.ps()))
        })
        .collect()
    }

    /// Packets cross a boundary in order, once, each to its receiver, and the time of the first of
    /// them is returned: no window begins after it.
    #[test]
    fn packets_cross_in_order_to_their_receivers() {
        let (mut from, mut to, route) = two();
        let mut batch = MessageBatch::new(&route);
        assert_eq!(batch.take_from(&mut from, &route), Time::NEVER);
        for (outbox, number, ps) in [(4, 1, 50), (5, 2, 40), (4, 3, 60), (5, 4, 70)] {
            send_ahead(
                &mut from.core.channels,
                (outbox, 0),
                &packet(number, RouteId::new(0)),
                at(ps),
            );
        }
        assert_eq!(batch.take_from(&mut from, &route), at(40));
        assert_eq!(from.core.channels.held(), 0);
        batch.deliver_to(&mut to, &route);
        assert_eq!(
            (received(&mut to, 2), received(&mut to, 1)),
            (vec![(1, 50), (3, 60)], vec![(2, 40), (4, 70)])
        );
        // The batch can be used again.
        send_ahead(&mut from.core.channels, (4, 0), &packet(5, RouteId::new(0)), at(80));
        assert_eq!(batch.take_from(&mut from, &route), at(80));
        batch.deliver_to(&mut to, &route);
        assert_eq!((received(&mut to, 2), received(&mut to, 1)), (vec![(5, 80)], vec![]));
    }

    /// The SACK blocks of an acknowledgement cross a boundary with it into a slot of the receiving
    /// partition, which keeps its own, and their slots are free again behind them: memory does not
    /// grow with the acknowledgements that cross.
    #[test]
    fn sack_blocks_cross_with_their_packets() {
        let (mut from, mut to, route) = two();
        let mut batch = MessageBatch::new(&route);
        // The receiving partition has acknowledgements of its own in flight, in slots 1 and 2.
        let own = [7, 8].map(|first| to.core.sack_blocks.store(blocks(first)));
        assert_eq!(own.map(SackSlot::number), [1, 2]);
        for round in 0..2 {
            for (outbox, first) in [(5, 20), (4, 30)] {
                let sack_slot = from.core.sack_blocks.store(blocks(first));
                let mut ack = packet(first, RouteId::new(0)).with_kind(PacketKind::Ack);
                ack.set_sack_slot(sack_slot);
                send_ahead(&mut from.core.channels, (outbox, 0), &ack, at(100 * round + first));
                send_ahead(
                    &mut from.core.channels,
                    (outbox, 0),
                    &packet(99, RouteId::new(0)),
                    at(100 * round + 90),
                );
            }
            batch.take_from(&mut from, &route);
            // Both slots are free again.
            let mut free = [0, 1].map(|_| from.core.sack_blocks.store(SackBlocks::default()));
            free.sort_unstable_by_key(|slot| slot.number());
            assert_eq!(free.map(SackSlot::number), [1, 2]);
            for slot in free {
                from.core.sack_blocks.take(slot);
            }
            batch.deliver_to(&mut to, &route);
            assert!(batch.blocks.is_empty());
            for (receiver, first) in [(1, 20), (2, 30)] {
                let inputs = to.core.channels.inputs_mut(ReceiverId::new(receiver));
                let ack = *inputs.take(at(1000)).unwrap().0;
                assert_eq!((ack.number, ack.sack_slot().number() > 2), (first, true));
                assert_eq!(to.core.sack_blocks.take(ack.sack_slot()), blocks(first));
                let inputs = to.core.channels.inputs_mut(ReceiverId::new(receiver));
                assert_eq!(inputs.take(at(1000)).unwrap().0.sack_slot(), SackSlot::NONE);
            }
        }
        assert_eq!(own.map(|slot| to.core.sack_blocks.take(slot)), [blocks(7), blocks(8)]);
    }

    /// Receivers are notified once, after all packets of a batch have arrived, if these are as
    /// early as they asked: a link processes what another partition sends without waiting for its
    /// next timer.
    #[test]
    fn receivers_are_notified_once_all_has_arrived() {
        let (mut from, _, route) = two();
        let elements = [wire(10), link(10), link(10), Lookahead::NONE];
        let mut stubs = Stubs::declared(&elements, &[&[0, 1, 3], &[0, 2, 3]]);
        stubs.analyse();
        stubs.whole.core.channels.notify_before(ReceiverId::new(1), at(30));
        let mut batch = MessageBatch::new(&route);
        for (outbox, ps) in [(4, 40), (5, 40), (4, 50)] {
            send_ahead(&mut from.core.channels, (outbox, 0), &packet(0, RouteId::new(0)), at(ps));
        }
        batch.take_from(&mut from, &route);
        batch.deliver_to(&mut stubs.whole, &route);
        // Element 1 asked for nothing after 30.
        assert_eq!(stubs.log.take(), [(2, 0, "notify", 0)]);
    }
}
