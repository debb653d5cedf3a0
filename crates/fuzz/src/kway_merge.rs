//! The merge of input channels by time against sorting.

use std::collections::VecDeque;

use arbitrary::{Arbitrary, Unstructured};
use forebay_kernel::{
    ChannelId, ChannelTable, Digest, ElementId, InputChannels, MAX_CHANNELS, Message, Receive,
    ReceiverId,
};
use forebay_units::{Span, Time};

/// The only receiver.
const RECEIVER: ReceiverId = ReceiverId::new(0);

/// An operation on the input channels of one receiver.
#[derive(Arbitrary, Debug)]
enum Step {
    /// Send messages on a channel, each so much later than the one before.
    Send {
        channel: u8,
        gap: u8,
        count: u8,
    },
    /// Take the first message, if it arrives within so much of the last.
    Take {
        within: u8,
    },
    /// Take all messages that arrive within so much of the last.
    TakeAll {
        within: u16,
    },
    Prefetch,
    Batches,
}

/// Numbered messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Numbered(u64);

impl Message for Numbered {
    const BLANK: Self = Self(u64::MAX);

    fn received(&self, at: Time, digest: &mut Digest) {
        digest.take_in(self.0, at.ps());
    }
}

/// Messages are taken in the order of arrival time and, at one instant, of channel; first in, first
/// out in each channel; none is lost; and the channel clocks bound what is still to come.
pub fn kway_merge(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let count = 1 + usize::from(u8::arbitrary(&mut bytes).unwrap_or(0)) % MAX_CHANNELS;
    let mut pair = Pair::new(count);
    while let Ok(step) = Step::arbitrary(&mut bytes) {
        pair.step(&step);
        pair.compare();
        if bytes.is_empty() {
            break;
        }
    }
    pair.take_all(Time::from_ps(u64::MAX - 1));
    assert_eq!(pair.inputs().next_at(), Time::NEVER);
    assert_eq!(pair.table.held(), 0);
}

/// Channels and what they should hold.
struct Pair {
    table: ChannelTable<Numbered>,
    model: Vec<VecDeque<(Numbered, Time)>>,
    /// Time at which the last message of each channel arrives.
    clocks: Vec<Time>,
    now: Time,
    sent: u64,
    taken: u64,
    digest: Digest,
}

impl Pair {
    fn new(count: usize) -> Self {
        let upstreams = ElementId::all(count).collect();
        Self {
            table: ChannelTable::new(&[(upstreams, true)]),
            model: vec![VecDeque::new(); count],
            clocks: vec![Time::ZERO; count],
            now: Time::ZERO,
            sent: 0,
            taken: 0,
            digest: Digest::default(),
        }
    }

    fn inputs(&self) -> &InputChannels<Numbered> {
        self.table.inputs(RECEIVER)
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Send { channel, gap, count } => self.send(channel, gap, count),
            Step::Take { within } => self.take(self.now + Span::from_ps(u64::from(within))),
            Step::TakeAll { within } => self.take_all(self.now + Span::from_ps(u64::from(within))),
            Step::Prefetch => {
                if let Some((upstream, messages)) = self.table.inputs_mut(RECEIVER).not_prefetched()
                {
                    let own = &self.model[upstream.index()];
                    assert!(messages.zip(own).all(|(message, (due, _))| message == due));
                }
            }
            Step::Batches => self.table.notify_in_batches(RECEIVER),
        }
    }

    fn send(&mut self, channel: u8, gap: u8, count: u8) {
        let channel = usize::from(channel) % self.model.len();
        for _ in 0..count {
            let last = self.clocks[channel].max(self.now);
            let (at, message) = (last + Span::from_ps(u64::from(gap)), Numbered(self.sent));
            self.sent += 1;
            self.clocks[channel] = at;
            self.table.send(RECEIVER, ChannelId::new(channel), &message, at);
            self.model[channel].push_back((message, at));
        }
    }

    /// The message that is due first, if it is by `limit`.
    fn due(&mut self, limit: Time) -> Option<(Numbered, Time)> {
        let heads = self.model.iter().enumerate();
        let first = heads.filter_map(|(at, queue)| Some((queue.front()?.1, at))).min()?;
        if first.0 > limit {
            return None;
        }
        let (message, at) = self.model[first.1].pop_front()?;
        self.now = self.now.max(at);
        self.taken += 1;
        message.received(at, &mut self.digest);
        Some((message, at))
    }

    fn take(&mut self, limit: Time) {
        let due = self.due(limit);
        let got = self.table.inputs_mut(RECEIVER).take(limit).map(|(message, at)| (*message, at));
        assert_eq!(got, due);
    }

    fn take_all(&mut self, limit: Time) {
        let mut got = Taken(Vec::new());
        self.table.inputs_mut(RECEIVER).take_all(limit, &mut got);
        let due: Vec<_> = std::iter::from_fn(|| self.due(limit)).collect();
        assert_eq!(got.0, due);
    }

    fn compare(&self) {
        let inputs = self.inputs();
        let heads = self.model.iter().filter_map(|queue| Some(queue.front()?.1));
        assert_eq!(inputs.next_at(), heads.min().unwrap_or(Time::NEVER));
        assert_eq!(Some(inputs.safe_until()), self.clocks.iter().copied().min());
        assert_eq!(inputs.taken, self.taken);
        assert_eq!(inputs.digest.value(), self.digest.value());
        let waiting: usize = self.model.iter().map(VecDeque::len).sum();
        assert_eq!(self.table.held(), waiting as u64);
    }
}

/// Messages in the order in which they were received.
struct Taken(Vec<(Numbered, Time)>);

impl Receive<Numbered> for Taken {
    fn receive(&mut self, message: &Numbered, at: Time) {
        self.0.push((*message, at));
    }
}
