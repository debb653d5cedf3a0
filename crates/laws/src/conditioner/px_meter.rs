//! The excess load marking algorithm that preceded three-state marking: every packet is charged.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, PcnMark, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::{TOKENS, check_depth};
use super::pcn::{Meter, mark_with};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "px_meter",
    summary: "Excess load marking: a PCN mark for every so many bytes above a rate.",
    source: "Babiarz, Liu and Rahimi, draft-babiarz-pcn-explicit-marking-02, Figure 14",
    example: r#"
        rate = "600 kbit/s"
        size = "20 kB"
        px = "20 kB"
    "#,
    fields: PxMeterParameters::FIELDS,
    probes: &[TOKENS],
    build: &build,
};

parameters! {
    /// Parameters of excess load marking. Every PCN packet takes its tokens, whatever its mark; if
    /// none are left then, it is marked "excess-traffic" and the bucket gets `px`.
    pub struct PxMeterParameters {
        /// Rate at the preemption threshold (pcn_pt): tokens arrive at it. Above 0, at most the
        /// link's rate. IP headers count.
        rate: Rate, "draft-babiarz-pcn-explicit-marking-02, sections 2.2 and 4.8";
        /// Depth of the token bucket (pcn_tb), which is full at the start. At least 20 B.
        size: Size, "draft-babiarz-pcn-explicit-marking-02, section 4.8";
        /// Excess that earns one mark (pcn_px): in excess of e B/s, e / px packets a second are
        /// marked. An even multiple of the packet size synchronises marking with flows of constant
        /// rate, whose termination then takes longer. At least 20 B. Below the size of the packets
        /// all are marked, and the bucket goes ever deeper into debt while the excess lasts.
        px: Size, "draft-babiarz-pcn-explicit-marking-02, sections 4.6 and 4.8";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let PxMeterParameters { rate, size, px } = PxMeterParameters::read(section)?;
    let meter = Meter::new(section, facts, rate, size)?;
    check_depth(section, "px", px, false)?;
    Ok(Box::new(PxMeter { meter, px }))
}

struct PxMeter {
    meter: Meter,
    px: Size,
}

impl Conditioner for PxMeter {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        if packet.pcn().is_none() {
            return Verdict::Accept;
        }
        let bucket = self.meter.at(now);
        bucket.take(packet.size);
        if bucket.is_empty() {
            bucket.grant(self.px);
            mark_with(packet, PcnMark::Excess);
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

    /// Packets are marked by the pseudo code of Figure 14. 300, 100, -100 and marked: 364; 164 (it
    /// came marked); -36 and marked: 428; 228; with the 100 B of 10 ms 128; -72 and marked: 392.
    #[test]
    fn the_pseudo_code_is_followed() {
        let parameters = [("rate", "80 kbit/s"), ("size", "500 B"), ("px", "464 B")];
        check_steps(
            "px_meter",
            &parameters,
            &[
                (0, NM, NM, 300),
                (0, NM, NM, 100),
                (0, NM, ET, 364),
                (0, ET, ET, 164),
                (0, NM, ET, 428),
                (0, NM, NM, 228),
                (10, NM, NM, 128),
                (10, NM, ET, 392),
            ],
        );
    }

    /// An exactly empty bucket marks, as in Figure 14, and need not be overdrawn. And px above the
    /// depth is cut at the next packet: 400 - 400 + 500, cut to 400.
    #[test]
    fn an_exactly_empty_bucket_marks() {
        let parameters = [("rate", "80 kbit/s"), ("size", "400 B"), ("px", "500 B")];
        let steps = [(0, NM, NM, 200), (0, AS, ET, 500), (0, AS, AS, 200)];
        check_steps("px_meter", &parameters, &steps);
    }

    /// A debt is not forgiven but paid back: with px below the packet, each packet adds 200 - 50 B
    /// to it (200, 0 + 50, -150 + 50, -300 + 50); 50 ms bring 500 B: 250, 50 left.
    #[test]
    fn a_debt_is_paid_back() {
        let parameters = [("rate", "80 kbit/s"), ("size", "400 B"), ("px", "50 B")];
        let steps = [
            (0, NM, NM, 200),
            (0, NM, ET, 50),
            (0, NM, ET, -100),
            (0, NM, ET, -250),
            (50, NM, NM, 50),
        ];
        check_steps("px_meter", &parameters, &steps);
    }
}
