//! Replications: runs of a scenario one after another, which are read and checked once.

use forebay_network::record::RecordTable;

use crate::plan::Plan;
use crate::results::RunResult;
use crate::run::control::{Control, RunOptions};
use crate::run::stopped::Stopped;
use crate::run::{Run, Scenario, at_fault, until_cancelled};
use crate::ties::{TieCount, Ties};

/// Runs of a scenario, one after another. A run takes the laws of the plan, which keep state;
/// they alone are read anew for the next one.
pub struct Replications<'s> {
    scenario: &'s Scenario,
    /// The plan that the last run has left, unless it was stopped.
    plan: Option<Plan<'s>>,
}

impl<'s> Replications<'s> {
    /// Those of `scenario`.
    #[must_use]
    pub fn of(scenario: &'s Scenario) -> Self {
        Self { scenario, plan: None }
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &'s Scenario {
        self.scenario
    }

    /// As [`Scenario::run`]; `begins` is called when the network is wired and simulated time
    /// begins, for who wants to know how long that took.
    ///
    /// # Errors
    /// As [`Scenario::run`].
    pub fn run(
        &mut self,
        options: &RunOptions,
        control: &'s Control,
        begins: impl FnOnce(),
    ) -> Result<(RunResult, Vec<RecordTable>), Stopped> {
        let plan = self.plan.take();
        let (left, result, tables) = until_cancelled(|| {
            let plan = match plan {
                None => self.scenario.plan(None)?,
                Some(mut plan) => {
                    plan.renew().map_err(at_fault)?;
                    plan
                }
            };
            let (mut run, seed) = self.scenario.wired(plan, options, control)?;
            let (mut result, tables) = run.through(options, begins)?;
            self.scenario.sign(&mut result, seed, options);
            Ok((run.plan, result, tables))
        })?;
        self.plan = Some(left);
        Ok((result, tables))
    }
}

impl Run<'_> {
    /// Run it to its end.
    fn through(
        &mut self,
        options: &RunOptions,
        begins: impl FnOnce(),
    ) -> Result<(RunResult, Vec<RecordTable>), Stopped> {
        if options.record {
            self.attach();
        }
        if options.ties != Ties::Listed {
            self.wired.network.attach(Box::new(TieCount::default()));
        }
        self.divide(options.threads);
        begins();
        let events = self.go()?;
        let tables = self.tables(options.record);
        Ok((self.result(events), tables))
    }
}
