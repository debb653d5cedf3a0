//! A conditioner of its own for each flow, or each host.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Inner, Parameters, Probe, Problem, Registry, Section, parameters};
use forebay_units::Time;

use super::{BuildConditioner, Conditioners};
use crate::{FlowKeys, LinkFacts};

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "per_flow",
    summary: "Gives each flow, group or host whose packets pass a conditioner of its own, all with \
              equal parameters.",
    source: "RFC 2475, section 2.3.1 (classification by microflow)",
    example: r#"of = { token_bucket = { cir = "400 kbit/s", cbs = "3 kB", excess = "drop" } }"#,
    fields: PerFlowParameters::FIELDS,
    probes: &[Probe {
        name: "conditioned_flows",
        unit: "1",
        meaning: "Flows, or hosts, seen; the quantities of their conditioners are means over them.",
    }],
    build: &build,
};

parameters! {
    /// Parameters of conditioners for each flow, or each host.
    pub struct PerFlowParameters {
        /// Unit that has a conditioner of its own: each flow, if left out, with its
        /// acknowledgements; by `"group"` each group of flows, by `"src"` or `"dst"` each source or
        /// destination host, such as a subscriber.
        keys: Option<FlowKeys>, "Linux tc-flow(8) (hash keys); RFC 2475, section 2.3.1";
        /// The conditioner that each gets, new when its first packet arrives. The calls of a class
        /// are one flow. Series show the means of its probes over those seen.
        of: Inner<Conditioners>, "RFC 2475, section 2.3.1";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let PerFlowParameters { keys, of } = PerFlowParameters::read(section)?;
    let pattern = of.build(section, |build, inner| build(inner, facts))?;
    let (registry, facts) = (section.registry().clone(), facts.clone());
    let (places, flows) = (Vec::new(), Vec::new());
    let keys = keys.unwrap_or(FlowKeys::Flow);
    Ok(Box::new(PerFlow { of, registry, facts, pattern, keys, places, flows }))
}

/// A flow stands here for a host as well, where those are told apart.
struct PerFlow {
    /// Configuration that each flow's conditioner is built from: one that has seen packets cannot
    /// be the pattern of a new one.
    of: Inner<Conditioners>,
    registry: Registry,
    facts: LinkFacts,
    /// One that nothing ever passes, to ask what is true of all.
    pattern: Box<dyn Conditioner>,
    keys: FlowKeys,
    /// Place of each flow among `flows`, by its number.
    places: Vec<u32>,
    /// In the order of their first packets: conditioner, and the stream that it draws from.
    flows: Vec<(Box<dyn Conditioner>, Stream)>,
}

/// The place of a flow that has not been seen.
const NONE: u32 = u32::MAX;

impl PerFlow {
    /// The place of `flow`, which gets one if it is new. `stream` is that of all.
    #[inline]
    fn place(&mut self, flow: u32, stream: &Stream) -> usize {
        match self.places.get(flow as usize) {
            Some(&place) if place != NONE => place as usize,
            _ => self.add(flow, stream),
        }
    }

    #[cold]
    fn add(&mut self, flow: u32, stream: &Stream) -> usize {
        let (place, number) = (self.flows.len(), flow as usize);
        if self.places.len() <= number {
            self.places.resize(number + 1, NONE);
        }
        self.places[number] = u32::try_from(place).expect("flows are numbered so");
        let law = self
            .of
            .build_again(&self.registry, |build, inner| build(inner, &self.facts))
            .expect("the pattern was built from the same parameters");
        self.flows.push((law, stream.member(u64::from(flow))));
        place
    }
}

impl Conditioner for PerFlow {
    fn condition(&mut self, packet: &mut Packet, now: Time, stream: &mut Stream) -> Verdict {
        let host = self.keys.number(packet, &self.facts.flows);
        let place = self.place(host.unwrap_or(packet.flow.number()), stream);
        let (law, own) = &mut self.flows[place];
        law.condition(packet, now, own)
    }

    fn smallest_burst(&self) -> Option<u64> {
        self.pattern.smallest_burst()
    }

    fn colours(&self) -> bool {
        self.pattern.colours()
    }

    fn uses_rtt(&self) -> bool {
        self.pattern.uses_rtt()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        let mut sums: Vec<(String, f64, u32)> = Vec::new();
        for (law, _) in &self.flows {
            law.probes(
                &mut |name, value| match sums.iter_mut().find(|(known, ..)| known == name) {
                    Some((_, sum, count)) => (*sum, *count) = (*sum + value, *count + 1),
                    None => sums.push((name.to_owned(), value, 1)),
                },
            );
        }
        for (name, sum, count) in sums {
            visit(&name, sum / f64::from(count));
        }
        visit("conditioned_flows", self.flows.len() as f64);
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        // What all flows together are paid for is bounded by no bucket of one of them.
        for (law, _) in &self.flows {
            law.buckets(&mut |bucket| visit(&BucketState { pays: None, ..*bucket }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowGroups;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, PacketKind, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::{Rate, Span};

    fn table(entries: &[(&str, Value)]) -> Value {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        Value::Table(entries.iter().map(node).collect::<Table>())
    }

    fn make(of: Value) -> Result<Box<dyn Conditioner>, Problem> {
        make_of(&[("of", of)])
    }

    /// In a network of two flows of a home, one of an office, and one to that home.
    fn make_of(per_flow: &[(&str, Value)]) -> Result<Box<dyn Conditioner>, Problem> {
        let (node, echo) = (Node::new(table(per_flow)), Echo::default());
        let groups = [("up", "home", "isp"), ("other", "office", "isp"), ("down", "isp", "home")];
        let owned =
            |(name, from, to): (&str, &str, &str)| (name.to_owned(), [from, to].map(str::to_owned));
        let flows = FlowGroups::new(groups.map(owned).to_vec());
        flows.place([2, 1, 1]);
        let facts = LinkFacts { flows, ..LinkFacts::of(Rate::from_bps(100_000_000)) };
        build(&Section::root(&node, &echo)?.with_registry(&crate::registry()), &facts)
    }

    fn stream() -> Stream {
        Streams::new(1, 0).named("links.a.conditioner")
    }

    fn bucket() -> Value {
        table(&[("token_bucket", table(&[("cir", "8 Mbit/s".into()), ("cbs", "3 kB".into())]))])
    }

    /// No flow uses up the profile of another: each of three flows, numbered with gaps and in no
    /// order, has 3000 B at once and 1000 B more each ms.
    #[test]
    fn every_flow_has_its_own_profile() {
        let mut law = make(bucket()).unwrap();
        let mut stream = stream();
        let mut offer = |ms: u64, flow: usize| {
            let now = Time::ZERO + Span::from_ms(ms);
            let mut packet = Packet::data(now, FlowId::new(flow), 0, 1000, RouteId::new(0));
            assert_eq!(law.condition(&mut packet, now, &mut stream), Verdict::Accept);
            packet.precedence
        };
        for _ in 0..3 {
            assert_eq!([9, 2, 5].map(|flow| offer(0, flow)), [0; 3]);
        }
        assert_eq!([9, 2, 5].map(|flow| offer(0, flow)), [1; 3]);
        assert_eq!([offer(1, 2), offer(1, 2), offer(1, 9)], [0, 1, 0]);
        let mut told = Vec::new();
        law.probes(&mut |name, value| told.push((name.to_owned(), value)));
        // Flow 5 is not looked at: its bucket is brought up to date when its next packet comes.
        let expected = [("tokens".to_owned(), 0.0), ("conditioned_flows".to_owned(), 3.0)];
        assert_eq!(told, expected);
        assert_eq!(law.smallest_burst(), Some(3000));
    }

    /// A subscriber buys no more by more flows: with 3000 B for each source host, the two flows of
    /// the home and what it acknowledges share one bucket; by destination all uploads share one; by
    /// pairs what goes from the home to the ISP does, be it data or an acknowledgement.
    #[test]
    fn hosts_have_one_profile_for_all_their_flows() {
        // Flows with whether an acknowledgement passes; 1000 B each.
        let offers = [(0, false), (1, false), (2, false), (3, true), (0, false), (2, false)];
        let colours = |keys: &str| {
            let mut law = make_of(&[("of", bucket()), ("keys", keys.into())]).unwrap();
            let mut stream = stream();
            offers.map(|(flow, ack)| {
                let packet = Packet::data(Time::ZERO, FlowId::new(flow), 0, 1000, RouteId::new(0));
                let kind = if ack { PacketKind::Ack } else { PacketKind::Data };
                let mut packet = packet.with_kind(kind);
                law.condition(&mut packet, Time::ZERO, &mut stream);
                packet.precedence
            })
        };
        assert_eq!(colours("flow"), [0, 0, 0, 0, 0, 0]);
        assert_eq!(colours("src"), [0, 0, 0, 0, 1, 0]);
        assert_eq!(colours("dst"), [0, 0, 0, 1, 1, 1]);
        assert_eq!(colours("src,dst"), [0, 0, 0, 0, 1, 0]);
    }

    /// Draws for one flow do not depend on the packets of another: the colours of a flow are those
    /// that it gets alone.
    #[test]
    fn flows_draw_from_streams_of_their_own() {
        let colours = |flows: &[usize]| -> Vec<u8> {
            let of = [
                ("ctr", "1 Mbit/s".into()),
                ("ptr", "2 Mbit/s".into()),
                ("window", "10 ms".into()),
            ];
            let mut law = make(table(&[("tswtcm", table(&of))])).unwrap();
            let mut stream = stream();
            let mut seen = Vec::new();
            for ms in 0..200 {
                for flow in flows {
                    let now = Time::ZERO + Span::from_ms(ms);
                    let mut packet =
                        Packet::data(now, FlowId::new(*flow), ms, 300, RouteId::new(0));
                    law.condition(&mut packet, now, &mut stream);
                    if *flow == 3 {
                        seen.push(packet.precedence);
                    }
                }
            }
            seen
        };
        let alone = colours(&[3]);
        assert_eq!(alone, colours(&[7, 3, 4]));
        assert!((0..3).all(|colour| alone.contains(&colour)), "the law draws: {alone:?}");
    }

    /// A wrong profile is refused before its first flow arrives, and its error points to its place.
    #[test]
    fn wrong_profiles_are_refused_where_they_stand() {
        let path = |of| make(of).err().map_or(String::new(), |problem| problem.path);
        assert_eq!(path(bucket()), "");
        assert_eq!(path("token_bucket".into()), "of.token_bucket.cir");
        assert_eq!(path("token_buckets".into()), "of");
        assert_eq!(path(table(&[("per_flow", table(&[]))])), "of.per_flow.of");
        let nested = table(&[("per_flow", table(&[("of", bucket())]))]);
        assert_eq!(path(nested), "");
        let (node, echo) = (Node::new(table(&[])), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(1));
        let missing =
            build(&Section::root(&node, &echo).unwrap().with_registry(&crate::registry()), &facts)
                .err()
                .unwrap();
        assert_eq!(missing.path, "of");
    }
}
