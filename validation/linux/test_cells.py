"""Checks of the cells that are run beside Linux, and of what is made of their record."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cells
import grades
import page
from scenarios import CELLS, Cell

from forebay.errors import UserError
from forebay.linux.machine import image
from forebay.linux.script import network_script
from forebay.run.jobs import check

GUIDE = page.DOCS / "guides" / "linux.md"


def test_every_cell_has_a_script() -> None:
    """Every cell has a script without refusals or approximations, which half an hour of
    measurements otherwise ends in."""
    assert len({cell.name for cell in CELLS}) == len(CELLS) == 65
    for cell in CELLS:
        check(cell.job())
        script, remarks = network_script(check(cell.job(linux=True))["resolved"], [])
        assert "datagrams.py" in script
        assert remarks.approximations == []


def test_quantities() -> None:
    """Quantities of a cell are those of the link, of the flows together, and of the probe alone."""
    side = {
        "links": [{"throughput_bps": 9e6, "drops": 4, "marks": 2}, {"throughput_bps": 1.0}],
        "flows": [
            {"shares_bps": [3.0, 1.0], "retransmissions": 5},
            {"shares_bps": [4.0], "retransmissions": 6},
            {"shares_bps": [9.0], "mean_delay_s": 0.02, "p95_delay_s": 0.03},
        ],
    }
    # Jain's index of 3, 1 and 4: 64 / (3 * 26).
    assert cells.quantities(side) == {
        "throughput_bps": 9e6,
        "jain_index": 64 / 78,
        "mean_delay_s": 0.02,
        "p95_delay_s": 0.03,
        "drops": 4,
        "marks": 2,
        "retransmissions": 11,
    }


def test_difference() -> None:
    """The interval of a difference is Welch's, as replications of two programs are no pairs."""
    # Variances 1 and 4, three runs each: the variance of the difference is 5/3. Welch's degrees of
    # freedom are (5/3)^2 / ((1/3)^2 / 2 + (4/3)^2 / 2) = 2.94, so 2, whose t is 4.3027.
    found = grades.difference([1.0, 2.0, 3.0], [4.0, 6.0, 8.0])
    assert found.mean == -4.0
    assert found.half_width == pytest.approx(4.3027 * (5 / 3) ** 0.5, abs=1e-3)
    assert grades.difference([2.0, 2.0], [1.0, 1.0]).half_width == 0.0


def _cell(name: str, simulated: list[float], linux: list[float]) -> dict[str, Any]:
    """A cell whose drops are given and whose other quantities are 0."""
    nothing = {"simulated": [0.0], "linux": [0.0]}
    drops = {"simulated": simulated, "linux": linux}
    return {"name": name, "kernel": "6.1", **dict.fromkeys(grades.QUANTITIES, nothing)} | {
        "drops": drops
    }


@pytest.mark.parametrize(
    ("simulated", "linux", "grade"),
    [
        # The tolerance of 100 drops is 15: half widths are 4.3 s sqrt(2/3) or less.
        ([99.0, 100.0, 101.0], [99.0, 101.0, 100.0], "agrees"),
        ([90.0, 91.0, 89.0], [99.0, 100.0, 101.0], "close"),
        ([60.0, 100.0, 140.0], [90.0, 100.0, 110.0], "imprecise"),
        ([59.0, 60.0, 61.0], [99.0, 100.0, 101.0], "unexplained"),
    ],
)
def test_grades(simulated: list[float], linux: list[float], grade: str) -> None:
    """Grades tell agreement from noise, and a difference from both."""
    (row,) = grades.grade([_cell("reno through red", simulated, linux)], [])
    assert row.grade == grade


def test_reasons(tmp_path: Path) -> None:
    """A reason excuses only its own cells and quantities, and only what differs."""
    reason = {"name": "why", "cells": ["* through red"], "quantities": ["drops"], "reason": "x"}
    red = _cell("reno through red", [10.0, 11.0], [90.0, 91.0])
    codel = {**red, "name": "reno through codel"}
    found = [row.grade for row in grades.grade([red, codel], [reason])]
    assert found == ["explained", "unexplained"]
    file = tmp_path / "differences.toml"
    file.write_text(
        '[[difference]]\nname = "a"\ncells = ["b"]\nquantities = ["drop"]\nreason = "c"\n'
    )
    with pytest.raises(UserError, match="no quantity drop"):
        grades.read_reasons(file)


def test_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements can be had in portions, of one engine only."""
    asked: list[str] = []

    def measure(cell: Cell, replications: int) -> dict[str, Any]:
        asked.append(cell.name)
        row = _cell(cell.name, [1.0] * replications, [2.0] * replications)
        return {**row, "made": cells.made()}

    def run(*words: str) -> list[str]:
        asked.clear()
        monkeypatch.setattr(sys, "argv", ["cells.py", *words])
        cells.main()
        return list(asked)

    monkeypatch.setattr(cells, "RESULT", tmp_path / "result.json")
    monkeypatch.setattr(cells, "measure", measure)
    one = ("--only", "reno through red")
    assert run(*one, "--look") == ["reno through red"]
    assert cells.read() == {}
    assert run(*one) == ["reno through red"]
    assert run(*one) == []
    assert run(*one, "--again") == run(*one, "--replications", "5") == ["reno through red"]
    rest = run("--only", "reno", "--replications", "5")
    assert len(rest) == 15
    assert "reno through red" not in rest
    monkeypatch.setattr(cells, "build", lambda: "another")
    assert run(*one, "--replications", "5") == ["reno through red"]


def test_changes() -> None:
    """Changes tell which differences went, which stay, and which are new."""
    cells_now = [
        _cell("reno through red", [10.0, 11.0], [90.0, 91.0]),
        _cell("reno through codel", [99.0, 100.0], [99.0, 100.0]),
        _cell("reno through pie", [10.0, 11.0], [90.0, 91.0]),
    ]
    before = [("reno through red", "drops"), ("reno through codel", "drops")]
    told = page.changes(grades.grade(cells_now, []), before)
    assert told.startswith("Of 2 quantities that differed in an earlier record 1 still do, 1 do")
    assert "| reno through red | - | drops ‡ | - |" in told
    assert "| reno through codel | drops | - | - |" in told
    assert "| reno through pie | - | - | drops ‡ |" in told


def test_earlier_differences_are_of_cells() -> None:
    """Earlier differences are of cells under their present names."""
    names = {cell.name for cell in CELLS}
    assert {cell for cell, _ in grades.read_before()} <= names
    assert len(grades.read_before()) == 36


TOOLS = all(map(shutil.which, ("ip", "tc", "ethtool", "iperf3", "python3", "ss")))


@pytest.mark.skipif(
    not (TOOLS and os.access(image(), os.X_OK)),
    reason="validation/linux/install.sh and validation/linux/kernel.sh have not been run here",
)
@pytest.mark.parametrize("name", ["reno through sfq", "cbr through tbf"])
def test_measured(name: str) -> None:
    """Cells can be measured again: both sides fill the link as their paths say."""
    (cell,) = (cell for cell in CELLS if cell.name == name)
    found = cells.measure(cell, 1)
    for side in ("simulated", "linux"):
        # SFQ has the link filled, tbf lets 8 Mbit/s through; a packet more or less in 15 s.
        rate = 10e6 if cell.path == "sfq" else 8e6
        assert found["throughput_bps"][side][0] == pytest.approx(rate, rel=1e-3)
        # No less than 20 ms of wire, on average; no more than that and a queue of 75 kB.
        assert 0.020 < found["mean_delay_s"][side][0] < 0.020 + 0.075 + 0.003
    # A sparse flow waits for a packet in transmission and others of its round, of 1.2 ms each; the
    # overloaded bucket is always full.
    assert abs(found["mean_delay_s"]["linux"][0] - found["mean_delay_s"]["simulated"][0]) < 1.2e-3


def test_record() -> None:
    """The record has cells that are defined, and every reason explains something."""
    recorded = cells.read()
    names = [cell.name for cell in CELLS]
    assert list(recorded) == [name for name in names if name in recorded]
    rows = grades.grade(recorded.values(), grades.read_reasons())
    used = {row.reason for row in rows}
    assert {entry["name"] for entry in grades.read_reasons()} <= used


def test_pages_show_what_was_measured() -> None:
    """Pages show what was measured."""
    recorded, reasons = list(cells.read().values()), grades.read_reasons()
    told = page.page(recorded, reasons, grades.read_before())
    assert page.PAGE.read_text(encoding="utf-8") == told
    rows = grades.grade(recorded, reasons)
    readme = page.README.read_text(encoding="utf-8")
    assert page.summary(rows) in " ".join(readme.split())
