//! Rules of classifiers: the class of packets that have all of several properties.

use forebay_network::{Ecn, Packet};
use forebay_parameters::{Node, Parameter, Value, choice};

use crate::{Dscp, DscpSet, FlowGroups, GroupMatch, GroupSet, HostMatch, HostSet};

/// A rule of a classifier.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rule {
    dscp: Option<DscpSet>,
    precedence: Option<Vec<u32>>,
    ecn: Option<Vec<EcnWord>>,
    flows: Option<GroupSet>,
    src: Option<HostSet>,
    dst: Option<HostSet>,
    pub(in crate::queue) class: u32,
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
                "flows" => rule.flows = Some(GroupSet::read(node)?),
                "src" => rule.src = Some(HostSet::read(node)?),
                "dst" => rule.dst = Some(HostSet::read(node)?),
                "class" => class = Some(u32::read(node)?),
                other => {
                    return Err(format!(
                        "unknown key \"{other}\"; a rule has class and some of dscp, precedence, \
                         ecn, flows, src and dst"
                    ));
                }
            }
        }
        rule.class =
            class.ok_or_else(|| format!("a rule without class; it takes a {}", Self::KIND))?;
        Ok(rule)
    }

    fn show(&self) -> String {
        let Self { dscp, precedence, ecn, flows, src, dst, class } = self;
        let parts = [("dscp", dscp.show()), ("precedence", precedence.show()), ("ecn", ecn.show())];
        // A key that older scenarios do not have must not change their hash.
        let flows = flows.as_ref().map(|flows| ("flows", flows.show()));
        let hosts = |key, set: &Option<HostSet>| set.as_ref().map(|set| (key, set.show()));
        let hosts = [hosts("src", src), hosts("dst", dst)].into_iter().flatten();
        let parts = parts.into_iter().chain(flows).chain(hosts);
        let parts = parts.map(|(key, value)| format!("{key} = {value}, "));
        format!("{{ {}class = {class} }}", parts.collect::<String>())
    }
}

impl Rule {
    /// Returns true if `packet` matches it in all but its flow and hosts.
    fn matches(&self, packet: &Packet) -> bool {
        let Self { dscp, precedence, ecn, .. } = self;
        dscp.as_ref().is_none_or(|set| set.0.contains(&Dscp(packet.dscp())))
            && precedence.as_ref().is_none_or(|all| all.contains(&u32::from(packet.precedence)))
            && ecn
                .as_ref()
                .is_none_or(|all| all.iter().any(|word| word.codepoint() == packet.ecn()))
    }
}

/// Rules, of which the first that matches decides.
pub(in crate::queue) struct Rules {
    /// Each with the groups whose flows it takes, and with its hosts.
    rules: Vec<(Rule, GroupMatch, HostMatch)>,
    otherwise: u16,
}

impl Rules {
    /// `rules` in a network with the flows of `groups`; `otherwise` is the class of packets that
    /// match none.
    pub(in crate::queue) fn new(
        rules: &[Rule],
        groups: &FlowGroups,
        otherwise: u16,
    ) -> Result<Self, String> {
        let rules = rules.iter().map(|rule| {
            let flows = GroupMatch::new(rule.flows.as_ref(), groups)?;
            let hosts = HostMatch::new(rule.src.as_ref(), rule.dst.as_ref(), groups);
            Ok((rule.clone(), flows, hosts.map_err(|(key, message)| format!("{key}: {message}"))?))
        });
        Ok(Self { rules: rules.collect::<Result<_, String>>()?, otherwise })
    }

    /// The class of `packet`.
    pub(in crate::queue) fn class(&self, packet: &Packet) -> u16 {
        let found = self.rules.iter().find(|(rule, flows, hosts)| {
            rule.matches(packet) && flows.matches(packet) && hosts.matches(packet)
        });
        found.map_or(self.otherwise, |(rule, ..)| rule.class as u16)
    }
}
