//! A region: elements and all that they need to run by themselves. A network is one, or several
//! that run on a thread each.

use forebay_kernel::{Agenda, Digest};
use forebay_units::Time;

use crate::context::{Core, Letter, Own};
use crate::foresight::look_at_packets;
use crate::routes::SINK;
use crate::site::{NO_SITE, Site};
use crate::{Context, Element};

/// An element in its place.
pub(crate) struct Place {
    pub(crate) element: Box<dyn Element>,
    /// What it received, unless that was expected.
    pub(crate) digest: Digest,
    /// Its site, if it is run late.
    pub(crate) site: u32,
}

impl Place {
    pub(crate) fn of(element: Box<dyn Element>) -> Self {
        Self { element, digest: Digest::default(), site: NO_SITE }
    }
}

/// Elements by number and everything else of their part of the network. Aligned so that no two
/// regions share a line of a cache.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Region {
    pub(crate) places: Vec<Place>,
    pub(crate) sites: Vec<Site>,
    pub(crate) core: Core,
    /// Links at borders that take packets from inboxes.
    pub(crate) borders: Vec<u32>,
    /// Sites that send into such links.
    pub(crate) sites_at_borders: Vec<usize>,
    /// Events taken from the agenda.
    pub(crate) events: u64,
}

impl Region {
    /// Let every element set its first timers.
    pub(crate) fn start(&mut self) {
        let now = self.core.agenda.now();
        self.core.foresees = self.core.can_look_ahead();
        for me in 0..self.places.len() {
            let place = &mut self.places[me];
            let site = self.sites.get_mut(place.site as usize);
            let timers = site.and_then(|site| site.timers.as_deref_mut());
            let own = timers.map(|timers| Own { timers, before: Time::ZERO });
            place.element.start(&mut Context { core: &mut self.core, me: me as u32, now, own });
            self.hand_on();
        }
        (0..self.sites.len()).for_each(|site| self.arm_site(site));
        for receiver in self.told_sinks() {
            self.core.feeds.ring_when_many(receiver);
        }
    }

    /// Handle everything due at or before `limit`, or `budget` events; false in the latter case.
    pub(crate) fn advance(&mut self, limit: Time, budget: u64) -> bool {
        let mut left = budget;
        let mut complete = true;
        while let Some(event) = self.core.agenda.take(limit) {
            self.core.horizon = event.time.just_before();
            let site = self.places[event.target as usize].site;
            if site == NO_SITE {
                if self.core.foresees {
                    self.look_beyond(event.target);
                }
                let place = &mut self.places[event.target as usize];
                let cx = &mut Context::of(&mut self.core, event.target, event.time);
                place.element.wake(event.token, cx);
                self.hand_on();
            } else {
                self.wake_site(site as usize);
            }
            left -= 1;
            if left == 0 {
                complete = false;
                break;
            }
        }
        self.events += budget - left;
        complete
    }

    /// The routes that begin with `me`: those on which it sends, and those that lead back from it.
    pub(crate) fn begins(&self, me: u32) -> impl Iterator<Item = u32> + use<> {
        let sends = self.places[me as usize].element.sends().to_vec();
        let backs: Vec<u32> = self.core.routes.backs(me).collect();
        sends.into_iter().chain(backs)
    }

    /// Whom `me` may hand a packet at the instant at which it gets it, or sends it.
    pub(crate) fn given_at_once(&self, me: u32) -> impl Iterator<Item = u32> {
        let routes = &self.core.routes;
        let firsts = self.begins(me).map(|route| routes.first(route).to);
        let passes = !self.places[me as usize].element.books();
        let following = routes.following(me).filter(move |_| passes);
        firsts.chain(following).filter(|next| next & SINK == 0)
    }

    /// About how much was done here so far, in traversals. What hosts do by themselves, such as to
    /// send datagrams, takes some times as long as a traversal does.
    pub(crate) fn work(&self) -> u64 {
        let events = self.events.wrapping_add_signed(self.core.unlisted);
        self.core.traversals + 5 * events.saturating_sub(self.core.traversals)
    }

    /// When something happens next that could matter to another region.
    pub(crate) fn soonest(&mut self) -> Time {
        let mut soonest = self.core.agenda.soonest().unwrap_or(Time::NEVER);
        for border in &self.borders {
            soonest = soonest.min(self.core.feeds.of(*border).next().1);
        }
        for site in 0..self.sites_at_borders.len() {
            soonest = soonest.min(self.soonest_at(self.sites_at_borders[site]));
        }
        soonest
    }

    /// Handle all that is due in a window that ends at `end`; nothing is left for later that
    /// concerns links at borders, as other regions go on from what these tell.
    pub(crate) fn pass_window(&mut self, end: Time) {
        // Further ahead, regions would have their work in spurts and wait longer for each other.
        self.core.look = end;
        self.advance(end, u64::MAX);
        self.core.agenda.pass_to(end);
        self.core.horizon = end;
        for at in 0..self.sites_at_borders.len() {
            self.run_site(self.sites_at_borders[at]);
            self.arm_site(self.sites_at_borders[at]);
        }
        for at in 0..self.borders.len() {
            let border = self.borders[at];
            let cx = &mut Context::of(&mut self.core, border, end);
            self.places[border as usize].element.told(cx);
            self.hand_on();
        }
    }

    /// All that is due up to `limit` has been handled: time passes on to it.
    pub(crate) fn finish(&mut self, limit: Time) {
        self.core.agenda.pass_to(limit);
        self.core.horizon = limit;
        self.settle();
    }

    /// Deliver everything that elements have handed on, in order. What they hand on meanwhile comes
    /// after.
    #[inline(always)]
    pub(crate) fn hand_on(&mut self) {
        loop {
            self.deliver(None);
            if self.core.feeds.bells.is_empty() {
                return;
            }
            self.ring();
        }
    }

    /// Deliver what is in the mail, in order, and what is handed on meanwhile after it: to elements
    /// that are not run late, or given the timers of a site to its members.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, mut timers: Option<&mut Agenda>) {
        while self.core.mail.full {
            self.core.mail.full = false;
            let Letter { packet, to, at } = self.core.mail.first;
            let place = &mut self.places[to as usize];
            packet.received(at, &mut place.digest);
            // Whoever receives goes on to nothing else.
            let own = timers.as_deref_mut().map(|timers| Own { timers, before: Time::ZERO });
            let cx = &mut Context { core: &mut self.core, me: to, now: at, own };
            place.element.receive(&packet, cx);
            if !self.core.mail.full {
                self.core.mail.refill();
            }
        }
    }

    /// Bring everything up to the present: first whoever is run late, since others get packets of
    /// the past from them.
    pub(crate) fn settle(&mut self) {
        self.settle_sites();
        for me in 0..self.places.len() {
            self.settle_one(me);
        }
        for receiver in self.told_sinks() {
            self.count_at_sink(receiver);
        }
    }

    /// The inboxes of sinks that are told of packets.
    fn told_sinks(&self) -> impl Iterator<Item = u32> + use<> {
        let (first, sinks) = (self.places.len(), self.core.sinks.len());
        // There are no inboxes where somebody observes.
        let sinks = first..(first + sinks).min(self.core.feeds.count());
        let told = |at: &u32| self.core.feeds.inbox(*at).count() > 0;
        sinks.map(|at| at as u32).filter(told).collect::<Vec<_>>().into_iter()
    }

    /// A sink has been told of much, or somebody looks: count all that is known to reach it.
    pub(crate) fn count_at_sink(&mut self, receiver: u32) {
        let header = self.core.sinks[receiver as usize - self.places.len()].header;
        let (limit, now) = (self.core.known_until(receiver), self.core.agenda.now());
        let cx = &mut Context::of(&mut self.core, receiver, now);
        let mut inbox = cx.open_inbox();
        loop {
            if cx.core.foresees {
                look_at_packets(&mut inbox, &self.places, cx.core, |_, _| SINK);
            }
            let Some((packet, at)) = inbox.take(limit) else { break };
            cx.count_at_sink(packet, at, header);
        }
        cx.close_inbox(inbox);
        cx.listen_when_many();
    }

    /// Bring whoever is run late up to the present.
    pub(crate) fn settle_sites(&mut self) {
        for site in 0..self.sites.len() {
            self.run_site(site);
            self.arm_site(site);
        }
    }

    /// Bring the counters of one element up to the present, after the sites.
    pub(crate) fn settle_one(&mut self, me: usize) {
        let now = self.core.agenda.now();
        self.places[me].element.settle(&mut Context::of(&mut self.core, me as u32, now));
        // Settling may tell of packets that arrive later.
        self.hand_on();
    }
}
