//! Classifiers: to which class of a scheduler a packet belongs.

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_parameters::{Problem, Section, choice, parameters};
use forebay_units::{Span, Time};

use crate::queue::MAX_PRECEDENCES;
use crate::queue::parts::class_hash::ClassHash;
use crate::queue::parts::class_rules::{Rule, Rules};
use crate::queue::parts::flow_hash::Tuples;
use crate::{Dscp, DscpSet, FlowGroups, FlowKeys, GroupSet, LinkFacts};

choice! {
    /// Property that packets are classified by.
    pub enum ClassifyBy {
        /// Their precedence (colour): see `map`.
        Precedence = "precedence",
        /// Their differentiated services codepoint: see `dscp`.
        Dscp = "dscp",
        /// Their ECN codepoint: see `ecn_classes`.
        Ecn = "ecn",
        /// The first rule that they match: see `rules`.
        Rules = "rules",
        /// The group of flows that they are of, acknowledgements too: see `flow_groups`.
        FlowGroup = "flow_group",
        /// A hash of their flow, so that flows are spread over the classes by chance;
        /// acknowledgements are flows of their own. See `keys`, `perturb` and `salt`. Series show
        /// `class_collisions`, the packets that joined a class where the last that waited was of
        /// another flow, and `class_perturbations`, how often the hash function changed.
        FlowHash = "flow_hash",
    }
}

parameters! {
    /// Options of a scheduler's classification of packets.
    pub struct ClassifyOptions {
        /// Property that packets are classified by. If left out: that of `dscp`, `ecn_classes`,
        /// `rules`, `flow_groups` and `map` which is given.
        classify: Option<ClassifyBy>, "RFC 2475, section 2.3.1";
        /// The class of each precedence, from 0 on; the last holds for higher ones too. For cells
        /// with two priorities, of which precedences 2 and 3 are those with CLP=1: [0, 1, 0, 1].
        /// Each precedence its own class if left out, those beyond the last class in the last.
        map: Option<Vec<u32>>, "RFC 2597, section 2 (class and drop precedence are two things)";
        /// The codepoints of each class, one entry for each of the first classes: a codepoint, or a
        /// list of them. `"AF1x"` is all three of that class.
        dscp: Option<Vec<DscpSet>>, "RFC 2475, section 2.3.1 (behavior aggregate classifier)";
        /// The class of each ECN codepoint: Not-ECT, ECT(1), ECT(0), CE.
        ecn_classes: Option<Vec<u32>>, "RFC 9331, section 5.1; RFC 3168, section 5";
        /// Rules, of which the first that matches decides: `{ dscp = "EF", class = 0 }`. A rule
        /// matches packets that have all that it names of `dscp` (one or a list), `precedence` (one
        /// or a list), `ecn` (a word, or a list: not-ect, ect1, ect0, ce), `flows` (the name of a
        /// group or a tag, or a list), `src` and `dst` (the name of a host, a node or a tag, or a
        /// list: acknowledgements come from where their flow ends).
        rules: Option<Vec<Rule>>, "RFC 2475, section 2.3.1 (multi-field classifier)";
        /// The groups of flows of each class, one entry for each of the first classes: the name of
        /// a group or of a tag, or a list of names.
        flow_groups: Option<Vec<GroupSet>>, "RFC 2475, section 2.3.1 (multi-field classifier)";
        /// Fields that `flow_hash` takes the hash of; the flow if left out.
        keys: Option<FlowKeys>, "Linux tc-flow(8) (hash keys)";
        /// Period after which the hash function of `flow_hash` changes, above 0. Packets that wait
        /// stay where they are, so that those of a flow may overtake each other. Never if left out.
        perturb: Option<Span>, "Linux tc-flow(8) (perturb)";
        /// Key of the hash function of `flow_hash`. Drawn at random if left out, for each run
        /// another.
        salt: Option<u64>, "McKenney 1990, section 3";
        /// The class of packets whose codepoint stands nowhere in `dscp`, that match no rule, or
        /// whose group stands nowhere in `flow_groups`; the last if left out.
        otherwise: Option<u32>, "RFC 2474, section 3 (unrecognized codepoints)";
    }
}

/// To which class a packet belongs.
pub(in crate::queue) enum Classifier {
    /// Class of each precedence.
    Precedence([u16; MAX_PRECEDENCES]),
    /// Class of each differentiated services codepoint.
    Dscp([u16; Dscp::COUNT]),
    /// Class of each ECN codepoint.
    Ecn([u16; 4]),
    /// Class of the first rule that matches.
    Rules(Rules),
    /// Class of each group of flows.
    FlowGroups(FlowGroups, Vec<u16>),
    /// Class from a hash of the flow.
    FlowHash(Box<ClassHash>),
}

impl Classifier {
    /// The class of `packet`, which arrives at `now`, of those that the classifier was made for.
    #[inline(always)]
    pub(in crate::queue) fn class(
        &mut self,
        packet: &Packet,
        now: Time,
        stream: &mut Stream,
    ) -> usize {
        match self {
            Self::Precedence(map) => map[usize::from(packet.precedence) % MAX_PRECEDENCES].into(),
            other => other.class_otherwise(packet, now, stream),
        }
    }

    #[inline(never)]
    fn class_otherwise(&mut self, packet: &Packet, now: Time, stream: &mut Stream) -> usize {
        let class = match self {
            Self::Precedence(map) => map[usize::from(packet.precedence) % MAX_PRECEDENCES],
            Self::Dscp(map) => map[usize::from(packet.dscp()) % Dscp::COUNT],
            Self::Ecn(map) => map[packet.ecn() as usize],
            Self::Rules(rules) => rules.class(packet),
            Self::FlowGroups(groups, map) => map[groups.group_of(packet.flow)],
            Self::FlowHash(hash) => return hash.class(packet, now, stream),
        };
        usize::from(class)
    }

    /// The class of packets of `precedence`, if they are classified by that alone.
    pub(in crate::queue) fn class_of_precedence(&self, precedence: u8) -> Option<usize> {
        match self {
            Self::Precedence(map) => Some(map[usize::from(precedence) % MAX_PRECEDENCES].into()),
            _ => None,
        }
    }

    /// `packet` was admitted to `class`, where `others` tells whether others wait.
    #[inline]
    pub(in crate::queue) fn admitted(
        &mut self,
        class: usize,
        packet: &Packet,
        others: impl FnOnce() -> bool,
    ) {
        if let Self::FlowHash(hash) = self {
            hash.admitted(class, packet, others());
        }
    }

    /// Visit how often flows collided and the hash function changed, where packets are classified
    /// by one.
    pub(in crate::queue) fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        if let Self::FlowHash(hash) = self {
            visit("class_collisions", hash.collisions() as f64);
            visit("class_perturbations", hash.perturbations() as f64);
        }
    }
}

impl ClassifyOptions {
    /// Returns the properties that the given keys classify by.
    fn given(&self) -> Vec<(ClassifyBy, &'static str)> {
        let all = [
            (ClassifyBy::Precedence, "map", self.map.is_some()),
            (ClassifyBy::Dscp, "dscp", self.dscp.is_some()),
            (ClassifyBy::Ecn, "ecn_classes", self.ecn_classes.is_some()),
            (ClassifyBy::Rules, "rules", self.rules.is_some()),
            (ClassifyBy::FlowGroup, "flow_groups", self.flow_groups.is_some()),
        ];
        let given = all.into_iter().filter(|(.., given)| *given);
        given.map(|(by, key, _)| (by, key)).collect()
    }

    /// The classifier for `classes` classes, at least one, by what the scenario says.
    pub(in crate::queue) fn build(
        &self,
        section: &Section<'_>,
        facts: &LinkFacts,
        classes: usize,
    ) -> Result<Classifier, Problem> {
        // There is nothing to say of one class.
        let only = (classes == 1).then_some(ClassifyBy::Precedence);
        let Some(by) = self.by(section)?.or(only) else {
            let message = "is missing: say what packets are classified by, classify = \
                           \"precedence\" or \"flow_hash\", or by dscp, ecn_classes, rules or \
                           flow_groups = [...]";
            return Err(section.fail("classify", message));
        };
        self.build_by(by, section, facts, classes)
    }

    /// As [`ClassifyOptions::build`], by precedence where the scenario says nothing.
    pub(in crate::queue) fn build_or_precedence(
        &self,
        section: &Section<'_>,
        facts: &LinkFacts,
        classes: usize,
    ) -> Result<Classifier, Problem> {
        let by = self.by(section)?.unwrap_or(ClassifyBy::Precedence);
        self.build_by(by, section, facts, classes)
    }

    fn by(&self, section: &Section<'_>) -> Result<Option<ClassifyBy>, Problem> {
        let given = self.given();
        let by = self.classify.or(given.first().map(|(by, _)| *by));
        if let Some((_, key)) = given.iter().find(|(other, _)| Some(*other) != by) {
            let message = "packets are classified by something else already; allowed is one of \
                           map, dscp, ecn_classes, rules and flow_groups, that which classify \
                           names";
            return Err(section.fail(key, message));
        }
        let has_rest =
            matches!(by, Some(ClassifyBy::Dscp | ClassifyBy::Rules | ClassifyBy::FlowGroup));
        if self.otherwise.is_some() && !has_rest {
            let message = "is for dscp, rules and flow_groups: every precedence, ECN codepoint and \
                           hash has a class";
            return Err(section.fail("otherwise", message));
        }
        if by != Some(ClassifyBy::FlowHash) {
            let given = [
                ("keys", self.keys.is_some()),
                ("perturb", self.perturb.is_some()),
                ("salt", self.salt.is_some()),
            ];
            if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(section.fail(key, "is for classify = \"flow_hash\" alone"));
            }
        }
        if self.perturb == Some(Span::ZERO) {
            return Err(section.fail("perturb", "is zero; allowed is any time above 0 s"));
        }
        Ok(by)
    }

    fn build_by(
        &self,
        by: ClassifyBy,
        section: &Section<'_>,
        facts: &LinkFacts,
        classes: usize,
    ) -> Result<Classifier, Problem> {
        let last = classes - 1;
        let class = |key: &str, class: u32| match u16::try_from(class) {
            Ok(known) if usize::from(known) <= last => Ok(known),
            _ => {
                let message = format!("{class} is not a class; allowed are 0 to {last}");
                Err(section.fail(key, message))
            }
        };
        let rest = self.otherwise.map_or(Ok(last as u16), |rest| class("otherwise", rest))?;
        let missing = |key: &str| section.fail(key, "is missing, by which classify says to go");
        Ok(match by {
            ClassifyBy::Precedence => Classifier::Precedence(self.by_precedence(section, last)?),
            ClassifyBy::Dscp => {
                let sets = self.dscp.as_ref().ok_or_else(|| missing("dscp"))?;
                Classifier::Dscp(by_dscp(section, sets, rest, last)?)
            }
            ClassifyBy::Ecn => {
                let given = self.ecn_classes.as_ref().ok_or_else(|| missing("ecn_classes"))?;
                let all: Vec<u16> = given
                    .iter()
                    .map(|number| class("ecn_classes", *number))
                    .collect::<Result<_, _>>()?;
                let map = <[u16; 4]>::try_from(all).map_err(|all| {
                    let message = format!("has {} entries; allowed are 4", all.len());
                    section.fail("ecn_classes", message)
                })?;
                Classifier::Ecn(map)
            }
            ClassifyBy::Rules => {
                let rules = self.rules.as_ref().ok_or_else(|| missing("rules"))?;
                for rule in rules {
                    class("rules", rule.class)?;
                }
                let built = Rules::new(rules, &facts.flows, rest);
                Classifier::Rules(built.map_err(|message| section.fail("rules", message))?)
            }
            ClassifyBy::FlowGroup => {
                let sets = self.flow_groups.as_ref().ok_or_else(|| missing("flow_groups"))?;
                let map = by_group(section, sets, &facts.flows, (rest, last))?;
                Classifier::FlowGroups(facts.flows.clone(), map)
            }
            ClassifyBy::FlowHash => {
                let tuples = Tuples::of(self.keys, facts);
                let hash = ClassHash::new(tuples, classes, self.salt, self.perturb);
                Classifier::FlowHash(Box::new(hash))
            }
        })
    }

    /// The class of each precedence.
    fn by_precedence(
        &self,
        section: &Section<'_>,
        last: usize,
    ) -> Result<[u16; MAX_PRECEDENCES], Problem> {
        if let Some(given) = &self.map {
            if given.is_empty() || given.len() > MAX_PRECEDENCES {
                let message =
                    format!("has {} entries; allowed are 1 to {MAX_PRECEDENCES}", given.len());
                return Err(section.fail("map", message));
            }
            if let Some(wrong) = given.iter().find(|class| **class as usize > last) {
                let message = format!("{wrong} is not a class; allowed are 0 to {last}");
                return Err(section.fail("map", message));
            }
        }
        let class_of = |precedence: usize| match &self.map {
            None => precedence.min(last),
            Some(given) => given[precedence.min(given.len() - 1)] as usize,
        };
        Ok(std::array::from_fn(|precedence| class_of(precedence) as u16))
    }
}

/// The class of each group of flows.
fn by_group(
    section: &Section<'_>,
    sets: &[GroupSet],
    groups: &FlowGroups,
    (rest, last): (u16, usize),
) -> Result<Vec<u16>, Problem> {
    let fail = |message: String| section.fail("flow_groups", message);
    if sets.len() > last + 1 {
        return Err(fail(format!("has {} entries; there are {} classes", sets.len(), last + 1)));
    }
    let mut map = vec![None; groups.count().max(1)];
    for (class, set) in (0..).zip(sets) {
        for name in &set.0 {
            for at in groups.find(name).map_err(fail)? {
                if let Some(other) = map[at].replace(class) {
                    let name = groups.name(at);
                    return Err(fail(format!("\"{name}\" is in class {other} and in {class}")));
                }
            }
        }
    }
    Ok(map.into_iter().map(|class| class.unwrap_or(rest)).collect())
}

/// The class of each codepoint.
fn by_dscp(
    section: &Section<'_>,
    sets: &[DscpSet],
    rest: u16,
    last: usize,
) -> Result<[u16; Dscp::COUNT], Problem> {
    if sets.len() > last + 1 {
        let message = format!("has {} entries; there are {} classes", sets.len(), last + 1);
        return Err(section.fail("dscp", message));
    }
    let mut map = [None; Dscp::COUNT];
    for (class, set) in (0..).zip(sets) {
        for dscp in &set.0 {
            if let Some(other) = map[usize::from(dscp.0)].replace(class) {
                let message = format!("{} is in class {other} and in {class}", dscp.name());
                return Err(section.fail("dscp", message));
            }
        }
    }
    Ok(map.map(|class| class.unwrap_or(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Ecn, FlowId, PacketKind, RouteId};
    use forebay_parameters::{Echo, Node, Parameters, Table, Value};
    use forebay_units::Rate;

    fn list<T: Into<Value>>(items: Vec<T>) -> Value {
        Value::List(items.into_iter().map(|item| Node::new(item.into())).collect())
    }

    fn table(entries: Vec<(&str, Value)>) -> Value {
        let node = |(key, value): (&str, Value)| (key.to_owned(), Node::new(value));
        Value::Table(entries.into_iter().map(node).collect::<Table>())
    }

    fn make(entries: Vec<(&str, Value)>) -> Result<Classifier, Problem> {
        let (node, echo) = (Node::new(table(entries)), Echo::default());
        let section = Section::root(&node, &echo)?;
        let groups = [("mail", "h", "s"), ("voice", "i", "s"), ("web", "h", "t")];
        let owned =
            |(name, from, to): (&str, &str, &str)| (name.to_owned(), [from, to].map(str::to_owned));
        let flows = FlowGroups::new(groups.map(owned).to_vec());
        flows.place([1, 2, 1]);
        let facts = LinkFacts { flows, ..LinkFacts::of(Rate::from_bps(8_000_000)) };
        ClassifyOptions::read(&section)?.build(&section, &facts, 3)
    }

    fn packet(precedence: u8, dscp: u8, ecn: Ecn) -> Packet {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 100, RouteId::new(0));
        packet.with_marking(forebay_network::Marking { precedence, dscp }).with_ecn(ecn)
    }

    /// Packets join the class that the scenario says, by each property that they can be classified
    /// by.
    #[test]
    fn packets_join_the_class_that_is_said() {
        let mut stream = Streams::new(0, 0).named("test");
        let mut class = |classifier: &mut Classifier, precedence, dscp, ecn| {
            classifier.class(&packet(precedence, dscp, ecn), Time::ZERO, &mut stream)
        };
        let mut by = make(vec![("classify", "precedence".into())]).unwrap();
        let seen = [0, 1, 2, 3, 63].map(|precedence| class(&mut by, precedence, 46, Ecn::Ce));
        assert_eq!(seen, [0, 1, 2, 2, 2]);
        let sets = list(vec![Value::from("EF"), list(vec!["AF1x", "CS2"])]);
        let mut by = make(vec![("dscp", sets.clone())]).unwrap();
        let seen = [46, 10, 12, 14, 16, 0, 63].map(|dscp| class(&mut by, 0, dscp, Ecn::NotEct));
        assert_eq!(seen, [0, 1, 1, 1, 1, 2, 2]);
        let mut by = make(vec![("dscp", sets), ("otherwise", 1.into())]).unwrap();
        assert_eq!(class(&mut by, 0, 0, Ecn::NotEct), 1);
        let mut by = make(vec![("ecn_classes", list(vec![1, 0, 2, 0]))]).unwrap();
        let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        assert_eq!(all.map(|ecn| class(&mut by, 0, 0, ecn)), [1, 0, 2, 0]);
        let rules = list(vec![
            table(vec![("dscp", "EF".into()), ("class", 0.into())]),
            table(vec![("ecn", list(vec!["ect1", "ce"])), ("class", 1.into())]),
            table(vec![("precedence", 0.into()), ("dscp", "AF1x".into()), ("class", 0.into())]),
        ]);
        let mut by = make(vec![("rules", rules)]).unwrap();
        assert_eq!(class(&mut by, 0, 46, Ecn::Ce), 0);
        assert_eq!(class(&mut by, 0, 10, Ecn::Ce), 1);
        assert_eq!(class(&mut by, 0, 10, Ecn::Ect0), 0);
        assert_eq!(class(&mut by, 1, 10, Ecn::Ect0), 2);
    }

    /// Flows, data and acknowledgements, are in the class of their group: groups mail, voice and
    /// web have the flows 0, 1 and 2, and 3.
    #[test]
    fn flows_join_the_class_of_their_group() {
        let mut stream = Streams::new(0, 0).named("test");
        let mut classes = |entries| {
            let mut by = make(entries).unwrap();
            [0, 1, 2, 3].map(|flow| {
                let mut data = packet(0, 46, Ecn::Ect0);
                data.flow = FlowId::new(flow);
                let [data, ack] = [data, data.with_kind(PacketKind::Ack)]
                    .map(|packet| by.class(&packet, Time::ZERO, &mut stream));
                assert_eq!(data, ack);
                data
            })
        };
        let groups = list(vec![Value::from("web"), list(vec!["voice"])]);
        assert_eq!(classes(vec![("flow_groups", groups)]), [2, 1, 1, 0]);
        let both = list(vec![list(vec!["mail", "web"])]);
        assert_eq!(classes(vec![("flow_groups", both), ("otherwise", 1.into())]), [0, 1, 1, 0]);
        let rules = list(vec![
            table(vec![("flows", "voice".into()), ("dscp", "EF".into()), ("class", 0.into())]),
            table(vec![("flows", list(vec!["mail", "voice"])), ("class", 1.into())]),
        ]);
        assert_eq!(classes(vec![("rules", rules)]), [1, 0, 0, 2]);
    }

    /// A subscriber's packets are in the class of its hosts: mail is from host h to s, voice from i
    /// to s, web from h to t; acknowledgements go the other way. What is hashed is one host.
    #[test]
    fn packets_join_the_class_of_their_hosts() {
        let mut stream = Streams::new(0, 0).named("test");
        let mut classes = |entries| {
            let mut by = make(entries).unwrap();
            [0, 1, 3].map(|flow| {
                let mut data = packet(0, 0, Ecn::Ect0);
                data.flow = FlowId::new(flow);
                [data, data.with_kind(PacketKind::Ack)]
                    .map(|packet| by.class(&packet, Time::ZERO, &mut stream))
            })
        };
        let rules = list(vec![
            table(vec![("src", "h".into()), ("dst", "t".into()), ("class", 0.into())]),
            table(vec![("src", list(vec!["h", "t"])), ("class", 1.into())]),
        ]);
        assert_eq!(classes(vec![("rules", rules)]), [[1, 2], [2, 2], [0, 1]]);
        for (keys, same) in [("src", [0, 2]), ("dst", [0, 1])] {
            let hash = vec![("classify", "flow_hash".into()), ("keys", keys.into())];
            let found = classes(hash);
            let [one, other] = same.map(|at| found[at][0]);
            assert_eq!(one, other, "{keys}");
        }
    }

    /// Contradictory or missing keys, and classes that do not exist, are refused where they stand.
    #[test]
    fn contradictions_are_refused_where_they_stand() {
        let path = |entries| make(entries).err().map_or(String::new(), |problem| problem.path);
        assert_eq!(path(vec![]), "classify");
        assert_eq!(path(vec![("classify", "dscp".into())]), "dscp");
        assert_eq!(path(vec![("classify", "ecn".into())]), "ecn_classes");
        assert_eq!(path(vec![("classify", "rules".into())]), "rules");
        assert_eq!(path(vec![("classify", "ecn".into()), ("map", list(vec![0]))]), "map");
        let both = vec![("dscp", list(vec!["EF"])), ("map", list(vec![0]))];
        assert_eq!(path(both), "dscp");
        assert_eq!(path(vec![("map", list(vec![0, 3]))]), "map");
        assert_eq!(path(vec![("map", list(vec![0])), ("otherwise", 1.into())]), "otherwise");
        assert_eq!(path(vec![("dscp", list(vec!["EF"])), ("otherwise", 3.into())]), "otherwise");
        assert_eq!(path(vec![("dscp", list(vec!["EF", "EF"]))]), "dscp");
        assert_eq!(path(vec![("dscp", list(vec!["EF", "CS1", "CS2", "CS3"]))]), "dscp");
        assert_eq!(path(vec![("ecn_classes", list(vec![0, 0, 0]))]), "ecn_classes");
        assert_eq!(path(vec![("ecn_classes", list(vec![0, 0, 0, 3]))]), "ecn_classes");
        assert_eq!(path(vec![("classify", "flow_group".into())]), "flow_groups");
        let twice = list(vec!["web", "voice", "web"]);
        assert_eq!(path(vec![("flow_groups", twice)]), "flow_groups");
        assert_eq!(path(vec![("flow_groups", list(vec!["wbe"]))]), "flow_groups");
        let four = list(vec!["web", "voice", "mail", "mail"]);
        assert_eq!(path(vec![("flow_groups", four)]), "flow_groups");
        let hash = |more| [vec![("classify", "flow_hash".into())], more].concat();
        assert_eq!(path(hash(vec![("perturb", "0 s".into())])), "perturb");
        assert_eq!(path(hash(vec![("otherwise", 0.into())])), "otherwise");
        assert_eq!(path(hash(vec![("keys", "source".into())])), "keys");
        assert_eq!(path(vec![("dscp", list(vec!["EF"])), ("keys", "src".into())]), "keys");
        assert_eq!(path(hash(vec![("flow_groups", list(vec!["web"]))])), "flow_groups");
        assert_eq!(path(vec![("dscp", list(vec!["EF"])), ("salt", 1.into())]), "salt");
        for wrong in [
            table(vec![("flows", "wbe".into()), ("class", 0.into())]),
            table(vec![("src", "home".into()), ("class", 0.into())]),
            table(vec![("dscp", "EF".into())]),
            table(vec![("class", 3.into())]),
            table(vec![("class", 0.into()), ("dcsp", "EF".into())]),
            "EF".into(),
        ] {
            assert_eq!(path(vec![("rules", list(vec![wrong]))]), "rules");
        }
    }
}
