//! A conditioner for a class of the traffic.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Inner, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildConditioner, Conditioners};
use crate::{Dscp, DscpSet, LinkFacts};

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "only",
    summary: "Lets a conditioner see the packets of some classes only; others pass unchanged.",
    source: "RFC 2475, section 2.3.1 (classifiers steer packets to a conditioner)",
    example: r#"
        dscp = ["BE", "AF1x"]
        of = { token_bucket = { cir = "400 kbit/s", cbs = "3 kB" } }
    "#,
    fields: OnlyParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of a conditioner for a class of the traffic.
    pub struct OnlyParameters {
        /// The codepoints of the packets that it sees.
        dscp: Vec<DscpSet>, "RFC 2475, section 2.3.1 (behavior aggregate classifier)";
        /// The conditioner.
        of: Inner<Conditioners>, "RFC 2475, section 2.3.1";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let OnlyParameters { dscp, of } = OnlyParameters::read(section)?;
    let law = of.build(section, |build, inner| build(inner, facts))?;
    let mut seen = [false; Dscp::COUNT];
    for dscp in dscp.iter().flat_map(|set| &set.0) {
        seen[usize::from(dscp.0)] = true;
    }
    if !seen.contains(&true) {
        return Err(section.fail("dscp", "is empty: the conditioner would see no packet"));
    }
    Ok(Box::new(Only { seen, law }))
}

struct Only {
    /// By codepoint: whether the conditioner sees such packets.
    seen: [bool; Dscp::COUNT],
    law: Box<dyn Conditioner>,
}

impl Conditioner for Only {
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict {
        if self.seen[usize::from(packet.dscp()) % Dscp::COUNT] {
            self.law.condition(packet, now, stream)
        } else {
            Verdict::Accept
        }
    }

    fn colours(&self) -> bool {
        self.law.colours()
    }

    fn uses_rtt(&self) -> bool {
        self.law.uses_rtt()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.law.probes(visit);
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        // Packets that it does not see may look like those that its bucket pays for.
        self.law.buckets(&mut |bucket| visit(&BucketState { pays: None, ..*bucket }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{DropReason, FlowId, Marking, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    fn table(entries: &[(&str, Value)]) -> Value {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        Value::Table(entries.iter().map(node).collect::<Table>())
    }

    fn make(dscp: &[&str]) -> Result<Box<dyn Conditioner>, Problem> {
        let bucket = [
            ("cir", "8 Mbit/s".into()),
            ("cbs", "1000 B".into()),
            ("conforming", 3.into()),
            ("excess", "drop".into()),
        ];
        let dscp = dscp.iter().map(|name| Node::new((*name).into())).collect();
        let of = table(&[("token_bucket", table(&bucket))]);
        let node = Node::new(table(&[("dscp", Value::List(dscp)), ("of", of)]));
        let (echo, registry) = (Echo::default(), crate::registry());
        let facts = LinkFacts::of(Rate::from_bps(100_000_000));
        build(&Section::root(&node, &echo)?.with_registry(&registry), &facts)
    }

    /// Traffic of another class would be policed, or use up the bucket: 1000 B are for EF and AF2x
    /// alone, of which the second packet finds none.
    #[test]
    fn other_classes_pass_untouched() {
        let mut law = make(&["EF", "AF2x"]).unwrap();
        let mut stream = Streams::new(0, 0).named("test");
        let mut offer = |dscp: u8| {
            let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0))
                .with_marking(Marking { precedence: 1, dscp });
            let verdict = law.condition(&mut packet, Time::ZERO, &mut stream);
            (verdict, packet.precedence)
        };
        for dscp in [0, 10, 40] {
            assert_eq!(offer(dscp), (Verdict::Accept, 1));
        }
        assert_eq!(offer(20), (Verdict::Accept, 3));
        assert_eq!(offer(46).0, Verdict::Drop(DropReason::Policed));
        assert_eq!(offer(0), (Verdict::Accept, 1));
    }

    /// A conditioner that sees nothing would be taken for one that polices.
    #[test]
    fn no_class_is_refused() {
        assert_eq!(make(&[]).err().map(|problem| problem.path), Some("dscp".to_owned()));
        assert_eq!(make(&["EF1"]).err().map(|problem| problem.path), Some("dscp".to_owned()));
    }
}
