"""The dctcp study: its claims, the analysis of the paper, and how timeouts are counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from forebay.run.jobs import check
from forebay.study.definition import Point, Study
from forebay.study.grades import Kind, points_needed
from forebay.study.loading import load_study


@pytest.fixture(scope="module")
def study() -> Study:
    """The study as it stands."""
    return load_study("dctcp")


def every_point(study: Study) -> list[Point]:
    """The grid points of all claims."""
    points = [claim.point for claim in study.paper.claims]
    for predicate in study.predicates.values():
        points += [point for point, _ in points_needed(predicate)]
    return list({tuple(sorted(point.items())): point for point in points}.values())


def test_what_the_paper_prints_counts(study: Study) -> None:
    """Results are what sections 3 to 4.2.3 print: closed forms that the paper does not evaluate,
    and readings of ours, would make the study look better than it is.

    16 numbers are said to be so: throughputs (2), RED (2), Jain's index, S1 and S3, figures 19 to
    21 (4: two of them none), Table 2 (4), and 0.08 % of queries.
    """
    results = [claim for claim in study.paper.claims if claim.kind is Kind.RESULT]
    formulas = [claim for claim in study.paper.claims if claim.kind is Kind.FORMULA]
    statements = [entry for entry in study.paper.statements if entry.kind is Kind.RESULT]
    assert (len(results), len(formulas), len(statements)) == (16, 20, 24)


def test_every_grid_point_is_a_scenario(study: Study) -> None:
    """Every grid point is a valid scenario, so that every claim has a run."""
    for point in every_point(study):
        check(study.job(point, 0))


def test_the_analysis_solves_the_papers_equation(study: Study) -> None:
    """The counts of packets of a cycle lead to equation 6, alpha^2 (1 - alpha/4) =
    (2W + 1) / (W + 1)^2, whose only root between 0 and 1 is alpha; amplitude and period are
    equations 8 and 9. The paper solves for small alpha only."""
    from forebay_studies.dctcp.formulas import cycle

    for flows in (2, 10, 40):
        window = (1e10 * 1e-4 / 12000 + 40) / flows
        share = (2 * window + 1) / (window + 1) ** 2
        roots = np.roots([-0.25, 1.0, 0.0, -share])
        (alpha,) = (float(root.real) for root in roots if 0 < root.real < 1 and root.imag == 0)
        found = cycle(1e10 * 1e-4 / 12000, 40, flows)
        assert found.alpha == pytest.approx(alpha, rel=1e-6)
        assert found.amplitude == pytest.approx(flows * (window + 1) * alpha / 2, rel=1e-6)
        assert found.period == pytest.approx((window + 1) * alpha / 2, rel=1e-6)
        assert found.lowest == pytest.approx(40 + flows - found.amplitude, rel=1e-6)


def test_bounds_of_k_and_g_are_those_of_the_paper(study: Study) -> None:
    """The least K is C RTT / 7 (equation 13), the largest g 1.386 / sqrt(2 (C RTT + K)) (equation
    15): the first is found by a search here, which must come to the closed form."""
    from forebay_studies.dctcp.formulas import largest_gain, least_threshold

    for path in (8.33, 83.3, 500.0):
        assert least_threshold(path) == pytest.approx(path / 7, rel=1e-3)
        assert largest_gain(path, 65) == pytest.approx(1.386 / math.sqrt(2 * (path + 65)), rel=1e-3)


class _Recorded:
    """A run of two clients with two connections each: what `queries` of it are read from."""

    def __init__(self, reductions: list[tuple[str, float, str]]) -> None:
        rows = [("query[0]", 0.0, 1.0), ("query[2]", 0.5, 2.5), ("query[0]", 2.0, 3.0)]
        flows, begun, ends = zip(*rows, strict=True)
        columns = zip(*reductions, strict=True) if reductions else ((), (), ())
        names, times, signals = columns
        self.tables: dict[str, dict[str, Any]] = {
            "transfers": {"flow": flows, "begun_s": begun, "time_s": ends},
            "reductions": {"flow": names, "time_s": times, "signal": signals},
        }

    def group(self, name: str) -> dict[str, int]:
        """The row of the only group."""
        return {"flows": 4}


@pytest.mark.parametrize(
    ("reductions", "queries"),
    [
        ([], 0),
        ([("query[1]", 0.5, "timeout"), ("query[0]", 0.7, "timeout")], 1),  # two of one query
        ([("query[1]", 0.5, "ecn")], 0),  # a mark is no timeout
        ([("query[0]", 1.5, "timeout")], 0),  # between two queries
        ([("query[3]", 1.5, "timeout"), ("query[1]", 2.5, "timeout")], 2),
        ([("long[1]", 0.5, "timeout")], 0),  # of a long flow
        ([("query[0]", 3.5, "timeout")], 0),  # of a query that the run does not complete
    ],
)
def test_a_query_with_timeouts_counts_once(
    study: Study, reductions: list[tuple[str, float, str]], queries: int
) -> None:
    """A query has a timeout if a timer of one of its connections runs out while it is under way,
    and counts once: the paper counts queries, not timeouts."""
    from forebay_studies.dctcp.measure import timeouts_ratio

    found = timeouts_ratio(_Recorded(reductions), 3)  # type: ignore[arg-type]
    assert found == pytest.approx(queries / 3)
