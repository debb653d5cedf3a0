"""Published tests of random numbers, each of an array of 32-bit words; each returns a p-value.

Sources: Knuth, The Art of Computer Programming, volume 2, 3rd edition, section 3.3.2 (serial, gap,
permutation, collision); Rukhin and others, NIST SP 800-22 revision 1a, sections 2.1 and 2.3
(frequency, runs); Marsaglia and Tsang, Some difficult-to-pass tests of randomness, Journal of
Statistical Software 7 (3), 2002 (birthday spacings); Marsaglia and Tsay, Matrices and the structure
of random number sequences, Linear Algebra and its Applications 67 (1985) 147-156 (rank).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["TESTS"]

Words = NDArray[np.uint32]
Test = Callable[[Words], float]


def frequency(words: Words) -> float:
    """As many ones as zeros: normal."""
    bits = 32 * len(words)
    ones = int(np.bitwise_count(words).sum(dtype=np.int64))
    return _normal((2 * ones - bits) / math.sqrt(bits))


def runs(words: Words) -> float:
    """Runs of equal bits: the number of changes from bit to bit, half of the pairs, is normal."""
    within = np.bitwise_count((words ^ (words >> np.uint32(1))) & np.uint32(0x7FFF_FFFF))
    # Bit 31 of a word is followed by bit 0 of the next one.
    across = (words[:-1] >> np.uint32(31)) ^ (words[1:] & np.uint32(1))
    changes = int(within.sum(dtype=np.int64)) + int(across.sum(dtype=np.int64))
    pairs = 32 * len(words) - 1
    return _normal((2 * changes - pairs) / math.sqrt(pairs))


def weights(words: Words) -> float:
    """Ones of a word are binomial: chi-square over 8 to 24, the ends gathered."""
    counts = np.bincount(np.clip(np.bitwise_count(words), 8, 24), minlength=25)[8:]
    shares = stats.binom.pmf(np.arange(33), 32, 0.5)
    expected = [shares[:9].sum(), *shares[9:24], shares[24:].sum()]
    return _chi_square(counts, np.array(expected) * len(words))


def serial(words: Words) -> float:
    """The top bytes of neighbouring words, in pairs that do not overlap: chi-square over 65,536."""
    top = (words >> np.uint32(24)).astype(np.int64)
    pairs = top[: len(top) // 2 * 2].reshape(-1, 2)
    counts = np.bincount(pairs[:, 0] * 256 + pairs[:, 1], minlength=65_536)
    return _chi_square(counts, np.full(65_536, len(pairs) / 65_536))


def gap(words: Words) -> float:
    """Words between those whose top four bits are zero: geometric, 0 to 60 and more."""
    at = np.flatnonzero(words < np.uint32(1 << 28))
    gaps = np.minimum(np.diff(at) - 1, 60)
    p = 1.0 / 16.0
    expected = p * (1.0 - p) ** np.arange(61)
    expected[60] = (1.0 - p) ** 60
    return _chi_square(np.bincount(gaps, minlength=61), expected * len(gaps))


def permutation(words: Words) -> float:
    """The order of five words: chi-square over 120. Equal words, one five in 4e8, are sorted."""
    fives = words[: len(words) // 5 * 5].reshape(-1, 5)
    code = np.zeros(len(fives), dtype=np.int64)
    for last in range(4, 0, -1):
        above = (fives[:, :last] > fives[:, last : last + 1]).sum(axis=1)
        code = code * (last + 1) + above
    return _chi_square(np.bincount(code, minlength=120), np.full(120, len(fives) / 120))


def birthday_spacings(words: Words) -> float:
    """2048 birthdays in a year of 2^32 days: equal spacings are Poisson of mean 2048^3 / 2^34 = 0.5
    a year, and their sum over all years is."""
    years = words[: len(words) // 2048 * 2048].reshape(-1, 2048)
    days = np.sort(years, axis=1).astype(np.int64)
    spacings = np.sort(np.diff(days, axis=1), axis=1)
    equal = int((np.diff(spacings, axis=1) == 0).sum())
    return _poisson(equal, len(years) * 2048.0**3 / 2.0**34)


def collisions(words: Words) -> float:
    """2^14 balls, each the top 12 bits of two words, into 2^24 urns: collisions of all rounds."""
    balls, urns = 1 << 14, 1 << 24
    top = (words >> np.uint32(20)).astype(np.int64)
    urn = top[: len(top) // 2 * 2].reshape(-1, 2) @ np.array([4096, 1])
    rounds = np.sort(urn[: len(urn) // balls * balls].reshape(-1, balls), axis=1)
    found = int((np.diff(rounds, axis=1) == 0).sum())
    # Balls less the expected number of urns that are hit: Knuth, section 3.3.2, I.
    expected = balls - urns * -math.expm1(balls * math.log1p(-1.0 / urns))
    return _poisson(found, len(rounds) * expected)


def rank(words: Words) -> float:
    """Ranks over GF(2) of matrices of 32 words: 32, 31, 30 and less; at most 2^17 matrices."""
    matrices = words[: len(words) // 32 * 32].reshape(-1, 32)[: 1 << 17].copy()
    ranks = np.zeros(len(matrices), dtype=np.int64)
    each = np.arange(len(matrices))
    for bit in range(32):
        # The first row with this bit that is not a pivot yet; rows above `ranks` are pivots.
        has = (matrices >> np.uint32(bit)) & np.uint32(1) == 1
        has &= np.arange(32)[None, :] >= ranks[:, None]
        pivot, found = has.argmax(axis=1), has.any(axis=1)
        rows, into, source = each[found], ranks[found], pivot[found]
        taken = matrices[rows, source]
        matrices[rows, source] = matrices[rows, into]
        matrices[rows, into] = taken
        below = (matrices[rows] >> np.uint32(bit)) & np.uint32(1) == 1
        below &= np.arange(32)[None, :] > into[:, None]
        matrices[rows] ^= np.where(below, taken[:, None], np.uint32(0))
        ranks[found] += 1
    probabilities = [_rank_probability(32), _rank_probability(31), _rank_probability(30)]
    expected = np.array([*probabilities, 1.0 - sum(probabilities)]) * len(matrices)
    counts = [int((ranks == r).sum()) for r in (32, 31, 30)]
    return _chi_square(np.array([*counts, len(matrices) - sum(counts)]), expected)


def correlation(words: Words, lag: int = 1) -> float:
    """Products of words `lag` apart, as numbers of mean 0: their sum is normal."""
    numbers = (words.astype(np.float64) + 0.5) / 2.0**31 - 1.0
    products = numbers[:-lag] * numbers[lag:]
    # The variance of a product of two independent uniforms on -1 to 1 is 1/9.
    return _normal(float(products.sum()) * 3.0 / math.sqrt(len(products)))


def uniformity(words: Words) -> float:
    """Kolmogorov and Smirnov's distance from the uniform distribution, of at most 2^20 words."""
    return float(stats.kstest((words[: 1 << 20] + 0.5) / 2.0**32, "uniform").pvalue)


TESTS: dict[str, Test] = {
    "frequency": frequency,
    "runs": runs,
    "weights": weights,
    "serial": serial,
    "gap": gap,
    "permutation": permutation,
    "birthday spacings": birthday_spacings,
    "collisions": collisions,
    "rank": rank,
    "correlation": correlation,
    "uniformity": uniformity,
}


def _rank_probability(r: int, n: int = 32) -> float:
    """That a random n by n matrix of bits has rank r."""
    logarithm = float(r * (2 * n - r) - n * n)
    for i in range(r):
        logarithm += 2.0 * math.log2(1.0 - 2.0 ** (i - n)) - math.log2(1.0 - 2.0 ** (i - r))
    return 2.0**logarithm


def _normal(z: float) -> float:
    return float(2.0 * stats.norm.sf(abs(z)))


def _poisson(count: int, mean: float) -> float:
    tail = min(stats.poisson.cdf(count, mean), stats.poisson.sf(count - 1, mean))
    return float(min(1.0, 2.0 * tail))


def _chi_square(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """Two-sided: counts that agree too well are no better than those that do not."""
    statistic = float(((counts - expected) ** 2 / expected).sum())
    upper = float(stats.chi2.sf(statistic, len(expected) - 1))
    return min(1.0, 2.0 * min(upper, 1.0 - upper))
