//! Intervals over independent replications: what holds a theory's value, and what rejects that of a
//! wrong model.

use forebay_scenario::RunResult;

use crate::support::{read, run_with};

/// Replications behind an interval.
pub const REPLICATIONS: u64 = 16;
/// Student t with 15 degrees of freedom, two-sided 99.9 %: some 50 comparisons hold
/// together with probability above 95 % under a right model.
const T: f64 = 4.0728;

/// A mean over replications with its half-width.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub mean: f64,
    half: f64,
}

impl Interval {
    /// The interval of `values`, one a replication.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        Self { mean, half: T * (squares / (n - 1.0) / n).sqrt() }
    }

    /// Returns true if `value` lies inside.
    pub fn holds(&self, value: f64) -> bool {
        (self.mean - value).abs() <= self.half
    }

    /// The theory's `value` lies inside, and the interval is narrow enough (5 % of it) to say
    /// something.
    pub fn accepts(&self, value: f64) {
        assert!(self.half <= 0.05 * value, "{self:?} is too wide for {value}");
        assert!(self.holds(value), "{self:?} does not hold the theory's {value}");
    }

    /// A wrong model's `value` lies outside.
    pub fn rejects(&self, value: f64) {
        assert!(!self.holds(value), "{self:?} holds {value}, the value of a wrong model");
    }
}

/// The runs of the scenario that `text` describes.
pub fn replicate(text: &str) -> Vec<RunResult> {
    let scenario = read(text);
    (0..REPLICATIONS).map(|number| run_with(&scenario, number, false).0).collect()
}

/// The interval of a quantity `of` each run.
pub fn interval(runs: &[RunResult], of: impl Fn(&RunResult) -> f64) -> Interval {
    Interval::of(&runs.iter().map(of).collect::<Vec<_>>())
}
