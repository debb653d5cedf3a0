//! Admission by changes of marking: option 2 of the simulations of three-state marking.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::BuildAdmission;
use super::stops;
use crate::pcn_edge::{AdmissionControl, AdmissionSignal, Leaving};

pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "marking_change",
    summary: "Three-state marking, option 2: AS after non-AS blocks, non-AS after AS reopens.",
    source: "draft-babiarz-pcn-explicit-marking-02, section 2.3",
    example: "",
    fields: MarkingChangeParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of admission by changes of marking.
    pub struct MarkingChangeParameters {
        /// Counts ET-marked packets as AS-marked: what triggers flow termination may also trigger
        /// admission-stop. Otherwise they say nothing about admission.
        excess_stops: bool = true, "draft-babiarz-pcn-explicit-marking-02, section 2.3";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn AdmissionControl>, Problem> {
    let MarkingChangeParameters { excess_stops } = MarkingChangeParameters::read(section)?;
    Ok(Box::new(MarkingChange { excess_stops, marked: false, blocked: false }))
}

struct MarkingChange {
    excess_stops: bool,
    /// Egress node: whether the last packet was AS-marked.
    marked: bool,
    /// Ingress node.
    blocked: bool,
}

impl AdmissionControl for MarkingChange {
    fn leaves(&mut self, packet: &Leaving) -> Option<AdmissionSignal> {
        let marked = stops(packet, self.excess_stops)?;
        if marked == self.marked {
            return None;
        }
        self.marked = marked;
        Some(if marked { AdmissionSignal::Stop } else { AdmissionSignal::Continue })
    }

    fn signalled(&mut self, signal: AdmissionSignal, _now: Time) -> Option<Time> {
        self.blocked = signal == AdmissionSignal::Stop;
        None
    }

    fn admits(&self, _present: u32) -> bool {
        !self.blocked
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{AS, ET, NM, at, packet};
    use super::*;
    use crate::pcn_edge::AdmissionSignal::{Continue, Stop};

    fn law(excess_stops: bool) -> MarkingChange {
        MarkingChange { excess_stops, marked: false, blocked: false }
    }

    /// Every change of the marking is signalled and nothing else: other traffic in between changes
    /// nothing.
    #[test]
    fn every_change_is_signalled_and_nothing_else() {
        let mut law = law(true);
        for (mark, signal) in [
            (NM, None),
            (AS, Some(Stop)),
            (AS, None),
            (None, None),
            (AS, None),
            (NM, Some(Continue)),
            (NM, None),
            (ET, Some(Stop)),
            (AS, None),
            (NM, Some(Continue)),
        ] {
            assert_eq!(law.leaves(&packet(mark, 200)), signal);
        }
    }

    /// Excess marks neither block nor reopen without `excess_stops`: the marks that end calls of an
    /// overloaded aggregate do not reopen it.
    #[test]
    fn excess_marks_say_nothing_where_they_do_not_stop() {
        let mut law = law(false);
        for (mark, signal) in
            [(ET, None), (AS, Some(Stop)), (ET, None), (AS, None), (ET, None), (NM, Some(Continue))]
        {
            assert_eq!(law.leaves(&packet(mark, 200)), signal);
        }
    }

    /// The ingress node does as its egress node tells it, without a timer.
    #[test]
    fn the_ingress_node_does_as_told() {
        let mut law = law(true);
        assert!(law.admits(0));
        for (ms, signal, admits) in [(10, Stop, false), (11, Continue, true), (12, Stop, false)] {
            assert_eq!(law.signalled(signal, at(ms)), None, "there is no timer");
            assert_eq!(law.admits(7), admits);
        }
    }
}
