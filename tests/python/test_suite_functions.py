"""Functions in suites: cases that they judge, and pilot runs from which they take parameters."""

from __future__ import annotations

import json
from pathlib import Path

import front
import pytest
import small_suite

RAISES = Path(__file__).parent / "bad_laws" / "raises.py"

FUNCTIONS = """
from forebay.run.measured import Finding

def judged(run):
    return Finding(0.0, "it is never passed")

def found(run):
    return run.parameters["buffer"] * 0.6

def missing(run):
    return Finding(None, "there is none")
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small suite with functions; the current folder is empty."""
    folder = small_suite.placed(tmp_path, monkeypatch)
    (folder / "functions.py").write_text(FUNCTIONS)
    return folder


def changed(folder: Path, cell: str, lines: str) -> None:
    """Give a cell of the suite more keys."""
    path = folder / "suite.toml"
    head = f"[cells.{cell}]\n"
    assert head in path.read_text()
    path.write_text(path.read_text().replace(head, head + lines))


def piloted(folder: Path) -> None:
    """Give the cell `one` a pilot, and the screening another cell."""
    changed(folder, "one", 'pilot = { buffer = { function = "found" } }\n')
    path = folder / "suite.toml"
    path.write_text(path.read_text().replace('cells = ["one"]', 'cells = ["two/fast"]'))


def test_cases_of_the_baseline_decide_nothing(small: Path, forebay: front.Forebay) -> None:
    """A case that the baseline fails is shown and is no failure of the command, as with checks; one
    that a law under test fails is, the baseline's law too if it is named."""
    changed(small, "one", 'judge = "judged"\n')
    words = ("suite", "small", "--cells", "one", "--quick", "--out", "o")
    told = forebay(*words)
    assert told.status == 0
    assert "case fails: one, droptail (baseline): it is never passed" in told.err
    assert "FAIL" in told.out
    assert "not simulated: 3 three flows: two are enough" in told.out
    told = forebay(*words, "--queue", "droptail")
    assert told.status == 1
    assert "case fails: one, droptail: it is never passed" in told.err


def test_reports_have_cases_and_what_is_omitted(small: Path, forebay: front.Forebay) -> None:
    """Page and tables of a folder have the cases, what broke them and what is not simulated, made
    of the files alone: readers have nothing else."""
    changed(small, "one", 'judge = "judged"\n')
    forebay("suite", "small", "--cells", "one", "--quick", "--out", "o", "--json")
    made = {name: Path("o", name).read_text() for name in ("report.html", "table.md", "tables.tex")}
    for text in made.values():
        for words in ("Cases", "FAIL", "it is never passed", "Not simulated", "two are enough"):
            assert words in text
    (small / "functions.py").unlink()
    forebay("report", "o")
    assert Path("o/report.html").read_text() == made["report.html"]
    assert forebay("report", "o", "--format", "latex").out == made["tables.tex"]


def test_pilot_runs_give_parameters(small: Path, forebay: front.Forebay) -> None:
    """A cell with a pilot has the parameter that the pilot run gave, and a law for which it has
    none is not run and says why: 0.6 of 50 ms are 30 ms."""
    piloted(small)
    words = ("suite", "small", "--cells", "one", "--queue", "codel", "--json", "--out")
    document = json.loads(forebay(*words, "a").out)
    assert {row["column"] for row in document["rows"]} == {"droptail", "codel"}
    assert [cell["name"] for cell in document["cells"]] == ["one"]
    assert document["runs"] == 2
    for column in ("droptail", "codel"):
        text = Path(f"a/cells/{column}/one.toml").read_text()
        assert 'limit = "30 ms"' in text
        assert "50 ms" not in text
    path = small / "suite.toml"
    path.write_text(path.read_text().replace('"found"', '"missing"'))
    document = json.loads(forebay(*words, "b").out)
    assert document["rows"] == []
    lacking = dict.fromkeys(("droptail", "codel"), "there is none")
    assert document["cells"][0]["lacking"] == lacking


def test_a_pilot_run_that_fails_is_status_1(small: Path) -> None:
    """A law that fails in its pilot run has given no result: the command says so, and runs the
    others."""
    piloted(small)
    typed = front.Typed(Path.cwd())
    words = ("--laws", RAISES, "--queue", "raises", "--cells", "one")
    told = typed("suite", "small", *words, "--json", status=1)
    assert "run failed: one, raises: " in told.err
    document = json.loads(told.out)
    assert {row["column"] for row in document["rows"]} == {"droptail"}
    (failed,) = document["failed"]
    assert (failed["column"], failed["scenario"]) == ("raises", "cells/raises/one.toml")


def test_cells_with_a_pilot_are_not_screened(small: Path, forebay: front.Forebay) -> None:
    """A screening of a cell with a pilot is refused: its points would be pilot runs."""
    changed(small, "one", 'pilot = { buffer = { function = "found" } }\n')
    told = forebay.refused("suite", "small", "--cells", "vary/one")
    assert 'screening.cells: "one" has a pilot; name cells without' in told
