//! Looking ahead in a network of very many flows.
//!
//! What is kept of a hundred thousand flows is more than caches hold, and each packet needs that of
//! another flow. But it is known which come next: so the parts of the network that they concern are
//! asked to fetch what they will need for several of them at once, which is on its way while they
//! work. That changes nothing else.

use forebay_kernel::{Agenda, fetch};

use crate::context::Core;
use crate::feeds::Inbox;
use crate::region::{Place, Region};
use crate::routes::SINK;

/// With more flows it is worth it.
const MANY: usize = 10_000;

impl Core {
    /// Whether there are so many flows that looking ahead is worth it, and it is known what comes:
    /// where somebody observes, nobody is told early.
    pub(crate) fn can_look_ahead(&self) -> bool {
        self.ledger.flows.len() > MANY && self.observers.is_empty()
    }
}

impl Region {
    /// Have whoever follows link `link` fetch what the packets that it will meet next need, if that
    /// has not been done.
    #[inline(never)]
    pub(crate) fn look_beyond(&mut self, link: u32) {
        // Whoever is told early looks ahead itself.
        if self.core.standings[link as usize].early {
            return;
        }
        let mut inbox = std::mem::take(self.core.feeds.of(link));
        look_at_packets(&mut inbox, &self.places, &self.core, |_, route| {
            self.core.routes.after(link, route).to
        });
        *self.core.feeds.of(link) = inbox;
    }
}

/// Have whoever is reached by the packets that `inbox` holds next fetch what that needs, if it has
/// not been done: `to` says who it is, given the link from which a packet comes and its route.
#[inline(never)]
pub(crate) fn look_at_packets(
    inbox: &mut Inbox,
    places: &[Place],
    core: &Core,
    to: impl Fn(u32, u32) -> u32,
) {
    let Some((feeder, packets)) = inbox.unseen() else { return };
    for packet in packets {
        let flow = &core.ledger.flows[packet.flow as usize];
        fetch(&flow.delivered);
        let to = to(feeder, packet.route);
        if to & SINK == 0 {
            // It may be answered, or be an answer.
            fetch(&flow.acks);
            places[to as usize].element.foresee_packet(packet);
        }
    }
}

/// Have the elements whose timers come next in `timers` fetch what they need then.
#[inline(always)]
pub(crate) fn look_at_timers(timers: &mut Agenda, places: &[Place], core: &Core) {
    for event in timers.newcomers() {
        places[event.target as usize].element.foresee_timer(event.token, &core.ledger);
    }
}
