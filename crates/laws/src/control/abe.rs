//! Alternative backoff with ECN (ABE, RFC 8511): a mark comes from a queue that is kept short, and
//! costs less of the window than a loss.

use forebay_network::Signal;
use forebay_parameters::{Problem, Section, parameters};

use super::require;

parameters! {
    /// The parameter of ABE.
    pub struct AbeParameters {
        /// Factor of the data in flight that a mark leaves (beta_ecn), above 0 and below 1: 0.8 is
        /// recommended for Reno, and CUBIC benefits from 0.85. What a loss leaves if left out.
        beta_ecn: Option<f64>, "RFC 8511, sections 3 and 3.1";
    }
}

impl AbeParameters {
    /// Returns beta_ecn, refused out of its range.
    pub fn checked(&self, section: &Section<'_>) -> Result<Option<f64>, Problem> {
        if let Some(beta) = self.beta_ecn {
            require(section, "beta_ecn", beta, beta > 0.0 && beta < 1.0, "above 0 and below 1")?;
        }
        Ok(self.beta_ecn)
    }
}

/// Returns what `signal` leaves of `flight` bytes in the network with ABE; `None` if that is what a
/// loss leaves.
pub(super) fn left(beta_ecn: Option<f64>, signal: Signal, flight: f64) -> Option<f64> {
    beta_ecn.filter(|_| signal == Signal::Ecn).map(|beta| beta * flight)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ABE answers marks alone, and all signals are answered as losses without it: of 20,000 B a
    /// mark leaves 0.8 of them, 16,000 B (RFC 8511, section 3).
    #[test]
    fn marks_alone_are_answered_otherwise() {
        let signals = [Signal::Loss, Signal::Timeout { first: true }];
        assert!(signals.iter().all(|signal| left(Some(0.8), *signal, 20_000.0).is_none()));
        assert_eq!(left(Some(0.8), Signal::Ecn, 20_000.0), Some(16_000.0));
        assert_eq!(left(None, Signal::Ecn, 20_000.0), None);
    }
}
