//! A run that is advanced from outside, step by step, and owns all that it needs: for who decides
//! in between, as an agent that learns does.
//!
//! It stops between events. What is read there never changes a run: a run in steps of any length
//! has the digest of [`Scenario::run`].

use std::sync::Arc;

use forebay_units::Time;

use crate::plan::Wired;
use crate::results::gauges::{GaugeName, Gauges, UnknownGauge, all_gauges};
use crate::run::control::{Control, RunOptions};
use crate::run::places::Places;
use crate::run::stopped::Stopped;
use crate::run::supervisor::Supervisor;
use crate::run::{Run, Scenario, until_cancelled};

/// A run that continues to the times that it is told.
///
/// Counters count from its beginning on: the end of the warm-up sets none back, and records are not
/// kept.
pub struct SteppedRun {
    wired: Wired,
    places: Places,
    supervisor: Supervisor<Arc<Control>>,
    end: Time,
    now: Time,
    seed: u64,
}

impl SteppedRun {
    /// Wire the network of `scenario`, and stand at time zero: nothing has happened yet.
    ///
    /// # Errors
    /// If it exceeds the limits of `options`.
    pub fn begin(
        scenario: &Scenario,
        options: &RunOptions,
        control: Arc<Control>,
    ) -> Result<Self, Stopped> {
        let (run, seed) = scenario.wired(scenario.plan(None)?, options, &control)?;
        let Run { plan, wired, supervisor, .. } = run;
        let places = Places::of(&plan, &wired);
        let end = Time::ZERO + plan.parameters.duration;
        let supervisor = supervisor.reached_by(Arc::clone(&control));
        Ok(Self { wired, places, supervisor, end, now: Time::ZERO, seed })
    }

    /// Continue to time `to`, at most to the end, with everything that is due then; or until some
    /// `budget` events were handled. Returns true if that time was reached.
    ///
    /// # Errors
    /// If the run is cancelled, or exceeds its limits: it cannot continue.
    pub fn advance(&mut self, to: Time, budget: u64) -> Result<bool, Stopped> {
        let Self { wired, supervisor, end, .. } = self;
        let to = to.min(*end);
        let complete = until_cancelled(|| {
            let progress = wired.network.run(to, budget);
            supervisor.check(&wired.network, &progress)?;
            Ok(progress.complete)
        })?;
        if complete {
            self.now = to;
        }
        Ok(complete)
    }

    /// The time that was reached last.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The time at which the run ends: the duration of the scenario.
    #[must_use]
    pub fn end(&self) -> Time {
        self.end
    }

    /// Returns true if the end was reached.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.now >= self.end
    }

    /// The root seed of the run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The digest of the trajectory up to now: what each element and each sink has received. At the
    /// end it is that of the result.
    #[must_use]
    pub fn digest(&mut self) -> u64 {
        self.wired.network.digest()
    }

    /// The links, flows and aggregates of the network.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The gauges called `names`, which fill a slice in this order.
    ///
    /// # Errors
    /// The first name that there is no gauge of, with the nearest ones.
    pub fn gauges(&mut self, names: &[String]) -> Result<Gauges, UnknownGauge> {
        Gauges::of(names, &self.places, &mut self.wired)
    }

    /// Every gauge that there is; of the flows of a group those of the first, for all.
    pub fn all_gauges(&mut self) -> Vec<GaugeName> {
        all_gauges(&self.places, &mut self.wired)
    }

    /// Read `gauges` into `values`: over the time since they were read last, or at this time. What
    /// has no value now, such as the mean delay of no packet, keeps that which it has there.
    pub fn read(&mut self, gauges: &mut Gauges, values: &mut [f64]) {
        gauges.read(self.now, &mut self.wired, values);
    }

    /// Returns true if all flows of the group or of the flow `flows` have ended: numbers of its
    /// flows in the network.
    #[must_use]
    pub fn have_ended(&mut self, flows: std::ops::Range<usize>) -> bool {
        self.wired.network.counters().flows[flows].iter().all(|flow| flow.ended.is_some())
    }
}
