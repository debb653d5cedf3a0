//! Group prefetching in a network of very many flows.
//!
//! The state of a hundred thousand flows exceeds the caches, and each packet needs that of another
//! flow. But the next packets and timers are known: so the elements that they concern are asked to
//! fetch what they will need for several of them at once, and these memory accesses overlap with
//! each other and with the work at hand. Nothing else changes. As S. Chen, A. Ailamaki, P. B.
//! Gibbons and T. C. Mowry, *Improving Hash Join Performance through Prefetching*, ICDE 2004, do
//! for the look-ups of a hash join.

use forebay_kernel::{EventList, fetch};
use forebay_network::executive::Core;
use forebay_network::{ElementId, InputChannels, RouteId};

use crate::slot::Slot;

/// The number of flows above which prefetching pays.
const MIN_FLOWS: usize = 10_000;

/// Returns true if there are so many flows that prefetching pays, and the next packets are known:
/// with observers nothing is sent ahead.
pub(crate) fn can_prefetch(core: &Core) -> bool {
    core.counters.flows.len() > MIN_FLOWS && core.observers.is_empty()
}

/// Have the elements that follow `link` prefetch what they need for the packets that `link`
/// processes next, unless that was done.
#[inline(never)]
pub(crate) fn prefetch_downstream(core: &mut Core, slots: &[Slot], link: ElementId) {
    // The receivers of what it sends ahead prefetch by themselves.
    if core.modes[link.index()].sends_ahead() {
        return;
    }
    let mut inputs = std::mem::take(core.channels.inputs_mut(link.into()));
    prefetch_packets(&mut inputs, slots, core, |_, route| {
        core.routes.after(link, route).to().element()
    });
    *core.channels.inputs_mut(link.into()) = inputs;
}

/// Have the receivers of the next packets of `inputs` prefetch what they need for them, unless that
/// was done: `to` gives the element that receives one, from its upstream link and its route; none
/// for a sink.
#[inline(never)]
pub(crate) fn prefetch_packets(
    inputs: &mut InputChannels,
    slots: &[Slot],
    core: &Core,
    to: impl Fn(ElementId, RouteId) -> Option<ElementId>,
) {
    let Some((upstream, packets)) = inputs.not_prefetched() else { return };
    for packet in packets {
        let flow = &core.counters.flows[packet.flow.index()];
        fetch(&flow.delivered);
        if let Some(to) = to(upstream, packet.route) {
            // It may be acknowledged, or be an acknowledgement.
            fetch(&flow.acks);
            slots[to.index()].element.prefetch_packet(packet);
        }
    }
}

/// Have the elements whose timers expire next in `timers` prefetch what they need then.
#[inline(always)]
pub(crate) fn prefetch_timers(timers: &mut EventList, slots: &[Slot], core: &Core) {
    for event in timers.refilled() {
        slots[event.target.index()].element.prefetch_timer(event.token, &core.counters);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::Partition;
    use crate::stubs::{SINK, Stubs, link, packet, send_ahead, wire};
    use forebay_network::record::RecordTable;
    use forebay_network::{ChannelId, FlowCount, Lookahead, Observation, Observer, ReceiverId};
    use forebay_units::Time;

    struct Deaf;

    impl Observer for Deaf {
        fn observe(&mut self, _now: Time, _fact: &Observation<'_>) {}

        fn tables(&mut self) -> Vec<RecordTable> {
            Vec::new()
        }
    }

    /// Networks prefetch with more than 10,000 flows and no observers; the state of smaller ones is
    /// in the caches anyway.
    #[test]
    fn only_networks_of_very_many_flows_prefetch() {
        let mut core = Core::default();
        core.counters.flows = vec![FlowCount::default(); 10_000];
        assert!(!can_prefetch(&core));
        core.counters.flows.push(FlowCount::default());
        assert!(can_prefetch(&core));
        core.observers.push(Box::new(Deaf));
        assert!(!can_prefetch(&core));
    }

    const LINK: ElementId = ElementId::new(1);

    /// Link 0 leads to link 1, which leads to element 2 on route 0, to element 3 on route 1 and to
    /// a sink on route 2.
    fn network() -> Stubs {
        let elements = [wire(10), link(10), Lookahead::NONE, Lookahead::NONE];
        let mut stubs = Stubs::declared(&elements, &[&[0, 1, 2], &[0, 1, 3], &[0, 1, SINK]]);
        stubs.analyse();
        stubs
    }

    fn send(partition: &mut Partition, routes: &[usize], from: u64) {
        for (number, route) in (from..).zip(routes) {
            let at = Time::from_ps(10 * number);
            send_ahead(
                &mut partition.core.channels,
                (1, 0),
                &packet(number, RouteId::new(*route)),
                at,
            );
        }
    }

    /// Receivers prefetch once for each packet, when it is among the next of the link.
    #[test]
    fn receivers_prefetch_for_their_next_packets_once() {
        let mut stubs = network();
        let Partition { core, slots, .. } = &mut stubs.whole;
        prefetch_downstream(core, slots, LINK);
        assert_eq!(stubs.log.take(), []);
        send(&mut stubs.whole, &[0, 1, 2, 0], 1);
        let Partition { core, slots, .. } = &mut stubs.whole;
        prefetch_downstream(core, slots, LINK);
        let fetched = |me, number| (me, 0, "prefetch packet", number);
        assert_eq!(stubs.log.take(), [fetched(2, 1), fetched(3, 2), fetched(2, 4)]);
        prefetch_downstream(core, slots, LINK);
        assert_eq!(stubs.log.take(), []);
        // The packets themselves stay.
        assert_eq!(core.channels.inputs(ReceiverId::new(1)).waiting(), 4);
        // Later packets are fetched for when they are the next.
        send(&mut stubs.whole, &[1], 5);
        let Partition { core, slots, .. } = &mut stubs.whole;
        prefetch_downstream(core, slots, LINK);
        assert_eq!(stubs.log.take(), []);
        (0..4).for_each(|_| {
            core.channels.inputs_mut(ReceiverId::new(1)).take_from(ChannelId::ONLY);
        });
        prefetch_downstream(core, slots, LINK);
        assert_eq!(stubs.log.take(), [fetched(3, 5)]);
    }

    /// A link that sends ahead does not prefetch: what takes the packets from its channel does.
    #[test]
    fn links_that_send_ahead_leave_it_to_what_follows() {
        let mut stubs = network();
        send(&mut stubs.whole, &[0], 1);
        let Partition { core, slots, .. } = &mut stubs.whole;
        core.modes[1].departures = forebay_network::Departures::Ahead;
        prefetch_downstream(core, slots, LINK);
        assert_eq!(stubs.log.take(), []);
    }

    /// Hosts prefetch for timers in the order in which these expire.
    #[test]
    fn hosts_prefetch_for_the_timers_that_expire_next() {
        let stubs = network();
        let mut timers = EventList::default();
        // So many that most of them are on the ladder.
        for token in 0..1000 {
            let time = Time::from_ps(1000 * u64::from(token * 7 % 1000));
            timers.insert(time, ElementId::new(2 + token as usize % 2), token);
        }
        let mut due = Vec::new();
        for _ in 0..1000 {
            prefetch_timers(&mut timers, &stubs.whole.slots, &stubs.whole.core);
            let event = timers.take(Time::NEVER).expect("a timer is left");
            due.push((event.target.index(), 0, "prefetch timer", u64::from(event.token)));
        }
        // Only events that are held outside the ladder when it is used up go unfetched: those that
        // are fetched for are, in order, among those that expire.
        let fetched = stubs.log.take();
        assert!(fetched.len() > 500, "only {} of 1000", fetched.len());
        let mut due = due.iter();
        assert!(fetched.iter().all(|fetched| due.any(|due| due == fetched)));
    }
}
