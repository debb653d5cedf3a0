//! Gaussian noise with long memory, which connections of the web arrive by.

use std::collections::VecDeque;

use forebay_kernel::{Stream, math};

/// A fractional sum-difference process: a sum of white noise and of the sums of neighbours in a
/// fractional ARIMA(0, d, 0), with mean 0 and variance 1 (Cao, Cleveland and Sun, 2004: FSD).
pub(super) struct Noise {
    /// Weights of the white noise and of the sums.
    white: f64,
    memory: f64,
    fractional: Fractional,
    last: f64,
}

impl Noise {
    /// One whose white part has the share `white` of the variance.
    pub(super) fn new(d: f64, white: f64) -> Self {
        // The variance of the sum of two neighbours, whose correlation is d / (1 - d).
        let sums = 2.0 + 2.0 * d / (1.0 - d);
        Self {
            white: white.sqrt(),
            memory: ((1.0 - white) / sums).sqrt(),
            fractional: Fractional::new(d),
            last: 0.0,
        }
    }

    /// The next value.
    pub(super) fn next(&mut self, stream: &mut Stream) -> f64 {
        if self.fractional.past.is_empty() {
            self.last = self.fractional.next(stream);
        }
        let before = std::mem::replace(&mut self.last, self.fractional.next(stream));
        self.memory * (before + self.last) + self.white * stream.normal()
    }
}

/// A fractional ARIMA(0, d, 0) with variance 1, by the partial linear regression coefficients of
/// Hosking, Water Resources Research 20(12), 1984.
struct Fractional {
    d: f64,
    /// Coefficients of the last values, the newest first, and the variance of what they leave open.
    coefficients: Vec<f64>,
    variance: f64,
    /// Values, the newest first.
    past: VecDeque<f64>,
}

/// Number of past values that the next depends on at most (ns-2's FARIMA: N).
const ORDER: usize = 1000;

impl Fractional {
    fn new(d: f64) -> Self {
        Self { d, coefficients: Vec::new(), variance: 1.0, past: VecDeque::new() }
    }

    fn next(&mut self, stream: &mut Stream) -> f64 {
        if self.coefficients.len() < self.past.len() {
            self.extend();
        }
        let mean: f64 = self.coefficients.iter().zip(&self.past).map(|(a, x)| a * x).sum();
        let value = mean + self.variance.sqrt() * stream.normal();
        self.past.truncate(ORDER - 1);
        self.past.push_front(value);
        value
    }

    /// One coefficient more, by the Durbin-Levinson recursion.
    fn extend(&mut self) {
        let order = self.coefficients.len() + 1;
        let last = self.d / (order as f64 - self.d);
        let mirrored: Vec<f64> = self.coefficients.iter().rev().copied().collect();
        for (coefficient, other) in self.coefficients.iter_mut().zip(mirrored) {
            *coefficient -= last * other;
        }
        self.coefficients.push(last);
        self.variance *= 1.0 - last * last;
    }
}

/// The negative logarithm of the share of a normal distribution above `z`: exponential with mean 1
/// if `z` is normal.
pub(super) fn exponential_of(z: f64) -> f64 {
    -math::ln(0.5 * math::erfc(z * std::f64::consts::FRAC_1_SQRT_2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_kernel::Streams;

    /// The recursion gives the coefficients of the theory: phi_22 = d / (2 - d) and phi_21 = phi_11
    /// (1 - phi_22) with phi_11 = d / (1 - d); with d = 0.25: 1/7, and 1/3 * 6/7 = 2/7. What is
    /// left of the variance is (1 - 1/9) (1 - 1/49).
    #[test]
    fn coefficients_are_those_of_the_theory() {
        let mut process = Fractional::new(0.25);
        process.extend();
        process.extend();
        let near = |x: f64, y: f64| (x - y).abs() < 1e-15;
        assert!(
            near(process.coefficients[0], 2.0 / 7.0) && near(process.coefficients[1], 1.0 / 7.0)
        );
        assert!(near(process.variance, 8.0 / 9.0 * 48.0 / 49.0));
    }

    /// The noise has variance 1 and remembers: neighbours of a fractional ARIMA(0, d, 0) have the
    /// correlations r1 = d / (1 - d) and r2 = r1 (1 + d) / (2 - d), so that sums of neighbours have
    /// the covariance 1 + 2 r1 + r2 in units of the variance 2 + 2 r1 of a sum. With d = 0.33 that
    /// is 0.7964, and with a white share of 0.5 half of it, 0.3982. The mean of n values of such
    /// memory has a variance of the order of n^(2 d - 1) / 2, of 50,000 values 0.0126, by which
    /// sample covariances are off; the bound is five times that. White noise fails.
    #[test]
    fn the_noise_has_variance_one_and_remembers() {
        let (mut noise, mut stream) = (Noise::new(0.33, 0.5), Streams::new(5, 0).named("noise"));
        let values: Vec<f64> = (0..50_000).map(|_| noise.next(&mut stream)).collect();
        let n = values.len() as f64;
        let product = |lag: usize| {
            values.iter().zip(&values[lag..]).map(|(x, y)| x * y).sum::<f64>() / (n - lag as f64)
        };
        assert!((product(0) - 1.0).abs() < 0.063, "{}", product(0));
        assert!((product(1) - 0.3982).abs() < 0.063, "{}", product(1));
    }

    /// A normal value becomes an exponential one of the same rank: the median ln 2, and far out the
    /// logarithm of the tail, 1.3498980e-3 at 3 and 0.5 + 0.49865 at -3.
    #[test]
    fn ranks_are_kept() {
        for (z, value) in
            [(0.0, std::f64::consts::LN_2), (3.0, 6.607_726_2), (-3.0, 1.350_809_96e-3)]
        {
            assert!((exponential_of(z) - value).abs() < 1e-7, "{z}: {}", exponential_of(z));
        }
    }
}
