//! K-way merge of the input channels of a receiver by time: Knuth, *The Art of Computer
//! Programming*, vol. 3, section 5.4.1.
//!
//! No packet is added to the channels while they are drained, so packets are processed in place,
//! and all that were taken are removed at once at the end.

use std::array::from_fn;
use std::slice::Iter;

use forebay_units::Time;

use crate::{Digest, RingBuffer, earlier_of};

/// Message that channels carry.
pub trait Message: Copy {
    /// A message that no one sends: fills places of buffers that hold none.
    const BLANK: Self;

    /// Add its reception at `at` to `digest`.
    fn received(&self, at: Time, digest: &mut Digest);
}

/// Processes messages in order. A trait and no closure, so that [`Receive::receive`] can ask to be
/// inlined wherever messages are taken.
pub trait Receive<M> {
    /// `message` arrives at `at`.
    fn receive(&mut self, message: &M, at: Time);

    /// Called between long batches, with nothing half done.
    fn pause(&mut self) {}
}

/// Messages of a channel that are processed at most before the receiver [pauses](Receive::pause).
pub(crate) const MAX_BATCH: usize = 1 << 16;

/// A message and its timestamp: when it arrives.
pub type Timed<M> = (M, Time);

/// Greatest number of channels that are merged: what comes by more is sorted when it is due.
pub const MAX_CHANNELS: usize = 8;

/// Call `process` for the packets of `channel` that arrive before `end`, which it returns anew each
/// time, and add them to `digest`. Returns how many packets are left.
#[inline(always)]
pub(crate) fn drain_until<M: Message>(
    channel: &RingBuffer<Timed<M>>,
    mut end: Time,
    digest: &mut Digest,
    mut process: impl FnMut(&M, Time) -> Time,
) -> usize {
    let mut left = channel.len();
    for slice in channel.as_slices() {
        for (packet, at) in slice {
            if *at >= end {
                return left;
            }
            left -= 1;
            packet.received(*at, digest);
            end = process(packet, *at);
        }
    }
    left
}

/// Let `receiver` process the packets of at most `N` `channels` that arrive before `end`, by time,
/// and those of one instant by the number of the channel, and add them to `digest`. Returns how
/// many packets are left in each channel.
#[inline(always)]
pub(crate) fn merge_until<'a, M: Message + 'a, const N: usize>(
    channels: impl Iterator<Item = &'a RingBuffer<Timed<M>>>,
    end: Time,
    digest: &mut Digest,
    receiver: &mut impl Receive<M>,
) -> [usize; N] {
    let never = (M::BLANK, Time::NEVER);
    let mut cursors: [Cursor<'_, M>; N] = from_fn(|_| Cursor::empty(&never));
    cursors
        .iter_mut()
        .zip(channels)
        .for_each(|(cursor, channel)| *cursor = Cursor::of(channel, &never));
    let mut heads = cursors.each_ref().map(|cursor| cursor.first.1);
    loop {
        let (first, at) = earliest(&heads);
        if at >= end {
            return cursors.map(|cursor| cursor.len());
        }
        let cursor = &mut cursors[first];
        let (packet, _) = cursor.take();
        heads[first] = cursor.first.1;
        packet.received(at, digest);
        receiver.receive(packet, at);
    }
}

/// The earliest of `heads` with its index: the first of those that are equal. Which one it is
/// cannot be predicted, so it is selected without branches, which would be mispredicted.
#[inline(always)]
pub(crate) fn earliest<const N: usize>(heads: &[Time; N]) -> (usize, Time) {
    // The comparisons of the two pairs do not wait for each other.
    if let [a, b, c, d] = heads[..] {
        return earlier_of(earlier_of((0, a), (1, b)), earlier_of((2, c), (3, d)));
    }
    let heads = heads.iter().copied().enumerate();
    heads.reduce(earlier_of).expect("there is at least one channel")
}

/// A read position in a channel: the packets that are not processed yet.
struct Cursor<'a, M> {
    /// The first packet, or one that never arrives if there is none.
    first: &'a Timed<M>,
    /// Those behind it that are contiguous in memory.
    slice: Iter<'a, Timed<M>>,
    /// Those behind `slice`, where the ring buffer wraps around.
    wrapped: &'a [Timed<M>],
    /// The packet that never arrives.
    never: &'a Timed<M>,
}

impl<'a, M: Message> Cursor<'a, M> {
    fn empty(never: &'a Timed<M>) -> Self {
        Self { first: never, slice: [].iter(), wrapped: &[], never }
    }

    fn of(channel: &'a RingBuffer<Timed<M>>, never: &'a Timed<M>) -> Self {
        let [slice, wrapped] = channel.as_slices();
        let mut cursor = Self { first: never, slice: slice.iter(), wrapped, never };
        cursor.take();
        cursor
    }

    fn len(&self) -> usize {
        usize::from(self.first.1 < Time::NEVER) + self.slice.len() + self.wrapped.len()
    }

    /// Take the first packet.
    #[inline(always)]
    fn take(&mut self) -> &'a Timed<M> {
        let next = match self.slice.next() {
            Some(next) => next,
            None => self.wrap(),
        };
        std::mem::replace(&mut self.first, next)
    }

    /// Continue with the packets where the ring buffer wraps around; returns the first of them.
    #[cold]
    fn wrap(&mut self) -> &'a Timed<M> {
        self.slice = std::mem::take(&mut self.wrapped).iter();
        self.slice.next().unwrap_or(self.never)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    /// Numbers as messages.
    impl Message for u64 {
        const BLANK: Self = u64::MAX;

        fn received(&self, at: Time, digest: &mut Digest) {
            digest.take_in(at.ps(), *self);
        }
    }

    impl Receive<u64> for Vec<(u64, u64)> {
        fn receive(&mut self, number: &u64, at: Time) {
            self.push((at.ps(), *number));
        }
    }

    type Channel = RingBuffer<Timed<u64>>;

    fn timed(at: u64, number: u64) -> Timed<u64> {
        (number, Time::from_ps(at))
    }

    /// Four channels of random packets, each in order, whose ring buffers wrap around between the
    /// first and the last packet; and the packets before `end`, by time and channel.
    fn channels(seed: u64, end: u64) -> (Vec<Channel>, Vec<(u64, u64)>) {
        let mut stream = Streams::new(seed, 0).named("feeds");
        let (mut channels, mut all) = (Vec::new(), Vec::new());
        for channel in 0..4 {
            let mut queue = RingBuffer::with_room(timed(0, 0));
            (0..6).for_each(|_| queue.push_back(timed(0, 0)));
            queue.skip(6);
            let mut at = stream.below(3);
            for number in 0..stream.below(9) {
                queue.push_back(timed(at, 100 * channel + number));
                all.push((at, 100 * channel + number));
                at += 1 + stream.below(4);
            }
            channels.push(queue);
        }
        all.retain(|(at, _)| *at < end);
        all.sort_unstable();
        (channels, all)
    }

    /// Packets are processed until the end, once each, by time and then by channel, so in the order
    /// of the events that deliver them.
    #[test]
    fn packets_are_processed_by_time_and_channel() {
        for seed in 0..200 {
            let end = seed % 25;
            let (channels, expected) = channels(seed, end);
            let (mut got, mut digest, mut all) = (Vec::new(), Digest::default(), Digest::default());
            let left: [usize; MAX_CHANNELS] =
                merge_until(channels.iter(), Time::from_ps(end), &mut digest, &mut got);
            assert_eq!(got, expected, "{seed}");
            let held: usize = channels.iter().map(RingBuffer::len).sum();
            assert_eq!(left.iter().sum::<usize>(), held - got.len());
            expected.iter().for_each(|(at, number)| {
                timed(*at, *number).0.received(Time::from_ps(*at), &mut all);
            });
            assert_eq!(digest, all);
            let four: [usize; 4] =
                merge_until(channels.iter(), Time::from_ps(end), &mut digest, &mut got);
            assert_eq!(four, left[..4]);
        }
    }

    /// Draining stops at the end that was returned last, which moves as packets are processed: a
    /// host handles a timer that it has set meanwhile before the packets after it.
    #[test]
    fn draining_stops_at_the_end_returned_last() {
        for seed in 0..50 {
            let (channels, _) = channels(seed, 0);
            for channel in &channels {
                let mut processed = 0;
                let left = drain_until(channel, Time::NEVER, &mut Digest::default(), |_, _| {
                    processed += 1;
                    if processed == 3 { Time::ZERO } else { Time::NEVER }
                });
                assert_eq!(
                    (processed, left),
                    (channel.len().min(3), channel.len() - channel.len().min(3))
                );
            }
        }
    }
}
