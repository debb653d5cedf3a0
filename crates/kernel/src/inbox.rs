//! Input of a receiver with many senders: packets in the order in which they are sent, which are
//! sorted when they are due. Few are sent long before, so that each sort is of about what is taken.

use forebay_units::{Span, Time};

use crate::kway_merge::{MAX_BATCH, Message, Receive};
use crate::{ChannelId, Digest, ElementId};

/// Keys that are searched rather than sorted, where most are not due for long.
const FEW: usize = 256;

/// Order of a message: by time, then by channel; and its place in memory.
type Key = u128;

#[inline(always)]
fn key(at: Time, channel: usize, place: usize) -> Key {
    Key::from(at.ps()) << 64 | (channel as Key) << 32 | place as Key
}

#[inline(always)]
fn time_of(key: Key) -> Time {
    Time::from_ps((key >> 64) as u64)
}

#[inline(always)]
fn channel_of(key: Key) -> usize {
    (key >> 32) as u32 as usize
}

#[inline(always)]
fn place_of(key: Key) -> usize {
    key as u32 as usize
}

/// Number of bits that numbers below `count` take.
fn bits(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Bits of a channel, and of a place, in short keys.
type Widths = (u32, u32);

/// Sort `keys`, the least of which is of the time `first`. Those that are due together are close in
/// time, so that short keys, in `room`, tell as much at half the cost.
fn sort(keys: &mut [Key], first: Time, (channel, place): Widths, room: &mut Vec<u64>) {
    let widths = channel + place;
    let latest = keys.iter().map(|key| time_of(*key)).max().unwrap_or(first);
    if widths >= u64::BITS || latest.since(first).ps() > u64::MAX >> widths {
        return keys.sort_unstable();
    }
    room.clear();
    room.extend(keys.iter().map(|key| {
        let since = time_of(*key).since(first).ps();
        since << widths | (channel_of(*key) as u64) << place | place_of(*key) as u64
    }));
    room.sort_unstable();
    for (key, short) in keys.iter_mut().zip(room) {
        let at = first + Span::from_ps(*short >> widths);
        let channel = (*short >> place) as usize & ((1 << channel) - 1);
        *key = self::key(at, channel, *short as usize & ((1 << place) - 1));
    }
}

/// Messages of many channels. Those of one channel have increasing times, so no two keys are equal
/// but for their places.
pub(crate) struct Inbox<M> {
    /// The sender of each channel, in order.
    pub(crate) upstreams: Vec<ElementId>,
    /// Messages by place.
    messages: Vec<M>,
    /// Places that hold none.
    free: Vec<u32>,
    /// Keys of messages in any order.
    recent: Vec<Key>,
    /// The least of `recent`; [`Key::MAX`] for none.
    least: Key,
    /// Keys of messages, the last first.
    sorted: Vec<Key>,
    /// Room for the keys of what is due, and for short ones.
    due: Vec<Key>,
    short: Vec<u64>,
    /// Number of messages at which a receiver notified in batches is notified.
    pub(crate) batch: usize,
}

impl<M: Message> Inbox<M> {
    pub(crate) fn new(upstreams: &[ElementId]) -> Self {
        Self {
            upstreams: upstreams.to_vec(),
            messages: Vec::new(),
            free: Vec::new(),
            recent: Vec::new(),
            least: Key::MAX,
            sorted: Vec::new(),
            due: Vec::new(),
            short: Vec::new(),
            batch: usize::MAX,
        }
    }

    /// Number of messages.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.recent.len() + self.sorted.len()
    }

    /// Add `message`, which arrives on `channel` at `at`.
    #[inline]
    pub(crate) fn push(&mut self, channel: ChannelId, message: &M, at: Time) {
        let place = match self.free.pop() {
            Some(place) => {
                self.messages[place as usize] = *message;
                place as usize
            }
            None => {
                self.messages.push(*message);
                self.messages.len() - 1
            }
        };
        let key = key(at, channel.index(), place);
        self.least = self.least.min(key);
        self.recent.push(key);
    }

    /// The key of the first message; [`Key::MAX`] if there is none.
    #[inline]
    fn first_key(&self) -> Key {
        self.sorted.last().map_or(self.least, |first| self.least.min(*first))
    }

    /// Channel and arrival time of the first message; [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> (usize, Time) {
        match self.first_key() {
            Key::MAX => (0, Time::NEVER),
            first => (channel_of(first), time_of(first)),
        }
    }

    /// The first message.
    #[inline]
    pub(crate) fn first(&self) -> Option<&M> {
        self.messages.get(place_of(self.first_key()))
    }

    /// Let `receiver` process the messages that arrive before `end`, in order, and add them to
    /// `digest`. Returns how many there were.
    pub(crate) fn take_until(
        &mut self,
        end: Time,
        digest: &mut Digest,
        receiver: &mut impl Receive<M>,
    ) -> usize {
        let (first, end) = (self.first_key(), key(end, 0, 0));
        if first >= end {
            return 0;
        }
        let mut due = std::mem::take(&mut self.due);
        self.move_due(end, &mut due);
        let widths = (bits(self.upstreams.len()), bits(self.messages.len()));
        sort(&mut due, time_of(first), widths, &mut self.short);
        for (count, key) in due.iter().enumerate() {
            let (message, at) = (&self.messages[place_of(*key)], time_of(*key));
            message.received(at, digest);
            receiver.receive(message, at);
            if count % MAX_BATCH == MAX_BATCH - 1 {
                receiver.pause();
            }
        }
        if self.len() == 0 {
            self.messages.clear();
            self.free.clear();
        } else {
            self.free.extend(due.iter().map(|key| place_of(*key) as u32));
            self.sort_if_many(due.len());
        }
        let taken = due.len();
        due.clear();
        self.due = due;
        taken
    }

    /// Move the keys before `end` into `due`, and find the least of the other recent ones.
    fn move_due(&mut self, end: Key, due: &mut Vec<Key>) {
        if self.least < end {
            self.least = Key::MAX;
            let least = &mut self.least;
            self.recent.retain(|key| {
                if *key < end {
                    due.push(*key);
                    return false;
                }
                *least = (*least).min(*key);
                true
            });
        }
        let later = self.sorted.partition_point(|key| *key >= end);
        due.extend(self.sorted.drain(later..).rev());
    }

    /// Sort all keys where most of the recent ones, which are searched each time, were not among
    /// the `taken`: to search r of them costs r / `taken` for each message taken, and to merge them
    /// into s sorted ones s / r, so that the least of both together is at r² = s `taken`.
    fn sort_if_many(&mut self, taken: usize) {
        let recent = self.recent.len();
        if recent < FEW || recent * recent < (self.sorted.len() + recent) * taken {
            return;
        }
        self.sorted.append(&mut self.recent);
        // A run and what was sent since: the standard library's sort finds and merges both.
        self.sorted.sort_by(|a, b| b.cmp(a));
        self.least = Key::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    /// Whatever is sent between two takes, soon due or long before, all messages are processed once
    /// each, by time and then by channel, as the events that deliver them would be; and the first
    /// is known in between.
    #[test]
    fn messages_are_processed_by_time_and_channel() {
        for seed in 0..40 {
            let mut stream = Streams::new(seed, 0).named("inbox");
            let upstreams: Vec<ElementId> = (0..20).map(ElementId::new).collect();
            let mut inbox = Inbox::<u64>::new(&upstreams);
            let (mut clocks, mut all) = ([0_u64; 20], Vec::new());
            let (mut got, mut digest) = (Vec::<(u64, u64)>::new(), Digest::default());
            let mut end = 0;
            // Of some seeds, all channels are long: many messages are sent long before.
            let spread = if seed % 2 == 0 { 20 } else { 20_000 };
            for _ in 0..200 {
                for _ in 0..stream.below(60) {
                    let channel = stream.below(20) as usize;
                    let clock = &mut clocks[channel];
                    *clock = (*clock + 1).max(end + stream.below(spread));
                    // A message names its order.
                    let number = *clock << 8 | channel as u64;
                    inbox.push(ChannelId::new(channel), &number, Time::from_ps(*clock));
                    all.push(number);
                }
                let first = all.iter().filter(|number| **number >> 8 >= end).min();
                let next = first.map_or((0, Time::NEVER), |number| {
                    ((number & 0xff) as usize, Time::from_ps(number >> 8))
                });
                assert_eq!(inbox.next(), next, "{seed}");
                assert_eq!(inbox.first(), first, "{seed}");
                end += stream.below(30);
                let before = got.len();
                let taken = inbox.take_until(Time::from_ps(end), &mut digest, &mut got);
                assert_eq!(taken, got.len() - before);
            }
            let left = all.len() - got.len();
            all.retain(|number| number >> 8 < end);
            all.sort_unstable();
            assert!(got.iter().map(|(_, number)| number).eq(&all), "{seed}");
            assert_eq!(inbox.len(), left);
        }
    }
}
