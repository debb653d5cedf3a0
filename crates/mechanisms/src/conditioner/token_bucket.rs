//! The token bucket marker: conforming packets one precedence, the others another.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::bucket::{Bucket, Excess, check_depth, earned};
use super::{BuildConditioner, precedence};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "token_bucket",
    summary: "Token bucket marker or policer: packets within rate and burst conform.",
    source: "RFC 2475, section 2.3.3; Heinanen and Guerin, RFC 2697, section 3 (one bucket)",
    fields: TokenBucketParameters::FIELDS,
    build,
};

parameters! {
    /// Parameters of the token bucket marker.
    pub struct TokenBucketParameters {
        /// Committed information rate: tokens arrive at it. IP headers count.
        cir: Rate, "RFC 2697, section 2";
        /// Committed burst size: depth of the bucket, which is full at the start. At least 20 B.
        cbs: Size, "RFC 2697, section 2";
        /// Precedence of conforming packets, 0 to 63.
        conforming: u32 = 0, "RFC 2597, section 2: lower precedences are dropped last";
        /// Precedence of the others, 0 to 63.
        exceeding: u32 = 1, "RFC 2597, section 2: lower precedences are dropped last";
        /// What becomes of packets out of profile: mark (with the precedence `exceeding`) or drop.
        excess: Excess = "mark", "RFC 2475, section 2.3.3";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let parameters = TokenBucketParameters::read(section)?;
    check_depth(section, "cbs", parameters.cbs, false)?;
    Ok(Box::new(TokenBucket {
        cir: parameters.cir,
        bucket: Bucket::full(parameters.cbs),
        last: Time::ZERO,
        conforming: precedence(section, "conforming", parameters.conforming)?,
        exceeding: precedence(section, "exceeding", parameters.exceeding)?,
        excess: parameters.excess,
    }))
}

struct TokenBucket {
    cir: Rate,
    bucket: Bucket,
    last: Time,
    conforming: u8,
    exceeding: u8,
    excess: Excess,
}

impl Conditioner for TokenBucket {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        self.bucket.pour(earned(self.cir, now.since(self.last)));
        self.last = self.last.max(now);
        if self.bucket.covers(packet.size) {
            self.bucket.take(packet.size);
            packet.precedence = self.conforming;
            return Verdict::Accept;
        }
        packet.precedence = self.exceeding;
        self.excess.verdict()
    }

    fn green_at(&self, size: Size, now: Time) -> Option<Time> {
        Some(self.bucket.covers_at(size, self.cir, self.last, now))
    }

    fn smallest_burst(&self) -> Option<u64> {
        Some(self.bucket.depth())
    }

    fn gauges(&self, tell: &mut dyn FnMut(&str, f64)) {
        tell("tokens", self.bucket.bytes());
    }
}
