//! The threshold meter and marker of the PCN standard.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, PcnMark, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, choice, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::TOKENS;
use super::pcn::{Meter, check_threshold, mark_with};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "threshold_meter",
    summary: "Threshold meter and marker: all PCN packets are marked while a rate is exceeded.",
    source: "RFC 5670, section 2.3 and appendix A.1",
    example: r#"
        rate = "300 kbit/s"
        size = "9 kB"
        threshold = "4 kB"
    "#,
    fields: ThresholdMeterParameters::FIELDS,
    probes: &[TOKENS],
    build: &build,
};

choice! {
    /// Treatment of packets that arrive excess-traffic-marked.
    pub enum ExcessMarked {
        /// They take tokens like any others; only their mark stays.
        Meter = "meter",
        /// They pass unmetered.
        Skip = "skip",
    }
}

parameters! {
    /// Parameters of the threshold meter. Each PCN packet takes its tokens, or those that there
    /// are, and is threshold-marked if fewer than the threshold are left.
    pub struct ThresholdMeterParameters {
        /// PCN-threshold-rate: tokens arrive at it. Above 0, at most the link's rate. IP headers
        /// count.
        rate: Rate, "RFC 5670, section 2.3";
        /// Depth of the token bucket, which is full at the start. At least 20 B.
        size: Size, "RFC 5670, section 2.3";
        /// With fewer tokens left, packets are marked. Above 0, at most `size`.
        threshold: Size, "RFC 5670, section 2.3";
        /// Treatment of packets that arrive excess-traffic-marked: meter (they take tokens) or
        /// skip. Their mark stays either way.
        excess_marked: ExcessMarked = "meter", "RFC 5670, appendix A.1";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let ThresholdMeterParameters { rate, size, threshold, excess_marked } =
        ThresholdMeterParameters::read(section)?;
    let meter = Meter::new(section, facts, rate, size)?;
    check_threshold(section, threshold, size)?;
    if threshold.bytes() == 0 {
        let message = "\"0 B\" would mark nothing, as no bucket holds less; allowed are sizes from \
                       1 B to the size of the bucket";
        return Err(section.fail("threshold", message));
    }
    Ok(Box::new(ThresholdMeter { meter, threshold, excess_marked }))
}

struct ThresholdMeter {
    meter: Meter,
    threshold: Size,
    excess_marked: ExcessMarked,
}

impl Conditioner for ThresholdMeter {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        let Some(before) = packet.pcn() else { return Verdict::Accept };
        let bucket = self.meter.at(now);
        if before == PcnMark::Excess && self.excess_marked == ExcessMarked::Skip {
            return Verdict::Accept;
        }
        bucket.drain(packet.size);
        if bucket.is_below(self.threshold) {
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
        visit(&self.meter.state(false));
    }
}

#[cfg(test)]
mod tests {
    use super::super::pcn::tests::{AS, ET, NM, Step, check_steps};

    /// Fill 10 B each ms, 1000 B deep, threshold 500 B.
    fn check(excess_marked: &str, last: [Step; 5]) {
        let parameters = [
            ("rate", "80 kbit/s"),
            ("size", "1 kB"),
            ("threshold", "500 B"),
            ("excess_marked", excess_marked),
        ];
        let first = [(0, NM, NM, 800), (0, NM, NM, 600), (0, NM, AS, 400)];
        check_steps("threshold_meter", &parameters, &[&first[..], &last].concat());
    }

    /// Packets that arrive excess-traffic-marked take tokens, by appendix A.1 of RFC 5670: 410 B at
    /// 1 ms pay for the packet that came excess-traffic-marked, 210; 10; of 10 B nothing is left,
    /// twice; nor of the 100 B of 11 ms.
    #[test]
    fn excess_marked_packets_take_tokens() {
        check(
            "meter",
            [(1, ET, ET, 210), (1, NM, AS, 10), (1, NM, AS, 0), (1, NM, AS, 0), (11, NM, AS, 0)],
        );
    }

    /// Traffic that is terminated anyway need not stop admission: 410 B at 1 ms are left alone;
    /// then 210, 10, 0, and 0 of the 100 B of 11 ms.
    #[test]
    fn excess_marked_packets_may_pass_unmetered() {
        check(
            "skip",
            [(1, ET, ET, 410), (1, NM, AS, 210), (1, NM, AS, 10), (1, NM, AS, 0), (11, NM, AS, 0)],
        );
    }
}
