//! Feeds: what elements are told ahead of time.

use forebay_kernel::{Digest, Passing, Ring, sooner};
use forebay_units::{Span, Time};

use crate::Packet;
use crate::merge::{MOST_FEEDS, Told, merge, soonest, walk};

/// How many packets whoever is in no hurry holds before it is told: caches hold them.
const BATCH: usize = 64;

/// How many packets are looked at together before they are met.
const FORESEEN: usize = 16;

/// Packets on their way from one link to one receiver, in the order of time: none yet.
pub(crate) fn lot() -> Ring<Told> {
    Ring::with_room((Packet::data(Time::ZERO, 0, 0, 0, 0), Time::NEVER))
}

/// What one link has told one receiver of.
struct Feed {
    /// There is always room for one more.
    under_way: Ring<Told>,
    /// When the first arrives; [`Time::NEVER`] for none.
    head: Time,
    /// When the last of all that it was told of arrives, be it under way or not.
    last: Time,
    /// Up to when those that arrive were looked at before they are met, where that is done.
    seen: Time,
    feeder: u32,
    /// How many it must hold for its receiver to be told, if that is in no hurry.
    enough: usize,
    /// How many it may hold before something is to be done: `enough`, or all that there is room
    /// for.
    brim: usize,
}

/// What one receiver, a link or a site, has been told of ahead of time and not met: for each link
/// that tells it a feed of its own, as each tells in the order of time. Packets are taken by time,
/// and those of one instant by the numbers of the links that they come from, which is the order of
/// the events that would have brought them.
#[derive(Default)]
pub struct Inbox {
    feeds: Vec<Feed>,
    /// Only a packet that arrives before this concerns whoever reads: it is told.
    bell: Time,
    /// Whether it is told whenever a feed holds many.
    patient: bool,
    /// What was taken.
    pub(crate) digest: Digest,
    /// How many were taken and not yet counted by the network, if they have crossed a link.
    pub(crate) taken: u64,
    /// Whether they have: they come from links, and not from a site.
    crossed: bool,
}

impl Inbox {
    fn new(feeders: &[u32], crossed: bool) -> Self {
        let feeds = feeders.iter().map(|feeder| Feed::new(*feeder)).collect();
        let patient = false;
        Self { feeds, bell: Time::NEVER, patient, digest: Digest::default(), taken: 0, crossed }
    }

    /// Whatever arrives up to then has been told of, since each link tells in the order of time,
    /// and no two packets reach the far end of one at the same instant.
    #[inline]
    pub(crate) fn known_until(&self) -> Time {
        self.feeds.iter().map(|feed| feed.last).min().unwrap_or(Time::ZERO)
    }

    /// The links that feed it.
    pub(crate) fn feeders(&self) -> impl Iterator<Item = u32> {
        self.feeds.iter().map(|feed| feed.feeder)
    }

    /// How many links feed it.
    pub(crate) fn count(&self) -> usize {
        self.feeds.len()
    }

    /// Whether whoever reads it is told when it holds many, and of nothing else.
    pub(crate) fn is_patient(&self) -> bool {
        self.patient
    }

    /// Who feeds it by feed `feed`.
    #[inline]
    pub(crate) fn feeder(&self, feed: usize) -> u32 {
        self.feeds[feed].feeder
    }

    /// Where the first packet is, and when it arrives; [`Time::NEVER`] if there is none.
    #[inline(always)]
    pub(crate) fn next(&self) -> (usize, Time) {
        match self.feeds.as_slice() {
            [] => (0, Time::NEVER),
            [feed] => (0, feed.head),
            _ => self.next_of_several(),
        }
    }

    /// As [`Inbox::next`]. The usual numbers stand apart, so that there is no loop.
    #[inline(always)]
    fn next_of_several(&self) -> (usize, Time) {
        match self.feeds.as_slice() {
            [a, b] => soonest(&[a.head, b.head]),
            [a, b, c] => soonest(&[a.head, b.head, c.head]),
            [a, b, c, d] => soonest(&[a.head, b.head, c.head, d.head]),
            several => {
                let heads = several.iter().enumerate().map(|(at, feed)| (at, feed.head));
                heads.fold((0, Time::NEVER), sooner)
            }
        }
    }

    /// When the first packet arrives; [`Time::NEVER`] for none.
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Time {
        self.next().1
    }

    /// The first packet and when it arrives.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<(&Packet, Time)> {
        let (feed, _) = self.next();
        let (packet, at) = self.feeds.get(feed)?.under_way.front()?;
        Some((packet, *at))
    }

    /// Take the first packet if it arrives by `limit`: it is lent until the next is taken.
    #[inline(always)]
    pub fn take(&mut self, limit: Time) -> Option<(&Packet, Time)> {
        let (feed, at) = self.next();
        if at > limit {
            return None;
        }
        let from = &mut self.feeds[feed];
        self.taken += u64::from(self.crossed);
        let packet = from.take();
        packet.received(at, &mut self.digest);
        Some((packet, at))
    }

    /// How many packets there are in the first feed.
    #[inline]
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.feeds.first().map_or(0, |feed| feed.under_way.len())
    }

    /// Whether one link alone feeds it.
    #[inline]
    #[must_use]
    pub(crate) fn is_single(&self) -> bool {
        self.feeds.len() == 1
    }

    /// Let the packets of the only feed that arrive by `limit` go into feed `to` of another inbox,
    /// as `pass` writes them with the times at which they arrive there. When the first of them
    /// does, if there is one.
    #[inline(always)]
    pub(crate) fn pass_into(
        &mut self,
        (to, feed): (&mut Self, usize),
        limit: Time,
        mut pass: impl FnMut(&Told, &mut Told) -> Passing,
    ) -> Option<Time> {
        let (from, to) = (&mut self.feeds[0], &mut to.feeds[feed]);
        let (before, mut digest) = (to.under_way.len(), self.digest);
        // With the last that it may hold something is to be done: that one is told as usual.
        let most = to.brim - 1;
        let taken = from.under_way.pass_into(&mut to.under_way, most, |told, place| {
            if told.1 > limit {
                return Passing::Stays;
            }
            told.0.received(told.1, &mut digest);
            pass(told, place)
        });
        self.digest = digest;
        from.find_head();
        self.note_taken(taken);
        to.find_head();
        to.find_last();
        to.under_way.get(before).map(|told| told.1)
    }

    /// If the next packet has not been looked at: the next few from the link that it comes from,
    /// which now have.
    pub(crate) fn unseen(&mut self) -> Option<(u32, impl Iterator<Item = &Packet>)> {
        let (feed, at) = self.next();
        let Feed { under_way, seen, feeder, .. } = self.feeds.get_mut(feed)?;
        if at <= *seen || at == Time::NEVER {
            return None;
        }
        let count = under_way.len().min(FORESEEN);
        *seen = under_way.get(count - 1)?.1;
        let packets = (0..count).filter_map(|index| under_way.get(index));
        Some((*feeder, packets.map(|(packet, _)| packet)))
    }

    /// Take all packets that arrive by `limit`, in order, and let `meet` meet them.
    #[inline(always)]
    pub fn take_all(&mut self, limit: Time, mut meet: impl FnMut(&Packet, Time)) {
        let end = limit + Span::from_ps(1);
        let mut digest = self.digest;
        match self.feeds.len() {
            1 => self.take_alone(end, &mut digest, |packet, at| {
                meet(packet, at);
                end
            }),
            2..=4 => self.take_merged::<4>(end, &mut digest, meet),
            _ => self.take_merged::<MOST_FEEDS>(end, &mut digest, meet),
        }
        self.digest = digest;
    }

    /// Take packets of the only feed that arrive before `end`, which `meet` gives anew each time.
    #[inline(always)]
    pub(crate) fn take_alone(
        &mut self,
        end: Time,
        digest: &mut Digest,
        meet: impl FnMut(&Packet, Time) -> Time,
    ) {
        let feed = &mut self.feeds[0];
        let left = walk(&feed.under_way, end, digest, meet);
        let taken = feed.leave(left);
        self.note_taken(taken);
    }

    /// Take packets of at most `N` feeds that arrive before `end`.
    #[inline(always)]
    fn take_merged<const N: usize>(
        &mut self,
        end: Time,
        digest: &mut Digest,
        meet: impl FnMut(&Packet, Time),
    ) {
        assert!(self.feeds.len() <= N, "more feeds than are merged");
        let rings = self.feeds.iter().map(|feed| &feed.under_way);
        let left: [usize; N] = merge(rings, end, digest, meet);
        let feeds = self.feeds.iter_mut().zip(left);
        let taken = feeds.map(|(feed, left)| feed.leave(left)).sum();
        self.note_taken(taken);
    }

    /// So many more were taken.
    #[inline(always)]
    fn note_taken(&mut self, taken: usize) {
        self.taken += if self.crossed { taken as u64 } else { 0 };
    }

    /// Take the first packet of feed `feed`, which has one.
    #[inline(always)]
    pub(crate) fn take_from(&mut self, feed: usize) -> &Packet {
        self.taken += 1;
        self.feeds[feed].take()
    }
}

impl Feed {
    #[inline]
    fn find_head(&mut self) {
        self.head = self.under_way.front().map_or(Time::NEVER, |told| told.1);
    }

    #[inline]
    fn find_last(&mut self) {
        self.last = self.under_way.back().map_or(self.last, |told| told.1);
    }

    fn new(feeder: u32) -> Self {
        let under_way = lot();
        let brim = under_way.room();
        let (head, last, seen) = (Time::NEVER, Time::ZERO, Time::ZERO);
        Self { under_way, head, last, seen, feeder, enough: usize::MAX, brim }
    }

    /// Take the first packet: there is one.
    #[inline(always)]
    fn take(&mut self) -> &Packet {
        // Read whether or not it counts, as above.
        let next = self.under_way.behind_first().1;
        self.head = if self.under_way.len() > 1 { next } else { Time::NEVER };
        &self.under_way.pop_front().0
    }

    /// All but the last `left` are gone; how many that are.
    #[inline]
    fn leave(&mut self, left: usize) -> usize {
        let taken = self.under_way.len() - left;
        self.under_way.skip(taken);
        self.find_head();
        taken
    }
}

/// The inboxes of a network.
#[derive(Default)]
pub(crate) struct Feeds {
    /// By element, and that of a site where its first member is; then by sink.
    inboxes: Vec<Inbox>,
    /// Receivers to be told that there is something new.
    pub(crate) bells: Vec<u32>,
    /// Whether one of them holds many and is in no hurry otherwise.
    pub(crate) brimming: bool,
}

impl Feeds {
    /// Inboxes of elements and sinks, given who feeds each, in order, and whether these are links.
    pub(crate) fn new(feeders: &[(Vec<u32>, bool)]) -> Self {
        let inbox = |(feeders, links): &(Vec<u32>, bool)| Inbox::new(feeders, *links);
        Self { inboxes: feeders.iter().map(inbox).collect(), ..Self::default() }
    }

    /// The same without packets, and behind them so many `doors`: inboxes to which nobody listens.
    pub(crate) fn fresh(&self, doors: usize) -> Self {
        let feeders = |inbox: &Inbox| (inbox.feeders().collect(), inbox.crossed);
        let mut feeds = Self::new(&self.inboxes.iter().map(feeders).collect::<Vec<_>>());
        let door = || Inbox { bell: Time::ZERO, ..Inbox::new(&[0], false) };
        feeds.inboxes.extend(std::iter::repeat_with(door).take(doors));
        feeds
    }

    /// Let `feeder` alone feed the inbox of `receiver`, with packets that have not crossed a link.
    pub(crate) fn lay(&mut self, receiver: u32, feeder: u32) {
        self.inboxes[receiver as usize] = Inbox::new(&[feeder], false);
    }

    /// Give all that `door` holds into `lot`, which is empty. When the first arrives;
    /// [`Time::NEVER`] for none.
    pub(crate) fn give(&mut self, door: u32, lot: &mut Ring<Told>) -> Time {
        let Feed { under_way, head, brim, .. } = &mut self.inboxes[door as usize].feeds[0];
        if *head != Time::NEVER {
            std::mem::swap(under_way, lot);
            *brim = under_way.room();
        }
        std::mem::replace(head, Time::NEVER)
    }

    /// All of `lot` will arrive by feed `feed` of `receiver`.
    pub(crate) fn take_in(&mut self, receiver: u32, feed: u32, lot: &mut Ring<Told>) {
        let Some((_, at)) = lot.front().copied() else { return };
        let feed_of = &mut self.inboxes[receiver as usize].feeds[feed as usize];
        feed_of.under_way.append(lot);
        feed_of.head = at.min(feed_of.head);
        feed_of.find_last();
        self.ring_or_grow(receiver, feed, at);
    }

    /// `packet` will arrive at `at` by feed `feed` of `receiver`.
    #[inline(always)]
    pub(crate) fn tell(&mut self, receiver: u32, feed: u32, packet: &Packet, at: Time) {
        let inbox = &mut self.inboxes[receiver as usize];
        let Feed { under_way, head, last, brim, .. } = &mut inbox.feeds[feed as usize];
        under_way.push_into_room((*packet, at));
        *last = at;
        // Later than what it holds, if it holds anything.
        *head = at.min(*head);
        // What is rare stands apart, without the packet, which then need not lie in memory.
        if at <= inbox.bell || under_way.len() >= *brim {
            self.ring_or_grow(receiver, feed, at);
        }
    }

    #[cold]
    #[inline(never)]
    fn ring_or_grow(&mut self, receiver: u32, feed: u32, at: Time) {
        let rung = self.ring_for(receiver, at);
        let inbox = &mut self.inboxes[receiver as usize];
        let Feed { under_way, enough, brim, .. } = &mut inbox.feeds[feed as usize];
        if !rung && under_way.len() >= *enough {
            *enough += BATCH;
            self.bells.push(receiver);
            self.brimming = true;
        }
        if under_way.room() == 0 {
            under_way.grow();
        }
        *brim = (*enough).min(under_way.len() + under_way.room());
    }

    /// Ring for `receiver` if it is to be told of a packet that arrives at `at`: then of none that
    /// is later. Whether it is.
    #[inline]
    pub(crate) fn ring_for(&mut self, receiver: u32, at: Time) -> bool {
        let bell = &mut self.inboxes[receiver as usize].bell;
        let rings = at <= *bell;
        if rings {
            *bell = at;
            self.bells.push(receiver);
        }
        rings
    }

    /// The inbox of `receiver`, to be read.
    #[inline]
    pub(crate) fn inbox(&self, receiver: u32) -> &Inbox {
        &self.inboxes[receiver as usize]
    }

    /// The inbox of `receiver`.
    #[inline]
    pub(crate) fn of(&mut self, receiver: u32) -> &mut Inbox {
        &mut self.inboxes[receiver as usize]
    }

    /// Let `receiver` be told of packets that arrive before `time`.
    #[inline]
    pub(crate) fn ring_before(&mut self, receiver: u32, time: Time) {
        self.inboxes[receiver as usize].bell = time;
    }

    /// Let `receiver` be told when it holds many, and of nothing else.
    #[inline]
    pub(crate) fn ring_when_many(&mut self, receiver: u32) {
        let inbox = &mut self.inboxes[receiver as usize];
        (inbox.bell, inbox.patient) = (Time::ZERO, true);
        for Feed { under_way, enough, brim, .. } in &mut inbox.feeds {
            // What many packets needed once is not kept for ever.
            under_way.narrow(2 * BATCH);
            *enough = under_way.len() + BATCH;
            *brim = (*enough).min(under_way.len() + under_way.room());
        }
    }

    /// Packets told of and not met.
    pub(crate) fn held(&self) -> u64 {
        let feeds = self.inboxes.iter().flat_map(|inbox| &inbox.feeds);
        feeds.map(|feed| feed.under_way.len() as u64).sum()
    }

    /// What `receiver` has taken; nothing if nobody is told of anything.
    pub(crate) fn digest(&self, receiver: usize) -> Digest {
        self.inboxes.get(receiver).map_or(Digest::default(), |inbox| inbox.digest)
    }

    /// How many inboxes there are.
    pub(crate) fn count(&self) -> usize {
        self.inboxes.len()
    }
}
