//! ECN bleaching: a router that clears the ECN field, as some do with the whole former TOS octet.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Ecn, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::BuildConditioner;
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "ecn_bleaching",
    summary: "Clears the ECN field of packets, so that marks are lost and later queues drop.",
    source: "RFC 3168, section 18.1.1 (erasing); RFC 8087, section 3.5 (bleaching)",
    example: "share = 1.0",
    fields: EcnBleachingParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of ECN bleaching.
    pub struct EcnBleachingParameters {
        /// Probability with which a packet loses its ECN field, 0 to 1; each by itself.
        share: f64 = 1.0, "RFC 8087, section 3.5 (bleaching)";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let EcnBleachingParameters { share } = EcnBleachingParameters::read(section)?;
    if !(0.0..=1.0).contains(&share) {
        let message = format!("{share} is not a probability; allowed are 0 to 1");
        return Err(section.fail("share", message));
    }
    Ok(Box::new(EcnBleaching { share }))
}

struct EcnBleaching {
    share: f64,
}

impl Conditioner for EcnBleaching {
    fn condition(&mut self, packet: &mut Packet, _now: Time, stream: &mut Stream) -> Verdict {
        if self.share >= 1.0 || stream.happens(self.share) {
            *packet = packet.with_ecn(Ecn::NotEct);
        }
        Verdict::Accept
    }

    fn colours(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, Marking, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    fn make(share: f64) -> Result<Box<dyn Conditioner>, Problem> {
        let entries = [("share".to_owned(), Node::new(Value::Float(share)))];
        let node = Node::new(Value::Table(entries.into_iter().collect::<Table>()));
        let facts = LinkFacts::of(Rate::from_bps(1_000_000));
        build(&Section::root(&node, &Echo::default())?, &facts)
    }

    fn packet(ecn: Ecn) -> Packet {
        Packet::data(Time::ZERO, FlowId::new(0), 0, 576, RouteId::new(0))
            .with_marking(Marking { precedence: 1, dscp: 46 })
            .with_ecn(ecn)
    }

    /// Every codepoint becomes Not-ECT, CE as well, and the rest of the octet and the colour stay:
    /// what the field says to later queues and to the receiver is gone, and nothing else.
    #[test]
    fn every_codepoint_is_cleared_and_nothing_else() {
        let mut law = make(1.0).unwrap();
        let mut stream = Streams::new(0, 0).named("test");
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            let mut seen = packet(ecn);
            assert_eq!(law.condition(&mut seen, Time::ZERO, &mut stream), Verdict::Accept);
            assert_eq!(seen.ecn(), Ecn::NotEct);
            assert_eq!((seen.precedence, seen.dscp()), (1, 46));
        }
    }

    /// A share p of 10,000 packets loses the field: binomial, so within five standard deviations
    /// of 10,000 p, sqrt(10,000 p (1 - p)) = 45.8 for p = 0.3; and none does for p = 0.
    #[test]
    fn a_share_of_packets_is_cleared() {
        for (share, least, most) in [(0.3, 2771, 3229), (0.0, 0, 0)] {
            let mut law = make(share).unwrap();
            let mut stream = Streams::new(0, 0).named("test");
            let cleared = (0..10_000)
                .filter(|_| {
                    let mut seen = packet(Ecn::Ect0);
                    law.condition(&mut seen, Time::ZERO, &mut stream);
                    seen.ecn() == Ecn::NotEct
                })
                .count();
            assert!((least..=most).contains(&cleared), "{cleared} of share {share}");
        }
    }

    /// A share that is no probability is refused at its place.
    #[test]
    fn other_shares_are_refused() {
        for share in [-0.1, 1.1, f64::NAN] {
            assert_eq!(make(share).err().map(|problem| problem.path), Some("share".to_owned()));
        }
    }
}
