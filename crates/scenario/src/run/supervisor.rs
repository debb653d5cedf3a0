//! Looking, while a run lasts, whether it is to stop.

use std::ops::Deref;
use std::sync::atomic::Ordering;

use forebay_engine::{Network, Progress, Traffic};

use crate::plan::estimate::{Estimate, HELD_PACKET, Need};
use crate::run::control::Control;
use crate::run::stopped::{Limits, Stopped};

/// Events between two looks at [`Limits`], which take a sum over all flows.
const LIMITS_CHUNK: u64 = 1 << 16;

/// Says whether a run is to stop. `C` leads to the control over it.
pub(crate) struct Supervisor<C> {
    control: C,
    limits: Limits,
    estimate: Estimate,
    /// The number of events at which limits are looked at next.
    next: u64,
}

impl<C: Deref<Target = Control>> Supervisor<C> {
    pub(crate) fn new(control: C, limits: Limits, estimate: Estimate) -> Self {
        Self { control, limits, estimate, next: 0 }
    }

    /// The same, whose control is reached by `control`.
    pub(crate) fn reached_by<D>(self, control: D) -> Supervisor<D> {
        let Self { limits, estimate, next, .. } = self;
        Supervisor { control, limits, estimate, next }
    }

    /// Look whether the run was cancelled, and now and then at its limits.
    pub(crate) fn check(&mut self, network: &Network, progress: &Progress) -> Result<(), Stopped> {
        self.control.reached_ps.store(progress.now.ps(), Ordering::Relaxed);
        if self.control.cancel.load(Ordering::Relaxed) {
            return Err(Stopped::Cancelled);
        }
        if progress.events >= self.next {
            self.next = progress.events + LIMITS_CHUNK.max(16 * network.flows() as u64);
            self.check_limits(network)?;
        }
        Ok(())
    }

    /// Fails if the run exceeds one of its limits.
    pub(crate) fn check_limits(&self, network: &Network) -> Result<(), Stopped> {
        let Traffic { sent, held } = network.traffic();
        self.control.held_packets.store(held, Ordering::Relaxed);
        let Limits { packets, memory } = self.limits;
        if let Some(limit) = packets.filter(|limit| sent > *limit) {
            return Err(Stopped::Packets { limit, expected: self.estimate.packets });
        }
        let bytes = held.saturating_mul(HELD_PACKET);
        let packets = || Need {
            path: "links".to_owned(),
            what: format!("{held} packets in queues and on links"),
            bytes,
        };
        match memory.filter(|limit| bytes > *limit) {
            Some(limit) => Err(Stopped::Memory { limit, needed: bytes, most: packets() }),
            None => Ok(()),
        }
    }
}
