//! Fairness on packet rings: how much the host of a station may send.
//!
//! | law | what of it is published | |---|---| | `srp_fa` | all: RFC 2892 | | `voq` | its three
//! formulas; what carries them from station to station is a reconstruction | | `aggressive`,
//! `conservative` | coefficients and thresholds: IEEE 802.17-2004; the rules are a reconstruction |

mod aggressive;
mod conservative;
mod contract;
mod counter;
mod none;
mod rpr;
mod srp_fa;
mod voq;

use forebay_parameters::{Category, Entry, Probe, Problem, Section};
use forebay_units::quantity::show_span;
use forebay_units::{Rate, Span};

pub use contract::{
    RingAccess, RingClass, RingDemand, RingFairness, RingFrame, RingMessage, RingNotice, RingState,
};

/// Facts that a fairness law may know of its ring.
#[derive(Clone, Copy, Debug)]
pub struct RingFacts {
    /// Rate of every span.
    pub rate: Rate,
    /// Size in bytes at which the low-priority transit buffer is full.
    pub transit_limit: u64,
    /// True if high priority has a transit buffer of its own.
    pub dual: bool,
}

/// Facts that a fairness law may know of the station and the ringlet that it serves.
#[derive(Clone, Debug)]
pub struct StationFacts {
    /// Propagation delays of the spans upstream, the nearest first: one less than stations.
    pub upstream: Vec<Span>,
    /// Weights of the stations, by distance upstream: this one first.
    pub weights: Vec<f64>,
    /// Committed rate of a source of this station, by class.
    pub committed: [Rate; 2],
    /// Most that this station may send at low priority; no limit but the ring's if `None`.
    pub max_rate: Option<Rate>,
}

impl StationFacts {
    /// Number of stations.
    fn stations(&self) -> u16 {
        u16::try_from(self.weights.len()).expect("a ring has fewer than 2^16 stations")
    }
}

/// Makes the law of one station and ringlet after another.
pub type FairnessFactory = Box<dyn Fn(&StationFacts) -> Box<dyn RingFairness>>;

/// Reads a section of the scenario and gives the factory of its fairness law.
pub type BuildFairness =
    &'static (dyn Fn(&Section<'_>, &RingFacts) -> Result<FairnessFactory, Problem> + Send + Sync);

/// The category of fairness laws.
pub enum Fairness {}

impl Category for Fairness {
    const NAME: &'static str = "fairness";
    const CONTRACT: &'static str = "How much the host of a ring's station may send.";
    const PLACE: &'static str = "rings.NAME";
    const KIND: &'static str = "fairness law such as \"srp_fa\"";
    type Build = BuildFairness;
}

/// Every fairness law.
pub static FAIRNESS: &[Entry<BuildFairness>] =
    &[aggressive::ENTRY, conservative::ENTRY, none::ENTRY, srp_fa::ENTRY, voq::ENTRY];

// Quantities that several laws have.
const ALLOW: Probe = Probe {
    name: "allow_bps",
    unit: "bit/s",
    meaning: "What the law lets the host of the station send past the congestion.",
};
const USAGE: Probe =
    Probe { name: "usage_bps", unit: "bit/s", meaning: "What the host has sent, aged." };
const LP_USAGE: Probe =
    Probe { name: "lp_usage_bps", unit: "bit/s", meaning: "The same, low-passed." };
const FORWARD: Probe =
    Probe { name: "forward_bps", unit: "bit/s", meaning: "What was in transit, aged." };
const LP_FORWARD: Probe =
    Probe { name: "lp_forward_bps", unit: "bit/s", meaning: "The same, low-passed." };
const TOLD: Probe = Probe {
    name: "told_bps",
    unit: "bit/s",
    meaning: "What the neighbour upstream was sent last; the rate of the line if that is no limit.",
};

/// Refuse an interval in which no frame fits, or in which so many fit that control means nothing.
fn check_interval(section: &Section<'_>, key: &str, interval: Span) -> Result<(), Problem> {
    if !(Span::from_us(1)..=Span::from_s(1)).contains(&interval) {
        let message = format!("{} is out of range; allowed are 1 us to 1 s", show_span(interval));
        return Err(section.fail(key, message));
    }
    Ok(())
}

/// Refuse a divisor that is none.
fn check_divisor(section: &Section<'_>, key: &str, divisor: u32) -> Result<f64, Problem> {
    if divisor == 0 {
        return Err(section.fail(key, "is zero; allowed are numbers from 1"));
    }
    Ok(f64::from(divisor))
}

/// Samples shared by the tests of laws.
#[cfg(test)]
mod samples {
    use super::{BuildFairness, RingFacts, StationFacts};
    use crate::fairness::{RingClass, RingFairness, RingFrame, RingMessage, RingNotice, RingState};
    use forebay_parameters::{Echo, Entry, Node, Problem, Section, Table, Value};
    use forebay_units::{Rate, Span, Time};

    pub const CALM: RingState = RingState { transit: 0, waiting_since: None };
    /// An eighth of 522,000 B; 839 us of the line.
    pub const CROWDED: RingState = RingState { transit: 65_250, waiting_since: None };
    /// Line rate in octets of 100 us times the coefficient of ageing 4: 622.08 Mbit/s is 7776.
    pub const LINE: f64 = 31_104.0;

    /// OC-12 with the buffers of RFC 2892.
    pub fn oc12() -> RingFacts {
        RingFacts { rate: Rate::from_bps(622_080_000), transit_limit: 522_000, dual: true }
    }

    /// A station like any other of a ring with 10 km between six stations.
    pub fn station() -> StationFacts {
        StationFacts {
            upstream: vec![Span::from_us(50); 5],
            weights: vec![1.0; 6],
            committed: [Rate::from_bps(0); 2],
            max_rate: None,
        }
    }

    /// Read the parameters of a law.
    pub fn read(
        entry: &Entry<BuildFairness>,
        parameters: &[(&str, Value)],
        facts: &RingFacts,
    ) -> Result<super::FairnessFactory, Problem> {
        let nodes = parameters.iter().map(|(k, v)| ((*k).to_owned(), Node::new(v.clone())));
        let (node, echo) = (Node::new(Value::Table(nodes.collect::<Table>())), Echo::default());
        (entry.build)(&Section::root(&node, &echo).unwrap(), facts)
    }

    /// The law of one station.
    pub fn law(
        entry: &Entry<BuildFairness>,
        parameters: &[(&str, Value)],
        facts: &RingFacts,
        station: &StationFacts,
    ) -> Box<dyn RingFairness> {
        read(entry, parameters, facts).unwrap()(station)
    }

    pub fn at(us: f64) -> Time {
        Time::ZERO + Span::from_seconds(us * 1e-6)
    }

    pub fn low(size: u16, ahead: u16, behind: u16) -> RingFrame {
        RingFrame { size, class: RingClass::Low, ahead, behind }
    }

    pub fn high(size: u16, ahead: u16, behind: u16) -> RingFrame {
        RingFrame { size, class: RingClass::High, ahead, behind }
    }

    pub fn limit(origin: u16, value: Option<f64>) -> RingMessage {
        RingMessage { origin, notice: RingNotice::Limit(value) }
    }

    /// The rate that a law advertises upstream at the end of an interval, after `us` us.
    pub fn advertised(law: &mut dyn RingFairness, state: &RingState, us: f64) -> Option<f64> {
        match law.interval_ended(state, at(us)).unwrap().notice {
            RingNotice::Limit(value) => value,
            RingNotice::Demands { .. } => panic!("a limit"),
        }
    }

    /// The value of one probe.
    pub fn probe(law: &dyn RingFairness, wanted: &str) -> f64 {
        let mut found = None;
        law.probes(&mut |name, value| {
            if name == wanted {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no probe {wanted}"))
    }
}
