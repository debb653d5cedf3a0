//! The leaky bucket as a queue: a constant rate out.

use forebay_network::{Backlog, Conditioner, Packet, ShaperLaw};
use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use super::BuildShaper;
use crate::LinkFacts;

pub(super) const ENTRY: Entry<BuildShaper> = Entry {
    name: "leaky",
    summary: "Leaky bucket: lets packets go at no more than a constant rate.",
    source: "Turner, IEEE Communications Magazine 24(10), 1986; RFC 2475, section 2.3.3.3",
    example: r#"
        rate = "700 kbit/s"
        limit = "12 kB"
    "#,
    fields: LeakyParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of the leaky bucket.
    pub struct LeakyParameters {
        /// Rate at which packets leave while any wait, above 0.
        rate: Rate, "Turner 1986";
        /// Buffer size. Unlimited if left out.
        limit: Option<Size>, "RFC 2475, section 2.3.3.3";
    }
}

fn build(section: &Section<'_>, _facts: &LinkFacts) -> Result<Box<dyn ShaperLaw>, Problem> {
    let LeakyParameters { rate, limit } = LeakyParameters::read(section)?;
    if rate.bps() == 0 {
        return Err(section.fail("rate", "is zero; allowed are rates above 0"));
    }
    Ok(Box::new(Leaky { rate, limit: limit.map_or(u64::MAX, Size::bytes) }))
}

struct Leaky {
    rate: Rate,
    limit: u64,
}

impl ShaperLaw for Leaky {
    fn arrived(&mut self, _packet: &Packet, _backlog: Backlog, _now: Time) {}

    fn release_at(
        &self,
        head: &Packet,
        _backlog: Backlog,
        last_release: Option<Time>,
        _conditioner: Option<&dyn Conditioner>,
        now: Time,
    ) -> Time {
        last_release.map_or(now, |last| last + self.rate.transmission_time(head.wire_size()))
    }

    fn limit(&self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_network::{FlowId, RouteId};
    use forebay_units::Span;

    /// The shaper sends no faster than its rate, and holds no packets for nothing: 1000 B at 8
    /// Mbit/s are 1 ms after the last release, and the first packet goes at once.
    #[test]
    fn packets_leave_at_the_rate() {
        let law = Leaky { rate: Rate::from_bps(8_000_000), limit: u64::MAX };
        let packet = Packet::data(Time::ZERO, FlowId::new(0), 0, 1000, RouteId::new(0));
        let now = Time::ZERO + Span::from_ms(5);
        let at = |last| law.release_at(&packet, Backlog::default(), last, None, now);
        assert_eq!(at(None), now);
        assert_eq!(at(Some(now)), now + Span::from_ms(1));
    }
}
