"""The rpr study: its grid points against the slides, and what its quantities must tell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from forebay.run.jobs import check, run_jobs
from forebay.study.definition import Point, Run, Study
from forebay.study.grades import Kind, points_needed
from forebay.study.loading import load_study

INTERVAL = 102.88e-6
LINE = 622.08e6
WINDOW = {"simulated_s": 1.46, "measured_s": 0.84}
SLIDES: Point = {
    "family": "slides",
    "scenario": 1,
    "line": "oc12",
    "law": "srp-fa",
    "buffers": "rfc",
}


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("rpr")


def every_point(study: Study) -> list[Point]:
    """The grid points of all claims."""
    points = [claim.point for claim in study.paper.claims]
    for predicate in study.predicates.values():
        points += [point for point, _ in points_needed(predicate)]
    return points


SENTENCES = {
    "Oscillations due to reactive flow control",
    "Low bandwidth utilization with bursty traffic",
    "Burst of inserted traffic causes congestion",
    "Panic backoff throttles upstream source to low value even though burst is gone",
    "Result: Low BW efficiency",
    "Special attention needs to be given to selection of the flow control mechanism because of: "
    "dramatic effect on bandwidth utilization",
    "Dramatic effect on bandwidth utilization (can be as low as 55%!)",
    "Low priority traffic can affect high priority traffic",
    "Found some simple traffic patterns that cause these problems",
}
"""Sentences of the slides on what they saw: "Performance problems", "Explanation of Problem" and
"Conclusions", without what the law does by its definition (a message on congestion, the ramp)."""


def test_only_what_the_slides_print_counts(study: Study) -> None:
    """Results are only what the slides print, not values of our own packet model.

    Their text has no measured number but 55 %, so that no number is a result; what is, is quoted,
    and counted once for each of the slides' scenarios (1, 3 and 4) that it speaks of at most.
    """
    assert Kind.RESULT not in {claim.kind for claim in study.paper.claims}
    results = [entry for entry in study.paper.statements if entry.kind is Kind.RESULT]
    assert {entry.text.strip() for entry in results} == SENTENCES
    assert {entry.how_read for entry in results} == {"quoted"}
    counted = Counter(entry.text.strip() for entry in results)
    assert {text for text, times in counted.items() if times > 1} == {
        "Oscillations due to reactive flow control",
        "Found some simple traffic patterns that cause these problems",
    }
    assert max(counted.values()) == 3


def test_every_grid_point_is_a_scenario(study: Study) -> None:
    """Every grid point is a valid scenario, so that every claim has a run."""
    for point in {tuple(sorted(point.items())): point for point in every_point(study)}.values():
        assert check(study.job(point, 0))["duration_s"] == 1.46, point


def test_traffic_is_that_of_the_slides(study: Study) -> None:
    """Traffic has the rates, starts and states of sites F and D in the slides' tables."""
    expected = {
        (1, "oc12"): ("800000000", "100 ms", "600000000", "100 ms", 1),
        (1, "oc48"): ("3000000000", "100 ms", "600000000", "100 ms", 1),
        (3, "oc12"): ("800000000", "200 ms", "50000000", "100 ms", 0),
        (3, "oc48"): ("3000000000", "200 ms", "50000000", "100 ms", 0),
        (4, "oc12"): ("800000000", "100 ms", "600000000", "200 ms", 0),
        (4, "oc48"): ("3000000000", "100 ms", "2400000000", "200 ms", 0),
    }
    for (scenario, line), (f, f_start, d, d_start, precedence) in expected.items():
        found = check(study.job({**SLIDES, "scenario": scenario, "line": line}, 0))["resolved"]
        source = "cbr" if scenario == 3 else "pulses"
        assert bps(found["flows.f.traffic.cbr.rate"]) == float(f)
        assert bps(found[f"flows.d.traffic.{source}.rate"]) == float(d)
        assert (found["flows.f.start"], found["flows.d.start"]) == (f_start, d_start)
        assert found["flows.d.precedence"] == str(precedence)
        if scenario != 3:
            assert (found["flows.d.traffic.pulses.on"], found["flows.d.traffic.pulses.off"]) == (
                "1 ms",
                "20 ms",
            )


def bps(text: str) -> float:
    """A rate as the engine echoes it."""
    number, unit = text.split()
    return float(number) * {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}[unit]


def test_thresholds_keep_the_proportions_of_the_rfc(study: Study) -> None:
    """Thresholds of the map keep the proportions of RFC 2892: 458 over 320, and full 64 kB above;
    with 320 kB they are the RFC's own."""
    for point, (stop, full) in {
        ("slides", "rfc"): ("458 kB", "522 kB"),
        ("slides", "small"): ("57250 B", "121250 B"),
    }.items():
        found = check(study.job({**SLIDES, "buffers": point[1]}, 0))["resolved"]
        assert size(found["rings.ring.stop"]) == size(stop)
        assert size(found["rings.ring.low_limit"]) == size(full)


def size(text: str) -> float:
    """A size as the engine echoes it."""
    number, unit = text.split()
    return float(number) * {"B": 1, "kB": 1e3, "MB": 1e6}[unit]


def spans(columns: Mapping[str, Mapping[str, Any]], steps: int) -> dict[str, dict[str, Any]]:
    """Series of a run as recorded; what is not given is 0."""
    time = INTERVAL * np.arange(1.0, steps + 1)
    found = {}
    for station in "FED":
        given = {
            name: np.zeros(steps)
            for name in ("allow_bps", "told_bps", "congested", "usage_bps", "transit_low_bytes")
        }
        found[f"series/links.ring.outer.{station}"] = (
            {"time_s": time} | given | dict(columns.get(station, {}))
        )
    for name in ("f", "d"):
        rates = np.full(steps, LINE / 2)
        found[f"series/flows.{name}"] = {"time_s": time, "throughput_bps": rates}
    return found


def test_a_cut_and_its_ramp_are_measured() -> None:
    """A cut and its ramp are measured as they are. Under constant load F is cut to nothing at two
    samples 400 intervals apart, and rises by 1/64 of what is left in each: 0 to 0.9 in ln 0.1 /
    ln(63/64) = 146.2 intervals, on the chord between two steps a little more."""
    from forebay_studies.rpr.measure import _cut_back, _period, _ramps
    from forebay_studies.rpr.series import Samples

    steps = round(1.46 / INTERVAL)
    allowed, told = np.ones(steps), np.full(steps, LINE)
    for first in (7000, 7400):
        allowed[first:] = 1 - (63 / 64) ** np.arange(steps - first)
        told[first - 2 : first + 1] = 0.0
    tables = spans({"F": {"allow_bps": allowed * LINE}, "E": {"told_bps": told}}, steps)
    samples = Samples(Run(WINDOW, tables), {**SLIDES, "scenario": 3})
    assert samples.cuts() == [7000, 7400]
    assert _cut_back(samples) == {"cut_to_ratio": 0.0}
    assert _period(samples)["allow_period_s"] == pytest.approx(400 * INTERVAL)
    ramps = _ramps(samples)
    assert ramps["ramp_90_s"] == pytest.approx(
        math.log(0.1) / math.log(63 / 64) * INTERVAL, rel=1e-4
    )
    assert ramps["decay_interval_s"] == pytest.approx(INTERVAL)
    assert ramps["ramp_error_max_ratio"] < 1e-12
    # Of 8166 samples of the window, those around two cuts are set by messages or may be.
    assert 8130 <= ramps["ramp_steps_count"] <= 8166
    assert ramps["ramp_n44_ratio"] == pytest.approx(1 - (63 / 64) ** 44)


def test_a_wrong_ramp_is_noticed() -> None:
    """A ramp of another law than the slides' is noticed: with a divisor of 60 the first step from 0
    is 1/60 instead of 1/64 of the line."""
    from forebay_studies.rpr.measure import _ramps
    from forebay_studies.rpr.series import Samples

    steps = round(1.46 / INTERVAL)
    allowed, told = np.ones(steps), np.full(steps, LINE)
    allowed[7000:] = 1 - (59 / 60) ** np.arange(steps - 7000)
    told[6998:7001] = 0.0
    tables = spans({"F": {"allow_bps": allowed * LINE}, "E": {"told_bps": told}}, steps)
    found = _ramps(Samples(Run(WINDOW, tables), {**SLIDES, "scenario": 3}))
    assert found["ramp_error_max_ratio"] > 0.9 * (1 / 60 - 1 / 64) * (59 / 60) ** 3


def test_congestion_is_put_down_to_bursts() -> None:
    """Congestion is put down to bursts that it follows, and to no others. Bursts begin 21 ms apart
    from 0.1 s on: of 38 whole periods in the window every second one has an onset 1 ms after its
    start, and one more begins 15 ms after a start."""
    from forebay_studies.rpr.measure import _congestion
    from forebay_studies.rpr.series import Samples

    steps = round(1.46 / INTERVAL)
    congested, told = np.zeros(steps), np.full(steps, LINE)
    starts = [0.1 + 0.021 * k for k in range(65) if 0.1 + 0.021 * k >= 0.62]
    whole = [start for start in starts if start + 0.021 <= 1.46]
    for start in whole[::2]:
        at = round((start + 0.001) / INTERVAL)
        congested[at : at + 5] = 1.0
        told[at + 1] = 0.1 * LINE
    late = round((whole[1] + 0.015) / INTERVAL)
    congested[late : late + 5] = 1.0
    tables = spans({"D": {"congested": congested, "told_bps": told}}, steps)
    found = _congestion(Samples(Run(WINDOW, tables), SLIDES))
    many = len(whole[::2])
    assert found["bursts_congesting_ratio"] == pytest.approx((many + 1) / len(whole))
    assert found["congested_in_burst_ratio"] == pytest.approx(many / (many + 1))
    assert found["congestion_answered_ratio"] == pytest.approx(many / (many + 1))


def test_f_is_throttled_until_it_has_half_of_the_line() -> None:
    """Panic is measured from the end of a burst until F has half of the line: cut at a burst's
    start and back at half of the line 6 ms after its end, F is throttled for 6 ms, but for the
    interval in which that falls."""
    from forebay_studies.rpr.measure import _cut_back
    from forebay_studies.rpr.series import Samples

    steps = round(1.46 / INTERVAL)
    time = INTERVAL * np.arange(1.0, steps + 1)
    phase = (time - 0.1) % 0.021
    allowed = np.where(phase < 0.007, 0.2, 0.8)
    samples = Samples(Run(WINDOW, spans({"F": {"allow_bps": allowed * LINE}}, steps)), SLIDES)
    found = _cut_back(samples)
    assert found["throttled_after_burst_s"] == pytest.approx(0.006, abs=2 * INTERVAL)
    assert found["cut_to_ratio"] == pytest.approx(0.2)


def test_oscillation_is_judged_while_traffic_is_steady() -> None:
    """Oscillation is judged while traffic is steady, so that bursts themselves do not count: F
    gives way while they last and shortly after, and is steady otherwise, so nothing swings; with
    another level in the OFF state it does."""
    from forebay_studies.rpr.series import Samples

    steps = round(1.46 / INTERVAL)
    phase = (INTERVAL * np.arange(steps) - 0.1) % 0.021
    for dip, swing in ((0.5, 0.0), (0.2, 0.5)):
        tables = spans({}, steps)
        rates = np.where(
            phase < 0.0028, 0.1, np.where(phase < 0.012, dip, 0.5 if dip > 0.2 else 0.7)
        )
        tables["series/flows.f"]["throughput_bps"] = rates * LINE
        settled = Samples(Run(WINDOW, tables), SLIDES).settled()
        assert settled.max() - settled.min() == pytest.approx(swing, abs=1e-9)


def test_a_backlogged_station_alone_fills_the_ring(study: Study) -> None:
    """A backlogged station alone fills the ring: F alone carries the line, within 0.002, and what a
    link carries is what F gets."""
    point = {"family": "alone", "law": "srp-fa", "threshold_kb": 320, "line": "oc12"}
    runs: list[Run] = []
    run_jobs([study.job(point, 0)], lambda _, run: runs.append(run), 1)
    found = study.quantities(runs[0], point)
    assert found["utilization_ratio"] == pytest.approx(1.0, abs=0.002)


def test_the_published_formulas_give_the_allocation(study: Study) -> None:
    """VoQ gives the allocation of the published formulas: three backlogged stations with r = 50, 0,
    100 Mbit/s and w = 1, 2, 1 on 600 Mbit/s have RCF (600 - 150) / 4 = 112.5 and get r + w RCF,
    within 1 %."""
    point = {"family": "voq-formula"}
    runs: list[Run] = []
    run_jobs([study.job(point, 0)], lambda _, run: runs.append(run), 1)
    found = study.quantities(runs[0], point)
    assert found["rcf_bps"] == pytest.approx(112.5e6)
    for number, mbps in enumerate((162.5, 225.0, 212.5), 1):
        assert found[f"station{number}_bps"] == pytest.approx(mbps * 1e6, rel=0.01)
