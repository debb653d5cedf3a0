//! The AR meter and AS marker of three-state marking (3sm): admission stops at a threshold.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, PcnMark, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::TOKENS;
use super::pcn::{Meter, check_threshold, mark_with};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "ar_meter",
    summary: "AR meter and AS marker of three-state PCN marking: admission stops at a threshold.",
    source: "Babiarz, Liu and Rahimi, draft-babiarz-pcn-explicit-marking-02, section 1.2",
    example: r#"
        rate = "300 kbit/s"
        size = "9 kB"
        threshold = "4 kB"
    "#,
    fields: ArMeterParameters::FIELDS,
    probes: &[TOKENS],
    build: &build,
};

parameters! {
    /// Parameters of the AR meter. It meters PCN packets that are not ET-marked, and marks them
    /// "admission-stop" (threshold-marked) when their tokens are lacking, or when fewer than the
    /// threshold are left. A packet whose tokens are lacking takes none.
    pub struct ArMeterParameters {
        /// Admissible rate (AR = TB.rate): tokens arrive at it. Above 0, at most the link's rate.
        /// IP headers count.
        rate: Rate, "draft-babiarz-pcn-explicit-marking-02, sections 1.2 and 2.2";
        /// Depth of the token bucket (TB.size), which is full at the start. At least 20 B.
        size: Size, "draft-babiarz-pcn-explicit-marking-02, section 1.2";
        /// Marking threshold (TB.threshold), at most `size`: with fewer tokens left, packets are
        /// marked.
        threshold: Size, "draft-babiarz-pcn-explicit-marking-02, section 1.2";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let ArMeterParameters { rate, size, threshold } = ArMeterParameters::read(section)?;
    let meter = Meter::new(section, facts, rate, size)?;
    check_threshold(section, threshold, size)?;
    Ok(Box::new(ArMeter { meter, threshold }))
}

struct ArMeter {
    meter: Meter,
    threshold: Size,
}

impl Conditioner for ArMeter {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        let Some(before) = packet.pcn() else { return Verdict::Accept };
        let bucket = self.meter.at(now);
        if before == PcnMark::Excess {
            return Verdict::Accept;
        }
        let covered = bucket.covers(packet.size);
        if covered {
            // Only the draft's second condition speaks of reducing the fill: a packet that the
            // bucket cannot pay for leaves it as it is.
            bucket.take(packet.size);
        }
        if !covered || bucket.is_below(self.threshold) {
            mark_with(packet, PcnMark::Threshold);
        }
        Verdict::Accept
    }

    fn colours(&self) -> bool {
        false
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.meter.probes(visit);
    }

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        visit(&self.meter.state(true));
    }
}

#[cfg(test)]
mod tests {
    use super::super::pcn::tests::{AS, ET, NM, check_steps};

    /// The packets that the draft names stop admission, and no others. 10 B arrive each ms: 800,
    /// 600, and 400 B left are below the threshold of 500 B; at 1 ms 410 B, which the ET-marked
    /// packet leaves alone, 210 B, 10 B; then 10 B and, at 11 ms, 110 B do not pay for 200 B and
    /// stay.
    #[test]
    fn packets_below_the_threshold_stop_admission() {
        let parameters = [("rate", "80 kbit/s"), ("size", "1 kB"), ("threshold", "500 B")];
        check_steps(
            "ar_meter",
            &parameters,
            &[
                (0, NM, NM, 800),
                (0, NM, NM, 600),
                (0, NM, AS, 400),
                (1, ET, ET, 410),
                (1, NM, AS, 210),
                (1, NM, AS, 10),
                (1, NM, AS, 10),
                (11, NM, AS, 110),
            ],
        );
    }

    /// A packet that another node marked keeps the mark and is metered: 1000 B pay for it, and 800
    /// B are above the threshold.
    #[test]
    fn a_marked_packet_is_metered_and_stays_marked() {
        let parameters = [("rate", "80 kbit/s"), ("size", "1 kB"), ("threshold", "500 B")];
        check_steps("ar_meter", &parameters, &[(0, AS, AS, 800), (0, NM, NM, 600)]);
    }
}
