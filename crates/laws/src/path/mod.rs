//! Path selection: which of several ways that are equally short the packets of a fabric take.

mod contract;
mod ecmp;
mod flowlet;
mod spray;

use forebay_parameters::{Category, Entry, Problem, Section};

pub use contract::{PathFactory, PathSelection, direction, hashed};

/// Reads a section of the scenario and gives what makes the law of each switch.
pub type BuildPath = &'static (dyn Fn(&Section<'_>) -> Result<PathFactory, Problem> + Send + Sync);

/// The category of laws of path selection.
pub enum Paths {}

impl Category for Paths {
    const NAME: &'static str = "path";
    const CONTRACT: &'static str = "Which of several ways that are equally short a packet takes.";
    const PLACE: &'static str = "fabrics.NAME";
    const KIND: &'static str =
        "path selection such as \"ecmp\" or { flowlet = { gap = \"50 us\" } }";
    type Build = BuildPath;
}

/// The path selection of fabrics that name none.
pub static DEFAULT: &Entry<BuildPath> = &ecmp::ENTRY;

/// Every law of path selection.
pub static PATHS: &[Entry<BuildPath>] = &[ecmp::ENTRY, flowlet::ENTRY, spray::ENTRY];

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::{Stream, Streams};
    use forebay_network::{FlowId, Packet, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::{Span, Time};

    /// A law with the stream of its switch.
    pub(super) struct AtSwitch(Box<dyn PathSelection>, Stream);

    impl AtSwitch {
        pub(super) fn choose(&mut self, packet: &Packet, ways: u32) -> u32 {
            self.choose_at(packet, ways, 0)
        }

        pub(super) fn choose_at(&mut self, packet: &Packet, ways: u32, us: u64) -> u32 {
            let way = self.0.choose(packet, ways, Time::ZERO + Span::from_us(us), &mut self.1);
            assert!(way < ways);
            way
        }
    }

    /// The law `name` at the first switch.
    pub(super) fn law(name: &str, parameters: &[(&str, Value)]) -> AtSwitch {
        law_at(0, name, parameters)
    }

    pub(super) fn law_at(switch: u64, name: &str, parameters: &[(&str, Value)]) -> AtSwitch {
        let node = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        let table: Table = parameters.iter().map(node).collect();
        let root = Node::new(Value::Table(table));
        let echo = Echo::default();
        let section = Section::root(&root, &echo).unwrap();
        let entry = PATHS.iter().find(|entry| entry.name == name).unwrap();
        let mut stream = Streams::new(1, 0).numbered("fabrics.dc.path", switch);
        AtSwitch((entry.build)(&section).unwrap()(&mut stream), stream)
    }

    pub(super) fn packet(flow: u32, number: u64) -> Packet {
        Packet::data(Time::ZERO, FlowId::of_number(flow), number, 1500, RouteId::new(0))
    }

    /// Counts of choices, by way.
    #[derive(Debug)]
    pub(super) struct Choices(Vec<u32>);

    impl Choices {
        pub(super) fn of(chosen: impl Iterator<Item = u32>, ways: usize) -> Self {
            let mut counts = vec![0; ways];
            chosen.for_each(|way| counts[way as usize] += 1);
            Self(counts)
        }

        pub(super) fn counts(&self) -> &[u32] {
            &self.0
        }

        /// The sum of the squares of the deviations from an even spread, over what is expected.
        pub(super) fn chi_square(&self) -> f64 {
            let mean = f64::from(self.0.iter().sum::<u32>()) / self.0.len() as f64;
            let off = |count: &u32| f64::from(*count) - mean;
            self.0.iter().map(|count| off(count) * off(count) / mean).sum()
        }
    }
}
