//! The way of a run through simulated time: where it stops, and what is done there.

use forebay_units::Time;

use crate::results::series::Series;
use crate::run::Run;
use crate::run::check::Checking;
use crate::run::stopped::Stopped;

impl Run<'_> {
    /// Run to the end. Gives the number of events and of hops.
    pub(crate) fn go(&mut self) -> Result<(u64, u64), Stopped> {
        while !self.advance()? {}
        Ok(self.counted)
    }

    /// Continue by a chunk of events, at most to the next stop; whether the run is over.
    pub(crate) fn advance(&mut self) -> Result<bool, Stopped> {
        let end = Time::ZERO + self.plan.parameters.duration;
        if self.arrived {
            self.open_window();
            if self.stop >= end {
                self.supervisor.check_limits(&self.wired.network)?;
                return Ok(true);
            }
            let sample = self.series.as_ref().map_or(Time::NEVER, Series::next);
            let look = self.checking.as_ref().map_or(Time::NEVER, Checking::next);
            let warm_up = Time::ZERO + self.plan.parameters.warm_up;
            self.stop = if self.warm { end } else { warm_up }.min(sample).min(look).min(end);
        }
        let progress = self.wired.network.run(self.stop, self.chunk);
        self.counted = (progress.events, progress.hops);
        self.supervisor.check(&self.wired.network, &progress)?;
        self.arrived = progress.complete;
        if self.arrived {
            if let Some(series) = self.series.as_mut().filter(|series| series.next() == self.stop) {
                series.sample(&mut self.wired);
            }
            if let Some(checking) = &mut self.checking {
                checking.look(self.stop, &self.plan, &mut self.wired);
            }
        }
        Ok(false)
    }

    /// Begin to count where the warm-up ends.
    fn open_window(&mut self) {
        let warm_up = Time::ZERO + self.plan.parameters.warm_up;
        if self.warm || self.stop < warm_up {
            return;
        }
        // A warm-up of zero: counting begins before the first event.
        self.warm = true;
        if warm_up > Time::ZERO {
            if let Some(checking) = &self.checking {
                checking.reset(self.stop, &mut self.wired);
            }
            self.wired.reset_counters(self.stop);
            if let Some(series) = &mut self.series {
                series.forget();
            }
        }
    }
}
