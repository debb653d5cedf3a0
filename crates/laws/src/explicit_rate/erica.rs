//! ERICA: explicit rate indication for congestion avoidance.

use forebay_network::{FlowId, Packet};
use forebay_parameters::{Entry, Parameters, Probe, Problem, Section, parameters};
use forebay_units::{Rate, Span, Time};

use super::BuildExplicitRate;
use crate::LinkFacts;
use crate::explicit_rate::CellRate;
use crate::explicit_rate::ExplicitRate;

#[cfg(test)]
mod tests;

pub(super) const ENTRY: Entry<BuildExplicitRate> = Entry {
    name: "erica",
    summary: "Gives each source its share of a target load, or more where others leave it (ERICA).",
    source: "Kalyanaraman, Jain, Fahmy, Goyal and Vandalore, The ERICA Switch Algorithm for ABR \
             Traffic Management in ATM Networks, IEEE/ACM Transactions on Networking 8(1), 2000",
    example: r#"
        interval = "5 ms"
        target = 0.9
    "#,
    fields: EricaParameters::FIELDS,
    probes: &[
        Probe {
            name: "load_factor",
            unit: "1",
            meaning: "What its flows sent in the last interval over the capacity left to them.",
        },
        Probe {
            name: "active_flows",
            unit: "1",
            meaning: "Flows that sent in the last interval, and parts of others.",
        },
        Probe { name: "controlled_bps", unit: "bit/s", meaning: "What they sent." },
        Probe { name: "capacity_bps", unit: "bit/s", meaning: "The capacity left to them." },
        Probe { name: "fair_share_bps", unit: "bit/s", meaning: "This over their number." },
        Probe {
            name: "explicit_rate_bps",
            unit: "bit/s",
            meaning: "The rate allowed last; no number before the first.",
        },
    ],
    build: &build,
};

parameters! {
    /// Parameters of ERICA. Its flows are those whose sources take explicit rates; all others count
    /// as traffic that goes first.
    pub struct EricaParameters {
        /// Interval over which rates are measured and flows are counted.
        interval: Span = "5 ms", "assumed: the paper varies it";
        /// The interval ends sooner when so many packets of its flows have arrived. By time alone
        /// if left out.
        packets: Option<u32>, "Kalyanaraman et al. 2000, section IV (time and count based)";
        /// Target load over the link's rate, other traffic included; above 0 and up to 1.
        target: f64 = 0.9, "Kalyanaraman et al. 2000, section III (target utilization)";
        /// Up to this above a load factor of 1 all sources are given the highest rate that was
        /// given to one.
        delta: f64 = 0.1, "Kalyanaraman et al. 2000, section IV (max-min fairness)";
        /// Remainder, after an interval without its packets, of the part that a flow has in the
        /// number of active flows, 0 to below 1; 0 counts those of the last interval alone.
        decay: f64 = 0.0, "Kalyanaraman et al. 2000, section IV (averaging the number of sources)";
        /// Weight of the latest interval in averages of input rate and capacity, above 0 and up
        /// to 1, which takes the latest alone.
        weight: f64 = 1.0, "Kalyanaraman et al. 2000, section IV (averaging the load factor)";
    }
}

fn build(section: &Section<'_>, facts: &LinkFacts) -> Result<Box<dyn ExplicitRate>, Problem> {
    let parameters = EricaParameters::read(section)?;
    let out_of_range = |key: &str, value: f64, allowed: &str| {
        Err(section.fail(key, format!("{value} is out of range; allowed are {allowed}")))
    };
    if parameters.interval < Span::from_us(1) {
        let message = "is too short to measure a rate; allowed are intervals from 1 us";
        return Err(section.fail("interval", message));
    }
    if parameters.packets == Some(0) {
        return Err(section.fail("packets", "is zero; allowed are numbers from 1"));
    }
    if !(parameters.target > 0.0 && parameters.target <= 1.0) {
        return out_of_range("target", parameters.target, "above 0 and up to 1");
    }
    if !(0.0..=1.0).contains(&parameters.delta) {
        return out_of_range("delta", parameters.delta, "0 to 1");
    }
    if !(0.0..1.0).contains(&parameters.decay) {
        return out_of_range("decay", parameters.decay, "0 to below 1");
    }
    if !(parameters.weight > 0.0 && parameters.weight <= 1.0) {
        return out_of_range("weight", parameters.weight, "above 0 and up to 1");
    }
    Ok(Box::new(Erica::new(parameters, facts.rate)))
}

/// State of a flow.
#[derive(Clone, Default)]
struct Flow {
    /// The rate that its latest resource-management cell carried (CCR).
    current: f64,
    /// Its part in the number of active flows, 0 to 1.
    contribution: f64,
    /// Rate that it has been given in this interval: one answer for each.
    told: Option<f64>,
}

/// Arrivals of the present interval, in bits.
#[derive(Clone, Copy, Default)]
struct Arrived {
    own: u64,
    others: u64,
    /// Packets of its flows.
    packets: u32,
}

struct Erica {
    parameters: EricaParameters,
    /// The link's rate.
    link: f64,
    began: Time,
    end: Time,
    arrived: Arrived,
    /// Flows by number.
    flows: Vec<Flow>,
    /// Averages: what its flows send, and what is left for them.
    input: f64,
    capacity: f64,
    /// Input over capacity: z.
    load: f64,
    active: f64,
    fair_share: f64,
    /// The highest rates given in the last interval and in this one: MaxAllocPrevious and
    /// MaxAllocCurrent.
    highest: (f64, f64),
    /// The rate given last.
    explicit: f64,
}

/// Below this much of a flow, or of the link's rate, there is none: whole silences are skipped.
const NOTHING: f64 = 1e-9;

impl Erica {
    fn new(parameters: EricaParameters, rate: Rate) -> Self {
        let link = rate.bps() as f64;
        let capacity = parameters.target * link;
        Self {
            link,
            began: Time::ZERO,
            end: Time::ZERO + parameters.interval,
            arrived: Arrived::default(),
            flows: Vec::new(),
            input: 0.0,
            capacity,
            load: 0.0,
            active: 1.0,
            fair_share: capacity,
            highest: (0.0, 0.0),
            explicit: f64::NAN,
            parameters,
        }
    }

    /// End the intervals that have ended by `now`: nothing reads them in between, so that needs no
    /// event.
    #[inline]
    fn advance(&mut self, now: Time) {
        if now >= self.end {
            self.close_until(now);
        }
    }

    #[cold]
    fn close_until(&mut self, now: Time) {
        while now >= self.end {
            self.close(self.end);
            if self.is_silent() && now >= self.end {
                // All later intervals are alike.
                let interval = self.parameters.interval;
                let gone = now.since(self.end).ps() / interval.ps() + 1;
                self.began += interval.times(gone);
                self.end += interval.times(gone);
            }
        }
    }

    fn is_silent(&self) -> bool {
        let free = self.parameters.target * self.link;
        let settled = (self.capacity - free).abs() < NOTHING * self.link;
        let idle = self.flows.iter().all(|flow| flow.contribution < NOTHING);
        settled && idle && self.input < NOTHING * self.link
    }

    /// The present interval ends at `at`.
    fn close(&mut self, at: Time) {
        let EricaParameters { interval, target, decay, weight, .. } = self.parameters;
        let span = at.since(self.began).seconds();
        let Arrived { own, others, .. } = std::mem::take(&mut self.arrived);
        let input = own as f64 / span;
        let capacity = (target * self.link - others as f64 / span).max(0.0);
        self.input += weight * (input - self.input);
        self.capacity += weight * (capacity - self.capacity);
        self.load = if self.capacity > 0.0 {
            self.input / self.capacity
        } else if self.input > 0.0 {
            f64::INFINITY
        } else {
            0.0
        };
        let active: f64 = self.flows.iter().map(|flow| flow.contribution).sum();
        // Without any, the next flow is the first.
        self.active = active.max(1.0);
        self.fair_share = self.capacity / self.active;
        self.highest = (self.highest.1, self.fair_share);
        for flow in &mut self.flows {
            flow.contribution *= decay;
            flow.told = None;
        }
        (self.began, self.end) = (at, at + interval);
    }

    /// Returns the rate that `current` is to become: the answer to a flow's first cell in an
    /// interval.
    fn allocate(&mut self, current: f64) -> f64 {
        // Never more than there is: an idle port has a load factor near 0.
        let own_share = if self.load > 0.0 { current / self.load } else { self.capacity };
        let own_share = own_share.min(self.capacity);
        let mut rate = own_share.max(self.fair_share);
        if self.load <= 1.0 + self.parameters.delta {
            rate = rate.max(self.highest.0);
        }
        // First to the fair share, then further: others have not slowed down yet. Who was told it
        // goes at the rate that cells carry for it.
        if current < self.fair_share * CellRate::KEPT {
            rate = rate.min(self.fair_share);
        }
        rate = rate.min(self.capacity);
        self.highest.1 = self.highest.1.max(rate);
        rate
    }

    fn flow(&mut self, flow: FlowId) -> &mut Flow {
        let flow = flow.index();
        if self.flows.len() <= flow {
            self.flows.resize(flow + 1, Flow::default());
        }
        &mut self.flows[flow]
    }
}

impl ExplicitRate for Erica {
    fn passes(&mut self, packet: &Packet, now: Time) {
        self.advance(now);
        self.arrived.others += packet.wire_size().bits();
    }

    fn arrives(&mut self, packet: &Packet, current: Option<f64>, now: Time) {
        self.advance(now);
        self.arrived.own += packet.wire_size().bits();
        self.arrived.packets += 1;
        let flow = self.flow(packet.flow);
        flow.contribution = 1.0;
        if let Some(current) = current {
            flow.current = current;
        }
        let enough = self.parameters.packets.is_some_and(|most| self.arrived.packets >= most);
        // No rate is measured in no time.
        if enough && now > self.began {
            self.close(now);
        }
    }

    fn allows(&mut self, flow: FlowId, now: Time) -> f64 {
        self.advance(now);
        let Flow { current, told, .. } = *self.flow(flow);
        let rate = told.unwrap_or_else(|| self.allocate(current));
        self.flow(flow).told = Some(rate);
        self.explicit = rate;
        rate
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, f64)) {
        visit("load_factor", self.load);
        visit("active_flows", self.active);
        visit("controlled_bps", self.input);
        visit("capacity_bps", self.capacity);
        visit("fair_share_bps", self.fair_share);
        visit("explicit_rate_bps", self.explicit);
    }
}
