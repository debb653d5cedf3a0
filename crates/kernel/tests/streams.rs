//! Random streams with consecutive names, interleaved, through published tests of randomness.
//!
//! A short battery; `make validate ONLY=streams` runs the long one. Bounds are those of p = 1e-6 on
//! each side, so that one of the seventy tests here fails by chance with probability 2e-4. Each
//! test is also run on a wrong generator, which it must refuse.

use std::collections::BTreeSet;

use forebay_kernel::math::pow;
use forebay_kernel::{Stream, Streams};

const STREAMS: u64 = 1000;
const WORDS: usize = 1 << 20;
/// Two-sided bound of a normal variate at p = 1e-6 on each side.
const NORMAL: f64 = 4.753;

type Maker = fn(u64) -> Stream;

/// Makers of neighbouring streams, by what differs between them.
const NAMES: [(&str, Maker); 5] = [
    ("members", |k| Streams::new(1, 0).numbered("flows.x.traffic", k)),
    ("paths", |k| Streams::new(1, 0).named(&format!("links.l{k}.queue"))),
    ("replications", |k| Streams::new(1, k).named("flows.x.traffic")),
    ("seeds", |k| Streams::new(k, 0).named("flows.x.traffic")),
    ("late members", |k| Streams::new(1, 0).named("links.l.queue").member(k)),
];

/// The upper 32 bits of a draw.
fn word(stream: &mut Stream) -> u32 {
    stream.below(1 << 32) as u32
}

/// One word of each stream in turn, again and again.
fn interleaved(make: Maker) -> Vec<u32> {
    let mut all: Vec<Stream> = (0..STREAMS).map(make).collect();
    let rounds = WORDS.div_ceil(all.len());
    (0..rounds).flat_map(|_| all.iter_mut().map(word).collect::<Vec<u32>>()).collect()
}

/// The first word of each of ever new streams.
fn first_words(make: Maker) -> Vec<u32> {
    (0..WORDS as u64).map(|k| word(&mut make(k))).collect()
}

/// Streams that are copies of one another, each one draw ahead: what numbering by jumps that are
/// too short would give.
fn shifted() -> Vec<u32> {
    let mut stream = Streams::new(1, 0).named("shifted");
    let mut all = Vec::new();
    for _ in 0..STREAMS {
        all.push(stream.clone());
        stream.uniform();
    }
    let rounds = WORDS.div_ceil(all.len());
    (0..rounds).flat_map(|_| all.iter_mut().map(word).collect::<Vec<u32>>()).collect()
}

/// A multiplicative generator whose streams begin side by side, with no hash of their names.
fn counted() -> Vec<u32> {
    let mut all: Vec<u64> = (0..STREAMS).map(|k| 0x9e37_79b9_7f4a_7c15 + 2 * k).collect();
    let step = |state: &mut u64| {
        *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d);
        (*state >> 32) as u32
    };
    let rounds = WORDS.div_ceil(all.len());
    (0..rounds).flat_map(|_| all.iter_mut().map(step).collect::<Vec<u32>>()).collect()
}

/// A statistic with the bounds between which it lies but for p = 1e-6 on each side.
struct Statistic {
    name: &'static str,
    value: f64,
    least: f64,
    most: f64,
}

impl Statistic {
    fn normal(name: &'static str, value: f64) -> Self {
        Self { name, value, least: -NORMAL, most: NORMAL }
    }

    /// Poisson of a mean above 100, whose square root is normal with deviation 1/2 (Anscombe 1948,
    /// Biometrika 35: 2 sqrt(x + 3/8) has variance 1 up to terms of 1/mean^2).
    fn poisson(name: &'static str, count: usize, mean: f64) -> Self {
        Self::normal(name, 2.0 * ((count as f64 + 0.375).sqrt() - (mean + 0.125).sqrt()))
    }

    fn passes(&self) -> bool {
        (self.least..=self.most).contains(&self.value)
    }
}

fn chi_square(counts: &[u32], expected: impl Fn(usize) -> f64) -> f64 {
    let square = |(at, &count): (usize, &u32)| {
        let mean = expected(at);
        (f64::from(count) - mean) * (f64::from(count) - mean) / mean
    };
    counts.iter().enumerate().map(square).sum()
}

/// Ones against zeros (NIST SP 800-22, 2.1).
fn frequency(words: &[u32]) -> Statistic {
    let bits = 32.0 * words.len() as f64;
    let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
    Statistic::normal("frequency", (2.0 * ones as f64 - bits) / bits.sqrt())
}

/// The upper four bits of two neighbouring words (Knuth, volume 2, 3.3.2, B): 255 degrees of
/// freedom.
fn serial(words: &[u32]) -> Statistic {
    let mut counts = [0_u32; 256];
    for pair in words.chunks_exact(2) {
        counts[(pair[0] >> 28 << 4 | pair[1] >> 28) as usize] += 1;
    }
    let value = chi_square(&counts, |_| words.len() as f64 / 2.0 / 256.0);
    Statistic { name: "serial", value, least: 161.650, most: 377.078 }
}

/// Words between those below a sixteenth (Knuth, 3.3.2, D), 0 to 60 and more: 61 degrees of
/// freedom.
fn gap(words: &[u32]) -> Statistic {
    let mut counts = [0_u32; 62];
    let at: Vec<usize> = (0..words.len()).filter(|&at| words[at] < 1 << 28).collect();
    for pair in at.windows(2) {
        counts[(pair[1] - pair[0] - 1).min(61)] += 1;
    }
    let gaps = (at.len() - 1) as f64;
    let beyond = |n: usize| pow(15.0 / 16.0, n as f64);
    let value = chi_square(&counts, |n| gaps * if n < 61 { beyond(n) / 16.0 } else { beyond(61) });
    Statistic { name: "gap", value, least: 21.998, most: 128.524 }
}

/// Equal spacings of 2048 birthdays in 2^32 days (Marsaglia and Tsang 2002): Poisson, 2048^3 / 2^34
/// a year.
fn birthday_spacings(words: &[u32]) -> Statistic {
    let mut equal = 0;
    let years = words.chunks_exact(2048);
    let mean = years.len() as f64 * 0.5;
    for year in years {
        let mut days = year.to_vec();
        days.sort_unstable();
        let mut spacings: Vec<u32> = days.windows(2).map(|pair| pair[1] - pair[0]).collect();
        spacings.sort_unstable();
        equal += spacings.windows(2).filter(|pair| pair[0] == pair[1]).count();
    }
    Statistic::poisson("birthday spacings", equal, mean)
}

/// 2^14 balls, the upper 12 bits of two words each, into 2^24 urns (Knuth, 3.3.2, I): in each round
/// n - m (1 - (1 - 1/m)^n) = n^2/(2m) - n/(2m) - n^3/(6m^2) + ... = 7.99691 collisions.
fn collisions(words: &[u32]) -> Statistic {
    let mut found = 0;
    let rounds = words.chunks_exact(2 << 14);
    let mean = rounds.len() as f64 * 7.996_91;
    for round in rounds {
        let urn = |pair: &[u32]| pair[0] >> 20 << 12 | pair[1] >> 20;
        let mut urns: Vec<u32> = round.chunks_exact(2).map(urn).collect();
        urns.sort_unstable();
        found += urns.windows(2).filter(|pair| pair[0] == pair[1]).count();
    }
    Statistic::poisson("collisions", found, mean)
}

/// Ranks of matrices of 32 words over GF(2) (Marsaglia and Tsay 1985): 32, 31, 30 and less have
/// probabilities 0.2887881, 0.5775762, 0.1283503 and 0.0052854; 3 degrees of freedom.
fn rank(words: &[u32]) -> Statistic {
    let mut counts = [0_u32; 4];
    let matrices = words.chunks_exact(32);
    let number = matrices.len() as f64;
    for matrix in matrices {
        let mut rows = matrix.to_vec();
        let mut rank = 0;
        for bit in 0..32 {
            let Some(pivot) = (rank..32).find(|&row| rows[row] >> bit & 1 == 1) else { continue };
            rows.swap(rank, pivot);
            let taken = rows[rank];
            for row in &mut rows[rank + 1..] {
                *row ^= taken * (*row >> bit & 1);
            }
            rank += 1;
        }
        counts[(32 - rank).min(3)] += 1;
    }
    let shares = [0.288_788_1, 0.577_576_2, 0.128_350_3, 0.005_285_4];
    let value = chi_square(&counts, |at| number * shares[at]);
    // Too good an agreement, below 2e-4 at p = 1e-6, happens to nothing else that is wrong here.
    Statistic { name: "rank", value, least: 0.0, most: 30.665 }
}

/// Products of neighbouring words as numbers from -1 to 1, whose variance is 1/9.
fn correlation(words: &[u32]) -> Statistic {
    let number = |word: u32| (f64::from(word) + 0.5) / 2_147_483_648.0 - 1.0;
    let sum: f64 = words.windows(2).map(|pair| number(pair[0]) * number(pair[1])).sum();
    Statistic::normal("correlation", 3.0 * sum / ((words.len() - 1) as f64).sqrt())
}

const TESTS: [fn(&[u32]) -> Statistic; 7] =
    [frequency, serial, gap, birthday_spacings, collisions, rank, correlation];

/// Flows, links, replications and sweeps with neighbouring names share no randomness: streams of
/// consecutive names, one draw of each in turn, or the first draw of each.
#[test]
fn neighbouring_streams_are_independent() {
    for (name, make) in NAMES {
        for (kind, words) in [("interleaved", interleaved(make)), ("first", first_words(make))] {
            for test in TESTS {
                let found = test(&words);
                assert!(found.passes(), "{name}, {kind}: {} is {}", found.name, found.value);
            }
        }
    }
}

/// The battery refuses wrong streams: streams that are shifted copies fail most tests, and streams
/// whose states are side by side fail those of pairs.
#[test]
fn wrong_streams_are_refused() {
    let refused = |words: &[u32]| -> Vec<&str> {
        let found = TESTS.iter().map(|test| test(words));
        found.filter(|statistic| !statistic.passes()).map(|statistic| statistic.name).collect()
    };
    let of_shifted = refused(&shifted());
    for name in ["serial", "gap", "birthday spacings", "collisions", "correlation"] {
        assert!(of_shifted.contains(&name), "{of_shifted:?}");
    }
    let of_counted = refused(&counted());
    for name in ["serial", "gap", "birthday spacings", "collisions", "rank"] {
        assert!(of_counted.contains(&name), "{of_counted:?}");
    }
    let zeros = vec![0; WORDS];
    assert!(refused(&zeros).contains(&"frequency"));
}

/// No two components draw the same numbers: of a million names (members, paths, replications, seeds
/// and late members, 200,000 each) no two begin with the same 128 bits. With independent bits two
/// would agree with probability 1e12 / 2^129 = 1.5e-27.
#[test]
fn a_million_names_begin_differently() {
    const EACH: u64 = 200_000;
    let mut seen = BTreeSet::new();
    for (_, make) in NAMES {
        for k in 0..EACH {
            let mut stream = make(k);
            let begins: [u32; 4] = std::array::from_fn(|_| word(&mut stream));
            seen.insert(begins);
        }
    }
    // Member, replication and seed 0 or 1 of `flows.x.traffic` are one and the same name: (1, 0, 0)
    // is member 0, replication 0 and seed 1.
    assert_eq!(seen.len() as u64, 5 * EACH - 2);
}
