//! The highest of the rates of the last rounds.

use std::collections::VecDeque;

/// A maximum over a window of rounds: the values that can still become the highest, the highest
/// first.
pub(in crate::control) struct MaxFilter {
    rounds: u32,
    values: VecDeque<(u32, f64)>,
}

impl MaxFilter {
    /// Over the present round and the `rounds` before it.
    pub(in crate::control) fn new(rounds: u32) -> Self {
        Self { rounds, values: VecDeque::new() }
    }

    /// A value of round `round`.
    pub(in crate::control) fn note(&mut self, round: u32, value: f64) {
        while self.values.back().is_some_and(|last| last.1 <= value) {
            self.values.pop_back();
        }
        self.values.push_back((round, value));
        while self.values.front().is_some_and(|first| round - first.0 > self.rounds) {
            self.values.pop_front();
        }
    }

    /// The highest value, 0 without any.
    pub(in crate::control) fn max(&self) -> f64 {
        self.values.front().map_or(0.0, |first| first.1)
    }
}
