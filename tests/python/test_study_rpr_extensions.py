"""Beyond the rpr study: RIAS shares by hand, and what conclusions are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from forebay.run.jobs import Run
from forebay.study.comparison import Comparison, Findings, check_scenarios
from forebay.study.definition import Study
from forebay.study.loading import load_study
from forebay.study.results import Cell, Outcome, Samples

C = 622.08e6


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("rpr")


def comparison(study: Study, name: str) -> Comparison:
    """One of its comparisons."""
    return next(entry for entry in study.comparisons if entry.id == name)


def test_every_design_is_a_scenario_on_the_same_random_numbers(study: Study) -> None:
    """Every design is a scenario on the same random numbers, so that comparisons run through and
    are paired."""
    check_scenarios(study, quick=False)


def test_shares_are_those_of_the_definition(study: Study) -> None:
    """Shares of the reference are those of RIAS fairness. Parking lot: the last span carries all
    four, C/4 each. Parallel parking lot: three quarters of the first span are left to the flow that
    leaves after it. A slow station leaves the rest. Disjoint spans are full."""
    from forebay_studies.rpr.extensions import shares

    lots = {case.label: shares(case) for case in comparison(study, "lots").cases}
    assert lots["hub, two stations"] == pytest.approx([C / 2, C / 2])
    assert lots["parking lot of 4"] == pytest.approx([C / 4] * 4)
    assert lots["parallel parking lot"] == pytest.approx([*[C / 4] * 4, 3 * C / 4])
    assert lots["disjoint spans"] == pytest.approx([C] * 3)
    assert lots["F against 50 Mbit/s"] == pytest.approx([C - 50e6, 50e6])
    assert lots["64 stations 1000 km"] == pytest.approx([C / 63] * 63)


def test_stations_share_not_flows() -> None:
    """Stations share, not flows: one with three and one with one share a span alike; three that
    meet on two spans get what the tighter leaves."""
    from forebay_studies.rpr.rias import Ask, rias_shares

    asks = [Ask("a", ("x",), 9.0)] * 3 + [Ask("b", ("x",), 9.0)]
    assert rias_shares(asks, 6.0) == pytest.approx([1.0, 1.0, 1.0, 3.0])
    asks = [Ask("a", ("x", "y"), 9.0), Ask("b", ("y",), 9.0), Ask("c", ("y",), 9.0)]
    asks.append(Ask("d", ("x",), 9.0))
    assert rias_shares(asks, 6.0) == pytest.approx([2.0, 2.0, 2.0, 4.0])
    asks = [Ask("a", ("x",), 1.0), Ask("b", ("x",), 9.0)]
    assert rias_shares(asks, 6.0) == pytest.approx([1.0, 5.0])


def test_a_lot_is_measured_against_its_shares(study: Study) -> None:
    """A lot is measured against the shares of its flows. Two flows on the hub: both have their
    halves from 0.2 s on, one has a tenth of it before; in the mean of the window one gets 0.9 of
    it."""
    from forebay_studies.rpr.extensions import measured_lots

    case = comparison(study, "lots").cases[0]
    time = 0.05 * np.arange(1, 41)
    late = np.where(time > 0.2001, 1.0, 0.1)
    tables = {
        "series/flows.s1": {"time_s": time, "throughput_bps": C / 2 * late},
        "series/flows.s2": {"time_s": time, "throughput_bps": np.full(40, C / 2)},
    }
    groups = [
        {"name": "s1", "throughput_bps": 0.9 * C / 2},
        {"name": "s2", "throughput_bps": 1.1 * C / 2},
    ]
    found = measured_lots(Run({"groups": groups}, tables), case)
    assert found["settling_s"] == pytest.approx(0.2)
    assert found["worst_ratio"] == pytest.approx(0.9)
    assert found["most_ratio"] == pytest.approx(1.1)
    assert found["carried_ratio"] == pytest.approx(1.0)


def test_rings_are_as_long_as_their_cases_say(study: Study) -> None:
    """Rings are as long as their cases say: spans take 5 us a km in all."""
    entry = comparison(study, "lots")
    for case in entry.cases:
        delays = entry.network(study, entry.baseline, case).section("rings.ring")["delays"]
        total = sum(float(delay.split()[0]) for delay in delays)
        assert total == pytest.approx(5.0 * case["km"], rel=1e-4), case.name


def test_conclusions_follow_from_the_findings(study: Study) -> None:
    """Conclusions follow from the findings: equal designs are told as equal, one that is better as
    better."""
    for entry in study.comparisons:
        for best in (None, "voq"):
            samples = Samples()
            for case in entry.cases:
                for design in entry.every_design:
                    for number in range(2):
                        value = 0.9 if design.id == best else 0.5
                        found = {metric.quantity: value for metric in entry.metrics}
                        cell = Cell.of(case.point, f"beyond/{entry.id}/{design.id}")
                        samples.add(cell, number, found)
            told = Findings(entry, Outcome(study, samples)).conclusion()
            assert all(told)
            verdict = "equal" if best is None else "better"
            words = f"VoQ {verdict} in {len(entry.cases)}"
            assert any(words in paragraph for paragraph in told), entry.id
