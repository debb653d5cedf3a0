//! How elements stand to their neighbours: who is told of packets ahead of time, and who is run
//! late.

use std::collections::BTreeSet;

use forebay_units::{Rate, Size, Span};

use crate::Standing;
use crate::border::Cut;
use crate::feeds::Feeds;
use crate::merge::MOST_FEEDS;
use crate::region::Region;
use crate::routes::SINK;
use crate::site::{NO_SITE, Site};

/// How late hosts are run at the most where only sinks would notice, or nobody at all: nobody does,
/// but a run that is to be interrupted must come to an end.
const UNNOTICED: Span = Span::from_ms(10);

/// A link that leads to sinks and to others, with less than that on its way, does not tell early of
/// what leaves it: what is done in one go would be so little that events cost less. In
/// `p2-64-routers` both cost the same where 2.5 packets come in the time that a packet is on its
/// way: that is an eighth of this in packets of 1000 B.
const WORTH_TELLING: Size = Size::from_bytes(20_000);

/// Find out how the elements of `whole` stand to each other, some of which `cut` may put into other
/// regions, and lay the feeds and sites that follow from it. With `watched` nobody is told early or
/// run late.
pub(crate) fn stand(whole: &mut Region, cut: &Cut<'_>, watched: bool) {
    if watched {
        whole.core.standings = vec![Standing::default(); whole.places.len()];
        return;
    }
    let mut search = Search::new(whole, cut);
    while search.strike() {}
    let slacks: Vec<Span> = search.sites.iter().map(|members| search.slack(members)).collect();
    let (standings, inboxes) = (search.standings(&slacks), search.inboxes());
    let sites = search.sites.iter().zip(&slacks);
    let sites: Vec<Site> =
        sites.map(|(members, slack)| Site::new(members.clone(), *slack)).collect();
    let (site_of, elements) = (search.site_of, whole.places.len() as u32);
    for (me, _) in (0..).zip(&standings).filter(|(_, standing)| standing.early) {
        whole.core.routes.lay_feeds(me, &|next| {
            let inbox = match site_of.get(next as usize) {
                Some(&NO_SITE) => next,
                Some(site) => sites[*site as usize].host()?,
                None => elements + (next & !SINK),
            };
            let feed = inboxes[inbox as usize].0.iter().position(|feeder| *feeder == me)?;
            Some((inbox, feed as u32))
        });
    }
    for (at, member) in
        (0..).zip(&sites).flat_map(|(at, site)| site.members().iter().map(move |m| (at, *m)))
    {
        for route in whole.begins(member) {
            let first = whole.core.routes.first(route).to;
            if first & SINK == 0 && site_of[first as usize] != at {
                whole.core.routes.lay_first_feed(route);
            }
        }
    }
    let feeds = Feeds::new(&inboxes);
    for (place, site) in whole.places.iter_mut().zip(site_of) {
        place.site = site;
    }
    (whole.core.standings, whole.core.feeds, whole.sites) = (standings, feeds, sites);
}

/// What is known of the elements of a network while their standing is found out. Everybody who
/// could be is taken to be early, told or late, and those are struck out of whom that cannot be
/// true, until nothing changes.
struct Search<'a> {
    whole: &'a Region,
    cut: &'a Cut<'a>,
    /// Links that lead to each element, in order.
    feeders: Vec<Vec<u32>>,
    /// By sink: the element that leads to it, if it is one: a link can tell it.
    before: Vec<Option<u32>>,
    /// Whether routes begin at it that nobody who can be run late names as his own.
    open: Vec<bool>,
    /// Whether routes begin at it that somebody who can be names as his own.
    entered: Vec<bool>,
    /// Whether it books what leaves, and sinks alone follow.
    quiet: Vec<bool>,
    early: Vec<bool>,
    expects: Vec<bool>,
    /// By element: the site that it would be in, [`NO_SITE`] for none.
    site_of: Vec<u32>,
    /// Members of each site; none if it is not run late.
    sites: Vec<Vec<u32>>,
}

impl<'a> Search<'a> {
    fn new(whole: &'a Region, cut: &'a Cut<'a>) -> Self {
        let routes = &whole.core.routes;
        let elements = whole.places.len();
        let mut feeders = vec![Vec::new(); elements];
        let mut before_sinks = vec![BTreeSet::new(); whole.core.sinks.len()];
        for me in 0..elements as u32 {
            for sink in routes.following(me).filter(|next| next & SINK != 0) {
                before_sinks[(sink & !SINK) as usize].insert(me);
            }
            for next in routes.following(me).filter(|next| next & SINK == 0) {
                let feeders: &mut Vec<u32> = &mut feeders[next as usize];
                if feeders.last() != Some(&me) {
                    feeders.push(me);
                }
            }
        }
        let mut named = vec![false; routes.firsts().count()];
        let joins = joins(whole, cut, &feeders);
        for (me, _) in (0..).zip(&joins).filter(|(_, joins)| **joins) {
            whole.begins(me).for_each(|route| named[route as usize] = true);
        }
        let (mut open, mut entered) = (vec![false; elements], vec![false; elements]);
        let firsts = routes.firsts().zip(named);
        for (first, named) in firsts.filter(|(first, _)| first & SINK == 0) {
            let begins = if named { &mut entered } else { &mut open };
            begins[first as usize] = true;
        }
        let books = |me: &u32| whole.places[*me as usize].element.books();
        let leads = |me: u32| routes.following(me).next().is_some();
        let sinks = |me: u32| routes.following(me).all(|next| next & SINK != 0);
        let all = 0..elements as u32;
        let early = all.clone().map(|me| books(&me) && leads(me)).collect();
        let quiet = all.map(|me| books(&me) && leads(me) && sinks(me)).collect();
        let able = whole.places.iter().map(|place| place.element.expects());
        let expects = able.zip(&joins).map(|(able, joins)| able && !joins).collect();
        let (site_of, sites) = sites(whole, &joins);
        let only = |mut all: BTreeSet<u32>| all.pop_first().filter(|_| all.is_empty());
        let before = before_sinks.into_iter().map(only).collect();
        Self { whole, cut, feeders, before, open, entered, quiet, early, expects, site_of, sites }
    }

    /// Strike out whoever cannot stand as was thought; false if there was nobody.
    fn strike(&mut self) -> bool {
        let mut struck = false;
        for me in 0..self.whole.places.len() as u32 {
            let at = me as usize;
            if self.early[at] && !self.can_be_early(me) {
                (self.early[at], struck) = (false, true);
            }
            if self.expects[at] && !self.can_expect(me) {
                (self.expects[at], struck) = (false, true);
            }
        }
        for site in 0..self.sites.len() {
            let members = &self.sites[site];
            if !members.is_empty() && !self.can_be_late(members) {
                for member in std::mem::take(&mut self.sites[site]) {
                    self.site_of[member as usize] = NO_SITE;
                }
                struck = true;
            }
        }
        struck
    }

    fn can_be_early(&self, me: u32) -> bool {
        let told = |next: u32| match next & SINK {
            0 => {
                let (expects, site) = (self.expects[next as usize], self.site_of[next as usize]);
                expects || site != NO_SITE || self.cut.parts(me, next)
            }
            _ => self.tells(me, next) || self.cut.is_border(me),
        };
        self.whole.core.routes.following(me).all(told)
    }

    /// Whether `me` is to tell `sink` of packets: nobody else leads to it, there are others whom
    /// `me` tells, and there is much to tell.
    fn tells(&self, me: u32, sink: u32) -> bool {
        let alone = self.before[(sink & !SINK) as usize] == Some(me);
        alone && !self.quiet[me as usize] && self.on_the_way(me) >= WORTH_TELLING
    }

    /// The most that can be on its way to the far end of `link`.
    fn on_the_way(&self, link: u32) -> Size {
        let element = &self.whole.places[link as usize].element;
        let bytes = |rate: Rate| rate.bytes_per_second() * element.ahead().seconds();
        Size::from_bytes(element.rate().map_or(u64::MAX, |rate| bytes(rate) as u64))
    }

    /// Only links that tell early lead to it.
    fn can_expect(&self, me: u32) -> bool {
        let feeders = &self.feeders[me as usize];
        let alone = !self.open[me as usize] && !self.entered[me as usize];
        let few = (1..=MOST_FEEDS).contains(&feeders.len());
        alone && few && self.all_early(feeders)
    }

    /// Only links that tell early lead to `members`, none of them a member or fed by one at once.
    /// What leaves these takes time: members that are links tell early of it themselves, and what
    /// others send into takes packets from them alone, and is patient.
    fn can_be_late(&self, members: &[u32]) -> bool {
        let feeders = self.feeders_of(members);
        let firsts = self.firsts(members);
        let able = |first: &u32| {
            let alone = !self.open[*first as usize] && self.feeders[*first as usize].is_empty();
            let able = self.whole.places[*first as usize].element.expects();
            alone && able && self.patience(*first) > Span::ZERO
        };
        let away = |feeder: &u32| {
            firsts.binary_search(feeder).is_err() && members.binary_search(feeder).is_err()
        };
        let fit = |member: &u32| !self.open[*member as usize] && self.takes_time(*member);
        let told = feeders.len() <= MOST_FEEDS && self.all_early(&feeders);
        told && feeders.iter().all(away) && firsts.iter().all(able) && members.iter().all(fit)
    }

    /// Whether `member`, if it is a link, tells early of what leaves it, or need not tell.
    fn takes_time(&self, member: u32) -> bool {
        let told = self.early[member as usize] || self.quiet[member as usize];
        !self.books(member) || told && self.patience(member) > Span::ZERO
    }

    fn books(&self, me: u32) -> bool {
        self.whole.places[me as usize].element.books()
    }

    /// Who leads to `members`, in order, but for members that hand packets on at once.
    fn feeders_of(&self, members: &[u32]) -> Vec<u32> {
        let feeders = members.iter().flat_map(|member| &self.feeders[*member as usize]);
        let within = |me: &u32| !self.books(*me) && members.binary_search(me).is_ok();
        in_order(feeders.copied().filter(|feeder| !within(feeder)).collect())
    }

    /// What members send into that are none themselves, in order.
    fn firsts(&self, members: &[u32]) -> Vec<u32> {
        let given = members.iter().flat_map(|member| self.whole.given_at_once(*member));
        in_order(given.filter(|first| members.binary_search(first).is_err()).collect())
    }

    fn all_early(&self, feeders: &[u32]) -> bool {
        feeders.iter().all(|feeder| self.early[*feeder as usize])
    }

    /// How late `link` may be handed packets before anybody notices.
    fn patience(&self, link: u32) -> Span {
        let ahead = self.whole.places[link as usize].element.ahead();
        if self.quiet[link as usize] { ahead.max(UNNOTICED) } else { ahead }
    }

    /// How late a site of these members may be run.
    fn slack(&self, members: &[u32]) -> Span {
        let links = members.iter().copied().filter(|member| self.books(*member));
        let links = links.chain(self.firsts(members));
        links.map(|link| self.patience(link)).min().unwrap_or(UNNOTICED)
    }

    /// `slacks` are those of the sites.
    fn standings(&self, slacks: &[Span]) -> Vec<Standing> {
        let entered = self.entered_late(slacks);
        let standing = |me: u32| {
            let (early, quiet) = (self.early[me as usize], self.quiet[me as usize]);
            let slack_of = |me: u32| match self.site_of[me as usize] {
                NO_SITE => Span::ZERO,
                site => slacks[site as usize],
            };
            let following = self.whole.core.routes.following(me).filter(|next| next & SINK == 0);
            let slack = if early { following.map(slack_of).min() } else { None };
            let entered = entered[me as usize];
            Standing {
                expects: self.expects[me as usize] || entered.is_some(),
                early,
                quiet,
                lazy: (quiet || early) && !self.cut.is_border(me),
                slack: slack.unwrap_or(Span::ZERO),
                late: entered.unwrap_or_else(|| slack_of(me)),
            }
        };
        (0..self.whole.places.len() as u32).map(standing).collect()
    }

    /// How late the site is that sends into each element, if one does.
    fn entered_late(&self, slacks: &[Span]) -> Vec<Option<Span>> {
        let mut late = vec![None; self.whole.places.len()];
        for (members, slack) in self.sites.iter().zip(slacks) {
            for first in self.firsts(members) {
                late[first as usize] = Some(*slack);
            }
        }
        late
    }

    /// Who feeds each element, each site where its first member is, and then each sink; and whether
    /// these are links.
    fn inboxes(&self) -> Vec<(Vec<u32>, bool)> {
        let told = self.feeders.iter().zip(&self.expects);
        let inbox = |(feeders, expects): (&Vec<u32>, &bool)| match expects {
            true => (feeders.clone(), true),
            false => (Vec::new(), true),
        };
        let mut inboxes: Vec<(Vec<u32>, bool)> = told.map(inbox).collect();
        for members in self.sites.iter().filter(|members| !members.is_empty()) {
            inboxes[members[0] as usize] = (self.feeders_of(members), true);
            for first in self.firsts(members) {
                inboxes[first as usize] = (vec![members[0]], false);
            }
        }
        inboxes.extend((0..).zip(&self.before).map(|(sink, before)| {
            let teller = before.filter(|me| self.early[*me as usize] && self.tells(*me, sink));
            (teller.into_iter().collect(), true)
        }));
        inboxes
    }
}

/// `numbers` in order, each once.
fn in_order(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Who would be run late itself, together with whoever it hands packets to at once. A link that
/// could as well expect its packets is only where it must: where they come from links and from
/// others too, and at a border, where nothing may be left for later.
fn joins(whole: &Region, cut: &Cut<'_>, feeders: &[Vec<u32>]) -> Vec<bool> {
    let element = |me: u32| &whole.places[me as usize].element;
    let all = 0..feeders.len() as u32;
    let mut entered = vec![false; feeders.len()];
    for first in all.clone().filter(|me| element(*me).can_lag()).flat_map(|me| whole.begins(me)) {
        let first = whole.core.routes.first(first).to;
        if first & SINK == 0 {
            entered[first as usize] = true;
        }
    }
    let at_once = |feeder: &u32| element(*feeder).can_lag() && !element(*feeder).books();
    let must = |me: u32| {
        let feeders = &feeders[me as usize];
        let mixed = entered[me as usize] && !feeders.is_empty();
        cut.is_border(me) || mixed || feeders.iter().any(at_once)
    };
    all.map(|me| element(me).can_lag() && (!element(me).expects() || must(me))).collect()
}

/// The sites that elements might form: those that are run late, together with whoever they hand
/// packets to at once, or with others that send into the same elements. The site of each, and its
/// members in order.
fn sites(whole: &Region, joins: &[bool]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let elements = whole.places.len() as u32;
    // Who was the first to send into each, and in whose site each is.
    let mut entrant = vec![NO_SITE; elements as usize];
    let mut head: Vec<u32> = (0..elements).collect();
    let root = |head: &[u32], mut me: u32| {
        while head[me as usize] != me {
            me = head[me as usize];
        }
        me
    };
    for me in (0..elements).filter(|me| joins[*me as usize]) {
        for next in whole.given_at_once(me) {
            let entrant = &mut entrant[next as usize];
            if *entrant == NO_SITE {
                *entrant = if joins[next as usize] { next } else { me };
            }
            let (one, other) = (root(&head, *entrant), root(&head, me));
            head[one.max(other) as usize] = one.min(other);
        }
    }
    let (mut site_of, mut sites) = (vec![NO_SITE; elements as usize], Vec::<Vec<u32>>::new());
    for me in (0..elements).filter(|me| joins[*me as usize]) {
        let root = root(&head, me) as usize;
        // The root is the least of them, so it comes first.
        if root == me as usize {
            site_of[root] = sites.len() as u32;
            sites.push(Vec::new());
        }
        let site = site_of[root];
        site_of[me as usize] = site;
        sites[site as usize].push(me);
    }
    (site_of, sites)
}
