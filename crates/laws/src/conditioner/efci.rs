//! Explicit forward congestion indication: a port tells the far end that it is congested.

use forebay_kernel::Stream;
use forebay_network::{Conditioner, Packet, Verdict};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Time;

use super::BuildConditioner;
use crate::LinkFacts;
use crate::detector::rate_meter::{CONGESTED, INPUT_RATIO, RateMeter, RateMeterParameters};

pub(super) const ENTRY: Entry<BuildConditioner> = Entry {
    name: "efci",
    summary: "Marks packets of the classes to slow first when a filtered input rate is high.",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, sections 5.1 \
             and 5.2 (EFCN); ITU-T I.371, section 6.2.4 (explicit forward congestion indication)",
    example: r#"
        interval = "50 ms"
        share = 0.2
    "#,
    fields: EfciParameters::FIELDS,
    probes: &[INPUT_RATIO, CONGESTED],
    build: &build,
};

parameters! {
    /// Parameters of explicit forward congestion indication: those of the detector `input_rate`,
    /// which notifies the sources of such packets from the port instead. Packets must be
    /// ECN-capable, as those of paced sources with `efcn` are.
    pub struct EfciParameters {
        ..rate: RateMeterParameters;
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn Conditioner>, Problem> {
    let EfciParameters { rate } = EfciParameters::read(section)?;
    rate.check(section)?;
    Ok(Box::new(Efci { meter: RateMeter::new(rate, facts.rate) }))
}

struct Efci {
    meter: RateMeter,
}

impl Conditioner for Efci {
    fn condition(&mut self, packet: &mut Packet, now: Time, _stream: &mut Stream) -> Verdict {
        self.meter.arrives(packet, now);
        if packet.is_ecn_capable() && self.meter.is_eligible(packet) {
            Verdict::Mark
        } else {
            Verdict::Accept
        }
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
    use super::*;
    use forebay_kernel::Streams;
    use forebay_network::{Ecn, FlowId, RouteId};
    use forebay_parameters::Echo;
    use forebay_units::{Rate, Span};

    /// Cells are marked by the load of their port, and only those of the lowest classes: at 6
    /// Mbit/s an interval of 50 ms holds 750 packets of 50 B. After one of 750 packets of class 2
    /// the filtered rate is .8, after two .96, which is above .9: the third interval is marked, but
    /// for class 1, as class 2 has 20 % of the link, and for what bears no mark.
    #[test]
    fn cells_of_the_lowest_classes_are_marked_while_the_input_rate_is_high() {
        let echo = Echo::default();
        let section = Section::empty(String::new(), &echo);
        let mut law = build(&section, &LinkFacts::of(Rate::from_bps(6_000_000))).unwrap();
        let mut stream = Streams::new(0, 0).named("test");
        let mut passes = |interval: u64, cell: u64, precedence: u8, ecn: Ecn| {
            let now = Time::ZERO + Span::from_ms(50 * interval) + Span::from_us(60 * cell);
            let packet = Packet::data(now, FlowId::new(0), 0, 50, RouteId::new(0));
            let mut packet = packet.with_precedence(precedence).with_ecn(ecn);
            law.condition(&mut packet, now, &mut stream)
        };
        for interval in 0..2 {
            for cell in 0..750 {
                assert_eq!(passes(interval, cell, 1, Ecn::Ect0), Verdict::Accept);
            }
        }
        assert_eq!(passes(2, 0, 1, Ecn::Ect0), Verdict::Mark);
        assert_eq!(passes(2, 1, 3, Ecn::Ect0), Verdict::Mark);
        assert_eq!(passes(2, 2, 0, Ecn::Ect0), Verdict::Accept);
        assert_eq!(passes(2, 3, 1, Ecn::NotEct), Verdict::Accept);
        // An interval with next to nothing: .16 * .96 and less.
        assert_eq!(passes(4, 0, 1, Ecn::Ect0), Verdict::Accept);
    }
}
