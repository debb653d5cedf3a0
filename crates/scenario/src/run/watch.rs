//! Views of a run that is watched, besides its samples: packets on their way, drops one by one, and
//! effects of an event.
//!
//! Packets are chosen by a hash of what tells them apart, so that one that is followed is followed
//! over all its links, and a choice that must become sparser is a part of the one before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forebay_network::record::RecordTable;
use forebay_network::{DropReason, Ecn, LinkId, Observation, Observer, Packet};
use forebay_units::{Span, Time};
use serde_json::{Value as Json, json};

use crate::plan::Plan;

/// Most crossings, and most drops, that are kept between two looks.
const MAX_KEPT: usize = 240;
/// Most facts of an event that are told.
const MAX_FACTS: usize = 40;

/// Visible properties of one packet.
#[derive(Clone, Copy)]
struct Look {
    group: u32,
    class: u8,
    precedence: u8,
    marked: bool,
    feedback: bool,
}

/// A packet's way over one link.
struct Crossing {
    link: usize,
    from: Time,
    to: Time,
    look: Look,
    hash: u64,
}

struct Lost {
    link: usize,
    at: Time,
    reason: DropReason,
    look: Look,
    hash: u64,
}

/// Observer of the packets of a run.
pub(crate) struct Watch {
    /// A packet is followed if the hash has none of these bits.
    mask: u64,
    /// Place of each packet that is followed, with the time since when it is there.
    under_way: BTreeMap<u64, (usize, Time)>,
    crossings: Vec<Crossing>,
    lost: Vec<Lost>,
    /// True if facts are told; the facts since they were taken last.
    telling: bool,
    facts: Vec<Json>,
    /// The group of each flow; the rate and the delay of each link.
    groups: Vec<u32>,
    links: Vec<(f64, Span)>,
    names: Vec<String>,
    flows: Vec<String>,
}

/// The observer of a run, and what looks at it.
#[derive(Clone)]
pub(crate) struct Watcher(Arc<Mutex<Watch>>);

impl Watcher {
    pub(crate) fn of(plan: &Plan<'_>) -> Self {
        let flows = plan.flows.iter().zip(0..);
        let groups = flows.flat_map(|(flow, at)| std::iter::repeat_n(at, flow.count as usize));
        let link = |link: &crate::plan::links::LinkPlan| (link.rate.bps() as f64, link.delay);
        Self(Arc::new(Mutex::new(Watch {
            mask: 0,
            under_way: BTreeMap::new(),
            crossings: Vec::new(),
            lost: Vec::new(),
            telling: false,
            facts: Vec::new(),
            groups: groups.collect(),
            links: plan.links.iter().map(link).collect(),
            names: plan.links.iter().map(|link| link.name.clone()).collect(),
            flows: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Watch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watcher {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        self.lock().see(now, fact);
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}

impl Watch {
    fn see(&mut self, now: Time, fact: &Observation<'_>) {
        if self.telling && self.facts.len() < MAX_FACTS {
            self.facts.extend(self.told(now, fact));
        }
        match *fact {
            Observation::Coloured { link, packet } | Observation::Enqueued { link, packet, .. } => {
                self.at(now, packet, link);
            }
            Observation::Delivered { packet, .. } => self.away(now, packet),
            Observation::Dropped { link, packet, reason } => self.drop(now, packet, (link, reason)),
            _ => {}
        }
    }

    /// A packet is at the near end of a link, so that it has crossed the one before.
    fn at(&mut self, now: Time, packet: &Packet, link: LinkId) {
        let hash = hash(packet);
        if hash & self.mask != 0 {
            return;
        }
        match self.under_way.insert(hash, (link.index(), now)) {
            // What conditioned it has passed it.
            Some((before, since)) if before == link.index() => {
                self.under_way.insert(hash, (before, since));
            }
            Some(before) => self.cross(now, packet, before, hash),
            None => {}
        }
    }

    fn away(&mut self, now: Time, packet: &Packet) {
        let hash = hash(packet);
        if hash & self.mask == 0
            && let Some(before) = self.under_way.remove(&hash)
        {
            self.cross(now, packet, before, hash);
        }
    }

    fn drop(&mut self, at: Time, packet: &Packet, (link, reason): (LinkId, DropReason)) {
        let (hash, link) = (hash(packet), link.index());
        if hash & self.mask != 0 {
            return;
        }
        if let Some(before) = self.under_way.remove(&hash)
            && before.0 != link
        {
            self.cross(at, packet, before, hash);
        }
        self.lost.push(Lost { link, at, reason, look: self.look(packet), hash });
        self.thin();
    }

    fn cross(&mut self, to: Time, packet: &Packet, (link, entered): (usize, Time), hash: u64) {
        let (rate, delay) = self.links[link];
        let sending = Span::from_ps((f64::from(packet.size) * 8e12 / rate.max(1.0)) as u64);
        let way = sending.ps().saturating_add(delay.ps());
        let from = Time::from_ps(to.ps().saturating_sub(way)).max(entered);
        self.crossings.push(Crossing { link, from, to, look: self.look(packet), hash });
        self.thin();
    }

    /// Follow half of the packets where there are too many.
    fn thin(&mut self) {
        while self.crossings.len() > MAX_KEPT || self.lost.len() > MAX_KEPT {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.crossings.retain(|crossing| crossing.hash & mask == 0);
            self.lost.retain(|lost| lost.hash & mask == 0);
            self.under_way.retain(|hash, _| hash & mask == 0);
        }
    }

    fn look(&self, packet: &Packet) -> Look {
        Look {
            group: self.groups.get(packet.flow.index()).copied().unwrap_or(0),
            class: packet.dscp(),
            precedence: packet.precedence,
            marked: packet.ecn() == Ecn::Ce,
            feedback: packet.is_feedback(),
        }
    }

    /// Takes the crossings of links and the drops since the last call, by columns.
    pub(crate) fn take(&mut self) -> Json {
        let (crossings, lost) =
            (std::mem::take(&mut self.crossings), std::mem::take(&mut self.lost));
        let one_in = self.mask + 1;
        if crossings.len().max(lost.len()) < MAX_KEPT / 4 {
            // Packets that were passed over are under way unseen, and appear at their next link.
            self.mask >>= 1;
        }
        let column = |of: &dyn Fn(&Crossing) -> Json| crossings.iter().map(of).collect::<Json>();
        let drops = |of: &dyn Fn(&Lost) -> Json| lost.iter().map(of).collect::<Json>();
        json!({
            "one_in": one_in,
            "crossings": {
                "link": column(&|row| json!(row.link)),
                "from_s": column(&|row| json!(row.from.seconds())),
                "to_s": column(&|row| json!(row.to.seconds())),
                "group": column(&|row| json!(row.look.group)),
                "class": column(&|row| json!(row.look.class)),
                "precedence": column(&|row| json!(row.look.precedence)),
                "marked": column(&|row| json!(row.look.marked)),
                "feedback": column(&|row| json!(row.look.feedback)),
            },
            "drops": {
                "link": drops(&|row| json!(row.link)),
                "time_s": drops(&|row| json!(row.at.seconds())),
                "reason": drops(&|row| json!(row.reason.name())),
                "group": drops(&|row| json!(row.look.group)),
                "precedence": drops(&|row| json!(row.look.precedence)),
            },
        })
    }

    /// Tell facts from here on.
    pub(crate) fn listen(&mut self) {
        self.telling = true;
    }

    pub(crate) fn has_heard(&self) -> bool {
        !self.facts.is_empty()
    }

    /// The facts since [`Watch::listen`], which ends.
    pub(crate) fn heard(&mut self) -> Vec<Json> {
        self.telling = false;
        std::mem::take(&mut self.facts)
    }

    fn told(&self, now: Time, fact: &Observation<'_>) -> Option<Json> {
        let of = |what: &str, link: Option<LinkId>, packet: &Packet| {
            let look = self.look(packet);
            json!({
                "time_s": now.seconds(),
                "what": what,
                "link": link.map(|link| self.names[link.index()].as_str()),
                "flow": self.flows.get(look.group as usize),
                "number": packet.number,
                "size_bytes": packet.size,
                "precedence": look.precedence,
                "marked": look.marked,
                "feedback": look.feedback,
            })
        };
        let with = |mut told: Json, key: &str, value: Json| {
            told[key] = value;
            told
        };
        Some(match *fact {
            Observation::Sent { packet } => of("sent", None, packet),
            Observation::Coloured { link, packet } => of("coloured", Some(link), packet),
            Observation::Marked { link, packet } => of("marked", Some(link), packet),
            Observation::Duplicated { link, packet } => of("duplicated", Some(link), packet),
            Observation::Enqueued { link, packet, backlog } => {
                with(of("queued", Some(link), packet), "backlog_packets", json!(backlog.packets))
            }
            Observation::Dropped { link, packet, reason } => {
                with(of("dropped", Some(link), packet), "reason", json!(reason.name()))
            }
            Observation::Delivered { packet, delay } => {
                with(of("delivered", None, packet), "delay_s", json!(delay.seconds()))
            }
            _ => return None,
        })
    }
}

/// Identity of a packet among others: its flow, its number, and the time at which it was sent.
fn hash(packet: &Packet) -> u64 {
    let of_flow = (packet.flow.index() as u64) << 33 | u64::from(packet.is_feedback());
    let key = packet.created.ps() ^ packet.number.rotate_left(24) ^ of_flow;
    let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 7
}

#[cfg(test)]
mod tests {
    use super::*;

    use forebay_network::{Backlog, FlowId, RouteId};

    /// Links of the chain, and microseconds from one packet to the next and from link to link.
    const HOPS: u64 = 3;
    const GAP: u64 = 100;
    const HOP: u64 = 1100;

    /// Packets `from` to `to` pass a chain of links of 1 Gbit/s and 1 ms: each fact in its order.
    fn pass(watch: &mut Watch, from: u64, to: u64) {
        let mut facts: Vec<(u64, u64, u64)> = (from..to)
            .flat_map(|number| (0..=HOPS).map(move |hop| (number * GAP + hop * HOP, hop, number)))
            .collect();
        facts.sort_unstable();
        for (us, hop, number) in facts {
            let now = Time::ZERO + Span::from_us(us);
            let sent = Time::ZERO + Span::from_us(number * GAP);
            let packet = Packet::data(sent, FlowId::new(0), number, 1000, RouteId::new(0));
            let backlog = Backlog { packets: 0, bytes: 0 };
            let link = LinkId::new(hop as usize);
            let fact = match hop {
                HOPS => Observation::Delivered { packet: &packet, delay: now.since(sent) },
                _ => Observation::Enqueued { link, packet: &packet, backlog },
            };
            watch.see(now, &fact);
        }
    }

    /// The links of each packet that is kept, in the order of its crossings.
    fn paths(watch: &Watch) -> BTreeMap<u64, Vec<usize>> {
        let mut paths: BTreeMap<u64, (Vec<usize>, Time)> = BTreeMap::new();
        for crossing in &watch.crossings {
            let (path, reached) = paths.entry(crossing.hash).or_default();
            assert!(crossing.from >= *reached, "it sets out before it has arrived");
            path.push(crossing.link);
            *reached = crossing.to;
        }
        paths.into_iter().map(|(hash, (path, _))| (hash, path)).collect()
    }

    /// Packets are followed over all their links, also when a long run has more packets than can be
    /// drawn: of 20,000 at most 80 are kept over three links, as 3 * 80 = 240. What is kept is one
    /// in so many as it says, within five standard deviations of a binomial distribution.
    #[test]
    fn packets_are_followed_over_all_their_links() {
        let mut watch = Watch {
            mask: 0,
            under_way: BTreeMap::new(),
            crossings: Vec::new(),
            lost: Vec::new(),
            telling: false,
            facts: Vec::new(),
            groups: vec![0],
            links: vec![(1e9, Span::from_ms(1)); HOPS as usize],
            names: Vec::new(),
            flows: Vec::new(),
        };
        for round in 0..3 {
            pass(&mut watch, round * 20_000, (round + 1) * 20_000);
            let paths = paths(&watch);
            assert!(watch.under_way.is_empty());
            assert!(paths.values().all(|path| *path == [0, 1, 2]), "{paths:?}");
            let one_in = watch.mask + 1;
            let (mean, share) = (20_000.0 / one_in as f64, 1.0 / one_in as f64);
            let spread = 5.0 * (mean * (1.0 - share)).sqrt();
            assert!(paths.len() <= MAX_KEPT / 3);
            assert!((paths.len() as f64 - mean).abs() < spread, "{} of {mean}", paths.len());
            assert_eq!(watch.take()["one_in"], json!(one_in));
        }
    }
}
