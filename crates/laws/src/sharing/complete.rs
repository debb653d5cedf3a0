//! Complete sharing: a queue may hold whatever the memory has room for.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};

use super::{BufferSharing, BuildSharing, MemoryFacts, PROBES, SharingFacts};

pub(super) const ENTRY: Entry<BuildSharing> = Entry {
    name: "complete",
    summary: "Complete sharing: a packet is taken in as long as the memory has room.",
    source: "Kamoun and Kleinrock, IEEE Trans. Commun. 28(7) (1980) 992-1003 (CS)",
    example: "",
    fields: CompleteParameters::FIELDS,
    probes: PROBES,
    build: &build,
};

parameters! {
    /// Complete sharing has no parameters.
    pub struct CompleteParameters {}
}

fn build(section: &Section<'_>, _facts: &SharingFacts) -> Result<Box<dyn BufferSharing>, Problem> {
    CompleteParameters::read(section)?;
    Ok(Box::new(Complete))
}

struct Complete;

impl BufferSharing for Complete {
    fn threshold(&mut self, facts: &MemoryFacts) -> u64 {
        facts.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_units::Time;

    /// However much others and the queue itself hold, its threshold is the memory: one port can
    /// take all of it, which is what complete sharing is blamed for.
    #[test]
    fn one_queue_may_take_the_whole_memory() {
        for (own, used) in [(0, 0), (3000, 3000), (0, 9000)] {
            let facts = MemoryFacts { now: Time::ZERO, queue: 0, own, size: 9000, used, queues: 4 };
            assert_eq!(Complete.threshold(&facts), 9000);
        }
    }
}
