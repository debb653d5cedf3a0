//! Times that packets wait in the queues of links.

use std::collections::BTreeMap;

use forebay_units::Time;

use crate::{Distribution, LinkId, Observation, Observer, Packet, RecordTable};

/// Records, by link, how long the packets waited in the queue that were transmitted, from their
/// arrival to the beginning of their transmission. Packets of every kind count, as
/// acknowledgements do.
pub struct WaitLog {
    from: Time,
    until: Time,
    /// Arrivals of packets that wait.
    arrivals: BTreeMap<Key, Time>,
    by_link: Vec<Distribution>,
}

/// A link and what tells a packet from all others. Of two copies that a wire made and that wait in
/// the same queue, the second counts.
type Key = (u32, u32, Time, u64, u8);

impl WaitLog {
    /// A log of the waits at `links` links that end from `from` on, and before `until`.
    #[must_use]
    pub fn new(links: usize, (from, until): (Time, Time)) -> Self {
        Self {
            from,
            until,
            arrivals: BTreeMap::new(),
            by_link: vec![Distribution::default(); links],
        }
    }

    /// The waits at each link, in picoseconds.
    pub fn by_link(&self) -> impl Iterator<Item = &Distribution> {
        self.by_link.iter()
    }

    fn departs(&mut self, link: LinkId, packet: &Packet, at: Time) {
        let Some(arrived) = self.arrivals.remove(&key(link, packet)) else { return };
        if (self.from..self.until).contains(&at)
            && let Some(waits) = self.by_link.get_mut(link.index())
        {
            waits.record(at.since(arrived).ps());
        }
    }
}

fn key(link: LinkId, packet: &Packet) -> Key {
    (link.number(), packet.flow.number(), packet.created, packet.number, packet.kind() as u8)
}

impl Observer for WaitLog {
    fn observe(&mut self, now: Time, fact: &Observation<'_>) {
        match *fact {
            Observation::Enqueued { link, packet, .. } => {
                self.arrivals.insert(key(link, packet), now);
            }
            Observation::Departs { link, packet, at } => self.departs(link, packet, at),
            Observation::Dropped { link, packet, .. } => {
                self.arrivals.remove(&key(link, packet));
            }
            _ => {}
        }
    }

    fn tables(&mut self) -> Vec<RecordTable> {
        Vec::new()
    }
}
