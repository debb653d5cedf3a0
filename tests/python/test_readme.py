"""Pages of studies in Markdown: README.md made of about.md, and results.md."""

from __future__ import annotations

from pathlib import Path

import front
import pytest

ABOUT = """# A tiny study

It claims little.

<!-- score -->

<!-- claims: t1/rate2/*, t1/rate4/* -->

<!-- claims: all-* -->

<!-- figure: two-queue | What waits at 2 Mbit/s. -->

```text
<!-- claims: not a marker in an example -->
```

The end.
"""


@pytest.fixture
def told(tiny: Path) -> Path:
    """The tiny study with a page about it; the page."""
    path = tiny / "about.md"
    path.write_text(ABOUT, encoding="utf-8")
    return path


def test_a_page_is_filled_in(forebay: front.Forebay, told: Path) -> None:
    """A page is filled in with counts and figures of the results."""
    assert forebay("reproduce", "tiny", "--out", "results").status == 0
    text = Path("results/README.md").read_text()
    assert "`forebay reproduce tiny`, Forebay " in text
    assert "\n4 results: " not in text
    assert "\n5 results: " in text
    assert "[results.md](results.md)" in text
    assert "| Table 1, 2 Mbit/s, misprint | 9.99 Mbit/s | " in text
    assert "| `all-is-lost` | nothing <arrives> | fails |" in text
    assert "more load" not in text
    assert "![What waits at 2 Mbit/s.](two-queue.svg)" in text
    assert "<!-- claims: not a marker in an example -->" in text
    assert text.endswith("\nThe end.\n")
    results = Path("results/results.md").read_text()
    assert "| Table 1, 2 Mbit/s, throughput | 2.00 Mbit/s |" in results
    assert "What does not fit" in results
    assert "Sensitivity" in results


def test_a_figure_is_a_file_that_is_always_the_same(forebay: front.Forebay, told: Path) -> None:
    """A figure is a file that is always the same, and has its colours without a page around it."""
    for folder in ("one", "two"):
        assert forebay("reproduce", "tiny", "--replications", "2", "--out", folder).status == 0
    first, second = (Path(name, "two-queue.svg").read_bytes() for name in ("one", "two"))
    assert first == second
    text = first.decode()
    assert text.startswith("<svg ")
    assert 'xmlns="http://www.w3.org/2000/svg"' in text
    assert "--c1:#" in text
    assert "date" not in text.lower()


def test_pages_are_made_again_of_results_alone(forebay: front.Forebay, told: Path) -> None:
    """Pages are made again of results alone, without runs."""
    assert forebay("reproduce", "tiny", "--out", "results").status == 0
    names = ("README.md", "results.md", "two-queue.svg")
    before = {name: Path("results", name).read_bytes() for name in names}
    told.write_text(ABOUT.replace("claims little", "claims much"))
    for name in names:
        Path("results", name).unlink()
    assert forebay("report", "results").status == 0
    after = {name: Path("results", name).read_bytes() for name in names}
    assert b"claims much" in after["README.md"]
    after["README.md"] = after["README.md"].replace(b"claims much", b"claims little")
    assert after == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "all-*",
            "all-is-lst",
            'line 9: no claim matches "all-is-lst" (did you mean "all-is-lost"?)',
        ),
        ("<!-- score -->", "<!-- scores -->", "line 5: read 'scores'"),
        (
            "<!-- score -->",
            "<!-- score: all -->",
            "line 5: read '<!-- score: all -->'; score",
        ),
        ("claims: all-*", "claims", "line 9: read '<!-- claims -->'; claims is followed by"),
    ],
)
def test_a_wrong_page_is_refused_before_anything_runs(
    forebay: front.Forebay, told: Path, old: str, new: str, message: str
) -> None:
    """A wrong page is refused before anything runs."""
    told.write_text(ABOUT.replace(old, new))
    error = forebay.refused("reproduce", "tiny", "--out", "results")
    assert f"{told}: {message}" in error
    assert not Path("results").exists()


def test_an_unknown_figure_is_named(forebay: front.Forebay, told: Path) -> None:
    """An unknown figure is named; the results are there all the same."""
    told.write_text(ABOUT.replace("figure: two-queue", "figure: two-quue"))
    error = forebay.refused("reproduce", "tiny", "--out", "results")
    assert f"{told}: line 11: no figure 'two-quue'" in error
    assert '"two-queue"' in error
    assert Path("results/result.json").is_file()


def test_a_part_of_a_study_has_a_page(forebay: front.Forebay, told: Path) -> None:
    """A part of a study has a page, which says what was not measured or drawn."""
    told.write_text(ABOUT.replace("figure: two-queue", "figure: other"))
    assert forebay("reproduce", "tiny", "--claims", "t1/*", "--out", "results").status == 0
    text = Path("results/README.md").read_text()
    assert "None of these claims was measured." in text
    assert "*Not drawn, as not all was run: What waits at 2 Mbit/s.*" in text
