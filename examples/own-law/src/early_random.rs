//! Early random drop: one probability for every arrival at a queue that is longer than a threshold.

use forebay_kernel::Stream;
use forebay_laws::LinkFacts;
use forebay_laws::queue::{BuildQueue, Queue};
use forebay_network::{Arrival, DropPolicy, DropReason, Verdict};
use forebay_parameters::{Entry, Length, Parameters, Probe, Problem, Section, parameters};

pub(crate) const ENTRY: Entry<BuildQueue> = Entry {
    name: "early_random",
    summary: "Early random drop: a fixed probability while the queue is longer than a threshold.",
    source: "Hashem 1989, MIT LCS TR-465",
    example: r#"
        threshold = "10 packets"
        probability = 0.7
    "#,
    fields: EarlyRandomParameters::FIELDS,
    probes: &[Probe {
        name: "early_random_drops",
        unit: "packets",
        meaning: "Packets dropped since the start of the run.",
    }],
    build: &build,
};

parameters! {
    /// Parameters of early random drop.
    pub struct EarlyRandomParameters {
        /// Queue from which on packets are dropped, in bytes or in packets.
        threshold: Length, "Hashem 1989 (drop level)";
        /// Probability with which each is, 0 to 1.
        probability: f64 = 0.02, "Hashem 1989 (fixed drop probability)";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Queue, Problem> {
    let EarlyRandomParameters { threshold, probability } = EarlyRandomParameters::read(section)?;
    if !(0.0..=1.0).contains(&probability) {
        let message = format!("{probability} is not a probability; allowed are 0 to 1");
        return Err(section.fail("probability", message));
    }
    Ok(Queue::under(EarlyRandom { threshold, probability, drops: 0 }))
}

struct EarlyRandom {
    threshold: Length,
    probability: f64,
    drops: u64,
}

impl DropPolicy for EarlyRandom {
    fn admit(&mut self, arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        let waiting = match self.threshold {
            Length::Packets(_) => u64::from(arrival.backlog.packets),
            Length::Bytes(_) => arrival.backlog.bytes,
        };
        // A packet that finds the link idle does not wait.
        let long = waiting >= self.threshold.amount() && arrival.idle_since.is_none();
        if long && stream.happens(self.probability) {
            self.drops += 1;
            return Verdict::Drop(DropReason::Early);
        }
        Verdict::Accept
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("early_random_drops", self.drops as f64);
    }
}
