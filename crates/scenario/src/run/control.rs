//! Options of a run, and the control over it while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::run::stopped::Limits;
use crate::ties::Ties;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Root seed; that of the scenario if absent.
    pub seed: Option<u64>,
    /// Replication number: other draws for every number, the same ones under every variant.
    pub replication: u64,
    /// Record what the scenario's `record` section asks for.
    pub record: bool,
    /// Most threads for this run, each with partitions of the network; no result depends on it. One
    /// does where the network has no delay to be divided at, where that would not pay, and where
    /// packets are recorded one by one.
    pub threads: usize,
    /// Treatment of simultaneous events. Results that change with their order rest on ties.
    pub ties: Ties,
    /// Bounds of the run.
    pub limits: Limits,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            seed: None,
            replication: 0,
            record: false,
            threads: 1,
            ties: Ties::Listed,
            limits: Limits::default(),
        }
    }
}

/// A hand on a run from another thread.
#[derive(Default)]
pub struct Control {
    /// Set to have the run stop soon.
    pub cancel: Arc<AtomicBool>,
    /// Simulated time reached, in ps.
    pub reached_ps: AtomicU64,
    /// Packets in queues and on links, at some time of late.
    pub held_packets: AtomicU64,
}
