//! The classic loss system: so many calls and no more.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};

use super::BuildAdmission;
use crate::pcn_edge::AdmissionControl;

pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "capacity",
    summary: "Loss system: admits while fewer than so many calls are present, measures nothing.",
    source: "Erlang 1917, Solution of some problems in the theory of probabilities (loss formula)",
    example: "calls = 10",
    fields: CapacityParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the loss system.
    pub struct CapacityParameters {
        /// Number of calls that may be present at once, at least 1: a call that finds so many is
        /// blocked.
        calls: u32, "Erlang 1917 (number of lines)";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn AdmissionControl>, Problem> {
    let CapacityParameters { calls } = CapacityParameters::read(section)?;
    if calls == 0 {
        return Err(section.fail("calls", "is 0; allowed are numbers from 1"));
    }
    Ok(Box::new(Capacity { calls }))
}

struct Capacity {
    calls: u32,
}

impl AdmissionControl for Capacity {
    fn admits(&self, present: u32) -> bool {
        present < self.calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last line is used and no other: with one call more or fewer, the blocking of a system of
    /// n lines is not Erlang's B(A, n).
    #[test]
    fn the_last_line_is_used_and_no_other() {
        let law = Capacity { calls: 3 };
        assert_eq!([0, 2, 3, 4].map(|present| law.admits(present)), [true, true, false, false]);
    }
}
