//! Borders: how a network is cut into regions, and how packets get from one into another.
//!
//! It is cut at the far end of links that know of a packet before the far end gets it. Whoever is
//! told of packets early is told of those that cross a border, too, as soon as the window ends.
//! Where nobody is, an [`Entrance`] stands for the link, under the link's number, so that what
//! happens at one instant happens in the same order as in a network of one region.

use forebay_kernel::Digest;
use forebay_units::{Span, Time};

use crate::context::{Core, Sink};
use crate::parcels::{Road, Way};
use crate::region::{Place, Region};
use crate::routes::{Lead, NO_FEED, SINK, Step};
use crate::site::Site;
use crate::{Context, Element, Packet};

/// Stands for a link of another region, where nobody is told of packets ahead of their time: hands
/// each on when the far end gets it.
struct Entrance {
    /// When the first timer comes; [`Time::NEVER`] for none.
    alarm: Time,
}

impl Element for Entrance {
    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("packets for a link are received in its own region");
    }

    fn told(&mut self, cx: &mut Context<'_>) {
        let first = cx.inbox().first().map_or(Time::NEVER, |(_, at)| at);
        cx.listen_before(first);
        if first < self.alarm {
            self.alarm = first;
            cx.wake_at(first, 0);
        }
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        let packet = cx.inbox().take(now).map(|(packet, _)| *packet);
        cx.cross(&packet.expect("the timer was set for a packet"));
        self.alarm = Time::NEVER;
        self.told(cx);
    }
}

/// Keeps the place of an element that other regions know by no border.
struct Elsewhere;

impl Element for Elsewhere {
    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("only links at borders lead into another region");
    }

    fn wake(&mut self, _token: u32, _cx: &mut Context<'_>) {
        unreachable!("an element sets its own timers only");
    }
}

/// How packets cross a border.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    /// The region that they leave.
    from: u32,
    to: u32,
    /// The inbox that is told of them there: that of the link's entrance if no other is.
    inbox: u32,
    feed: u32,
}

/// Where a network is cut: links, each with a region that it leads into.
pub(crate) struct Cut<'a> {
    /// The region of each element.
    pub(crate) region_of: &'a [u32],
    /// Link and region; sorted.
    pub(crate) borders: Vec<(u32, u32)>,
}

impl<'a> Cut<'a> {
    /// The borders between regions of `whole`.
    pub(crate) fn new(whole: &Region, region_of: &'a [u32]) -> Self {
        assert_eq!(region_of.len(), whole.places.len(), "each element lies in one region");
        let mut borders = Vec::new();
        for (link, home) in (0..).zip(region_of) {
            let elements = whole.core.routes.following(link).filter(|next| next & SINK == 0);
            let regions = elements.map(|next| region_of[next as usize]);
            borders.extend(regions.filter(|region| region != home).map(|region| (link, region)));
        }
        borders.sort_unstable();
        borders.dedup();
        Self { region_of, borders }
    }

    /// Whether `element` is a link at a border.
    pub(crate) fn is_border(&self, element: u32) -> bool {
        self.beyond(element).is_some()
    }

    /// Whether a border lies between `element` and `next`, which follows it.
    pub(crate) fn parts(&self, element: u32, next: u32) -> bool {
        self.region_of[element as usize] != self.region_of[next as usize]
    }

    /// The region of `element`.
    fn home(&self, element: u32) -> usize {
        self.region_of[element as usize] as usize
    }

    /// How packets of `whole`, whose elements know how they stand, cross borders; sorted.
    fn crossings(&self, whole: &Region) -> Vec<Crossing> {
        let mut crossings = Vec::new();
        for (link, _) in &self.borders {
            let steps = whole.core.routes.steps(*link);
            crossings.extend(steps.map(|step| self.crossing(*link, step)));
        }
        crossings.retain(|crossing| crossing.from != crossing.to);
        crossings.sort_unstable();
        crossings.dedup();
        crossings
    }

    /// How packets cross the border after `link` that take `step` there; from a region into itself
    /// if there is none.
    fn crossing(&self, link: u32, step: Step) -> Crossing {
        let from = self.region_of[link as usize];
        let beyond = || self.beyond(link).map_or(from, |(_, region)| *region);
        let to = if step.to & SINK == 0 { self.region_of[step.to as usize] } else { beyond() };
        let (inbox, feed) = if step.feed == NO_FEED { (link, 0) } else { (step.inbox, step.feed) };
        Crossing { from, to, inbox, feed }
    }

    /// Which regions lead into which others, and how: `door` is the inbox for the first crossing.
    fn roads(door: usize, crossings: &[Crossing]) -> Vec<Road> {
        let mut roads = Vec::<Road>::new();
        for (at, Crossing { from, to, inbox, feed }) in crossings.iter().enumerate() {
            let (from, to) = (*from as usize, *to as usize);
            if roads.last().is_none_or(|road| (road.from, road.to) != (from, to)) {
                roads.push(Road { from, to, ways: Vec::new() });
            }
            let way = Way { door: (door + at) as u32, inbox: *inbox, feed: *feed };
            roads.last_mut().expect("it was made above").ways.push(way);
        }
        roads
    }

    /// The least time from when a link at a border knows of a packet to when the far end gets it.
    pub(crate) fn ahead(&self, whole: &Region) -> Span {
        let spans =
            self.borders.iter().map(|(link, _)| whole.places[*link as usize].element.ahead());
        spans.min().unwrap_or(Span::MAX)
    }

    /// Cut `whole`, whose elements know how they stand, into `count` regions, joined by roads.
    pub(crate) fn divide(&self, whole: Region, count: usize) -> (Vec<Region>, Vec<Road>) {
        for (link, _) in &self.borders {
            let early = whole.core.standings[*link as usize].early;
            assert!(early, "element {link} must act here on what it sends into another region");
        }
        let (elements, door) = (whole.places.len(), whole.core.feeds.count());
        let crossings = self.crossings(&whole);
        let region = |number| self.region(&whole, number, &crossings);
        let mut regions: Vec<Region> = (0..count as u32).map(region).collect();
        for region in &mut regions {
            region.places.resize_with(elements, || Place::of(Box::new(Elsewhere)));
        }
        for (at, site) in whole.sites.iter().enumerate() {
            let members = site.members().iter();
            let mut links = members.flat_map(|me| whole.given_at_once(*me).chain([*me]));
            if let Some(border) = links.find(|link| self.is_border(*link)) {
                regions[self.home(border)].sites_at_borders.push(at);
            }
        }
        for (link, _) in &self.borders {
            let region = &mut regions[self.home(*link)];
            // One that leads into several regions is named for each.
            let new = region.borders.last() != Some(link);
            if new && region.core.standings[*link as usize].expects {
                region.borders.push(*link);
            }
        }
        for (at, site) in whole.sites.into_iter().enumerate() {
            // Hosts that send into one link lie in one region.
            if let Some(host) = site.host() {
                regions[self.home(host)].sites[at] = site;
            }
        }
        for (at, place) in whole.places.into_iter().enumerate() {
            regions[self.region_of[at] as usize].places[at] = place;
        }
        for (link, region) in &self.borders {
            let entrance = Box::new(Entrance { alarm: Time::NEVER });
            let region = &mut regions[*region as usize];
            region.places[*link as usize] = Place::of(entrance);
            region.core.feeds.lay(*link, *link);
        }
        (regions, Self::roads(door, &crossings))
    }

    /// Region `number` without its elements.
    fn region(&self, whole: &Region, number: u32, crossings: &[Crossing]) -> Region {
        let sites = whole.sites.iter().map(|_| Site::elsewhere()).collect();
        let whole = &whole.core;
        let fresh = |sink: &Sink| Sink { header: sink.header, digest: Digest::default() };
        let lead = |link, step| {
            let crossing = self.crossing(link, step);
            match crossings.binary_search(&crossing) {
                _ if crossing.to == number => Lead::Stays,
                Ok(at) if crossing.from == number => {
                    Lead::Leaves((whole.feeds.count() + at) as u32)
                }
                _ => Lead::Nowhere,
            }
        };
        let core = Core {
            routes: whole.routes.within(&lead),
            ledger: whole.ledger.clone(),
            sinks: whole.sinks.iter().map(fresh).collect(),
            standings: whole.standings.clone(),
            feeds: whole.feeds.fresh(crossings.len()),
            ..Core::default()
        };
        Region { core, sites, ..Region::default() }
    }

    /// The first border at `element`.
    fn beyond(&self, element: u32) -> Option<&(u32, u32)> {
        let at = self.borders.partition_point(|(link, _)| *link < element);
        self.borders.get(at).filter(|(link, _)| *link == element)
    }
}
