"""Reports: complete, self-contained, built from files alone."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import front
import pytest

from forebay.drawing import COLOURS, INK, curve, level, new_axis, new_grid, to_svg, with_legend
from forebay.report.study_page import table_links
from forebay.study.assumptions import tagged_values

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Looks for what a browser would forgive and a reader would not."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.loads: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what is open, named, linked to and loaded."""
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href") and (value or "").startswith("#"):
                self.targets.append((value or "")[1:])
            elif name in ("src", "href", "xlink:href", "action"):
                self.loads.append(value or "")
            if tag in ("script", "link", "iframe", "img"):
                self.loads.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """It must close what was opened last."""
        assert self.open.pop() == tag, f"</{tag}> closes nothing"


@pytest.fixture
def page(forebay: front.Forebay, tiny: Path) -> str:
    """The page of the tiny study, in full."""
    assert forebay("reproduce", "tiny", "--out", "results").status == 0
    return Path("results/report.html").read_text()


def test_the_page_is_sound_and_asks_nobody_for_anything(page: str) -> None:
    """The page is sound and loads nothing: it works offline and tells no one that it is read."""
    parsed = Page(page)
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert set(parsed.targets) <= set(parsed.ids)
    assert parsed.loads == []
    assert not re.search(r"@import|url\((?!#)", page)
    # Names of XML vocabularies are the only addresses, and nothing fetches them.
    assert set(re.findall(r"https?://[^\s\"']+", page)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_the_page_says_what_made_it(page: str, tiny: Path) -> None:
    """The page says what made it: the command, the seed, the assumptions and the departures from
    the paper."""
    for words in (
        "forebay reproduce tiny",                 # the command
        "seed</dt><dd>1",                         # the seed
        "The published value is a misprint.",     # the explanation of what does not fit
        "long enough for the intervals",          # an assumption's reason
        "not stated",                             # the deviation
        "To see it halve.",                       # the sensitivity run
        "Figure 1",                               # a value's place in the paper
        "nothing &lt;arrives&gt;",                # text from outside, escaped
    ):  # fmt: skip
        assert words in page, words
    assert page.count("<svg") == 2
    for caption in re.findall(r"<figcaption>(.*?)</figcaption>", page, re.DOTALL):
        assert re.search(r"Scenario [0-9a-f]{16}, seed 1, .*replications", caption)
        assert "<code>forebay reproduce tiny" in caption


def test_the_page_follows_light_dark_print_and_phone(page: str) -> None:
    """The page follows light, dark, print and phone."""
    assert "@media (prefers-color-scheme: dark)" in page
    assert "@media print" in page
    assert 'name="viewport" content="width=device-width' in page
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    assert not any(colour in drawings for colour in (*COLOURS, INK, "#000000"))
    assert "var(--c1)" in drawings


def test_a_sensitivity_run_shows_its_effect(page: str) -> None:
    """A sensitivity run shows its effect on each result.

    The variant halves the rate of the source: from 2 to 1 Mbit/s, a difference of -1.
    """
    row = re.search(r"<td>Table 1, 2 Mbit/s, throughput</td>.*?</tr>", page, re.DOTALL)
    assert row is not None
    cells = re.findall(r'<td class="n">([^<]*)</td>', row[0])
    assert cells[0] == "2.00 Mbit/s"
    assert float(cells[1]) == pytest.approx(2.0, abs=0.05)
    assert float(cells[2]) == pytest.approx(1.0, abs=0.05)
    assert float(cells[3].split()[0]) == pytest.approx(-1.0, abs=0.05)


def test_links_to_tables_can_be_told_apart() -> None:
    """Links to tables can be told apart: the second "Figure 3" has words of its own."""
    places = {
        "a": "Figure 3, section 3.1, time to % of SR",
        "b": "Figure 3, section 3.1, tail bandwidth",
        "c": "Table 3.2, throughput",
        "d": "Section 4, data rate",
        "e": "Section 4, data rate, theory",
    }
    found = table_links([{"anchor": key, "place": place} for key, place in places.items()])
    assert found == [
        {"head": "Figure 3", "links": [("a", "time to % of SR"), ("b", "tail bandwidth")]},
        {"head": "Table 3.2", "links": [("c", "Table 3.2")]},
        {"head": "Section 4", "links": [("d", "data rate"), ("e", "data rate, theory")]},
    ]


def test_a_report_is_built_again_from_its_files(
    forebay: front.Forebay, page: str, tiny: Path
) -> None:
    """A report is built again from its files alone, the same to the byte."""
    Path("results/report.html").unlink()
    assert forebay("report", "results").status == 0
    assert Path("results/report.html").read_text() == page


@pytest.mark.parametrize("damage", ["result.json", "runs.parquet"])
def test_damaged_results_are_refused(
    forebay: front.Forebay, page: str, tiny: Path, damage: str
) -> None:
    """Damaged results are refused: a report of half a file looks like one of a whole."""
    path = Path("results") / damage
    path.write_bytes(path.read_bytes()[:20])
    forebay.refused("report", "results")


def test_folders_without_results_are_refused(forebay: front.Forebay, tmp_path: Path) -> None:
    """Folders without results, and files, are refused."""
    assert "holds no results" in forebay.refused("report", tmp_path)
    (tmp_path / "file").write_text("")
    assert "is a file" in forebay.refused("report", tmp_path / "file")


def test_tags_of_a_scenario_are_found() -> None:
    """Tags of a scenario are found, and tell assumptions from what the paper states."""
    found = tagged_values(front.STUDY_SCENARIO)
    assert len(found) == 10
    tags = {value.path: value for value in found}
    assert tags["duration"].assumed
    assert tags["duration"].tag == "long enough for the intervals"
    assert tags["links.wire.rate"].tag == 'section 2, "a # in quotes"'
    assert tags["links.wire.rate"].value == '"10 Mbit/s"'
    assert not tags["links.wire.rate"].assumed
    several = tagged_values('a = [ # here\n  "x#y",\n]\nb = "#" # there\n')
    assert [(value.path, value.tag) for value in several] == [("a", "here"), ("b", "there")]


def test_the_same_drawing_is_the_same_text() -> None:
    """The same drawing is the same text, so that two reports of the same results are equal."""

    def drawn() -> str:
        drawing, axis = new_axis()
        axis.plot([0, 1], [1, 0], color=COLOURS[0])
        return to_svg(drawing, "same", 'A "title" & more')

    assert drawn() == drawn()
    assert 'aria-label="A &quot;title&quot; &amp; more"' in drawn()


def test_numbers_that_are_read_stay_whole() -> None:
    """Numbers that are read stay whole: the ticks of a small ratio keep their digits."""
    drawing, axis = new_axis()
    axis.plot([0.0, 1.0], [0.0, 0.0125])
    axis.set_yticks([0.0, 0.0025, 0.0125])
    drawn = to_svg(drawing, "ratio", "Ratio")
    assert re.findall(r">(0\.\d{4})</text>", drawn) == ["0.0000", "0.0025", "0.0125"]
    # Coordinates need no more than a hundredth of a point.
    assert not re.search(r"\d\.\d{3}", re.sub(r"(?<=>)[^<]*(?=<)", "", drawn))


def test_small_panels_are_labelled_and_told_apart() -> None:
    """Small panels have ticks, names and a legend of their curves.

    Three panels in two columns: the third has an empty place beside it, so that the second has no
    panel below that could show its ticks.
    """
    drawing, axes = new_grid(["first", "second", "third"], 2, 1.5)
    assert [axis.get_title() for axis in axes] == ["first", "second", "third"]
    for axis in axes:
        curve(axis, 0, range(60), range(60), "rising", every=12)
        curve(axis, 1, range(60), range(60, 0, -1), "falling", every=12)
    level(axes[2], "limit", 30.0)
    with_legend(drawing, axes)
    shown = [axis.xaxis.get_tick_params()["labelbottom"] for axis in axes]
    assert shown == [False, True, True]
    rising, falling = axes[0].lines
    assert rising.get_marker() != falling.get_marker()
    assert rising.get_markevery() != falling.get_markevery()
    drawn = to_svg(drawing, "panels", "Panels")
    for words in ("first", "second", "third", "limit", "rising", "falling"):
        assert drawn.count(f">{words}</text>") == 1
    # Text without a colour is black, on whatever ground.
    assert all("currentColor" in text for text in re.findall(r"<text.*?>", drawn))


def test_many_figures_are_listed(forebay: front.Forebay, tiny: Path) -> None:
    """Many figures are listed with links."""
    with (tiny / "study.py").open("a", encoding="utf-8") as file:
        file.write(TEN_FIGURES)
    assert forebay("reproduce", "tiny", "--quick", "--out", "results").status == 0
    page = Path("results/report.html").read_text()
    assert set(Page(page).targets) <= set(Page(page).ids)
    for number in range(10):
        assert f'<a href="#drawn-{number}">Drawing {number}</a>' in page


TEN_FIGURES = """
from forebay.report.plot import Figure

def figures(outcome):
    return [Figure(f"drawn-{n}", f"Drawing {n}", "A caption.", "<svg></svg>") for n in range(10)]
"""
