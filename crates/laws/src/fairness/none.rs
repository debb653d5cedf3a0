//! No fairness: the host sends whenever buffers and priorities let it.

use forebay_parameters::{Entry, Problem, Section};

use super::{BuildFairness, FairnessFactory, RingFacts};
use crate::fairness::RingFairness;

pub(super) const ENTRY: Entry<BuildFairness> = Entry {
    name: "none",
    summary: "No fairness: a host sends whenever the transit buffers let it.",
    source: "RFC 2892, section 5.1, without section 6",
    example: "",
    fields: &[],
    probes: &[],
    build: &build,
};

fn build(section: &Section<'_>, _facts: &RingFacts) -> Result<FairnessFactory, Problem> {
    section.refuse_unknown(&[])?;
    Ok(Box::new(|_| Box::new(NoFairness)))
}

struct NoFairness;

impl RingFairness for NoFairness {}

#[cfg(test)]
mod tests {
    use super::super::samples::{at, law, low, oc12, read, station};
    use super::*;
    use crate::fairness::{RingAccess, RingState};

    /// Every host frame may go and no station is notified, as the baseline that fairness is
    /// compared with.
    #[test]
    fn every_host_frame_may_go_and_no_station_is_notified() {
        let mut none = law(&ENTRY, &[], &oc12(), &station());
        let full = RingState { transit: 522_000, waiting_since: None };
        for k in 0..1000 {
            let now = at(f64::from(k));
            assert_eq!(none.access(&low(1500, 1, 0), &full, now), RingAccess::Open);
            none.sent(&low(1500, 1, 0), now);
        }
        assert_eq!(none.interval(), None);
    }

    /// Parameters meant for another law are refused and not ignored in silence.
    #[test]
    fn parameters_are_refused() {
        let wrong = read(&ENTRY, &[("interval", "1 ms".into())], &oc12()).err().unwrap();
        assert_eq!(wrong.path, "interval");
    }
}
