//! Common parts of the meters of pre-congestion notification (PCN): a bucket filled at a configured
//! rate, and marks that are never taken back.

use forebay_network::{BucketState, Packet, Paid, PcnMark};
use forebay_parameters::{Problem, Section};
use forebay_units::quantity::{show_rate, show_size};
use forebay_units::{Rate, Size, Time};

use super::bucket::{Bucket, check_depth, earned};
use crate::LinkFacts;

/// A bucket and the rate at which it is filled.
pub(super) struct Meter {
    rate: Rate,
    bucket: Bucket,
    last: Time,
}

impl Meter {
    /// A meter with a full bucket, from the keys `rate` and `size` of `section`.
    ///
    /// # Errors
    /// A rate of zero, a rate above the link's, a bucket smaller than a packet.
    pub fn new(
        section: &Section<'_>,
        facts: &LinkFacts,
        rate: Rate,
        size: Size,
    ) -> Result<Self, Problem> {
        if rate.bps() == 0 || rate > facts.rate {
            // Admissible and supportable rate lie below the bandwidth of the link (Babiarz, Liu and
            // Rahimi, section 2.2), as what a link cannot carry does not get beyond it; at the
            // link's own rate a meter in front of it still sees what arrives too fast.
            let trouble = if rate.bps() == 0 {
                "would never fill the bucket"
            } else {
                "is above the link's rate"
            };
            let message = format!(
                "\"{}\" {trouble}; allowed are rates above 0 up to the link's, \"{}\"",
                show_rate(rate),
                show_rate(facts.rate)
            );
            return Err(section.fail("rate", message));
        }
        check_depth(section, "size", size, false)?;
        Ok(Self { rate, bucket: Bucket::full(size), last: Time::ZERO })
    }

    /// The bucket with the tokens that have arrived until `now`.
    #[inline]
    pub fn at(&mut self, now: Time) -> &mut Bucket {
        self.bucket.pour(earned(self.rate, now.since(self.last)));
        self.last = self.last.max(now);
        &mut self.bucket
    }

    /// Visit the probe `tokens`, in bytes.
    /// What its bucket states for checks; `pays` if it pays in full for what is left unmarked.
    pub fn state(&self, pays: bool) -> BucketState {
        self.bucket.state(pays.then_some((self.rate, Paid::Unmarked)))
    }

    pub fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("tokens", self.bucket.bytes());
    }
}

/// Refuse a marking threshold that a full bucket does not reach.
pub(super) fn check_threshold(
    section: &Section<'_>,
    threshold: Size,
    size: Size,
) -> Result<(), Problem> {
    if threshold <= size {
        return Ok(());
    }
    let message = format!(
        "\"{}\" is above the size of the bucket, which never holds as much; allowed is at most \
         \"{}\"",
        show_size(threshold),
        show_size(size)
    );
    Err(section.fail("threshold", message))
}

/// Mark `packet` with `mark` unless it carries a graver one: marks are never taken back (RFC 5670,
/// section 2.5). What is not PCN traffic stays so.
#[inline]
pub(super) fn mark_with(packet: &mut Packet, mark: PcnMark) {
    if let Some(before) = packet.pcn() {
        *packet = packet.with_pcn(before.max(mark));
    }
}

#[cfg(test)]
pub(super) mod tests;
