//! Token buckets from outside: what they have paid for keeps to their rate and depth.

use forebay_network::{BucketState, Packet, Paid, StateFact};
use forebay_units::{PS_PER_S, Time};

use crate::Invariant as Must;
use crate::checker::{Checker, is_unmarked, show};
use crate::places::BucketPlace;
use crate::report::Place;

/// A bucket that is filled by what is paid for and drains at the rate of the tokens: the dual of a
/// token bucket, which it mirrors without knowing of it.
#[derive(Default)]
pub(crate) struct BucketModel {
    /// Bytes paid for beyond what the rate covers.
    level: f64,
    at: Time,
}

/// Rounding of sums of bytes in floating point, over a bucket's depth.
const ROUNDING: f64 = 1e-6;

impl BucketModel {
    /// `size` bytes are paid for at `now`: the level after it.
    fn fill(&mut self, bucket: &BucketPlace, size: u16, now: Time) -> f64 {
        let span = now.since(self.at).ps() as f64 / PS_PER_S as f64;
        self.at = self.at.max(now);
        let drained = bucket.rate.bps() as f64 / 8.0 * span;
        self.level = (self.level - drained).max(0.0) + f64::from(size);
        self.level
    }
}

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
        }
    }
}
