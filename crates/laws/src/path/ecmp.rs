//! Equal-cost multipath: one way for all packets of a flow.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_parameters::{Entry, Parameters, parameters};
use forebay_units::Time;

use super::contract::{PathSelection, direction, hashed, salt};
use super::{BuildPath, PathFactory};

pub(super) const ENTRY: Entry<BuildPath> = Entry {
    name: "ecmp",
    summary: "Equal-cost multipath: a hash of the flow chooses the way, so all its packets take \
              the same.",
    source: "RFC 2992; RFC 2991, section 4",
    example: "",
    fields: EcmpParameters::FIELDS,
    probes: &[],
    build: &|section| {
        let EcmpParameters { salted } = EcmpParameters::read(section)?;
        let make = move |stream: &mut Stream| -> Box<dyn PathSelection> {
            Box::new(Ecmp { salt: if salted { salt(stream) } else { 0 } })
        };
        let make: PathFactory = Arc::new(make);
        Ok(make)
    },
};

parameters! {
    /// Parameters of equal-cost multipath.
    pub struct EcmpParameters {
        /// True if each switch hashes in its own way. Otherwise the switches of two tiers choose
        /// alike, and some ways are never taken (polarisation).
        salted: bool = true, "draft-li-rtgwg-hash-polarization-mitigation-00";
    }
}

struct Ecmp {
    salt: u64,
}

impl PathSelection for Ecmp {
    #[inline]
    fn choose(&mut self, packet: &Packet, ways: u32, _now: Time, _stream: &mut Stream) -> u32 {
        hashed(direction(packet), self.salt, ways)
    }
}

#[cfg(test)]
mod tests {
    use crate::path::tests::{Choices, law, law_at, packet};
    use forebay_parameters::Value;

    /// Packets of a flow take one way, those of its acknowledgements perhaps another, so nothing is
    /// reordered.
    #[test]
    fn a_flow_takes_one_way() {
        let mut law = law("ecmp", &[]);
        let first = law.choose(&packet(7, 0), 4);
        assert!((1..100).all(|number| law.choose(&packet(7, number), 4) == first));
    }

    /// Flows spread over the ways as independent uniform choices do: of 10,000 flows over 4 ways,
    /// the number on each is binomial with mean 2500 and deviation sqrt(10,000 * 1/4 * 3/4) = 43.3;
    /// and chi-square over the four has 3 degrees of freedom, 16.3 at the level 0.001.
    #[test]
    fn flows_are_spread_as_the_binomial_says() {
        let mut law = law("ecmp", &[]);
        let chosen = Choices::of((0..10_000).map(|flow| law.choose(&packet(flow, 0), 4)), 4);
        assert!(chosen.chi_square() < 16.3, "{chosen:?}");
    }

    /// Switches choose independently of each other, but not without salts: then the flows that one
    /// switch sends on one way all take the same at the next, and the other ways stay empty.
    #[test]
    fn without_salts_choices_are_polarised() {
        for (salted, empty) in [(true, false), (false, true)] {
            let salted = [("salted", Value::Bool(salted))];
            let mut switches = [0, 1].map(|at| law_at(at, "ecmp", &salted));
            let flows: Vec<u32> =
                (0..10_000).filter(|flow| switches[0].choose(&packet(*flow, 0), 4) == 1).collect();
            let next = flows.iter().map(|flow| switches[1].choose(&packet(*flow, 0), 4));
            let chosen = Choices::of(next, 4);
            assert_eq!(chosen.counts().contains(&0), empty, "{chosen:?}");
        }
    }
}
