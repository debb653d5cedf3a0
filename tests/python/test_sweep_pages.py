"""The page of a sweep: small values beside large ones, names, and points at the edge."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from forebay.pages.sweep import sweep_report
from forebay.run.heat import colour_scale
from forebay.run.words import value_words
from forebay.scenario.topology import draw, topology_of
from forebay.units import size_of

QUANTITY = "flows.ping.p95_delay_s"


def page_of(folder: Path, grid: dict[str, list[Any]], means: list[float]) -> str:
    """The page of a sweep with these means in the order of its points."""
    points: list[dict[str, Any]] = [{}]
    for name, values in grid.items():
        points = [{**point, name: value} for point in points for value in values]
    summary = [
        {**point, "quantity": QUANTITY, "mean": mean, "low": 0.9 * mean, "high": 1.1 * mean,
         "replications": 3, "note": ""}
        for point, mean in zip(points, means, strict=True)
    ]  # fmt: skip
    document = {"name": "made", "version": "1", "command": "forebay sweep made.toml", "seeds": [1],
                "runs": 3 * len(points), "grid": grid, "quantities": [QUANTITY],
                "summary": summary}  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(document), encoding="utf-8")
    return sweep_report(folder).read_text(encoding="utf-8")


def drawing(page: str, title: str) -> str:
    """The drawing of a title."""
    found = re.search(rf"<h3>[^<]*{title}</h3>.*?</svg>", page, re.DOTALL)
    assert found is not None, title
    return found[0]


def test_small_values_are_told_apart_beside_a_large_one() -> None:
    """24, 52 and 112 ms are told apart beside 19 s: on a logarithmic scale of colours they are at
    0, log(52/24) / log(19000/24) = 0.116 and log(112/24) / log(19000/24) = 0.231 of it."""
    scale = colour_scale([24.0, 52.0, 112.0, 19000.0])
    shares = [float(scale(value)) for value in (24.0, 52.0, 112.0, 19000.0)]
    assert shares == pytest.approx([0.0, 0.116, 0.231, 1.0], abs=1e-3)
    # Values that are near each other keep a linear scale: 20 is half way from 10 to 30.
    assert float(colour_scale([10.0, 30.0])(20.0)) == pytest.approx(0.5)


def test_intervals_are_in_view_beside_the_heat_map(tmp_path: Path) -> None:
    """Intervals are in view beside the heat map, and both say that they are logarithmic."""
    grid = {"links.wire.rate": ["1 Mbit/s", "10 Mbit/s"], "flows.ping.count": [1, 2]}
    page = page_of(tmp_path, grid, [0.024, 0.052, 0.112, 19.0])
    unfolded = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    for title in ("means", "intervals"):
        assert drawing(unfolded, title)
    assert "Logarithmic colours." in page
    assert "Logarithmic axis." in page


def test_names_are_points_and_values_a_line(tmp_path: Path) -> None:
    """Values of laws are points beside their names, in words and not in braces; between numbers
    there is a line. The table with intervals stands beside them, unfolded."""
    red = '{ "red" = { "min_threshold" = "20 packets" } }'
    page = page_of(tmp_path, {"links.wire.queue": ["codel", "droptail", red]}, [0.02, 0.05, 0.04])
    names = drawing(page, "intervals")
    assert "droptail</text>" in names
    assert "red (min_threshold 20 packets)" in re.sub(r"</text>.*?<text[^>]*>", " ", names)
    assert "{" not in re.sub(r"<[^>]*>", "", names)
    line = r'<path d="M[^"]*L[^"]*L[^"]*" style="fill: none; stroke: var\(--c1\)'
    assert not re.search(line, names)
    unfolded = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert "18.00 ms to 22.00 ms" in unfolded
    page = page_of(tmp_path, {"links.wire.rate": ["1 Mbit/s", "2 Mbit/s", "5 Mbit/s"]}, [1, 2, 3])
    assert re.search(line, drawing(page, "intervals"))


def test_points_at_the_edge_are_drawn_whole(tmp_path: Path) -> None:
    """Points at the edge are drawn whole: no marker is cut off at the axes, not at zero either."""
    page = page_of(tmp_path, {"flows.ping.count": [1, 2, 3]}, [0.0, 0.0, 0.5])
    markers = drawing(page, "intervals")
    assert "<use" in markers
    assert not re.search(r'clip-path="[^"]*"[^>]*><use', markers)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("codel", "codel"),
        (5, "5"),
        (True, "true"),
        ('{ "red" = { "weight" = 0.002, "ecn" = true } }', "red (weight 0.002, ecn true)"),
        ('{ "codel" = {} }', "codel"),
        ('["1 Mbit/s", "2 Mbit/s"]', "1 Mbit/s, 2 Mbit/s"),
        ("{ not toml", "{ not toml"),
    ],
)
def test_values_are_words(value: Any, words: str) -> None:
    """Values of parameters are written as words, also tables and lists."""
    assert value_words(value) == words


def test_sizes_are_read_with_their_units() -> None:
    """Sizes are read with their units, which tells values from names: 10 Mbit/s are 1e7 bit/s."""
    assert size_of("10 Mbit/s") == 1e7
    assert size_of("20 ms") == pytest.approx(0.02)
    assert size_of("3") == 3.0
    assert size_of("codel") is None
    assert size_of("3 lines") is None


def test_an_upright_topology_is_narrow() -> None:
    """A chain of nodes that is drawn downwards is narrower than a phone, where it is wide
    otherwise."""
    links = {f"l{n}": {"from": f"r{n}", "to": f"r{n + 1}", "rate": "10 Mbit/s", "delay": "5 ms"}
             for n in range(4)}  # fmt: skip
    topology = topology_of({"links": links, "flows": {"f": {"from": "r0", "to": "r4"}}})
    widths = []
    for look in ("level", "upright"):
        svg = draw(topology, look=look)
        found = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
        assert found is not None
        assert f'class="topology {look}"' in svg
        widths.append(int(found[1]))
        assert svg.count("10 Mbit/s<") == (0 if look == "level" else 4)
    assert widths[1] < 360 < widths[0]
