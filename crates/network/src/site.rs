//! Sites: hosts that are run late.
//!
//! What hosts send enters the network by links that keep each packet for their propagation delay at
//! least. So nobody can tell whether hosts that alone send into such links act in time or, with the
//! times at which they should have acted, up to that delay later. A site is a set of such hosts. It
//! has a list of timers of its own, is told ahead of time of all that arrives, and does in one go
//! what a whole span brings, as far as all of that is known, be it ahead of the present, in the
//! order in which single events would have: by time, then by the element of the event, the link
//! that brings a packet or the host that set a timer.

use forebay_kernel::Agenda;
use forebay_units::{Span, Time};

use crate::context::{Core, Own};
use crate::foresight::{look_at_packets, look_at_timers};
use crate::region::{Place, Region};
use crate::{Context, Inbox};

/// The site of an element that is in none.
pub(crate) const NO_SITE: u32 = u32::MAX;

/// Hosts that are run together, and late.
pub(crate) struct Site {
    /// It is told of packets where the first of them would be.
    members: Vec<u32>,
    /// How late it may be run.
    slack: Span,
    /// The timers of its members; `None` while they are in hand.
    pub(crate) timers: Option<Box<Agenda>>,
    /// When the pending event in the network's agenda comes.
    alarm: Time,
}

impl Site {
    /// A site of `members`, who may act up to `slack` late.
    pub(crate) fn new(members: Vec<u32>, slack: Span) -> Self {
        Self { members, slack, timers: Some(Box::default()), alarm: Time::NEVER }
    }

    /// A site that lies in another region, or none.
    pub(crate) fn elsewhere() -> Self {
        Self::new(Vec::new(), Span::ZERO)
    }

    /// Its members, in order.
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// The member under whose number the site's events stand.
    pub(crate) fn host(&self) -> Option<u32> {
        self.members.first().copied()
    }
}

impl Region {
    /// The event of a site has come.
    pub(crate) fn wake_site(&mut self, site: usize) {
        // It is none of the model.
        self.core.unlisted -= 1;
        if self.sites[site].alarm == self.core.agenda.now() {
            self.sites[site].alarm = Time::NEVER;
            self.run_site(site);
            self.arm_site(site);
        }
    }

    /// Do at a site all that is due and known.
    pub(crate) fn run_site(&mut self, site: usize) {
        let Some(host) = self.sites[site].host() else { return };
        let Some(mut timers) = self.sites[site].timers.take() else { return };
        let now = self.core.agenda.now();
        // Links that lead here are in no hurry.
        for feed in 0..self.core.feeds.of(host).count() {
            let feeder = self.core.feeds.of(host).feeder(feed);
            let cx = &mut Context::of(&mut self.core, feeder, now);
            self.places[feeder as usize].element.told(cx);
        }
        let limit = self.known_at(site, host);
        let mut inbox = std::mem::take(self.core.feeds.of(host));
        let past = (limit + Span::from_ps(1), 0);
        // Most sites have one member, and no packet needs to be asked where it goes.
        let alone = self.sites[site].members.len() == 1;
        let foresees = self.core.foresees;
        let plain = alone && !foresees && inbox.is_single();
        loop {
            let (feed, at) = inbox.next();
            let arrives = at <= limit;
            if plain && arrives && at < timers.idle_until() {
                self.receive_some((host, limit), &mut inbox, &mut timers);
                self.hand_round(&mut timers);
                continue;
            }
            if foresees {
                let core = &self.core;
                look_at_packets(&mut inbox, &self.places, core, |feeder, route| {
                    core.routes.after(feeder, route).to
                });
            }
            // Mostly no timer comes before the next packet.
            if timers.idle_until() <= at.min(limit) {
                let before = if arrives { (at, inbox.feeder(feed)) } else { past };
                self.wake_members(&mut timers, before);
            }
            if !arrives {
                break;
            }
            let feeder = inbox.feeder(feed);
            let packet = inbox.take_from(feed);
            let me = if alone { host } else { self.core.routes.after(feeder, packet.route).to };
            let place = &mut self.places[me as usize];
            packet.received(at, &mut place.digest);
            // Whoever receives goes on to nothing else.
            let own = Some(Own { timers: &mut timers, before: Time::ZERO });
            let core = &mut self.core;
            place.element.receive(packet, &mut Context { core, me, now: at, own });
            self.hand_round(&mut timers);
        }
        self.sites[site].timers = Some(timers);
        Context::of(&mut self.core, host, now).close_inbox(inbox);
        // The links that they have sent into.
        self.ring();
    }

    /// Let `host`, alone at its site and reached by one link, receive packets of `inbox` that come
    /// by `limit`, as long as none of its `timers` comes before and nobody else has to act.
    #[inline(always)]
    fn receive_some(&mut self, (host, limit): (u32, Time), inbox: &mut Inbox, timers: &mut Agenda) {
        let Place { element, digest, .. } = &mut self.places[host as usize];
        // Whoever receives goes on to nothing else.
        let own = Some(Own { timers, before: Time::ZERO });
        let mut cx = Context { core: &mut self.core, me: host, now: Time::ZERO, own };
        let end = (limit + Span::from_ps(1)).min(cx.undisturbed_until());
        let mut received = *digest;
        inbox.take_alone(end, &mut received, |packet, at| {
            cx.now = at;
            element.receive(packet, &mut cx);
            cx.undisturbed_until().min(end)
        });
        *digest = received;
    }

    /// Wake members of a site whose `timers` come before time and element `before`.
    #[inline(always)]
    fn wake_members(&mut self, timers: &mut Agenda, before: (Time, u32)) {
        loop {
            if self.core.foresees {
                look_at_timers(timers, &self.places, &self.core);
            }
            let Some(event) = timers.take_before(before) else { break };
            self.core.unlisted += 1;
            let own = Some(Own { timers, before: before.0 });
            let (core, me) = (&mut self.core, event.target);
            let cx = &mut Context { core, me, now: event.time, own };
            self.places[event.target as usize].element.wake(event.token, cx);
            self.hand_round(timers);
        }
    }

    /// Up to when all that arrives at a site is known. Hosts that nothing reaches could go on for
    /// ever: they act as much ahead as they may be late.
    fn known_at(&self, site: usize, host: u32) -> Time {
        if self.core.feeds.inbox(host).count() > 0 {
            return self.core.known_until(host);
        }
        let Core { horizon, look, .. } = self.core;
        horizon.max((horizon + self.sites[site].slack).min(look))
    }

    /// Let those who are in no hurry meet what they hold if that is much, so that it is still in
    /// the caches. Nobody else is told before the site has done all that is due: others that it
    /// sends into take all that has arrived by then.
    #[cold]
    #[inline(never)]
    fn relieve(&mut self) {
        let mut bell = 0;
        while let Some(receiver) = self.core.feeds.bells.get(bell).copied() {
            if self.core.feeds.of(receiver).is_patient() {
                self.core.feeds.bells.remove(bell);
                self.tell_news(receiver);
            } else {
                bell += 1;
            }
        }
        self.core.feeds.brimming = false;
    }

    /// Deliver everything that members have handed on at once, which goes to members.
    #[inline(always)]
    fn hand_round(&mut self, timers: &mut Agenda) {
        if self.core.feeds.brimming {
            self.relieve();
        }
        self.deliver(Some(timers));
    }

    /// When something happens next at a site.
    pub(crate) fn soonest_at(&mut self, site: usize) -> Time {
        let site = &mut self.sites[site];
        let Some(host) = site.host() else { return Time::NEVER };
        let timer = site.timers.as_mut().and_then(|timers| timers.soonest());
        let (_, arrival) = self.core.feeds.of(host).next();
        timer.map_or(arrival, |timer| timer.min(arrival))
    }

    /// Set the event of a site for when it must act on the first of what lies before it.
    pub(crate) fn arm_site(&mut self, site: usize) {
        let first = self.soonest_at(site);
        let site = &mut self.sites[site];
        let Some(host) = site.host() else { return };
        self.core.feeds.ring_before(host, first);
        let due = first + site.slack;
        if due < site.alarm {
            site.alarm = due;
            self.core.agenda.insert(due, host, 0);
        }
    }

    /// Tell those of what is new whom it concerns.
    #[inline(always)]
    pub(crate) fn ring(&mut self) {
        while let Some(receiver) = self.core.feeds.bells.pop() {
            self.tell_news(receiver);
        }
    }

    /// There is news for `receiver`: an element, a site or a sink.
    #[inline(always)]
    fn tell_news(&mut self, receiver: u32) {
        match self.places.get_mut(receiver as usize) {
            Some(Place { element, site: NO_SITE, .. }) => {
                let now = self.core.agenda.now();
                element.told(&mut Context::of(&mut self.core, receiver, now));
            }
            Some(Place { site, .. }) => {
                let site = *site as usize;
                self.arm_site(site);
            }
            None => self.count_at_sink(receiver),
        }
    }
}
