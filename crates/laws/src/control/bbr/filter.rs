//! The highest of the rates of the last rounds.

/// A maximum over a window of rounds: the values that can still become the highest, the highest
/// first.
pub(in crate::control) struct MaxFilter {
    rounds: u32,
    values: Vec<(u32, f64)>,
}

impl MaxFilter {
    /// Over the present round and the `rounds` before it.
    pub(in crate::control) fn new(rounds: u32) -> Self {
        Self { rounds, values: Vec::new() }
    }

    /// A value of round `round`.
    pub(in crate::control) fn note(&mut self, round: u32, value: f64) {
        if self.values.last().is_some_and(|last| last.0 == round && last.1 >= value) {
            return;
        }
        while self.values.last().is_some_and(|last| last.1 <= value) {
            self.values.pop();
        }
        self.values.push((round, value));
        while round - self.values[0].0 > self.rounds {
            self.values.remove(0);
        }
    }

    /// The highest value, 0 without any.
    pub(in crate::control) fn max(&self) -> f64 {
        self.values.first().map_or(0.0, |first| first.1)
    }
}
