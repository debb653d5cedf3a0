//! The excess traffic meter and marker of the PCN standard.

use forebay_kernel::Stream;
use forebay_network::{BucketState, Conditioner, Packet, PcnMark, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, choice, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildConditioner;
use super::bucket::TOKENS;
use super::pcn::{Meter, mark_with};
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "excess_meter",
    summary: "Excess traffic meter and marker: the PCN packets in excess of a rate are marked.",
    source: "RFC 5670, section 2.4 and appendix A.2",
    example: r#"
        rate = "600 kbit/s"
        size = "20 kB"
    "#,
    fields: ExcessMeterParameters::FIELDS,
    probes: &[TOKENS],
    build: &build,
};

choice! {
    /// Rule by which packets in excess are recognised.
    pub enum Form {
        /// A packet is marked, and takes nothing, if the bucket is in debt; otherwise it takes its
        /// tokens, if need be as a debt. Large and small packets are marked alike, and the rate of
        /// unmarked traffic is that of the tokens.
        SizeIndependent = "size_independent",
        /// A packet takes its tokens, or those that there are, and is marked if none are left.
        /// Marked packets take tokens too, so that more than the excess is marked.
        Classic = "classic",
    }
}

parameters! {
    /// Parameters of the excess traffic meter. Packets that arrive excess-traffic-marked are not
    /// metered.
    pub struct ExcessMeterParameters {
        /// PCN-excess-rate: tokens arrive at it. Above 0, at most the link's rate. IP headers
        /// count.
        rate: Rate, "RFC 5670, section 2.4";
        /// Depth of the token bucket, which is full at the start. At least 20 B.
        size: Size, "RFC 5670, section 2.4";
        /// Rule by which packets in excess are recognised: size_independent or classic.
        form: Form = "size_independent", "RFC 5670, section 2.4 (SHOULD) and appendix A.2";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let ExcessMeterParameters { rate, size, form } = ExcessMeterParameters::read(section)?;
    let meter = Meter::new(section, facts, rate, size)?;
    Ok(Box::new(ExcessMeter { meter, form }))
}

struct ExcessMeter {
    meter: Meter,
    form: Form,
}

impl Conditioner for ExcessMeter {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        let Some(before) = packet.pcn() else { return Verdict::Accept };
        let bucket = self.meter.at(now);
        if before == PcnMark::Excess {
            return Verdict::Accept;
        }
        let excess = match self.form {
            Form::SizeIndependent => {
                let debt = bucket.is_below(Size::from_bytes(0));
                if !debt {
                    bucket.take(packet.size);
                }
                debt
            }
            Form::Classic => {
                bucket.drain(packet.size);
                bucket.is_empty()
            }
        };
        if excess {
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

    fn buckets(&self, visit: &mut dyn FnMut(&BucketState)) {
        let state = self.meter.state(true);
        // RFC 5670, appendix A.2: with size-independent marking the last packet takes more than is
        // left.
        let debt = if self.form == Form::SizeIndependent { f64::from(u16::MAX) } else { 0.0 };
        visit(&BucketState { least: -debt, ..state });
    }
}

#[cfg(test)]
mod tests {
    use super::super::pcn::tests::{AS, ET, NM, Step, check_steps};

    /// Fill 10 B each ms, 500 B deep.
    fn check(form: &str, last: [Step; 6]) {
        let parameters = [("rate", "80 kbit/s"), ("size", "500 B"), ("form", form)];
        let first = [(0, NM, NM, 300), (0, NM, NM, 100)];
        check_steps("excess_meter", &parameters, &[&first[..], &last].concat());
    }

    /// Packets are marked while there is a debt, large ones no more often than small ones: 100 B
    /// let one more packet pass, for a debt of 100 B; while it lasts all are marked and nothing is
    /// taken; at 10 ms it is paid back to exactly 0, which is no debt: one passes, the next is
    /// marked.
    #[test]
    fn packets_are_marked_while_there_is_a_debt() {
        check(
            "size_independent",
            [
                (0, NM, NM, -100),
                (0, ET, ET, -100),
                (0, NM, ET, -100),
                (0, NM, ET, -100),
                (10, NM, NM, -200),
                (10, NM, ET, -200),
            ],
        );
    }

    /// The fallback follows the text of the standard: 100 B are all taken, so the packet is marked,
    /// and so are the others, also by the 100 B of 10 ms.
    #[test]
    fn classic_packets_are_marked_when_nothing_is_left() {
        check(
            "classic",
            [
                (0, NM, ET, 0),
                (0, ET, ET, 0),
                (0, NM, ET, 0),
                (0, NM, ET, 0),
                (10, NM, ET, 0),
                (10, NM, ET, 0),
            ],
        );
    }

    /// Packets marked elsewhere do not push others into excess: at 300 B left they take nothing.
    /// "admission-stop" shields no packet: of 200 B against 100 B left, the first is marked in the
    /// classic form, and the one after it in the other.
    #[test]
    fn only_excess_marks_exempt_from_metering() {
        for (form, last) in [
            ("classic", [(0, AS, ET, 0), (0, AS, ET, 0)]),
            ("size_independent", [(0, AS, AS, -100), (0, AS, ET, -100)]),
        ] {
            let parameters = [("rate", "80 kbit/s"), ("size", "500 B"), ("form", form)];
            let first = [(0, NM, NM, 300), (0, ET, ET, 300), (0, AS, AS, 100)];
            check_steps("excess_meter", &parameters, &[&first[..], &last].concat());
        }
    }

    /// The two forms part where RFC 5670 parts them: a bucket emptied exactly marks in the classic
    /// form, and lets one more packet pass in the other.
    #[test]
    fn an_exactly_empty_bucket_is_no_debt() {
        for (form, last) in [
            ("classic", [(0, NM, ET, 0), (0, NM, ET, 0)]),
            ("size_independent", [(0, NM, NM, 0), (0, NM, NM, -200)]),
        ] {
            let parameters = [("rate", "80 kbit/s"), ("size", "400 B"), ("form", form)];
            check_steps("excess_meter", &parameters, &[&[(0, NM, NM, 200)], &last[..]].concat());
        }
    }
}
