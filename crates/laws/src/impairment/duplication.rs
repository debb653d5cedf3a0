//! Duplicates.

use forebay_kernel::Stream;
use forebay_network::Packet;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildImpairment, Impairment, Passage, check_probability};

pub(super) const ENTRY: Entry<BuildImpairment> = Entry {
    name: "duplication",
    summary: "Delivers some packets twice, the copy right behind.",
    source: "Hemminger, Network emulation with NetEm, linux.conf.au 2005 (duplicate)",
    example: "probability = 0.01",
    fields: DuplicationParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of duplication.
    pub struct DuplicationParameters {
        /// Probability with which a packet is delivered twice, 0 to 1.
        probability: f64, "Hemminger, Network emulation with NetEm, linux.conf.au 2005";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn Impairment>, Problem> {
    let DuplicationParameters { probability } = DuplicationParameters::read(section)?;
    check_probability(section, "probability", probability)?;
    Ok(Box::new(Duplication { probability }))
}

struct Duplication {
    probability: f64,
}

impl Impairment for Duplication {
    fn pass(&mut self, _packet: &Packet, _now: Time, stream: &mut Stream) -> Passage {
        if stream.happens(self.probability) { Passage::Doubled } else { Passage::Passes }
    }
}
