"""Results by kind of rows: their columns, and what can be asked of each kind."""

from __future__ import annotations

from pathlib import Path

import front
import pytest

from forebay import Network
from forebay.run.columns import columns, kinds, numbers, unit_in
from forebay.run.expressions import read
from forebay.run.jobs import Job, Run, run_jobs
from forebay.run.results import Results
from forebay.text import quantity as shown
from forebay.units import UNITS, Unit, multiple_of_ending, of_name, symbolised

# 1 s of every kind of rows. Of the cells that leave at 100 kbit/s a peak rate controller lets
# 50 kbit/s pass and drops the rest where its queue is full; every second one of these that pass
# takes the short queue, none is late. The ring carries 80 kbit/s over one of its six spans.
EVERYTHING = """
name = "everything"
duration = "1 s"
record.classes = true
record.waits = true
record.synchronization = "100 ms"

[links.wire]
queue = { wrr = { classify = "precedence", classes = ["droptail"] } }
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"

[hosts.x]
tags = ["stations"]

[flows.steady]
from = "a"
to = "b"
count = 2
stop = "990 ms"
udp = {}
traffic = { cbr = { rate = "80 kbit/s", size = "200 B", random_phase = false } }

[flows.pages]
from = "b"
to = "a"
tags = ["quiet"]
tcp = { profile = "rfc", mss = "960 B", initial_window = "9 packets" }
traffic = { file = { size = "8640 B", count = 2, interval = "500 ms" } }

[links.cable]
from = "c"
to = "d"
tags = ["quiet"]
rate = "1 Mbit/s"

[flows.film]
from = "c"
to = "d"
tcp = {}
traffic = { adaptive_video = { rates = ["8 kbit/s"], chunk = "100 ms", buffer = "200 ms" } }

[flows.voice]
from = "a"
to = "b"
calls = { initial = 2 }
traffic = { voice = { codec = "g711_20ms" } }

[flows.file]
from = "a"
to = "b"
late_after = "20 ms"
paced = { activity = { files = { rate = "100 kbit/s", start = 1.0 } }, pace = "uncontrolled" }
policing = { at = "a", peak = { rate = "50 kbit/s", queue = "1 packet", full = "discard" } }

[links.other]
from = "e"
to = "f"
rate = "1 Mbit/s"

[flows.spread]
from = ["e", "f"]
to = ["e", "f"]
udp = { echo = true }
traffic = { cbr = { rate = "8 kbit/s", size = "100 B" } }

[switches.a]
memory = "10 MB"

[rings.metro]
stations = ["x", "y", "z"]
rate = "1 Mbit/s"
delay = "1 ms"
fairness = "none"

[flows.around]
from = "x"
to = "y"
tags = ["quiet"]
stop = "990 ms"
udp = {}
traffic = { cbr = { rate = "80 kbit/s", size = "200 B", random_phase = false } }
"""

ASKED = {
    "flows": ("steady", "sent_packets"),
    "groups": ("steady", "sent_packets"),
    "hosts": ("a", "throughput_bps"),
    "links": ("wire", "throughput_bps"),
    "classes": ("wire[0]", "mean_wait_s"),
    "transfers": ("pages", "mean_completion_s"),
    "video": ("film", "mean_rate_bps"),
    "calls": ("voice", "mean_present"),
    "paced": ("file", "nominal_bps"),
    "policing": ("file", "dropped"),
    "lateness": ("file", "least_delay_s"),
    "round_trips": ("spread", "mean_rtt_s"),
    "rings": ("metro", "throughput_bps"),
    "switches": ("a", "mean_used_bytes"),
    "waits": ("wire", "p95_s"),
    "synchronization": ("wire", "loss_events"),
    "pairs": ("spread.e-f", "sent_packets"),
    "tags": ("quiet", "sent_packets"),
    "transfers_by_tag": ("quiet", "mean_completion_s"),
}
"""A row and a quantity of each kind."""


@pytest.fixture(scope="module")
def results() -> Results:
    """Results of two runs of everything."""
    return Network.from_text(EVERYTHING).run(replications=2)


def test_every_kind_is_asked_here() -> None:
    """Every kind of rows is asked for here, so that a new one needs a test."""
    assert sorted(ASKED) == sorted(kinds())


@pytest.mark.parametrize("kind", ASKED)
def test_every_kind_can_be_asked(results: Results, kind: str) -> None:
    """Every kind of rows can be asked for, as intervals, tables and values.

    The interval, the summary, the table, a sweep and a drawing have one value.
    """
    name, quantity = ASKED[kind]
    interval = results.interval(kind, name, quantity)
    assert interval.mean > 0
    rows = [row for row in getattr(results, kind).to_pylist() if row["name"] == name]
    if kind != "flows":
        assert [row[quantity] for row in rows] == results.values(kind, name, quantity)
    swept = read(f"{kind}.{name}.{quantity}", "quantities")
    assert [swept.of(document).value for document in results.documents] == results.values(
        kind, name, quantity
    )
    summary = {
        (row["place"], row["name"], row["quantity"]): row for row in results.summary().to_pylist()
    }
    if kind != "groups":
        found = summary[kind, name, quantity]
        assert (found["mean"], found["replications"]) == (interval.mean, 2)
        assert found["unit"] == columns(kind)[quantity].unit
    drawn = results.plot("bars", quantity, place=kind).axes[0]
    assert name in [label.get_text() for label in drawn.get_xticklabels()]


def test_quantities_are_what_they_say(results: Results) -> None:
    """Quantities of each kind of rows are their own, with the values that the scenario implies.

    Two flows send 80 kbit/s in packets of 1600 bit every 20 ms, the last at 0.98 s: 50 packets
    each. So does one on the ring, of whose six spans one transmits 8 % of the time. The peak rate
    is half of the sources' rate. Nothing is later than the fastest by 20 ms, for a cell waits for
    one other at most: 8.48 ms at 50 kbit/s.
    """
    assert results.interval("flows", "steady", "sent_packets").mean == 100
    assert results.values("flows", "steady[1]", "sent_packets") == [50, 50]
    assert results.interval("flows", "around", "started_s").mean == 0
    assert results.interval("paced", "file", "nominal_bps").mean == pytest.approx(1e5)
    assert results.interval("transfers", "pages", "completed").mean == 2
    assert results.values("transfers", "pages", "max_completion_s")[0] == pytest.approx(0.073)
    assert results.interval("transfers", "pages", "p99_slowdown").mean == pytest.approx(1)
    assert results.interval("calls", "voice", "mean_present").mean == 2
    assert results.interval("lateness", "file", "late_packets").mean == 0
    for replication in results.rings.to_pylist():
        assert replication["spans"] == 6
        assert replication["departed_packets"] == 50
        assert replication["throughput_bps"] == pytest.approx(8e4)
        assert replication["max_utilization"] == pytest.approx(0.08)
        assert replication["utilization"] == pytest.approx(0.08 / 6)
    sent = results.values("flows", "file", "sent_packets")
    dropped = results.values("policing", "file", "dropped")
    assert dropped == results.values("flows", "file", "dropped_packets")
    for all_of_them, lost in zip(sent, dropped, strict=True):
        assert 0.4 * all_of_them < lost < 0.6 * all_of_them


def test_a_summary_names_units_and_headlines(results: Results) -> None:
    """A summary names units and headlines."""
    for row in results.summary().to_pylist():
        assert row["unit"] not in ("word", "rows")
    head = repr(results)
    assert "links wire: utilization" in head
    assert "rings metro: utilization 1.33 %" in head
    assert "calls voice: mean_present 2.000" in head
    assert "sent_acks" not in head


def test_a_missing_value_is_told(results: Results) -> None:
    """A missing value is reported: there is no mean of nothing, and a slip is answered with
    names."""
    assert results.documents[0]["paced"][0]["first_notice_s"] is None
    with pytest.raises(KeyError, match=r"no value of .*first_notice_s"):
        results.interval("paced", "file", "first_notice_s")
    summary = results.summary().to_pylist()
    assert "first_notice_s" not in {row["quantity"] for row in summary}
    with pytest.raises(KeyError, match=r"no number .*transport"):
        results.interval("groups", "steady", "transport")
    with pytest.raises(KeyError, match=r"no number .*drop.*did you mean"):
        results.plot("bars", "drop", place="links")
    with pytest.raises(ValueError, match="it is one of 'flows', 'groups', 'hosts'"):
        results.interval("wires", "wire", "drops")
    with pytest.raises(KeyError, match=r"no ring .*core.*; there are metro"):
        results.interval("rings", "core", "drops")


def test_every_unit_of_the_engine_is_known() -> None:
    """Every unit of the engine is known, so that each column can be shown and drawn: each unit of a
    number is in the table, and the name of a rate, time, amount or share ends in the unit's own
    word."""
    for kind in (*kinds(), "run", "spread", "quantiles", "drop_reasons"):
        for name in numbers(kind):
            unit = symbolised(columns(kind)[name].unit)
            assert unit_in(kind, name) is unit
            assert of_name(name) in (None, unit), name
    assert read("links.wire.drops", "").unit is UNITS["packets"]
    assert read("links.wire.utilization", "").unit is UNITS["ratio"]
    assert read("wall_s", "").unit is UNITS["s"]
    assert read("events", "").unit is UNITS["count"]


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (31_940_000.0, UNITS["bps"], "31.94 Mbit/s"),
        (0.0125, UNITS["s"], "12.50 ms"),
        (45_000.0, UNITS["bytes"], "45.00 kB"),
        (0.5, UNITS["ratio"], "50.00 %"),
        (12.0, UNITS["packets"], "12.00"),
        (1234, UNITS["packets"], "1 234"),
        (7.5, None, "7.500"),
        (None, UNITS["s"], "-"),
    ],
)
def test_values_are_shown_in_their_units(
    value: float | None, unit: Unit | None, expected: str
) -> None:
    """Values are shown in their units: 1 Mbit/s is 10^6 bit/s (SI)."""
    assert shown(value, unit) == expected


def test_parameters_end_in_multiples() -> None:
    """Endings of parameters are multiples of units: `udp_mbps` is in Mbit/s."""
    endings = {"bps": "bit/s", "kbps": "kbit/s", "mbps": "Mbit/s", "kb": "kB", "us": "us"}
    assert {ending: multiple_of_ending(ending) for ending in endings} == endings
    assert multiple_of_ending("flows") is None


def test_precedences_above_three_are_listed() -> None:
    """Precedences above three are listed each: of 64 precedences that are allowed, a link lists
    those that occurred."""
    text = front.SCENARIO + "precedence = 40\n"
    (row,) = Network.from_text(text).run().links.slice(0, 1).to_pylist()
    assert [len(row[f"{what}_packets"]) for what in ("arrived", "departed", "dropped")] == [41] * 3
    assert row["arrived_packets"][40] > 0 == row["arrived_packets"][3]


def test_the_engine_describes_what_it_gives(tmp_path: Path) -> None:
    """The engine describes all columns that it gives, and no others."""
    found: list[Run] = []
    run_jobs([Job(EVERYTHING)], lambda _index, run: found.append(run))
    document = found[0].document
    for kind in kinds():
        described = [name for name in columns(kind) if name != "spread"]
        assert list(document[kind][0]) == described
