"""Statements of the lab's page about a run, in headless Chromium: grades, charts, counters, vessels
and links belong to the run that is shown, and say what they leave out."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import chromium
import pytest

PROGRAM = chromium.BUILT / "saying.mjs"
LESSONS = chromium.ROOT / "lab" / "lessons"


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The page, and a browser to open it."""
    chromium.needs(chromium.PAGE, PROGRAM, chromium.PLAYWRIGHT, chromium.CHROMIUM)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of downloads and screenshots."""
    return tmp_path_factory.mktemp("says")


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The address at which `forebay lab` serves the page."""
    words = [sys.executable, "-m", "forebay", "lab", "--no-browser"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as serving:
        assert serving.stderr is not None
        address = re.search(r"http://\S+/", serving.stderr.readline())
        assert address is not None
        yield address[0]
        serving.terminate()


@pytest.fixture(scope="module")
def facts(folder: Path, served: str) -> Any:
    """Returns what `lab/tests/saying.ts` did and saw."""
    # Learning platforms put what they know of a student behind a question mark.
    address = f"{served}?lti=1&x"
    words = ["node", PROGRAM, chromium.PAGE, folder, chromium.ROOT / "examples", address]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=1200)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def result_of(lesson: str, *changes: str) -> Any:
    """The result of a lesson's scenario on the command line."""
    words = [sys.executable, "-m", "forebay", "run", str(LESSONS / lesson), "--json"]
    words += [word for change in changes for word in ("--set", change)]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


def texts_of(drawing: Path) -> set[str | None]:
    """The words in an exported drawing."""
    root = ElementTree.parse(drawing).getroot()
    return {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}


def erlang_b(load: float, lines: int) -> float:
    """Erlang's loss formula of 1917, as he wrote it: (A^n / n!) over the sum of A^k / k!."""
    terms = [load**k / math.factorial(k) for k in range(lines + 1)]
    return terms[-1] / sum(terms)


def test_there_is_no_error_in_the_console(facts: Any) -> None:
    """There is no error in the console: everything that is drawn is a number."""
    assert facts["complaints"] == []


def test_a_grade_belongs_to_the_run_whose_settings_are_shown(facts: Any) -> None:
    """A grade belongs to the run whose settings are shown: it goes when they change."""
    grades = facts["grades"]
    assert grades["answer"] == "true"
    # A run that is begun again has not earned its grade; one with other settings even less.
    assert grades["again"][0] is None
    assert "Right" not in grades["again"][1]
    for moment in ("changed", "running", "kept", "refused", "refused_then"):
        words, right = grades[moment]
        assert right is None
        assert "graded" in words
        assert "Right" not in words
    assert "have changed" in grades["changed"][0]
    assert "have changed" in grades["text"]
    assert "refused" in grades["refused_then"][0]
    # 95 % of packets wait for up to 400 packets, 0.48 s, where 80 ms are asked for.
    assert grades["over"] == grades["kept_over"] == "false"


def test_a_refused_value_is_told_beside_it(facts: Any) -> None:
    """A refused value is explained beside its control."""
    assert '"many" is not a size' in facts["grades"]["refused_said"]


def test_charts_draw_the_largest_and_say_what_they_leave_out(facts: Any) -> None:
    """Charts draw the largest and say what they leave out. Rates and queues of the nine groups grow
    with their numbers, and so do delays: n^2 packets of 500 B at n Mbit/s take 4 n ms."""
    charts = facts["charts"]
    for chart, letter in (("throughput", "f"), ("queue", "l"), ("cdf", "f")):
        assert charts[chart]["drawn"] == [f"{letter}{n}" for n in range(9, 2, -1)]
        assert charts[chart]["summary"] == "7 of 9, the largest; 2 more"


def test_a_reader_chooses_what_a_chart_draws(facts: Any) -> None:
    """A reader chooses what a chart draws, and the choice is kept."""
    charts = facts["charts"]
    assert sorted(charts["chosen"]) == ["f1", "f3", "f4", "f5", "f6", "f7", "f8"]
    assert charts["chosen_summary"] == "7 of 9, as chosen; 2 more"
    assert charts["kept"] == charts["chosen"]


def test_the_largest_group_of_an_example_is_drawn(facts: Any) -> None:
    """The largest group and all queues of `branches.toml` are drawn."""
    throughput, queue = facts["charts"]["branches"]
    assert throughput[0] == "data-west"
    assert {"core", "east", "west"} <= set(queue)


def test_drops_are_counted_on_at_the_end_of_the_warm_up(facts: Any, folder: Path) -> None:
    """Drops are counted on at the end of the warm-up: no counter runs backwards. The run is the
    same with another warm-up: without one, everything that is dropped counts."""
    losing = "flows.download.tcp.control.cubic.hystart=false"
    links = result_of("1-bufferbloat.toml", losing)["links"]
    (counted,) = (link["drops"] for link in links if link["name"] == "home")
    whole = result_of("1-bufferbloat.toml", losing, 'warm_up="0 s"')["links"]
    (total,) = (link["drops"] for link in whole if link["name"] == "home")
    assert total > counted > 0
    counters = facts["counters"]
    assert counters["lost"] == f"\u2715 {total} overflow"
    assert counters["early"] == f"{total - counted} in warm-up"
    seen = [int(words.split()[1]) for words in counters["seen"] if words]
    assert seen == sorted(seen)
    assert seen[0] < seen[-1] == total


def test_the_warm_up_is_marked(facts: Any, folder: Path) -> None:
    """The warm-up is marked wherever results leave it out."""
    counters = facts["counters"]
    clock, table = counters["during"]
    assert clock.endswith(", warm-up")
    assert "in the warm-up" in table
    assert "in the warm-up" in counters["cdf_during"]
    assert "since 5 s" in counters["cdf"]
    assert "without the warm-up" in counters["links"]
    assert "until 5 s" in counters["shaded"]
    assert "warm-up" in texts_of(folder / "warm-up.svg")


def test_a_vessel_tells_its_limit_from_what_was_seen(facts: Any) -> None:
    """A vessel tells its limit from what was seen: a level is shown against a limit only if the
    scenario sets one."""
    vessels = facts["vessels"]
    # The limit of a queue inside a shaper, and one in bytes.
    assert re.fullmatch(r"\d+, limit 400", vessels["policer"][0])
    assert re.fullmatch(r"[\d.]+ k?B, limit 300 kB", vessels["precedences"][0])
    assert re.fullmatch(r"\d+, limit 400", vessels["bufferbloat"][0])
    # One class of two has a limit: the whole has none.
    amount, caption, about = vessels["starvation"]
    seen = re.fullmatch(r"(\d+), most (\d+)", amount)
    assert seen is not None
    assert int(seen[1]) <= int(seen[2])
    assert caption == "line (class 1: limit 100)"
    assert "limit of class 1: 100 packets" in about


def test_a_short_queue_of_a_deep_buffer_is_seen(facts: Any) -> None:
    """A short queue of a deep buffer is seen: a vessel of 10 000 packets is scaled to the few that
    DualPI2 lets wait."""
    assert re.fullmatch(r"\d+, limit 10000", facts["vessels"]["l4s"][0])
    # The glass is scaled to what was seen, of which it shows at least 2/5, and is open above.
    glass = facts["vessels"]["l4s_glass"]
    assert glass["open"]
    assert glass["most"] >= 0.4 * 62


def test_blocking_is_shown_beside_its_formula(facts: Any, folder: Path) -> None:
    """Blocking is shown beside its formula, as the lesson on Erlang asks for."""
    (row,) = result_of("8-erlang.toml")["calls"]
    heads, cells = facts["erlang"]["table"][:8], facts["erlang"]["table"][8:]
    shown = dict(zip(heads, cells, strict=True))
    assert shown["calls"] == "telephones"
    # 0.1 calls a second of 100 s each.
    assert (shown["offered load"], shown["lines"]) == ("10 erlang", "10")
    assert int(shown["blocked"].replace(",", "")) == row["blocked"]
    assert shown["share blocked"] == f"{100 * row['blocking_ratio']:.3g} %"
    assert shown["Erlang's formula"] == f"{100 * erlang_b(10, 10):.3g} %" == "21.5 %"
    assert facts["erlang"]["eighteen"][-1] == f"{100 * erlang_b(10, 18):.3g} %" == "0.714 %"
    assert "New calls blocked" in facts["erlang"]["chart"]
    assert "Erlang's formula, 10 erlang, 10 lines: 21.5 %" in texts_of(folder / "erlang.svg")


def test_the_formula_is_not_shown_where_it_does_not_hold(facts: Any) -> None:
    """The formula is not shown beside calls in batches, which are blocked more often than it
    says."""
    assert facts["erlang"]["batches"][-1] == "does not hold here"


def test_a_limit_of_nothing_is_drawn_and_told(facts: Any) -> None:
    """A limit of zero is drawn with numbers and explained."""
    assert facts["nothing"]["amount"] == "0, limit 0"
    assert "No packet can wait" in facts["nothing"]["said"]
    assert all(float(height) >= 0 for height in facts["nothing"]["heights"])


def test_an_address_keeps_its_lesson(facts: Any) -> None:
    """An address keeps its lesson: a link opens with the question and the answer it was made
    with."""
    links = facts["links"]
    for state in ("chosen", "reloaded", "linked"):
        assert links[state]["lesson"] == "erlang"
        assert "How many lines" in links[state]["question"]
        assert links[state]["name"] == "How many lines?"
    # The link holds the answer, too: 18 lines.
    assert links["linked_right"] == "true"
    assert "does not have: none-such" in links["unknown"]


def test_the_page_is_served_whatever_the_query(facts: Any) -> None:
    """The page is served whatever the query, as learning platforms append one."""
    assert facts["links"]["served"] == {
        "title": "Forebay lab",
        "digest": result_of("1-bufferbloat.toml")["digest"],
    }


@pytest.mark.parametrize("width", [390, 1024])
def test_the_page_fits(facts: Any, width: int) -> None:
    """The page fits the width of the screen without scrolling sideways."""
    assert facts[f"width_{width}"] == width
