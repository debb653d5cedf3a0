//! Remarking: another class by colour, or by class.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::BuildConditioner;
use crate::{Dscp, DscpSet, LinkFacts};

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "remark",
    summary: "Marker that writes DSCPs: by colour, as AF11, AF12 and AF13, or by the DSCP found.",
    source: "RFC 2475, section 2.3.3.2; RFC 2597, section 2",
    example: r#"to = ["AF11", "AF12", "AF13"]"#,
    fields: RemarkParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of remarking.
    pub struct RemarkParameters {
        /// The DSCP that a packet of each precedence gets, from 0 on; the last holds for higher
        /// ones too. With `found`: that which a packet with a DSCP of each entry there gets.
        to: Vec<Dscp>, "RFC 2597, section 6 (codepoints by drop precedence)";
        /// Remark by the DSCP found instead of the precedence: an entry for each of `to`, a
        /// codepoint or a list of them. Packets with others keep theirs.
        found: Option<Vec<DscpSet>>, "RFC 2475, section 2.3.3.2; RFC 2474, section 3";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let RemarkParameters { to, found } = RemarkParameters::read(section)?;
    if to.is_empty() || to.len() > Dscp::COUNT {
        let message = format!("has {} entries; allowed are 1 to {}", to.len(), Dscp::COUNT);
        return Err(section.fail("to", message));
    }
    let Some(found) = found else { return Ok(Box::new(ByColour(to))) };
    if found.len() != to.len() {
        let message = format!("has {} entries, and to has {}", found.len(), to.len());
        return Err(section.fail("found", message));
    }
    let (mut map, mut known) = (identity(), [false; Dscp::COUNT]);
    for (set, to) in found.iter().zip(to) {
        for dscp in &set.0 {
            let at = usize::from(dscp.0);
            if std::mem::replace(&mut known[at], true) {
                return Err(section.fail("found", format!("{} stands there twice", dscp.name())));
            }
            map[at] = to.0;
        }
    }
    Ok(Box::new(ByDscp(map)))
}

/// Each codepoint as it is.
fn identity() -> [u8; Dscp::COUNT] {
    std::array::from_fn(|dscp| dscp as u8)
}

/// The DSCP of each precedence; the last holds for higher ones.
struct ByColour(Vec<Dscp>);

impl Conditioner for ByColour {
    fn condition(&mut self, packet: &mut Packet, _now: Time, _stream: &mut Stream) -> Verdict {
        packet.set_dscp(self.0[usize::from(packet.precedence).min(self.0.len() - 1)].0);
        Verdict::Accept
    }

    fn colours(&self) -> bool {
        false
    }
}

/// The DSCP that each becomes.
struct ByDscp([u8; Dscp::COUNT]);

impl Conditioner for ByDscp {
    fn condition(&mut self, packet: &mut Packet, _now: Time, _stream: &mut Stream) -> Verdict {
        packet.set_dscp(self.0[usize::from(packet.dscp()) % Dscp::COUNT]);
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

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| Node::new((*item).into())).collect())
    }

    fn make(entries: &[(&str, Value)]) -> Result<Box<dyn Conditioner>, Problem> {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        let node = Node::new(Value::Table(entries.iter().map(node).collect::<Table>()));
        let facts = LinkFacts::of(Rate::from_bps(1_000_000));
        build(&Section::root(&node, &Echo::default())?, &facts)
    }

    fn remarked(law: &mut dyn Conditioner, precedence: u8, dscp: u8) -> (u8, u8) {
        let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 576, RouteId::new(0))
            .with_marking(Marking { precedence, dscp });
        let mut stream = Streams::new(0, 0).named("test");
        assert_eq!(law.condition(&mut packet, Time::ZERO, &mut stream), Verdict::Accept);
        (packet.precedence, packet.dscp())
    }

    /// Green, yellow and red leave the domain as their drop precedences: AF11, AF12 and AF13 are
    /// 10, 12 and 14 (RFC 2597, section 6), and no colour changes.
    #[test]
    fn colours_become_codepoints() {
        let mut law = make(&[("to", list(&["AF11", "AF12", "AF13"]))]).unwrap();
        for (precedence, dscp) in [(0, 10), (1, 12), (2, 14), (3, 14), (63, 14)] {
            assert_eq!(remarked(law.as_mut(), precedence, 0), (precedence, dscp));
        }
    }

    /// Codepoints become those of the table; those that it does not name stay.
    #[test]
    fn codepoints_become_others() {
        let from = Value::List(vec![Node::new("EF".into()), Node::new(list(&["AF1x", "CS6"]))]);
        let mut law = make(&[("found", from), ("to", list(&["CS5", "BE"]))]).unwrap();
        for (before, after) in [(46, 40), (10, 0), (14, 0), (48, 0), (40, 40), (0, 0), (63, 63)] {
            assert_eq!(remarked(law.as_mut(), 1, before), (1, after));
        }
    }

    /// A wrong table is refused at its place: holes, unknown codepoints and double entries are not
    /// guessed at.
    #[test]
    fn wrong_tables_are_refused_where_they_stand() {
        let path = |entries: &[(&str, Value)]| make(entries).err().map(|problem| problem.path);
        assert_eq!(path(&[]), Some("to".to_owned()));
        assert_eq!(path(&[("to", list(&[]))]), Some("to".to_owned()));
        assert_eq!(path(&[("to", list(&["AF14"]))]), Some("to".to_owned()));
        let one = ("to", list(&["BE"]));
        assert_eq!(path(&[one.clone(), ("found", list(&["EF", "VA"]))]), Some("found".to_owned()));
        let twice = Value::List(vec![Node::new(list(&["EF"])), Node::new(list(&["EF"]))]);
        let two = ("to", list(&["BE", "BE"]));
        assert_eq!(path(&[two, ("found", twice)]), Some("found".to_owned()));
    }
}
