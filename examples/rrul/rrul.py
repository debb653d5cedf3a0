"""Latency under load on an access link, queue by queue: a test like RRUL (Flent).

Four transfers each way fill a link of 20 Mbit/s down and 5 Mbit/s up, 20 ms there and back, while
small packets measure how long one waits. Then four transfers share it with a UDP source that sends
three quarters of the downstream rate and slows down for nothing: queues of flows contain it, shared
ones do not.

    python examples/rrul/rrul.py              # latency.svg, shares.svg and unresponsive.svg in out/
    python examples/rrul/rrul.py --quick      # shorter
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import Network, queue, tcp, traffic
from forebay.drawing import COLOURS, HATCHES, INK, LINES, new_axes, new_axis, with_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forebay import Mechanism, Results

DOWN, UP = 20, 5
"""In Mbit/s."""
DELAY = 10
"""One way, in ms."""
GROUPS = ("down", "up")
QUEUES: dict[str, Mechanism] = {
    "droptail": queue.droptail(limit="256 packets"),
    "codel": queue.codel(limit="1000 packets"),
    "pie": queue.pie(limit="1000 packets"),
    "fq_codel": queue.fq_codel(),
    "cake": queue.cake(),
}


def access(name: str, seconds: float) -> Network:
    """The access link with a queue of this name at both ends; the first quarter is not counted."""
    net = Network(name, duration=f"{seconds} s", warm_up=f"{seconds / 4} s")
    net.link(
        "access",
        "net",
        "home",
        rate=f"{DOWN} Mbit/s",
        delay=f"{DELAY} ms",
        queue=QUEUES[name],
        reverse={"rate": f"{UP} Mbit/s", "queue": QUEUES[name]},
    )
    return net.record(delays=True)


def transfers(net: Network, name: str, from_: str, to: str) -> None:
    """Four transfers under CUBIC that begin within a second."""
    start = {"uniform": ["0 s", "1 s"]}
    net.flows(name, from_, to, count=4, start=start, tcp=tcp())


def loaded(name: str, seconds: float) -> Results:
    """The link filled both ways, with probes of 100 B each 20 ms on average, both ways."""
    net = access(name, seconds)
    for group, (from_, to) in zip(GROUPS, (("net", "home"), ("home", "net")), strict=True):
        transfers(net, group, from_, to)
        probe = traffic.poisson(rate="40 kbit/s", size="100 B", sizes="fixed")
        net.flows(f"probe_{group}", from_, to, udp={}, traffic=probe)
    return net.run()


def unresponsive(name: str, seconds: float) -> Results:
    """Four transfers beside a source of three quarters of the rate."""
    net = access(name, seconds)
    transfers(net, "down", "net", "home")
    source = traffic.cbr(rate=f"{0.75 * DOWN} Mbit/s", size="1200 B")
    net.flows("udp", "net", "home", start="2 s", udp={}, traffic=source)
    return net.run()


def waits(results: Results, group: str, rate: float) -> tuple[list[float], list[float]]:
    """Queueing delays in ms of the packets of a probe, and the share that waits so long at most."""
    rows = [row for row in results.table("delays").to_pylist() if row["group"] == group]
    empty = DELAY + 0.8 / rate
    all_, below = sum(row["packets"] for row in rows), 0
    delays, shares = [], []
    for row in rows:
        below += row["packets"]
        delays.append(max(1e3 * row["to_s"] - empty, 0.05))
        shares.append(below / all_)
    return delays, shares


def goodput(results: Results) -> dict[str, float]:
    """In Mbit/s, by group."""
    return {row["name"]: row["goodput_bps"] / 1e6 for row in results.groups.to_pylist()}


def tail(results: Results, group: str, share: float) -> float:
    """The queueing delay in ms that a share of the packets of a probe does not exceed."""
    delays, shares = waits(results, group, DOWN if group.endswith("down") else UP)
    return next(delay for delay, at in zip(delays, shares, strict=True) if at >= share)


def draw_latency(runs: dict[str, Results]) -> tuple[Any, list[Axes]]:
    """The distribution of waiting times each way."""
    drawing, panels = new_axes(2, 3.3)
    titles = (f"down, {DOWN} Mbit/s", f"up, {UP} Mbit/s")
    for panel, group, title in zip(panels, GROUPS, titles, strict=True):
        for index, (name, results) in enumerate(runs.items()):
            delays, shares = waits(results, f"probe_{group}", DOWN if group == "down" else UP)
            style = {"color": COLOURS[index], "linestyle": LINES[index], "linewidth": 1.4}
            panel.plot(delays, [100 * share for share in shares], label=name, **style)
        panel.set_xscale("log")
        panel.set_xticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1000"])
        panel.set_xlabel("waits at most, ms")
        panel.set_title(title)
    panels[0].set_ylabel("packets of the probe, %")
    panels[0].set_ylim(0, 101)
    return drawing, panels


def draw_bars(columns: dict[str, dict[str, float]], labels: dict[str, str]) -> tuple[Any, Axes]:
    """Goodput by queue, the groups of `labels` on top of each other."""
    drawing, axis = new_axis(3.0)
    places = range(len(columns))
    bottom = [0.0] * len(columns)
    for index, (group, label) in enumerate(labels.items()):
        heights = [column[group] for column in columns.values()]
        look: Any = {"color": COLOURS[index], "hatch": HATCHES[index], "edgecolor": "white"}
        axis.bar(places, heights, 0.6, bottom=bottom, label=label, **look)
        for place, (height, base) in enumerate(zip(heights, bottom, strict=True)):
            text = {"ha": "center", "va": "center", "fontsize": 8}
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
            axis.text(place, base + height / 2, f"{height:.1f}", color=INK, bbox=box, **text)
        bottom = [base + height for base, height in zip(bottom, heights, strict=True)]
    axis.set_xticks(list(places), list(columns))
    axis.grid(visible=False, axis="x")
    axis.set_ylabel("goodput, Mbit/s")
    return drawing, axis


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    """Run both tests for each queue, print what came of it, and draw it."""
    parser = argparse.ArgumentParser(description="Latency under load, queue by queue.")
    parser.add_argument("--quick", action="store_true", help="shorter")
    parser.add_argument("--format", default="svg", choices=["svg", "pdf", "png"])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    options = parser.parse_args(arguments)
    seconds = 16.0 if options.quick else 60.0
    runs = {name: loaded(name, seconds) for name in QUEUES}
    beside = {name: goodput(unresponsive(name, seconds)) for name in QUEUES}
    found = {}
    sys.stdout.write(
        "queue     down   up Mbit/s  99 % wait ms down, up  beside UDP: TCP, UDP Mbit/s\n"
    )
    for name, results in runs.items():
        rates = goodput(results)
        found[name] = row = {
            "down": rates["down"],
            "up": rates["up"],
            "wait_down": tail(results, "probe_down", 0.99),
            "wait_up": tail(results, "probe_up", 0.99),
            "tcp": beside[name]["down"],
            "udp": beside[name]["udp"],
        }
        left = f"{name:9} {row['down']:5.1f} {row['up']:5.1f}"
        middle = f"{row['wait_down']:13.1f} {row['wait_up']:8.1f}"
        sys.stdout.write(f"{left} {middle} {row['tcp']:17.1f} {row['udp']:5.1f}\n")
    latency, panels = draw_latency(runs)
    shares, share = draw_bars(found, {"down": "four transfers down", "up": "four transfers up"})
    udp, bars = draw_bars(beside, {"down": "four TCP transfers", "udp": "one UDP source"})
    options.out.mkdir(parents=True, exist_ok=True)
    drawings = {"latency": (latency, panels), "shares": (shares, [share])}
    for name, (drawing, axes) in (drawings | {"unresponsive": (udp, [bars])}).items():
        with_legend(drawing, axes)
        path = options.out / f"{name}.{options.format}"
        drawing.savefig(path, dpi=120, facecolor="white")
        sys.stdout.write(f"wrote {path}\n")
    return found


if __name__ == "__main__":
    main()
