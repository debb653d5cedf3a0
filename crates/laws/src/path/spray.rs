//! Packet spraying: each packet chooses for itself.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_parameters::{Entry, Parameters, choice, parameters};
use forebay_units::Time;

use super::contract::PathSelection;
use super::{BuildPath, PathFactory};

pub(super) const ENTRY: Entry<BuildPath> = Entry {
    name: "spray",
    summary: "Packet spraying: each packet takes a way of its own, at random or in turn; packets \
              of a flow can overtake each other.",
    source: "Dixit et al., On the impact of packet spraying in data center networks, INFOCOM 2013",
    example: "",
    fields: SprayParameters::FIELDS,
    probes: &[],
    build: &|section| {
        let SprayParameters { order } = SprayParameters::read(section)?;
        let make = move |stream: &mut Stream| -> Box<dyn PathSelection> {
            match order {
                Order::Random => Box::new(AtRandom),
                Order::InTurn => Box::new(InTurn { next: stream.below(1 << 32) as u32 }),
            }
        };
        let make: PathFactory = Arc::new(make);
        Ok(make)
    },
};

choice! {
    /// Order in which packets take the ways.
    pub enum Order {
        /// Each way is as likely as the others, whatever came before.
        Random = "random",
        /// One after the other, whatever flow they belong to; where each switch begins is random.
        /// Regular streams can fall into step with it, so that each takes a way of its own.
        InTurn = "in_turn",
    }
}

parameters! {
    /// Parameters of packet spraying.
    pub struct SprayParameters {
        /// Order in which packets take the ways.
        order: Order = "random", "Dixit et al., INFOCOM 2013";
    }
}

struct AtRandom;

impl PathSelection for AtRandom {
    #[inline]
    fn choose(&mut self, _packet: &Packet, ways: u32, _now: Time, stream: &mut Stream) -> u32 {
        stream.below(u64::from(ways)) as u32
    }
}

struct InTurn {
    next: u32,
}

impl PathSelection for InTurn {
    #[inline]
    fn choose(&mut self, _packet: &Packet, ways: u32, _now: Time, _stream: &mut Stream) -> u32 {
        let way = self.next % ways;
        self.next = way + 1;
        way
    }
}

#[cfg(test)]
mod tests {
    use crate::path::tests::{Choices, law, packet};

    /// Packets of one flow are spread evenly: at random, over 4 ways, chi-square with 3 degrees of
    /// freedom stays below 16.3 at the level 0.001; in turn, each way gets every fourth packet.
    #[test]
    fn packets_of_one_flow_are_spread() {
        let mut random = law("spray", &[]);
        let chosen = Choices::of((0..10_000).map(|n| random.choose(&packet(1, n), 4)), 4);
        assert!(chosen.chi_square() < 16.3 && chosen.counts()[0] != 2500, "{chosen:?}");
        let mut in_turn = law("spray", &[("order", "in_turn".into())]);
        let ways: Vec<u32> = (0..8).map(|n| in_turn.choose(&packet(1, n), 4)).collect();
        assert!(ways.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 4), "{ways:?}");
    }
}
