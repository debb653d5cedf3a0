//! Parcels: what crosses a border in one window.

use forebay_kernel::Ring;
use forebay_units::Time;

use crate::feeds::lot;
use crate::merge::Told;
use crate::region::Region;
use crate::{Context, SackBlocks};

/// A way from one region into another. A link tells of its packets at a door: an inbox of its own
/// region to which nobody listens. Between windows they move on in one go to where they are
/// expected.
pub(crate) struct Way {
    pub(crate) door: u32,
    /// The inbox in the other region.
    pub(crate) inbox: u32,
    /// By which feed they come there.
    pub(crate) feed: u32,
}

/// All ways from one region into another.
pub(crate) struct Road {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) ways: Vec<Way>,
}

/// Packets on their way from one region into another.
pub(crate) struct Parcels {
    /// By way, in the order of time.
    lots: Vec<Ring<Told>>,
    /// The SACK blocks of packets, which name them by place, counted from 1.
    blocks: Vec<SackBlocks>,
}

impl Parcels {
    /// For all that goes by `road`.
    pub(crate) fn new(road: &Road) -> Self {
        Self { lots: road.ways.iter().map(|_| lot()).collect(), blocks: Vec::new() }
    }

    /// Take what has left `region` by `road`. When the first of it arrives; [`Time::NEVER`] if
    /// there is nothing.
    pub(crate) fn leave(&mut self, region: &mut Region, road: &Road) -> Time {
        let mut first = Time::NEVER;
        for (way, lot) in road.ways.iter().zip(&mut self.lots) {
            first = first.min(region.core.feeds.give(way.door, lot));
            let cx = &mut Context::of(&mut region.core, way.door, Time::ZERO);
            for (packet, _) in lot.iter_mut().filter(|(packet, _)| packet.sack_slot != 0) {
                self.blocks.push(cx.take_blocks(packet.sack_slot));
                packet.sack_slot = u32::try_from(self.blocks.len()).expect("a window is short");
            }
        }
        first
    }

    /// Give all to `region`, where it arrives by `road`.
    pub(crate) fn arrive(&mut self, region: &mut Region, road: &Road) {
        for (way, lot) in road.ways.iter().zip(&mut self.lots) {
            let cx = &mut Context::of(&mut region.core, way.inbox, Time::ZERO);
            for (packet, _) in lot.iter_mut().filter(|(packet, _)| packet.sack_slot != 0) {
                packet.sack_slot = cx.keep_blocks(self.blocks[packet.sack_slot as usize - 1]);
            }
            region.core.feeds.take_in(way.inbox, way.feed, lot);
        }
        self.blocks.clear();
        region.ring();
    }
}
