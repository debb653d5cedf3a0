//! Static thresholds: every queue may hold a fixed amount.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Size;
use forebay_units::quantity::show_size;

use super::{BufferSharing, BuildSharing, MemoryFacts, PROBES, SharingFacts};

pub(super) const ENTRY: Entry<BuildSharing> = Entry {
    name: "static",
    summary: "Static thresholds: each queue may hold a fixed part of the memory, whatever others \
              hold.",
    source: "Irland, IEEE Trans. Commun. 26(3) (1978) 328-337",
    example: "limit = \"10 kB\"",
    fields: StaticParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Parameters of static thresholds. Where the limits of all queues come to no more than the
    /// memory, it is divided among them (complete partitioning); where they come to more, queues
    /// share it, none more than its limit (sharing with maximum queue lengths).
    pub struct StaticParameters {
        /// Most that a queue may hold of the shared part of the memory; up to all of it.
        limit: Size, "Irland 1978; Kamoun and Kleinrock 1980 (SMXQ)";
    }
}

fn build(section: &Section<'_>, facts: &SharingFacts) -> Result<Box<dyn BufferSharing>, Problem> {
    let StaticParameters { limit } = StaticParameters::read(section)?;
    if limit.bytes() == 0 || limit.bytes() > facts.shared {
        let message = format!(
            "{} is out of range; allowed are more than 0 B, and up to the {} that are shared",
            show_size(limit),
            show_size(Size::from_bytes(facts.shared)),
        );
        return Err(section.fail("limit", message));
    }
    Ok(Box::new(Static { limit: limit.bytes() }))
}

struct Static {
    limit: u64,
}

impl BufferSharing for Static {
    fn threshold(&mut self, _facts: &MemoryFacts) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_parameters::{Echo, Node, Table, Value};
    use forebay_units::Time;

    fn built(limit: &str) -> Result<Box<dyn BufferSharing>, Problem> {
        let table = Table::from([("limit".to_owned(), Node::new(Value::Text(limit.to_owned())))]);
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        build(&Section::root(&node, &echo).unwrap(), &SharingFacts { shared: 9000, queues: 1 })
    }

    /// The threshold is the same in an empty and in a full memory: no port suffers from others as
    /// long as the limits of all fit into it.
    #[test]
    fn a_static_threshold_does_not_depend_on_what_others_hold() {
        let mut law = built("3 kB").unwrap();
        for used in [0, 3000, 9000] {
            let facts =
                MemoryFacts { now: Time::ZERO, queue: 0, own: 0, size: 9000, used, queues: 3 };
            assert_eq!(law.threshold(&facts), 3000);
        }
    }

    /// A limit that cannot act is refused with the values allowed, so that a slip is found before a
    /// run: one above what is shared, and one of zero.
    #[test]
    fn a_limit_that_could_not_act_is_refused() {
        assert!(built("9 kB").is_ok());
        for limit in ["9001 B", "0 B"] {
            let problem = built(limit).err().unwrap();
            assert_eq!(problem.path, "limit");
            assert!(problem.message.contains("9 kB"), "{}", problem.message);
        }
    }
}
