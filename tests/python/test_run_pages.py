"""The page of a run: what it was for comes first, and nothing that the terminal shows lacks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import front
import pytest

from forebay.cli.terminal import MOST
from forebay.report.row_figures import MANY, members, precedences, purposes, throughputs
from forebay.report.run_pages import run_report
from forebay.run.columns import columns, kinds, shown_kinds
from forebay.run.shown import proof_tables, shown_tables


def row_of(kind: str, name: str, value: float = 120) -> dict[str, Any]:
    """A row with something in every column."""
    row = {column.name: value for column in columns(kind).values() if column.is_number}
    words = {
        column.name: "word"
        for column in columns(kind).values()
        if column.unit == "word" and column.name != "tags"
    }
    lists = {each: [value, value] for each in row if kind == "links" and "_packets" in each
             and "queue" not in each}  # fmt: skip
    return {**row, **words, **lists, "name": name}


def document_of(**rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A run's document with these kinds of rows."""
    facts = {"name": "made", "version": "1", "command": "forebay run made.toml", "seed": 1,
             "scenario_hash": "0", "replication": 0, "digest": "0", "simulated_s": 1.0,
             "events": 1}  # fmt: skip
    return {**facts, **{kind: [] for kind in kinds()}, **rows}


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, Any]:
    """A document with rows of every kind, two each, as a folder has it."""
    rows = {kind: [row_of(kind, "first"), row_of(kind, "second", 240)] for kind in kinds()}
    rows["flows"].append(row_of("flows", "third"))
    document = document_of(**rows) | {
        "checks": {"invariants": 2, "each": {"link-order": 3, "bucket-depth": 4}},
        "ties": {"packets": 3, "orders": 2, "quantities": 9,
                 "differing": [{"quantity": "flows.a.sent", "listed": 1, "low": 1, "high": 2}]},
    }  # fmt: skip
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    return document


def test_every_table_of_the_terminal_is_on_the_page(whole: dict[str, Any], tmp_path: Path) -> None:
    """Every table that the terminal shows of any kind of rows is on the page, with all its heads: a
    reader of the page misses nothing."""
    page = run_report(tmp_path).read_text(encoding="utf-8").lower()
    told = [table for kind in shown_kinds() for table in shown_tables(kind, whole[kind], most=MOST)]
    told += proof_tables(whole)
    assert len(told) > 15
    for title, heads, _ in told:
        assert title.lower() in page, title
        for head in heads:
            assert f">{head.lower()}</button>" in page, (title, head)


def test_every_kind_of_rows_that_is_measured_is_drawn(whole: dict[str, Any]) -> None:
    """Every kind of rows but flows, hosts and links is drawn by what matters most of it, without a
    list of columns: each has a column that the engine calls a headline."""
    titles = [figure.title for figure in purposes(whole)]
    drawn = {title.partition(":")[0].lower() for title in titles}
    wanted = set(kinds()) - {"flows", "groups", "hosts", "links"}
    assert drawn == {kind.replace("_", " ") for kind in wanted}
    assert len(titles) == len(set(titles))


def test_a_run_of_calls_is_about_blocking(forebay: front.Forebay, tmp_path: Path) -> None:
    """The page of a run of calls begins with blocking; of one group throughput has no share that
    would tell anything."""
    path = tmp_path / "calls.toml"
    path.write_text(front.CALLS.split("[flows.video]")[0], encoding="utf-8")
    assert forebay("run", path, "--out", tmp_path / "out").status == 0
    assert forebay("report", tmp_path / "out").status == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    figures = re.findall(r"<h3>(.*?)</h3>", page)
    assert figures[0] == "Calls: blocking"
    assert "Throughput shares" not in page


def test_one_group_has_no_shares() -> None:
    """Throughput is drawn of two groups and not of one."""
    rows = [row_of("groups", "a"), row_of("groups", "b", 360)]
    assert throughputs(rows[:1]) is None
    figure = throughputs(rows)
    assert figure is not None
    # 360 of 480, and 120 of 480.
    assert "75.0 %" in figure.svg
    assert "25.0 %" in figure.svg


def test_colours_are_drawn_where_some_were_dropped() -> None:
    """What links did with packets of each colour is drawn of links that dropped any, with the
    shares: 20 of 80 are 25 %, and 30 of 40 are 75 %. Without losses there is nothing to see."""
    lists = {"arrived_packets": [100, 80, 40], "dropped_packets": [0, 20, 30]}
    lossless = {"arrived_packets": [50, 50], "dropped_packets": [0, 0]}
    rows = [{"name": "core", **lists}, {"name": "access", **lossless}]
    assert precedences(rows[1:]) is None
    figure = precedences(rows)
    assert figure is not None
    assert re.findall(r">(\d+\.\d %)</text>", figure.svg) == ["0.0 %", "25.0 %", "75.0 %"]
    assert ">core, precedence 2</text>" in figure.svg
    assert "access" not in figure.svg


def test_many_rows_are_extremes_median_and_a_band() -> None:
    """Many rows are drawn by extremes, which are named, median and band, and the caption says so;
    values that span two decades on a logarithmic axis."""
    number = MANY + 1
    groups = [row_of("groups", f"g{n}", 1000.0 * (n + 1)) for n in range(number)]
    figure = throughputs(groups)
    assert figure is not None
    assert f"{number} rows" in figure.caption
    assert "Logarithmic" not in figure.caption
    for words in ("g0", f"g{number - 1}", f"all ({number})"):
        assert f">{words}</text>" in figure.svg
    assert ">g7</text>" not in figure.svg
    far = throughputs([*groups, row_of("groups", "far", 1e5 * 1000)])
    assert far is not None
    assert "Logarithmic axis." in far.caption


def test_groups_with_tags_are_drawn_by_tag() -> None:
    """Groups with tags are drawn by tag, those without under others: homes and offices differ."""
    groups = [
        {"name": f"g{n}", "tags": ["home", "north"] if n < 20 else ["office"]} for n in range(25)
    ]
    groups.append({"name": "g25"})
    names = [group["name"] for group in groups]
    assert {tag: len(of) for tag, of in members(names, groups).items()} == {
        "home (20)": 20, "north (20)": 20, "office (5)": 5, "others (1)": 1,
    }  # fmt: skip
    assert members(names, []) == {"all (26)": names}


HOMES = """
duration = "3 s"
warm_up = "1 s"

[record]
delays = true
series = "100 ms"

[links.core]
from = "hub"
to = "server"
rate = "400 Mbit/s"

[sites]
each = [SITES]

[sites.links."{site}"]
from = "{site}"
to = "hub"
rate = "{rate}"
delay = "{delay}"

[sites.flows."pages-{site}"]
from = "server"
to = "{site}"
tcp = {}
traffic = { transfers = { rate = "2 /s", sizes = { constant = { size = "20 kB" } } } }
"""


@pytest.mark.long
def test_a_page_of_354_groups_can_be_read(forebay: front.Forebay, tmp_path: Path) -> None:
    """The page of 354 groups is below 400 kB and made without any warning, and so many tables fit
    on a few screens of the terminal."""
    sites = [
        f'{{ site = "home{n}", rate = "{1 + n % 40} Mbit/s", delay = "{1 + n} ms" }}'
        for n in range(354)
    ]
    path = tmp_path / "homes.toml"
    path.write_text(HOMES.replace("SITES", ", ".join(sites)), encoding="utf-8")
    answer = forebay("run", path, "--out", tmp_path / "out")
    assert answer.status == 0
    assert len(answer.out.splitlines()) < 150
    assert "--out or --json has all" in answer.out
    # A warning is an error here (pyproject.toml).
    told = forebay("report", tmp_path / "out")
    assert (told.status, told.err) == (0, "")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert len(page) < 400_000
    assert "band of the middle half" in page
    assert "more rows: run.json has all" in page
