//! The same precedence for every packet.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildConditioner, precedence};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "fixed",
    summary: "Marker without a meter: gives every packet the same precedence.",
    source: "RFC 2475, section 2.3.3.2",
    example: "precedence = 2",
    fields: FixedParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the fixed marker.
    pub struct FixedParameters {
        /// Precedence that every packet gets, 0 to 63.
        precedence: u32, "RFC 2475, section 2.3.3.2";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let parameters = FixedParameters::read(section)?;
    let precedence = precedence(section, "precedence", parameters.precedence)?;
    Ok(Box::new(Fixed { precedence }))
}

struct Fixed {
    precedence: u8,
}

impl Conditioner for Fixed {
    fn condition(&mut self, packet: &mut Packet, _now: Time, _stream: &mut Stream) -> Verdict {
        packet.precedence = self.precedence;
        Verdict::Accept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{FlowId, RouteId};

    /// Every packet gets the precedence of the conditioner, whatever it had before.
    #[test]
    fn every_packet_gets_the_precedence() {
        for before in 0..4 {
            let mut packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 576, RouteId::new(0))
                .with_precedence(before);
            let mut stream = Streams::new(0, 0).named("test");
            let verdict = Fixed { precedence: 2 }.condition(&mut packet, Time::ZERO, &mut stream);
            assert_eq!((verdict, packet.precedence), (Verdict::Accept, 2));
        }
    }
}
