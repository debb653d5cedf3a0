//! Admission by a stop blocking timer: option 1 of the simulations of three-state marking.

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::BuildAdmission;
use super::stops;
use crate::pcn_edge::{AdmissionControl, AdmissionSignal, Leaving};

pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "stop_timer",
    summary: "Three-state marking, option 1: blocks until a timeout passes without AS marks.",
    source: "draft-babiarz-pcn-explicit-marking-02, section 2.3",
    example: "",
    fields: StopTimerParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of admission by a stop blocking timer.
    pub struct StopTimerParameters {
        /// Timeout of the stop blocking timer, above 0. The first admission-stop starts it; when it
        /// expires, the ingress node admits again unless another arrived meanwhile.
        timeout: Span = "1 s", "draft-babiarz-pcn-explicit-marking-02, sections 2.3 and 3.2";
        /// Counts ET-marked packets as AS-marked: what triggers flow termination may also trigger
        /// admission-stop. Otherwise they say nothing about admission.
        excess_stops: bool = true, "draft-babiarz-pcn-explicit-marking-02, section 2.3";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn AdmissionControl>, Problem> {
    let StopTimerParameters { timeout, excess_stops } = StopTimerParameters::read(section)?;
    if timeout == Span::ZERO {
        return Err(section.fail("timeout", "is zero; allowed are timeouts above 0"));
    }
    Ok(Box::new(StopTimer { timeout, excess_stops, state: State::Open }))
}

/// Knowledge of the ingress node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// New calls are admitted.
    Open,
    /// They are blocked and the timer runs; `again`: an admission-stop came since it was set.
    Blocked { again: bool },
}

struct StopTimer {
    timeout: Span,
    excess_stops: bool,
    state: State,
}

impl AdmissionControl for StopTimer {
    fn leaves(&mut self, packet: &Leaving) -> Option<AdmissionSignal> {
        // The first AS-marked packet after others is signalled, and so is each further one.
        (stops(packet, self.excess_stops)?).then_some(AdmissionSignal::Stop)
    }

    fn signalled(&mut self, signal: AdmissionSignal, now: Time) -> Option<Time> {
        match (signal, self.state) {
            // The egress node sends none: reopening is for the timer.
            (AdmissionSignal::Continue, _) => None,
            (AdmissionSignal::Stop, State::Open) => {
                self.state = State::Blocked { again: false };
                Some(now + self.timeout)
            }
            (AdmissionSignal::Stop, State::Blocked { .. }) => {
                self.state = State::Blocked { again: true };
                None
            }
        }
    }

    fn expired(&mut self, now: Time) -> Option<Time> {
        if self.state == (State::Blocked { again: true }) {
            self.state = State::Blocked { again: false };
            return Some(now + self.timeout);
        }
        self.state = State::Open;
        None
    }

    fn admits(&self, _present: u32) -> bool {
        self.state == State::Open
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{AS, ET, NM, at, packet};
    use super::*;
    use crate::pcn_edge::AdmissionSignal::{Continue, Stop};

    fn law(excess_stops: bool) -> StopTimer {
        StopTimer { timeout: Span::from_s(1), excess_stops, state: State::Open }
    }

    /// Every marked packet is signalled and no other: the aggregate is above its admissible rate as
    /// long as they come.
    #[test]
    fn every_marked_packet_is_signalled() {
        for (mark, with_excess, without) in [
            (NM, None, None),
            (AS, Some(Stop), Some(Stop)),
            (AS, Some(Stop), Some(Stop)),
            (ET, Some(Stop), None),
            (None, None, None),
            (NM, None, None),
        ] {
            assert_eq!(law(true).leaves(&packet(mark, 200)), with_excess);
            assert_eq!(law(false).leaves(&packet(mark, 200)), without);
        }
    }

    /// A single admission-stop blocks for exactly one timeout.
    #[test]
    fn a_single_stop_blocks_for_one_timeout() {
        let mut law = law(true);
        assert!(law.admits(0));
        assert_eq!(law.signalled(Stop, at(300)), Some(at(1300)));
        assert!(!law.admits(0));
        assert_eq!(law.expired(at(1300)), None);
        assert!(law.admits(0));
    }

    /// Further stops restart the timer at its timeout, so that blocking lasts while marks come.
    /// Stop at 0, 200 and 900 ms: the timer is neither moved nor doubled by the later ones, and
    /// restarts at 1000 ms. Stop at 1500 ms: it restarts at 2000 ms. None until 3000 ms: open.
    #[test]
    fn further_stops_restart_the_timer_at_its_timeout() {
        let mut law = law(true);
        assert_eq!(law.signalled(Stop, at(0)), Some(at(1000)));
        assert_eq!(law.signalled(Stop, at(200)), None);
        assert_eq!(law.signalled(Stop, at(900)), None);
        assert_eq!(law.expired(at(1000)), Some(at(2000)));
        assert!(!law.admits(0));
        assert_eq!(law.signalled(Stop, at(1500)), None);
        assert_eq!(law.expired(at(2000)), Some(at(3000)));
        assert!(!law.admits(0));
        assert_eq!(law.expired(at(3000)), None);
        assert!(law.admits(0));
    }

    /// A Stop at the timeout itself leaves the node blocked with a timer for one timeout from then,
    /// whether it is handled before the timer or after: the order of events at one instant decides
    /// nothing.
    #[test]
    fn a_stop_at_the_timeout_counts_in_either_order() {
        let start = || {
            let mut law = law(true);
            assert_eq!(law.signalled(Stop, at(0)), Some(at(1000)));
            law
        };
        let mut before = start();
        assert_eq!(before.signalled(Stop, at(1000)), None);
        assert_eq!(before.expired(at(1000)), Some(at(2000)));
        let mut after = start();
        assert_eq!(after.expired(at(1000)), None);
        assert_eq!(after.signalled(Stop, at(1000)), Some(at(2000)));
        for mut law in [before, after] {
            assert!(!law.admits(0));
            assert_eq!(law.expired(at(2000)), None);
            assert!(law.admits(0));
        }
    }

    /// A reopened node blocks afresh for one timeout: stops before the reopening are forgotten.
    #[test]
    fn a_reopened_node_blocks_afresh() {
        let mut law = law(true);
        law.signalled(Stop, at(0));
        law.signalled(Stop, at(1));
        assert_eq!(law.expired(at(1000)), Some(at(2000)));
        assert_eq!(law.expired(at(2000)), None);
        assert_eq!(law.signalled(Stop, at(2500)), Some(at(3500)));
        assert!(!law.admits(0));
        assert_eq!(law.expired(at(3500)), None, "stops before the reopening are forgotten");
        assert!(law.admits(0));
    }

    /// Only the timer reopens: a signal that this option does not know changes nothing.
    #[test]
    fn only_the_timer_reopens() {
        let mut law = law(true);
        law.signalled(Stop, at(0));
        assert_eq!(law.signalled(Continue, at(500)), None);
        assert!(!law.admits(0));
        assert_eq!(law.expired(at(1000)), None, "and it is no further stop");
    }
}
