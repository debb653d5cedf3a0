//! Packets of several feeds in the order of time.
//!
//! While they are met nothing comes to them, so they can be walked in their places, and what is
//! gone is taken away once at the end.

use std::array::from_fn;
use std::slice::Iter;

use forebay_kernel::{Digest, Ring, sooner};
use forebay_units::Time;

use crate::Packet;

/// A packet and when it arrives.
pub(crate) type Told = (Packet, Time);

/// The most feeds of one receiver: to find the first of more would cost more than an event.
pub(crate) const MOST_FEEDS: usize = 8;

/// Let `meet` meet the packets of `feed` that arrive before `end`, which it gives anew each time;
/// `digest` takes them in. How many are left.
#[inline(always)]
pub(crate) fn walk(
    feed: &Ring<Told>,
    mut end: Time,
    digest: &mut Digest,
    mut meet: impl FnMut(&Packet, Time) -> Time,
) -> usize {
    let mut left = feed.len();
    for stretch in feed.stretches() {
        for (packet, at) in stretch {
            if *at >= end {
                return left;
            }
            left -= 1;
            packet.received(*at, digest);
            end = meet(packet, *at);
        }
    }
    left
}

/// Let `meet` meet the packets of at most `N` `feeds` that arrive before `end`, by time, and those
/// of one instant by the number of the feed; `digest` takes them in. How many are left in each.
#[inline(always)]
pub(crate) fn merge<'a, const N: usize>(
    feeds: impl Iterator<Item = &'a Ring<Told>>,
    end: Time,
    digest: &mut Digest,
    mut meet: impl FnMut(&Packet, Time),
) -> [usize; N] {
    let never = (Packet::data(Time::NEVER, 0, 0, 0, 0), Time::NEVER);
    let mut rests: [Rest<'_>; N] = from_fn(|_| Rest::none(&never));
    rests.iter_mut().zip(feeds).for_each(|(rest, feed)| *rest = Rest::of(feed, &never));
    let mut heads = rests.each_ref().map(|rest| rest.first.1);
    loop {
        let (first, at) = soonest(&heads);
        if at >= end {
            return rests.map(|rest| rest.len());
        }
        let rest = &mut rests[first];
        let (packet, _) = rest.take();
        heads[first] = rest.first.1;
        packet.received(at, digest);
        meet(packet, at);
    }
}

/// Which is the soonest: the first of those that are equal. Which of several is, is a toss-up:
/// chosen by comparison, there is no jump to be guessed wrong.
#[inline(always)]
pub(crate) fn soonest<const N: usize>(heads: &[Time; N]) -> (usize, Time) {
    // Two and two need not wait for each other.
    if let [a, b, c, d] = heads[..] {
        return sooner(sooner((0, a), (1, b)), sooner((2, c), (3, d)));
    }
    let heads = heads.iter().copied().enumerate();
    heads.reduce(sooner).expect("there are heads")
}

/// Packets of a feed that were not met.
struct Rest<'a> {
    /// The first, or one that never arrives if there is none.
    first: &'a Told,
    /// Those behind it, as far as memory goes on.
    now: Iter<'a, Told>,
    then: &'a [Told],
    never: &'a Told,
}

impl<'a> Rest<'a> {
    fn none(never: &'a Told) -> Self {
        Self { first: never, now: [].iter(), then: &[], never }
    }

    fn of(feed: &'a Ring<Told>, never: &'a Told) -> Self {
        let [now, then] = feed.stretches();
        let mut rest = Self { first: never, now: now.iter(), then, never };
        rest.take();
        rest
    }

    fn len(&self) -> usize {
        usize::from(self.first.1 < Time::NEVER) + self.now.len() + self.then.len()
    }

    /// Take the first away.
    #[inline(always)]
    fn take(&mut self) -> &'a Told {
        let next = match self.now.next() {
            Some(next) => next,
            None => self.turn(),
        };
        std::mem::replace(&mut self.first, next)
    }

    /// The first of those behind, where memory does not go on.
    #[cold]
    fn turn(&mut self) -> &'a Told {
        self.now = std::mem::take(&mut self.then).iter();
        self.now.next().unwrap_or(self.never)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    fn told(at: u64, number: u64) -> Told {
        (Packet::data(Time::ZERO, 0, number, 100, 0), Time::from_ps(at))
    }

    /// Four feeds of random packets, in order each, whose memory does not go on from the first to
    /// the last; and those packets by time and feed, up to but without `end`.
    fn feeds(seed: u64, end: u64) -> (Vec<Ring<Told>>, Vec<(u64, u64)>) {
        let mut stream = Streams::new(seed, 0).named("feeds");
        let (mut feeds, mut all) = (Vec::new(), Vec::new());
        for feed in 0..4 {
            let mut ring = Ring::with_room(told(0, 0));
            (0..6).for_each(|_| ring.push_back(told(0, 0)));
            ring.skip(6);
            let mut at = stream.below(3);
            for number in 0..stream.below(9) {
                ring.push_back(told(at, 100 * feed + number));
                all.push((at, 100 * feed + number));
                at += 1 + stream.below(4);
            }
            feeds.push(ring);
        }
        all.retain(|(at, _)| *at < end);
        all.sort_unstable();
        (feeds, all)
    }

    /// Otherwise packets would be met too early, twice or never, or those of one instant in another
    /// order than events would bring them.
    #[test]
    fn packets_are_met_by_time_and_feed() {
        for seed in 0..200 {
            let end = seed % 25;
            let (feeds, expected) = feeds(seed, end);
            let (mut met, mut digest, mut all) = (Vec::new(), Digest::default(), Digest::default());
            let meet = |packet: &Packet, at: Time| met.push((at.ps(), packet.number));
            let left: [usize; MOST_FEEDS] =
                merge(feeds.iter(), Time::from_ps(end), &mut digest, meet);
            assert_eq!(met, expected, "{seed}");
            let held: usize = feeds.iter().map(Ring::len).sum();
            assert_eq!(left.iter().sum::<usize>(), held - met.len());
            expected.iter().for_each(|(at, number)| {
                told(*at, *number).0.received(Time::from_ps(*at), &mut all);
            });
            assert_eq!(digest, all);
            let four: [usize; 4] = merge(feeds.iter(), Time::from_ps(end), &mut digest, |_, _| ());
            assert_eq!(four, left[..4]);
        }
    }

    /// Otherwise a host would receive packets before a timer that it has set meanwhile: the end
    /// moves as packets are met.
    #[test]
    fn a_walk_ends_where_it_is_told_to() {
        for seed in 0..50 {
            let (feeds, _) = feeds(seed, 0);
            for feed in &feeds {
                let mut met = 0;
                let left = walk(feed, Time::NEVER, &mut Digest::default(), |_, _| {
                    met += 1;
                    if met == 3 { Time::ZERO } else { Time::NEVER }
                });
                assert_eq!((met, left), (feed.len().min(3), feed.len() - feed.len().min(3)));
            }
        }
    }
}
