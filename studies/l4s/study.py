"""Prague beside CUBIC, and either beside itself, through one bottleneck (l4s-tests, 2020).

Grid points, by test:

- `s1`: queue (dualpi2, pfifo, fq_codel), cc1, rtt1_ms, cc2, rtt2_ms; ecn2 is true;
- `s6`: the same with the queues of RFC 3168, 20 ms, and a second flow with or without ECN;
- `s2`: one flow through fq_codel, cc1 and rtt1_ms, and the rate to_mbps from 30 s on.
"""

from __future__ import annotations

from itertools import pairwise

from forebay.study import Network, Point, Replications, Run
from forebay_studies.l4s.figures import figures

__all__ = ["RECORD_RUNS", "REPLICATIONS", "figures", "grid_point", "quantities"]

RECORD_RUNS = True
"""Only the runs of `s2` ask for series."""

REPLICATIONS = Replications(
    first=8,
    cap=20,
    quick_first=3,
    quick_cap=6,
    quick_events=2_000_000_000,
    variant=4,
)

BASE = "dualpi2"
"""The queue that stands at the bottleneck in scenario.toml."""

QUEUES = (
    "pfifo", "fq_codel", "fq_codel_1q", "fq_codel_1q_1ms", "pie", "pie_100p_5ms",
    "red_150000b", "red_400000b",
)  # fmt: skip
"""The others, by the links that hold them."""

WINDOWS = {"s6": ("59 s", "19 s"), "s2": ("60 s", "1 s")}
"""Duration and warm-up of tests that last 60 s: the last 40 s, up to a second before the end, and
all of it."""

STEP_S = 30.0
"""Time of the rate step (l4s.batch: delay1)."""
SPIKE_S = 20e-3
"""Round-trip time above that of the path from which on it counts as a spike: four times the target
of CoDel."""

CLASSES = (1.25, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Upper ends of the classes of ratios."""


def grid_point(network: Network, point: Point) -> None:
    """A grid point of one of the tests; see the top of this file."""
    test = point["test"]
    prague = network.section("flows.two.tcp.control")
    controls = {"prague": prague, "cubic": "cubic", "reno": "reno"}
    network.set("flows.one.tcp.control", controls[str(point["cc1"])])
    _place_queue(network, str(point["queue"]))
    if test in WINDOWS:
        duration, warm_up = WINDOWS[str(test)]
        network.set("duration", duration).set("warm_up", warm_up)
    ends = {"1": point["rtt1_ms"]}
    if test == "s2":
        network.remove("flows.two", "links.near2", "links.far2")
        step = [{"at": f"{STEP_S:g} s", "rate": f"{point['to_mbps']} Mbit/s"}]
        network.set("links.bottleneck.rate_steps", step)
        network.set("links.bottleneck.reverse.rate", network.section("links.bottleneck")["rate"])
        network.set("links.bottleneck.reverse.rate_steps", step)
        network.set("record.series", "50 ms")
    else:
        ends["2"] = point["rtt2_ms"]
        network.set("flows.two.tcp.control", controls[str(point["cc2"])])
        if not point["ecn2"]:
            network.set("flows.two.tcp.ecn", False)
            _without_echo(network)
    for end, rtt_ms in ends.items():
        for side in ("near", "far"):
            network.set(f"links.{side}{end}.delay", f"{float(rtt_ms) / 2:g} ms")


def _without_echo(network: Network) -> None:
    tcp = network.section("flows.two.tcp")
    tcp.pop("ecn_echo")
    network.set("flows.two.tcp", tcp)


def _place_queue(network: Network, name: str) -> None:
    """Put a queue at the bottleneck, in both directions, and remove the links of the others."""
    queues = {queue: network.take(f"links.{queue}")["queue"] for queue in QUEUES}
    if name != BASE:
        network.set("links.bottleneck.queue", queues[name])
    network.set("links.bottleneck.reverse.queue", network.section("links.bottleneck.queue"))


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Rates of payload in the window, and what follows of them; of `s2` the round-trip times."""
    if point["test"] == "s2":
        return _spike(run, float(point["rtt1_ms"]) * 1e-3)
    first, second = (float(run.group(name)["goodput_bps"]) for name in ("one", "two"))
    total = first + second
    greater, less = max(first, second), min(first, second)
    return {
        "rate1_bps": first,
        "rate2_bps": second,
        "jain_ratio": total * total / (2.0 * (first * first + second * second)),
        "rate1_over_rate2_ratio": first / second,
        "winner_count": 1.0 if first >= second else 2.0,
        "class_count": float(sum(greater > end * less for end in CLASSES)),
        "delay1_s": float(run.group("one")["mean_delay_s"]),
        "delay2_s": float(run.group("two")["mean_delay_s"]),
    }


def _spike(run: Run, base_s: float) -> dict[str, float]:
    """The largest smoothed round-trip time after the step, and for how long it is a spike: until
    it is back, or to the end."""
    table = run.tables["series/flows.one"]
    times = [float(each) for each in table["time_s"]]
    trips = [float(each) for each in table["mean_srtt_s"]]
    after = [(time, trip) for time, trip in zip(times, trips, strict=True) if time > STEP_S]
    high = [trip > base_s + SPIKE_S for _, trip in after]
    begin = next((index for index, each in enumerate(high) if each), len(high))
    back = next((n for n, each in enumerate(high) if n > begin and not each), len(high))
    spacing = min(b - a for a, b in pairwise(times))
    return {"max_rtt_s": max(trip for _, trip in after), "spike_s": (back - begin) * spacing}


def noise(network: Network, point: Point) -> None:
    """A sensitivity run: packets reach the middle box up to 0.8 ms late, in their order."""
    for near in ("near1", "near2"):
        network.set(f"links.{near}.impairment", {"jitter": {"mean": "400 us"}})
