"""The pictures of the tutorial and of the guides, drawn of the scenarios that their pages show.

Each is a file of `docs/images`, of less than 60 kB. They are committed, since pages are read on
forges too, and made anew by `python -m manual pictures`.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay import Network, Results, queue
from forebay.drawing import COLOURS, DOTTED, INK, NARROW, Figure, finished, new_axis, to_file
from forebay.laws import load
from forebay.run.store import write_text
from forebay.stats import summarize
from forebay.suite.cells import Asked, cells_of
from forebay.suite.definition import load_definition
from forebay.suite.folders import suite_folder
from forebay.suite.laws import law_of
from manual.sources import ROOT

__all__ = ["PICTURES", "block", "pictures"]

FOLDER = ROOT / "docs/images"
PACKAGED = {"quic-window": ROOT / "crates/host/window.svg"}
"""Pictures that a crate shows too, whose package has a copy."""
MAX_BYTES = 60_000
"""Bytes of a picture."""


def pictures() -> None:
    """Write every picture; raises `SystemExit` for one that is too large."""
    for name, draw in PICTURES.items():
        text = to_file(draw())
        if len(text.encode()) >= MAX_BYTES:
            raise SystemExit(f"docs/images/{name}.svg: {len(text.encode())} bytes")
        write_text(FOLDER / f"{name}.svg", text)
        if name in PACKAGED:
            write_text(PACKAGED[name], text)


def block(page: str, name: str) -> str:
    """The text that a page of `docs` gives for the file `name`."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.search(rf"^```\w+ {re.escape(name)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"docs/{page}: no block {name}")
    return found[1]


def _executed(page: str, *files: str) -> dict[str, Any]:
    """The names that the Python of a page of `docs` leaves, run beside `files` of that page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in files:
            with open(name, "w", encoding="utf-8") as file:
                file.write(block(page, name))
        with contextlib.redirect_stdout(io.StringIO()):
            for code in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
                exec(compile(code, page, "exec"), names)
    return names


def _axis(height: float) -> tuple[Any, Any]:
    """A drawing and its axes, so many inches high, whose letters can be read on a phone."""
    drawing, axes = new_axis(height)
    drawing.set_size_inches(NARROW, height)
    return drawing, axes


def _first_run() -> Figure:
    network = Network.from_text(block("tutorial/1-first-run.md", "first.toml"))
    network.record(series="100 ms")
    runs = {}
    for limit in ("50 packets", "10 packets"):
        runs[f"limit {limit}"] = network.set("links.bottleneck.queue.droptail.limit", limit).run()
    drawing, axes = _axis(2.4)
    runs["limit 50 packets"].plot(
        "series", "queue_packets", place="links", names=["bottleneck"], variants=runs, axes=axes
    )
    return finished(drawing, [axes], "The queue at the bottleneck", "", identity="first-run")


def _quic_window() -> Figure:
    program = ["-p", "host-quinn", "--bin", "download"]
    command = ["cargo", "run", "--quiet", "--profile", "setup", *program]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rows = list(csv.DictReader(told.splitlines()))
    time = [float(row["time_s"]) for row in rows]
    drawing, axes = _axis(2.4)
    for number, (key, label) in enumerate(
        (("quinn_bytes", "quinn, as released"), ("cubic_bytes", "Forebay's CUBIC"))
    ):
        axes.plot(time, [float(row[key]) / 1e3 for row in rows], color=COLOURS[number], label=label)
    axes.set(xlabel="time (s)", ylabel="window (kB)", xlim=(0, 20), ylim=(0, None))
    return finished(drawing, [axes], "Two downloads through FQ-CoDel", "", identity="quic-window")


def _averages() -> Figure:
    network = Network.from_text(block("tutorial/2-queues-and-loss.md", "eight.toml"))
    red = queue.red(min_threshold="10 packets", max_threshold="30 packets", gentle=True)
    network.set("links.bottleneck.queue", red).record(series="20 ms")
    table = network.run().series["links.bottleneck"]
    time = table["time_s"].to_pylist()
    drawing, axes = _axis(2.4)
    axes.plot(time, table["queue_packets"].to_pylist(), color=COLOURS[5], lw=0.8, label="queue")
    axes.plot(time, table["average"].to_pylist(), color=COLOURS[1], label="its average")
    for threshold, line in ((10, DOTTED), (30, "--")):
        axes.axhline(threshold, color=INK, lw=0.8, ls=line)
    axes.set(xlabel="time (s)", ylabel="packets", xlim=(0, 10), ylim=(0, None))
    return finished(drawing, [axes], "Queue and average of RED", "", identity="averages")


def _colours() -> Figure:
    network = Network.from_text(block("tutorial/3-markers-and-precedences.md", "three.toml"))
    offered = (2, 3, 4, 5, 6, 7, 8)
    drawing, axes = _axis(2.6)
    kinds = {"three colours": "2 Mbit/s", "two colours": "100 Mbit/s"}
    for number, (kind, peak) in enumerate(kinds.items()):
        network.set("links.udp.conditioner.trtcm.pir", peak)
        found = []
        for rate in offered:
            network.set("flows.udp.traffic.poisson.rate", f"{rate} Mbit/s")
            found.append(network.run(replications=5).interval("groups", "tcp", "throughput_bps"))
        axes.errorbar(
            offered,
            [each.mean / 1e6 for each in found],
            [each.half_width / 1e6 for each in found],
            color=COLOURS[number],
            marker="os"[number],
            ls=("-", "--")[number],
            capsize=3,
            label=kind,
        )
    axes.set(xlabel="offered by UDP (Mbit/s)", ylabel="TCP gets (Mbit/s)", ylim=(0, 9))
    return finished(drawing, [axes], "What TCP gets beside UDP", "", identity="colours")


def _replications() -> Figure:
    network = Network.from_text(block("tutorial/4-sweeps-and-statistics.md", "mm1.toml"))
    values = network.run(replications=80).values("links", "server", "mean_queue_packets")
    counts = (5, 10, 20, 40, 80)
    found = [summarize(values[:count]) for count in counts]
    drawing, axes = _axis(2.4)
    axes.errorbar(
        [str(count) for count in counts],
        [each.mean for each in found],
        [each.half_width for each in found],
        color=COLOURS[0],
        marker="o",
        ls="",
        capsize=4,
        label="mean and 95 % interval",
    )
    axes.axhline(3.2, color=COLOURS[1], ls="--", label="theory: 3.2")
    axes.set(xlabel="replications", ylabel="mean queue (packets)")
    return finished(drawing, [axes], "Intervals by number of replications", "", identity="more")


def _voice() -> Figure:
    recorded: Results = _executed("tutorial/5-from-python.md")["recorded"]
    drawing, axes = _axis(2.6)
    recorded.plot("series", "throughput_bps", axes=axes)
    return finished(drawing, [axes], "Throughput of both groups of flows", "", identity="voice")


def _reroute() -> Figure:
    page = "tutorial/6-calls-admission-and-termination.md"
    names = _executed(page, "phones.toml", "laws.toml")
    failure: Network = names["failure"]
    runs = {"RFC 6661: measured rates": failure.run(), "per packet": names["results"]}
    drawing, axes = _axis(2.6)
    for number, (law, results) in enumerate(runs.items()):
        calls = results.series["aggregates.phones"]
        present = calls["present_flows"].to_pylist()
        line = ("--", "-")[number]
        axes.plot(calls["time_s"].to_pylist(), present, color=COLOURS[number], ls=line, label=law)
    axes.axhline(75, color=INK, ls=DOTTED, lw=1)
    axes.set(xlabel="time (s)", ylabel="calls present", xlim=(299, 303), ylim=(0, None))
    return finished(drawing, [axes], "60 calls arrive at 300 s", "", identity="reroute")


def _blue() -> Figure:
    page = "tutorial/7-a-law-of-your-own.md"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "blue.py"
        path.write_text(block(page, "blue.py"), encoding="utf-8")
        load(path)
    network = Network.from_text(block(page, "blue.toml")).record(series="250 ms")
    runs = {"up 0.0025, down 0.00025": network.run()}
    for key, step in (("up", 0.0003), ("down", 0.00003)):
        network.set(f"links.line.queue.blue.{key}", step)
    runs["up 0.0003, down 0.00003"] = network.run()
    drawing, axes = _axis(2.4)
    for number, (steps, results) in enumerate(runs.items()):
        table = results.series["links.line"]
        times, values = table["time_s"].to_pylist(), table["probability"].to_pylist()
        axes.plot(times, values, color=COLOURS[number], ls=("-", "--")[number], label=steps)
    axes.set(xlabel="time (s)", ylabel="probability", xlim=(0, 60), ylim=(0, None))
    return finished(drawing, [axes], "BLUE looks for its probability", "", identity="blue")


def _draft() -> Figure:
    folder = suite_folder("ccwg")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "steady.py"
        path.write_text(block("tutorial/8-a-draft-of-your-own.md", "steady.py"), encoding="utf-8")
        load(path)
        laws = [law_of("steady", "control", "--control")]
        others = [law_of("cubic", "control", "--control")]
        asked = Asked(laws, others, cells="versus/1-1/cubic")
        (cell,) = cells_of(folder, load_definition(folder), asked)
        network = Network.from_text(cell.scenario(cell.sweep.axes[0][0])).record(series="500 ms")
        results = network.run()
    drawing, axes = _axis(2.4)
    lines = {"steady": "flows.new", "CUBIC": "flows.other", "CUBIC alone": "flows.alone"}
    for number, (name, row) in enumerate(lines.items()):
        table = results.series[row]
        rates = [rate / 1e6 for rate in table["goodput_bps"].to_pylist()]
        times = table["time_s"].to_pylist()
        axes.plot(times, rates, color=COLOURS[number], ls=("-", "--", ":")[number], label=name)
    axes.set(xlabel="time (s)", ylabel="goodput (Mbit/s)", xlim=(0, 30), ylim=(0, None))
    return finished(drawing, [axes], "One flow beside one of CUBIC", "", identity="draft")


def _intervals() -> Figure:
    network = Network.from_text(block("tutorial/4-sweeps-and-statistics.md", "mm1.toml"))
    network.set("duration", "21 s")
    studies, size = 60, 10
    values = network.run(replications=studies * size).values(
        "links", "server", "mean_queue_packets"
    )
    drawing, axes = _axis(2.6)
    for number in range(studies):
        each = summarize(values[number * size : (number + 1) * size])
        missed = not each.low <= 3.2 <= each.high
        axes.plot(
            [number + 1] * 2,
            [each.low, each.high],
            color=COLOURS[1] if missed else COLOURS[0],
            lw=3 if missed else 1.5,
        )
    axes.axhline(3.2, color=INK, ls="--", lw=1)
    axes.set(xlabel="study", ylabel="mean queue (packets)")
    return finished(drawing, [axes], "60 intervals of ten replications", "", identity="intervals")


def _delays() -> Figure:
    names = _executed("guides/plots.md")
    drawing, axes = _axis(2.6)
    names["droptail"].plot("cdf", names=["ping"], variants=names["variants"], axes=axes)
    return finished(drawing, [axes], "Delay of a ping", "", identity="delays")


PICTURES: dict[str, Callable[[], Figure]] = {
    "first-run": _first_run,
    "averages": _averages,
    "colours": _colours,
    "replications": _replications,
    "voice": _voice,
    "reroute": _reroute,
    "blue": _blue,
    "draft": _draft,
    "intervals": _intervals,
    "delays": _delays,
    "quic-window": _quic_window,
}
"""Functions that draw the pictures, by name."""
