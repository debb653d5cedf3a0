//! Dynamic thresholds of Choudhury and Hahne: a queue may hold a multiple of what is free.
//!
//! A memory that is shared completely is filled by the ports that are overloaded, and one that is
//! divided lies idle where ports have nothing to store. Under dynamic thresholds some memory is
//! kept free on purpose: what a port that becomes busy finds at once, while others shrink.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};

use super::{BufferSharing, BuildSharing, MemoryFacts, PROBES, SharingFacts};

pub(super) const ENTRY: Entry<BuildSharing> = Entry {
    name: "dynamic",
    summary: "Dynamic thresholds: each queue may hold a multiple of the part of the memory that \
              is free.",
    source: "Choudhury and Hahne, IEEE/ACM Trans. Netw. 6(2) (1998) 130-140",
    example: "alpha = 1.0",
    fields: DynamicParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Parameters of dynamic thresholds: T = alpha (B - Q), where B is the shared part of the
    /// memory and Q what is used of it. While n ports always have packets, each holds
    /// alpha B / (1 + n alpha), and B / (1 + n alpha) stays free.
    pub struct DynamicParameters {
        /// Factor on the free memory that gives what a queue may hold; above 0.
        alpha: f64 = 1.0, "Choudhury and Hahne 1998 (powers of two: a shift)";
        /// The factors of the queues of a port, in their order, instead of `alpha`: one for each.
        alphas: Option<Vec<f64>>, "Hahne and Choudhury, IEEE/ACM Trans. Netw. 10(3) (2002)";
    }
}

fn build(section: &Section<'_>, facts: &SharingFacts) -> Result<Box<dyn BufferSharing>, Problem> {
    let DynamicParameters { alpha, alphas } = DynamicParameters::read(section)?;
    let is_fine = |alpha: f64| alpha > 0.0 && alpha.is_finite();
    let refuse = |key: &str, alpha: f64| {
        section.fail(key, format!("{alpha} is out of range; allowed are numbers above 0"))
    };
    if !is_fine(alpha) {
        return Err(refuse("alpha", alpha));
    }
    let alphas = alphas.unwrap_or_else(|| vec![alpha; facts.queues]);
    if alphas.len() != facts.queues {
        let message = format!(
            "has {} values; needed is one for each queue of a port: {}",
            alphas.len(),
            facts.queues
        );
        return Err(section.fail("alphas", message));
    }
    match alphas.iter().find(|alpha| !is_fine(**alpha)) {
        Some(alpha) => Err(refuse("alphas", *alpha)),
        None => Ok(Box::new(Dynamic { alphas })),
    }
}

struct Dynamic {
    /// Factors, by queue of a port.
    alphas: Vec<f64>,
}

impl BufferSharing for Dynamic {
    fn threshold(&mut self, facts: &MemoryFacts) -> u64 {
        // What does not fit into the range is more than any memory has.
        (self.alphas[facts.queue] * facts.free() as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Time;

    fn facts(queue: usize, used: u64) -> MemoryFacts {
        MemoryFacts { now: Time::ZERO, queue, own: 0, size: 12_000, used, queues: 4 }
    }

    fn built(key: &str, value: Value, queues: usize) -> Result<Box<dyn BufferSharing>, Problem> {
        let table = Table::from([(key.to_owned(), Node::new(value))]);
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        build(&Section::root(&node, &echo).unwrap(), &SharingFacts { shared: 12_000, queues })
    }

    fn list(values: &[f64]) -> Value {
        Value::List(values.iter().map(|value| Node::new(Value::Float(*value))).collect())
    }

    /// The threshold is alpha times what is free, and so nothing in a full memory.
    #[test]
    fn the_threshold_is_a_multiple_of_what_is_free() {
        for (alpha, used, threshold) in
            [(1.0, 0, 12_000), (1.0, 9000, 3000), (0.5, 9000, 1500), (2.0, 4000, 16_000)]
        {
            let mut law = built("alpha", Value::Float(alpha), 1).unwrap();
            assert_eq!(law.threshold(&facts(0, used)), threshold, "{alpha} {used}");
            assert_eq!(law.threshold(&facts(0, 12_000)), 0);
        }
    }

    /// The state in which n queues hold alpha B / (1 + n alpha) each is where their threshold is
    /// what they hold: with B = 12 kB and alpha = 1, one queue holds 6 kB and three hold 3 kB each;
    /// with alpha = 2, one holds 8 kB.
    #[test]
    fn in_the_steady_state_queues_are_as_long_as_their_threshold() {
        for (alpha, n, share) in [(1.0, 1, 6000), (1.0, 3, 3000), (2.0, 1, 8000), (0.5, 2, 3000)] {
            let mut law = built("alpha", Value::Float(alpha), 1).unwrap();
            assert_eq!(law.threshold(&facts(0, n * share)), share, "{alpha} {n}");
        }
    }

    /// Each queue of a port has its own factor: with the larger one it is served better when
    /// memory is scarce, which is how priorities are made.
    #[test]
    fn each_queue_of_a_port_has_its_own_factor() {
        let mut law = built("alphas", list(&[2.0, 0.25]), 2).unwrap();
        assert_eq!(law.threshold(&facts(0, 8000)), 8000);
        assert_eq!(law.threshold(&facts(1, 8000)), 1000);
    }

    /// Factors that give a queue nothing, or are not one a queue, are refused with what is allowed.
    #[test]
    fn impossible_factors_are_refused() {
        let refused = |key: &str, value: Value, queues| {
            let problem = built(key, value, queues).err().unwrap();
            assert_eq!(problem.path, key);
            problem.message
        };
        for alpha in [0.0, -1.0] {
            assert!(refused("alpha", Value::Float(alpha), 1).ends_with("numbers above 0"));
            assert!(refused("alphas", list(&[1.0, alpha]), 2).ends_with("numbers above 0"));
        }
        assert!(refused("alphas", list(&[1.0]), 2).ends_with("of a port: 2"));
    }
}
