//! Borders: how a network is cut into regions, and how packets get from one into another.
//!
//! It is cut at the far end of links that know of a packet before the far end gets it. The routes
//! of such a link's region lead into the other region; there an [`Entrance`] stands for the link,
//! under the link's number, so that what happens at one instant happens in the same order as in a
//! network of one region.

use forebay_kernel::{Digest, Ring};
use forebay_units::{Span, Time};

use crate::context::{Core, Sink};
use crate::region::{Place, Region};
use crate::routes::{Lead, SINK};
use crate::site::Site;
use crate::standing::given_at_once;
use crate::{Context, Element, Packet, SackBlocks};

/// A packet on its way into another region.
struct Parcel {
    packet: Packet,
    at: Time,
    link: u32,
}

/// Packets on their way from one region into another, those of a link in the order of time.
#[derive(Default)]
pub(crate) struct Parcels {
    all: Vec<Parcel>,
    /// The SACK blocks of packets, which name them by place, counted from 1.
    blocks: Vec<SackBlocks>,
    /// When the first packet arrives.
    first: Option<Time>,
}

impl Parcels {
    /// The far end of `link` gets `packet` at `at`; it has `blocks` if its slot is not 0.
    pub(crate) fn push(&mut self, link: u32, packet: &Packet, at: Time, blocks: SackBlocks) {
        let mut packet = *packet;
        if packet.sack_slot != 0 {
            self.blocks.push(blocks);
            packet.sack_slot = u32::try_from(self.blocks.len()).expect("a window is short");
        }
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.all.push(Parcel { packet, at, link });
    }

    /// When the first packet arrives.
    pub(crate) fn first(&self) -> Option<Time> {
        self.first
    }

    /// All: link, packet and time.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, Packet, Time)> {
        self.all.iter().map(|parcel| (parcel.link, parcel.packet, parcel.at))
    }

    /// The SACK blocks of a packet of this lot.
    pub(crate) fn blocks_of(&self, packet: &Packet) -> Option<SackBlocks> {
        (packet.sack_slot != 0).then(|| self.blocks[packet.sack_slot as usize - 1])
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.blocks.clear();
        self.first = None;
    }
}

/// Stands for a link of another region: hands its packets on when the far end gets them.
#[derive(Default)]
struct Entrance {
    under_way: Ring<(Packet, Time)>,
}

impl Element for Entrance {
    fn receive(&mut self, _packet: &Packet, _cx: &mut Context<'_>) {
        unreachable!("packets for a link are received in its own region");
    }

    fn expect(&mut self, packet: &Packet, at: Time, cx: &mut Context<'_>) {
        if cx.next_expects(packet) {
            cx.announce(packet, at);
            return;
        }
        if self.under_way.is_empty() {
            cx.wake_at(at, 0);
        }
        self.under_way.push_back((*packet, at));
    }

    fn wake(&mut self, _token: u32, cx: &mut Context<'_>) {
        let (packet, _) = self.under_way.front().expect("the timer was set for a packet");
        cx.cross(packet);
        self.under_way.pop_front();
        if let Some((_, at)) = self.under_way.front() {
            cx.wake_at(*at, 0);
        }
    }

    fn held(&self) -> u64 {
        self.under_way.len() as u64
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

    /// Which regions lead into which others; each pair once.
    pub(crate) fn roads(&self) -> Vec<(usize, usize)> {
        let mut roads: Vec<(usize, usize)> = self
            .borders
            .iter()
            .map(|(link, region)| (self.home(*link), *region as usize))
            .collect();
        roads.sort_unstable();
        roads.dedup();
        roads
    }

    /// The least time from when a link at a border knows of a packet to when the far end gets it.
    pub(crate) fn ahead(&self, whole: &Region) -> Span {
        let spans =
            self.borders.iter().map(|(link, _)| whole.places[*link as usize].element.ahead());
        spans.min().unwrap_or(Span::MAX)
    }

    /// Cut `whole` into `count` regions.
    pub(crate) fn divide(&self, whole: Region, count: usize) -> Vec<Region> {
        for (link, _) in &self.borders {
            let early = whole.core.standings[*link as usize].early;
            assert!(early, "element {link} must act here on what it sends into another region");
        }
        let elements = whole.places.len();
        let mut regions: Vec<Region> =
            (0..count).map(|number| self.region(&whole, number, count)).collect();
        for region in &mut regions {
            region.places.resize_with(elements, || Place::of(Box::new(Elsewhere)));
        }
        for (at, site) in whole.sites.iter().enumerate() {
            let members = site.members().iter();
            let mut links = members.flat_map(|me| given_at_once(&whole, *me).chain([*me]));
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
            let entrance = Box::new(Entrance::default());
            regions[*region as usize].places[*link as usize] = Place::of(entrance);
        }
        regions
    }

    /// Region `number` without its elements.
    fn region(&self, whole: &Region, number: usize, count: usize) -> Region {
        let sites = whole.sites.iter().map(|_| Site::elsewhere()).collect();
        let whole = &whole.core;
        let fresh = |sink: &Sink| Sink { header: sink.header, digest: Digest::default() };
        let core = Core {
            routes: whole.routes.within(&|link, next| self.lead(number, link, next)),
            ledger: whole.ledger.clone(),
            sinks: whole.sinks.iter().map(fresh).collect(),
            standings: whole.standings.clone(),
            feeds: whole.feeds.fresh(),
            outbox: (0..count).map(|_| Parcels::default()).collect(),
            ..Core::default()
        };
        Region { core, sites, ..Region::default() }
    }

    /// The first border at `element`.
    fn beyond(&self, element: u32) -> Option<&(u32, u32)> {
        let at = self.borders.partition_point(|(link, _)| *link < element);
        self.borders.get(at).filter(|(link, _)| *link == element)
    }

    /// Where `link` leads to `next` as region `number` sees it. Sinks after a border lie beyond it.
    fn lead(&self, number: usize, link: u32, next: u32) -> Lead {
        let home = self.region_of[link as usize];
        let beyond = || self.beyond(link).map_or(home, |(_, region)| *region);
        let there = if next & SINK == 0 { self.region_of[next as usize] } else { beyond() };
        match there {
            _ if there as usize == number => Lead::Stays,
            _ if home as usize == number => Lead::Leaves(there),
            _ => Lead::Nowhere,
        }
    }
}
