"""Output analysis: intervals, paired comparison, warm-up, batch means, and when to stop.

Every interval here is a Student t interval, or one that contains it. The normal quantile is never
used: with five replications it turns a nominal 95 % into a true 87.8 %, the probability that a t
variable with four degrees of freedom lies within +-1.96.

The unit of evidence is the independent replication. `summarize` makes Student's interval of them,
which is right for values that are about normal; `replication_interval` widens it where they look
skewed. One long run can stand in for many through `batch_means`, which merges batches until they
look uncorrelated and says so when they never do. `mser5` removes start-up bias from a series; it
does not repair correlation.

Sources:

- A. M. Law, *Simulation Modeling and Analysis*, 5th ed. 2015, ch. 9 (replications, sequential
  procedures) and ch. 10 (common random numbers, paired t).
- G. S. Fishman, "Grouping observations in digital simulation", Management Science 24 (1978)
  510-521 (batch means and the von Neumann ratio).
- K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation heuristics
  for simulation", Proc. Winter Simulation Conference 2000, 755-760 (MSER-5).
- R. Willink, "A confidence interval and test for the mean of an asymmetric distribution",
  Communications in Statistics - Theory and Methods 34 (2005) 753-766; used by A. Tafazzoli and
  J. R. Wilson, "Skart: a skewness- and autoregression-adjusted batch-means procedure for
  simulation analysis", IIE Transactions 43 (2011) 110-128.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Literal, TypeAlias

__all__ = [
    "BatchMeans",
    "Interval",
    "Progress",
    "StoppingRule",
    "Warmup",
    "batch_means",
    "finite",
    "mser5",
    "paired_difference",
    "paired_probability",
    "replication_interval",
    "summarize",
    "t_quantile",
]

DEFAULT_LEVEL = 0.95

Note: TypeAlias = Literal["", "equal", "at bound", "skewed", "too few"]
"""Note on the values behind an interval that a reader must know; see `Interval`."""

TOO_FEW_FACTOR = 5.0
"""Factor of squared sample skewness: up to so many replications are too few."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval, in whatever unit the values had.

    `n` is the number of independent values behind it. With one value nothing is known about its
    spread: `half_width` is infinite, `low` is -inf and `high` is +inf.

    `half_width` is the distance from the mean to the farther end: Student's interval has the mean
    in its middle; one widened for skewness, or cut at a bound, has not. `note` says what a reader
    must know of the values (`replication_interval` finds it, `summarize` does not look):

    - `""`: nothing.
    - `"equal"`: all are the same to the last bit. No randomness reaches the quantity, so that
      `low`, `mean` and `high` are that value, which is no estimate.
    - `"at bound"`: the interval ends at a bound that the quantity cannot pass, 0 of a delay.
    - `"skewed"`: the interval was widened for skewness.
    - `"too few"`: it was, and there are too few values for so much skewness: the interval covers
      less often than its level says.
    """

    mean: float
    low: float
    high: float
    half_width: float
    n: int
    note: Note = ""

    @classmethod
    def known(cls, value: float) -> Interval:
        """A value known without error, such as one printed in a paper: an interval of no width."""
        return cls(mean=value, low=value, high=value, half_width=0.0, n=1)

    def scaled(self, factor: float) -> Interval:
        """The same interval in another unit; `factor` is positive (new unit = old * factor)."""
        if not (math.isfinite(factor) and factor > 0.0):
            raise ValueError(f"factor is {factor}; a unit conversion is a positive finite number")
        return Interval(
            mean=self.mean * factor,
            low=self.low * factor,
            high=self.high * factor,
            half_width=self.half_width * factor,
            n=self.n,
            note=self.note,
        )


def summarize(values: Sequence[float], level: float = DEFAULT_LEVEL) -> Interval:
    """Mean and Student t interval of independent replications.

    `mean +- t(n-1, (1+level)/2) * s / sqrt(n)` with the unbiased sample variance (Law, eq. 4.12).
    Sums are exact (`math.fsum`), so the result does not depend on the order of the replications.

    Raises `ValueError` for no values, a value that is not finite, or a level outside (0, 1).
    """
    _check_level(level)
    _check_finite(values, "values")
    n = len(values)
    if n == 0:
        raise ValueError("no values; at least one replication is needed")
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(mean=mean, low=-math.inf, high=math.inf, half_width=math.inf, n=1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    half_width = t_quantile(n - 1, level) * math.sqrt(variance / n)
    return Interval(mean, mean - half_width, mean + half_width, half_width, n)


def replication_interval(
    values: Sequence[float], level: float = DEFAULT_LEVEL, least: float = -math.inf
) -> Interval:
    """The interval of independent replications, widened where they look skewed.

    It claims to cover the expectation of what one replication gives: of a mean over the measured
    time of a run that started as this one did, not of a run without end.

    Student's t, as `summarize` has it, unless the sample skewness G is larger than its standard
    error for normal values. Then the interval is the smallest that contains both Student's and the
    skewness-adjusted one of Willink (2005), which the methods Skart and N-Skart use as well: `mean
    - g(t) s / sqrt(n)` to `mean - g(-t) s / sqrt(n)`, where `g(x) = (cbrt(1 + 6 b (x - b)) - 1) /
    (2 b)` and `b = G / (6 sqrt(n))`. What it covers of queues with bursty arrivals stands in the
    guide on statistics. It is never narrower than Student's.

    The note `"too few"` stands where n is at most 5 G^2. That rule is ours: it picks out half of
    the intervals of 5 and 10 replications where those measured cover less than 93 %, and hardly
    any of 10 or more normal values. It cannot pick out all: few values seldom show their skewness.

    `least` is what the quantity cannot be below: 0 of delays, rates and counts. An interval that
    would reach past it ends there. The mean is not below it either, so that the interval holds the
    mean just as often.

    Raises `ValueError` as `summarize` does.
    """
    found = _unbounded(values, level)
    # One value has an interval without ends; values below it contradict the bound.
    if found.low >= least or found.n == 1 or min(values) < least:
        return found
    half_width = max(found.mean - least, found.high - found.mean)
    return replace(found, low=least, half_width=half_width, note=found.note or "at bound")


def _unbounded(values: Sequence[float], level: float) -> Interval:
    """Student's interval of replications, widened where they look skewed."""
    student = summarize(values, level)
    n = student.n
    if n > 1 and min(values) == max(values):
        value = float(values[0])
        return Interval(value, value, value, 0.0, n, "equal")
    deviation = math.sqrt(
        math.fsum((value - student.mean) ** 2 for value in values) / max(n - 1, 1)
    )
    if n < 3 or deviation == 0.0:
        return student
    cubes = math.fsum(((value - student.mean) / deviation) ** 3 for value in values)
    skewness = n / ((n - 1) * (n - 2)) * cubes
    if abs(skewness) <= _skewness_error(n):
        return student
    t, error = t_quantile(n - 1, level), deviation / math.sqrt(n)
    low = min(student.low, student.mean - _willink(t, skewness, n) * error)
    high = max(student.high, student.mean - _willink(-t, skewness, n) * error)
    half_width = max(student.mean - low, high - student.mean)
    note: Note = "too few" if n <= TOO_FEW_FACTOR * skewness**2 else "skewed"
    return Interval(student.mean, low, high, half_width, n, note)


def finite(value: float | None) -> float | None:
    """An end of an interval as JSON has it, which knows no infinity: `None` stands for it."""
    return value if value is not None and math.isfinite(value) else None


def paired_difference(
    first: Sequence[float], second: Sequence[float], level: float = DEFAULT_LEVEL
) -> Interval:
    """Interval of `first - second` under common random numbers: the paired t (Law, sec. 10.2.1).

    Entry i of both sequences is replication i, run with the same random streams under the two
    variants. The positive correlation this induces is what makes the interval narrow; the two
    sequences need not be independent of each other, only the replications among themselves.

    Raises `ValueError` if the lengths differ, for then the entries are not pairs.
    """
    if len(first) != len(second):
        raise ValueError(
            f"{len(first)} values against {len(second)}; a paired comparison needs the same "
            "replications on both sides"
        )
    _check_finite(first, "first")
    _check_finite(second, "second")
    return summarize([a - b for a, b in zip(first, second, strict=True)], level)


def paired_probability(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p-value of the paired t test that the mean of `first - second` is 0.

    Differences that are all alike leave nothing to chance: 1 where they are 0, and 0 elsewhere.
    Raises `ValueError` as `paired_difference` does, and for fewer than two pairs.
    """
    found = paired_difference(first, second)
    if found.n < 2:
        raise ValueError(f"{found.n} pairs; at least 2 are needed")
    error = found.half_width / t_quantile(found.n - 1)
    if error == 0.0:
        return 1.0 if found.mean == 0.0 else 0.0
    return max(0.0, 1.0 - _t_level(found.n - 1, abs(found.mean) / error))


@lru_cache(maxsize=1024)
def t_quantile(degrees_of_freedom: int, level: float = DEFAULT_LEVEL) -> float:
    """The two-sided Student t critical value: P(|T| <= result) = level.

    Four degrees of freedom at 0.95 give 2.776 where the normal distribution would give 1.960.
    """
    _check_level(level)
    if degrees_of_freedom < 1:
        raise ValueError(f"{degrees_of_freedom} degrees of freedom; at least 1 is needed")
    # SciPy has it; but that is 140 MB, of which a plain installation would need nothing else.
    # Newton's method: P(|T| <= t) is concave in t, so that from the normal quantile, which is
    # below, every step goes up and none too far.
    n = degrees_of_freedom
    scale = math.lgamma((n + 1) / 2) - math.lgamma(n / 2) - math.log(n * math.pi) / 2
    t = NormalDist().inv_cdf((1.0 + level) / 2.0)
    while True:
        density = 2.0 * math.exp(scale - (n + 1) / 2 * math.log1p(t * t / n))
        step = (level - _t_level(n, t)) / density
        if step <= 1e-15 * t:
            return t
        t += step


def _t_level(degrees_of_freedom: int, t: float) -> float:
    """P(|T| <= t): a finite sum (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan2(t, math.sqrt(degrees_of_freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees_of_freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(2 + odd, degrees_of_freedom + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    return (angle + sine * total) * 2.0 / math.pi if odd else sine * total


@dataclass(frozen=True, slots=True)
class Warmup:
    """End of the initial transient of a series.

    `observations` leading entries are to be discarded. `converged` is false when the best cut is
    the last one searched, half of the run: then the transient may be longer than the run can
    show, and the remainder must not be used as a steady state.
    """

    observations: int
    converged: bool


MSER_BATCH = 5
MSER_MINIMUM = 10 * MSER_BATCH


def mser5(series: Sequence[float]) -> Warmup:
    """MSER-5 warm-up detection (White, Cobb and Spratt 2000).

    Averages batches of five, then picks the cut d in the first half of the k batch means that
    minimises `sum over j > d of (Z_j - mean_d)^2 / (k - d)^2`, the squared standard error the
    remaining mean would have if its terms were independent. The first of several minima counts.

    Needs at least 50 observations; raises `ValueError` for fewer or for one that is not finite.
    """
    _check_finite(series, "series")
    if len(series) < MSER_MINIMUM:
        raise ValueError(f"{len(series)} observations; MSER-5 needs at least {MSER_MINIMUM}")
    means = _group_means(series, MSER_BATCH)
    count = len(means)
    last_cut = count // 2
    best_cut, best_error = last_cut, math.inf
    # Welford's update from the far end: each step adds one batch to the kept part, so all cuts
    # cost one pass and no difference of large sums is ever taken.
    mean, squares = 0.0, 0.0
    for kept, cut in enumerate(range(count - 1, -1, -1), start=1):
        step = means[cut] - mean
        mean += step / kept
        squares += step * (means[cut] - mean)
        error = squares / (kept * kept)
        if cut <= last_cut and error <= best_error:
            best_cut, best_error = cut, error
    return Warmup(observations=best_cut * MSER_BATCH, converged=best_cut < last_cut)


@dataclass(frozen=True, slots=True)
class BatchMeans:
    """The interval of one long run, and whether its batches may be called independent.

    `batches` batches of `batch_size` observations each; `discarded` observations at the front did
    not fill a batch. `lag1` is Fishman's estimate of the lag-1 autocorrelation of these batch
    means. `independent` is whether the test passed at this size or at half of it; when it is
    false the interval is too narrow, and only a longer run helps.
    """

    interval: Interval
    batches: int
    batch_size: int
    discarded: int
    lag1: float
    independent: bool


MIN_BATCHES = 8


def batch_means(
    series: Sequence[float],
    level: float = DEFAULT_LEVEL,
    batches: int = 128,
    significance: float = 0.2,
) -> BatchMeans:
    """Student t interval from the batch means of one run, merging batches while correlated.

    Starts with `batches` batches (fewer when the series is shorter) and tests their means for
    lag-1 autocorrelation with the von Neumann ratio (Fishman 1978): under independence
    `C = 1 - sum (Z_i - Z_i+1)^2 / (2 sum (Z_i - mean)^2)` is close to normal with mean 0 and
    variance (b - 2)/(b^2 - 1). While C is positive at the given one-sided significance,
    neighbouring batches are merged in pairs. The batches that first pass are merged once more
    where at least 8 remain, because a correlation too small for the test to see still narrows
    the interval. Below 16 batches nothing can be merged (the normal approximation wants 8), and
    a failed test is reported, not hidden.

    The start-up transient is not removed here: cut the series at `mser5(series).observations`.
    Raises `ValueError` for fewer than 8 batches or a series shorter than that.
    """
    _check_level(level)
    _check_finite(series, "series")
    if not 0.0 < significance < 1.0:
        raise ValueError(f"significance is {significance}; it lies between 0 and 1, exclusive")
    if batches < MIN_BATCHES:
        raise ValueError(f"{batches} batches; at least {MIN_BATCHES} are needed")
    if len(series) < MIN_BATCHES:
        raise ValueError(f"{len(series)} observations; at least {MIN_BATCHES} are needed")
    while batches > len(series) and batches // 2 >= MIN_BATCHES:
        batches //= 2
    batches = min(batches, len(series))
    size = len(series) // batches
    discarded = len(series) - size * batches
    means = _group_means(series[discarded:], size)
    critical = NormalDist().inv_cdf(1.0 - significance)
    lag1, independent = _von_neumann(means, critical)
    while not independent and len(means) // 2 >= MIN_BATCHES:
        means, size, discarded = _merge_pairs(means, size, discarded)
        lag1, independent = _von_neumann(means, critical)
    if independent and len(means) // 2 >= MIN_BATCHES:
        means, size, discarded = _merge_pairs(means, size, discarded)
        lag1, _ = _von_neumann(means, critical)
    return BatchMeans(summarize(means, level), len(means), size, discarded, lag1, independent)


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a stopping rule after the replications so far.

    `precise`: the target is met. `capped`: the cap was reached without meeting it; a report must
    then show the half-width obtained, never the one asked for. `done` is either. `suggested_n` is
    the total number of replications worth having next, never above the cap.
    """

    interval: Interval
    precise: bool
    capped: bool
    suggested_n: int

    @property
    def done(self) -> bool:
        """True if it is time to stop, for either reason."""
        return self.precise or self.capped


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Replicate until the half-width is small enough (Law, sec. 9.4.1, sequential procedure).

    The interval is that of `replication_interval`, and its half-width reaches to the farther end.

    - `relative`: half-width as a share of the unknown true mean. The observed half-width is
      compared with `relative / (1 + relative) * |observed mean|`, Law's correction, which is what
      bounds the error relative to the true mean.
    - `absolute`: half-width in the values' own unit. With both given, either one suffices, so a
      mean at or near zero does not ask for endless replications.
    - `min_n`: no decision before this many (default 10). The rule looks at the spread again and
      again and would otherwise stop when the first few values agree by luck.
    - `max_n`: the cap (default 200).
    - `level`: confidence level (default 0.95).
    """

    relative: float | None = None
    absolute: float | None = None
    min_n: int = 10
    max_n: int = 200
    level: float = DEFAULT_LEVEL

    def __post_init__(self) -> None:
        if self.relative is None and self.absolute is None:
            raise ValueError("neither relative nor absolute is given; state at least one target")
        for name, target in (("relative", self.relative), ("absolute", self.absolute)):
            if target is not None and not (math.isfinite(target) and target > 0.0):
                raise ValueError(f"{name} is {target}; a target is a positive finite number")
        if self.min_n < 2:
            raise ValueError(f"min_n is {self.min_n}; one replication has no spread, at least 2")
        if self.max_n < self.min_n:
            raise ValueError(f"max_n is {self.max_n}, below min_n {self.min_n}")
        _check_level(self.level)

    def target(self, mean: float) -> float:
        """The half-width asked for when the observed mean is `mean`, in the values' unit."""
        relative = 0.0
        if self.relative is not None:
            relative = self.relative / (1.0 + self.relative) * abs(mean)
        return max(relative, self.absolute or 0.0)

    def assess(self, values: Sequence[float]) -> Progress:
        """Judge the replications so far; `ValueError` if there are none or one is not finite."""
        interval = replication_interval(values, self.level)
        target = self.target(interval.mean)
        precise = interval.n >= self.min_n and interval.half_width <= target
        capped = not precise and interval.n >= self.max_n
        return Progress(interval, precise, capped, self._suggest(interval, target, precise))

    def _suggest(self, interval: Interval, target: float, precise: bool) -> int:
        n = interval.n
        if precise or n >= self.max_n:
            return n
        if n < self.min_n:
            return self.min_n
        if target == 0.0:
            return self.max_n
        # The half-width shrinks as 1/sqrt(n). At most double, because the spread itself is only
        # an estimate and overshooting costs runs that are not needed.
        needed = math.ceil(n * min((interval.half_width / target) ** 2, 2.0))
        return min(max(needed, n + 1), self.max_n)


def _skewness_error(n: int) -> float:
    """Standard error of the sample skewness G1 of `n` normal values (Fisher 1930; exact)."""
    return math.sqrt(6.0 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))


def _willink(t: float, skewness: float, n: int) -> float:
    """The quantile of the t statistic of `n` skewed values in place of Student's `t`."""
    b = skewness / (6.0 * math.sqrt(n))
    return (math.cbrt(1.0 + 6.0 * b * (t - b)) - 1.0) / (2.0 * b)


def _group_means(series: Sequence[float], size: int) -> list[float]:
    """Means of consecutive groups of `size`; an incomplete last group is left out."""
    count = len(series) // size
    return [math.fsum(series[i * size : (i + 1) * size]) / size for i in range(count)]


def _merge_pairs(means: Sequence[float], size: int, discarded: int) -> tuple[list[float], int, int]:
    """Batches of twice the size; the oldest batch is dropped when their number is odd."""
    odd = len(means) % 2
    return _group_means(means[odd:], 2), 2 * size, discarded + odd * size


def _von_neumann(means: Sequence[float], critical: float) -> tuple[float, bool]:
    """Fishman's lag-1 estimate C of batch means, and whether it is compatible with independence."""
    count = len(means)
    centre = math.fsum(means) / count
    squares = math.fsum((mean - centre) ** 2 for mean in means)
    if squares == 0.0:
        return 0.0, True
    steps = math.fsum((b - a) ** 2 for a, b in pairwise(means))
    lag1 = 1.0 - steps / (2.0 * squares)
    return lag1, lag1 <= critical * math.sqrt((count - 2) / (count * count - 1))


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; a confidence level lies between 0 and 1, exclusive")


def _check_finite(values: Sequence[float], name: str) -> None:
    for index, value in enumerate(values):
        if not math.isfinite(value):
            raise ValueError(f"{name}[{index}] is {value}; every value must be a finite number")
