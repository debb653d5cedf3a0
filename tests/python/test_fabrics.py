"""Fabrics as a user meets them: built in Python, refused on the command line, shown on pages."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

import front
import pytest

from forebay import Network, pairs, path, queue, sizes, traffic
from forebay.run.jobs import load
from forebay.scenario.fabric_drawing import draw_fabric
from forebay.scenario.topology import topology_of

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fabric.toml"


@cache
def fat_tree() -> str:
    """The text of the example."""
    return load(EXAMPLE).text


def example() -> None:
    """The example has flows for half of what the fabric carries, and drops nothing.

    Twice the bisection is 16 times 10 Gbit/s; half of it over the 10 ms of starts is 100 MB, in
    flows of 1.71 MB on average 58 of them.
    """
    [group] = Network.from_toml(EXAMPLE).run().groups.to_pylist()
    assert group["flows"] == 58
    assert group["dropped_packets"] == 0 < group["marked_packets"]


def star() -> Network:
    """A star of four hosts, built in Python."""
    net = Network("star", duration="5 ms")
    net.fabric(
        "dc",
        leaf_spine={"leaves": 1, "spines": 0, "hosts": 4},
        rate="10 Gbit/s",
        delay="1 us",
        path=path.spray(),
        queue=queue.step(threshold="65 packets"),
        buffer={"memory": "1 MB"},
        failures=[{"link": "h3-leaf0", "down": ["1 ms"], "up": ["2 ms"]}],
    )
    net.flows("all", "dc", ["dc.h0", "dc.h1"], pairs=pairs.incast(fan_in=2),
              traffic=traffic.file(sizes=sizes.web_search()))  # fmt: skip
    return net


def test_a_fabric_is_built_in_python() -> None:
    """A fabric that is built in Python is what a file says: it runs, and its text is read again as
    the same scenario."""
    net = star()
    again = Network.from_text(net.to_toml())
    assert again.to_dict() == net.to_dict()
    assert "1 fabrics" in repr(net)
    run = net.run()
    # Two targets have two senders each.
    assert run.groups.to_pylist()[0]["flows"] == 4
    assert [row["name"] for row in run.switches.to_pylist()] == ["dc.leaf0"]
    assert again.run().digests == run.digests
    with pytest.raises(ValueError, match="already taken"):
        net.fabric("dc", rate="1 Gbit/s", fat_tree={"k": 2})


def test_notebooks_and_drawings_take_lists_of_nodes() -> None:
    """Lists of nodes are written out in notebooks, so that readers see where flows lead."""
    net = star()
    assert "dc to dc.h0, dc.h1" in net._repr_html_()
    assert topology_of(net.to_dict()).targets == {"dc.h0": 1, "dc.h1": 1}


def test_the_page_of_a_fabric(forebay: front.Forebay, tmp_path: Path) -> None:
    """The page of a run shows shape, way and queue of a fabric, by which readers know it."""
    assert forebay("run", EXAMPLE, "--out", tmp_path / "out").status == 0
    assert forebay("report", tmp_path / "out").status == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Fabrics" in page
    assert "fat_tree (k 4)" in page
    assert "ecmp" in page


ALONE = 'links.x = { from = "dc.h0", to = "b", rate = "1 Mbit/s" }\n'

WRONG = {
    "odd": ("k = 4", "k = 3", 11, "fabrics.dc.fat_tree.k", "3 is out of range"),
    "zero": ("k = 4", "k = 0", 11, "fabrics.dc.fat_tree.k", "0 is out of range"),
    "many": ("k = 4", "k = 66", 11, "fabrics.dc.fat_tree.k", "even numbers, 2 to 64"),
    "host": ('from = "dc"', 'from = "dc.h999"', 17, "flows.search.from", 'mean "dc.h9"'),
    "switch": ('to = "dc"', 'to = "dc.edge0"', 18, "flows.search.to", "is a switch"),
    "touched": ("duration", f"{ALONE}duration", 11, "fabrics.dc", 'has a node "dc.h0"'),
    "factor": (
        "k = 4",
        "k = 4, oversubscription = 0",
        11,
        "fabrics.dc.fat_tree.oversubscription",
        "numbers above 0",
    ),
    "memory": (
        'delay = "1 us"',
        'buffer = { memory = "10 kB", sharing = { static = { limit = "20 kB" } } }',
        13,
        "fabrics.dc.buffer.sharing.static.limit",
        "up to the 10 kB",
    ),
    "starts": (
        '{ uniform = ["0 s", "10 ms"] }',
        '"0 s"',
        20,
        "flows.search.load",
        "goes with random starts",
    ),
    "fan-in": (
        '"random"',
        "{ incast = { fan_in = 16 } }",
        19,
        "flows.search.pairs",
        "asks 16 nodes, and there are 15 others",
    ),
    "failing": (
        'delay = "1 us"',
        'failures = [{ link = "edge0-agg9", down = ["1 ms"], up = ["2 ms"] }]',
        13,
        "fabrics.dc.failures[0].link",
        "is no link of the fabric",
    ),
    "captured": (
        "transfers = true",
        'capture = ["dc.edge0-h1"]',
        8,
        "record.capture",
        "one node at each end",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_fabrics_are_refused(forebay: front.Forebay, tmp_path: Path, name: str) -> None:
    """Wrong fabrics end with exit status 2 and a message that has file, line, key and what is
    allowed, so that the mistake is found where it was made."""
    was, wrong, line, key, told = WRONG[name]
    assert was in fat_tree()
    file = tmp_path / "wrong.toml"
    file.write_text(fat_tree().replace(was, wrong, 1), encoding="utf-8")
    done = forebay("run", file)
    assert done.status == 2
    assert f"{file}: line {line}: {key}: " in done.err
    assert told in done.err


def test_commands_without_fabrics_say_so(forebay: front.Forebay, tmp_path: Path) -> None:
    """Commands that know no fabrics, and no lists of nodes, refuse them by their key."""
    done = forebay("linux", EXAMPLE)
    assert (done.status, "fabrics.dc: Linux has none" in done.err) == (2, True)
    listed = tmp_path / "listed.toml"
    link = 'links.l = { from = "a", to = "b", rate = "1 Mbit/s" }\n'
    flow = 'flows.f = { from = ["a", "b"], to = "b", tcp = {} }\n'
    listed.write_text(f'duration = "1 s"\nrecord.trace = 10\n{link}{flow}', encoding="utf-8")
    done = forebay("linux", listed)
    assert (done.status, "flows.f.from: a list of nodes" in done.err) == (2, True)
    done = forebay("run", listed, "--ns2", tmp_path / "trace")
    assert (done.status, "flows.f.from" in done.err) == (2, True)


def test_a_fabric_is_drawn_with_the_loads_of_its_links() -> None:
    """Switches stand in tiers, and lines tell the load of the busier direction, so that hot links
    are found at a glance: of a fat tree of 4, 20 switches, 32 links between them and 16 hosts."""
    loads = {"dc.edge0-agg1": 0.1, "dc.agg1-edge0": 0.75, "dc.agg0-core1": 0.05, "dc.h3-edge1": 0.5}
    svg = draw_fabric("dc", {"fat_tree": {"k": 4}}, loads)
    assert svg.count("<circle") == 20
    # Of links that no run has, only hosts have a line.
    assert svg.count("<title>dc.h") == 16
    assert "<title>dc.edge0-agg1: 75 %</title>" in svg
    assert "<title>dc.h3-edge1: 50 %</title>" in svg
    assert draw_fabric("dc", {"leaf_spine": {"leaves": 1, "spines": 0, "hosts": 3}}, {}) != ""
    assert draw_fabric("dc", {"fat_tree": {"k": 16}}, loads) == ""
    assert draw_fabric("dc", {"ring_of_rings": {}}, loads) == ""


def test_replications_of_a_fabric_have_a_page(forebay: front.Forebay, tmp_path: Path) -> None:
    """Each seed draws its own pairs, so a page has those of all replications, and the fabric with
    the mean load of each link, as `intervals.csv` has it."""
    out = tmp_path / "out"
    shorter = ("--set", "duration=10 ms", "--set", "warm_up=0 s")
    told = forebay("run", EXAMPLE, "--replications", "2", *shorter, "--out", out)
    assert (told.status, told.err) == (0, "")
    assert forebay("report", out).status == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    rows = csv.DictReader((out / "intervals.csv").read_text(encoding="utf-8").splitlines())
    of_links = [row for row in rows if row["quantity"] == "utilization"]
    loads = {row["name"]: float(row["mean"]) for row in of_links}
    load = max(loads["dc.edge0-agg0"], loads["dc.agg0-edge0"])
    assert f"<title>dc.edge0-agg0: {100 * load:.0f} %</title>" in page
    # Of 20 switches 16 are joined upwards, by 32 links.
    assert len(re.findall(r"<title>dc\.(?:edge|agg)\d+-(?:agg|core)\d+: ", page)) == 32
