"""Suites: cells as data, laws beside a baseline, checks, and what became worse."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import front
import pytest
import small_suite

from forebay.cli import lab
from forebay.errors import UserError
from forebay.pages.page import coded
from forebay.suite.cells import Asked, Cell, cells_of
from forebay.suite.definition import load_definition
from forebay.suite.folders import suite_folder
from forebay.suite.lab import scenario_links
from forebay.suite.laws import law_of
from forebay.suite.report import report_of
from forebay.suite.tables import section_tables
from forebay.suite.template import filled, parameters
from forebay.suite.trade_off import ellipse_of, trade_off_figure

ECN_WORDS = "ecn = true in cells with ECN, else false"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small suite; the current folder is empty."""
    return small_suite.placed(tmp_path, monkeypatch)


def rows_of(document: dict[str, Any], cell: str, quantity: str) -> dict[str, dict[str, Any]]:
    """The rows of a quantity of a cell, by column."""
    return {
        row["column"]: row
        for row in document["rows"]
        if (row["cell"], row["quantity"]) == (cell, quantity)
    }


def test_braces_are_exact_quantities() -> None:
    """Braces give times, rates and sizes exactly and with a unit, and whole numbers on demand: a
    scenario with 9.999 ms for 10 ms would be another one.

    10 Mbit/s x 200 ms are 250,000 B, or 166.67 packets of 1500 B, and 0.036 x 166.67 = 6.
    """
    known = parameters(
        {"rate": "10 Mbit/s", "rtt": "100 ms", "packets": "rate * 2 * rtt / 1500 B"}, "here"
    )
    told = {
        "rate": "{10 * rate}",
        "delay": "{rtt / 2 - 2 ms}",
        "limit": "{rate * rtt}",
        "count": "{0.036 * packets:whole}",
        "share": "{1 / 4}",
        "words": ["A to {rtt}", 3, True],
    }
    assert filled(told, known, "here") == {
        "rate": "100 Mbit/s",
        "delay": "48 ms",
        "limit": "125 kB",
        "count": 6,
        "share": 0.25,
        "words": ["A to 100 ms", 3, True],
    }


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("{rat}", 'did you mean "rate"'),
        ("{rate * rate}", "is in bit²/s²"),
        ("{rate / 0}", "no value"),
        ("{rate / 80 Mbit/s:whole}", "is 0.125, which is none when rounded"),
    ],
)
def test_wrong_braces_are_refused(told: str, why: str) -> None:
    """Wrong braces are refused by their place: a suite is written by hand."""
    known = parameters({"rate": "10 Mbit/s"}, "here")
    with pytest.raises(UserError, match=r"file\.key") as caught:
        filled({"key": told}, known, "file")
    assert why in str(caught.value)


def test_a_run_without_a_value_is_no_point() -> None:
    """Of runs in which nothing arrived there is no delay: they are left out of the drawing, and the
    others shown."""
    sides = [
        {"cell": "a", "column": "law", "quantity": name, "words": name, "unit": unit, **found}
        for name, unit, found in (
            ("delay", "s", {"mean": None, "values": [0.01, 0.02, None]}),
            ("goodput", "bit/s", {"mean": 2e6, "values": [1e6, 2e6, 3e6]}),
        )
    ]
    drawn = trade_off_figure(sides, "t", ["a"], ["delay", "goodput"])
    assert "delay (ms)" in drawn.svg
    assert "goodput (Mbit/s)" in drawn.svg


def test_an_ellipse_has_the_axes_of_its_covariance() -> None:
    """An ellipse has the standard deviations along and across the main direction as half-axes:
    RFC 7928, section 2.7, asks for 1 sigma.

    Four points at (+-2, 0) and (0, +-1), turned by 30 degrees: variances 2 x 4 / 3 and 2 / 3.
    """
    turn = math.radians(30.0)
    points = [(2.0, 0.0), (-2.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
    x = [5.0 + a * math.cos(turn) - b * math.sin(turn) for a, b in points]
    y = [7.0 + a * math.sin(turn) + b * math.cos(turn) for a, b in points]
    assert ellipse_of(x, y) == pytest.approx((math.sqrt(8 / 3), math.sqrt(2 / 3), 30.0))


def test_lists_name_suites_and_cells(small: Path, forebay: front.Forebay) -> None:
    """Lists name the suites and, of one, the cells with sections: one chooses by them."""
    listed = json.loads(forebay("suite", "--json").out)
    assert [each["id"] for each in listed["suites"]] == ["small"]
    told = forebay("suite", "small", "--list").out
    names = [cell["name"] for cell in json.loads(forebay("suite", "small", "--list", "--json").out)[
        "cells"
    ]]  # fmt: skip
    assert names == ["one", "two/slow", "two/slow/ecn", "two/fast", "two/fast/ecn", "vary/one"]
    assert all(name in told for name in names)
    assert "5 cells, and 1 that run only by name" in told
    assert "not simulated: 3 three flows: two are enough" in told


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("smal",), 'no suite "smal" (did you mean "small"?)'),
        (("small", "--queue", "fq_code"), '--queue: no queue "fq_code" (did you mean "fq_codel"'),
        (("small", "--media", "nada"), "--media: the suite tests queue laws; name some by --queue"),
        (("small", "--cells", "three"), '--cells: none is called "three"; there are one, two/slow'),
        (("small", "--rate", "8"), '--rate: "8": allowed is a rate above 0, such as 10 Mbit/s'),
        (("small", "--against", "nowhere"), "--against: nowhere/table.json: no such file"),
        (("small", "--queue", "red:no.toml"), "no.toml: no such file"),
    ],
)
def test_wrong_input_is_status_2(
    small: Path, forebay: front.Forebay, words: tuple[str, ...], why: str
) -> None:
    """Wrong input is status 2 with what was read and what is near: nothing is run."""
    assert why in forebay.refused("suite", *words)


def test_a_parameter_that_a_law_lacks_is_refused(small: Path, forebay: front.Forebay) -> None:
    """A file of parameters may hold those of its law alone: a misspelt one would be a default."""
    Path("mine.toml").write_text('targt = "2 ms"\n')
    told = forebay.refused("suite", "small", "--queue", "codel:mine.toml")
    assert 'mine.toml: targt: codel has no such parameter (did you mean "target"?)' in told


def test_a_wrong_value_is_said_of_its_file(small: Path, forebay: front.Forebay) -> None:
    """A value that a law does not take is said of the file that has it: its author knows no other
    file."""
    Path("mine.toml").write_text("target = 2\n")
    told = forebay.refused("suite", "small", "--queue", "codel:mine.toml")
    assert "mine.toml: target: 2 has no unit" in told
    assert "--set" not in told
    told = forebay.refused("suite", "small", "--queue", "choke")
    assert "choke: of: is missing; it takes a queue" in told
    assert "choke:FILE.toml sets parameters" in told


def test_classes_of_traffic_have_rows_of_their_own() -> None:
    """Quantities of classes are rows beside each other, not columns: ten classes of three
    quantities would be a table that no page holds."""
    rows = [
        {
            "cell": "one", "column": "law", "quantity": f"share{'.' if part else ''}{part}",
            "class": part, "words": f"share of {part}" if part else "share", "unit": "share",
            "headline": False, "mean": mean, "low": mean, "high": mean, "note": "",
        }
        for part, mean in (("", 1.0), ("web", 0.25), ("bulk", 0.75))
    ]  # fmt: skip
    cell = {"name": "one", "section": "1", "title": "One", "weight": "must"}
    (section,) = section_tables({"cells": [cell], "rows": rows})
    assert section.whole.names == [("one", "law")]
    assert section.classes.names == [("one", "law", "web"), ("one", "law", "bulk")]
    (column,) = section.classes.columns
    assert [row and row["mean"] for row in column.rows] == [0.25, 0.75]


@pytest.mark.long
def test_laws_stand_beside_the_baseline(small: Path, forebay: front.Forebay) -> None:
    """Every cell has the baseline beside the laws, with the same buffer and random numbers, in
    tables, a page and scenarios that give the same run alone."""
    Path("fast.toml").write_text('target = "2 ms"\n')
    words = ("suite", "small", "--queue", "codel", "--queue", "codel:fast.toml", "--quick")
    document = json.loads(forebay(*words, "--out", "o", "--json").out)
    assert [each["label"] for each in document["columns"]] == ["droptail", "codel", "codel:fast"]
    fixed, filled_in, work = (row["answers"] for row in document["report"])
    assert fixed[0] == "none"  # tail drop has a limit, and cells set that
    assert "target = 5 ms" in fixed[1]
    assert "target" not in fixed[2]
    assert filled_in == ["limit = buffer", *(2 * [f"limit = buffer, {ECN_WORDS}"])]
    assert work == ["", "", ""]
    assert Path("o/table.md").read_text().count("for the author") == 3
    delays = rows_of(document, "two/fast", "delay")
    # CoDel keeps the queue at its target (RFC 8289); tail drop lets flows of TCP fill 50 ms.
    assert delays["codel:fast"]["mean"] < delays["codel"]["mean"] < delays["droptail"]["mean"]
    assert all(row["replications"] == 2 for row in delays.values())
    shares = [rows_of(document, "two/fast", f"share.{of}")["codel"] for of in ("bulk", "noise")]
    assert sum(row["mean"] for row in shares) == pytest.approx(1.0)
    for name in ("table.md", "tables.tex", "report.html"):
        assert "codel:fast" in (Path("o") / name).read_text()
    alone = json.loads(
        forebay("run", "o/cells/codel-fast/two-fast.toml", "--json", "--replication", "1").out
    )
    found = next(each for each in alone["groups"] if each["name"] == "bulk")
    assert found["dropped_packets"] / found["sent_packets"] == pytest.approx(
        rows_of(document, "two/fast", "loss")["codel:fast"]["values"][1]
    )


def test_marking_cells_have_ecn_on_both_sides(small: Path) -> None:
    """Cells with ECN turn it on in flows and law, and the others off: they differ in that alone."""
    found = {cell.name: cell for cell in cells(small, "fq_codel")}
    for name, is_on in (("two/slow", False), ("two/slow/ecn", True)):
        text = found[name].scenario(found[name].sweep.axes[0][1])
        assert ("ecn = true" in text) == is_on
        assert text.count("ecn = true") == (2 if is_on else 0)
        assert text.count('limit = "50 ms"') == 1


def test_a_place_fills_parameters_of_its_own(small: Path) -> None:
    """A place gives a law that has such a parameter its value there, and others nothing: a shaper
    goes by the rate of its own link."""
    path = small / "suite.toml"
    place = '[{ at = "links.core.queue", fill = { rate = "{rate / 2}" } }]'
    path.write_text(path.read_text().replace('["links.core.queue"]', place))
    cell = cells(small, "cake")[0]
    told = [cell.scenario(column) for column in cell.sweep.axes[0]]
    assert ['rate = "4 Mbit/s"' in each for each in told] == [False, True]
    filled_in = report_of(load_definition(small), [law_of("cake", "queue", "--queue")])[1]
    assert "rate = rate / 2" in filled_in["answers"][0]


def test_a_suite_that_asks_nothing_shows_sources_and_parameters(small: Path) -> None:
    """Sources and parameters of laws are shown where a suite has no `report`: a table of results
    without them says not what was run."""
    path = small / "suite.toml"
    asked = re.compile(r"^\[\[report]].*?(?=^\[\[choices]])", re.DOTALL | re.MULTILINE)
    path.write_text(asked.sub("", path.read_text()))
    rows = report_of(load_definition(small), [law_of("codel", "queue", "--queue")])
    source, given, filled_in, fixed = (row["answers"][0] for row in rows)
    assert "RFC 8289" in source
    assert given == "none"
    assert filled_in == f"limit = buffer, {ECN_WORDS}"
    assert "target = 5 ms" in fixed


@pytest.mark.long
def test_quick_leaves_cells_out(small: Path, forebay: front.Forebay) -> None:
    """A quick run leaves out what the suite says, and tells, unless one names cells."""
    told = forebay("suite", "small", "--quick", "--out", "o")
    assert "left out by --quick: */slow*" in told.out
    rows = json.loads(Path("o/table.json").read_text())["rows"]
    assert {row["cell"] for row in rows} == {"one", "two/fast", "two/fast/ecn"}
    named = forebay("suite", "small", "--quick", "--cells", "two/slow", "--json")
    assert {row["cell"] for row in json.loads(named.out)["rows"]} == {"two/slow"}


def test_an_unknown_grid_is_refused(small: Path, forebay: front.Forebay) -> None:
    """A grid that there is not is refused with the nearest name: suites are written by hand."""
    path = small / "suite.toml"
    path.write_text(path.read_text().replace('each = "speeds"', 'each = "speed"'))
    told = forebay.refused("suite", "small", "--list")
    assert 'cells."two".each: no grid "speed" (did you mean "speeds"?)' in told


def cells(folder: Path, *names: str) -> list[Cell]:
    """The cells of a suite with these laws beside its baseline."""
    suite = load_definition(folder)
    laws = [law_of(name, "queue", "--queue") for name in (*suite.suite.baseline, *names)]
    controls = [law_of(name, "control", "--control") for name in suite.suite.controls]
    return cells_of(folder, suite, Asked(laws, controls))


@pytest.mark.parametrize(("most", "status"), [("100 %", 0), ("0.0001 %", 1)])
def test_a_check_that_fails_is_status_1(
    small: Path, forebay: front.Forebay, most: str, status: int
) -> None:
    """A check on means decides the exit status: programs read it.

    Two flows of TCP without ECN fill a queue until it drops, so that no loss at all is too little.
    """
    path = small / "suite.toml"
    path.write_text(path.read_text().replace('most = "100 %"', f'most = "{most}"'))
    words = ("suite", "small", "--queue", "codel", "--cells", "two/fast", "--quick", "--json")
    told = forebay(*words)
    assert told.status == status
    checks = json.loads(told.out)["checks"]
    assert {each["column"]: (each["of"], each["holds"]) for each in checks} == {
        "droptail": ("baseline", status == 0),
        "codel": ("laws", status == 0),
    }
    assert ("check fails: two/fast, codel: " in told.err) == (status == 1)
    alone = forebay(*words[:2], *words[4:])
    assert alone.status == 0, "what the baseline does decides nothing"


@pytest.mark.long
def test_against_finds_what_became_worse(small: Path, forebay: front.Forebay) -> None:
    """A law that became worse is found by name with status 1, and the same law again is not.

    CoDel with a target of 40 ms in place of 5 ms lets the queue grow to that.
    """
    law = Path("mine.toml")
    law.write_text('target = "5 ms"\n')
    words = ("suite", "small", "--queue", "codel:mine.toml", "--cells", "one")
    forebay(*words, "--out", "before", "--json")
    again = json.loads(forebay(*words, "--out", "same", "--against", "before", "--json").out)
    assert again["against"]["changes"] == []
    assert again["against"]["compared"] == 6
    law.write_text('target = "40 ms"\n')
    told = forebay(*words, "--out", "after", "--against", "before", "--json")
    assert told.status == 1
    changes = json.loads(told.out)["against"]["changes"]
    found = {(each["column"], each["quantity"]): each["is"] for each in changes}
    assert found["codel:mine", "delay"] == "worse"
    assert not any(column == "droptail" for column, _ in found)


def test_against_takes_noise_for_noise() -> None:
    """Of 1000 comparisons of equal distributions none is named, where one in twenty is beyond its
    own interval: a build that fails by chance would be ignored.

    Holm's method names one in 5 % of such comparisons; this is one with a seed.
    """
    import numpy as np

    from forebay.suite.against import compared

    random = np.random.default_rng(7)

    def made() -> dict[str, Any]:
        rows = [
            {
                "cell": f"c{number}", "column": "law", "quantity": "q", "unit": "s", "words": "q",
                "better": "less", "runs": list(range(10)),
                "values": random.normal(1.0, 0.1, 10).tolist(),
            }
            for number in range(1000)
        ]  # fmt: skip
        return {"rows": rows, "settings": {}, "command": "c", "version": "v"}

    now, earlier = made(), made()
    changes = compared(now, earlier)["changes"]
    # Binomial(1000, 0.05): outside of 50 +- 28 with a probability below 1e-4.
    assert 22 <= len(changes) <= 78
    assert all(each["is"].startswith("perhaps") for each in changes)
    for row in now["rows"][:1]:
        row["values"] = [value + 1.0 for value in row["values"]]
    assert [
        each["cell"] for each in compared(now, earlier)["changes"] if each["is"] == "worse"
    ] == ["c0"]


def test_rfc7928_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every section of RFC 7928 that has a scenario is there, 18 of its cells for round-trip times;
    each can be run at its own rate and at others.

    Sections: 4.4, 5.1.1, 5.1.2, 5.2, 5.3, 5.4, 6.2, 7.2, 8.2.2 to 8.2.6, 9.1, 9.2, 10.2.
    """
    monkeypatch.delenv("FOREBAY_SUITES", raising=False)
    from forebay.run.sweep import plan

    found = cells(suite_folder("rfc7928"), "fq_codel")
    sections = {cell.file.section for cell in found}
    eight = {f"8.2.{number}" for number in range(2, 7)}
    assert sections == eight | {
        "4.4", "5.1.1", "5.1.2", "5.2", "5.3", "5.4", "6.2", "7.2", "9.1", "9.2", "10.2",
    }  # fmt: skip
    assert sum(cell.name.startswith("rtt-fairness/") for cell in found) == 18
    # S is 166 packets at 10 Mbit/s; 0.036, 0.081 and 0.114 of it (8.2.2 to 8.2.4).
    for name, count in (("mild", 6), ("medium", 14), ("heavy", 19)):
        cell = next(cell for cell in found if cell.name == name)
        assert f"count = {count}\n" in cell.scenario(cell.sweep.axes[0][0])
    for cell in found:
        assert len(plan(cell.sweep)) == (1 if cell.name == "two-aqms/ii" else 2), cell.name


@pytest.mark.usefixtures("small")
def test_cells_open_in_the_lab(
    forebay: front.Forebay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address of a cell holds its scenario, which the lab's page beside the report reads: what
    a reader moves there is what was run. A law of one's own is not in the lab: a file is shown."""
    monkeypatch.setattr(lab, "PAGE", tmp_path / "shell.html")
    lab.PAGE.write_text(f"<script>{lab.GIVEN}</script>")
    words = ("suite", "small", "--queue", "codel", "--cells", "two/fast", "--quick", "--out", "o")
    forebay(*words)
    assert Path("o/lab.html").read_text() == "<script></script>"
    code = re.findall(r'href="lab.html#s=([A-Za-z0-9_-]+)"', Path("o/report.html").read_text())[1]
    packed = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
    shared = json.loads(zlib.decompress(packed, wbits=-zlib.MAX_WBITS))
    path = "cells/codel/two-fast.toml"
    assert shared == {"text": (Path("o") / path).read_text(), "set": [], "replication": 0}
    own = {"laws": [{"name": "codel"}]}
    assert scenario_links(Path("o"), own, [path, path.replace("codel", "droptail")]) == {
        path: path,
        path.replace("codel", "droptail"): ANY,
    }
    assert scenario_links(Path("o/cells"), {}, [path]) == {path: path}


@pytest.mark.usefixtures("small")
def test_a_report_is_built_of_the_files_alone(
    forebay: front.Forebay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`forebay report` makes the same page and tables of a folder again, without the suite or its
    laws: results are shown years after them. A damaged file is named."""
    monkeypatch.setattr(lab, "PAGE", tmp_path / "none.html")
    words = ("suite", "small", "--queue", "codel", "--cells", "*/fast*", "--quick", "--out", "o")
    forebay(*words, "--json")
    page, table = Path("o/report.html"), Path("o/tables.tex")
    made = page.read_text()
    for path in re.findall(r'href="(cells/[^"]+)"', made):
        assert (Path("o") / path).is_file()
    assert made.count('href="cells/codel/') == 2
    page.unlink()
    forebay("report", "o")
    assert page.read_text() == made
    assert forebay("report", "o", "--format", "latex").out == table.read_text()
    path = Path("o/table.json")
    path.write_text(path.read_text().replace('"checks"', '"check"'))
    assert "o/table.json: damaged: checks: missing" in forebay.refused("report", "o")


def test_sentences_of_pages_show_code() -> None:
    """What stands between backticks is code on a page, and never markup: names of laws and cells
    come from files of others."""
    assert coded("run `a <b>` & go") == "run <code>a &lt;b&gt;</code> &amp; go"
    assert coded("one ` alone <i>") == "one ` alone &lt;i&gt;"
