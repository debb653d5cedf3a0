"""The figures of the rpr study: the slides' order, and what a run draws."""

import re

import pyarrow as pa
import pytest

from forebay.run.jobs import Run, run_jobs
from forebay.study.definition import Point, Study
from forebay.study.grades import points_needed
from forebay.study.loading import load_study
from forebay.study.results import Cell, Outcome, Samples

ORDER = [
    "Scenario #1 Simple Hubbing",
    "Scenario #1 Traffic Generated for OC-48",
    "Scenario #1 Gandalf Results: throughput",
    "Scenario #1 Gandalf Results: allowed rate and buffer",
    "Scenario #3 Setup",
    "Scenario #4 Setup",
]
"""Titles of the slides, as far as they are those of the runs drawn below."""


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("rpr")


def test_runs_are_drawn_in_the_order_of_the_slides(study: Study) -> None:
    """Runs are drawn in the order of the slides, and none is missing: of scenario 1 under Gandalf
    at both speeds, F and D are drawn in each panel."""
    wanted = [
        one for one in study.recordings if one.id.startswith("s1-") and "srp-fa-rfc" in one.id
    ]
    assert len(wanted) == 2
    kept: dict[str, dict[str, pa.Table]] = {}

    def keep(index: int, run: Run) -> None:
        recording = wanted[index]
        tables = recording.tables(run)
        kept[recording.id] = {name: pa.table(dict(columns)) for name, columns in tables.items()}

    run_jobs([study.recording_job(one) for one in wanted], keep)
    assert study.figures is not None
    drawn = study.figures(Outcome(study, Samples(), kept))
    titles = [figure.title for figure in drawn]
    assert titles == [*ORDER, "SRP-fa Ramp up Mechanism"]
    throughput = drawn[2].svg
    # Three periods are 612 samples, 61 of a millisecond each.
    lines = [path.count("L") for path in re.findall(r' d="([^"]*)"', throughput)]
    assert sum(points >= 55 for points in lines) >= 6
    for words in ("F", "D", "both", "line"):
        assert f">{words}<" in throughput


def test_maps_frame_where_55_percent_lies(study: Study) -> None:
    """Maps frame the cells at 55 % and no others, and a map that lacks a run is not drawn."""
    samples = Samples()
    low = 0
    points: dict[tuple[tuple[str, object], ...], Point] = {}
    for statement in study.paper.statements:
        if statement.id.startswith("conclusions/55/reached"):
            for point, _ in points_needed(study.predicates[statement.id]):
                points[tuple(sorted(point.items()))] = point
    for number, point in enumerate(points.values()):
        share = 0.55 if number % 7 == 0 else 0.8
        low += share < 0.6
        samples.add(Cell.of(point), 0, {"utilization_ratio": share})
    assert study.figures is not None
    drawn = [one for one in study.figures(Outcome(study, samples)) if "over" in one.title]
    assert [figure.title.split(" over ")[1] for figure in drawn] == [
        "distance and buffer threshold",
        "LP_ALLOW and buffer threshold",
        "stations and buffer threshold",
    ]
    cells = sum(figure.svg.count(">55<") for figure in drawn)
    assert cells >= low > 0
