//! A conditioner for a class of the traffic.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Inner, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildConditioner, Conditioners};
use crate::{Dscp, DscpSet, GroupMatch, GroupSet, HostMatch, HostSet, LinkFacts};

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "only",
    summary: "Lets a conditioner see the packets of some classes, groups of flows or hosts only; \
              others pass unchanged.",
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
        /// The codepoints of the packets that it sees; all if left out.
        dscp: Option<Vec<DscpSet>>, "RFC 2475, section 2.3.1 (behavior aggregate classifier)";
        /// The groups of flows whose packets it sees, acknowledgements included: the name of one or
        /// of a tag, or a list; all if left out.
        flows: Option<GroupSet>, "RFC 2475, section 2.3.1 (multi-field classifier)";
        /// The source hosts of the packets that it sees, the name of one, of a node or of a tag, or
        /// a list; all if left out. An acknowledgement comes from where its flow ends.
        src: Option<HostSet>, "RFC 2475, section 2.3.1 (multi-field classifier)";
        /// The destination hosts of the packets that it sees, as for `src`; all if left out.
        dst: Option<HostSet>, "RFC 2475, section 2.3.1 (multi-field classifier)";
        /// The conditioner.
        of: Inner<Conditioners>, "RFC 2475, section 2.3.1";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let OnlyParameters { dscp, flows, src, dst, of } = OnlyParameters::read(section)?;
    let law = of.build(section, |build, inner| build(inner, facts))?;
    if dscp.is_none() && flows.is_none() && src.is_none() && dst.is_none() {
        let message = "is missing: say which packets the conditioner sees, by dscp, flows, \
                       src or dst";
        return Err(section.fail("dscp", message));
    }
    let mut seen = [dscp.is_none(); Dscp::COUNT];
    for dscp in dscp.iter().flatten().flat_map(|set| &set.0) {
        seen[usize::from(dscp.0)] = true;
    }
    if !seen.contains(&true) {
        return Err(section.fail("dscp", "is empty: the conditioner would see no packet"));
    }
    let hosts = HostMatch::new(src.as_ref(), dst.as_ref(), &facts.flows);
    let hosts = hosts.map_err(|(key, message)| section.fail(key, message))?;
    let flows = GroupMatch::new(flows.as_ref(), &facts.flows);
    let flows = flows.map_err(|message| section.fail("flows", message))?;
    Ok(Box::new(Only { seen, flows, hosts, law }))
}

struct Only {
    /// True if the conditioner sees packets of a codepoint, by codepoint.
    seen: [bool; Dscp::COUNT],
    /// Groups of which it sees packets.
    flows: GroupMatch,
    /// Hosts between which it sees packets.
    hosts: HostMatch,
    law: Box<dyn Conditioner>,
}

impl Conditioner for Only {
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict {
        if self.seen[usize::from(packet.dscp()) % Dscp::COUNT]
            && self.flows.matches(packet)
            && self.hosts.matches(packet)
        {
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
    use crate::FlowGroups;
    use forebay_kernel::Streams;
    use forebay_network::{DropReason, FlowId, Marking, PacketKind, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Rate;

    fn table(entries: &[(&str, Value)]) -> Value {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        Value::Table(entries.iter().map(node).collect::<Table>())
    }

    fn make(dscp: &[&str]) -> Result<Box<dyn Conditioner>, Problem> {
        let dscp = dscp.iter().map(|name| Node::new((*name).into())).collect();
        make_of(vec![("dscp", Value::List(dscp))])
    }

    fn make_of(mut only: Vec<(&str, Value)>) -> Result<Box<dyn Conditioner>, Problem> {
        let bucket = [
            ("cir", "8 Mbit/s".into()),
            ("cbs", "1000 B".into()),
            ("conforming", 3.into()),
            ("excess", "drop".into()),
        ];
        only.push(("of", table(&[("token_bucket", table(&bucket))])));
        let node = Node::new(table(&only));
        let (echo, registry) = (Echo::default(), crate::registry());
        let groups = [("up", "home", "isp"), ("other", "office", "isp"), ("down", "isp", "home")];
        let owned =
            |(name, from, to): (&str, &str, &str)| (name.to_owned(), [from, to].map(str::to_owned));
        let flows = FlowGroups::new(groups.map(owned).to_vec());
        flows.place([1, 1, 1]);
        let facts = LinkFacts { flows, ..LinkFacts::of(Rate::from_bps(100_000_000)) };
        build(&Section::root(&node, &echo)?.with_registry(&registry), &facts)
    }

    /// Traffic of another class is not policed and does not use up the bucket: 1000 B are for EF
    /// and AF2x alone, of which the second packet finds none.
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

    /// A subscriber does not pay for another: 1000 B are for what the home sends, uploads of flow 0
    /// and acknowledgements of flow 2; the office, and what goes to the home, pass.
    #[test]
    fn other_hosts_pass_untouched() {
        let mut stream = Streams::new(0, 0).named("test");
        let offers = [(1, false), (2, false), (0, true), (0, false), (2, true)];
        let mut seen = |only| {
            let mut law = make_of(only).unwrap();
            offers.map(|(flow, ack)| {
                let packet = Packet::data(Time::ZERO, FlowId::new(flow), 0, 600, RouteId::new(0));
                let kind = if ack { PacketKind::Ack } else { PacketKind::Data };
                let mut packet = packet.with_kind(kind);
                let verdict = law.condition(&mut packet, Time::ZERO, &mut stream);
                (verdict, packet.precedence)
            })
        };
        let (passed, policed) = (Verdict::Accept, Verdict::Drop(DropReason::Policed));
        let of_home = seen(vec![("src", "home".into())]);
        assert_eq!(of_home[..4], [(passed, 0), (passed, 0), (passed, 0), (passed, 3)]);
        assert_eq!(of_home[4].0, policed);
        let both = seen(vec![("src", "isp".into()), ("dst", "home".into())]);
        assert_eq!((both[0].1, both[1].1), (0, 3));
        assert_eq!(both.map(|(verdict, _)| verdict == policed), [false, false, true, false, false]);
    }

    /// A conditioner that sees nothing is refused, as are unknown classes and hosts: it is not
    /// taken for one that polices.
    #[test]
    fn no_class_is_refused() {
        assert_eq!(make(&[]).err().map(|problem| problem.path), Some("dscp".to_owned()));
        assert_eq!(make(&["EF1"]).err().map(|problem| problem.path), Some("dscp".to_owned()));
        let problem = |only| make_of(only).err().map(|problem| (problem.path, problem.message));
        assert_eq!(problem(vec![]).map(|(path, _)| path), Some("dscp".to_owned()));
        let (path, message) = problem(vec![("dst", "hone".into())]).unwrap();
        assert!(path == "dst" && message.contains("did you mean \"home\""), "{path}: {message}");
    }
}
