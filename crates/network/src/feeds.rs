//! Feeds: what elements are told ahead of time.

use forebay_kernel::{Digest, Passing, Ring};
use forebay_units::Time;

use crate::Packet;
use crate::context::digest_reception;

/// How many packets whoever is in no hurry is told of at once: caches hold them.
const BATCH: usize = 64;

/// A packet and when it arrives.
pub(crate) type Told = (Packet, Time);

/// Packets on their way from one link to one receiver, in the order of time.
struct Feed {
    under_way: Ring<Told>,
    /// When the first arrives; [`Time::NEVER`] for none.
    head: Time,
    feeder: u32,
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
    /// Whether it is told whenever a feed has no room for more.
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
        let feed =
            |feeder: &u32| Feed { under_way: Ring::default(), head: Time::NEVER, feeder: *feeder };
        let feeds = feeders.iter().map(feed).collect();
        let patient = false;
        Self { feeds, bell: Time::NEVER, patient, digest: Digest::default(), taken: 0, crossed }
    }

    /// The links that feed it.
    pub(crate) fn feeders(&self) -> impl Iterator<Item = u32> {
        self.feeds.iter().map(|feed| feed.feeder)
    }

    /// How many links feed it.
    pub(crate) fn count(&self) -> usize {
        self.feeds.len()
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

    /// As [`Inbox::next`]. Which of several is next is a toss-up: chosen by comparison, there is no
    /// jump to be guessed wrong. The usual numbers stand apart, so that there is no loop either.
    #[inline(never)]
    fn next_of_several(&self) -> (usize, Time) {
        match self.feeds.as_slice() {
            [a, b] => sooner((0, a.head), (1, b.head)),
            [a, b, c] => sooner(sooner((0, a.head), (1, b.head)), (2, c.head)),
            [a, b, c, d] => {
                let (first, last) = ((0, a.head), (2, c.head));
                sooner(sooner(first, (1, b.head)), sooner(last, (3, d.head)))
            }
            several => {
                let heads = several.iter().enumerate().map(|(at, feed)| (at, feed.head));
                heads.fold((0, Time::NEVER), sooner)
            }
        }
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
        digest_reception(&mut self.digest, at, packet);
        Some((packet, at))
    }

    /// How many packets there are in the first feed.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.feeds.first().map_or(0, |feed| feed.under_way.len())
    }

    /// Whether one link alone feeds it.
    #[inline]
    #[must_use]
    pub(crate) fn is_single(&self) -> bool {
        self.feeds.len() == 1
    }

    /// Let the packets of the only feed go into feed `to` of another inbox, as `pass` writes them
    /// with the times at which they arrive there. When the first of them does, if there is one.
    #[inline(always)]
    pub(crate) fn pass_into(
        &mut self,
        (to, feed): (&mut Self, usize),
        mut pass: impl FnMut(&Told, &mut Told) -> Passing,
    ) -> Option<Time> {
        let (from, to) = (&mut self.feeds[0], &mut to.feeds[feed]);
        let (before, mut digest) = (to.under_way.len(), self.digest);
        let taken = from.under_way.pass_into(&mut to.under_way, |told, place| {
            let passing = pass(told, place);
            if passing != Passing::Stays {
                digest_reception(&mut digest, told.1, &told.0);
            }
            passing
        });
        self.digest = digest;
        self.taken += if self.crossed { taken as u64 } else { 0 };
        from.find_head();
        to.find_head();
        to.under_way.get(before).map(|told| told.1)
    }

    /// Whether its owner is to be told of a packet that arrives at `at`: then of none that is later.
    #[inline]
    pub(crate) fn is_rung_by(&mut self, at: Time) -> bool {
        let rings = at <= self.bell;
        self.bell = self.bell.min(at);
        rings
    }

    /// Take the first packet of feed `feed`, which has one.
    #[inline(always)]
    pub(crate) fn take_from(&mut self, feed: usize) -> &Packet {
        self.taken += 1;
        self.feeds[feed].take()
    }
}

/// The sooner of two heads, the first if they are equal.
#[inline(always)]
fn sooner(one: (usize, Time), other: (usize, Time)) -> (usize, Time) {
    let second = other.1 < one.1;
    (if second { other.0 } else { one.0 }, if second { other.1 } else { one.1 })
}

impl Feed {
    #[inline]
    fn find_head(&mut self) {
        self.head = self.under_way.front().map_or(Time::NEVER, |told| told.1);
    }

    #[inline(always)]
    fn take(&mut self) -> &Packet {
        // Read whether or not it counts, as above.
        let next = self.under_way.behind_first().1;
        self.head = if self.under_way.len() > 1 { next } else { Time::NEVER };
        &self.under_way.pop_front().0
    }
}

/// The inboxes of a network.
#[derive(Default)]
pub(crate) struct Feeds {
    /// By element; that of a site stands where its first member is.
    inboxes: Vec<Inbox>,
    /// Receivers to be told that there is something new.
    pub(crate) bells: Vec<u32>,
}

impl Feeds {
    /// Inboxes, given who feeds each, in order, and whether these are links.
    pub(crate) fn new(feeders: &[(Vec<u32>, bool)]) -> Self {
        let inbox = |(feeders, links): &(Vec<u32>, bool)| Inbox::new(feeders, *links);
        Self { inboxes: feeders.iter().map(inbox).collect(), bells: Vec::new() }
    }

    /// The same without packets.
    pub(crate) fn fresh(&self) -> Self {
        let feeders = |inbox: &Inbox| (inbox.feeders().collect(), inbox.crossed);
        Self::new(&self.inboxes.iter().map(feeders).collect::<Vec<_>>())
    }

    /// `packet` will arrive at `at` by feed `feed` of `receiver`.
    #[inline(always)]
    pub(crate) fn tell(&mut self, receiver: u32, feed: u32, packet: &Packet, at: Time) {
        let inbox = &mut self.inboxes[receiver as usize];
        let Feed { under_way, head, .. } = &mut inbox.feeds[feed as usize];
        // Calls that are rare stand apart, so that nothing is saved for them.
        if at <= inbox.bell || under_way.room() == 0 {
            self.tell_and_ring(receiver, feed, packet, at);
            return;
        }
        under_way.push_back((*packet, at));
        // Later than what it holds, if it holds anything.
        *head = at.min(*head);
    }

    #[cold]
    #[inline(never)]
    fn tell_and_ring(&mut self, receiver: u32, feed: u32, packet: &Packet, at: Time) {
        let inbox = &mut self.inboxes[receiver as usize];
        let Feed { under_way, head, .. } = &mut inbox.feeds[feed as usize];
        let full = under_way.room() == 0;
        under_way.push_back((*packet, at));
        *head = at.min(*head);
        if at <= inbox.bell {
            inbox.bell = at;
            self.bells.push(receiver);
        } else if full && inbox.patient {
            self.bells.push(receiver);
        }
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

    /// Let `receiver` be told when there is no room for more, and of nothing else.
    #[inline]
    pub(crate) fn ring_when_full(&mut self, receiver: u32) {
        let inbox = &mut self.inboxes[receiver as usize];
        (inbox.bell, inbox.patient) = (Time::ZERO, true);
        // Each of these bells makes more room: let there not be ever more.
        inbox.feeds.iter_mut().for_each(|feed| feed.under_way.narrow(BATCH));
    }

    /// Packets told of and not met.
    pub(crate) fn held(&self) -> u64 {
        let feeds = self.inboxes.iter().flat_map(|inbox| &inbox.feeds);
        feeds.map(|feed| feed.under_way.len() as u64).sum()
    }

    /// What `receiver` has taken.
    pub(crate) fn digest(&self, receiver: usize) -> Digest {
        self.inboxes[receiver].digest
    }
}
