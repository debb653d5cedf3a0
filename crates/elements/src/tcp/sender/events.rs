//! Events of a sender beside acknowledgements: writes of the application, and timers.

use forebay_network::{FlowId, Observation, Window};
use forebay_units::Time;

use super::Sender;
use super::acknowledgement::Finding;
use super::connection::{LOSS_TIMER, WRITE};
use super::loss::{Circumstances, Expiry, Loss};
use super::phase::Phase;
use super::segments::Segments;
use crate::end_flow;
use crate::tcp::applications::source::{ENDLESS, Source};

impl Sender<'_, '_> {
    /// The number of the flow in the network.
    pub(super) fn flow(&self) -> FlowId {
        self.settings.first.nth(self.index)
    }

    /// Returns the data that the application has written for the flow.
    pub(super) fn source(&self) -> &Source {
        &self.group.sources[self.index as usize]
    }

    /// As [`Sender::source`], to change it.
    pub(super) fn source_mut(&mut self) -> &mut Source {
        &mut self.group.sources[self.index as usize]
    }

    /// Returns loss detection, with the record that it marks and the state that it sees.
    #[inline(always)]
    pub(super) fn detection(&mut self) -> (&mut Loss, Option<&mut Segments>, Circumstances<'_>) {
        let state = Circumstances { now: self.cx.now(), tcb: self.tcb, settings: self.settings };
        (self.loss, self.segments.as_deref_mut(), state)
    }

    /// Schedule the next write of the application, counting from `last`.
    pub(super) fn plan_write(&mut self, last: Time) {
        let burst = self.group.applications.next(self.index as usize);
        match burst.map(|burst| (last + burst.gap, burst.size.bytes())) {
            Some((at, bytes)) if at < self.settings.stop => {
                self.source_mut().due = bytes;
                self.cx.wake_at(at, self.index | WRITE);
            }
            _ => {
                self.tcb.finished = true;
                if self.settings.handshake && self.tcb.max > 0 && self.tcb.end == self.tcb.max {
                    self.end_data();
                }
                self.end_if_done();
            }
        }
    }

    /// Report the end of the flow once all data is acknowledged.
    pub(super) fn end_if_done(&mut self) {
        if self.tcb.finished && self.tcb.una == self.tcb.end && !self.tcb.ended {
            self.tcb.ended = true;
            let flow = self.flow();
            end_flow(flow, self.cx);
        }
    }

    /// The application writes.
    pub(super) fn write(&mut self) {
        if self.settings.pauses && self.source().due == 0 {
            self.pause();
            return;
        }
        let before = self.observed_window();
        let now = self.cx.now();
        let fresh = self.group.fresh.is_some() && !self.continues() && self.begin_afresh();
        self.check_app_limited();
        let idle = !fresh && self.tcb.una == self.tcb.max && self.tcb.max > 0;
        if idle {
            self.tcb.control.restarted(&mut self.tcb.window, now);
        }
        if idle
            && self.settings.idle_restart
            && now.since(self.tcb.last_sent) > self.tcb.rto.timeout()
            && self.tcb.control.pacing_rate().is_none()
        {
            let cwnd = &mut self.tcb.window.cwnd;
            *cwnd = cwnd.min(self.settings.initial_window);
        }
        let due = self.source().due;
        let (end, max, mss) = (self.tcb.end, self.tcb.max, self.settings.mss);
        self.tcb.end = self.source_mut().write(due, end, max, mss);
        self.tcb.short = self.source().first_short();
        if (self.tcb.end != ENDLESS || self.settings.pauses) && !self.settings.on_request {
            self.plan_write(now);
        }
        if self.tcb.phase.is_opening() {
            self.open();
        } else {
            self.send_unprompted();
        }
        self.observe_window(before);
    }

    /// The connection may send from now on: note if the application limits it.
    pub(super) fn check_app_limited(&mut self) {
        let unsent = self.tcb.nxt < self.tcb.end;
        if let Some(segments) = self.segments {
            segments.check_app_limited(unsent, self.tcb.window.cwnd);
        }
    }

    /// Send what may be sent, where nothing has arrived.
    pub(super) fn send_unprompted(&mut self) {
        self.send_allowed(None);
        self.settle();
    }

    /// An event of the pacing timer occurred.
    pub(super) fn release(&mut self) {
        let now = self.cx.now();
        if self.tcb.pacer.as_mut().is_some_and(|pacer| pacer.expired(now)) {
            self.send_unprompted();
        }
    }
}

/// Timers of retransmission and of loss detection.
impl Sender<'_, '_> {
    /// Set the retransmission timer to `deadline`.
    #[inline]
    pub(super) fn set_timer(&mut self, deadline: Time) {
        self.tcb.deadline = deadline;
        if deadline < self.tcb.pending {
            self.plan_timer(deadline);
        }
    }

    /// Schedule an event of the timer at `deadline`, before any that is pending.
    #[cold]
    #[inline(never)]
    fn plan_timer(&mut self, deadline: Time) {
        self.tcb.pending = deadline;
        self.cx.wake_at(deadline, self.index);
    }

    /// New data was acknowledged (RFC 6298, sections 5.2 and 5.3): restart the timer, or stop it if
    /// nothing is outstanding.
    #[inline]
    pub(super) fn restart_timer(&mut self) {
        if self.tcb.una == self.tcb.max {
            // A segment that waits for the timer is still to be sent (RFC 3168, section 6.1.2).
            if !self.tcb.held {
                self.tcb.deadline = Time::NEVER;
            }
        } else {
            self.set_timer(self.cx.now() + self.tcb.rto.timeout());
        }
    }

    /// The pending event of the retransmission timer occurred.
    pub(super) fn retransmission_timer(&mut self) {
        let now = self.cx.now();
        if now != self.tcb.pending {
            return;
        }
        self.tcb.pending = Time::NEVER;
        let deadline = self.tcb.deadline;
        if deadline == Time::NEVER {
            return;
        }
        if deadline > now {
            self.set_timer(deadline);
            return;
        }
        if let Some(at) = self.loss.timer_at() {
            if at <= now {
                self.loss_timer_expired();
            }
            self.set_timer(at.max(self.tcb.deadline));
            return;
        }
        self.tcb.deadline = Time::NEVER;
        let before = self.observed_window();
        let held = std::mem::take(&mut self.tcb.held);
        if self.tcb.una < self.tcb.max {
            self.timed_out();
        } else if self.tcb.phase.is_opening() {
            self.syn_timed_out();
        } else if held {
            self.send_allowed(None);
        }
        self.observe_window(before);
    }

    /// An event of the timer of loss detection occurred.
    pub(super) fn loss_timer(&mut self) {
        let now = self.cx.now();
        if self.loss.is_expired(now) {
            self.loss_timer_expired();
        } else {
            self.plan_loss_timer();
        }
    }

    /// The timer of loss detection expired.
    pub(super) fn loss_timer_expired(&mut self) {
        let before = self.observed_window();
        let (loss, segments, state) = self.detection();
        match loss.on_timer(segments, &state) {
            Expiry::Late(finding) => self.repair_late(finding),
            Expiry::Probe => self.send_probe(),
            Expiry::Nothing => {}
        }
        let now = self.cx.now();
        if self.tcb.una < self.tcb.max && self.tcb.deadline <= now {
            // It did not run meanwhile.
            self.set_timer(now + self.tcb.rto.timeout());
        }
        self.settle();
        self.observe_window(before);
    }

    /// Begin to repair segments that were late and are lost, or send what that leaves room for.
    fn repair_late(&mut self, finding: Finding) {
        self.plan_loss_timer();
        self.notify_losses();
        if self.tcb.phase == Phase::Recovery {
            self.follow_lost_retransmission(finding);
        } else if finding.lost {
            self.begin_recovery(None);
        }
        self.send_allowed(None);
    }

    /// All is done that follows from an event: have loss detection set its timer.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        if !self.loss.is_timed() {
            return;
        }
        let (loss, segments, state) = self.detection();
        loss.settle(segments.as_deref(), &state);
        self.plan_loss_timer();
    }

    /// Schedule an event of the timer of loss detection, before any that is pending.
    #[inline(always)]
    pub(super) fn plan_loss_timer(&mut self) {
        if let Some(at) = self.loss.take_wake() {
            self.cx.wake_at(at, self.index | LOSS_TIMER);
        }
    }

    /// The present window, for [`Sender::observe_window`] to compare with; `None` without
    /// observers.
    #[inline]
    pub(super) fn observed_window(&self) -> Option<Window> {
        self.cx.is_observed().then_some(self.tcb.window)
    }

    /// Report the window to observers, if it differs from `before`.
    #[inline]
    pub(super) fn observe_window(&mut self, before: Option<Window>) {
        if before.is_some_and(|before| before != self.tcb.window) {
            let (flow, Window { cwnd, ssthresh, .. }) = (self.flow(), self.tcb.window);
            self.cx.observe(|| Observation::Window { flow, cwnd, ssthresh });
        }
    }
}
