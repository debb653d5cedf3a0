//! An agent at the edge of a domain: admits new calls with the probability that it decides.

use std::cell::RefCell;
use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_laws::admission::BuildAdmission;
use forebay_laws::pcn_edge::AdmissionControl;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};

use crate::AGENT;
use crate::hand::{Hand, hand};

pub(crate) const ENTRY: Entry<BuildAdmission> = Entry {
    name: AGENT,
    summary: "Admits each new call with the probability that an agent decides.",
    source: "RFC 5559, section 3.3 (the ingress node decides on new flows)",
    example: "",
    fields: AgentParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of an agent at an admission.
    pub struct AgentParameters {
        /// Number of the agent in its environment.
        number: u32 = 0, "RFC 5559, section 3.3";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn AdmissionControl>, Problem> {
    let AgentParameters { number } = AgentParameters::read(section)?;
    let (hand, streams) = hand(number);
    let stream = RefCell::new(streams.named(section.path()));
    Ok(Box::new(AgentAdmission { hand, stream }))
}

struct AgentAdmission {
    hand: Arc<Hand>,
    stream: RefCell<Stream>,
}

impl AdmissionControl for AgentAdmission {
    /// Asked once of each new call: the law sends no signals, after which it is asked for others.
    fn admits(&self, _present: u32) -> bool {
        let probability = self.hand.actions[0].get().unwrap_or(1.0);
        self.stream.borrow_mut().happens(probability)
    }
}
