"""Prague beside CUBIC through DualPI2, over rates and round-trip times.

The grid is that in which coupled queues are usually shown (De Schepper, Albisser, Tilmans and
Briscoe, Dual Queue Coupled AQM: Deployable Very Low Queuing Delay for All, arXiv 2209.01078): link
rates of 4 to 200 Mbit/s, round trips of 5 to 100 ms, a flow of each kind.

    python examples/l4s/sweep.py              # ratio.svg and delay.svg in examples/l4s/out
    python examples/l4s/sweep.py --quick      # four corners of the grid, shorter
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import Network, control, queue, tcp
from forebay.drawing import COLOURS, LINES, MARKERS, level, new_axes, new_axis, with_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATES = (4, 12, 40, 120, 200)
"""In Mbit/s."""
ROUND_TRIPS = (5, 10, 20, 50, 100)
"""In ms, without queueing."""

DUALPI2 = queue.dualpi2(min_step_queue=1)
"""Queue with a step of at least one packet: where a packet alone takes longer than the step, one
that waits for it is no queue (RFC 9332, appendix A.1: Th_len)."""


@dataclass(frozen=True)
class Point:
    """Measurements of one run. Delays are 99th percentiles of queueing delay, in ms."""

    rate: int
    rtt: int
    ratio: float
    low_delay: float
    classic_delay: float


def network(rate: int, rtt: int, seconds: float) -> Network:
    """A link of `rate` Mbit/s with a flow of each kind; the first half is not counted."""
    net = Network("l4s", duration=f"{seconds} s", warm_up=f"{seconds / 2} s")
    net.link("core", "a", "b", rate=f"{rate} Mbit/s", delay=f"{rtt / 2} ms", queue=DUALPI2)
    prague = tcp(ecn=True, control=control.prague())
    net.flows("prague", "a", "b", tcp=prague)
    net.flows("cubic", "a", "b", tcp=tcp(control="cubic"))
    return net


def measure(rate: int, rtt: int, seconds: float) -> Point:
    """Run one point of the grid."""
    results = network(rate, rtt, seconds).run()
    groups = {row["name"]: row for row in results.groups.to_pylist()}
    goodput = {name: row["goodput_bps"] for name, row in groups.items()}
    empty = rtt / 2 + 12 / rate
    tail = {name: row["p99_delay_s"] * 1e3 - empty for name, row in groups.items()}
    return Point(rate, rtt, goodput["prague"] / goodput["cubic"], tail["prague"], tail["cubic"])


def style(index: int) -> dict[str, Any]:
    """Style of the series of the `index`-th round-trip time."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": LINES[index % len(LINES)],
        "marker": MARKERS[index % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.2,
    }


def rates_below(axis: Axes, rates: list[int]) -> None:
    """The rates of the grid as a logarithmic axis."""
    axis.set_xscale("log")
    axis.set_xticks(rates, [str(rate) for rate in rates])
    axis.minorticks_off()
    axis.set_xlabel("link rate, Mbit/s")


def draw(points: list[Point], folder: Path, suffix: str) -> list[Path]:
    """Two drawings: how rates compare, and how long packets wait."""
    rates, rtts = (sorted({getattr(point, key) for point in points}) for key in ("rate", "rtt"))
    of = {(point.rate, point.rtt): point for point in points}
    ratio, axis = new_axis(3.2)
    delay, panels = new_axes(2, 3.2)
    for index, rtt in enumerate(rtts):
        row = [of[rate, rtt] for rate in rates]
        label = f"round trip {rtt} ms"
        axis.plot(rates, [point.ratio for point in row], label=label, **style(index))
        for panel, name in zip(panels, ("low_delay", "classic_delay"), strict=True):
            waits = [max(getattr(point, name), 0.01) for point in row]
            panel.plot(rates, waits, label=label, **style(index))
    axis.set_yscale("log", base=2)
    axis.set_yticks([0.25, 0.5, 1, 2, 4], ["1/4", "1/2", "1", "2", "4"])
    axis.set_ylim(0.2, 5)
    axis.set_ylabel("goodput, Prague over CUBIC")
    level(axis, "equal", 1)
    panels[0].set_yscale("log")
    panels[0].set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    panels[0].set_ylabel("queueing delay of 99 %, ms")
    level(panels[1], "target", 15)
    for panel, title in zip(panels, ("Prague: L queue", "CUBIC: classic queue"), strict=True):
        panel.set_title(title)
    for each in (axis, *panels):
        rates_below(each, rates)
    with_legend(ratio, [axis], 3)
    with_legend(delay, panels, 3)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"ratio.{suffix}", folder / f"delay.{suffix}"]
    for drawing, path in zip((ratio, delay), paths, strict=True):
        drawing.savefig(path, dpi=120, facecolor="white")
    return paths


def main(arguments: list[str] | None = None) -> list[Point]:
    """Run the grid, print its rows, and draw them."""
    parser = argparse.ArgumentParser(description="Prague beside CUBIC through DualPI2.")
    parser.add_argument("--quick", action="store_true", help="four corners of the grid, shorter")
    parser.add_argument("--format", default="svg", choices=["svg", "pdf", "png"])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    options = parser.parse_args(arguments)
    rates, rtts, seconds = RATES, ROUND_TRIPS, 120.0
    if options.quick:
        rates, rtts, seconds = (12, 40), (10, 20), 30.0
    points = [measure(rate, rtt, seconds) for rate in rates for rtt in rtts]
    write = sys.stdout.write
    write("Mbit/s  RTT ms  ratio  99 % of delays, ms: L, classic\n")
    for each in points:
        delays = f"{each.low_delay:6.2f} {each.classic_delay:6.2f}"
        write(f"{each.rate:6}  {each.rtt:6}  {each.ratio:5.2f}  {delays}\n")
    for path in draw(points, options.out, options.format):
        write(f"wrote {path}\n")
    return points


if __name__ == "__main__":
    main()
