//! Notifications of discards alone.

use forebay_network::Packet;
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Span, Time};

use super::{BuildDetector, Spacing};
use crate::LinkFacts;
use crate::detector::{CongestionDetector, CongestionNotification};

pub(super) const ENTRY: Entry<BuildDetector> = Entry {
    name: "discard",
    summary: "Notifies a source when one of its packets was dropped.",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, section 5.1 \
             (notification type 2)",
    example: "",
    fields: DiscardParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the detection of discards.
    pub struct DiscardParameters {
        /// A source is notified again only after more than this time.
        hold_off: Span = "50 ms", "COMSAT thesis, section 5.1";
    }
}

fn build(
    section: &Section<'_>,
    _facts: &LinkFacts,
) -> Result<Box<dyn CongestionDetector>, Problem> {
    let DiscardParameters { hold_off } = DiscardParameters::read(section)?;
    Ok(Box::new(Discard { spacing: Spacing::new(hold_off) }))
}

struct Discard {
    spacing: Spacing,
}

impl CongestionDetector for Discard {
    fn judge(
        &mut self,
        packet: &Packet,
        dropped: bool,
        now: Time,
    ) -> Option<CongestionNotification> {
        (dropped && self.spacing.allows(packet.flow, now))
            .then_some(CongestionNotification::Discard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};

    /// Each source is notified of its own discards, not of every cell of a burst that is lost and
    /// not of cells that pass: 50 ms after a notification the next is too early, 1 ps later not.
    #[test]
    fn each_source_hears_of_its_own_discards_after_a_hold_off() {
        let mut law = Discard { spacing: Spacing::new(Span::from_ms(50)) };
        let packet = |flow| Packet::data(Time::ZERO, FlowId::new(flow), 0, 53, RouteId::new(0));
        let at = |ps| Time::ZERO + Span::from_s(1) + Span::from_ps(ps);
        let hold = Span::from_ms(50).ps();
        assert_eq!(law.judge(&packet(3), false, at(0)), None);
        assert_eq!(law.judge(&packet(3), true, at(0)), Some(CongestionNotification::Discard));
        assert_eq!(law.judge(&packet(1), true, at(1)), Some(CongestionNotification::Discard));
        assert_eq!(law.judge(&packet(3), true, at(hold)), None);
        assert_eq!(
            law.judge(&packet(3), true, at(hold + 1)),
            Some(CongestionNotification::Discard)
        );
        assert_eq!(law.judge(&packet(3), true, at(hold + 2)), None);
    }
}
