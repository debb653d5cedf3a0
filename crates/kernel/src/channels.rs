//! Channels between logical processes, as in conservative parallel simulation: Chandy and Misra,
//! CACM 24 (1981) 198-206.
//!
//! A link that knows when a packet will reach its far end sends it ahead, as a message with that
//! time. Each channel carries the messages of one sender in the order of time, so the least of the
//! channel clocks of a receiver is the time up to which its input is known.

use forebay_units::Time;

use crate::kway_merge::{MAX_BATCH, Message, Timed};
use crate::{ChannelId, Digest, ElementId, ReceiverId, RingBuffer};

mod inputs;

pub use self::inputs::InputChannels;

/// Packets that a receiver notified in batches holds before it is notified: the caches hold them.
const BATCH: usize = 64;

/// Batches of a receiver of more channels than can be merged, which has more at once.
const MANY: usize = 8;

/// Packets sent into one channel in a row, at most, before [`ChannelTable::flush`] has its sender
/// pause: a run that is to stop does so there.
const STRIDE: usize = 4096;

/// Packets of a channel that are prefetched for together, before they are processed.
const PREFETCHED: usize = 16;

/// An empty queue for packets in transit from one link to one receiver, in the order of time.
#[must_use]
pub fn empty_queue<M: Message>() -> RingBuffer<Timed<M>> {
    RingBuffer::with_room((M::BLANK, Time::NEVER))
}

/// A channel: packets that one element has sent ahead to one receiver.
struct Channel<M> {
    /// Packets in transit. There is always room for one more.
    queue: RingBuffer<Timed<M>>,
    /// Arrival time of the first packet; [`Time::NEVER`] if there is none.
    head: Time,
    /// The channel clock: arrival time of the last packet ever sent, whether in transit or not.
    clock: Time,
    /// Arrival time up to which packets were prefetched for, where that is done.
    prefetched_until: Time,
    /// The element that sends.
    upstream: ElementId,
    /// Length of the queue at which a receiver notified in batches is notified.
    batch: usize,
    /// Length of the queue at which `send` has more to do: `batch`, or the capacity.
    high_water: usize,
}

impl<M: Message> Channel<M> {
    /// Set `head` after packets were added or removed.
    #[inline]
    fn update_head(&mut self) {
        self.head = self.queue.front().map_or(Time::NEVER, |timed| timed.1);
    }

    /// Set the channel clock after packets were added.
    #[inline]
    fn update_clock(&mut self) {
        self.clock = self.queue.back().map_or(self.clock, |timed| timed.1);
    }

    fn new(upstream: ElementId) -> Self {
        let queue = empty_queue();
        let high_water = queue.room();
        let (head, clock, prefetched_until) = (Time::NEVER, Time::ZERO, Time::ZERO);
        Self { queue, head, clock, prefetched_until, upstream, batch: usize::MAX, high_water }
    }

    /// Take the first packet, which must exist.
    #[inline(always)]
    fn take(&mut self) -> &M {
        // Read whether or not there is a second packet, so that a selection replaces a branch.
        let next = self.queue.peek_second().1;
        self.head = if self.queue.len() > 1 { next } else { Time::NEVER };
        &self.queue.pop_front().0
    }

    /// Remove all but the last `left` packets; returns how many that are.
    #[inline]
    fn keep_last(&mut self, left: usize) -> usize {
        let taken = self.queue.len() - left;
        self.queue.skip(taken);
        self.update_head();
        taken
    }
}

/// The input channels of all receivers of a partition.
pub struct ChannelTable<M> {
    /// Inputs of each element, with those of a host group at its first member; then of each sink;
    /// then of each outbox.
    inputs_of: Vec<InputChannels<M>>,
    /// Receivers that are to be notified of new packets.
    pub notified: Vec<ReceiverId>,
    /// True if one of them is notified only because a channel holds a full batch, or so many
    /// packets were sent into one channel that their sender is to pause.
    pub flush: bool,
}

impl<M> Default for ChannelTable<M> {
    fn default() -> Self {
        Self { inputs_of: Vec::new(), notified: Vec::new(), flush: false }
    }
}

impl<M: Message> ChannelTable<M> {
    /// Input channels of elements and sinks, given the senders of each, in order, and whether these
    /// are links.
    pub fn new(upstreams: &[(Vec<ElementId>, bool)]) -> Self {
        let inputs =
            |(upstreams, links): &(Vec<ElementId>, bool)| InputChannels::new(upstreams, *links);
        Self { inputs_of: upstreams.iter().map(inputs).collect(), ..Self::default() }
    }

    /// The same without packets, followed by as many `outboxes`: channels that have no receiver to
    /// be notified.
    pub fn fresh(&self, outboxes: usize) -> Self {
        let upstreams = |inputs: &InputChannels<M>| (inputs.upstreams().collect(), inputs.crossed);
        let mut channels = Self::new(&self.inputs_of.iter().map(upstreams).collect::<Vec<_>>());
        let outbox = || InputChannels {
            wake_time: Time::ZERO,
            ..InputChannels::new(&[ElementId::new(0)], false)
        };
        channels.inputs_of.extend(std::iter::repeat_with(outbox).take(outboxes));
        channels
    }

    /// Give `receiver` a single input channel, from `upstream`, whose packets have not crossed a
    /// link.
    pub fn connect(&mut self, receiver: ReceiverId, upstream: ElementId) {
        self.inputs_of[receiver.index()] = InputChannels::new(&[upstream], false);
    }

    /// Move all packets of `outbox` into `to`, which is empty. Returns the arrival time of the
    /// first; [`Time::NEVER`] if there is none.
    pub fn drain_outbox(&mut self, outbox: ReceiverId, to: &mut RingBuffer<Timed<M>>) -> Time {
        let Channel { queue, head, high_water, .. } =
            &mut self.inputs_of[outbox.index()].channels[0];
        if *head != Time::NEVER {
            std::mem::swap(queue, to);
            *high_water = queue.room();
        }
        std::mem::replace(head, Time::NEVER)
    }

    /// Move all packets of `from` into `channel` of `receiver`.
    pub fn append(
        &mut self,
        receiver: ReceiverId,
        channel: ChannelId,
        from: &mut RingBuffer<Timed<M>>,
    ) {
        let Some((_, at)) = from.front().copied() else { return };
        if self.inputs_of[receiver.index()].inbox.is_some() {
            for (packet, at) in from.iter() {
                self.send_to_many(receiver, channel, packet, *at);
            }
            from.skip(from.len());
            return;
        }
        let to = &mut self.inputs_of[receiver.index()].channels[channel.index()];
        to.queue.append(from);
        to.head = at.min(to.head);
        to.update_clock();
        self.notify_or_grow(receiver, channel, at);
    }

    /// Send `packet` on `channel` of `receiver`, where it will arrive at `at`.
    #[inline(always)]
    pub fn send(&mut self, receiver: ReceiverId, channel: ChannelId, packet: &M, at: Time) {
        let inputs = &mut self.inputs_of[receiver.index()];
        let Some(sender) = inputs.channels.get_mut(channel.index()) else {
            return self.send_to_many(receiver, channel, packet, at);
        };
        let Channel { queue, head, clock, high_water, .. } = sender;
        queue.push_into_room((*packet, at));
        *clock = at;
        // Later than all packets in the queue, if there are any.
        *head = at.min(*head);
        // The rare case is outlined without the packet, which then need not be in memory.
        if at <= inputs.wake_time || queue.len() >= *high_water {
            self.notify_or_grow(receiver, channel, at);
        }
    }

    /// As [`ChannelTable::send`], to a receiver with more channels than can be merged.
    #[inline(never)]
    fn send_to_many(&mut self, receiver: ReceiverId, channel: ChannelId, packet: &M, at: Time) {
        let inputs = &mut self.inputs_of[receiver.index()];
        let inbox = inputs.inbox.as_mut().expect("there are as many channels as senders");
        inbox.push(channel, packet, at);
        let concerned = at <= inputs.wake_time;
        if concerned {
            inputs.wake_time = at;
        }
        let full = inbox.len() >= inbox.batch;
        if full {
            inbox.batch += MANY * BATCH;
            self.flush = true;
        }
        if concerned || full {
            self.notified.push(receiver);
        }
        self.flush |= inbox.len().is_multiple_of(STRIDE);
    }

    /// The rest of sending a packet that arrives at `at`: notify `receiver` if it concerns it or a
    /// batch is full, and make room for one more.
    #[cold]
    #[inline(never)]
    fn notify_or_grow(&mut self, receiver: ReceiverId, channel: ChannelId, at: Time) {
        let was_notified = self.notify(receiver, at);
        let inputs = &mut self.inputs_of[receiver.index()];
        let Channel { queue, batch, high_water, .. } = &mut inputs.channels[channel.index()];
        inputs.is_long |= queue.len() + STRIDE > MAX_BATCH;
        if !was_notified && queue.len() >= *batch {
            *batch += BATCH;
            self.notified.push(receiver);
            self.flush = true;
        }
        self.flush |= queue.len() >= STRIDE && queue.len() >= *high_water;
        if queue.room() == 0 {
            queue.grow();
        }
        *high_water = (*batch).min(queue.len() + queue.room().min(STRIDE));
    }

    /// Notify `receiver` if a packet that arrives at `at` concerns it; after that no later one
    /// does. Returns whether it was notified.
    #[inline]
    pub fn notify(&mut self, receiver: ReceiverId, at: Time) -> bool {
        let wake_time = &mut self.inputs_of[receiver.index()].wake_time;
        let concerned = at <= *wake_time;
        if concerned {
            *wake_time = at;
            self.notified.push(receiver);
        }
        concerned
    }

    /// The input channels of `receiver`.
    #[inline]
    pub fn inputs(&self, receiver: ReceiverId) -> &InputChannels<M> {
        &self.inputs_of[receiver.index()]
    }

    /// The input channels of `receiver`, mutably.
    #[inline]
    pub fn inputs_mut(&mut self, receiver: ReceiverId) -> &mut InputChannels<M> {
        &mut self.inputs_of[receiver.index()]
    }

    /// Have `receiver` notified of packets that arrive by `time`, and of no others.
    #[inline]
    pub fn notify_before(&mut self, receiver: ReceiverId, time: Time) {
        self.inputs_of[receiver.index()].wake_time = time;
    }

    /// Have `receiver` notified whenever a channel holds a full batch, and of nothing else.
    #[inline]
    pub fn notify_in_batches(&mut self, receiver: ReceiverId) {
        let inputs = &mut self.inputs_of[receiver.index()];
        (inputs.wake_time, inputs.batched) = (Time::ZERO, true);
        if let Some(inbox) = &mut inputs.inbox {
            inbox.batch = inbox.len() + MANY * BATCH;
        }
        for Channel { queue, batch, high_water, .. } in &mut inputs.channels {
            // The capacity that many packets needed once is not kept for ever.
            queue.narrow(2 * BATCH);
            *batch = queue.len() + BATCH;
            *high_water = (*batch).min(queue.len() + queue.room());
        }
    }

    /// Packets sent ahead and not yet processed.
    pub fn held(&self) -> u64 {
        let held = |inputs: &InputChannels<M>| {
            let few: usize = inputs.channels.iter().map(|channel| channel.queue.len()).sum();
            few + inputs.inbox.as_ref().map_or(0, |inbox| inbox.len())
        };
        self.inputs_of.iter().map(|inputs| held(inputs) as u64).sum()
    }

    /// Digest of what `receiver` has taken; of nothing in a run where no packets are sent ahead.
    pub fn digest(&self, receiver: ReceiverId) -> Digest {
        self.inputs_of.get(receiver.index()).map_or(Digest::default(), |inputs| inputs.digest)
    }

    /// Number of receivers, outboxes included.
    pub fn count(&self) -> usize {
        self.inputs_of.len()
    }
}

#[cfg(test)]
mod tests;
