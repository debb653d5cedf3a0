//! Admission by the congestion level estimate: the edge nodes of RFC 6661 (CL) and RFC 6662 (SM).

use forebay_parameters::{Entry, Parameters, Problem, Section, choice, parameters};
use forebay_units::{Span, Time};

use super::BuildAdmission;
use crate::measurement::{Measurement, check_interval, check_limit};
use crate::pcn_edge::{AdmissionControl, AdmissionSignal, Leaving};

pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "congestion_level",
    summary: "Blocks while the share of marked bytes in an interval reaches a limit (CLE-limit).",
    source: "RFC 6661, sections 3.2 and 3.3.1; RFC 6662, sections 3.2 and 3.3.1",
    example: "limit = 0.25",
    fields: CongestionLevelParameters::FIELDS,
    probes: &[],
    build: &build,
};

choice! {
    /// Marks that make the congestion level.
    pub enum Marks {
        /// Threshold and excess-traffic marks: CLE = (ThM + ETM) / (NM + ThM + ETM), controlled
        /// load (RFC 6661).
        Any = "any",
        /// Excess-traffic marks alone: CLE = ETM / (NM + ETM), single marking (RFC 6662). Should
        /// threshold-marked packets come nevertheless, they count as not marked.
        Excess = "excess",
    }
}

parameters! {
    /// Parameters of admission by the congestion level estimate.
    pub struct CongestionLevelParameters {
        /// CLE-limit, 0 to 1: an interval of which this share of bytes or more is marked blocks new
        /// calls, any other admits them. 0 blocks from the first interval on, with or without
        /// marks. The RFCs leave the value to the operator.
        limit: f64, "RFC 6661, section 3.3.1 (CLE-limit); RFC 6662, section 3.3.1";
        /// Interval of measurement T-meas, above 0; 100 to 500 ms are recommended. The default is
        /// the middle of that range.
        interval: Span = "300 ms", "RFC 6661, section 3.2 (T-meas); RFC 6662, section 3.2";
        /// Marks that make the congestion level: any (controlled load) or excess (single marking).
        marks: Marks = "any", "RFC 6661, section 3.2 (CLE); RFC 6662, section 3.2";
    }
}

fn build(section: &Section<'_>) -> Result<Box<dyn AdmissionControl>, Problem> {
    let parameters = CongestionLevelParameters::read(section)?;
    check_interval(section, parameters.interval)?;
    check_limit(section, parameters.limit)?;
    Ok(Box::new(CongestionLevel::new(&parameters)))
}

struct CongestionLevel {
    limit: f64,
    interval: Span,
    marks: Marks,
    /// Egress node: the bytes of the present interval, and what it reported last.
    measured: Measurement,
    reported: AdmissionSignal,
    /// Ingress node.
    blocked: bool,
}

impl CongestionLevel {
    fn new(parameters: &CongestionLevelParameters) -> Self {
        Self {
            limit: parameters.limit,
            interval: parameters.interval,
            marks: parameters.marks,
            measured: Measurement::default(),
            reported: AdmissionSignal::Continue,
            blocked: false,
        }
    }

    /// The congestion level estimate of the present interval.
    fn level(&self) -> f64 {
        let Measurement { threshold, excess, .. } = self.measured;
        self.measured.share(match self.marks {
            Marks::Any => threshold + excess,
            Marks::Excess => excess,
        })
    }
}

impl AdmissionControl for CongestionLevel {
    fn leaves(&mut self, packet: &Leaving) -> Option<AdmissionSignal> {
        self.measured.count(packet);
        None
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn interval_ended(&mut self, _now: Time) -> Option<AdmissionSignal> {
        let stop = self.level() >= self.limit;
        let signal = if stop { AdmissionSignal::Stop } else { AdmissionSignal::Continue };
        self.measured = Measurement::default();
        // A report that repeats the last one would change nothing at the ingress node.
        if signal == self.reported {
            return None;
        }
        self.reported = signal;
        Some(signal)
    }

    fn signalled(&mut self, signal: AdmissionSignal, _now: Time) -> Option<Time> {
        self.blocked = signal == AdmissionSignal::Stop;
        None
    }

    fn admits(&self, _present: u32) -> bool {
        !self.blocked
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{AS, ET, NM, at, packet};
    use super::*;
    use crate::pcn_edge::AdmissionSignal::{Continue, Stop};

    fn law(limit: f64, marks: Marks) -> CongestionLevel {
        let interval = Span::from_ms(240);
        CongestionLevel::new(&CongestionLevelParameters { limit, interval, marks })
    }

    /// An interval in which so many bytes came without mark, threshold-marked and excess-marked.
    fn interval(law: &mut CongestionLevel, bytes: [u16; 3]) -> Option<AdmissionSignal> {
        for (mark, size) in [NM, AS, ET].into_iter().zip(bytes) {
            assert_eq!(law.leaves(&packet(mark, size)), None, "nothing before the interval ends");
        }
        law.interval_ended(at(240))
    }

    /// The level is the share of marked bytes, as in the RFCs: NM 75, ThM 20, ETM 5 give 25 / 100
    /// (RFC 6661), NM 80, ETM 20 give 20 / 100 (RFC 6662).
    #[test]
    fn the_level_is_the_share_of_marked_bytes() {
        for (marks, bytes, level) in
            [(Marks::Any, [75, 20, 5], 0.25), (Marks::Excess, [80, 0, 20], 0.2)]
        {
            let mut law = law(1.0, marks);
            for (mark, size) in [NM, AS, ET].into_iter().zip(bytes) {
                law.leaves(&packet(mark, size));
                law.leaves(&packet(None, 1500));
            }
            assert_eq!(law.level(), level);
        }
    }

    /// A level at the limit blocks: RFC 6661, section 3.3.1, admits below the limit only. One byte
    /// less of marks and as much more without: 24 / 100 admits.
    #[test]
    fn equality_blocks() {
        assert_eq!(interval(&mut law(0.25, Marks::Any), [75, 20, 5]), Some(Stop));
        assert_eq!(interval(&mut law(0.25, Marks::Any), [76, 19, 5]), None);
        assert_eq!(interval(&mut law(0.2, Marks::Excess), [80, 0, 20]), Some(Stop));
        assert_eq!(interval(&mut law(0.2, Marks::Excess), [81, 0, 19]), None);
        assert_eq!(interval(&mut law(1.0, Marks::Any), [0, 50, 50]), Some(Stop));
    }

    /// An empty interval reopens: without traffic the level is 0, so that an aggregate that fell
    /// silent does not stay blocked.
    #[test]
    fn an_empty_interval_reopens() {
        let mut law = law(0.25, Marks::Any);
        assert_eq!(law.interval_ended(at(240)), None, "open from the start");
        assert_eq!(interval(&mut law, [0, 100, 0]), Some(Stop));
        assert_eq!(law.interval_ended(at(480)), Some(Continue));
    }

    /// Each interval is judged alone, and changes only are told. Levels 0, 1/2, 1/2, 0.2 (which
    /// over all intervals would be above the limit 0.25), 0.2, 1/2.
    #[test]
    fn each_interval_is_judged_alone_and_changes_are_told() {
        let mut law = law(0.25, Marks::Any);
        for (bytes, signal) in [
            ([100, 0, 0], None),
            ([50, 40, 10], Some(Stop)),
            ([50, 40, 10], None),
            ([80, 20, 0], Some(Continue)),
            ([80, 20, 0], None),
            ([50, 50, 0], Some(Stop)),
        ] {
            assert_eq!(interval(&mut law, bytes), signal);
        }
    }

    /// The ingress node does as its egress node tells it, without a timer.
    #[test]
    fn the_ingress_node_does_as_told() {
        let mut law = law(0.25, Marks::Any);
        assert!(law.admits(0));
        for (signal, admits) in [(Stop, false), (Stop, false), (Continue, true)] {
            assert_eq!(law.signalled(signal, at(0)), None, "there is no timer");
            assert_eq!(law.admits(3), admits);
        }
    }
}
