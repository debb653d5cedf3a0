//! Exponential variates by the ziggurat method (Marsaglia and Tsang, Journal of Statistical
//! Software 5(8), 2000), on the engine's own math library.
//!
//! The usual libraries take `exp` and `ln` from the platform or from a pure-Rust library depending
//! on what else is in the build; a run must not depend on that. The table stands in the program, so
//! that a draw need not see whether it was computed; it is what the engine's library gives.

use crate::math::{exp, ln};
use crate::ziggurat_edges::{EDGES, LAYERS};

/// Start of the tail, and the area of each layer, for 256 layers (Marsaglia and Tsang 2000, section
/// 4).
const TAIL: f64 = 7.697_117_470_131_05;
#[cfg(test)]
const AREA: f64 = 0.003_949_659_822_581_572;

/// An exponential variate with mean 1, from uniform random words.
#[inline]
pub(crate) fn exponential(mut word: impl FnMut() -> u64) -> f64 {
    let bits = word();
    let (layer, x) = place(bits);
    if x < EDGES[layer + 1] { x } else { beside(bits, &mut word) }
}

/// The layer of a word, from its low bits, and the place in it, from the high ones.
#[inline(always)]
fn place(bits: u64) -> (usize, f64) {
    let layer = (bits & (LAYERS as u64 - 1)) as usize;
    (layer, unit(bits) * EDGES[layer])
}

/// As [`exponential`], given a first word whose place is not well inside its layer.
#[cold]
#[inline(never)]
fn beside(mut bits: u64, word: &mut dyn FnMut() -> u64) -> f64 {
    loop {
        let (layer, x) = place(bits);
        if x < EDGES[layer + 1] {
            return x;
        }
        if layer == 0 {
            // The tail is exponential again; 1 - u is never zero.
            return TAIL - ln(1.0 - unit(word()));
        }
        let (low, high) = (exp(-EDGES[layer]), exp(-EDGES[layer + 1]));
        if low + (high - low) * unit(word()) < exp(-x) {
            return x;
        }
        bits = word();
    }
}

/// Uniform on [0, 1) from the 53 high bits of a word.
#[inline]
pub(crate) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    /// The edges are those of the method: from the base layer, widened to hold the tail, and the
    /// edge of the tail on, each edge is where the density is higher by the area over the width of
    /// the layer below; the top layer ends where the density does.
    #[test]
    fn the_edges_are_those_of_the_method() {
        assert_eq!(EDGES[0], AREA * exp(TAIL));
        assert_eq!(EDGES[1], TAIL);
        for layer in 2..LAYERS {
            let edge = -ln(exp(-EDGES[layer - 1]) + AREA / EDGES[layer - 1]);
            assert_eq!(EDGES[layer].to_bits(), edge.to_bits(), "layer {layer}");
        }
        assert_eq!(EDGES[LAYERS], 0.0);
    }

    /// The layers tile the area under the density: each has the same area, and the top one ends
    /// where the density does.
    #[test]
    fn the_layers_have_equal_areas() {
        for (layer, edges) in EDGES.windows(2).enumerate().skip(1) {
            let area = edges[0] * (exp(-edges[1]) - exp(-edges[0]));
            assert!((area / AREA - 1.0).abs() < 1e-9, "layer {layer}: {area}");
        }
        // The base layer: the rectangle under the tail's edge, and the tail's integral exp(-TAIL).
        let base = TAIL * exp(-TAIL) + exp(-TAIL);
        assert!((base / AREA - 1.0).abs() < 1e-9, "{base}");
    }

    /// The share of variates beyond t is exp(-t). Bounds are five standard errors of a binomial
    /// share.
    #[test]
    fn the_tail_probabilities_are_exponential() {
        let mut stream = Streams::new(11, 0).named("ziggurat");
        let n = 2_000_000;
        let marks = [0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 7.0, 7.8, 9.0];
        let mut beyond = [0u32; 9];
        for _ in 0..n {
            let x = stream.exponential();
            for (count, mark) in beyond.iter_mut().zip(marks) {
                *count += u32::from(x > mark);
            }
        }
        for (count, mark) in beyond.into_iter().zip(marks) {
            let p = exp(-mark);
            let bound = 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((f64::from(count) / f64::from(n) - p).abs() < bound, "beyond {mark}: {count}");
        }
    }
}
