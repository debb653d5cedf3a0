"""Counts of a paper's results, and of what is shown apart from them.

The tiny study: two rates of a Poisson source and a misprint, of which the misprint's column is a
repetition here, the second statement an input.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import front
import pytest

from forebay.study.tally import (
    check_kind,
    counts,
    expectation_text,
    predicted_text,
    runs_text,
    tally_text,
)

ROWS: list[dict[str, Any]] = [
    {"id": "a", "grade": "exact", "kind": "result"},
    {"id": "b", "grade": "consistent", "kind": "result"},
    {"id": "c", "grade": "exact", "kind": "input"},
    {"id": "d", "grade": "fails", "kind": "formula"},
    {"id": "e", "grade": "exact", "kind": "input"},
    {"id": "old", "grade": "close"},
]


def test_only_results_are_counted_as_such() -> None:
    """Only results are counted: echoed parameters do not make a study look better.

    Of six rows three are checks; one has no kind, as in documents before there were any.
    """
    found = counts(ROWS)
    shown = {
        part: {grade: number for grade, number in counted.items() if number}
        for part, counted in found.items()
    }
    assert shown == {
        "summary": {"exact": 1, "close": 1, "consistent": 1, "total": 3},
        "checks": {"exact": 2, "fails": 1, "total": 3},
    }
    assert list(found["summary"]) == [
        "exact", "close", "consistent", "trend", "holds", "fails", "deviates", "imprecise", "total",
    ]  # fmt: skip
    assert tally_text({"claims": ROWS, **found}) == (
        "3 results: 1 exact, 1 close, 1 consistent; 3 checks (2 inputs, 1 formula): "
        "2 exact, 1 fails."
    )
    alone = ROWS[:1]
    assert tally_text({"claims": alone, **counts(alone)}) == "1 result: 1 exact."
    checks = ROWS[2:3]
    assert tally_text({"claims": checks, **counts(checks)}) == (
        "0 results; 1 check (1 input): 1 exact."
    )
    assert [check_kind(row) for row in ROWS] == ["", "", "input", "formula", "input", ""]


def test_a_prediction_is_shown_in_the_digits_it_bears() -> None:
    """A prediction is shown in the digits that it bears, with the number of runs that it is for.

    Half of 28.9 to 29.3 is 0.2: two digits of that are hundredths, if the paper prints as many.
    """
    row = {"runs": 3, "statistic": "highest", "predicted_low": 28.904, "predicted_high": 29.304}
    assert (predicted_text(row), runs_text(row)) == ("28.90 to 29.30", "highest of 3 runs")
    assert predicted_text(row, 1) == "28.9 to 29.3"
    single = row | {"runs": 1, "predicted_low": None, "predicted_high": None}
    assert (predicted_text(single), runs_text(single)) == ("?", "one run")
    assert (predicted_text({}), runs_text({})) == ("", "")
    assert expectation_text([row, single, row, {}]) == (
        "second line: 95 % prediction interval (highest of 3 runs, one run)"
    )
    assert expectation_text([{}]) == ""


@pytest.fixture
def mixed(tiny: Path) -> Path:
    """The tiny study with checks, and a row published from three runs."""
    path = tiny / "paper.toml"
    text = path.read_text()
    counts = "more-gives-more"
    for old, new in (
        ('label = "misprint",', f'label = "misprint", kind = "repeat", follows = "{counts}",'),
        ("values = [2.00, 9.99]", "values = [2.00, 9.99], runs = 3"),
        ('"all_is_lost"', '"all_is_lost"\nkind = "input"'),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    path.write_text(text)
    return tiny


def test_every_place_shows_checks_apart(forebay: front.Forebay, mixed: Path) -> None:
    """Terminal, README and report all show checks apart from results.

    Results are the two throughputs and the first statement; the misprint and the second statement,
    which is false, are checks.
    """
    tally = "3 results: 2 exact, 1 holds; 2 checks (1 input, 1 repeat): 1 deviates, 1 fails."
    answer = forebay("reproduce", "tiny", "--replications", "20", "--out", mixed)
    assert f"tiny: {tally}" in answer.out
    row = next(line for line in answer.out.splitlines() if line.startswith("2 Mbit/s"))
    # The grade of a result, then that of a check with the mark of its kind.
    assert row.rstrip().endswith("!r")
    assert " = " in row
    assert "checks, not counted as results: r repeat" in answer.out
    assert "second line: 95 % prediction interval (mean of 3 runs)" in answer.out
    assert any(line.split() == ["fails", "input", "nothing", "<arrives>", "section", "3"]
               for line in answer.out.splitlines())  # fmt: skip

    readme = (mixed / "README.md").read_text()
    results, _, checks = readme.partition("\nChecks, not counted as results:")
    assert tally in results
    assert "| nothing <arrives> | section 3 | input | fails |" in checks
    assert "| follows from |" in checks
    assert "| follows from |" not in results
    assert "| Table 1, 2 Mbit/s, throughput | 2.00 Mbit/s |" in results
    assert ", mean of 3 runs | 20 | exact |" in results
    assert "misprint |" not in results
    assert "| repeat | `more-gives-more` | deviates |" in checks
    assert "`t1/rate2/wrong` (deviates, repeat)" in results

    page = (mixed / "report.html").read_text()
    assert "<li><b>3</b>\nresults</li>" in page
    assert "2 checks (1 input, 1 repeat): 1 deviates, 1 fails" in page
    mark = '<span class="check" title="follows from more-gives-more">repeat</span>'
    assert page.count(f'<span class="deviates">deviates</span> {mark}') == 2
    assert '<span class="expected" title="95 % prediction interval: mean of 3 runs">' in page


def test_documents_of_older_versions_are_still_shown(forebay: front.Forebay, tiny: Path) -> None:
    """Documents of older versions are still shown."""
    import json

    forebay("reproduce", "tiny", "--out", "results")
    path = Path("results/result.json")
    document = json.loads(path.read_text())
    del document["checks"], document["summary"]["consistent"]
    for claim in document["claims"]:
        del claim["kind"]
    path.write_text(json.dumps(document))
    assert forebay("report", "results").status == 0
    assert "<b>5</b>\nresults" in Path("results/report.html").read_text()


def test_the_list_of_studies_counts_results_only(forebay: front.Forebay, mixed: Path) -> None:
    """The list of studies counts results only, and checks besides.

    Of three printed values one is a repetition, of two statements one an input.
    """
    (row,) = forebay("studies", "--json").document()["studies"]
    assert (row["numbers"], row["statements"], row["checks"]) == (2, 1, 2)
    assert "2 numbers and 1 statements compared, 2 checks besides" in forebay("studies").out
