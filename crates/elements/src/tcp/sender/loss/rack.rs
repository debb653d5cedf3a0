//! Loss detection by time, with tail loss probes (RACK-TLP, RFC 8985).

use forebay_units::{Span, Time};

use super::reordering::{Inputs, Reordering, Transmission};
use super::tlp::{LossProbe, ProbeAck, Verdict, probe_at};
use super::{Circumstances, Expiry, LossDetection};
use crate::tcp::sender::acknowledgement::{Acknowledgement, Finding};
use crate::tcp::sender::permit::{Limit, Permit};
use crate::tcp::sender::phase::Phase;
use crate::tcp::sender::segments::{Segment, Segments};

/// Loss detection by time: a segment is lost if one that was sent later has arrived, and the
/// reordering window has passed since.
///
/// It needs a record of every segment.
pub(in super::super) struct Rack {
    reordering: Reordering,
    /// The latest transmission of a segment sent before that was lost.
    lost_again: Option<Time>,
    /// Time at which the window was last reduced for a loss.
    reduced_at: Time,
    /// The loss probe of which nothing is known yet.
    probe: Option<LossProbe>,
    /// A round-trip time has been measured since the last probe, or since the start.
    measured: bool,
    /// New data was acknowledged: a probe is to be scheduled.
    progress: bool,
    /// The next segment never sent, when this was looked at last.
    max: u64,
    timer: Option<(Time, Purpose)>,
    /// Time of the pending event of the timer.
    pending: Time,
}

/// Purpose of the timer: never two at a time (section 8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    Reordering,
    Probe,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self {
            reordering: Reordering::new(),
            lost_again: None,
            reduced_at: Time::ZERO,
            probe: None,
            measured: false,
            progress: false,
            max: 0,
            timer: None,
            pending: Time::NEVER,
        }
    }

    /// Take note of what has arrived, and find what therefore is lost: the window is resized
    /// (section 6.2, step 4), losses marked (step 5), and the timer set for the last of what is
    /// late.
    fn detect(
        &mut self,
        segments: &mut Segments,
        dsack: bool,
        state: &Circumstances<'_>,
    ) -> Finding {
        self.reordering.update();
        self.reordering.resize(&Inputs {
            una: state.tcb.una,
            nxt: state.tcb.nxt,
            dsack,
            recovering: state.is_recovering(),
            recovered: state.is_recovered(),
            sacked: segments.sacked(),
            threshold: u64::from(state.settings.threshold),
            srtt: state.tcb.rto.srtt(),
        });
        let latest = self.lose_late(segments, state.now);
        match (latest, self.timer) {
            (Some(latest), _) => self.timer = Some((state.now + latest, Purpose::Reordering)),
            (None, Some((_, Purpose::Reordering))) => self.timer = None,
            _ => {}
        }
        let repairing = state.is_recovering();
        Finding {
            lost: !repairing && segments.first_lost().is_some(),
            lost_again: repairing
                && state.tcb.phase == Phase::Recovery
                && self.lost_again(state.now),
            repaired: false,
        }
    }

    /// Marks what is lost (`RACK_detect_loss`). Returns the longest time for which what is late may
    /// still arrive.
    fn lose_late(&mut self, segments: &mut Segments, now: Time) -> Option<Span> {
        let newest = self.reordering.newest()?;
        let (mut latest, mut next) = (None, segments.oldest());
        while let Some(number) = next {
            let sent = segments.get(number)?.sent;
            if sent > newest.sent {
                break;
            }
            next = segments.sent_after(number);
            match self.reordering.remaining(Transmission { sent, number }, now) {
                None => {}
                Some(Span::ZERO) => self.lose(segments, number),
                remaining => latest = latest.max(remaining),
            }
        }
        latest
    }

    fn lose(&mut self, segments: &mut Segments, number: u64) {
        if let Some(last) = segments.lose(number).filter(|last| last.repeated) {
            self.lost_again = self.lost_again.max(Some(last.sent));
        }
    }

    /// Returns true if a retransmission was lost that was sent since the window was reduced: a
    /// further sign of congestion (RFC 5681, section 4.3), once for what was sent since.
    fn lost_again(&mut self, now: Time) -> bool {
        let again = self.lost_again.take().is_some_and(|sent| sent >= self.reduced_at);
        if again {
            self.reduced_at = now;
        }
        again
    }

    /// Judges the loss probe by an acknowledgement (section 7.4). Returns true if it repaired a
    /// loss.
    fn judge(&mut self, ack: &Acknowledgement) -> bool {
        let Some(probe) = self.probe else { return false };
        let verdict = probe.judge(&ProbeAck {
            number: ack.number,
            dsack: ack.duplicate,
            bare_duplicate: !ack.advances() && ack.bare,
        });
        if verdict != Verdict::Outstanding {
            self.probe = None;
        }
        verdict == Verdict::Repaired
    }
}

impl LossDetection for Rack {
    fn on_arrival(&mut self, number: u64, segment: &Segment, echo: Option<Time>, now: Time) {
        let last = Transmission { sent: segment.sent, number };
        self.reordering.delivered(last, segment.repeated, echo, now);
        self.measured |= !segment.repeated;
    }

    fn on_ack(
        &mut self,
        segments: Option<&mut Segments>,
        ack: &Acknowledgement,
        state: &Circumstances<'_>,
    ) -> Finding {
        self.progress |= ack.advances();
        let Some(segments) = segments else { return Finding::default() };
        let finding = self.detect(segments, ack.duplicate.is_some(), state);
        Finding { repaired: self.judge(ack), ..finding }
    }

    /// `RACK_mark_losses_on_RTO` of section 6.3.
    fn on_timeout(&mut self, segments: Option<&mut Segments>, state: &Circumstances<'_>) {
        let Some(segments) = segments else { return };
        let mut next = segments.oldest();
        while let Some(number) = next {
            let Some(sent) = segments.get(number).map(|segment| segment.sent) else { break };
            next = segments.sent_after(number);
            if number == state.tcb.una || self.reordering.is_overdue(sent, state.now) {
                segments.lose(number);
            }
        }
        (self.probe, self.timer, self.lost_again) = (None, None, None);
    }

    fn on_timer(&mut self, segments: Option<&mut Segments>, state: &Circumstances<'_>) -> Expiry {
        match (self.timer.take(), segments) {
            (Some((_, Purpose::Reordering)), Some(segments)) => {
                Expiry::Late(self.detect(segments, false, state))
            }
            (Some((_, Purpose::Probe)), _) => Expiry::Probe,
            _ => Expiry::Nothing,
        }
    }

    fn on_probe(&mut self, resent: bool, end: u64) {
        (self.measured, self.max) = (false, end);
        self.probe = Some(LossProbe { end, resent });
    }

    fn on_handshake(&mut self, rtt: Span, now: Time) {
        self.reordering.measured(rtt, now);
        self.measured = true;
    }

    fn on_recovery(&mut self, _segments: Option<&mut Segments>, state: &Circumstances<'_>) {
        (self.probe, self.lost_again) = (None, None);
        self.reduced_at = state.now;
    }

    /// Schedules a loss probe, or does without (section 7.2).
    ///
    /// One that could not be sent when it is due (section 7.3), because another is in flight or no
    /// round-trip time was measured since, is not scheduled.
    fn settle(&mut self, segments: Option<&Segments>, state: &Circumstances<'_>) {
        let sacked = segments.is_some_and(|segments| segments.sacked() > 0);
        let outstanding = state.tcb.nxt - state.tcb.una;
        let quiet = state.tcb.phase == Phase::Open && !sacked && outstanding > 0;
        let quiet = quiet && state.settings.tail_loss_probe;
        let sent = std::mem::replace(&mut self.max, state.tcb.max) < state.tcb.max;
        let progress = std::mem::take(&mut self.progress) || sent;
        if outstanding == 0 {
            self.timer = None;
        }
        match self.timer {
            Some((_, Purpose::Reordering)) => return,
            Some((_, Purpose::Probe)) if !quiet => self.timer = None,
            _ => {}
        }
        let able = self.measured && self.probe.is_none();
        if let Some(srtt) = state.tcb.rto.srtt().filter(|_| quiet && able && progress) {
            let delay = (outstanding == 1).then_some(state.settings.max_ack_delay);
            let at = probe_at(srtt, delay, state.now, state.tcb.deadline);
            self.timer = Some((at, Purpose::Probe));
        }
    }

    fn timer_at(&self) -> Option<Time> {
        self.timer.map(|(at, _)| at)
    }

    fn take_wake(&mut self) -> Option<Time> {
        let (at, _) = self.timer.filter(|(at, _)| *at < self.pending)?;
        self.pending = at;
        Some(at)
    }

    fn is_expired(&mut self, now: Time) -> bool {
        if self.pending != now {
            return false;
        }
        self.pending = Time::NEVER;
        self.timer.is_some_and(|(at, _)| at <= now)
    }

    fn permit(
        &self,
        _ack: Option<&Acknowledgement>,
        segments: Option<&Segments>,
        state: &Circumstances<'_>,
    ) -> Option<Permit> {
        let open = state.tcb.phase == Phase::Open;
        let limited = open && !state.settings.limited_transmit;
        let limit = if limited { Limit::Outstanding } else { Limit::Pipe };
        let early = open && segments.is_some_and(|segments| segments.sacked() > 0);
        Some(Permit { early, ..Permit::up_to(limit) })
    }
}
