"""Checks of the measurement of coverage, at a tenth of its work, and of what is recorded of it."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cover
import methods
import sources

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "statistics.md"
# With 99.9 % probability a binomial count of m trials lies within 3.29 standard deviations.
BAND = 3.29


def test_the_guide_shows_what_was_measured() -> None:
    """The guide shows what was measured."""
    document = json.loads(cover.RESULT.read_text())
    guide = GUIDE.read_text()
    for lines in (cover.coverage_table(document), cover.stopping_table(document)):
        assert "\n".join(lines) in guide
    assert min(row["groups"] for row in document["coverage"]) >= 1000


def test_the_record_keeps_the_promises() -> None:
    """The record keeps the promises of the default: 93 to 97 % from 20 replications on, for every
    source, and 500 stops within the error asked for in 93 % at least."""
    document = json.loads(cover.RESULT.read_text())
    for row in document["coverage"]:
        margin = BAND * math.sqrt(0.05 * 0.95 / row["groups"])
        assert row["Forebay"] >= row["Student"]
        assert row["Forebay"] <= 0.97 + margin
        if row["n"] >= 20:
            assert row["Forebay"] >= 0.93
    for row in document["stopping"]:
        assert row["right"] >= 0.93 * row["precise"] > 0
        assert row["precise"] <= row["trials"]


def test_bursty_replications_are_covered_as_recorded() -> None:
    """Bursty replications are covered as recorded: of 600 fresh groups of ten runs of the bursty
    source as many are covered as the recorded share says, give or take 3.29 standard deviations of
    both counts, and more than Student's interval covers."""
    source = sources.SOURCES["bursty-0.64"]
    groups = sources.pool(source, 6000).reshape(-1, 10)
    document = json.loads(cover.RESULT.read_text())
    row = next(r for r in document["coverage"] if (r["source"], r["n"]) == (source.title, 10))
    found = cover.cover(groups, float(groups.mean()))
    for name in ("Student", "Forebay"):
        spread = math.sqrt(row[name] * (1 - row[name]) * (1 / len(groups) + 1 / row["groups"]))
        assert abs(found[name] - row[name]) <= BAND * spread
    assert found["Forebay"] > found["Student"] + 0.02


def test_replications_of_a_known_queue_have_its_mean() -> None:
    """Replications of a known queue have its mean, the truth that intervals are held against: M/M/1
    at load 0.5 keeps rho^2 / (1 - rho) = 0.5 packets waiting. The bound is 5 standard errors, 0.4 %
    at load 0.5; what is left of the empty start after 1 s, a thousand services, is far below that.
    """
    values = sources.pool(sources.SOURCES["mm1-0.5"], 3000)
    assert abs(values.mean() - 0.5) <= 5 * values.std(ddof=1) / math.sqrt(len(values))
    assert values.std(ddof=1) / math.sqrt(len(values)) < 0.004 * 0.5


@pytest.mark.parametrize("name", list(methods.METHODS))
def test_every_method_covers_normal_values(name: str) -> None:
    """Every method that is compared covers normal values, as all are right for these in the limit,
    here 2000 groups of 60."""
    groups = np.random.default_rng(8).normal(3.0, 1.0, (2000, 60))
    low, high = methods.METHODS[name](groups, 0.95)
    covered = float(np.mean((low <= 3.0) & (high >= 3.0)))
    # All but Student's are so only up to 1/n: a percent more on either side.
    assert abs(covered - 0.95) <= 0.01 + BAND * math.sqrt(0.95 * 0.05 / 2000)
