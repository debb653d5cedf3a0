//! Checks that packets paid for by token buckets keep to their rate and depth, and checks of the
//! inner state that elements state.

use forebay_network::{BucketState, MemoryState, Packet, Paid, StateFact};
use forebay_units::Time;

use crate::Invariant as Must;
use crate::buckets::ROUNDING;
use crate::checker::{Checker, is_unmarked, show};
use crate::places::BucketPlace;
use crate::report::Place;

impl Checker {
    /// A conditioner of `link` has passed `packet`.
    pub(crate) fn check_payment(&mut self, link: usize, packet: &Packet) {
        for index in 0..self.buckets[link].len() {
            let bucket = self.places.links[link].buckets[index];
            self.check_paid(link, index, &bucket, packet);
        }
    }

    fn check_paid(&mut self, link: usize, index: usize, bucket: &BucketPlace, packet: &Packet) {
        let (must, paid) = match bucket.paid {
            Paid::Precedence(precedence) => (Must::BucketRate, packet.precedence == precedence),
            Paid::Passed => (Must::BucketRate, true),
            Paid::Unmarked => (Must::MarkPcn, is_unmarked(packet)),
        };
        if !paid {
            return;
        }
        let level = self.buckets[link][index].fill(bucket, packet.size, self.now);
        let most = bucket.depth * (1.0 + ROUNDING) + ROUNDING;
        self.check(must, Place::Link(link), level <= most, || {
            format!("{} brings it to {level} B of {} B", show(packet), bucket.depth)
        });
    }

    /// Element `number` has stated a part of its inner state.
    pub fn state(&mut self, now: Time, number: u32, fact: &StateFact) {
        self.now = self.now.max(now);
        match fact {
            StateFact::Bucket(bucket) => {
                let BucketState { level, least, depth, .. } = *bucket;
                let place = Place::Element(number);
                // A bucket is checked between packets, when it may hold one byte's rounding more.
                let holds = (least..=depth * (1.0 + ROUNDING)).contains(&level);
                self.check(Must::BucketLevel, place, holds, || {
                    format!("{level}, allowed are {least} to {depth}")
                });
            }
            StateFact::TcpSender(state) => self.tcp_state(state),
            StateFact::Memory(state) => self.memory_state(number, state),
        }
    }
    /// Element `number`, a port, has stated the memory that it shares.
    fn memory_state(&mut self, number: u32, state: &MemoryState) {
        let MemoryState { size, held, sum, of_port, waiting } = *state;
        let place = Place::Element(number);
        self.check(Must::MemorySize, place, held <= size, || format!("{held} B of {size} B"));
        let place = Place::Element(number);
        self.check(Must::MemoryCount, place, held == sum && of_port == waiting, || {
            format!("{held} B, {sum} B by queue; of the port {of_port} B, where {waiting} B wait")
        });
    }
}
