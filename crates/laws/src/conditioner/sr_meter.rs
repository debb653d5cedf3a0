//! The SR meter and ET marker of three-state marking (3sm): marks flows to be terminated, slowly.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, PcnMark, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::TOKENS;
use super::pcn::{Meter, mark_with};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "sr_meter",
    summary: "SR meter and ET marker of three-state PCN marking, with slow-down and preference.",
    source: "Babiarz, Liu and Rahimi, draft-babiarz-pcn-explicit-marking-02, section 1.2",
    example: r#"
        rate = "600 kbit/s"
        size = "20 kB"
        slow_down = "20 kB"
        preferential = true
    "#,
    fields: SrMeterParameters::FIELDS,
    probes: &[TOKENS],
    build: &build,
};

parameters! {
    /// Parameters of the SR meter. It meters PCN packets, and marks those whose tokens are lacking
    /// "excess-traffic": they take none, and the bucket gets the slow-down. It may thereby hold
    /// more than its depth until the next packet.
    pub struct SrMeterParameters {
        /// Supportable rate (SR = TB.rate): tokens arrive at it. Above 0, at most the link's rate.
        /// IP headers count.
        rate: Rate, "draft-babiarz-pcn-explicit-marking-02, sections 1.2 and 2.2";
        /// Depth of the token bucket (TB.size), which is full at the start. At least 20 B.
        size: Size, "draft-babiarz-pcn-explicit-marking-02, section 1.2";
        /// Slow-down "s": tokens added for each packet marked. In excess of e B/s, packets of n
        /// bytes are marked e / (s + n) times a second. The rule is s = 2 average rate of a flow
        /// times RTT.
        slow_down: Size, "draft-babiarz-pcn-explicit-marking-02, sections 1.2 and 3.1.3";
        /// True if packets that arrive ET-marked count as marked here: they take no tokens, and the
        /// slow-down is added.
        preferential: bool = false, "draft-babiarz-pcn-explicit-marking-02, section 1.2";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let SrMeterParameters { rate, size, slow_down, preferential } =
        SrMeterParameters::read(section)?;
    let meter = Meter::new(section, facts, rate, size)?;
    Ok(Box::new(SrMeter { meter, slow_down, preferential }))
}

struct SrMeter {
    meter: Meter,
    slow_down: Size,
    preferential: bool,
}

impl Conditioner for SrMeter {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        let Some(before) = packet.pcn() else { return Verdict::Accept };
        let bucket = self.meter.at(now);
        let preferred = self.preferential && before == PcnMark::Excess;
        if preferred || !bucket.covers(packet.size) {
            bucket.grant(self.slow_down);
            mark_with(packet, PcnMark::Excess);
        } else {
            bucket.take(packet.size);
        }
        Verdict::Accept
    }

    fn colours(&self) -> bool {
        false
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.meter.probes(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::pcn::tests::{AS, ET, NM, check_steps};

    const PARAMETERS: [(&str, &str); 3] =
        [("rate", "80 kbit/s"), ("size", "500 B"), ("slow_down", "464 B")];

    /// Flows are terminated as the draft says. 300, 100; not enough, so marked and 100 + 464; 564
    /// are cut to 500, 300 left, and the packet stays marked; 100; marked and 564; with the 100 B
    /// of 10 ms cut to 500, 300 left; 100.
    #[test]
    fn unpaid_packets_are_marked_and_slow_the_marking_down() {
        check_steps(
            "sr_meter",
            &PARAMETERS,
            &[
                (0, NM, NM, 300),
                (0, NM, NM, 100),
                (0, NM, ET, 564),
                (0, ET, ET, 300),
                (0, NM, NM, 100),
                (0, NM, ET, 564),
                (10, NM, NM, 300),
                (10, NM, NM, 100),
            ],
        );
    }

    /// Flows marked at an earlier node do not crowd out others here. As without preference, but the
    /// packet that arrives marked adds 464 to the 500 of a full bucket; then 300, 100; at 10 ms 200
    /// pay for one packet, and the next is marked: 0 + 464.
    #[test]
    fn with_preference_marked_packets_take_no_tokens() {
        let parameters = [&PARAMETERS[..], &[("preferential", "true")]].concat();
        check_steps(
            "sr_meter",
            &parameters,
            &[
                (0, NM, NM, 300),
                (0, NM, NM, 100),
                (0, NM, ET, 564),
                (0, ET, ET, 964),
                (0, NM, NM, 300),
                (0, NM, NM, 100),
                (10, NM, NM, 0),
                (10, NM, ET, 464),
            ],
        );
    }

    /// Packets marked "admission-stop" keep that mark while tokens last, and are not shielded from
    /// termination: 300, 100, marked and 564.
    #[test]
    fn excess_traffic_overrides_admission_stop() {
        check_steps(
            "sr_meter",
            &PARAMETERS,
            &[(0, AS, AS, 300), (0, AS, AS, 100), (0, AS, ET, 564)],
        );
    }
}
