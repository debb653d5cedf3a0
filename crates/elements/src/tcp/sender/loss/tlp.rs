//! Tail loss probes (TLP, RFC 8985, section 7): arithmetic alone.

use forebay_units::{Span, Time};

/// A loss probe that was sent, and of which nothing is known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LossProbe {
    /// SND.NXT when it had been sent (`TLP.end_seq`).
    pub(super) end: u64,
    /// True if it was a segment sent before (`TLP.is_retrans`).
    pub(super) resent: bool,
}

/// Meaning of an acknowledgement for a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Nothing yet.
    Outstanding,
    /// It arrived, and what it repeats had arrived as well.
    Settled,
    /// It repaired a loss of which nothing else tells.
    Repaired,
}

/// An acknowledgement as the judgement of a probe needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeAck {
    /// The next segment expected.
    pub(super) number: u64,
    /// Segments that it reports as duplicates.
    pub(super) dsack: Option<(u64, u64)>,
    /// It acknowledges nothing new, and has no SACK option.
    pub(super) bare_duplicate: bool,
}

impl LossProbe {
    /// Judges the probe by `ack` (`TLP_process_ack` of section 7.4.2).
    pub(super) fn judge(&self, ack: &ProbeAck) -> Verdict {
        if ack.number < self.end {
            return Verdict::Outstanding;
        }
        let duplicate = ack.dsack.is_some_and(|(_, end)| end == self.end);
        if !self.resent || duplicate {
            Verdict::Settled
        } else if ack.number > self.end {
            Verdict::Repaired
        } else if ack.bare_duplicate {
            Verdict::Settled
        } else {
            Verdict::Outstanding
        }
    }
}

/// Returns the time at which a probe is due (`TLP_calc_PTO` of section 7.2): `ack_delay` is the
/// time by which the receiver may delay the acknowledgement of the only segment in flight, if there
/// is but one.
pub(super) fn probe_at(srtt: Span, ack_delay: Option<Span>, now: Time, timeout_at: Time) -> Time {
    (now + srtt.times(2) + ack_delay.unwrap_or(Span::ZERO)).min(timeout_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A probe is due after two round trips (section 7.2): at SRTT 100 ms after 200 ms; after 240
    /// ms where the receiver may wait 40 ms for a second segment; never after the timeout.
    #[test]
    fn a_probe_comes_after_two_round_trips() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let srtt = Span::from_ms(100);
        assert_eq!(probe_at(srtt, None, at(10), at(1010)), at(210));
        assert_eq!(probe_at(srtt, Some(Span::from_ms(40)), at(10), at(1010)), at(250));
        assert_eq!(probe_at(srtt, None, at(10), at(150)), at(150));
    }

    /// A loss that a probe repairs is noticed by congestion control, and a probe that was not
    /// needed is not taken for one (section 7.4.2): 9 was sent again, and SND.NXT is 10.
    #[test]
    fn a_probe_repairs_a_loss_unless_a_duplicate_arrives() {
        let ack = |number| ProbeAck { number, dsack: None, bare_duplicate: false };
        let probe = LossProbe { end: 10, resent: true };
        assert_eq!(probe.judge(&ack(9)), Verdict::Outstanding);
        assert_eq!(probe.judge(&ack(10)), Verdict::Outstanding);
        assert_eq!(probe.judge(&ack(11)), Verdict::Repaired);
        let reported = |block| ProbeAck { dsack: Some(block), ..ack(10) };
        assert_eq!(probe.judge(&reported((9, 10))), Verdict::Settled);
        assert_eq!(probe.judge(&reported((8, 9))), Verdict::Outstanding);
        let bare = |number| ProbeAck { bare_duplicate: true, ..ack(number) };
        assert_eq!(probe.judge(&bare(10)), Verdict::Settled);
        assert_eq!(probe.judge(&bare(9)), Verdict::Outstanding);
        // New data tells all by itself.
        let fresh = LossProbe { end: 10, resent: false };
        assert_eq!(fresh.judge(&ack(9)), Verdict::Outstanding);
        assert_eq!(fresh.judge(&ack(10)), Verdict::Settled);
    }
}
