//! The leaky bucket with periodic tokens as a policer of an aggregate.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::Excess;
use crate::LinkFacts;
use crate::policing::{LeakyBucket, marked};

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "leaky_bucket",
    summary: "Leaky bucket of cells: a pool of tokens that come periodically, one for each packet.",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, section 3.1",
    example: r#"
        rate = "3 Mbit/s"
        depth = 20
        token = "400 B"
        excess = "drop"
    "#,
    fields: LeakyBucketParameters::FIELDS,
    probes: &[Probe { name: "tokens", unit: "packets", meaning: "Tokens in the bucket." }],
    build: &build,
};

parameters! {
    /// Parameters of the leaky bucket; a queue for packets without token is part of
    /// `flows.NAME.policing`.
    pub struct LeakyBucketParameters {
        /// Drain rate: a token comes each time in which a packet of `token` bytes takes at it.
        rate: Rate, "COMSAT thesis, section 3.1";
        /// Most tokens in the pool, which is full at the start; at least 1.
        depth: u32, "COMSAT thesis, section 3.1";
        /// Size of the packets, each of which takes one token.
        token: Size = "53 B", "ITU-T I.361, section 2 (cell)";
        /// Treatment of packets without token: mark (CLP=1) or drop.
        excess: Excess = "mark", "COMSAT thesis, section 3.1";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let LeakyBucketParameters { rate, depth, token, excess } =
        LeakyBucketParameters::read(section)?;
    if rate.bps() == 0 {
        return Err(section.fail("rate", "is zero; allowed are rates above 0"));
    }
    if depth == 0 {
        return Err(section.fail("depth", "is zero; allowed are numbers from 1"));
    }
    if !(1..=65_535).contains(&token.bytes()) {
        return Err(section.fail("token", "is not a packet size; allowed are 1 B to 65535 B"));
    }
    Ok(Box::new(Policer { law: LeakyBucket::new(rate, token, depth), excess }))
}

struct Policer {
    law: LeakyBucket,
    excess: Excess,
}

impl Conditioner for Policer {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        if self.law.take(now) {
            return Verdict::Accept;
        }
        *packet = marked(packet);
        self.excess.verdict()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("tokens", f64::from(self.law.tokens()));
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        let (level, depth) = (f64::from(self.law.tokens()), f64::from(self.law.depth()));
        visit(&BucketState { level, least: 0.0, depth, pays: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{DropReason, FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Span;

    fn seen(excess: &str) -> [(u8, bool); 10] {
        let table = Table::from([
            ("rate".to_owned(), Node::new("42.4 kbit/s".into())),
            ("depth".to_owned(), Node::new(Value::Integer(3))),
            ("excess".to_owned(), Node::new(excess.into())),
        ]);
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(6_000_000));
        let mut law = build(&Section::root(&node, &echo).unwrap(), &facts).unwrap();
        let mut stream = Streams::new(0, 0).named("test");
        [0, 1, 2, 3, 12, 13, 50, 51, 52, 53].map(|ms| {
            let mut cell = Packet::data(Time::ZERO, FlowId::new(0), 0, 53, RouteId::new(0));
            let verdict = law.condition(&mut cell, Time::ZERO + Span::from_ms(ms), &mut stream);
            (cell.precedence, verdict == Verdict::Drop(DropReason::Policed))
        })
    }

    /// Cells without token are marked and pass, or are dropped if so configured: the vector of the
    /// law, a token each 10 ms into a pool of 3.
    #[test]
    fn cells_without_token_are_marked_or_dropped() {
        let without = [0, 0, 0, 1, 0, 1, 0, 0, 0, 1].map(|clp| clp == 1);
        assert_eq!(seen("mark").map(|(precedence, _)| precedence == 2), without);
        assert!(seen("mark").iter().all(|(_, dropped)| !dropped));
        assert_eq!(seen("drop").map(|(_, dropped)| dropped), without);
    }
}
