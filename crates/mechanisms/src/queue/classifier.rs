//! Classifiers: to which class of a scheduler a packet belongs.

use forebay_network::{Ecn, Packet};
use forebay_parameters::{Node, Parameter, Problem, Section, Value, choice, parameters};

use super::MOST_PRECEDENCES;
use crate::{Dscp, DscpSet};

choice! {
    /// What packets are classified by.
    pub enum ClassifyBy {
        /// Their precedence (colour): see `map`.
        Precedence = "precedence",
        /// Their differentiated services codepoint: see `dscp`.
        Dscp = "dscp",
        /// Their ECN codepoint: see `ecn_classes`.
        Ecn = "ecn",
        /// The first rule that they match: see `rules`.
        Rules = "rules",
    }
}

parameters! {
    /// How the packets of a scheduler are classified.
    pub struct ClassifyOptions {
        /// What packets are classified by. If left out: that of `dscp`, `ecn_classes`, `rules` and
        /// `map` which is given.
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
        /// or a list) and `ecn` (a word, or a list: not-ect, ect1, ect0, ce).
        rules: Option<Vec<Rule>>, "RFC 2475, section 2.3.1 (multi-field classifier)";
        /// The class of packets whose codepoint stands nowhere in `dscp`, or that match no rule;
        /// the last if left out.
        otherwise: Option<u32>, "RFC 2474, section 3 (unrecognized codepoints)";
    }
}

/// A rule of a classifier.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rule {
    dscp: Option<DscpSet>,
    precedence: Option<Vec<u32>>,
    ecn: Option<Vec<EcnWord>>,
    class: u32,
}

choice! {
    /// ECN codepoints by name.
    pub enum EcnWord {
        /// Not ECN-capable.
        NotEct = "not-ect",
        /// ECT(1).
        Ect1 = "ect1",
        /// ECT(0).
        Ect0 = "ect0",
        /// Congestion experienced.
        Ce = "ce",
    }
}

impl EcnWord {
    fn codepoint(self) -> Ecn {
        match self {
            Self::NotEct => Ecn::NotEct,
            Self::Ect1 => Ecn::Ect1,
            Self::Ect0 => Ecn::Ect0,
            Self::Ce => Ecn::Ce,
        }
    }
}

/// One value, or a list of them.
fn several<T: Parameter>(node: &Node) -> Result<Vec<T>, String> {
    match &node.value {
        Value::List(_) => Vec::read(node),
        _ => T::read(node).map(|one| vec![one]),
    }
}

impl Parameter for Rule {
    const KIND: &'static str = "rule such as { dscp = \"EF\", class = 0 }";

    fn read(node: &Node) -> Result<Self, String> {
        let Value::Table(table) = &node.value else {
            return Err(format!("{} is not a {}", node.value.show(), Self::KIND));
        };
        let (mut rule, mut class) = (Self::default(), None);
        for (key, node) in table {
            match key.as_str() {
                "dscp" => rule.dscp = Some(DscpSet::read(node)?),
                "precedence" => rule.precedence = Some(several(node)?),
                "ecn" => rule.ecn = Some(several(node)?),
                "class" => class = Some(u32::read(node)?),
                other => {
                    return Err(format!(
                        "unknown key \"{other}\"; a rule has class and some of dscp, precedence \
                         and ecn"
                    ));
                }
            }
        }
        rule.class =
            class.ok_or_else(|| format!("a rule without class; it takes a {}", Self::KIND))?;
        Ok(rule)
    }

    fn show(&self) -> String {
        let Self { dscp, precedence, ecn, class } = self;
        let parts = [("dscp", dscp.show()), ("precedence", precedence.show()), ("ecn", ecn.show())];
        let parts = parts.iter().map(|(key, value)| format!("{key} = {value}, "));
        format!("{{ {}class = {class} }}", parts.collect::<String>())
    }
}

impl Rule {
    fn matches(&self, packet: &Packet) -> bool {
        let Self { dscp, precedence, ecn, .. } = self;
        dscp.as_ref().is_none_or(|set| set.0.contains(&Dscp(packet.dscp())))
            && precedence.as_ref().is_none_or(|all| all.contains(&u32::from(packet.precedence)))
            && ecn
                .as_ref()
                .is_none_or(|all| all.iter().any(|word| word.codepoint() == packet.ecn()))
    }
}

/// To which class a packet belongs.
pub(super) enum Classifier {
    /// By precedence.
    Precedence([u8; MOST_PRECEDENCES]),
    /// By differentiated services codepoint.
    Dscp([u8; Dscp::COUNT]),
    /// By ECN codepoint.
    Ecn([u8; 4]),
    /// By the first rule that matches, and the class of packets that match none.
    Rules(Vec<Rule>, u8),
}

impl Classifier {
    /// The class of `packet`, of those that the classifier was made for.
    #[inline(always)]
    pub(super) fn class(&self, packet: &Packet) -> usize {
        match self {
            Self::Precedence(map) => map[usize::from(packet.precedence) % MOST_PRECEDENCES].into(),
            other => other.class_otherwise(packet),
        }
    }

    #[inline(never)]
    fn class_otherwise(&self, packet: &Packet) -> usize {
        let class = match self {
            Self::Precedence(map) => map[usize::from(packet.precedence) % MOST_PRECEDENCES],
            Self::Dscp(map) => map[usize::from(packet.dscp()) % Dscp::COUNT],
            Self::Ecn(map) => map[packet.ecn() as usize],
            Self::Rules(rules, otherwise) => {
                let found = rules.iter().find(|rule| rule.matches(packet));
                found.map_or(*otherwise, |rule| rule.class as u8)
            }
        };
        usize::from(class)
    }
}

impl ClassifyOptions {
    /// What the keys that are given classify by.
    fn given(&self) -> Vec<(ClassifyBy, &'static str)> {
        let all = [
            (ClassifyBy::Precedence, "map", self.map.is_some()),
            (ClassifyBy::Dscp, "dscp", self.dscp.is_some()),
            (ClassifyBy::Ecn, "ecn_classes", self.ecn_classes.is_some()),
            (ClassifyBy::Rules, "rules", self.rules.is_some()),
        ];
        let given = all.into_iter().filter(|(.., given)| *given);
        given.map(|(by, key, _)| (by, key)).collect()
    }

    /// The classifier for `classes` classes, 1 to 64, by what the scenario says.
    pub(super) fn build(
        &self,
        section: &Section<'_>,
        classes: usize,
    ) -> Result<Classifier, Problem> {
        let Some(by) = self.by(section)? else {
            let message = "is missing: say what packets are classified by, classify = \
                           \"precedence\", or by dscp, ecn_classes or rules = [...]";
            return Err(section.fail("classify", message));
        };
        self.build_by(by, section, classes)
    }

    /// As [`ClassifyOptions::build`], by precedence where the scenario says nothing.
    pub(super) fn build_or_precedence(
        &self,
        section: &Section<'_>,
        classes: usize,
    ) -> Result<Classifier, Problem> {
        let by = self.by(section)?.unwrap_or(ClassifyBy::Precedence);
        self.build_by(by, section, classes)
    }

    fn by(&self, section: &Section<'_>) -> Result<Option<ClassifyBy>, Problem> {
        let given = self.given();
        let by = self.classify.or(given.first().map(|(by, _)| *by));
        if let Some((_, key)) = given.iter().find(|(other, _)| Some(*other) != by) {
            let message = "packets are classified by something else already; allowed is one of \
                           map, dscp, ecn_classes and rules, that which classify names";
            return Err(section.fail(key, message));
        }
        let has_rest = matches!(by, Some(ClassifyBy::Dscp | ClassifyBy::Rules));
        if self.otherwise.is_some() && !has_rest {
            let message = "is for dscp and rules: every precedence and ECN codepoint has a class";
            return Err(section.fail("otherwise", message));
        }
        Ok(by)
    }

    fn build_by(
        &self,
        by: ClassifyBy,
        section: &Section<'_>,
        classes: usize,
    ) -> Result<Classifier, Problem> {
        let last = classes - 1;
        let class = |key: &str, class: u32| match u8::try_from(class) {
            Ok(known) if usize::from(known) <= last => Ok(known),
            _ => {
                let message = format!("{class} is not a class; allowed are 0 to {last}");
                Err(section.fail(key, message))
            }
        };
        let rest = self.otherwise.map_or(Ok(last as u8), |rest| class("otherwise", rest))?;
        let missing = |key: &str| section.fail(key, "is missing, by which classify says to go");
        Ok(match by {
            ClassifyBy::Precedence => Classifier::Precedence(self.by_precedence(section, last)?),
            ClassifyBy::Dscp => {
                let sets = self.dscp.as_ref().ok_or_else(|| missing("dscp"))?;
                Classifier::Dscp(by_dscp(section, sets, rest, last)?)
            }
            ClassifyBy::Ecn => {
                let given = self.ecn_classes.as_ref().ok_or_else(|| missing("ecn_classes"))?;
                let all: Vec<u8> = given
                    .iter()
                    .map(|number| class("ecn_classes", *number))
                    .collect::<Result<_, _>>()?;
                let map = <[u8; 4]>::try_from(all).map_err(|all| {
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
                Classifier::Rules(rules.clone(), rest)
            }
        })
    }

    /// The class of each precedence.
    fn by_precedence(
        &self,
        section: &Section<'_>,
        last: usize,
    ) -> Result<[u8; MOST_PRECEDENCES], Problem> {
        if let Some(given) = &self.map {
            if given.is_empty() || given.len() > MOST_PRECEDENCES {
                let message =
                    format!("has {} entries; allowed are 1 to {MOST_PRECEDENCES}", given.len());
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
        Ok(std::array::from_fn(|precedence| {
            u8::try_from(class_of(precedence)).expect("there are up to 64 classes")
        }))
    }
}

/// The class of each codepoint.
fn by_dscp(
    section: &Section<'_>,
    sets: &[DscpSet],
    rest: u8,
    last: usize,
) -> Result<[u8; Dscp::COUNT], Problem> {
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
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Parameters, Table};
    use forebay_units::Time;

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
        ClassifyOptions::read(&section)?.build(&section, 3)
    }

    fn packet(precedence: u8, dscp: u8, ecn: Ecn) -> Packet {
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 100, RouteId::new(0));
        packet.with_marking(forebay_network::Marking { precedence, dscp }).with_ecn(ecn)
    }

    /// A packet would join another class than the scenario says.
    #[test]
    fn packets_join_the_class_that_is_said() {
        let class = |classifier: &Classifier, precedence, dscp, ecn| {
            classifier.class(&packet(precedence, dscp, ecn))
        };
        let by = make(vec![("classify", "precedence".into())]).unwrap();
        let seen = [0, 1, 2, 3, 63].map(|precedence| class(&by, precedence, 46, Ecn::Ce));
        assert_eq!(seen, [0, 1, 2, 2, 2]);
        let sets = list(vec![Value::from("EF"), list(vec!["AF1x", "CS2"])]);
        let by = make(vec![("dscp", sets.clone())]).unwrap();
        let seen = [46, 10, 12, 14, 16, 0, 63].map(|dscp| class(&by, 0, dscp, Ecn::NotEct));
        assert_eq!(seen, [0, 1, 1, 1, 1, 2, 2]);
        let by = make(vec![("dscp", sets), ("otherwise", 1.into())]).unwrap();
        assert_eq!(class(&by, 0, 0, Ecn::NotEct), 1);
        let by = make(vec![("ecn_classes", list(vec![1, 0, 2, 0]))]).unwrap();
        let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        assert_eq!(all.map(|ecn| class(&by, 0, 0, ecn)), [1, 0, 2, 0]);
        let rules = list(vec![
            table(vec![("dscp", "EF".into()), ("class", 0.into())]),
            table(vec![("ecn", list(vec!["ect1", "ce"])), ("class", 1.into())]),
            table(vec![("precedence", 0.into()), ("dscp", "AF1x".into()), ("class", 0.into())]),
        ]);
        let by = make(vec![("rules", rules)]).unwrap();
        assert_eq!(class(&by, 0, 46, Ecn::Ce), 0);
        assert_eq!(class(&by, 0, 10, Ecn::Ce), 1);
        assert_eq!(class(&by, 0, 10, Ecn::Ect0), 0);
        assert_eq!(class(&by, 1, 10, Ecn::Ect0), 2);
    }

    /// Packets would be classified by what was not meant, or by a class that does not exist.
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
        for wrong in [
            table(vec![("dscp", "EF".into())]),
            table(vec![("class", 3.into())]),
            table(vec![("class", 0.into()), ("dcsp", "EF".into())]),
            "EF".into(),
        ] {
            assert_eq!(path(vec![("rules", list(vec![wrong]))]), "rules");
        }
    }
}
