//! Independent losses.

use forebay_kernel::Stream;
use forebay_network::{DropReason, Packet};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::{BuildImpairment, Impairment, Passage, check_probability};

pub(super) const ENTRY: Entry<BuildImpairment> = Entry {
    name: "loss",
    summary: "Loses each packet with the same probability, whatever became of others.",
    source: "tc-netem(8), loss random; the model of Mathis et al., CCR 27 (1997)",
    example: "probability = 0.01",
    fields: LossParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of independent losses.
    pub struct LossParameters {
        /// Probability with which a packet is lost, 0 to 1.
        probability: f64, "Mathis et al., CCR 27 (1997)";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn Impairment>, Problem> {
    let LossParameters { probability } = LossParameters::read(section)?;
    check_probability(section, "probability", probability)?;
    Ok(Box::new(Loss { probability }))
}

struct Loss {
    probability: f64,
}

impl Impairment for Loss {
    fn pass(&mut self, _packet: &Packet, _now: Time, stream: &mut Stream) -> Passage {
        if stream.happens(self.probability) {
            Passage::Lost(DropReason::Lost)
        } else {
            Passage::Passes
        }
    }
}
