"""Pages of runs and sweeps as a reader meets them: in words and units, light, and complete."""

from __future__ import annotations

import re
from pathlib import Path

import front
import numpy as np
import pytest
from test_report import Page

from forebay.report.run_figures import LINES, details, timeline
from forebay.run.words import axis_scale, quantity_words, setting_words
from forebay.scenario.network import Network
from forebay.scenario.topology import draw, topology_of
from forebay.units import UNITS

KEY = re.compile(r"\b[a-z0-9]+(?:_[a-z0-9]+)*_(?:bps|s|bytes|packets|ratio)\b")
"""A raw key, such as `throughput_bps`."""


def page_of(forebay: front.Forebay, folder: Path) -> str:
    """The page of a folder of results, checked for what holds of every page."""
    assert forebay("report", folder).status == 0
    page = (folder / "report.html").read_text()
    parsed = Page(page)
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert set(parsed.targets) <= set(parsed.ids)
    # The script that sorts tables is in the page; nothing is loaded.
    assert set(parsed.loads) <= {"script"}
    assert len(page) < 1_000_000
    words = re.sub(r"<(code|style|script)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert not KEY.findall(words)
    assert not re.search(r"\b1e\d", words)
    return page


def sites(count: int) -> Network:
    """So many sites with two groups of flows each over one backbone."""
    net = Network("sites", duration="3 s", warm_up="1 s")
    net.link("backbone", "core", "data", rate="20 Mbit/s", delay="5 ms")
    for number in range(count):
        net.link(f"edge{number}", f"site{number}", "core", rate="10 Mbit/s", delay="2 ms")
        net.flows(f"bulk{number}", f"site{number}", "data", count=3)
        net.flows(f"more{number}", f"site{number}", "data")
    return net.record(series="50 ms", delays=True)


def test_the_page_of_an_edge_stays_small(forebay: front.Forebay, tmp_path: Path) -> None:
    """The page of a network of eight sites stays small: at most 16 drawings, and those that matter
    need not be unfolded.

    Sixteen groups and eighteen directions of links are recorded; the drawings are the topology in
    two forms, the three that matter, and at most one for each sort of place and unit.
    """
    sites(8).save(tmp_path / "sites.toml")
    out = tmp_path / "out"
    assert forebay("run", tmp_path / "sites.toml", "--out", out).status == 0
    page = page_of(forebay, out)
    assert page.count("<svg") <= 16
    first = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    for words in ("Throughput shares", "Distribution of delay", "Over time", ">median<",
                  "throughput (", "bit/s)", "one-way delay (ms)", "edge7",
                  "20 Mbit/s, 5 ms"):  # fmt: skip
        assert words in first, words


def test_changes_of_the_command_are_in_the_topology(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """Changes of the command are in the topology: the drawing shows the rate of the run, not that
    of the file."""
    out = tmp_path / "out"
    answer = forebay("run", scenario, "--out", out, "--set", 'links.wire.rate="7 Mbit/s"')
    assert answer.status == 0
    page = page_of(forebay, out)
    assert "7 Mbit/s, 2 ms" in page
    (out / "scenario.toml").unlink()
    drawn = re.findall(r'<svg[^>]*class="([^"]*)"', page_of(forebay, out))
    assert "topology" not in " ".join(drawn)


def test_the_page_of_a_sweep_has_heat_maps_and_tables_that_sort(
    forebay: front.Forebay, scenario: Path, tmp_path: Path
) -> None:
    """The page of a sweep has heat maps for two parameters, and tables that sort."""
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        f'scenario = "{scenario.name}"\nreplications = 2\n'
        'quantities = ["flows.chatter.mean_delay_s", "links.wire.throughput_bps"]\n[grid]\n'
        '"links.wire.rate" = ["5 Mbit/s", "10 Mbit/s"]\n'
        '"flows.bulk.count" = [1, 2]\n"links.wire.delay" = ["1 ms", "4 ms"]\n'
    )
    out = tmp_path / "out"
    assert forebay("sweep", sweep, "--out", out).status == 0
    page = page_of(forebay, out)
    for words in ("chatter: mean delay", "wire: throughput (Mbit/s)", "wire: rate", "bulk: count",
                  "wire: delay 4 ms", '<table class="sort">', "aria-sort"):  # fmt: skip
        assert words in page, words
    # A heat map and lines with intervals for each quantity, side by side; folded are their tables
    # and two of the scenario.
    assert page.count("<svg") == 4
    assert page.count("<details>") == 4


def test_a_topology_shows_every_node_and_link_once() -> None:
    """A topology shows every node and link once, with whole labels.

    Three nodes in a row: data run from left to right.
    """
    net = Network("row", duration="1 s")
    net.link("first", "a", "b", rate="10 Mbit/s", delay="1 ms", duplex=False)
    net.link("a link with a long name", "b", "c", rate="20 Mbit/s", reverse={"rate": "2 Mbit/s"})
    net.flows("bulk", "a", "c")
    drawn = draw(topology_of(net.to_dict()))
    for words in ("first", "10 Mbit/s, 1 ms", "a link with a long name", "20 Mbit/s, back 2 Mbit/s",
                  "stroke-dasharray"):  # fmt: skip
        assert words in drawn
    x = {name: float(re.findall(rf'x="(\d+)"[^>]*>{name}<', drawn)[0]) for name in "abc"}
    assert x["a"] < x["b"] < x["c"]
    width = float(re.search(r'viewBox="0 0 (\d+)', drawn)[1])  # type: ignore[index]
    assert x["c"] < width
    assert draw(topology_of({"links": {}})) == ""


def test_a_ring_alone_is_drawn_as_a_ring() -> None:
    """A ring alone is drawn as a ring, without boxes that overlap."""
    stations = [f"s{number}" for number in range(7)]
    ring = {"stations": stations, "rate": "1 Gbit/s", "delay": "1 ms"}
    drawn = draw(topology_of({"rings": {"metro": ring}}))
    assert drawn.count("1 Gbit/s, 1 ms a span") == 1
    boxes = re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)"', drawn)
    assert len(boxes) == len(stations)
    for number, (x, y, width) in enumerate([tuple(map(int, box)) for box in boxes]):
        for other in boxes[number + 1 :]:
            apart = abs(int(other[0]) - x) > width or abs(int(other[1]) - y) > 28
            assert apart, (number, other)


def test_a_ring_is_a_topology_too() -> None:
    """A ring is a topology, too, for a scenario without links."""
    found = topology_of({"rings": {"metro": {"stations": ["x", "y", "z"], "rate": "1 Gbit/s"}}})
    assert sorted(found.nodes) == ["x", "y", "z"]
    assert len(found.links) == 3


@pytest.mark.parametrize(
    ("unit", "largest", "expected"),
    [("bps", 12e6, (1e-6, "Mbit/s")), ("bps", 64e3, (1e-3, "kbit/s")), ("s", 0.6, (1e3, "ms")),
     ("s", 5.0, (1.0, "s")), ("bytes", 15e4, (1e-3, "kB")), ("ratio", 0.5, (100.0, "%")),
     ("bps", 0.0, (1e-6, "Mbit/s")), ("count", 7.0, (1.0, ""))],
)  # fmt: skip
def test_axes_have_the_unit_of_their_values(
    unit: str, largest: float, expected: tuple[float, str]
) -> None:
    """Axes have the unit of their values: 10 Mbit/s, not 1e7."""
    scale, symbol = axis_scale(UNITS[unit], [largest])
    assert (pytest.approx(scale), symbol) == expected


def test_keys_are_said_in_words() -> None:
    """Keys are shown in words."""
    assert quantity_words("flows.voice.p99_delay_s") == "voice: 99th percentile of delay"
    assert quantity_words("links.core.reverse.drops") == "core.reverse: drops"
    assert setting_words("links.core.queue.red.max_threshold") == "core: RED max threshold"


def test_many_lines_stay_bounded_and_peaks_stay() -> None:
    """Drawings of many lines stay bounded and keep their peaks."""
    time = np.arange(20_000) / 100
    spike = np.zeros(20_000)
    spike[7_777] = 500.0
    recorded = {
        f"links.l{number}": {"time_s": time, "queue_packets": spike + number % 5}
        for number in range(3 * LINES)
    }
    drawn = timeline(recorded)
    assert drawn is not None
    assert len(drawn.svg) < 400_000
    assert ">400</text>" in drawn.svg
    figures, left = details(recorded, groups=0)
    assert len(figures) == 1
    assert left == []
    assert f"{2 * LINES} more" in figures[0].caption
