"""The oracles at a tenth of their length, and wrong models that they must refuse."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import calls
import measuring
import meters
import oracles
import packets
import queues
import theory

GUIDE = Path(__file__).resolve().parents[1] / "README.md"
# Of 200 cells of a right engine two lie outside their 99 % interval in the mean, and more than
# eight with probability 0.0002.
MAX_OUTSIDE = 8


def test_cells_agree_with_theory_and_references() -> None:
    """Cells agree with theory and references. Every cell is run as long as its pilot; each exact
    one must agree in every packet."""
    rows = [
        oracles.row(cell, seed, measuring.run_cell(cell, seed, quick=True))
        for seed, cell in enumerate(oracles.CELLS)
    ]
    outside = [oracles.line(row) for row in rows if not row["inside"]]
    assert len(outside) <= MAX_OUTSIDE, "\n".join(outside)
    assert not [row for row in rows if row["exact"] and not row["inside"]], "\n".join(outside)
    # A cell this far out is wrong, whatever the others are: 5 standard errors of 20 replications
    # have a probability of 8e-5.
    assert all(abs(row["z"]) < 5.0 for row in rows if not row["exact"]), "\n".join(outside)


def test_there_are_two_hundred_and_no_two_alike() -> None:
    """There are two hundred cells and no two alike, as the documentation says."""
    assert len(oracles.CELLS) == 200
    assert len({(cell.family, cell.title) for cell in oracles.CELLS}) == 200


def test_the_record_is_of_these_cells_and_keeps_the_promise() -> None:
    """The record is of these cells and keeps the promise of the documentation."""
    rows = json.loads(oracles.RESULT.read_text())
    assert [(row["family"], row["cell"]) for row in rows] == [
        (cell.family, cell.title) for cell in oracles.CELLS
    ]
    assert oracles.share_inside(rows) >= oracles.SHARE
    assert sum(row["half_width"] <= measuring.PRECISION for row in rows) >= 190


def test_the_documentation_shows_the_record() -> None:
    """The documentation shows the record."""
    rows = json.loads(oracles.RESULT.read_text())
    assert "\n".join(oracles.family_table(rows)) in GUIDE.read_text()


def sampled(cells: list[measuring.Cell], family: str, title: str) -> measuring.Sampled:
    """The check of a cell by its family and title."""
    check = next(c.check for c in cells if (c.family, c.title) == (family, title))
    assert isinstance(check, measuring.Sampled)
    return check


PERIODIC = "20 sources, period 25, delay"
MIXED = "0.1 of 0.125 + 0.7 of 4.0, delay of class 0"
ORDERED = "0.1 of 0.125 before 0.7 of 4.0, delay of class 0"
# The theory of another model for the run of a cell. First in the queue of MIXED waits as long as
# any, 7.03 services; exponential sizes of its mean would wait 0.8/0.2 * 0.8/0.975.
WRONG = [
    (queues.CELLS, "M/M/1", "load 0.8, delay", "M/D/1", 1.0 + 0.8 / 0.4),
    (queues.CELLS, "M/D/1", "load 0.8, delay", "M/M/1", 5.0),
    (queues.CELLS, "M/M/1", "load 0.8, waiting", "in the system", 4.0),
    (queues.CELLS, "M/G/1", MIXED, "exponential sizes", 0.125 + 4.0 * 0.8 / 0.975),
    (queues.CELLS, "priority M/G/1", ORDERED, "first in, first out", 0.125 + 7.03125),
    (queues.CELLS, "M/M/1/K", "K 10, load 1.0, loss", "K 9", 1.0 / 10.0),
    (queues.CELLS, "M/D/1/K", "K 4, load 0.9, loss", "M/M/1/4", 0.9**4 * 0.1 / (1 - 0.9**5)),
    # Vacations one after the other while the link is idle, V/2 as the mean rest of one.
    (queues.CELLS, "residual packets", "load 0.6, exponential, V 9.0, delay", "vacations", 7.0),
    # A new wait at each of two links.
    (queues.CELLS, "tandem of M/D/1", "load 0.7, services 1.0, 0.5, delay", "independent links",
     1.5 + 0.7 / 0.6 + 0.5 * 0.35 / 1.3),
    (queues.CELLS, "N*D/D/1", PERIODIC, "M/D/1", 1.0 + 0.8 / 0.4),
    (queues.CELLS, "RED's probability", "load 1.2, 0 to 12 packets, 0.5, loss", "tail drop at 12",
     theory.birth_death(1.2, lambda _n: 1.0, 13)[-1]),
    (calls.CELLS, "Erlang B", "10 erlang, 10 lines, blocking", "11 lines", theory.erlang_b(10, 11)),
    (calls.CELLS, "Engset", "20 sources at 0.2, 5 lines, blocking", "Erlang",
     theory.erlang_b(4.0, 5)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "family", "title", "model", "value"), WRONG, ids=[f"{w[1]}-{w[3]}" for w in WRONG]
)
def test_a_wrong_model_is_refused(
    cells: list[measuring.Cell], family: str, title: str, model: str, value: float
) -> None:
    """A wrong model is refused, so that an oracle does not accept a wrong engine."""
    right = sampled(cells, family, title)
    wrong = measuring.Sampled(**{**vars(right), "theory": value})
    outcome = measuring.run_cell(measuring.Cell(family, model, wrong), 77, quick=True)
    assert not outcome.inside
    assert measuring.run_cell(measuring.Cell(family, title, right), 77, quick=True).inside


def test_a_wrong_meter_is_refused() -> None:
    """A wrong meter is refused packet by packet: a bucket a hundredth of a rate off, a byte too
    shallow, or of another standard."""
    title = "2000000 bit/s, 4000 B, 8000 B, blind, Poisson"
    cell = next(c for c in packets.CELLS if (c.family, c.title) == ("srTCM", title))
    assert isinstance(cell.check, measuring.Exact)
    for factory in (
        lambda: meters.srtcm(2_020_000, 4000, 8000, aware=False),
        lambda: meters.srtcm(2_000_000, 3999, 8000, aware=False),
        lambda: meters.trtcm(2_000_000, 4000, 2_000_000, 12_000, aware=False),
    ):
        compare = packets.colours(factory)
        wrong = measuring.Exact(cell.check.text, compare)
        outcome = measuring.run_cell(measuring.Cell("srTCM", "wrong", wrong), 3, quick=False)
        assert outcome.count >= 10_000
        assert not outcome.inside


@pytest.mark.parametrize(
    ("states", "mean"),
    [
        # M/M/1/K at load 0.8, K = 10: (1 - 0.8) 0.8^10 / (1 - 0.8^11) is lost, 2.966314 are there.
        (theory.birth_death(0.8, lambda _n: 1.0, 10), 2.966314),
        # M/D/1/K is M/D/1 for large K: load 0.9 has 0.9 + 0.81/0.2 = 4.95 in the system.
        (theory.md1k(0.9, 60), 4.95),
    ],
)
def test_distributions_have_known_means(states: list[float], mean: float) -> None:
    """Distributions of the theory sum to one and have known means."""
    assert math.fsum(states) == pytest.approx(1.0)
    assert math.fsum(n * p for n, p in enumerate(states)) == pytest.approx(mean, rel=5e-3)


def test_formulas_have_published_values() -> None:
    """Formulas of the theory have published values: B(10, 10) = 0.2146 (any table of Erlang's
    formula); M/D/1/1 and M/M/1/1 lose rho/(1 + rho), whatever the service (Sevastyanov). Of two
    periodic sources one comes behind the other within its service with probability 1/D, and then
    waits half of it in the mean: 1/(2 D). Loads 0.3 and 0.5 of exponential services: 0.8/0.7 and
    0.8/0.14 (Cobham)."""
    assert theory.erlang_b(10, 10) == pytest.approx(0.2146, abs=5e-5)
    assert theory.md1k(0.8, 1)[-1] == pytest.approx(0.8 / 1.8)
    assert theory.ndd1_wait(2, 10) == pytest.approx(1 / 20)
    assert theory.cobham([(0.3, 1.0, 2.0), (0.5, 1.0, 2.0)]) == pytest.approx(
        [0.8 / 0.7, 0.8 / 0.14]
    )
