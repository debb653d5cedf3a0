"""The suite `tcpeval`: its cells are those of draft-irtf-iccrg-tcpeval-01, and its times are those
that TCP's arithmetic gives."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import front
import numpy as np
import pytest
import tomli_w

from forebay.run.expressions import read
from forebay.run.jobs import Job, Run, run_jobs
from forebay.run.measured import Recording, calls_of
from forebay.suite.cells import Asked, Cell, cells_of
from forebay.suite.definition import load_definition
from forebay.suite.folders import suite_folder
from forebay.suite.laws import law_of

TABLE_1 = [4, 74, 150, 28, 98, 174, 54, 124, 200]
"""Round-trip times in ms of the pairs of nodes without the central link (section 4.1)."""

SHORT = {
    "dial-up/60": (100, 500),
    "wlan/85": (2, 20),
    "buffers/50": (1, 3),
    "ramp-up/10M-120-30": (300, 60),
    "transient/decrease": (0, 0),
    "transient/steps": (0, 0),
    "impact/50": (1, 3),
    "fairness/same/160-100": (0, 0),
    "fairness/other/40-25": (0, 0),
    "parking-lot/60": (1, 2),
}
"""Cells of every section with a warm-up and a length in s that suffice to measure something; 0 for
those of the cell."""


@pytest.fixture(autouse=True)
def own_suites_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suites of the package, whatever the environment names."""
    monkeypatch.delenv("FOREBAY_SUITES", raising=False)


def cells(names: str = "*") -> dict[str, Cell]:
    """Cells of the suite by name, with Reno."""
    folder = suite_folder("tcpeval")
    laws = [law_of("reno", "control", "baseline")]
    found = cells_of(folder, load_definition(folder), Asked(laws, cells=names))
    return {cell.name: cell for cell in found}


def tables_of(cell: Cell) -> dict[str, Any]:
    """The scenario of a cell as tables."""
    return tomllib.loads(cell.scenario(cell.sweep.axes[0][0]))


def number(text: str) -> float:
    """A quantity in its base unit."""
    value = read(text, "a quantity").of({}).value
    assert value is not None
    return value


def delay(tables: dict[str, Any], *links: str) -> float:
    """The round-trip time over some links in ms."""
    return 2e3 * sum(number(tables["links"][name]["delay"]) for name in links)


def run(cell: Cell, tables: dict[str, Any]) -> Run:
    """A run of a cell with other tables, and with what it measures."""
    job = Job(tomli_w.dumps(tables), cell.name, record=True, measures=cell.sweep.scenario.measures)
    runs: dict[int, Run] = {}
    run_jobs([job], runs.__setitem__)
    return runs[0]


def test_cells_are_those_of_the_draft() -> None:
    """Every section has its cells: six links at three loads, five buffers, two capacities with
    three pairs of round-trip times, three transients, two loads of camps, four buffers with five
    and four round-trip times, three loads of the parking lot."""
    names = list(cells())
    links = ("data-centre", "access", "trans-oceanic", "geo", "wlan", "dial-up")
    wanted = {f"{link}/{load}" for link in links for load in (60, 85, 110)}
    wanted |= {f"buffers/{share}" for share in (10, 20, 50, 100, 200)}
    trips = ("80-80", "120-30", "30-120")
    wanted |= {f"ramp-up/{rate}-{trip}" for rate in ("10M", "1G") for trip in trips}
    wanted |= {f"transient/{kind}" for kind in ("decrease", "increase", "steps")}
    wanted |= {f"impact/{load}" for load in (50, 100)}
    buffers = (25, 50, 100, 200)
    same = itertools.product((10, 20, 40, 80, 160), buffers)
    other = itertools.product((10, 20, 40, 80), buffers)
    wanted |= {f"fairness/same/{trip}-{buffer}" for trip, buffer in same}
    wanted |= {f"fairness/other/{trip}-{buffer}" for trip, buffer in other}
    wanted |= {f"parking-lot/{load}" for load in (60, 80, 100)}
    assert set(names) == wanted | {"wlan/85-repaired"}
    suite = load_definition(suite_folder("tcpeval"))
    for cell in suite.cells.values():
        assert cell.title.endswith("synthetic vectors, set 1") or cell.section == "5.3"


def test_links_are_those_of_the_draft() -> None:
    """Rates, delays and buffers are the printed ones: 100 ms of the access link, 10 ms of the data
    centre, 100 and 1000 ms of the satellite, 1250 ms of the modem, and the round-trip times of
    tables 1 and 8."""
    found = cells()
    printed = {
        "data-centre/60": ("1 Gbit/s", "1 Gbit/s", 0, 10, 10),
        "access/60": ("100 Mbit/s", "100 Mbit/s", 2, 100, 100),
        "trans-oceanic/60": ("1 Gbit/s", "1 Gbit/s", 65, 100, 100),
        "geo/60": ("40 Mbit/s", "4 Mbit/s", 300, 100, 1000),
        "dial-up/60": ("64 kbit/s", "64 kbit/s", 5, 1250, 1250),
    }
    for name, (down, up, core, buffer, back) in printed.items():
        link = tables_of(found[name])["links"]["central"]
        assert number(link["reverse"]["rate"]) == number(down), name
        assert number(link["rate"]) == number(up), name
        assert number(link["delay"]) * 1e3 == pytest.approx(core), name
        waits = number(link["reverse"]["queue"]["droptail"]["limit"]) * 8e3 / number(down)
        assert waits == pytest.approx(buffer), name
        held = number(link["queue"]["droptail"]["limit"]) * 8e3 / number(up)
        assert held == pytest.approx(back), name
    access = tables_of(found["access/60"])
    pairs = itertools.product(("left1", "left2", "left3"), ("right1", "right2", "right3"))
    assert [round(delay(access, *pair), 6) for pair in pairs] == TABLE_1
    for name, trips in (("80-80", (80, 80)), ("120-30", (120, 30)), ("30-120", (30, 120))):
        tables = tables_of(found[f"ramp-up/10M-{name}"])
        old = delay(tables, "test1", "central", "test3")
        assert (old, delay(tables, "test2", "central", "test4")) == pytest.approx(trips)
    lot = tables_of(found["parking-lot/60"])
    ways = [("edge1", "a", "b", "c", "edge8"), ("edge2", "a", "edge3"), ("edge4", "b", "edge5"),
            ("edge6", "c", "edge7")]  # fmt: skip
    assert [delay(lot, *way) for way in ways] == pytest.approx([60.0] * 4)


def test_load_is_that_of_the_name() -> None:
    """What nine pairs offer from right to left is the load of the capacity, and 0.085 of that the
    other way; of the satellite 0.085 of 0.11 of the way up. A tenth of the connections has packets
    of 536 B: as many bytes of data in more packets, 1.1074 of 1.0359 to each."""

    # Each load is rounded to 1 bit/s.
    def offered(tables: dict[str, Any], way: str) -> float:
        groups = [name for name in tables["flows"] if way in name]
        return sum(9 * number(tables["flows"][name]["traffic"]["tmix"]["load"]) for name in groups)

    found = cells()
    for load in (60, 85, 110):
        access = tables_of(found[f"access/{load}"])
        assert offered(access, "down") == pytest.approx(load * 1e6, rel=1e-4)
        assert offered(access, "up") == pytest.approx(0.085 * load * 1e6, rel=1e-4)
        geo = tables_of(found[f"geo/{load}"])
        assert offered(geo, "up") == pytest.approx(0.085 / 0.11 * load * 4e4, rel=1e-4)
    flows = tables_of(found["access/60"])["flows"]
    small, large = (
        number(flows[f"down_{name}"]["traffic"]["tmix"]["load"]) for name in ("small", "large")
    )
    data = (small * 484 / 536, large * 1448 / 1500)
    assert data[0] / sum(data) == pytest.approx(0.1, rel=1e-4)


@pytest.mark.long
def test_a_cell_of_each_section_measures() -> None:
    """A short run of a cell of every section gives a value of every metric: one that is refused, or
    has none, would show after a quarter of an hour."""
    found = cells()
    for name, (warm_up, length) in SHORT.items():
        cell = found[name]
        tables = tables_of(cell)
        if length:
            tables |= {"warm_up": f"{warm_up} s", "duration": f"{warm_up + length} s"}
        document = run(cell, tables).document
        for measure in cell.measures:
            answer = measure.quantity.of(document)
            # Of the largest responses a short run may complete none.
            told = answer.reason.startswith(("no response", "not within"))
            assert answer.value is not None or told, (name, measure.key, answer.reason)


@pytest.mark.parametrize(
    ("slow_start", "flights"), [(False, {"1": 1, "2": 7}), (True, {"1": 1, "2": 3, "3": 6})]
)
def test_ramp_up_takes_the_round_trips_of_theory(slow_start: bool, flights: dict[str, int]) -> None:
    """Without loss, byte 1500 x 10^n arrives with the flight in which the sum of Reno's windows
    reaches it, half a round-trip time after that leaves.

    Bytes 15,000, 150,000 and 1,500,000 are in segments 11, 104 and 1036. The window begins with ten
    segments. Without slow start it grows by one in a round trip: 10, 21, 33, 46, 60, 75, 91, 108
    after flights 0 to 7. With it, it doubles: 10, 30, 70, 150, 310, 630, 1270 after 0 to 6. A round
    trip is 80 ms; samples are 5 ms, and each flight takes up to 640 x 12 us on the link. Every
    segment is acknowledged at once: the last of an odd window would else wait for the receiver.
    """
    cell = cells("ramp-up/1G-80-80")["ramp-up/1G-80-80"]
    tables = tables_of(cell)
    tables["flows"] = {"new": tables["flows"]["new"]}
    tables["flows"]["new"]["tcp"]["delayed_ack"] = False
    del tables["record"]["waits"]
    if slow_start:
        del tables["flows"]["new"]["tcp"]["initial_ssthresh"]
    tables["duration"] = "14 s"
    measured = run(cell, tables).document["measured"]
    for byte, flight in flights.items():
        value, told = measured[f"byte.{byte}"]
        assert value is not None, told
        assert 0.08 * (flight + 0.5) - 0.005 <= value <= 0.08 * (flight + 0.5) + 0.02


@pytest.mark.long
def test_reno_takes_up_released_bandwidth_a_packet_a_round_trip() -> None:
    """From 60 to 90 % of the bandwidth-delay product are 250 of 833 packets, which Reno takes up
    with one packet in each round trip of 100 ms (RFC 5681, section 3.1): 25 s, and no more than one
    packet at a time. Packets take 0.12 ms on the link and 0.012 on the edge, and an acknowledgement
    of two waits for the second: less than 1 % more."""
    cell = cells("transient/decrease")["transient/decrease"]
    measured = run(cell, tables_of(cell)).document["measured"]
    times = [measured[f"reach.{share}"][0] for share in (60, 80, 90)]
    assert times[2] - times[0] == pytest.approx(25.0, rel=0.01)
    assert measured["largest_change"][0] == pytest.approx(1.0)


def test_completion_is_that_of_responses_down_in_the_range() -> None:
    """Completion times are of responses down that begin after the warm-up, by size: others would
    mix directions, or the time in which the network fills."""
    table = {
        "flow": [
            "down_large[3]",
            "a_down_small[0]",
            "up_large[1]",
            "down_large[0]",
            "down_large[9]",
        ],
        "size_bytes": np.array([5_000, 10_000, 5_000, 5_000, 50_000]),
        "begun_s": np.array([11.0, 12.0, 13.0, 9.0, 14.0]),
        "completion_s": np.array([0.1, 0.3, 7.0, 7.0, 0.5]),
    }
    completion = calls_of(suite_folder("tcpeval"))["completion"]

    def value(of: str) -> float | None:
        told = completion(Recording(Run({}, {"transfers": table}), {"warm_up": 10.0}, of))
        assert not isinstance(told, float)
        return told.value

    assert value("to 10 kB") == pytest.approx(0.2)
    assert value("to 100 kB") == pytest.approx(0.5)
    assert value("above") is None


OWN = """
[suite]
title = "Two camps"
source = "none"
law = "control"
baseline = ["reno"]
places = ["flows.b.tcp.control"]
metrics = ["goodput", "gain", "absent"]
quick = 2

[metrics.goodput]
quantity = "groups.b.goodput"
words = "goodput"

[metrics.gain]
quantity = "groups.b.goodput"
over_baseline = true
words = "G"

[metrics.absent]
quantity = "groups.b.goodput / groups.b.marked_packets"
over_baseline = true
words = "none"

[cells.camps]
title = "Camps"
section = "1"
weight = "must"
scenario = "camps.toml"
trade_off = false
"""

CAMPS = """
duration = "3 s"
warm_up = "1 s"

[links.l]
from = "L"
to = "R"
rate = "5 Mbit/s"
delay = "10 ms"
queue.droptail.limit = "20 packets"

[flows.a]
from = "L"
to = "R"
start = { uniform = ["0 s", "20 ms"] }
tcp = { control = "reno" }

[flows.b]
from = "L"
to = "R"
start = { uniform = ["0 s", "20 ms"] }
tcp = { control = "reno" }
"""


def test_over_the_baseline_is_by_replication(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forebay: front.Forebay
) -> None:
    """A metric over the baseline is the quotient of runs of one replication, 1 of the baseline
    itself, and none where there is no value: the gain G of section 6.1 compares the same flows."""
    folder = tmp_path / "suites" / "camps"
    folder.mkdir(parents=True)
    (folder / "suite.toml").write_text(OWN)
    (folder / "camps.toml").write_text(CAMPS)
    monkeypatch.setenv("FOREBAY_SUITES", str(folder.parent))
    monkeypatch.chdir(tmp_path)
    told = forebay("suite", "camps", "--control", "cubic", "--quick", "--json")
    rows = {(row["quantity"], row["column"]): row for row in json.loads(told.out)["rows"]}
    assert rows["gain", "reno"]["values"] == [1.0, 1.0]
    assert rows["gain", "cubic"]["unit"] == "share"
    own, base = (rows["goodput", column]["values"] for column in ("cubic", "reno"))
    assert rows["gain", "cubic"]["values"] == pytest.approx(
        [a / b for a, b in zip(own, base, strict=True)]
    )
    assert rows["absent", "cubic"]["mean"] is None
    assert rows["absent", "cubic"]["reason"]
