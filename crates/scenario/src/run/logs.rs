//! Observers whose results are rows: they are there in every run of a scenario that asks for them,
//! recorded or not.

use std::sync::{Arc, Mutex, PoisonError};

use forebay_network::synchronization::SynchronizationLog;
use forebay_network::waits::WaitLog;
use forebay_units::Time;

use crate::plan::{Plan, Wired};
use crate::results::synchronization::SynchronizationResult;
use crate::results::waits::WaitResult;

/// The observers of a run that have rows.
#[derive(Default)]
pub(crate) struct Logs {
    waits: Option<Arc<Mutex<WaitLog>>>,
    synchronization: Option<Arc<Mutex<SynchronizationLog>>>,
}

impl Logs {
    /// Attach those that `plan` asks for.
    pub(crate) fn attach(plan: &Plan<'_>, wired: &mut Wired) -> Self {
        let mut logs = Self::default();
        let from = Time::ZERO + plan.parameters.warm_up;
        let window = (from, Time::ZERO + plan.parameters.duration);
        if plan.record.waits {
            let log = Arc::new(Mutex::new(WaitLog::new(plan.links.len(), window)));
            wired.network.attach(Box::new(Arc::clone(&log)));
            logs.waits = Some(log);
        }
        if let Some(length) = plan.record.synchronization {
            let log = SynchronizationLog::new(plan.links.len(), window, length);
            let log = Arc::new(Mutex::new(log));
            wired.network.attach(Box::new(Arc::clone(&log)));
            logs.synchronization = Some(log);
        }
        logs
    }

    /// The waits at each link, if they are asked for.
    pub(crate) fn waits(&self, plan: &Plan<'_>) -> Vec<WaitResult> {
        let Some(log) = &self.waits else { return Vec::new() };
        let log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let links = plan.links.iter().zip(log.by_link());
        links.map(|(link, waits)| WaitResult::of(link.name.clone(), waits)).collect()
    }

    /// The synchronization of flows at each link, if it is asked for.
    pub(crate) fn synchronization(&self, plan: &Plan<'_>) -> Vec<SynchronizationResult> {
        let Some(log) = &self.synchronization else { return Vec::new() };
        let log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let links = plan.links.iter().zip(log.by_link());
        links.map(|(link, events)| SynchronizationResult::of(link.name.clone(), events)).collect()
    }
}
