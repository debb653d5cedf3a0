"""Sentences of the study's own, in numbers: the data set prints none.

- Two rates are *the same* if they differ by at most 10 %, as in grades.
- *Above the base* is what a ping takes beyond the 50 ms of the path. Its own transmission, 98 B at
  1 Gbit/s each way, is below 2 us.
- Classes of delays are factors of 2 from 1 ms on, both ways: 1 to 2 ms, 2 to 4 ms, and so on.
"""

from __future__ import annotations

import math

from forebay.study import Point, Quantities, Truth, at, every, for_each, most, values
from forebay.study.grades import all_of
from forebay_studies.cake.published import PINGS, STATISTICS, printed

BASE_S = 0.05
UNIT_S = 0.001
QUARTILE_RUNS = 9
"""Quartiles of fewer runs lie outside the values, or are all one value."""

CLASSES = ("be", "bk", "cs5", "ef")
WAYS = ("up", "down")


def _cell(test: str, up_mbps: int, queue: str) -> Point:
    return {"test": test, "up_mbps": up_mbps, "queue": queue}


RRUL = {
    "ten_cake": _cell("rrul", 10, "cake"),
    "ten_diff3": _cell("rrul", 10, "cake_diff3"),
    "ten_diff4": _cell("rrul", 10, "cake_diff4"),
    "one_cake": _cell("rrul", 1, "cake"),
    "one_diff4": _cell("rrul", 1, "cake_diff4"),
    "one_fq_codel": _cell("rrul", 1, "fq_codel"),
}
VOIP = {
    "voip_cake": _cell("voip", 10, "cake"),
    "voip_diff4": _cell("voip", 10, "cake_diff4"),
    "voip_fq_codel": _cell("voip", 10, "fq_codel"),
}
WITH_CLASSES = {name: RRUL[name] for name in ("ten_diff3", "ten_diff4", "one_diff4")}
ONE_TIN = {name: RRUL[name] for name in ("ten_cake", "one_cake")}
DELAYS = {
    f"{name}_{ping}": (point, ping)
    for name, point in (RRUL | VOIP).items()
    for ping in PINGS
    if f"ping_{ping}_mean_s" in printed(point)
}


def delay_class(above_s: float) -> tuple[float, float]:
    """The ends of the class of factor 2 that a delay above the base is in, in seconds."""
    least = UNIT_S * 2.0 ** math.floor(math.log2(above_s / UNIT_S))
    return least, 2.0 * least


@for_each(DELAYS)
def delay_has_its_class(run: Quantities, case: tuple[Point, str]) -> Truth:
    """Mean, median, 95 % and 99 % of a ping, above the base, are each in the printed class."""
    point, ping = case
    found = []
    for word in STATISTICS:
        quantity = f"ping_{ping}_{word}_s"
        low, high = delay_class(printed(point)[quantity].median - BASE_S)
        found.append(at(run, point, quantity).within(BASE_S + low, BASE_S + high))
    return all_of(found)


@for_each(RRUL)
def rates_between_quartiles(run: Quantities, point: Point) -> Truth:
    """Most of the eight rates are between the quartiles printed."""
    return _most_between(run, point, "bps")


@for_each(RRUL)
def pings_between_quartiles(run: Quantities, point: Point) -> Truth:
    """Most statistics of pings are between the quartiles printed."""
    return _most_between(run, point, "s")


def _most_between(run: Quantities, point: Point, unit: str) -> Truth:
    """Of quantities in a unit, those printed of enough runs."""
    wanted = {
        quantity: of
        for quantity, of in printed(point).items()
        if quantity.endswith(f"_{unit}") and of.runs >= QUARTILE_RUNS
    }
    found = most(at(run, point, quantity) for quantity in wanted)
    return found.within([of.low for of in wanted.values()], [of.high for of in wanted.values()])


@for_each(ONE_TIN)
def shares_are_equal(run: Quantities, point: Point) -> Truth:
    """Without classes the four flows of each direction get the same."""
    return all_of(values(run, point, f"{way}_{{flow}}_bps", flow=CLASSES).alike() for way in WAYS)


@for_each(ONE_TIN)
def pings_are_alike(run: Quantities, point: Point) -> Truth:
    """Without classes the mean of each ping is within 1 ms of that of every other."""
    means = values(run, point, "ping_{ping}_mean_s", ping=PINGS)
    return means.highest() - means.lowest() <= UNIT_S


def cs5_is_best_effort_in_three_tins(run: Quantities) -> Truth:
    """With diffserv3 CS5 gets what best effort gets, each way."""
    point = RRUL["ten_diff3"]
    return all_of(
        at(run, point, f"{way}_cs5_bps").similar(at(run, point, f"{way}_be_bps")) for way in WAYS
    )


@for_each({name: RRUL[name] for name in ("ten_diff4", "one_diff4")})
def cs5_and_ef_share_a_tin(run: Quantities, point: Point) -> Truth:
    """With diffserv4 CS5 gets what EF gets, each way."""
    return all_of(
        at(run, point, f"{way}_cs5_bps").similar(at(run, point, f"{way}_ef_bps")) for way in WAYS
    )


@for_each(WITH_CLASSES)
def bulk_gets_the_least(run: Quantities, point: Point) -> Truth:
    """With classes CS1 gets at most a third of what best effort gets, and less than any other."""
    return all_of(
        (at(run, point, f"{way}_bk_bps") <= at(run, point, f"{way}_be_bps") * (1 / 3))
        & (every(values(run, point, f"{way}_{{flow}}_bps", flow=("cs5", "ef"))) > bulk)
        for way in WAYS
        for bulk in [at(run, point, f"{way}_bk_bps")]
    )


@for_each(WITH_CLASSES)
def full_tins_wait(run: Quantities, point: Point) -> Truth:
    """A ping waits longer the smaller its tin's share of the rate is: CS1 longest, EF longer than
    best effort, though EF is the class of voice: its tin is full."""
    bulk, voice, best = (at(run, point, f"ping_{ping}_mean_s") for ping in ("bk", "ef", "be"))
    return (bulk > voice) & (voice > best)


@for_each({"one_cake": RRUL["one_cake"], "one_fq_codel": RRUL["one_fq_codel"]})
def acknowledgements_take_a_fifth(run: Quantities, point: Point) -> Truth:
    """At 1 Mbit/s up the uploads leave more than a fifth of the rate to acknowledgements, pings and
    headers, and the downloads have more than nine tenths of theirs."""
    up = values(run, point, "up_{flow}_bps", flow=CLASSES).mean() * len(CLASSES)
    down = values(run, point, "down_{flow}_bps", flow=CLASSES).mean() * len(CLASSES)
    return (up < 0.8e6) & (down > 0.9 * 10e6)
