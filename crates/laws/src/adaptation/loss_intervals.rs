//! The average interval between losses, with the weights of TFRC (RFC 5348, section 5.4).

use std::collections::VecDeque;

/// Weights of the latest loss intervals, the newest first (RFC 5348, section 5.4, n = 8).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Numbers of packets from each loss to the next; the first from the beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct LossIntervals {
    /// Intervals that a loss has ended, the newest first.
    ended: VecDeque<u64>,
    /// Packets since the latest loss.
    open: u64,
}

impl LossIntervals {
    /// A packet arrived.
    pub(super) fn arrived(&mut self) {
        self.open += 1;
    }

    /// A packet, or several in a row, were lost.
    pub(super) fn lost(&mut self) {
        self.ended.push_front(self.open);
        self.ended.truncate(WEIGHTS.len());
        self.open = 0;
    }

    /// Packets since the latest loss; `None` if nothing was lost.
    pub(super) fn since_loss(&self) -> Option<u64> {
        (!self.ended.is_empty()).then_some(self.open)
    }

    /// The average in packets; 0 if nothing was lost. The interval since the latest loss is not in
    /// it: with it, as TFRC has it, that interval is never longer than six times the average.
    pub(super) fn average(&self) -> f64 {
        let weighted = self.ended.iter().zip(WEIGHTS);
        let (sum, weights) = weighted.fold((0.0, 0.0), |(sum, weights), (&length, weight)| {
            (sum + length as f64 * weight, weights + weight)
        });
        if weights > 0.0 { sum / weights } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(lengths: &[u64], open: u64) -> LossIntervals {
        let mut all = LossIntervals::default();
        for &length in lengths {
            (0..length).for_each(|_| all.arrived());
            all.lost();
        }
        (0..open).for_each(|_| all.arrived());
        all
    }

    /// The average has the weights of TFRC: the newest eight intervals count, older ones do not.
    #[test]
    fn the_average_has_the_weights_of_tfrc() {
        assert_eq!((intervals(&[], 5).average(), intervals(&[], 5).since_loss()), (0.0, None));
        assert_eq!(intervals(&[10], 30).average(), 10.0);
        assert_eq!(intervals(&[10], 30).since_loss(), Some(30));
        // Eight of 10 to 80, oldest first: the newest four weigh 1, the others 0.8 to 0.2;
        // (80 + 70 + 60 + 50 + 32 + 18 + 8 + 2) / 6 = 320 / 6.
        let lengths = [10, 20, 30, 40, 50, 60, 70, 80];
        assert!((intervals(&lengths, 0).average() - 320.0 / 6.0).abs() < 1e-12);
        // A ninth before them has no weight.
        let lengths = [1000, 10, 20, 30, 40, 50, 60, 70, 80];
        assert!((intervals(&lengths, 0).average() - 320.0 / 6.0).abs() < 1e-12);
    }
}
