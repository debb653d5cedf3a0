//! Loss detection by counting the SACKed segments above one (RFC 6675).

use super::{Circumstances, LossDetection};
use crate::tcp::SackAtTimeout;
use crate::tcp::sender::acknowledgement::{Acknowledgement, Finding};
use crate::tcp::sender::permit::{Limit, Permit};
use crate::tcp::sender::phase::Phase;
use crate::tcp::sender::segments::Segments;

/// Loss detection by counting the SACKed segments above one.
///
/// The record of segments exists while SACK reports something. Numbers that the RFC gives as "the
/// highest octet" are kept here as the next one: `una` is HighACK + 1, `max` is HighData + 1.
#[derive(Default)]
pub(in super::super) struct Sack {
    /// Duplicate acknowledgements in the sense of section 2: those that SACK new segments.
    duplicates: u32,
}

impl LossDetection for Sack {
    /// Section 5, steps 1 and 2. Until a timeout is recovered from, nothing is found lost: all that
    /// was outstanding is sent again in any case (section 5.1).
    #[inline(always)]
    fn on_ack(
        &mut self,
        segments: Option<&mut Segments>,
        ack: &Acknowledgement,
        state: &Circumstances<'_>,
    ) -> Finding {
        if ack.advances() {
            self.duplicates = 0;
        }
        let Some(segments) = segments else { return Finding::default() };
        if state.tcb.phase == Phase::Loss && state.is_recovering() {
            return Finding::default();
        }
        if ack.newly_sacked == 0 {
            return Finding::default();
        }
        let threshold = state.settings.threshold;
        segments.lose_by_count(u64::from(threshold));
        if state.tcb.phase == Phase::Recovery {
            return Finding::default();
        }
        self.duplicates += 1;
        // What an earlier recovery sent again counts as sent once (steps 3.1 and 4.2).
        segments.forget_resent();
        let lost = segments.first_lost() == Some(state.tcb.una) || self.duplicates >= threshold;
        Finding { lost, ..Finding::default() }
    }

    fn on_timeout(&mut self, segments: Option<&mut Segments>, state: &Circumstances<'_>) {
        self.duplicates = 0;
        if let Some(segments) = segments {
            segments.lose_all();
            if state.settings.sack_at_timeout == SackAtTimeout::Clear {
                segments.forget_sacked();
            }
        }
    }

    /// Recovery begins with the segment at HighACK + 1, and there is one rescue in it (section 5,
    /// steps 4.3 and 4.5).
    fn on_recovery(&mut self, segments: Option<&mut Segments>, state: &Circumstances<'_>) {
        if let Some(segments) = segments {
            segments.begin_recovery(state.tcb.recover);
        }
    }

    /// New data lets the window be used, and so do new SACKed segments; before a loss is certain
    /// these let new segments be sent as far as pipe allows (section 5, step 3).
    #[inline]
    fn permit(
        &self,
        ack: Option<&Acknowledgement>,
        _segments: Option<&Segments>,
        state: &Circumstances<'_>,
    ) -> Option<Permit> {
        let news = ack.is_some_and(|ack| ack.newly_sacked > 0);
        let duplicate = ack.is_some_and(|ack| !ack.advances());
        match state.tcb.phase {
            Phase::Open if news && state.settings.limited_transmit => {
                let permit = Permit::up_to(Limit::FullSegment);
                Some(Permit { early: true, or_outstanding: !duplicate, ..permit })
            }
            Phase::Open | Phase::Opening | Phase::Reopening => {
                (!duplicate).then_some(Permit::up_to(Limit::Outstanding))
            }
            _ if duplicate && !news => None,
            Phase::Recovery => Some(Permit::up_to(Limit::FullSegment)),
            Phase::Loss => Some(Permit::up_to(Limit::Pipe)),
        }
    }

    fn duplicates(&self) -> u32 {
        self.duplicates
    }
}
