//! Congestion detection by filtered input rates.

use forebay_network::Packet;
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, choice, parameters};
use forebay_units::{Rate, Span, Time};

use super::rate_meter::{
    CLASSES, CONGESTED, INPUT_RATIO, RateMeter, RateMeterParameters, class_of,
};
use super::{BuildDetector, Spacing};
use crate::LinkFacts;
use crate::detector::{CongestionDetector, CongestionNotification};

pub(super) const ENTRY: Entry<BuildDetector> = Entry {
    name: "input_rate",
    summary: "Notifies sources of the classes to slow first when a filtered input rate is high.",
    source: "COMSAT thesis on rate-based congestion control with a satellite link, section 5.1",
    example: r#"
        interval = "50 ms"
        share = 0.2
    "#,
    fields: InputRateParameters::FIELDS,
    probes: &[
        INPUT_RATIO,
        CONGESTED,
        Probe {
            name: "rate_notices",
            unit: "1",
            meaning: "By precedence: notifications of a high input rate since the start, by that \
                      of the packets whose sources they went to.",
        },
    ],
    build: &build,
};

choice! {
    /// Test that comes first, as a source hears of one at a time.
    pub enum Order {
        /// A discard is signalled even where the rate is high.
        DiscardFirst = "discard_first",
        /// A high rate is signalled even for a packet that was dropped.
        RateFirst = "rate_first",
    }
}

parameters! {
    /// Parameters of the detection by input rates.
    pub struct InputRateParameters {
        ..rate: RateMeterParameters;
        /// A source is notified again, of whatever, only after more than this time.
        hold_off: Span = "50 ms", "COMSAT thesis, section 5.1";
        /// True if sources of dropped packets are notified (type 2).
        discards: bool = true, "COMSAT thesis, section 5.1";
        /// Type that is signalled where both hold.
        order: Order = "discard_first", "assumed: the thesis names discards first, section 5.1";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn CongestionDetector>, Problem> {
    let parameters = InputRateParameters::read(section)?;
    parameters.rate.check(section)?;
    Ok(Box::new(InputRate::new(parameters, facts.rate)))
}

struct InputRate {
    meter: RateMeter,
    discards: bool,
    order: Order,
    spacing: Spacing,
    /// Notifications of a high rate, by class.
    rate_notices: [u64; CLASSES],
}

impl InputRate {
    fn new(parameters: InputRateParameters, rate: Rate) -> Self {
        Self {
            meter: RateMeter::new(parameters.rate, rate),
            discards: parameters.discards,
            order: parameters.order,
            spacing: Spacing::new(parameters.hold_off),
            rate_notices: [0; CLASSES],
        }
    }
}

impl CongestionDetector for InputRate {
    fn arrives(&mut self, packet: &Packet, now: Time) {
        self.meter.arrives(packet, now);
    }

    fn judge(
        &mut self,
        packet: &Packet,
        dropped: bool,
        now: Time,
    ) -> Option<CongestionNotification> {
        let high = self.meter.is_eligible(packet);
        let told = dropped && self.discards;
        let notice = match (told, high, self.order) {
            (false, false, _) => return None,
            (true, false, _) | (true, true, Order::DiscardFirst) => CongestionNotification::Discard,
            (false, true, _) | (true, true, Order::RateFirst) => CongestionNotification::Rate,
        };
        if !self.spacing.allows(packet.flow, now) {
            return None;
        }
        if notice == CongestionNotification::Rate {
            self.rate_notices[class_of(packet)] += 1;
        }
        Some(notice)
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        self.meter.probes(visit);
        for (class, notices) in self.rate_notices.iter().enumerate() {
            visit(&format!("rate_notices.{class}"), *notices as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};
    use forebay_parameters::{Echo, Node, Table, Value};

    const LINK: Rate = Rate::from_bps(6_000_000);

    fn parameters(entries: &[(&str, Value)]) -> Result<InputRateParameters, Problem> {
        let entry = |(key, value): &(&str, Value)| ((*key).to_owned(), Node::new(value.clone()));
        let table: Table = entries.iter().map(entry).collect();
        let (node, echo) = (Node::new(Value::Table(table)), Echo::default());
        let section = Section::root(&node, &echo).unwrap();
        build(&section, &LinkFacts::of(LINK))?;
        InputRateParameters::read(&section)
    }

    fn law(entries: &[(&str, Value)]) -> InputRate {
        InputRate::new(parameters(entries).unwrap(), LINK)
    }

    fn packet(flow: usize, precedence: u8) -> Packet {
        Packet::data(Time::ZERO, FlowId::new(flow), 0, 50, RouteId::new(0))
            .with_precedence(precedence)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Eligible sources are notified of a high rate or of a lost cell, by the order, and no more
    /// often than every 50 ms.
    #[test]
    fn eligible_sources_are_told_once_in_a_hold_off() {
        let congested = |order: &str| {
            let mut law = law(&[("order", order.into())]);
            for cell in 0..749 {
                law.arrives(&packet(0, 1), Time::ZERO + Span::from_us(60 * cell));
            }
            assert_eq!(law.judge(&packet(0, 1), false, ms(49)), None, "not before the end");
            law.meter.advance(ms(50));
            // .8 * .9987 = .799 is below .9; after the second interval .959 is above it.
            for cell in 0..749 {
                law.arrives(&packet(0, 1), ms(50) + Span::from_us(60 * cell));
            }
            law.meter.advance(ms(100));
            law
        };
        let mut law = congested("discard_first");
        assert_eq!(law.judge(&packet(7, 0), false, ms(100)), None, "class 1 is not eligible");
        assert_eq!(law.judge(&packet(7, 1), false, ms(100)), Some(CongestionNotification::Rate));
        assert_eq!(law.judge(&packet(7, 1), true, ms(150)), None, "one table for both types");
        let later = ms(150) + Span::from_ps(1);
        assert_eq!(law.judge(&packet(7, 1), true, later), Some(CongestionNotification::Discard));
        assert_eq!(law.judge(&packet(8, 0), true, later), Some(CongestionNotification::Discard));
        assert_eq!(law.rate_notices, [0, 1, 0, 0]);
        let mut law = congested("rate_first");
        assert_eq!(law.judge(&packet(7, 1), true, ms(100)), Some(CongestionNotification::Rate));
    }

    /// A share above 1, which turns detection off, is refused.
    #[test]
    fn impossible_parameters_are_refused() {
        assert_eq!(parameters(&[("share", Value::Float(1.1))]).err().unwrap().path, "share");
    }
}
