//! Agents at queues: early drops and marks with given probabilities, and fair queueing with given
//! weights.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_laws::LinkFacts;
use forebay_laws::queue::{BuildQueue, ClassOptions, Queue, fits, steered};
use forebay_network::{Arrival, DropPolicy, DropReason, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};

use crate::AGENT;
use crate::hand::{Hand, hand};

/// Places of its actions in the hand.
pub(crate) const DROP: usize = 0;
pub(crate) const MARK: usize = 1;
/// Number of them.
pub(crate) const ACTIONS: usize = 2;

/// The name of the scheduler among queues.
pub(crate) const SCHEDULER_NAME: &str = "agent_scheduler";

pub(crate) const ENTRY: Entry<BuildQueue> = Entry {
    name: AGENT,
    summary: "First in, first out, with early drops and marks of probabilities that an agent \
              decides, and tail drop when the buffer is full.",
    source: "RFC 7567, section 4.2 (active queue management)",
    example: r#"limit = "100 packets""#,
    fields: AgentParameters::FIELDS,
    probes: &[
        Probe { name: "drop_probability", unit: "1", meaning: "The probability of a drop." },
        Probe { name: "mark_probability", unit: "1", meaning: "The probability of a mark." },
    ],
    build: &build,
};

pub(crate) const SCHEDULER: Entry<BuildQueue> = Entry {
    name: SCHEDULER_NAME,
    summary: "Start-time fair queueing with weights that an agent decides.",
    source: "Goyal, Vin and Cheng, IEEE/ACM Trans. Networking 5(5), 1997, section 2",
    example: "",
    fields: SchedulerParameters::FIELDS,
    probes: &[],
    build: &build_scheduler,
};

parameters! {
    /// Parameters of an agent at a queue.
    pub struct AgentParameters {
        /// Number of the agent in its environment.
        number: u32 = 0, "RFC 7567, section 4.2";
        /// Buffer size, without the packet being transmitted. Unlimited if left out.
        limit: Option<Length>, "RFC 7567, section 2";
    }
}

parameters! {
    /// Parameters of an agent that schedules.
    pub struct SchedulerParameters {
        /// Number of the agent in its environment.
        number: u32 = 0, "Goyal, Vin and Cheng 1997, section 2";
        ..classes: ClassOptions;
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    let AgentParameters { number, limit } = AgentParameters::read(section)?;
    Ok(Queue::under(AgentQueue { hand: hand(number).0, limit }))
}

fn build_scheduler(section: &Section<'_>, facts: &LinkFacts) -> Result<Queue, Problem> {
    let SchedulerParameters { number, classes } = SchedulerParameters::read(section)?;
    let (hand, _) = hand(number);
    let weight =
        move |class: usize| hand.actions.get(class).and_then(|weight| weight.get()).unwrap_or(1.0);
    steered(&classes, section, facts, weight)
}

struct AgentQueue {
    hand: Arc<Hand>,
    limit: Option<Length>,
}

impl AgentQueue {
    fn probability(&self, action: usize) -> f64 {
        self.hand.actions[action].get().unwrap_or(0.0)
    }
}

impl DropPolicy for AgentQueue {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        if !fits(self.limit, arrival) {
            return Verdict::Drop(DropReason::Overflow);
        }
        // One draw a packet, whatever is decided: environments whose actions differ see the same.
        let drawn = stream.uniform();
        let drop = self.probability(DROP);
        if drawn < drop {
            return Verdict::Drop(DropReason::Early);
        }
        // What is left of the draw is uniform again.
        let mark = self.probability(MARK);
        if drawn >= drop + (1.0 - drop) * mark {
            return Verdict::Accept;
        }
        if arrival.packet.is_ecn_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("drop_probability", self.probability(DROP));
        visit("mark_probability", self.probability(MARK));
    }
}
