//! The fingerprint of a trajectory.

/// A running 64-bit fingerprint of everything that happened, in order.
///
/// Two runs with the same digest have, with overwhelming probability, followed the same trajectory.
/// It finds change, not wrongness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Digest {
    /// Take in two words.
    #[inline]
    pub fn take_in(&mut self, a: u64, b: u64) {
        // Two rotations and odd multipliers: order matters, and a word of zero still changes the
        // state.
        let mixed = (self.0 ^ a).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
        self.0 = (mixed ^ b).wrapping_mul(0xc4ce_b9fe_1a85_ec53).rotate_left(31);
    }

    /// The fingerprint so far.
    #[must_use]
    pub fn value(self) -> u64 {
        let mut x = self.0;
        x ^= x >> 33;
        x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
        x ^ (x >> 33)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest depends on the order and the values of what it takes in, so two different
    /// trajectories do not pass for the same one.
    #[test]
    fn order_and_values_matter() {
        let run = |words: &[(u64, u64)]| {
            let mut digest = Digest::default();
            words.iter().for_each(|(a, b)| digest.take_in(*a, *b));
            digest.value()
        };
        assert_eq!(run(&[(1, 2), (3, 4)]), run(&[(1, 2), (3, 4)]));
        assert_ne!(run(&[(1, 2), (3, 4)]), run(&[(3, 4), (1, 2)]));
        assert_ne!(run(&[(1, 2)]), run(&[(2, 1)]));
        assert_ne!(run(&[]), run(&[(0, 0)]));
    }

    /// Digests are the same on every platform and in every version: the steps above, done in whole
    /// numbers modulo 2^64 by a program of their own, give these values.
    #[test]
    fn digests_are_the_same_everywhere() {
        let mut digest = Digest::default();
        assert_eq!(digest.value(), 0x9341_ca26_3702_a9e6);
        digest.take_in(1, 2);
        digest.take_in(0xfedc_ba98_7654_3210, 0x0123_4567_89ab_cdef);
        assert_eq!(digest.value(), 0xbfcc_cad1_22e9_26b8);
    }
}
