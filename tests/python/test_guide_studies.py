"""The study of docs/guides/studies.md: written as a reader would, and re-done."""

import re
from pathlib import Path

import front
import pytest

GUIDE = Path(__file__).parents[2] / "docs/guides/studies.md"
FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_study_of_the_guide_holds(
    forebay: front.Forebay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study of the guide runs and gives what theory says: M/M/1 has rho / (1 - rho) packets in
    the system, 1 and 4, and loses none; a buffer of 10 packets makes fewer of them wait."""
    folder = tmp_path / "guide" / "mm1"
    folder.mkdir(parents=True)
    files = dict(FILE.findall(GUIDE.read_text(encoding="utf-8")))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("FOREBAY_STUDIES", str(folder.parent))
    document = forebay("reproduce", "mm1", "--json").document()
    grades = {row["id"]: row["grade"] for row in document["claims"]}
    assert grades["grows"] == grades["lossless"] == "holds"
    assert {grades["t1/load50/mm1"], grades["t1/load80/mm1"]} <= {"exact", "close"}
    (variant,) = document["sensitivity"]
    (row,) = variant["rows"]
    assert row["variant"] == pytest.approx(2.4, rel=0.1)  # M/D/1: rho + rho^2 / 2 (1 - rho)
    (comparison,) = document["comparisons"]
    short = {row["quantity"]: row for row in comparison["rows"] if row["design"] == "short"}
    assert short["queue_packets"]["verdict"] == "better"
    assert short["loss_ratio"]["verdict"] == "worse"
