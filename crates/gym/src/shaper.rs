//! An agent in a shaper: a leaky bucket whose rate it decides.

use std::sync::Arc;

use forebay_laws::LinkFacts;
use forebay_laws::shaper::BuildShaper;
use forebay_network::{Backlog, Conditioner, Packet, ShaperLaw};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Rate, Size, Time};

use crate::AGENT;
use crate::hand::{Hand, hand};

pub(crate) const ENTRY: Entry<BuildShaper> = Entry {
    name: AGENT,
    summary: "Leaky bucket: lets packets go at no more than the rate that an agent decides.",
    source: "Turner, IEEE Communications Magazine 24(10), 1986; RFC 2475, section 2.3.3.3",
    example: "",
    fields: AgentParameters::FIELDS,
    probes: &[Probe { name: "shaper_rate_bps", unit: "bit/s", meaning: "The rate." }],
    build: &build,
};

parameters! {
    /// Parameters of an agent in a shaper.
    pub struct AgentParameters {
        /// Number of the agent in its environment.
        number: u32 = 0, "Turner 1986";
        /// Buffer size. Unlimited if left out.
        limit: Option<Size>, "RFC 2475, section 2.3.3.3";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn ShaperLaw>, Problem> {
    let AgentParameters { number, limit } = AgentParameters::read(section)?;
    let limit = limit.map_or(u64::MAX, Size::bytes);
    Ok(Box::new(AgentShaper { hand: hand(number).0, limit, link: facts.rate }))
}

struct AgentShaper {
    hand: Arc<Hand>,
    limit: u64,
    /// The rate before one is decided: that of the link.
    link: Rate,
}

impl AgentShaper {
    fn rate(&self) -> Rate {
        let decided = self.hand.actions[0].get();
        decided.map_or(self.link, |bps| Rate::from_bps((bps as u64).max(1)))
    }
}

impl ShaperLaw for AgentShaper {
    fn arrived(&mut self, _packet: &Packet, _backlog: Backlog, _now: Time) {}

    fn release_at(
        &self,
        head: &Packet,
        _backlog: Backlog,
        last_release: Option<Time>,
        _conditioner: Option<&dyn Conditioner>,
        now: Time,
    ) -> Time {
        last_release.map_or(now, |last| last + self.rate().transmission_time(head.wire_size()))
    }

    fn limit(&self) -> u64 {
        self.limit
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("shaper_rate_bps", self.rate().bps() as f64);
    }
}
