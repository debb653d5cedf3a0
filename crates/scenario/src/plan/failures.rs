//! Links that fail and come back.

use forebay_kernel::Streams;
use forebay_laws::impairment::{Impairment, OutageParameters, OutagePlan, outages};
use forebay_parameters::{Parameters, Problem, Section, choice, parameters};
use forebay_units::{Span, Time};

parameters! {
    /// Failures and repairs of a link, both directions of it, and the reaction of the network.
    pub struct FailureParameters {
        ..times: OutageParameters;
        /// Time after each change until routes follow it: of groups of TCP and UDP flows that name
        /// no `route` and have no policing, the packets sent from then on take the shortest path
        /// over the links that are up, or the one before if there is none. Those on their way stay
        /// on theirs.
        detection: Span = "0 s", "RFC 5880, section 6.8.4 (detection time)";
        /// Fate of packets that wait at the link when it fails, or come to it while it is down.
        waiting: Waiting = "lost", "-";
    }
}

choice! {
    /// Packets that wait at a link that is down.
    pub enum Waiting {
        /// They are transmitted and lost on the wire, as is what reaches the far end then.
        Lost = "lost",
        /// They wait until it is up: the transmitter pauses, and what is on the wire arrives.
        Kept = "kept",
    }
}

/// Failures of a link, with their times once these are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    plan: OutagePlan,
    /// Names the random stream.
    path: String,
    pub(crate) detection: Span,
    waiting: Waiting,
    /// Times at which it goes down, each with the time at which it is up again.
    pub(crate) times: Vec<(Time, Time)>,
}

/// Outages that are expected at most: their routes are computed beforehand.
const MAX_OUTAGES: u64 = 10_000;

impl Failure {
    /// The failures of the link of `section`, if it has any.
    pub(crate) fn read(section: &Section<'_>) -> Result<Option<Self>, Problem> {
        let Some(own) = section.section("failure")? else { return Ok(None) };
        Self::of(&own, &[]).map(Some)
    }

    /// The failures that `own` says, beside the keys `others`.
    pub(crate) fn of(own: &Section<'_>, others: &[&str]) -> Result<Self, Problem> {
        let FailureParameters { times, detection, waiting } =
            FailureParameters::read_among(own, others)?;
        let plan = times.plan(own)?;
        let path = own.path().to_owned();
        Ok(Self { plan, path, detection, waiting, times: Vec::new() })
    }

    /// Refuse more failures within `duration` than routes can be computed for.
    pub(crate) fn check(&self, duration: Span, section: &Section<'_>) -> Result<(), Problem> {
        let cycle = self.plan.mean_cycle();
        if cycle.is_none_or(|cycle| duration.ps() / cycle.ps().max(1) <= MAX_OUTAGES) {
            return Ok(());
        }
        let message = format!("fails too often: more than {MAX_OUTAGES} times are expected");
        Err(section.fail("failure", message))
    }

    /// Draw the outages until `end`.
    pub(crate) fn draw(&mut self, streams: &Streams, end: Time) {
        self.times = self.plan.clone().outages(end, &mut streams.named(&self.path));
    }

    /// Returns true if packets wait while the link is down: its transmitter pauses.
    pub(crate) fn pauses(&self) -> bool {
        self.waiting == Waiting::Kept
    }

    /// The law of a wire that loses what it carries while the link is down, unless it pauses.
    pub(crate) fn outages(&self) -> Option<Box<dyn Impairment>> {
        (!self.pauses()).then(|| outages(&self.times))
    }
}
