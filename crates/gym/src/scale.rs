//! Actions as numbers from -1 to 1, for policies that like such.

use forebay_kernel::math::{exp, ln};
use forebay_parameters::did_you_mean;

use crate::error::GymError;

/// Form in which actions are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Normalization {
    /// As they are, between their bounds.
    #[default]
    None,
    /// From -1 for the lower bound to 1 for the upper one, evenly.
    Linear,
    /// The same in equal ratios: 0 is the geometric mean of the bounds.
    Log,
}

impl Normalization {
    /// Read `"none"`, `"linear"` or `"log"`.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(text: &str) -> Result<Self, GymError> {
        match text {
            "none" => Ok(Self::None),
            "linear" => Ok(Self::Linear),
            "log" => Ok(Self::Log),
            other => {
                let hint = did_you_mean(other, ["none", "linear", "log"]);
                let message =
                    format!("normalize: read \"{other}\"{hint}; allowed are none, linear, log");
                Err(GymError::Wrong(message))
            }
        }
    }

    /// The action that `given` means between the bounds `low` and `high`; what lies beyond a bound
    /// is that bound.
    #[inline]
    pub(crate) fn action(self, given: f64, (low, high): (f64, f64)) -> f64 {
        let share = (given.clamp(-1.0, 1.0) + 1.0) / 2.0;
        let action = match self {
            Self::None => given,
            Self::Linear => low + share * (high - low),
            Self::Log => low * exp(share * ln(high / low)),
        };
        action.clamp(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends are the bounds and the middle is their mean of either kind, so that a policy reaches
    /// all that is allowed: of 1 and 100 the means are 50.5 and the root of 100.
    #[test]
    fn ends_are_the_bounds_and_the_middle_is_their_mean() {
        let bounds = (1.0, 100.0);
        for (scale, middle) in [(Normalization::Linear, 50.5), (Normalization::Log, 10.0)] {
            let action = |given| scale.action(given, bounds);
            assert_eq!([action(-1.0), action(-7.0)], [1.0, 1.0]);
            assert!((action(1.0) - 100.0).abs() < 1e-9 && action(9.0) <= 100.0);
            assert!((action(0.0) - middle).abs() < 1e-9);
        }
        let plain = |given| Normalization::None.action(given, bounds);
        assert_eq!([plain(0.0), plain(3.0), plain(1e9)], [1.0, 3.0, 100.0]);
    }
}
