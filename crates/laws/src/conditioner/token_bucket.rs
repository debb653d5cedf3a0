//! The token bucket marker: conforming packets one precedence, the others another.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, Paid, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::bucket::{Bucket, Excess, TOKENS, check_depth, earned};
use super::{BuildConditioner, precedence};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "token_bucket",
    summary: "Token bucket marker or policer: packets within rate and burst conform.",
    source: "RFC 2475, section 2.3.3; Heinanen and Guerin, RFC 2697, section 3 (one bucket)",
    example: r#"
        cir = "900 kbit/s"
        cbs = "3 kB"
        excess = "drop"
    "#,
    fields: TokenBucketParameters::FIELDS,
    probes: &[TOKENS],
    build: &build,
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
        /// Treatment of packets out of profile: mark (with the precedence `exceeding`) or drop.
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

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("tokens", self.bucket.bytes());
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        // Where both precedences are the same, those that conform cannot be told from the others.
        let paid = match self.excess {
            Excess::Drop => Some(Paid::Passed),
            Excess::Mark if self.conforming == self.exceeding => None,
            Excess::Mark => Some(Paid::Precedence(self.conforming)),
        };
        visit(&self.bucket.state(paid.map(|paid| (self.cir, paid))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_units::Span;

    /// 2 Mbit/s, that is 250000 B/s, with a bucket of 5000 B.
    fn meter(excess: Excess) -> TokenBucket {
        TokenBucket {
            cir: Rate::from_bps(2_000_000),
            bucket: Bucket::full(Size::from_bytes(5000)),
            last: Time::ZERO,
            conforming: 0,
            exceeding: 1,
            excess,
        }
    }

    fn offer(law: &mut TokenBucket, ms: u64, size: u16) -> (Verdict, u8) {
        let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, size, RouteId::new(0));
        let now = Time::ZERO + Span::from_ms(ms);
        let verdict = law.condition(&mut packet, now, &mut Streams::new(0, 0).named("test"));
        (verdict, packet.precedence)
    }

    /// Customers get exactly their profile. 250 B arrive each ms: 500 B left after three packets of
    /// 1500 B from 5000 B, 1000 B at 2 ms (not enough), 424 B after 576 B, 1424 B at 6 ms, and a
    /// full bucket at 100 ms.
    #[test]
    fn tokens_are_counted_as_they_come_and_go() {
        let mut law = meter(Excess::Mark);
        for (ms, size, precedence, tokens) in [
            (0, 1500, 0, 3500.0),
            (0, 1500, 0, 2000.0),
            (0, 1500, 0, 500.0),
            (0, 1500, 1, 500.0),
            (2, 1500, 1, 1000.0),
            (2, 576, 0, 424.0),
            (6, 1000, 0, 424.0),
            (100, 1500, 0, 3500.0),
        ] {
            let out = offer(&mut law, ms, size);
            assert_eq!((out, law.bucket.bytes()), ((Verdict::Accept, precedence), tokens));
        }
    }

    /// A policer drops what exceeds and takes no tokens for it.
    #[test]
    fn a_policer_drops_what_exceeds() {
        let mut law = meter(Excess::Drop);
        for _ in 0..3 {
            assert_eq!(offer(&mut law, 0, 1500), (Verdict::Accept, 0));
        }
        assert_eq!(offer(&mut law, 0, 1500).0, Verdict::Drop(forebay_network::DropReason::Policed));
        assert_eq!(law.bucket.bytes(), 500.0);
    }

    /// A clock that stands still, or an older time, does not fill the bucket again.
    #[test]
    fn time_never_refills_backwards() {
        let mut law = meter(Excess::Mark);
        assert_eq!(offer(&mut law, 10, 5000), (Verdict::Accept, 0));
        assert_eq!(offer(&mut law, 4, 40), (Verdict::Accept, 1));
        assert_eq!(offer(&mut law, 10, 40), (Verdict::Accept, 1));
        assert_eq!(law.bucket.bytes(), 0.0);
    }

    /// The time at which a packet is green is foreseen, so that a green shaper releases neither too
    /// early nor too late: 500 B left, 1500 B wanted, 1000 B at 250000 B/s take 4 ms; 5001 B never
    /// fit. At 3 ms 1 ms is left, and nothing was charged.
    #[test]
    fn green_is_foreseen() {
        let mut law = meter(Excess::Mark);
        (0..3).for_each(|_| assert_eq!(offer(&mut law, 0, 1500).1, 0));
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let green = |size, now| law.green_at(Size::from_bytes(size), now);
        assert_eq!(green(1500, at(0)), Some(at(4)));
        assert_eq!(green(1500, at(3)), Some(at(4)));
        assert_eq!(green(1500, at(9)), Some(at(9)));
        assert_eq!(green(500, at(0)), Some(at(0)));
        assert_eq!(green(5001, at(0)), Some(Time::NEVER));
        assert_eq!(law.smallest_burst(), Some(5000));
    }
}
