//! The generic cell rate algorithm as a policer of an aggregate.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Span, Time};

use super::BuildConditioner;
use super::bucket::Excess;
use crate::LinkFacts;
use crate::policing::{Gcra, marked};

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "gcra",
    summary: "Generic cell rate algorithm (virtual scheduling): one cell an increment, with a \
              tolerance.",
    source: "ITU-T I.371, annex A; ATM Forum Traffic Management 4.0, section 4.4.3",
    example: r#"
        rate = "3 Mbit/s"
        token = "400 B"
        tolerance = "20 ms"
        excess = "drop"
    "#,
    fields: GcraParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the generic cell rate algorithm.
    pub struct GcraParameters {
        /// Rate of conforming packets: the increment T is the time of one of `token` bytes.
        rate: Rate, "ITU-T I.371, annex A";
        /// Size of the packets that the rate counts.
        token: Size = "53 B", "ITU-T I.361, section 2 (cell)";
        /// Tolerance (tau): by how much a packet may come early.
        tolerance: Span = "0 s", "ITU-T I.371, annex A";
        /// Treatment of packets that do not conform: mark (CLP=1) or drop.
        excess: Excess = "mark", "ITU-T I.371, section 6.2.3.4 (tagging)";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let GcraParameters { rate, token, tolerance, excess } = GcraParameters::read(section)?;
    if rate.bps() == 0 {
        return Err(section.fail("rate", "is zero; allowed are rates above 0"));
    }
    if !(1..=65_535).contains(&token.bytes()) {
        return Err(section.fail("token", "is not a packet size; allowed are 1 B to 65535 B"));
    }
    let law = Gcra::new(rate.transmission_time(token), tolerance);
    Ok(Box::new(Policer { law, excess }))
}

struct Policer {
    law: Gcra,
    excess: Excess,
}

impl Conditioner for Policer {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        if self.law.conforms(now) {
            return Verdict::Accept;
        }
        *packet = marked(packet);
        self.excess.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table};

    /// A policer on a link marks the cells that the law finds out of profile, and leaves the
    /// priority of a cell alone: T = 10 ms (424 bit at 42.4 kbit/s), tau = 16 ms, the vector of the
    /// law.
    #[test]
    fn nonconforming_cells_get_the_loss_priority_bit() {
        let entry = |key: &str, text: &str| (key.to_owned(), Node::new(text.into()));
        let table = Table::from([entry("rate", "42.4 kbit/s"), entry("tolerance", "16 ms")]);
        let (node, echo) = (Node::new(forebay_parameters::Value::Table(table)), Echo::default());
        let facts = LinkFacts::of(Rate::from_bps(6_000_000));
        let mut law = build(&Section::root(&node, &echo).unwrap(), &facts).unwrap();
        let mut stream = Streams::new(0, 0).named("test");
        let seen = [0, 4, 8, 12, 20, 22, 40, 41, 42, 43].map(|ms| {
            let mut cell =
                Packet::data(Time::ZERO, FlowId::new(0), 0, 53, RouteId::new(0)).with_precedence(1);
            let now = Time::ZERO + Span::from_ms(ms);
            assert_eq!(law.condition(&mut cell, now, &mut stream), Verdict::Accept);
            cell.precedence
        });
        assert_eq!(seen, [1, 1, 1, 3, 1, 3, 1, 1, 3, 3]);
    }
}
