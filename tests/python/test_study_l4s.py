"""The l4s study: its claims against the table of the tests, its grid points and its quantities."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from forebay.study.claims import published_measurements
from forebay.study.definition import Point, Run, Study
from forebay.study.grades import Bounds, Kind, MissingMeasurementError, Truth
from forebay.study.loading import load_study

TABLE = Path(__file__).resolve().parents[2] / "studies" / "l4s" / "steady-state.csv"
PAIR: Point = {
    "test": "s1", "queue": "dualpi2", "cc1": "cubic", "rtt1_ms": 160, "cc2": "prague",
    "rtt2_ms": 10, "ecn2": True,
}  # fmt: skip
SINGLE: Point = {
    "test": "s6", "queue": "pie", "cc1": "prague", "rtt1_ms": 20, "cc2": "reno",
    "rtt2_ms": 20, "ecn2": False,
}  # fmt: skip
STEP: Point = {"test": "s2", "queue": "fq_codel", "cc1": "prague", "rtt1_ms": 80, "to_mbps": 25}

QUEUES = {
    "dualpi2": "dualpi2", "pfifo(1000)": "pfifo", "fq_codel": "fq_codel",
    "fq_codel(1q)": "fq_codel_1q", "fq_codel(1q,1ms/20ms)": "fq_codel_1q_1ms", "pie": "pie",
    "pie(100p/5ms)": "pie_100p_5ms", "red(150000b)": "red_150000b", "red(400000b)": "red_400000b",
}  # fmt: skip
"""Queues of the table that are simulated, and what grid points call them."""


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("l4s")


def rows() -> list[dict[str, str]]:
    """The rows of the table with queues that are simulated."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["queue"] in QUEUES]


def point_of(row: Mapping[str, str]) -> Point:
    """The grid point of a row."""
    return {
        "test": row["table"],
        "queue": QUEUES[row["queue"]],
        "cc1": row["cc1"],
        "rtt1_ms": int(row["rtt1_ms"]),
        "cc2": row["cc2"],
        "rtt2_ms": int(row["rtt2_ms"]),
        "ecn2": row["ecn2"] != "noecn",
    }


class Measured(Run):
    """A run of which groups and series are given."""

    def __init__(self, groups: Mapping[str, Any], series: Mapping[str, Any]) -> None:
        object.__setattr__(self, "tables", {"series/flows.one": series})
        object.__setattr__(self, "_groups", groups)

    def group(self, name: str) -> dict[str, Any]:
        """The row of a group."""
        found: dict[str, Any] = self._groups[name]  # type: ignore[attr-defined]
        return found


def test_the_claims_are_the_table_that_stands_beside_them(study: Study) -> None:
    """Each rate, index and ratio of the table is a claim, at the grid point of its row, and nothing
    else is: a slip in copying would be graded as if it were published."""
    claimed = {
        (tuple(sorted(claim.point.items())), claim.quantity): claim.published
        for claim in study.paper.claims
        if claim.how_read == "printed" and claim.point["test"] != "s2"
    }
    printed = {}
    for row in rows():
        place = tuple(sorted(point_of(row).items()))
        last = {"jain": "jain_ratio", "ratio": "rate1_over_rate2_ratio"}[row["measure"]]
        printed[place, "rate1_bps"] = float(row["rate1_mbps"])
        printed[place, "rate2_bps"] = float(row["rate2_mbps"])
        printed[place, last] = float(row["value"])
    assert claimed == printed


def test_pairs_are_told_as_the_printed_rates_have_them(study: Study) -> None:
    """Who gets more, and the class of the ratio, stand for all pairs that differ by more than
    10 %, as the printed rates give them: they are ours, and must not be chosen."""
    ends = (1.25, 2.0, 4.0, 8.0, 16.0, 32.0)
    expected = {}
    for row in rows():
        first, second = float(row["rate1_mbps"]), float(row["rate2_mbps"])
        ratio = max(first, second) / min(first, second)
        if ratio > 1.1 and (row["table"], row["row"]) != ("s1", "31"):
            place = tuple(sorted(point_of(row).items()))
            expected[place, "winner_count"] = 1 if first > second else 2
            expected[place, "class_count"] = sum(ratio > end for end in ends)
    found = {
        (tuple(sorted(claim.point.items())), claim.quantity): claim.published
        for claim in study.paper.claims
        if claim.kind is Kind.RECONSTRUCTION
    }
    assert found == expected


def test_the_sentences_hold_for_the_printed_numbers(study: Study) -> None:
    """Every sentence on the tables is true of the tables themselves: one that were not would be
    misread. The sentences on steps speak of what only figures show."""
    measured = published_measurements(study.paper)
    for statement in study.paper.statements:
        judge = study.predicates[statement.id]
        if statement.id.startswith("step/"):
            with pytest.raises(MissingMeasurementError):
                judge(measured)
        else:
            assert judge(measured) is Truth.TRUE, statement.id


def test_a_pair_has_its_own_round_trips_and_one_queue_both_ways(study: Study) -> None:
    """Each flow has half of its round trip on either side of the bottleneck, in the direction that
    leads to it, and the queue of the bottleneck stands on the way back too."""
    links = study.network(PAIR).to_dict()["links"]
    assert sorted(links) == ["bottleneck", "far1", "far2", "near1", "near2"]
    for end, half in (("1", "80 ms"), ("2", "5 ms")):
        for side in ("near", "far"):
            assert links[f"{side}{end}"]["delay"] == half
            assert links[f"{side}{end}"]["reverse"]["delay"] == "0 s"
    assert list(links["bottleneck"]["queue"]) == ["dualpi2"]
    assert links["bottleneck"]["reverse"]["queue"] == links["bottleneck"]["queue"]


def test_a_flow_without_ecn_is_dropped_and_the_other_marked(study: Study) -> None:
    """Clearing the codepoint makes one flow Not-ECT at the queue and leaves the other alone; the
    window is the 40 s that end a second before the run does."""
    network = study.network(SINGLE)
    flows = network.to_dict()["flows"]
    assert flows["two"]["tcp"]["ecn"] is False
    assert flows["one"]["tcp"]["ecn"] is True
    assert "prague" in flows["one"]["tcp"]["control"]
    told = network.check()
    assert (told["duration_s"], told["warm_up_s"]) == (59.0, 19.0)


def test_a_rate_step_changes_both_directions(study: Study) -> None:
    """One flow is left, and the shaper of either direction changes at 30 s."""
    network = study.network(STEP).to_dict()
    assert list(network["flows"]) == ["one"]
    link = network["links"]["bottleneck"]
    for direction in (link, link["reverse"]):
        assert direction["rate_steps"] == [{"at": "30 s", "rate": "25 Mbit/s"}]
        assert direction["rate"] == "50 Mbit/s"


def test_a_pair_is_told_by_its_rates(study: Study) -> None:
    """Index, ratio, winner and class follow from the two rates: 30 and 10 Mbit/s have Jain's index
    40^2 / (2 (900 + 100)) = 0.8, the first wins, and 3 lies between 2 and 4."""
    rows = {
        "one": {"goodput_bps": 30e6, "mean_delay_s": 0.02},
        "two": {"goodput_bps": 10e6, "mean_delay_s": 0.03},
    }
    found = study.quantities(Measured(rows, {}), PAIR)
    assert found["jain_ratio"] == pytest.approx(0.8)
    assert found["rate1_over_rate2_ratio"] == pytest.approx(3.0)
    assert (found["winner_count"], found["class_count"]) == (1.0, 2.0)


def test_a_spike_lasts_until_the_round_trip_is_back(study: Study) -> None:
    """The largest round trip is that after the step, and the spike lasts while it is more than
    20 ms longer than the path's: a longer one in slow start is none."""
    times = [0.5 * n for n in range(1, 121)]
    series = {
        "time_s": times,
        "mean_srtt_s": [0.3 if t < 2 else 0.18 if 30.5 < t <= 34.5 else 0.085 for t in times],
    }
    found = study.quantities(Measured({}, series), STEP)
    assert found["max_rtt_s"] == pytest.approx(0.18)
    assert found["spike_s"] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ((Bounds(10.0, 12.0), Bounds(2.0, 4.0)), Bounds(2.5, 6.0)),
        ((Bounds(2.0, 4.0), Bounds(10.0, 12.0)), Bounds(2.5, 6.0)),
        ((Bounds(3.0, 5.0), Bounds(4.0, 6.0)), Bounds(1.0, 2.0)),
        ((Bounds(-1.0, 1.0), Bounds(2.0, 4.0)), Bounds(2.0, float("inf"))),
    ],
)
def test_inequality_covers_every_pair_of_rates(
    study: Study, rates: tuple[Bounds, Bounds], expected: Bounds
) -> None:
    """The ratio of the larger to the smaller rate takes no order for granted: 10 to 12 over 2 to 4
    is 10/4 to 12/2, intervals that overlap may be equal, and one that reaches 0 has no bound."""
    from forebay_studies.l4s.predicates import inequality

    assert inequality(rates) == expected
