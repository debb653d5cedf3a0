//! Actions that agents decide, and the bounds of each.

use forebay_scenario::{FlowPlace, LinkPlace};

use crate::{control, queue};

/// One thing that an agent is to decide.
#[derive(Clone, Debug)]
pub struct Acts {
    /// The place: `links.bn.queue`.
    pub on: String,
    /// Name of the action: `drop_probability`; empty for the one that is usual there.
    pub act: String,
    /// Bounds in place of the usual ones.
    pub bounds: Option<(f64, f64)>,
}

/// An action of an environment.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Name with the place: `links.bn.queue.drop_probability`. Weights end with the
    /// number of their class.
    pub name: String,
    /// The lowest value.
    pub low: f64,
    /// The highest value.
    pub high: f64,
    /// Number of the [`Acts`] that it is of.
    pub decision: usize,
    /// Number of its agent, and its place in the hand of that.
    pub(crate) agent: usize,
    pub(crate) slot: usize,
}

/// A kind of action.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// Its place in the hand.
    pub(crate) slot: usize,
    /// Bounds that no bounds may exceed.
    pub(crate) allowed: (f64, f64),
}

const PROBABILITY: (f64, f64) = (0.0, 1.0);
const RATES: (f64, f64) = (1.0, 1e15);

/// Actions at a queue; the first is usual.
pub(crate) static QUEUE: &[Kind] = &[
    Kind {
        name: "drop_probability",
        unit: "a probability",
        slot: queue::DROP,
        allowed: PROBABILITY,
    },
    Kind {
        name: "mark_probability",
        unit: "a probability",
        slot: queue::MARK,
        allowed: PROBABILITY,
    },
    Kind { name: "weights", unit: "weights of classes", slot: 0, allowed: (1e-9, 1e9) },
];

pub(crate) static CONTROL: &[Kind] = &[
    Kind { name: "cwnd", unit: "segments", slot: control::CWND, allowed: (1.0, 1e9) },
    Kind { name: "rate", unit: "bit/s", slot: control::RATE, allowed: RATES },
];

pub(crate) static SHAPER: &[Kind] =
    &[Kind { name: "rate", unit: "bit/s", slot: 0, allowed: RATES }];

pub(crate) static ADMISSION: &[Kind] =
    &[Kind { name: "admission_probability", unit: "a probability", slot: 0, allowed: PROBABILITY }];

/// Least and greatest rate of an agent, as shares of the slowest link on its way.
const RATE_SHARES: (f64, f64) = (0.01, 2.0);
/// Greatest window of an agent, in products of the delay and the bandwidth of its way, and not
/// below so many segments.
const WINDOWS: f64 = 4.0;
const LEAST_GREATEST_WINDOW: f64 = 20.0;

impl Kind {
    /// The usual bounds of this at a queue, or at an admission.
    pub(crate) fn plain_bounds(&self) -> (f64, f64) {
        if self.name == "weights" { (0.1, 10.0) } else { self.allowed }
    }

    /// The same in TCP.
    pub(crate) fn bounds_of_flow(&self, flow: &FlowPlace) -> (f64, f64) {
        let rate = flow.bottleneck.bps() as f64;
        if self.slot == control::RATE {
            return ((RATE_SHARES.0 * rate).max(RATES.0), (RATE_SHARES.1 * rate).max(2.0));
        }
        let product = rate * flow.base_rtt.seconds() / (8.0 * flow.segment as f64);
        (1.0, (WINDOWS * product).ceil().max(LEAST_GREATEST_WINDOW))
    }

    /// The same in a shaper: no more than the link takes.
    pub(crate) fn bounds_of_link(&self, link: &LinkPlace) -> (f64, f64) {
        let rate = link.rate.bps() as f64;
        ((RATE_SHARES.0 * rate).max(RATES.0), rate.max(2.0))
    }

    /// `given` bounds, or why they are wrong.
    pub(crate) fn check(&self, on: &str, given: (f64, f64)) -> Result<(f64, f64), String> {
        let (low, high) = given;
        let (least, most) = self.allowed;
        if low < high && low >= least && high <= most {
            return Ok(given);
        }
        let Self { name, unit, .. } = self;
        Err(format!(
            "bounds of {name} at {on}: read {low} to {high}; allowed are a lower and a higher one \
             from {least} to {most} ({unit})"
        ))
    }
}
