//! Channels between logical processes, as in conservative parallel simulation: Chandy and Misra,
//! CACM 24 (1981) 198-206.
//!
//! A link that knows when a packet will reach its far end sends it ahead, as a message with that
//! time. Each channel carries the messages of one sender in the order of time, so the least of the
//! channel clocks of a receiver is the time up to which its input is known.

use forebay_units::{Span, Time};

use crate::inbox::Inbox;
use crate::kway_merge::{
    MAX_CHANNELS, Message, Receive, Timed, drain_until, earliest, merge_until,
};
use crate::{ChannelId, Digest, ElementId, Forward, ReceiverId, RingBuffer, earlier_of};

/// Packets that a receiver notified in batches holds before it is notified: the caches hold them.
const BATCH: usize = 64;

/// Batches of a receiver of more channels than can be merged, which has more at once.
const MANY: usize = 8;

/// Packets sent into one channel in a row, at most, before [`ChannelTable::flush`] has its sender
/// pause: a run that is to stop does so there.
const STRIDE: usize = 4096;

/// Packets of a channel that are processed at most before the receiver pauses.
const MAX_BATCH: usize = 1 << 16;

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

/// The input channels of one receiver, which is a link, a host group or a sink: packets that were
/// sent ahead to it and that it has not processed.
///
/// Each sender has a channel of its own, as each sends in the order of time. Packets are taken by
/// time, and those of one instant by the numbers of the links that they come from, which is the
/// order of the events that would have delivered them.
pub struct InputChannels<M> {
    /// None where there are more than can be merged, and while messages are diverted.
    channels: Vec<Channel<M>>,
    /// The channels while messages are diverted.
    diverted: Vec<Channel<M>>,
    /// The packets of more channels than can be merged.
    inbox: Option<Box<Inbox<M>>>,
    /// The receiver is notified of packets that arrive by this time; later ones do not concern it.
    wake_time: Time,
    /// True if it is notified whenever a channel holds a full batch.
    batched: bool,
    /// True if a channel may hold more than a long batch.
    is_long: bool,
    /// Digest of the packets taken.
    pub digest: Digest,
    /// Packets taken and not yet counted by the network, if they have crossed a link.
    pub taken: u64,
    /// True if they have: the senders are links, and not a host group. False, too, where the
    /// receiver counts the crossing itself, as a boundary proxy does.
    crossed: bool,
}

impl<M> Default for InputChannels<M> {
    fn default() -> Self {
        Self {
            channels: Vec::new(),
            diverted: Vec::new(),
            inbox: None,
            wake_time: Time::ZERO,
            batched: false,
            is_long: false,
            digest: Digest::default(),
            taken: 0,
            crossed: false,
        }
    }
}

impl<M: Message> InputChannels<M> {
    fn new(upstreams: &[ElementId], crossed: bool) -> Self {
        let many = upstreams.len() > MAX_CHANNELS;
        let merged = if many { &[] } else { upstreams };
        let channels = merged.iter().map(|upstream| Channel::new(*upstream)).collect();
        let inbox = many.then(|| Box::new(Inbox::new(upstreams)));
        let batched = false;
        Self {
            channels,
            diverted: Vec::new(),
            inbox,
            wake_time: Time::NEVER,
            batched,
            is_long: false,
            digest: Digest::default(),
            taken: 0,
            crossed,
        }
    }

    /// The least channel clock. All packets that arrive up to then have been sent, since each link
    /// sends in the order of time, and no two packets reach the far end of one at the same instant.
    /// Of very many channels one is usually silent, so that it is not looked for.
    #[inline]
    pub fn safe_until(&self) -> Time {
        self.channels.iter().map(|channel| channel.clock).min().unwrap_or(Time::ZERO)
    }

    /// The elements that send to it.
    pub fn upstreams(&self) -> impl Iterator<Item = ElementId> {
        let many = self.inbox.iter().flat_map(|inbox| inbox.upstreams.iter().copied());
        self.channels.iter().map(|channel| channel.upstream).chain(many)
    }

    /// From now on [`ChannelTable::send`] refuses messages for the receiver, of which none is
    /// waiting.
    pub fn divert(&mut self) {
        debug_assert!(self.next_at() == Time::NEVER, "messages wait");
        self.diverted.append(&mut self.channels);
    }

    /// The end of [`InputChannels::divert`].
    pub fn end_diversion(&mut self) {
        self.channels.append(&mut self.diverted);
    }

    /// Returns true if messages for the receiver are refused.
    pub fn is_diverted(&self) -> bool {
        !self.diverted.is_empty()
    }

    /// Number of channels.
    pub fn count(&self) -> usize {
        self.inbox.as_ref().map_or(self.channels.len(), |inbox| inbox.upstreams.len())
    }

    /// Returns true if the receiver is notified in batches, and of nothing else.
    pub fn is_batched(&self) -> bool {
        self.batched
    }

    /// The element that sends on `channel`.
    #[inline]
    pub fn upstream(&self, channel: ChannelId) -> ElementId {
        self.channels[channel.index()].upstream
    }

    /// The channel of the first packet, and its arrival time; [`Time::NEVER`] if there is none.
    #[inline(always)]
    pub fn next(&self) -> (ChannelId, Time) {
        let (channel, at) = self.next_index();
        (ChannelId::of_number(channel as u32), at)
    }

    #[inline(always)]
    fn next_index(&self) -> (usize, Time) {
        match self.channels.as_slice() {
            [] => self.inbox.as_ref().map_or((0, Time::NEVER), |inbox| inbox.next()),
            [channel] => (0, channel.head),
            _ => self.next_of_several(),
        }
    }

    /// As [`InputChannels::next_index`]. The usual numbers of channels are cases of their own,
    /// without a loop.
    #[inline(always)]
    fn next_of_several(&self) -> (usize, Time) {
        match self.channels.as_slice() {
            [a, b] => earliest(&[a.head, b.head]),
            [a, b, c] => earliest(&[a.head, b.head, c.head]),
            [a, b, c, d] => earliest(&[a.head, b.head, c.head, d.head]),
            several => {
                let heads = several.iter().enumerate().map(|(at, channel)| (at, channel.head));
                heads.fold((0, Time::NEVER), earlier_of)
            }
        }
    }

    /// Arrival time of the first packet; [`Time::NEVER`] if there is none.
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Time {
        self.next().1
    }

    /// The first packet and its arrival time.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(&M, Time)> {
        if let Some(inbox) = &self.inbox {
            return inbox.first().map(|packet| (packet, inbox.next().1));
        }
        let (channel, _) = self.next_index();
        let (packet, at) = self.channels.get(channel)?.queue.front()?;
        Some((packet, *at))
    }

    /// Take the first packet if it arrives by `limit`. It is borrowed until the next is taken.
    #[inline(always)]
    pub fn take(&mut self, limit: Time) -> Option<(&M, Time)> {
        let (channel, at) = self.next_index();
        // At the end of time nothing arrives: that is when an empty channel has its next message.
        if at >= limit + Span::from_ps(1) {
            return None;
        }
        let from = &mut self.channels[channel];
        self.taken += u64::from(self.crossed);
        let packet = from.take();
        packet.received(at, &mut self.digest);
        Some((packet, at))
    }

    /// Number of packets in the first channel.
    #[inline]
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.channels.first().map_or(0, |channel| channel.queue.len())
    }

    /// Returns true if there is just one channel.
    #[inline]
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.channels.len() == 1
    }

    /// Move the packets of the only channel that arrive by `limit` into `channel` of `to`, the
    /// input channels of another receiver: `transfer` writes each with its arrival time there.
    /// Returns that of the first packet moved, if there is one.
    #[inline(always)]
    pub fn forward_into(
        &mut self,
        (to, channel): (&mut Self, ChannelId),
        limit: Time,
        mut transfer: impl FnMut(&Timed<M>, &mut Timed<M>) -> Forward,
    ) -> Option<Time> {
        let (from, to) = (&mut self.channels[0], &mut to.channels[channel.index()]);
        let (before, mut digest) = (to.queue.len(), self.digest);
        // The packet that reaches the high-water mark is left to `send`, which then has more to do.
        let most = to.high_water - 1;
        let taken = from.queue.forward_into(&mut to.queue, most, |timed, slot| {
            if timed.1 > limit {
                return Forward::Keep;
            }
            timed.0.received(timed.1, &mut digest);
            transfer(timed, slot)
        });
        self.digest = digest;
        from.update_head();
        self.count_taken(taken);
        to.update_head();
        to.update_clock();
        to.queue.get(before).map(|timed| timed.1)
    }

    /// If the next packet has not been prefetched for: the element that it comes from and the next
    /// few packets of its channel, which from now on count as prefetched for.
    pub fn not_prefetched(&mut self) -> Option<(ElementId, impl Iterator<Item = &M>)> {
        let (channel, at) = self.next_index();
        let Channel { queue, prefetched_until, upstream, .. } = self.channels.get_mut(channel)?;
        if at <= *prefetched_until || at == Time::NEVER {
            return None;
        }
        let count = queue.len().min(PREFETCHED);
        *prefetched_until = queue.get(count - 1)?.1;
        let packets = (0..count).filter_map(|index| queue.get(index));
        Some((*upstream, packets.map(|(packet, _)| packet)))
    }

    /// `limit`, or an earlier time by which no channel brings more than a long batch: what is to be
    /// processed in between two [pauses](Receive::pause).
    #[inline(always)]
    #[must_use]
    pub fn pause_before(&mut self, limit: Time) -> Time {
        if self.is_long { self.long_batch_until(limit) } else { limit }
    }

    #[cold]
    #[inline(never)]
    fn long_batch_until(&mut self, limit: Time) -> Time {
        self.is_long = self.channels.iter().any(|channel| channel.queue.len() > MAX_BATCH);
        let last = |channel: &Channel<M>| channel.queue.get(MAX_BATCH - 1).map(|timed| timed.1);
        self.channels.iter().filter_map(last).fold(limit, Time::min)
    }

    /// Let `receiver` process all packets that arrive by `limit`, in order.
    #[inline(always)]
    pub fn take_all(&mut self, limit: Time, receiver: &mut impl Receive<M>) {
        loop {
            let pause = self.pause_before(limit);
            self.take_batch(pause, receiver);
            if pause == limit {
                return;
            }
            receiver.pause();
        }
    }

    #[inline(always)]
    fn take_batch(&mut self, limit: Time, receiver: &mut impl Receive<M>) {
        let end = limit + Span::from_ps(1);
        let mut digest = self.digest;
        match self.channels.len() {
            1 => self.take_alone(end, &mut digest, |packet, at| {
                receiver.receive(packet, at);
                end
            }),
            2..=4 => self.take_merged::<4>(end, &mut digest, receiver),
            0 => self.take_of_many(end, &mut digest, receiver),
            _ => self.take_merged::<MAX_CHANNELS>(end, &mut digest, receiver),
        }
        self.digest = digest;
    }

    /// Take the packets of the only channel that arrive before `end`, which `process` returns anew
    /// each time.
    #[inline(always)]
    pub fn take_alone(
        &mut self,
        end: Time,
        digest: &mut Digest,
        process: impl FnMut(&M, Time) -> Time,
    ) {
        let channel = &mut self.channels[0];
        let left = drain_until(&channel.queue, end, digest, process);
        let taken = channel.keep_last(left);
        self.count_taken(taken);
    }

    /// Take the packets of at most `N` channels that arrive before `end`.
    #[inline(always)]
    fn take_merged<const N: usize>(
        &mut self,
        end: Time,
        digest: &mut Digest,
        receiver: &mut impl Receive<M>,
    ) {
        assert!(self.channels.len() <= N, "more channels than the merge takes");
        let queues = self.channels.iter().map(|channel| &channel.queue);
        let left: [usize; N] = merge_until(queues, end, digest, receiver);
        let channels = self.channels.iter_mut().zip(left);
        let taken = channels.map(|(channel, left)| channel.keep_last(left)).sum();
        self.count_taken(taken);
    }

    /// Take the packets of more channels than can be merged that arrive before `end`.
    #[inline(never)]
    fn take_of_many(&mut self, end: Time, digest: &mut Digest, receiver: &mut impl Receive<M>) {
        if let Some(inbox) = &mut self.inbox {
            let taken = inbox.take_until(end, digest, receiver);
            self.count_taken(taken);
        }
    }

    /// Count packets taken, if they have crossed a link.
    #[inline(always)]
    fn count_taken(&mut self, taken: usize) {
        self.taken += if self.crossed { taken as u64 } else { 0 };
    }

    /// Take the first packet of `channel`, which has one and comes from a link.
    #[inline(always)]
    pub fn take_from(&mut self, channel: ChannelId) -> &M {
        self.taken += 1;
        self.channels[channel.index()].take()
    }
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
                let _ = self.send_to_many(receiver, channel, packet, *at);
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

    /// Send `packet` on `channel` of `receiver`, where it will arrive at `at`. Returns false if the
    /// receiver has diverted it.
    #[inline(always)]
    pub fn send(
        &mut self,
        receiver: ReceiverId,
        channel: ChannelId,
        packet: &M,
        at: Time,
    ) -> bool {
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
        true
    }

    /// Count `packet` as taken by `receiver` at `at`, without a channel. Returns how many links it
    /// has crossed with that: one, or none if it comes from a host group.
    #[inline]
    pub fn receive_at_once(&mut self, receiver: ReceiverId, packet: &M, at: Time) -> u64 {
        let inputs = &mut self.inputs_of[receiver.index()];
        packet.received(at, &mut inputs.digest);
        u64::from(inputs.crossed)
    }

    /// As [`ChannelTable::send`], to a receiver with more channels than can be merged, or that has
    /// diverted what is sent to it.
    #[inline(never)]
    fn send_to_many(
        &mut self,
        receiver: ReceiverId,
        channel: ChannelId,
        packet: &M,
        at: Time,
    ) -> bool {
        let inputs = &mut self.inputs_of[receiver.index()];
        let Some(inbox) = &mut inputs.inbox else { return false };
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
        self.flush |= inbox.len() % STRIDE == 0;
        true
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
