//! A filter that drops acknowledgements which a later one in the same queue makes superfluous.
//!
//! As in CAKE (Linux `net/sched/sch_cake.c`), but that an acknowledgement with SACK blocks is never
//! dropped: there it is if the later one reports at least as much. One with an AccECN option is
//! kept here as there, where options that are not known forbid to drop it.

use forebay_network::{Packet, PacketKind};
use forebay_parameters::choice;

use crate::queue::parts::flow_hash::tuple_of;
use crate::queue::parts::packet_pool::{PacketList, PacketPool};

choice! {
    /// Acknowledgements that are dropped.
    pub enum AckFilter {
        /// None.
        Off = "off",
        /// The first of two that a third makes superfluous: one always stays.
        Conservative = "conservative",
        /// Also a single one directly before that which makes it superfluous.
        Aggressive = "aggressive",
    }
}

/// Returns true if `later` makes `ack` superfluous, leaving flags aside.
fn is_superfluous(ack: &Packet, later: &Packet) -> bool {
    ack.kind() == PacketKind::Ack
        && ack.sack_slot().is_none()
        && ack.number < later.number
        && ack.timestamp_echo() <= later.timestamp_echo()
}

/// Place and flags of an acknowledgement that may be dropped.
#[derive(Clone, Copy)]
struct Candidate {
    place: u32,
    before: Option<u32>,
    flags: (bool, bool),
}

impl AckFilter {
    /// Remove the acknowledgement that `arrival`, which was appended to `list` last, makes
    /// superfluous.
    pub(in crate::queue) fn apply(
        self,
        pool: &mut PacketPool,
        list: &mut PacketList,
        arrival: &Packet,
    ) -> Option<Packet> {
        if self == Self::Off || arrival.kind() != PacketKind::Ack {
            return None;
        }
        let found = self.find(pool, list, arrival)?;
        Some(pool.remove_behind(list, found.before, found.place))
    }

    fn find(self, pool: &PacketPool, list: &PacketList, arrival: &Packet) -> Option<Candidate> {
        let flags = |packet: &Packet| (packet.ece(), packet.cwr());
        let (mut candidate, mut found, mut before) = (None::<Candidate>, 0, None);
        let mut last = None;
        let others = pool.walk(list).take_while(|(place, _)| !list.is_last(*place));
        for (place, packet) in others {
            let (behind, same) = (before, tuple_of(packet) == tuple_of(arrival));
            before = Some(place);
            last = Some(place);
            if !same {
                continue;
            }
            // Flags that differ from those of the candidate would be lost with it.
            if candidate.is_some_and(|held| held.flags != flags(packet)) {
                candidate = None;
                found -= 1;
            }
            if !is_superfluous(packet, arrival) {
                continue;
            }
            if candidate.is_none() {
                candidate = Some(Candidate { place, before: behind, flags: flags(packet) });
            }
            found += 1;
            if found > 1 {
                return candidate;
            }
        }
        let single = candidate.filter(|held| last == Some(held.place));
        single.filter(|held| self == Self::Aggressive && held.flags == flags(arrival))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId, SackSlot};
    use forebay_units::Time;

    fn ack(number: u64) -> Packet {
        Packet::data(Time::ZERO, FlowId::new(1), number, 40, RouteId::new(0))
            .with_kind(PacketKind::Ack)
    }

    /// The number of the acknowledgement that goes when the last of `packets` arrives.
    fn dropped(filter: AckFilter, packets: &[Packet]) -> Option<u64> {
        let (mut pool, mut list) = (PacketPool::default(), PacketList::default());
        packets.iter().for_each(|packet| pool.push(&mut list, packet, Time::ZERO));
        let gone = filter.apply(&mut pool, &mut list, packets.last().unwrap());
        let left = packets.len() - usize::from(gone.is_some());
        assert!(pool.walk(&list).all(|(_, packet)| Some(packet.number) != gone.map(|g| g.number)));
        assert_eq!(pool.walk(&list).count(), left);
        gone.map(|packet| packet.number)
    }

    /// Packets that alone report something are kept: data, an acknowledgement that acknowledges as
    /// much or more, one with SACK blocks, one of another flow and one whose ECN-Echo differs stay.
    #[test]
    fn what_only_one_reports_is_kept() {
        use AckFilter::{Aggressive, Conservative, Off};
        let three = [ack(1), ack(2), ack(3)];
        assert_eq!(dropped(Off, &three), None);
        assert_eq!(dropped(Conservative, &three), Some(1));
        assert_eq!(dropped(Conservative, &three[1..]), None);
        assert_eq!(dropped(Aggressive, &three[1..]), Some(2));
        assert_eq!(dropped(Aggressive, &three), Some(1));
        let data = Packet::data(Time::ZERO, FlowId::new(1), 1, 1500, RouteId::new(0));
        assert_eq!(dropped(Aggressive, &[ack(1), data]), None);
        assert_eq!(dropped(Conservative, &[data, ack(2), ack(3)]), None);
        assert_eq!(dropped(Aggressive, &[ack(3), ack(3)]), None);
        assert_eq!(dropped(Aggressive, &[ack(4), ack(3)]), None);
        let mut sack = ack(1);
        sack.set_sack_slot(SackSlot::new(1).unwrap());
        assert_eq!(dropped(Conservative, &[sack, ack(2), ack(3), ack(4)]), Some(2));
        let mut other = ack(1);
        other.flow = FlowId::new(2);
        assert_eq!(dropped(Conservative, &[other, ack(2), ack(3)]), None);
        let echo = ack(2).with_ece(true);
        assert_eq!(dropped(Conservative, &[ack(1), echo, ack(3)]), None);
        assert_eq!(dropped(Aggressive, &[echo, ack(3)]), None);
        let later = ack(1).with_timestamp_echo(Time::from_ps(9));
        assert_eq!(dropped(Aggressive, &[later, ack(3)]), None);
    }
}
