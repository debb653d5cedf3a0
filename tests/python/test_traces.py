"""Captures and tables of packets as traffic."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import forebay
from forebay.cli.commands import main

SCENARIO = """
name = "replay"
duration = "3 s"
[links.line]
from = "a"
to = "b"
rate = "1 Gbit/s"
delay = "1 ms"
[flows.replayed]
from = "a"
to = "b"
start = "{start}"
udp = {{}}
traffic = {{ trace = {{ file = "{file}"{choice} }} }}
[record]
capture = ["line"]
trace = 10000
"""


def sent(folder: Path, start: str, file: str, choice: str = "") -> list[tuple[float, int]]:
    """Times and sizes of what a flow sends that replays a file."""
    path = folder / "replay.toml"
    path.write_text(
        SCENARIO.format(start=start, file=folder / file, choice=choice), encoding="utf-8"
    )
    table = forebay.Network.from_toml(path).run().table("trace")
    rows = table.to_pylist()
    return [(row["time_s"], row["size_bytes"]) for row in rows if row["event"] == "sent"]


def poisson(folder: Path) -> list[tuple[float, int]]:
    """Capture two flows at a link that is idle whenever a packet comes, into `line.pcapng`; times
    and sizes of what the first sends."""
    net = forebay.Network("poisson", duration="2.1 s")
    net.link("line", "a", "b", rate="100 Gbit/s", delay="1 ms")
    net.flows(
        "load",
        "a",
        "b",
        stop="2 s",
        udp={},
        traffic=forebay.traffic.poisson(rate="2 Mbit/s", size="500 B"),
    )
    net.flows(
        "other",
        "a",
        "b",
        stop="2 s",
        udp={},
        traffic=forebay.traffic.cbr(rate="1 Mbit/s", size="200 B"),
    )
    net.record(capture=["line"], trace=10_000)
    results = net.run()
    (folder / "line.pcapng").write_bytes(results.capture("line"))
    table = results.table("trace").to_pylist()
    return [
        (row["time_s"], row["size_bytes"])
        for row in table
        if row["event"] == "sent" and row["flow"] == "load"
    ]


def test_a_captured_run_is_the_load_of_another(tmp_path: Path) -> None:
    """A captured run is the load of another: what is sent again has the sizes and, to the
    nanosecond of the time stamps, the times of the first run, counted from the first packet of the
    file."""
    first = poisson(tmp_path)
    again = sent(tmp_path, "0 s", "line.pcapng", ', source = ":49152"')
    assert [size for _, size in again] == [500] * len(first)
    shift = first[0][0] - again[0][0]
    assert all(abs(a[0] + shift - b[0]) < 2.1e-9 for a, b in zip(again, first, strict=True))
    # All packets together are one load, with a warning.
    with pytest.warns(forebay.ScenarioWarning, match="packets of 2 flows are one load"):
        both = sent(tmp_path, "0 s", "line.pcapng")
    assert {size for _, size in both} == {200, 500}
    # 2 s at a packet of 200 B each 1.6 ms are 1250 of them.
    assert sum(size == 200 for _, size in both) == 1250


def test_a_table_is_read(tmp_path: Path) -> None:
    """A table is read: packets leave at its times, counted from the start of the flow."""
    (tmp_path / "load.csv").write_text("time_s,size_bytes\n0.25,700\n0,40\n", encoding="utf-8")
    assert sent(tmp_path, "1 s", "load.csv") == [(1.0, 40), (1.25, 700)]


def test_several_flows_of_a_capture_are_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Several flows of a capture are a warning, as they become one load."""
    poisson(tmp_path)
    path = tmp_path / "replay.toml"
    path.write_text(SCENARIO.format(start="0 s", file="line.pcapng", choice=""), encoding="utf-8")
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr()
    assert "packets of 2 flows are one load" in said.out + said.err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda content: content[:-3], "the file ends within a block"),
        (lambda content: b"\x7fE\0F" + content, "neither text nor a capture"),
        # The link type is behind the section header and the type and length of the interface.
        (lambda content: content.replace(b"\x01\0\0\0\x5e\0\0\0", b"\x69\0\0\0\x5e\0\0\0", 1),
         "link type 105"),
        (lambda content: b"", '"" is not a column'),
    ],
)  # fmt: skip
def test_a_damaged_capture_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[bytes], bytes], told: str
) -> None:
    """A damaged capture is refused by its key path, neither read in part nor with a traceback."""
    poisson(tmp_path)
    file = tmp_path / "line.pcapng"
    file.write_bytes(change(file.read_bytes()))
    path = tmp_path / "replay.toml"
    path.write_text(SCENARIO.format(start="0 s", file="line.pcapng", choice=""), encoding="utf-8")
    assert main(["run", str(path)]) == 2
    said = capsys.readouterr().err
    assert "flows.replayed.traffic.trace.file" in said
    assert "line.pcapng" in said
    assert told in said


@pytest.mark.parametrize("name", ["packets.csv", "line.pcapng"])
def test_what_is_kept_runs_without_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """A kept scenario runs without its data file, which may be gone: with the packets inside the
    hash is the same, so is the digest."""
    poisson(tmp_path)
    table = "time_s,size_bytes\n0,500\n0.5,700\n"
    (tmp_path / "packets.csv").write_text(table, encoding="utf-8")
    scenario = tmp_path / "replay.toml"
    text = SCENARIO.format(start="0 s", file=name, choice="")
    scenario.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    assert main(["run", str(scenario), "--out", str(out), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    (tmp_path / name).unlink()
    assert main(["run", str(out / "scenario.toml"), "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert first["digest"] == second["digest"]
    assert first["scenario_hash"] == second["scenario_hash"]
