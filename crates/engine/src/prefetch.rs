//! Group prefetching in a network of very many flows.
//!
//! The state of a hundred thousand flows exceeds the caches, and each packet needs that of another
//! flow. But the next packets and timers are known: so the elements that they concern are asked to
//! fetch what they will need for several of them at once, and these memory accesses overlap with
//! each other and with the work at hand. Nothing else changes. As S. Chen, A. Ailamaki, P. B.
//! Gibbons and T. C. Mowry, *Improving Hash Join Performance through Prefetching*, ICDE 2004, do
//! for the look-ups of a hash join.

use forebay_kernel::{EventList, fetch};
use forebay_network::InputChannels;
use forebay_network::executive::{Core, SINK};

use crate::slot::Slot;

/// The number of flows above which prefetching pays.
const MIN_FLOWS: usize = 10_000;

/// Whether there are so many flows that prefetching pays, and the next packets are known: with
/// observers nothing is sent ahead.
pub(crate) fn can_prefetch(core: &Core) -> bool {
    core.counters.flows.len() > MIN_FLOWS && core.observers.is_empty()
}

/// Have the elements that follow `link` prefetch what they need for the packets that `link`
/// processes next, unless that was done.
#[inline(never)]
pub(crate) fn prefetch_downstream(core: &mut Core, slots: &[Slot], link: u32) {
    // The receivers of what it sends ahead prefetch by themselves.
    if core.modes[link as usize].sends_ahead() {
        return;
    }
    let mut inputs = std::mem::take(core.channels.inputs_mut(link));
    prefetch_packets(&mut inputs, slots, core, |_, route| core.routes.after(link, route).to);
    *core.channels.inputs_mut(link) = inputs;
}

/// Have the receivers of the next packets of `inputs` prefetch what they need for them, unless that
/// was done: `to` gives the receiver, from the upstream link of a packet and its route.
#[inline(never)]
pub(crate) fn prefetch_packets(
    inputs: &mut InputChannels,
    slots: &[Slot],
    core: &Core,
    to: impl Fn(u32, u32) -> u32,
) {
    let Some((upstream, packets)) = inputs.not_prefetched() else { return };
    for packet in packets {
        let flow = &core.counters.flows[packet.flow as usize];
        fetch(&flow.delivered);
        let to = to(upstream, packet.route);
        if to & SINK == 0 {
            // It may be acknowledged, or be an acknowledgement.
            fetch(&flow.acks);
            slots[to as usize].element.prefetch_packet(packet);
        }
    }
}

/// Have the elements whose timers expire next in `timers` prefetch what they need then.
#[inline(always)]
pub(crate) fn prefetch_timers(timers: &mut EventList, slots: &[Slot], core: &Core) {
    for event in timers.refilled() {
        slots[event.target as usize].element.prefetch_timer(event.token, &core.counters);
    }
}
