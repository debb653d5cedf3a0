//! Named random streams.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::math::ln;
use crate::ziggurat;

/// The source of all random streams of one replication.
///
/// A stream is named by (root seed, replication, component path): the same name gives the same
/// numbers in every scenario, and other names give unrelated ones.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
    replication: u64,
}

impl Streams {
    /// The streams of replication number `replication` under the root seed `seed`.
    #[must_use]
    pub const fn new(seed: u64, replication: u64) -> Self {
        Self { seed, replication }
    }

    /// The stream of the component at `path`, such as `links.bottleneck.queue`.
    #[must_use]
    pub fn named(&self, path: &str) -> Stream {
        self.numbered(path, 0)
    }

    /// The stream of member `number` of the component at `path`, such as flow 7 of a group.
    #[must_use]
    pub fn numbered(&self, path: &str, number: u64) -> Stream {
        let mut state = absorb(0x666f_7265_6261_7931, self.seed);
        state = absorb(state, self.replication);
        state = absorb(state, path.len() as u64);
        for chunk in path.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            state = absorb(state, u64::from_le_bytes(word));
        }
        Stream(Xoshiro256PlusPlus::seed_from_u64(absorb(state, number)))
    }
}

/// One round of SplitMix64 over `state ^ word`.
fn absorb(state: u64, word: u64) -> u64 {
    let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers (xoshiro256++), the same on every platform.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of member `number` of the component that this stream belongs to, for members that
    /// show only during the run. It depends on the name of this stream, on how much was drawn from
    /// it, and on the number; nothing is drawn.
    #[must_use]
    pub fn member(&self, number: u64) -> Self {
        let word = self.clone().0.next_u64();
        Self(Xoshiro256PlusPlus::seed_from_u64(absorb(word, number)))
    }

    /// Uniform on [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        ziggurat::unit(self.0.next_u64())
    }

    /// True with probability `p`; never for `p = 0`, always for `p >= 1`.
    #[inline]
    pub fn happens(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Exponential with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        ziggurat::exponential(|| self.0.next_u64())
    }

    /// Normal with mean 0 and variance 1, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                return u * (-2.0 * ln(square) / square).sqrt();
            }
        }
    }

    /// Uniform on the whole numbers 0 to `n - 1` (0 for `n = 0`).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        // Multiply-shift; the bias is below n / 2^64.
        ((u128::from(self.0.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream depends on the seed, the replication and its name alone: adding a component does
    /// not change the numbers of the others, so variants of a scenario are compared on the same
    /// arrivals.
    #[test]
    fn a_stream_depends_on_its_name_alone() {
        let streams = Streams::new(1, 2);
        let mut first = streams.named("links.a.queue");
        let _other = streams.named("links.b.queue").uniform();
        let mut again = streams.named("links.a.queue");
        assert_eq!(first.uniform(), again.uniform());
        let others = [
            Streams::new(1, 3).named("links.a.queue").uniform(),
            Streams::new(2, 2).named("links.a.queue").uniform(),
            streams.named("links.b.queue").uniform(),
            streams.numbered("links.a.queue", 1).uniform(),
            streams.named("links.a.queue\0").uniform(),
        ];
        let mut own = streams.named("links.a.queue");
        let first = own.uniform();
        assert!(others.iter().all(|x| *x != first));
    }

    /// Each member of a component has a stream of its own, other than that of the component.
    #[test]
    fn members_have_streams_of_their_own() {
        let component = Streams::new(1, 2).named("links.a.conditioner");
        let draw = |number| component.member(number).uniform();
        assert_eq!(draw(7), draw(7));
        let drawn = [draw(7), draw(8), draw(0), component.clone().uniform()];
        for (at, x) in drawn.iter().enumerate() {
            assert!(drawn[..at].iter().all(|other| other != x), "{drawn:?}");
        }
    }

    /// The generator is xoshiro256++ as documented: its first outputs from the state (1, 2, 3, 4)
    /// are those of the reference implementation (prng.di.unimi.it): result = rotl(s0 + s3, 23) +
    /// s0 = rotl(5, 23) + 1 = 41943041.
    #[test]
    fn the_generator_is_xoshiro256_plus_plus() {
        let mut seed = [0u8; 32];
        for (i, word) in [1u64, 2, 3, 4].iter().enumerate() {
            seed[8 * i..8 * i + 8].copy_from_slice(&word.to_le_bytes());
        }
        let mut generator = Xoshiro256PlusPlus::from_seed(seed);
        assert_eq!(generator.next_u64(), 41_943_041);
    }

    /// The variates have the means of the distributions that they are named after. Bounds are five
    /// standard errors: a mean of n exponentials deviates by 1/sqrt(n), of uniforms by
    /// 0.2887/sqrt(n).
    #[test]
    fn variates_have_their_means() {
        const N: u32 = 1_000_000;
        let mut stream = Streams::new(7, 0).named("test");
        let mean =
            |draw: &mut dyn FnMut() -> f64| (0..N).map(|_| draw()).sum::<f64>() / f64::from(N);
        assert!((mean(&mut || stream.uniform()) - 0.5).abs() < 5.0 * 0.2887e-3);
        assert!((mean(&mut || stream.exponential()) - 1.0).abs() < 5.0e-3);
        assert!((mean(&mut || stream.normal())).abs() < 5.0e-3);
        assert!((mean(&mut || stream.below(10) as f64) - 4.5).abs() < 5.0 * 2.8723e-3);
        assert!(
            (mean(&mut || f64::from(u8::from(stream.happens(0.1)))) - 0.1).abs() < 5.0 * 0.3e-3
        );
        assert!(!(0..1000).any(|_| stream.happens(0.0)));
    }

    /// The variates are spread as they should be: of exponentials E x^2 = 2 with Var x^2 = 24 - 4,
    /// of normals E x^2 = 1 with Var x^2 = 3 - 1 and E x^4 = 3 with Var x^4 = 105 - 9. Bounds are
    /// five standard errors.
    #[test]
    fn variates_have_their_higher_moments() {
        const N: u32 = 1_000_000;
        let mut stream = Streams::new(8, 0).named("test");
        let mean =
            |draw: &mut dyn FnMut() -> f64| (0..N).map(|_| draw()).sum::<f64>() / f64::from(N);
        let near = |found: f64, due: f64, variance: f64| {
            assert!((found - due).abs() < 5.0e-3 * variance.sqrt(), "{found}, due {due}");
        };
        let square = |x: f64| x * x;
        near(mean(&mut || square(stream.exponential())), 2.0, 20.0);
        near(mean(&mut || square(stream.normal())), 1.0, 2.0);
        near(mean(&mut || square(square(stream.normal()))), 3.0, 96.0);
    }
}
