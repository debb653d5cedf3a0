//! Loss detection by duplicate acknowledgements (RFC 5681, section 3.2; RFC 6582).

use super::{Circumstances, LossDetection};
use crate::tcp::sender::acknowledgement::{Acknowledgement, Finding};
use crate::tcp::sender::permit::{Limit, Permit};
use crate::tcp::sender::phase::Phase;
use crate::tcp::sender::reduction::Reduction;
use crate::tcp::sender::segments::Segments;

/// Loss detection by duplicate acknowledgements.
///
/// It needs no record of segments: after a timeout all from SND.NXT on is lost.
#[derive(Default)]
pub(in super::super) struct Dupack {
    duplicates: u32,
}

impl LossDetection for Dupack {
    /// Counts duplicates; so many signal the loss of the first outstanding segment. The careful
    /// variant of RFC 6582 (section 3.2, step 2) ignores them up to the recovery point: losses
    /// below it are being repaired already, and the duplicates may be caused by segments sent
    /// twice.
    #[inline]
    fn on_ack(
        &mut self,
        _segments: Option<&mut Segments>,
        ack: &Acknowledgement,
        state: &Circumstances<'_>,
    ) -> Finding {
        if ack.advances() {
            self.duplicates = 0;
        }
        if ack.advances() || state.tcb.una == state.tcb.max {
            return Finding::default();
        }
        self.duplicates += 1;
        let beyond = state.tcb.una > state.tcb.recover || state.tcb.recover == 0;
        let heeded = state.settings.reduction == Reduction::Reno || beyond;
        let lost = self.duplicates == state.settings.threshold && heeded;
        Finding { lost, ..Finding::default() }
    }

    fn on_timeout(&mut self, segments: Option<&mut Segments>, _state: &Circumstances<'_>) {
        self.duplicates = 0;
        if let Some(segments) = segments {
            segments.lose_all();
        }
    }

    /// New data lets the window be used, as do duplicates in recovery, which inflate it; those
    /// before let one new segment be sent each, up to two beyond the window (limited transmit, RFC
    /// 3042).
    #[inline]
    fn permit(
        &self,
        ack: Option<&Acknowledgement>,
        _segments: Option<&Segments>,
        state: &Circumstances<'_>,
    ) -> Option<Permit> {
        let permit = Permit::up_to(Limit::Outstanding);
        if ack.is_none_or(Acknowledgement::advances) || state.tcb.phase == Phase::Recovery {
            return Some(permit);
        }
        let threshold = state.settings.threshold;
        let early = state.tcb.phase == Phase::Open && self.duplicates < threshold;
        (early && state.settings.limited_transmit && state.tcb.nxt == state.tcb.max)
            .then_some(Permit { beyond: threshold - 1, segments: 1, early, ..permit })
    }

    fn duplicates(&self) -> u32 {
        self.duplicates
    }
}
