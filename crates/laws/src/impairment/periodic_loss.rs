//! Losses at equal distances: the deterministic model of loss.

use forebay_kernel::Stream;
use forebay_network::{DropReason, Packet};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildImpairment, Impairment, Passage};

pub(super) const ENTRY: Entry<BuildImpairment> = Entry {
    name: "periodic_loss",
    summary: "Loses one of every so many packets, at equal distances.",
    source: "RFC 9438, section 5 (the deterministic loss model); Mathis et al., CCR 27 (1997)",
    example: "period = 100",
    fields: PeriodicLossParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of losses at equal distances.
    pub struct PeriodicLossParameters {
        /// Packets from one loss to the next: 1/p for a share p of packets, in the mean if that is
        /// no whole number. 1 to 1e15.
        period: f64, "RFC 9438, section 5";
        /// Number, from 1, of the packet that is lost first; one of the first period, at random, if
        /// left out.
        first: Option<u64>, "ns-2, ErrorModel/Periodic: offset_";
    }
}

/// Above this, numbers of packets plus a fraction lose their fraction.
const MAX_PERIOD: f64 = 1e15;

fn build(section: &Section<'_>) -> Result<Box<dyn Impairment>, Problem> {
    let PeriodicLossParameters { period, first } = PeriodicLossParameters::read(section)?;
    if !(1.0..=MAX_PERIOD).contains(&period) {
        let message = format!("{period} is out of range; allowed are 1 to 1e15");
        return Err(section.fail("period", message));
    }
    if first == Some(0) {
        return Err(section.fail("first", "0 is no packet; they are numbered from 1"));
    }
    Ok(Box::new(PeriodicLoss { period, next: first.map(|first| first as f64), passed: 0 }))
}

struct PeriodicLoss {
    period: f64,
    /// Number of the next packet to be lost, rounded up; `None` until the first is drawn.
    next: Option<f64>,
    /// Packets so far.
    passed: u64,
}

impl Impairment for PeriodicLoss {
    fn pass(&mut self, _packet: &Packet, _now: Time, stream: &mut Stream) -> Passage {
        let next = self.next.get_or_insert_with(|| self.period * (1.0 - stream.uniform()));
        self.passed += 1;
        if (self.passed as f64) < *next {
            return Passage::Passes;
        }
        *next += self.period;
        Passage::Lost(DropReason::Lost)
    }
}
