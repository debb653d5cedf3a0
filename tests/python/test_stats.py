"""Output analysis against tables, closed forms and the coverage it promises."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from forebay.stats import (
    Interval,
    StoppingRule,
    batch_means,
    mser5,
    paired_difference,
    summarize,
    t_quantile,
)

# Two-sided 95 % and 99 % points of Student's t, as in any printed table.
T_TABLE = [
    (1, 0.95, 12.706),
    (2, 0.95, 4.303),
    (4, 0.95, 2.776),
    (9, 0.95, 2.262),
    (30, 0.95, 2.042),
    (120, 0.95, 1.980),
    (4, 0.99, 4.604),
    (9, 0.90, 1.833),
]

# With 99.9 % probability a binomial count of m trials lies within 3.29 standard deviations.
BAND = 3.29


@pytest.mark.parametrize(("degrees", "level", "expected"), T_TABLE)
def test_t_quantile_is_the_printed_table(degrees: int, level: float, expected: float) -> None:
    """Quantiles of t are those of the printed table."""
    assert t_quantile(degrees, level) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.9999])
def test_t_quantile_is_that_of_another_program(level: float) -> None:
    """Quantiles of t are those of another program, between the rows of the table, too. Both are
    exact to the 11 digits that are compared, however many degrees of freedom there are."""
    for degrees in [*range(1, 130), 999, 10_000]:
        expected = special.stdtrit(degrees, (1 + level) / 2)
        assert t_quantile(degrees, level) == pytest.approx(expected, rel=1e-11), degrees


def test_interval_of_five_values_by_hand() -> None:
    """The interval of five values is the one computed by hand.

    1, 2, 3, 4, 5: mean 3, s^2 = 10/4 = 2.5, half-width 2.776 * sqrt(2.5/5) = 1.963.
    """
    interval = summarize([1.0, 2.0, 3.0, 4.0, 5.0])
    assert interval.mean == 3.0
    assert interval.half_width == pytest.approx(2.776 * math.sqrt(0.5), rel=2e-4)
    assert interval.low == interval.mean - interval.half_width
    assert interval.high == interval.mean + interval.half_width
    assert interval.n == 5


def test_one_replication_knows_nothing_of_its_spread() -> None:
    """One replication knows nothing of its spread: its interval is infinite."""
    interval = summarize([7.0])
    assert (interval.mean, interval.half_width) == (7.0, math.inf)
    assert (interval.low, interval.high) == (-math.inf, math.inf)


def test_order_of_replications_changes_nothing() -> None:
    """The order of replications changes nothing: results do not depend on which worker finishes
    first.

    The sum 1e16 + 1 - 1e16 is 0 or 1 in naive floating point, by order; exactly it is 1.
    """
    values = [1e16, 1.0, -1e16, 3.0]
    assert summarize(values) == summarize(values[::-1]) == summarize(sorted(values))
    assert summarize(values).mean == 1.0


def test_scaling_is_a_change_of_unit() -> None:
    """Scaling is a change of unit, of mean and interval alike."""
    scaled = Interval(mean=2e6, low=1e6, high=3e6, half_width=1e6, n=5).scaled(1e-6)
    assert scaled == Interval(mean=2.0, low=1.0, high=3.0, half_width=1.0, n=5)
    with pytest.raises(ValueError, match="positive"):
        scaled.scaled(-1.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [([], "no values"), ([1.0, math.nan], r"values\[1\] is nan"), ([math.inf], "finite")],
)
def test_unusable_values_are_refused(values: list[float], message: str) -> None:
    """Values that are not finite, and none at all, are refused: the NaN of a failed run reaches no
    table."""
    with pytest.raises(ValueError, match=message):
        summarize(values)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_level_is_a_probability(level: float) -> None:
    """A level is a probability: 95 instead of 0.95 is refused."""
    with pytest.raises(ValueError, match="level"):
        summarize([1.0, 2.0], level)


def ar1(rng: np.random.Generator, runs: int, length: int, phi: float) -> NDArray[np.float64]:
    """Stationary first-order autoregression with mean 0, one run a row."""
    noise = rng.standard_normal((runs, length))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / math.sqrt(1.0 - phi * phi)
    for i in range(1, length):
        series[:, i] = phi * series[:, i - 1] + noise[:, i]
    return series


def mm1_waits(rng: np.random.Generator, runs: int, length: int, load: float) -> NDArray[np.float64]:
    """Waiting times in M/M/1 with service rate 1, started in equilibrium, one run a row.

    In equilibrium the wait is 0 with probability 1 - load and else exponential with rate
    1 - load, of mean load / (1 - load) over all; Lindley's recursion does the rest.
    """
    waits = np.empty((runs, length))
    wait = np.where(rng.random(runs) < load, rng.exponential(1 / (1 - load), runs), 0.0)
    for i in range(length):
        waits[:, i] = wait
        wait = np.maximum(0.0, wait + rng.exponential(1, runs) - rng.exponential(1 / load, runs))
    return waits


def in_band(covered: int, trials: int) -> bool:
    """Returns True if a count is compatible with a coverage of 95 %."""
    deviation = math.sqrt(trials * 0.95 * 0.05)
    return abs(covered - 0.95 * trials) <= BAND * deviation


def z_interval(values: list[float]) -> Interval:
    """The wrong model: the normal quantile with an estimated deviation."""
    half_width = 1.959964 * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    mean = float(np.mean(values))
    return Interval(mean, mean - half_width, mean + half_width, half_width, len(values))


def covered(
    method: Callable[[list[float]], Interval], groups: NDArray[np.float64], truth: float
) -> int:
    """Counts the rows whose interval contains the truth."""
    intervals = [method([float(value) for value in row]) for row in groups]
    return sum(interval.low <= truth <= interval.high for interval in intervals)


def test_five_replications_of_a_correlated_process_cover_as_promised() -> None:
    """Five replications of a correlated process cover the mean as promised, with 95 %.

    The mean of an AR(1) run is exactly normal however correlated the run, so t is exact.
    """
    means = ar1(np.random.default_rng(11), 10_000, 50, 0.9).mean(axis=1).reshape(2000, 5)
    assert in_band(covered(summarize, means, 0.0), 2000)


def test_the_band_rejects_the_normal_quantile() -> None:
    """The band rejects the normal quantile: coverage tests tell a right interval from the usual
    wrong one.

    P(|T_4| <= 1.96) = 0.878: of 2000 trials 1757 cover, where the band starts at 1868.
    """
    means = ar1(np.random.default_rng(11), 10_000, 50, 0.9).mean(axis=1).reshape(2000, 5)
    count = covered(z_interval, means, 0.0)
    assert not in_band(count, 2000)
    assert abs(count - 2000 * 0.8784) <= BAND * math.sqrt(2000 * 0.8784 * 0.1216)


def test_replications_of_a_queue_cover_as_promised() -> None:
    """Replications of a queue cover the mean as promised, although waits are not normal.

    M/M/1 at load 0.5: the mean wait is 0.5 / (1 - 0.5) = 1 service time.
    """
    waits = mm1_waits(np.random.default_rng(5), 5000, 2000, 0.5).mean(axis=1).reshape(1000, 5)
    assert in_band(covered(summarize, waits, 1.0), 1000)


def test_paired_difference_by_hand() -> None:
    """The interval of a paired difference is the one computed by hand: common random numbers make
    it narrow.

    The differences are 1, 1, 2, 0: mean 1, s^2 = 2/3, half-width 3.182 * sqrt(2/12) = 1.299.
    Unpaired, the spread of 0, 10, 20, 30 would drown it.
    """
    interval = paired_difference([1.0, 11.0, 22.0, 30.0], [0.0, 10.0, 20.0, 30.0])
    assert interval.mean == 1.0
    assert interval.half_width == pytest.approx(3.182 * math.sqrt(1 / 6), rel=2e-4)


def test_pairs_need_partners() -> None:
    """Pairs need partners: different numbers of replications are not subtracted."""
    with pytest.raises(ValueError, match="2 values against 1"):
        paired_difference([1.0, 2.0], [1.0])


def test_mser5_finds_a_known_transient() -> None:
    """MSER-5 finds a known transient, so that start-up bias stays out of steady-state means.

    300 observations decay from 20 above the mean with a time constant of 60: at 300 the bias is
    20 exp(-5) = 0.13 of a unit of noise. The cut must fall where the bias is between clearly
    visible (2 units: observation 138) and invisible (0.02 units: observation 414).
    """
    rng = np.random.default_rng(3)
    time = np.arange(5000)
    series = 20.0 * np.exp(-time / 60.0) + rng.standard_normal(5000)
    warmup = mser5([float(x) for x in series])
    assert warmup.converged
    assert 138 <= warmup.observations <= 414
    assert warmup.observations % 5 == 0


def test_mser5_is_the_textbook_sum() -> None:
    """The one-pass computation of MSER-5 minimises the published statistic."""
    rng = np.random.default_rng(8)
    series = rng.standard_normal(400) + np.where(np.arange(400) < 40, 5.0, 0.0)
    z = series.reshape(80, 5).mean(axis=1)
    statistic = [np.sum((z[d:] - z[d:].mean()) ** 2) / (80 - d) ** 2 for d in range(41)]
    assert mser5([float(x) for x in series]).observations == 5 * int(np.argmin(statistic))


def test_mser5_cuts_nothing_from_a_constant() -> None:
    """MSER-5 cuts nothing from a constant."""
    assert mser5([4.0] * 100).observations == 0


def test_mser5_admits_a_transient_longer_than_the_run() -> None:
    """MSER-5 reports a transient longer than the run as not converged.

    On a straight line each cut shortens what is left, and the statistic, proportional to the
    number kept, falls to the end of the search.
    """
    warmup = mser5([float(i) for i in range(1000)])
    assert not warmup.converged
    assert warmup.observations == 500


def test_mser5_refuses_a_short_series() -> None:
    """MSER-5 refuses a series so short that noise passes for a transient."""
    with pytest.raises(ValueError, match="49 observations"):
        mser5([0.0] * 49)


def test_batches_of_independent_data_stay_many() -> None:
    """Batches of independent data stay many: the check merges them no more often than its level
    says.

    Independent batches pass the first test with probability 0.8; then one merger is due.
    """
    rng = np.random.default_rng(2)
    results = [batch_means([float(x) for x in rng.standard_normal(1280)]) for _ in range(200)]
    first = sum(result.batches == 64 for result in results)
    assert abs(first - 160) <= BAND * math.sqrt(200 * 0.8 * 0.2)


def test_correlated_batches_are_merged_until_they_are_not() -> None:
    """Correlated batches are merged until they are independent.

    AR(1) with phi 0.9 has an integrated correlation time of (1 + phi)/(1 - phi) = 19: batches of
    10 are strongly correlated, those of 160 hardly (lag-1 about 0.06).
    """
    series = ar1(np.random.default_rng(4), 200, 1280, 0.9)
    results = [batch_means([float(x) for x in row]) for row in series]
    assert all(result.batch_size >= 20 for result in results)
    assert sum(result.batch_size >= 40 for result in results) > 190
    assert {r.batches * r.batch_size + r.discarded for r in results} == {1280}


def test_batch_means_cover_where_independence_would_not() -> None:
    """Batch means cover the mean of a queue where an assumption of independence does not.

    M/M/1 at load 0.8, mean wait 4. The promise for batch means is at least 90 % (nominal 95);
    200 trials of a true 90 % give at least 166 with 99.9 %. Taking the 20,000 waits as
    independent covers less than a third of the time and must fall below the same line.
    """
    waits = mm1_waits(np.random.default_rng(6), 200, 20_000, 0.8)
    assert covered(lambda row: batch_means(row).interval, waits, 4.0) >= 166
    assert covered(summarize, waits, 4.0) < 66


def test_hopeless_correlation_is_reported() -> None:
    """Correlation that merging cannot remove, as that of a trend, is reported."""
    result = batch_means([float(i) for i in range(1000)])
    assert not result.independent
    # 1000 observations: 128 batches of 7, and merging in pairs ends at 8.
    assert result.batches == 8
    assert result.lag1 > 0.5


def test_batch_means_refuse_too_few() -> None:
    """Batch means refuse fewer than eight batches, which the approximation of the test needs."""
    with pytest.raises(ValueError, match="at least 8"):
        batch_means([0.0] * 100, batches=7)
    with pytest.raises(ValueError, match="7 observations"):
        batch_means([0.0] * 7)


def run_until(rule: StoppingRule, values: list[float]) -> tuple[Interval, bool]:
    """Replicate as the rule suggests, taking the values in turn."""
    n = rule.min_n
    while True:
        progress = rule.assess(values[:n])
        if progress.done:
            return progress.interval, progress.precise
        assert n < progress.suggested_n <= rule.max_n
        n = progress.suggested_n


def test_stopping_rule_keeps_its_promise() -> None:
    """The stopping rule "until +-5 %" keeps its promise: the error is larger at most 7 times in
    100.

    Normal replications of mean 10 and deviation 2 need about 4^2 * 1.96^2 = 62 of them.
    """
    rng = np.random.default_rng(9)
    rule = StoppingRule(relative=0.05, max_n=1000)
    good = 0
    for _ in range(500):
        interval, precise = run_until(rule, [float(x) for x in rng.normal(10.0, 2.0, 1000)])
        assert precise
        good += abs(interval.mean - 10.0) <= 0.5
    # 93 % is what sequential stopping must keep of the nominal 95.
    assert good >= 465


def test_stopping_rule_admits_the_cap() -> None:
    """The stopping rule reports a result at the cap as not precise."""
    rule = StoppingRule(relative=0.001, min_n=5, max_n=20)
    noise = [float(x) for x in np.random.default_rng(1).normal(1.0, 1.0, 20)]
    progress = rule.assess(noise)
    assert progress.done
    assert progress.capped
    assert not progress.precise
    assert progress.interval.half_width > 0.001
    assert progress.suggested_n == 20


def test_stopping_rule_waits_for_its_minimum() -> None:
    """The stopping rule waits for its minimum, as two runs may agree by luck."""
    rule = StoppingRule(relative=0.05, min_n=5)
    progress = rule.assess([1.0, 1.0])
    assert not progress.done
    assert progress.suggested_n == 5
    assert rule.assess([1.0] * 5).precise


def test_absolute_target_serves_a_mean_near_zero() -> None:
    """An absolute target serves a mean near zero, of which no percentage is reached."""
    values = [-0.01, 0.01] * 10
    assert not StoppingRule(relative=0.05).assess(values).precise
    assert StoppingRule(relative=0.05, absolute=0.01).assess(values).precise


def test_relative_target_refers_to_the_true_mean() -> None:
    """A relative target refers to the true mean, not to the estimate.

    Law's correction: 10 % of an observed 11 is 0.1/1.1 * 11 = 1.
    """
    assert StoppingRule(relative=0.1).target(11.0) == pytest.approx(1.0)
    assert StoppingRule(relative=0.1).target(-11.0) == pytest.approx(1.0)
    assert StoppingRule(absolute=2.0).target(11.0) == 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "neither"),
        ({"relative": 0.0}, "relative is 0"),
        ({"absolute": math.nan}, "absolute is nan"),
        ({"relative": 0.1, "min_n": 1}, "min_n is 1"),
        ({"relative": 0.1, "min_n": 10, "max_n": 9}, "max_n is 9"),
        ({"relative": 0.1, "level": 95.0}, "level"),
    ],
)
def test_impossible_rules_are_refused(arguments: dict[str, float], message: str) -> None:
    """Impossible rules are refused."""
    with pytest.raises(ValueError, match=message):
        StoppingRule(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ratio", "max_n", "suggested"),
    [(1.2, 200, 15), (1.001, 200, 11), (2.0, 200, 20), (1.2, 12, 12), (0.99, 200, 10)],
)
def test_a_rule_suggests_how_many_replications_will_do(
    ratio: float, max_n: int, suggested: int
) -> None:
    """A rule suggests how many replications will do, no more than needed and not one by one. Of
    five 0s and five 2s the deviation is sqrt(10/9), and the half-width t(9, 0.975) / 3 = 0.754052;
    it shrinks as 1/sqrt(n), so 1.2 times the target takes 1.44 times the runs, and never more than
    twice as many are asked for."""
    rule = StoppingRule(absolute=0.754052 / ratio, max_n=max_n)
    assert rule.assess([0.0, 2.0] * 5).suggested_n == suggested


def test_a_rule_asks_for_the_least_number_first() -> None:
    """A rule asks for its minimum first, and does not decide on a spread of two or three values."""
    rule = StoppingRule(absolute=10.0, min_n=7)
    progress = rule.assess([0.0, 2.0])
    assert (progress.done, progress.suggested_n) == (False, 7)
