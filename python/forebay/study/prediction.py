"""Prediction intervals: where a value published from a few runs is to be expected.

A value that a paper prints from n runs is itself a random draw. If the model is right, it has the
distribution that our k replications show, and the question is not whether it equals their mean,
but whether a mean of n more runs (or their highest, lowest or median) may well come out like that.
A 95 % prediction interval answers: it holds such a value with probability 0.95, the uncertainty of
our own mean and spread included. It is wider than a confidence interval by far, and where it is
very wide, a value inside it says little.

Three cases, by the replications:

**Normal**, unless the test of Shapiro and Wilk rejects that at 10 %. Mean of n runs: with
independent normal values, `(mean of n future - mean of k) / (s sqrt(1/n + 1/k))` has Student's t
distribution with k - 1 degrees of freedom, so the interval is

    mean +- t(k - 1, 0.975) s sqrt(1/n + 1/k).

Highest of n: each single future run has that pivot with n = 1, and the highest stays below a bound
if all do, so the ends are `mean + t(k - 1, p^(1/n)) s sqrt(1 + 1/k)` at p = 0.025 and 0.975. That
takes the n pivots as independent. They share mean and spread of the k replications, which from 39
on adds less than one percentage point to the five outside. Median of n: as their mean, with the
variance v of a median of n standard normal values, which follows from its density, in place of
`1/n` (0.449 for n = 3, 0.138 for n = 10):

    mean +- t(k - 1, 0.975) s sqrt(v + 1/k).

A median is not quite normal, but its excess kurtosis is small, 0.04 for n = 3. Of two runs it is
the mean. The level of 10 % is on the side of caution: normal values rejected by chance cost
replications, a skewed sample accepted costs false alarms.

**Empirical**, where it is rejected. For a single run, and for the highest, lowest or median of n,
order statistics: if k + n values are exchangeable, all arrangements of n future ones among the k
ordered ones are equally likely. So i of the n lie below the j-th smallest of k with probability
`C(j - 1 + i, i) C(k - j + n - i, n - i) / C(k + n, n)`, whatever the distribution; the h-th of n in
ascending order lies below it if at least h do. The highest is h = n. The median of an odd number is
h = (n + 1) / 2; of an even number it lies between the two in the middle, and the ends are such that
the lower one of these is not below, and the higher one not above: 95 % at least. The mean of n has
no such exact answer.
Its distribution is taken from Polya's urn, which draws by that same exchangeability: each future
value is one of the k, or of the future ones before it, each as likely. Its variance,
`s^2 (k - 1)(k + n) / (n k (k + 1))`, is brought to the `s^2 (1/n + 1/k)` above, and its width by
Student's factor; the tails keep their shape. Draws are of a fixed seed: the same replications give
the same interval.

**Constant**: k equal values. The interval is that point.

**When k is enough.** From few replications any interval is wide, and a published value inside says
nothing that more would not say better. `needed` replications are enough:

- The normal interval is then at most 1.25 times as wide as with endless replications. For a highest
  or lowest there are 39 besides: a few values do not show whether tails are normal.
- The empirical quantiles exist. The urn takes as many as the order statistics of a single run: 39;
  a median of three or more takes fewer, and no fewer than it takes if normal.
- k equal values are no accident: if a run differs with probability 1 - q, that k runs agree and n
  more do not has probability `q^k (1 - q^n)`, which is then at most 5 % whatever q.

With fewer, a value is known to be outside only far away: outside the normal interval at 99.9 %, as
in the interim looks of Haybittle and Peto; where the replications do not look normal, ten times
their range away from them all. Looking early then adds about one percentage point to the 5 %.

How often a value of the same distribution as the replications is nevertheless put outside, by
simulation of all of this from three replications on: 5 to 6 % if normal, up to 10 % if skewed,
bimodal or mostly zero. Tails as heavy as Pareto's with an exponent of 2.5 make it 14 % for means of
ten, 2 % for their medians.

Sources:

- G. J. Hahn and W. Q. Meeker, *Statistical Intervals*, 1991, sections 4.7 and 4.8 (normal, mean of
  m future values, all of m), 5.4 and 5.5 (order statistics).
- H. A. David and H. N. Nagaraja, *Order Statistics*, 3rd ed. 2003, sections 2.2 (joint density of
  two order statistics, of which that of a median of an even number follows) and 7.3 (prediction).
- A. M. Law, *Simulation Modeling and Analysis*, 5th ed. 2015, section 9.4 (replications).
- S. S. Shapiro and M. B. Wilk, "An analysis of variance test for normality", Biometrika 52 (1965)
  591-611.
- D. Blackwell and J. B. MacQueen, "Ferguson distributions via Polya urn schemes", Annals of
  Statistics 1 (1973) 353-355.
- J. L. Haybittle, "Repeated assessment of results in clinical trials of cancer treatment", British
  Journal of Radiology 44 (1971) 793-797.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

from forebay.study.grades import Statistic, Truth

__all__ = ["Prediction", "predict", "replications_for_prediction"]

LEVEL = 0.95
EARLY = 0.999
"""The level at which a value counts as outside before the replications are enough."""
WIDENING = 1.25
"""Maximum width of an interval that decides, over that with endless replications."""
ADEQUATE = 0.10
"""A normal model is dropped where the test of Shapiro and Wilk gives less than this."""

FAR = 10.0
"""Distance of a value from all replications, in ranges of these, at which it counts as outside
before they are enough, where they do not look normal."""

URN_DRAWS = 19_999
"""One less than a round number: the 500th of them in order is then the quantile at 2.5 %."""
SEED = 20_250_501
SAME = 1e-12
"""Values whose range is this share of the largest are the same but for rounding."""
SLACK = 1e-12
"""Allowance for floating point in a probability that is compared with another."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The 95 % prediction interval of one published value, in the unit of the replications.

    `low` and `high` are its ends. `needed` is how many replications are enough to decide by it,
    judged by those there are, `replications`. `early_low` and `early_high` are the ends outside
    of which a value counts as outside with fewer.
    """

    low: float
    high: float
    early_low: float
    early_high: float
    replications: int
    needed: int

    @property
    def enough(self) -> bool:
        """True if the interval decides, both ways."""
        return self.replications >= self.needed

    def expects(self, published: float) -> Truth:
        """True if a published value is to be expected; unknown where more replications decide."""
        if self.enough:
            return Truth.TRUE if self.low <= published <= self.high else Truth.FALSE
        inside = self.early_low <= published <= self.early_high
        return Truth.UNKNOWN if inside else Truth.FALSE

    def scaled(self, factor: float) -> Prediction:
        """The same in another unit; `factor` is positive (new unit = old * factor)."""
        return self._moved(lambda end: end * factor, lambda end: end * factor)

    def widened(self, rounding: float) -> Prediction:
        """For a value printed, or read, with this rounding: what is compared is then as rounded."""
        return self._moved(lambda end: end - rounding, lambda end: end + rounding)

    def _moved(self, low: Callable[[float], float], high: Callable[[float], float]) -> Prediction:
        return replace(
            self,
            low=low(self.low),
            high=high(self.high),
            early_low=low(self.early_low),
            early_high=high(self.early_high),
        )


def predict(
    values: Sequence[float], runs: int, statistic: Statistic = Statistic.MEAN
) -> Prediction:
    """Prediction interval of the statistic of `runs` more runs, from independent replications.

    Of one replication nothing is known: the interval is without end. Raises `ValueError` for no
    values, one that is not finite, or less than one run.
    """
    if not values or not all(map(math.isfinite, values)):
        raise ValueError("replications must be finite numbers, one at least")
    if runs < 1:
        raise ValueError(f"{runs} runs; a published value is from at least 1")
    statistic = _same(statistic, runs)
    if statistic is Statistic.LOWEST:
        # The lowest of values is the highest of their negatives, negated.
        mirror = _predict(tuple(-value for value in values), runs, Statistic.HIGHEST)
        return replace(
            mirror,
            low=-mirror.high,
            high=-mirror.low,
            early_low=-mirror.early_high,
            early_high=-mirror.early_low,
        )
    return _predict(tuple(values), runs, statistic)


@lru_cache(maxsize=256)
def replications_for_prediction(
    runs: int, statistic: Statistic = Statistic.MEAN, *, normal: bool = True
) -> int:
    """Number of replications that are enough to judge a value published from `runs` runs.

    `normal` says whether the replications look normal: a single run needs 9 of them, means of 3
    and 10 runs need 13 and 25; else 39. The highest or lowest of 3 runs needs 39, else 58. The
    median of 10 runs needs 20 either way.
    """
    statistic = _same(statistic, runs)
    if statistic is Statistic.LOWEST:
        statistic = Statistic.HIGHEST
    enough = _first(lambda k: _widening(runs, k, statistic) <= WIDENING)
    shown = _first(lambda k: _ranks(1, k, Statistic.HIGHEST) is not None)
    if statistic is Statistic.MEAN:
        return enough if normal else max(enough, shown)
    ranked = 1 if normal else _first(lambda k: _ranks(runs, k, statistic) is not None)
    if statistic is Statistic.MEDIAN:
        return max(enough, ranked)
    if normal:
        return max(enough, shown) if runs > 1 else enough
    return ranked


def _same(statistic: Statistic, runs: int) -> Statistic:
    """Of a single run all statistics are the same, and are judged as its highest; the median of two
    is their mean."""
    if runs == 1:
        return Statistic.HIGHEST
    return Statistic.MEAN if statistic is Statistic.MEDIAN and runs == 2 else statistic


@lru_cache(maxsize=4096)
def _predict(values: tuple[float, ...], runs: int, statistic: Statistic) -> Prediction:
    """Of any statistic but the lowest."""
    k = len(values)
    ordered = sorted(values)
    if k == 1:
        needed = replications_for_prediction(runs, statistic)
        return Prediction(-math.inf, math.inf, -math.inf, math.inf, 1, needed)
    mean = math.fsum(values) / k
    if ordered[-1] - ordered[0] <= SAME * max(map(abs, ordered)):
        return Prediction(mean, mean, -math.inf, math.inf, k, _constant_needed(runs))
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (k - 1))
    normal = _looks_normal(ordered)
    needed = replications_for_prediction(runs, statistic, normal=normal)
    beyond = FAR * (ordered[-1] - ordered[0])
    early = [ordered[0] - beyond, ordered[-1] + beyond]
    if normal:
        early = [mean + spread * factor for factor in _factors(runs, k, statistic, EARLY)]
    low, high = (mean + spread * factor for factor in _factors(runs, k, statistic, LEVEL))
    if not normal and k >= needed:
        urn = statistic is Statistic.MEAN
        low, high = _by_urn(ordered, runs, mean) if urn else _by_ranks(ordered, runs, statistic)
    return Prediction(low, high, early[0], early[1], k, needed)


def _looks_normal(ordered: Sequence[float]) -> bool:
    if len(ordered) < 3:
        return True
    # Imported where needed: scipy.stats costs the better part of a second.
    from scipy.stats import shapiro

    return float(shapiro(ordered).pvalue) >= ADEQUATE


def _factors(runs: int, k: int, statistic: Statistic, level: float) -> tuple[float, float]:
    """The ends of a normal interval, in standard deviations of a run from the mean of k."""
    from scipy.special import stdtrit

    low, high = _shares(runs, statistic, level)
    wide = math.sqrt(1 / k + _variance(runs, statistic))
    return float(stdtrit(k - 1, low)) * wide, float(stdtrit(k - 1, high)) * wide


def _shares(runs: int, statistic: Statistic, level: float) -> tuple[float, float]:
    """The quantiles of a single pivot that the ends are at."""
    power = 1 / runs if statistic is Statistic.HIGHEST else 1
    return ((1 - level) / 2) ** power, ((1 + level) / 2) ** power


def _variance(runs: int, statistic: Statistic) -> float:
    """Variance of what a pivot is of, in those of a run: a single one of which the highest is."""
    if statistic is Statistic.MEAN:
        return 1 / runs
    return median_variance(runs) if statistic is Statistic.MEDIAN else 1.0


@lru_cache(maxsize=256)
def median_variance(runs: int) -> float:
    """Variance of the median of independent standard normal values.

    The mean of its square over its density: that of one order statistic, or, of an even number, of
    the mean m of two at m - d and m + d, over both.
    """
    import numpy as np
    from scipy.special import ndtr

    # Densities that are smooth and vanish at the ends: the trapezoidal rule is exact but for 1e-12.
    middle = np.linspace(-9.0, 9.0, 721)
    half = (runs - 1) // 2
    if runs % 2:
        density = np.exp(-(middle**2) / 2) * (ndtr(middle) * ndtr(-middle)) ** half
    else:
        nodes, weights = np.polynomial.legendre.leggauss(80)
        apart = 4.5 * (nodes[:, None] + 1)
        tails = (ndtr(middle - apart) * ndtr(-middle - apart)) ** half
        density = weights @ (np.exp(-(middle**2) - apart**2) * tails)
    return float((middle**2 * density).sum() / density.sum())


def _widening(runs: int, k: int, statistic: Statistic) -> float:
    """Width of the normal interval of k replications over that of endless ones."""
    if k < 2:
        return math.inf
    low, high = _factors(runs, k, statistic, LEVEL)
    least, most = map(NormalDist().inv_cdf, _shares(runs, statistic, LEVEL))
    return (high - low) / ((most - least) * math.sqrt(_variance(runs, statistic)))


def _ranks(runs: int, k: int, statistic: Statistic) -> tuple[int, int] | None:
    """Ranks, from 1 in ascending order, of the two of k values that hold the highest, or the
    median, of n more with 95 %.

    Tails of 2.5 % where there are any, else the largest value, and below what is left of the 5 %;
    `None` where no two of the values will do.
    """
    lower, upper = runs, runs
    if statistic is Statistic.MEDIAN:
        lower, upper = (runs + 1) // 2, runs // 2 + 1

    def below(rank: int, at_least: int) -> float:
        ways = (
            math.comb(rank - 1 + i, i) * math.comb(k - rank + runs - i, runs - i)
            for i in range(at_least, runs + 1)
        )
        return sum(ways) / math.comb(k + runs, runs)

    tail = (1 - LEVEL) / 2
    top = next((j for j in range(1, k) if 1 - below(j, upper) <= tail + SLACK), k)
    left = min(tail, 1 - LEVEL - (1 - below(top, upper)))
    bottom = sum(below(j, lower) <= left + SLACK for j in range(1, k + 1))
    return (bottom, top) if 1 <= bottom < top else None


def _by_ranks(ordered: Sequence[float], runs: int, statistic: Statistic) -> tuple[float, float]:
    ranks = _ranks(runs, len(ordered), statistic)
    if ranks is None:
        raise ValueError(f"{len(ordered)} replications have no quantiles for {runs} runs")
    return ordered[ranks[0] - 1], ordered[ranks[1] - 1]


def _by_urn(values: Sequence[float], runs: int, mean: float) -> tuple[float, float]:
    """The mean of n draws from Polya's urn, at 2.5 and 97.5 %."""
    import numpy as np
    from scipy.special import stdtrit

    k = len(values)
    # The legacy generator is the one whose numbers no version of numpy changes.
    draw = np.random.RandomState(SEED).randint
    drawn = np.empty((runs, URN_DRAWS), dtype=np.int64)
    for run in range(runs):
        ball = draw(0, k + run, size=URN_DRAWS)
        again = np.flatnonzero(ball >= k)
        ball[again] = drawn[ball[again] - k, again]
        drawn[run] = ball
    means = np.sort(np.asarray(values)[drawn].mean(axis=0))
    tail = round((1 - LEVEL) / 2 * (URN_DRAWS + 1))
    # Not below 1, so that the variance is that of the normal interval and the width no less.
    student = float(stdtrit(k - 1, (1 + LEVEL) / 2)) / NormalDist().inv_cdf((1 + LEVEL) / 2)
    stretch = student * math.sqrt((k + 1) / (k - 1))
    low, high = (float(means[at]) - mean for at in (tail - 1, URN_DRAWS - tail))
    return mean + stretch * low, mean + stretch * high


def _constant_needed(runs: int) -> int:
    """Number of equal values that are no accident: max over q of q^k (1 - q^n), at
    q^n = k / (k + n)."""
    return _first(lambda k: (k / (k + runs)) ** (k / runs) * runs / (k + runs) <= 1 - LEVEL + SLACK)


def _first(holds: Callable[[int], bool]) -> int:
    """The least number from 1 that something holds for, which then holds for all above."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
