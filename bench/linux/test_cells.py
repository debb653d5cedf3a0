"""Checks of the cells that are run beside Linux, without running them."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cells

from forebay.linux.script import network_script
from forebay.run.jobs import check


def test_every_cell_has_a_script() -> None:
    """Half an hour of measurements would end in a refusal."""
    found = [
        cells.job(queue, control)
        for control, queue in itertools.product(cells.CONTROLS, cells.QUEUES)
    ]
    assert len({one.name for one in found}) == len(found)
    both = [
        cells.job(queue, control, linux=True)
        for control, queue in itertools.product(cells.CONTROLS, cells.QUEUES)
    ]
    for one in both:
        script, remarks = network_script(check(one)["resolved"], [])
        assert "iperf3 -c" in script
        assert remarks.approximations == []


def test_table() -> None:
    """A reader would see another difference than was measured."""
    cell = {
        "name": "reno through red",
        "throughput_bps": {"simulated": [8e6, 9e6], "linux": [9e6, 9e6]},
        "drops": {"simulated": [10, 12], "linux": [10, 16]},
        "marks": {"simulated": [1, 1], "linux": [1, 1]},
    }
    # Differences of throughput are 1 and 0 Mbit/s: mean 0.5, half width t(1, 0.975) 0.5 = 6.35;
    # of drops 0 and 4: mean 2, half width 12.706 times 2 = 25.
    assert cells.table([cell]).splitlines()[-1] == (
        "| reno through red | 8.50 | 9.00 | +0.50 ± 6.35 | 12 | 14 | +2 ± 25 |"
    )


def test_guide_shows_what_was_measured() -> None:
    """A reader would compare with numbers that no run gave."""
    measured = json.loads(cells.RESULT.read_text(encoding="utf-8"))["cells"]
    guide = Path(__file__).parents[2] / "docs" / "guides" / "linux.md"
    assert cells.table(measured) in guide.read_text(encoding="utf-8")
    short = [cell for cell in measured if cell["name"] in cells.SHORT]
    assert len(short) == len(cells.SHORT)
    readme = Path(__file__).parents[2] / "README.md"
    assert cells.table(short) in readme.read_text(encoding="utf-8")
    assert [cell["name"] for cell in measured] == [
        cells.job(queue, control).name
        for control, queue in itertools.product(cells.CONTROLS, cells.QUEUES)
    ]
