//! A region: elements and all that they need to run by themselves. A network is one, or several
//! that run on a thread each.

use forebay_kernel::Digest;
use forebay_units::Time;

use crate::border::Parcels;
use crate::context::{Core, Letter, note};
use crate::{Context, Element};

/// An element in its place.
pub(crate) struct Place {
    pub(crate) element: Box<dyn Element>,
    /// What it received, unless that was expected.
    pub(crate) digest: Digest,
}

impl Place {
    pub(crate) fn of(element: Box<dyn Element>) -> Self {
        Self { element, digest: Digest::default() }
    }
}

/// Elements by number and everything else of their part of the network. Aligned so that no two
/// regions share a line of a cache.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Region {
    pub(crate) places: Vec<Place>,
    pub(crate) core: Core,
    /// Events taken from the agenda.
    pub(crate) events: u64,
}

impl Region {
    /// Let every element set its first timers.
    pub(crate) fn start(&mut self) {
        for me in 0..self.places.len() {
            let cx = &mut Context { core: &mut self.core, me: me as u32 };
            self.places[me].element.start(cx);
            self.hand_on();
        }
    }

    /// Handle everything due at or before `limit`, or `budget` events; false in the latter case.
    pub(crate) fn advance(&mut self, limit: Time, budget: u64) -> bool {
        let mut left = budget;
        let mut complete = true;
        while let Some(event) = self.core.agenda.take(limit) {
            let cx = &mut Context { core: &mut self.core, me: event.target };
            self.places[event.target as usize].element.wake(event.token, cx);
            self.hand_on();
            left -= 1;
            if left == 0 {
                complete = false;
                break;
            }
        }
        self.events += budget - left;
        complete
    }

    /// All that is due up to `limit` has been handled: time passes on to it.
    pub(crate) fn finish(&mut self, limit: Time) {
        self.core.agenda.pass_to(limit);
        self.settle();
    }

    /// Deliver everything that elements have handed on, in order. What they hand on meanwhile comes
    /// after.
    #[inline(always)]
    fn hand_on(&mut self) {
        while self.core.mail.full {
            self.core.mail.full = false;
            let Letter { packet, to, at, early } = self.core.mail.first;
            let place = &mut self.places[to as usize];
            let cx = &mut Context { core: &mut self.core, me: to };
            if early {
                place.element.expect(&packet, at, cx);
            } else {
                note(&mut place.digest, at, &packet);
                place.element.receive(&packet, cx);
            }
            if !self.core.mail.full {
                self.core.mail.refill();
            }
        }
    }

    /// Take in what another region has sent: each parcel reaches the entrance of its link.
    pub(crate) fn take_in(&mut self, parcels: &mut Parcels) {
        for (link, mut packet, at) in parcels.all() {
            let cx = &mut Context { core: &mut self.core, me: link };
            if let Some(blocks) = parcels.blocks_of(&packet) {
                packet.note = cx.keep_blocks(blocks);
            }
            self.places[link as usize].element.expect(&packet, at, cx);
            self.hand_on();
        }
        parcels.clear();
    }

    pub(crate) fn settle(&mut self) {
        for me in 0..self.places.len() {
            self.settle_one(me);
        }
    }

    /// Bring the counters of one element up to the present.
    pub(crate) fn settle_one(&mut self, me: usize) {
        self.places[me].element.settle(&mut Context { core: &mut self.core, me: me as u32 });
        // Settling may announce packets that arrive later.
        self.hand_on();
    }
}
