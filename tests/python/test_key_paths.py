"""Names with dots and spaces: every option, file and table that names a key finds them.

Each scenario here has a link `up` beside a link `up.link 1`, so that what cuts key paths at every
dot finds the wrong one.
"""

from __future__ import annotations

from pathlib import Path

import front
import pytest

from forebay import Network
from forebay.cli.set_keys import set_words
from forebay.paths import as_key, joined, names_below, names_of, parted
from forebay.run.axes import read_axes
from forebay.run.words import quantity_words, setting_words

DOTTED = """
name = "dots"
duration = "1 s"

[links.up]
from = "home.1"
to = "edge 2.b"
rate = "10 Mbit/s"

[links."up.link 1"]
from = "edge 2.b"
to = "far.away"
rate = "1 Mbit/s"
queue = { codel = { limit = "80 packets" } }

[flows."calls.of 1"]
from = "home.1"
to = "far.away"
udp = {}
traffic = { cbr = { rate = "400 kbit/s", size = "500 B" } }
"""

RING = """
name = "a ring"
duration = "1 s"
[rings."r.1 x"]
stations = ["s.1", "s 2", "s3"]
rate = "100 Mbit/s"
delay = "10 us"
fairness = "none"
[flows."f.1"]
from = "s.1"
to = "s 2"
udp = {}
traffic = { cbr = { rate = "1 Mbit/s", size = "500 B" } }
"""

SWEEP = """
scenario = "dots.toml"
replications = 1
quantities = ["links.up.link 1.utilization", 'flows."calls.of 1".throughput_bps']
[grid]
'links."up.link 1".rate' = ["1 Mbit/s", "2 Mbit/s"]
links."up.link 1".delay = ["1 ms"]
"""


@pytest.fixture
def dotted(tmp_path: Path) -> Path:
    """Two links, one flow, three nodes, with dots and spaces in their names."""
    path = tmp_path / "dots.toml"
    path.write_text(DOTTED, encoding="utf-8")
    return path


@pytest.mark.parametrize("names", [["links", "up.link 1", "rate"], ["a"], ["été", "x-y_z", "0"]])
def test_a_path_gives_back_the_names_that_it_is_made_of(names: list[str]) -> None:
    """A path gives back the names that it is made of."""
    assert names_of(joined(names)) == names


def test_paths_are_read_as_toml_reads_keys() -> None:
    """Paths are read as TOML reads keys: what is right in a file is right behind `--set` and in a
    sweep."""
    assert names_of(" links . 'a.b' .two words") == ["links", "a.b", "two words"]
    assert names_of("links.") == ["links", ""]
    assert as_key("up.link") == '"up.link"'
    assert names_below(["links.b.rate", 'links."a.b".rate', "links.b.to", "f"], "links") == [
        "b",
        "a.b",
    ]
    for wrong in ('links."a.rate', 'links."a"b.rate', 'links.a"b".rate'):
        with pytest.raises(ValueError, match="allowed is a key path"):
            names_of(wrong)


def test_quantities_have_names_with_dots() -> None:
    """Quantities of links whose names have dots are told apart, and keep their words and units."""
    assert parted("links.up.link 1.drops") == ("links", "up.link 1", "drops")
    assert parted('links."up.link 1".drops') == ("links", "up.link 1", "drops")
    assert parted("events") == ("events", "", "")
    assert quantity_words('links."up.link 1".drops') == "up.link 1: drops"
    assert setting_words('links."up.link 1".rate') == "up.link 1: rate"


def test_linux_builds_every_link(forebay: front.Forebay, dotted: Path) -> None:
    """The script for Linux has every link and its queue, and a name for every node."""
    script = forebay("linux", dotted).out
    for line in ("# node home.1", "# node edge 2.b", "# node far.away", "# flow calls.of 1"):
        assert line in script.splitlines()
    for link in ("up", "up.link 1"):
        assert f"# link {link}: the namespace between its ends is the wire" in script
    assert "# node \n" not in script
    assert script.count(" codel limit 80 ") == 1
    assert 'links."up.link 1".reverse.queue.droptail.limit: not limited' in script
    # 500 B at 400 kbit/s are a packet each 10 ms.
    assert "5201 1 1 0 cbr 0.01 472 0.0 1)" in script


def test_linux_finds_a_link_by_its_name(forebay: front.Forebay, dotted: Path) -> None:
    """`linux --link` finds a link by a name with dots and shows such names whole."""
    words = forebay("linux", dotted, "--link", "up.link 1", "--dev", "eth0").out
    assert "htb rate 1000000bit" in words
    assert " codel limit 80 " in words
    told = forebay.refused("linux", dotted, "--link", "up.link", "--dev", "eth0")
    assert "there are up.link 1, up, up.link 1.reverse, up.reverse" in told
    rate = forebay("linux", dotted, "--link", "up", "--dev", "e", "--set", "links.up.rate=7 Mbit/s")
    assert "rate 7000000bit" in rate.out


def test_linux_names_a_ring_or_an_aggregate(forebay: front.Forebay, tmp_path: Path) -> None:
    """`linux` names a ring or an aggregate, quoted, that it refuses."""
    calls = front.CALLS.replace("aggregates.lines", 'aggregates."a.1 x"')
    calls = calls.replace('aggregate = "lines"', 'aggregate = "a.1 x"')
    for text, place in ((RING, 'rings."r.1 x"'), (calls, 'aggregates."a.1 x"')):
        (tmp_path / "one.toml").write_text(text, encoding="utf-8")
        told = forebay.refused("linux", tmp_path / "one.toml")
        assert f"{place}: Linux has none" in told


def test_linux_allows_by_path(forebay: front.Forebay, dotted: Path) -> None:
    """`linux --allow` takes a whole path or its last key, where names have dots, too."""
    red = (
        '{ red = { min_threshold = "5 packets", max_threshold = "15 packets", weight = 0.25, '
        "gentle = true } }"
    )
    given = ["--set", f'links."up.link 1".queue={red}']
    told = forebay.refused("linux", dotted, *given)
    path = 'links."up.link 1".queue.red.gentle'
    assert f"{path}: " in told
    for allowed in (path, "gentle"):
        assert forebay("linux", dotted, *given, "--allow", allowed).status == 0


def test_set_reaches_names_with_dots(forebay: front.Forebay, dotted: Path) -> None:
    """`--set` reaches keys of names with dots."""
    for path in ('links."up.link 1".rate', "links.'up.link 1'.rate"):
        run = forebay("run", dotted, "--json", "--set", f"{path}=4 Mbit/s").document()
        rows = {row["name"]: row for row in run["links"]}
        # 400 kbit/s of 4 Mbit/s.
        assert rows["up.link 1"]["utilization"] == pytest.approx(0.1, abs=0.002)
    told = forebay.refused("check", dotted, "--set", 'links."up.link 1".rate=fast')
    assert """links."up.link 1".rate: """ in told
    assert """(from --set links."up.link 1".rate=fast)""" in told
    told = forebay.refused("check", dotted, "--set", 'links."up.link 1.rate=1 Mbit/s')
    assert "a name with a dot is in quotes" in told


def test_captures_are_of_links_by_name(
    forebay: front.Forebay, dotted: Path, tmp_path: Path
) -> None:
    """Captures are of links by name, and names with dots are shown whole."""
    file = tmp_path / "wire.pcapng"
    assert forebay("run", dotted, "--capture", f"up.link 1={file}").status == 0
    assert file.stat().st_size > 0
    told = forebay.refused("run", dotted, "--capture", f"up.lnk={file}")
    assert "there are up.link 1, up, up.link 1.reverse, up.reverse" in told


def test_sweeps_vary_keys_of_names_with_dots(
    forebay: front.Forebay, dotted: Path, tmp_path: Path
) -> None:
    """Sweeps vary keys of names with dots, and their pages have the right heads."""
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP, encoding="utf-8")
    document = forebay("sweep", path, "--out", tmp_path / "o", "--json").document()
    assert set(document["grid"]) == {'links."up.link 1".rate', 'links."up.link 1".delay'}
    use = [row["mean"] for row in document["summary"] if row["quantity"].startswith("links")]
    # 400 kbit/s of 1 and 2 Mbit/s.
    assert use == pytest.approx([0.4, 0.2], abs=0.005)
    page = (tmp_path / "o" / "report.html").read_text(encoding="utf-8")
    assert "up.link 1: rate" in page
    assert "up.link 1: utilization" in page
    shown = forebay("sweep", path, "--out", tmp_path / "o", "--resume").out
    assert "rate" in shown


def test_sections_of_names_hold_names() -> None:
    """Sections of names in a sweep file hold names, as those of a scenario do."""
    axes = read_axes("f", {}, [], {"links": {"a.b": {"queue.red.weight": [1]}}, "links.c.x": [2]})
    keys = [dict(point.keys) for axis in axes for point in axis]
    assert keys == [{'links."a.b".queue.red.weight': 1}, {"links.c.x": 2}]


def test_networks_have_names_with_dots() -> None:
    """Networks in Python make, change, read, remove and compare links whose names have dots."""
    net = Network("dots", duration="1 s")
    net.link("up.link 1", "a", "b", rate="1 Mbit/s", queue={"codel": {}})
    other = net.copy().set('links."up.link 1".queue.codel.ecn', True)
    assert other.section('links."up.link 1"')["queue"] == {"codel": {"ecn": True}}
    assert other.differences(net) == ['links."up.link 1".queue.codel.ecn=true']
    assert other.set_each("links.*.rate", "2 Mbit/s") == 1
    assert other.section('links."up.link 1"')["rate"] == "2 Mbit/s"
    assert other.remove("links.'up.link 1'").to_dict()["links"] == {}
    with pytest.raises(ValueError, match="in quotes"):
        net.set('links."up.link 1.rate', "1 Mbit/s")


@pytest.mark.parametrize(
    ("begun", "offered"),
    [
        ("links.u", "links.up."),
        ("links.", 'links."up.link 1".'),
        ('links."up.l', 'links."up.link 1".'),
        ('links."up.link 1".ra', 'links."up.link 1".rate='),
        ('links."up.link 1".queue=', 'links."up.link 1".queue=codel'),
    ],
)
def test_completion_offers_names_with_dots(begun: str, offered: str, dotted: Path) -> None:
    """Completion offers names with dots as keys that reach them."""
    assert offered in set_words(str(dotted), begun)


def test_files_of_ns2_hold_packets_of_such_links(
    forebay: front.Forebay, dotted: Path, tmp_path: Path
) -> None:
    """Files of ns-2 hold arrivals of links whose names have dots: their delay is found by name."""
    lines = {}
    for name in ("up.link 1", "way"):
        text = DOTTED.replace("up.link 1", name)
        (tmp_path / "one.toml").write_text(text + "[record]\ntrace = 100000\n", encoding="utf-8")
        done = forebay("run", tmp_path / "one.toml", "--ns2", tmp_path / f"{name}.tr")
        assert done.status == 0
        lines[name] = (tmp_path / f"{name}.tr").read_text(encoding="utf-8").splitlines()
    assert lines["up.link 1"] == lines["way"]


def test_dates_are_refused_by_their_path(forebay: front.Forebay, tmp_path: Path) -> None:
    """Dates are refused by the path of their key."""
    path = tmp_path / "dots.toml"
    path.write_text(DOTTED.replace('"1 Mbit/s"', "1999-01-01"), encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(SWEEP + '\n[variants."a.b"]\nx = 1999-01-01\n', encoding="utf-8")
    assert 'variants."a.b".x: read the date' in forebay.refused("sweep", sweep)
    assert 'links."up.link 1".rate' in forebay.refused("check", path)
