//! Gauges of flows with an agent: observations of its congestion control.

use forebay_scenario::{GaugeName, Places};

use crate::hand::{Hand, Seen};
use crate::places::Place;

/// A quantity that the control of an agent measures.
pub(crate) struct Quantity {
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    /// A number that counts, and that which it is taken over; or what it is now.
    read: Read,
}

#[derive(Clone, Copy)]
enum Read {
    /// The difference in the step, times this, per second.
    Second(fn(&Seen) -> u64, f64),
    /// The difference in the step.
    Step(fn(&Seen) -> u64),
    /// That over the difference of another, times this.
    Over(fn(&Seen) -> [u64; 2], f64),
    /// The present value, if there is one.
    Now(fn(&Seen, u64) -> Option<f64>),
}

const PICO: f64 = 1e-12;

/// A time in ps as seconds; 0 is none.
fn seconds(ps: u64) -> Option<f64> {
    (ps > 0).then_some(ps as f64 * PICO)
}

pub(crate) static QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "delivery_rate_bps",
        unit: "bit/s",
        meaning: "Data that acknowledgements of the step report to have arrived, per second.",
        read: Read::Second(|seen| seen.delivered.get(), 8.0),
    },
    Quantity {
        name: "mean_rtt_s",
        unit: "s",
        meaning: "Mean of the round-trip times measured in the step; without any, of those before.",
        read: Read::Over(|seen| [seen.rtt.get(), seen.rtts.get()], PICO),
    },
    Quantity {
        name: "srtt_s",
        unit: "s",
        meaning: "Smoothed round-trip time (RFC 6298); 0 before there is one.",
        read: Read::Now(|seen, _| seconds(seen.srtt.get())),
    },
    Quantity {
        name: "min_rtt_s",
        unit: "s",
        meaning: "Least round-trip time of the episode so far; 0 before there is one.",
        read: Read::Now(|seen, _| seconds(seen.least_rtt.get())),
    },
    Quantity {
        name: "losses",
        unit: "packets",
        meaning: "Segments that the sender found to be lost in the step.",
        read: Read::Step(|seen| seen.lost.get()),
    },
    Quantity {
        name: "loss_share",
        unit: "1",
        meaning: "Segments found to be lost in the step, over those lost or arrived; without any, \
                  as before.",
        read: Read::Over(|seen| [seen.lost.get(), seen.lost.get() + seen.arrived.get()], 1.0),
    },
    Quantity {
        name: "in_flight_packets",
        unit: "packets",
        meaning: "Data in the network, in segments, when the last acknowledgement arrived and \
                  before what it let go.",
        read: Read::Now(|seen, segment| Some(seen.in_flight.get() as f64 / segment as f64)),
    },
    Quantity {
        name: "cwnd_packets",
        unit: "packets",
        meaning: "Congestion window, in segments.",
        read: Read::Now(|seen, segment| seen.cwnd.get().map(|bytes| bytes / segment as f64)),
    },
];

/// A quantity that is wanted of agent `agent`.
pub(crate) struct Wanted {
    pub(crate) slot: usize,
    pub(crate) agent: usize,
    quantity: &'static Quantity,
    segment: u64,
    then: [u64; 2],
}

impl Wanted {
    /// The quantity that `name` names, if it is one of an agent in TCP.
    pub(crate) fn of(slot: usize, name: &str, agents: &[Place], places: &Places) -> Option<Self> {
        let (flow, quantity) = name.strip_prefix("flows.")?.rsplit_once('.')?;
        let quantity = QUANTITIES.iter().find(|known| known.name == quantity)?;
        let (place, member) = places.flow(flow)?;
        let agent = agents.iter().position(|agent| match agent {
            Place::Control { at, member: acts } => {
                let own = &places.flows[*at];
                own.name == place.name && (*acts == member || own.count == 1)
            }
            _ => false,
        })?;
        Some(Self { slot, agent, quantity, segment: place.segment.max(1), then: [0; 2] })
    }

    /// Put it into `values`, `passed` seconds after the last time; what has no value stays.
    pub(crate) fn put(&mut self, hand: &Hand, passed: f64, values: &mut [f64]) {
        let seen = &hand.seen;
        let since = |now: u64, then: u64| now.wrapping_sub(then) as f64;
        let ([one, other], value) = match self.quantity.read {
            Read::Now(read) => ([0; 2], read(seen, self.segment).unwrap_or(f64::NAN)),
            Read::Step(count) => ([count(seen), 0], since(count(seen), self.then[0])),
            Read::Second(count, factor) => {
                let counted = count(seen);
                ([counted, 0], since(counted, self.then[0]) * factor / passed)
            }
            Read::Over(count, factor) => {
                let [one, other] = count(seen);
                let share = since(one, self.then[0]) * factor / since(other, self.then[1]);
                ([one, other], share)
            }
        };
        self.then = [one, other];
        if value.is_finite() {
            values[self.slot] = value;
        }
    }
}

/// Quantities that agents in TCP measure, by name.
pub(crate) fn names(agents: &[Place], places: &Places) -> Vec<GaugeName> {
    let mut all = Vec::new();
    for agent in agents {
        let Place::Control { at, member } = agent else { continue };
        let group = &places.flows[*at].name;
        let flow = member.map_or(group.clone(), |member| format!("{group}[{member}]"));
        all.extend(QUANTITIES.iter().map(|Quantity { name, unit, meaning, .. }| GaugeName {
            name: format!("flows.{flow}.{name}"),
            unit,
            meaning,
        }));
    }
    all
}

/// Returns true if `name` is that of a quantity which only flows with an agent have.
pub(crate) fn needs_agent(name: &str) -> bool {
    let quantity = name.rsplit_once('.').map_or("", |(_, quantity)| quantity);
    name.starts_with("flows.") && QUANTITIES.iter().any(|known| known.name == quantity)
}
