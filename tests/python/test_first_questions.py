"""First questions of four kinds of users, asked in a few lines and answered.

Bufferbloat, three classes at an edge, a law of one's own, a picture for a lecture: each is an
example. `cargo test -p own-law` runs the laws.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"

# What four users bring first: files, and the lines of each that are neither empty nor a comment.
TASKS = {
    "bufferbloat.toml": 25,
    "bufferbloat.py": 20,
    "edge.toml": 40,
    "edge.py": 15,
    "mm1.py": 25,
    "own-law/src/early_random.rs": 60,
    "own-law/src/aimd.rs": 75,
}


@pytest.mark.parametrize("name", TASKS)
def test_first_questions_are_asked_in_a_few_lines(name: str) -> None:
    """First questions are asked in a few lines."""
    text = (FOLDER / name).read_text(encoding="utf-8").strip()
    marks = ("#", '"""', "//")
    lines = map(str.strip, text.splitlines())
    written = [line for line in lines if line and not line.startswith(marks)]
    assert len(written) <= TASKS[name]


def told(script: str, *arguments: str) -> str:
    """Returns what a script among the examples prints."""
    command = [sys.executable, str(FOLDER / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_bufferbloat_is_answered_with_intervals() -> None:
    """The answer on bufferbloat has percentiles, completion times and Jain's index, with
    intervals."""
    found = told("bufferbloat.py")
    for words in ("ping, 99 %", "page, median", "Jain's index", "tail drop", "FQ-CoDel", "±"):
        assert words in found, found


def test_classes_at_an_edge_are_answered_with_intervals() -> None:
    """Of twice the agreed calls 2 of 3.2 Mbit/s pass: 37.5 % are lost, and of the agreed none."""
    rows = [line.split() for line in told("edge.py").splitlines()[1:]]
    lost = {(row[0], row[1]): float(row[-1].removesuffix("%")) for row in rows}
    assert len(rows) == 6
    assert lost["20", "calls"] == 0
    assert abs(lost["40", "calls"] - 37.5) < 0.2


def test_a_lecture_shows_theory_beside_measurement(tmp_path: Path) -> None:
    """A lecture's picture shows the mean delay of theory beside the measured one, and both agree.

    The number in the system has the variance given at `mm1`, over four runs of 59 s; by Little the
    mean time is that number over the arrival rate. Limits are five standard errors, and half a
    digit of what is printed.
    """
    found = told("mm1.py", str(tmp_path / "mm1.svg")).splitlines()
    assert len(found) == 7
    for line in found:
        load, mean = float(line[5:9]), float(line.split()[2])
        variance = 2 * load * (1 + load) / (3125 * (1 - load) ** 4 * 4 * 59)
        error_ms = 1e3 * variance**0.5 / (3125 * load)
        assert abs(mean - 0.32 / (1 - load)) < 5 * error_ms + 0.005, line
    assert (tmp_path / "mm1.svg").exists()
