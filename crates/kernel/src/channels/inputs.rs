//! Input channels of one receiver: what it takes, and up to when its input is known.

use forebay_units::{Span, Time};

use super::{Channel, PREFETCHED};
use crate::inbox::Inbox;
use crate::kway_merge::{
    MAX_BATCH, MAX_CHANNELS, Message, Receive, Timed, drain_until, earliest, merge_until,
};
use crate::{ChannelId, Digest, ElementId, Forward, earlier_of};

/// The input channels of one receiver, which is a link, a host group or a sink: packets that were
/// sent ahead to it and that it has not processed.
///
/// Each sender has a channel of its own, as each sends in the order of time. Packets are taken by
/// time, and those of one instant by the numbers of the links that they come from, which is the
/// order of the events that would have delivered them.
pub struct InputChannels<M> {
    /// None where there are more than can be merged.
    pub(super) channels: Vec<Channel<M>>,
    /// The messages of more channels than can be merged, in place of `channels`.
    pub(super) inbox: Option<Box<Inbox<M>>>,
    /// The receiver is notified of packets that arrive by this time; later ones do not concern it.
    pub(super) wake_time: Time,
    /// True if it is notified whenever a channel holds a full batch.
    pub(super) batched: bool,
    /// True if a channel may hold more than a long batch.
    pub(super) is_long: bool,
    /// Digest of the packets taken.
    pub digest: Digest,
    /// Packets taken and not yet counted by the network, if they have crossed a link.
    pub taken: u64,
    /// True if they have: the senders are links, and not a host group. False, too, where the
    /// receiver counts the crossing itself, as a boundary proxy does.
    pub(super) crossed: bool,
}

impl<M> Default for InputChannels<M> {
    fn default() -> Self {
        Self {
            channels: Vec::new(),
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
    pub(super) fn new(upstreams: &[ElementId], crossed: bool) -> Self {
        let many = upstreams.len() > MAX_CHANNELS;
        let merged = if many { &[] } else { upstreams };
        let channels = merged.iter().map(|upstream| Channel::new(*upstream)).collect();
        let inbox = many.then(|| Box::new(Inbox::new(upstreams)));
        let batched = false;
        Self {
            channels,
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

    /// Returns true if messages go into channels that are merged, so that
    /// [`InputChannels::forward_into`] can move some there.
    #[inline]
    pub fn is_merged(&self) -> bool {
        !self.channels.is_empty()
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
    /// Packets of more channels than can be merged are taken [together](Self::take_all) instead.
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
    /// [merged](InputChannels::is_merged) input channels of another receiver: `transfer` writes
    /// each with its arrival time there. Returns that of the first packet moved, if there is one.
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
