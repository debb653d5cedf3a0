//! Forward RTO-recovery (F-RTO, RFC 5682): after a timeout new segments are sent before others are
//! sent again, and what is acknowledged next tells whether the timeout was spurious.

use super::Sender;
use super::acknowledgement::Acknowledgement;
use super::permit::{Limit, Permit};
use super::settings::Detection;

/// Progress of F-RTO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Forward {
    /// The timeout is not, or not any more, in doubt by it.
    Off,
    /// The first segment was sent again, and no other (step 1).
    First,
    /// New segments are sent (step 2b), when SACK had reported so many that were sent once.
    Second { reported: u64 },
}

impl Forward {
    pub(super) const fn begin(on: bool) -> Self {
        if on { Self::First } else { Self::Off }
    }
}

/// New segments that step 2b lets be sent.
const NEW_SEGMENTS: u64 = 2;

/// Segments to which the window is limited where the timeout was not spurious (step 3a).
const MOST_SEGMENTS: f64 = 3.0;

impl Sender<'_, '_> {
    /// The timer expired, perhaps while a recovery is in doubt: F-RTO does not follow it then, but
    /// where it expires again for the same segment (section 3.2).
    pub(super) fn doubt_timeout(&mut self, timed_out: bool) {
        let again = timed_out && self.tcb.timed_out == self.tcb.una;
        if let Some(doubt) = self.doubt()
            && !(again && doubt.forward == Forward::First)
        {
            doubt.forward = Forward::Off;
        }
    }

    /// Permission to send while it is open whether a timeout was spurious: no segment, or two new
    /// ones, whatever the window is.
    #[inline]
    pub(super) fn forward_permit(&mut self) -> Option<Permit> {
        self.tcb.undo.as_ref()?;
        let (recover, max) = (self.tcb.recover, self.tcb.max);
        let segments = match self.doubt()?.forward {
            Forward::Off => return None,
            Forward::First => 0,
            Forward::Second { .. } => (recover + NEW_SEGMENTS).saturating_sub(max) as u32,
        };
        Some(Permit { segments, beyond: u32::MAX, ..Permit::up_to(Limit::Outstanding) })
    }

    /// Returns true if it is open whether a timeout was spurious: what is lost is not sent again.
    #[inline]
    pub(super) fn goes_forward(&mut self) -> bool {
        self.tcb.undo.is_some() && self.doubt().is_some_and(|it| it.forward != Forward::Off)
    }

    /// Follow an acknowledgement after a timeout (section 2.1 without SACK, section 3.1 with it,
    /// steps 2 and 3). Returns true if the timeout was spurious.
    pub(super) fn follow_forward(&mut self, ack: &Acknowledgement) -> bool {
        let forward = self.doubt().map_or(Forward::Off, |doubt| doubt.forward);
        match forward {
            Forward::Off => {}
            Forward::First if ack.advances() => self.go_forward(),
            // With SACK, duplicates before the segment sent again has arrived tell nothing.
            Forward::First if self.settings.detection != Detection::Dupack => {}
            Forward::First => self.set_forward(Forward::Off),
            Forward::Second { reported } => {
                if ack.advances() || self.originals_reported() > reported {
                    return true;
                }
                let window = &mut self.tcb.window;
                window.cwnd = window.cwnd.min(MOST_SEGMENTS * window.smss);
                self.go_back();
            }
        }
        false
    }

    /// Step 2: the segment sent again has arrived. Have new ones be sent, if others of before the
    /// timeout are outstanding and there are new ones.
    fn go_forward(&mut self) {
        let nxt = std::mem::replace(&mut self.tcb.nxt, self.tcb.max);
        let forward = if self.tcb.una < self.tcb.recover && self.new_data_allowed() {
            Forward::Second { reported: self.originals_reported() }
        } else {
            self.tcb.nxt = nxt;
            Forward::Off
        };
        self.set_forward(forward);
    }

    /// All of before the timeout that has not arrived is sent again, as after any timeout.
    fn go_back(&mut self) {
        self.set_forward(Forward::Off);
        if !self.settings.goes_back {
            return;
        }
        self.tcb.nxt = self.tcb.una;
        let recover = self.tcb.recover;
        if let Some(segments) = self.segments {
            segments.lose_below(recover);
        }
        self.send_allowed(None);
    }

    fn set_forward(&mut self, forward: Forward) {
        if let Some(doubt) = self.doubt() {
            doubt.forward = forward;
        }
    }

    /// Segments of before the timeout that were sent once and that SACK has reported.
    fn originals_reported(&self) -> u64 {
        let recover = self.tcb.recover;
        self.segments.as_ref().map_or(0, |segments| segments.originals_sacked_below(recover))
    }
}
