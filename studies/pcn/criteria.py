"""Definitions that the predicates of this study share: grid points, and how quantities are read at
them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from forebay.study.grades import (
    CLOSE,
    EXACT,
    Bounds,
    Parameter,
    Quantities,
    Truth,
    all_of,
    surely_at_most,
    surely_less,
    surely_within,
)
from forebay_studies.pcn.draft import MBPS, NO_LOSS

MUCH = 0.5
POINTS = 0.05
QUARTER = 0.25
WINDOW = 0.05
REACHED = 1.0 - EXACT

RATES = (0.8, 4, 16, 40)
"""SR of section 3.1.2 and base SR of its parking lot, in Mbit/s; 3.1.1 has the two ends."""
SINGLE_RATES = (0.8, 40)
SINGLE_TRAFFIC = ("cbr", "mix")
TRAFFIC = ("cbr", "vbr")
LINKS = ("link1", "link2", "link3")
LARGER_S = (2064, 4064)
CURING_S = (*LARGER_S, 8064)
"""Section 4.2 simulated px up to 8064 bytes."""

RTTS = (50, 200, 800)
NUMBERS = ("large", "small")
PX = {"large": (2064, 4064, 8064), "small": (2064, 8064)}
RULE_800 = 16064
"""The px of the rule for 800 ms, in bytes."""
RULE_RTT = {2064: (50,), 4064: (50, 200), 8064: (50, 200), RULE_800: RTTS}
"""RTT in ms at which each px is at least 2 * 10000 byte/s * RTT."""
LOSS = (120, 100)
LOSS_RTTS = {"large": (200, 800), "small": (800,)}

SIZES = ("S", "M", "L")
ONE_NODE = ("erlang", "vbr", "mix")
ACROSS_NODES = ("multi", "cross")

VIDEOS = ("small", "medium", "large")
STABLE_BUCKET = (400, 200)
BUCKETS = (STABLE_BUCKET, (200, 100), (300, 200), (250, 50))
VIDEO_RULE_KB = 80
"""The px of the rule for video of 400 kbit/s and 800 ms, in kB."""


TERMINATED = "excess_terminated_ratio"
AFTER_EACH = {
    name: (name, f"again_{name}")
    for name in ("tail_ratio", "tail_spread_ratio", "to110_s", TERMINATED)
}
"""Quantities of the video runs after the first reroute and after the second."""

Setting = tuple[str, str, int, int]
"""Of voice: the number of flows, the traffic, px in bytes and the RTT in ms."""


def settings(
    numbers: Sequence[str] = NUMBERS, kinds: Sequence[str] = TRAFFIC
) -> Iterator[tuple[str, str, int]]:
    """Number of flows, traffic and px in bytes of the voice runs."""
    for flows, kind in product(numbers, kinds):
        yield from ((flows, kind, px) for px in PX[flows])


def rule_settings(
    numbers: Sequence[str] = NUMBERS, kinds: Sequence[str] = TRAFFIC
) -> Iterator[Setting]:
    """Settings at the RTTs for which px is large enough: `RULE_RTT`."""
    for flows, kind, px in settings(numbers, kinds):
        yield from ((flows, kind, px, rtt) for rtt in RULE_RTT[px])


def loss_settings() -> Iterator[tuple[Setting, int]]:
    """Settings of the runs with loss, and the rate of the link as a percentage of SR."""
    for flows, kind, forward in product(NUMBERS, TRAFFIC, LOSS):
        yield from (((flows, kind, 8064, rtt), forward) for rtt in LOSS_RTTS[flows])


def over_terminates(
    run: Quantities, flows: str, px: int, rtt: int, forward: int = NO_LOSS
) -> Truth:
    """In some second the load is surely below SR."""
    return surely_less(voice_at(run, "low_ratio", flows, "cbr", px, rtt, forward), REACHED)


POINT = {
    "single": ("sr_mbps", "traffic", "s_bytes", "rtt_ms", "load_pct"),
    "row": ("sr_mbps", "traffic", "preferential", "s_bytes", "nodes"),
    "parking": ("sr_mbps", "traffic", "preferential", "s_bytes"),
    "admission": ("test", "size", "media_delay_s"),
    "voice": ("flows", "traffic", "px_bytes", "rtt_ms", "forward_pct"),
    "steps": ("flows", "traffic", "px_bytes", "rtt_ms", "forward_pct"),
    "video": ("video", "tb_kb", "px_kb", "rtt_ms"),
}
"""The parameters of each family of grid points, in the order in which the readers below have
them."""


def value_at(run: Quantities, name: str, family: str, *values: Parameter) -> Bounds:
    """A quantity at a grid point, given as `POINT` lists its parameters."""
    return run.value(name, family=family, **dict(zip(POINT[family], values, strict=True)))


def single(
    run: Quantities, name: str, rate: float, kind: str, s: int = 1064, rtt: int = 50
) -> Bounds:
    """A quantity of one link at a load of 200 % of SR; `s` in bytes, `rtt` in ms."""
    return value_at(run, name, "single", rate, kind, s, rtt, 200)


def tail(run: Quantities, rate: float, kind: str, s: int = 1064, rtt: int = 50) -> Bounds:
    """The mean load left as a fraction of SR."""
    return (1.0 / (rate * MBPS)) * single(run, "tail_mean_bps", rate, kind, s, rtt)


def row(
    run: Quantities,
    rate: float,
    kind: str,
    preferential: bool = True,
    s: int = 1064,
    nodes: int = 3,
) -> Bounds:
    """Excess of the load left over SR, as a fraction of it."""
    return value_at(run, "tail_delta_ratio", "row", rate, kind, preferential, s, nodes)


def below(
    run: Quantities,
    rate: float,
    kind: str,
    preferential: bool = True,
    s: int = 1064,
    nodes: int = 3,
) -> Bounds:
    """Under-utilisation: how far the load left is below SR, 0 if it is not."""
    return (-1.0 * row(run, rate, kind, preferential, s, nodes)).clamped(0.0)


def parking(
    run: Quantities, name: str, rate: float, kind: str, preferential: bool = True
) -> Bounds:
    """A quantity of the parking lot."""
    return value_at(run, name, "parking", rate, kind, preferential, 1064)


def link_delta(
    run: Quantities, link: str, rate: float, kind: str, preferential: bool = True
) -> Bounds:
    """Excess of the load left on a link of the parking lot over SR, as a fraction of it."""
    return parking(run, f"{link}_delta_ratio", rate, kind, preferential)


def admission(run: Quantities, name: str, test: str, size: str, media_delay: int = 10) -> Bounds:
    """A quantity of admission control; `media_delay` in seconds."""
    return value_at(run, name, "admission", test, size, media_delay)


def overshoot(run: Quantities, size: str, media_delay: int = 10) -> Bounds:
    """Excess of the largest number of flows in the overload test over N, as a fraction of it."""
    return admission(run, "overshoot_ratio", "overload", size, media_delay)


def deviation(run: Quantities, name: str, test: str, size: str) -> Bounds:
    """Distance of a quantity from the theoretical one."""
    theory = admission(run, f"theory_{name}", test, size)
    return distance(admission(run, name, test, size), theory)


def rate_expected(run: Quantities, test: str, size: str) -> Truth:
    """The rate of data is close to the theoretical one."""
    theory = admission(run, "theory_data_bps", test, size)
    error = deviation(run, "data_bps", test, size)
    return surely_at_most(error, CLOSE * theory)


def voice_at(
    run: Quantities, name: str, flows: str, kind: str, px: int, rtt: int, forward: int = NO_LOSS
) -> Bounds:
    """A quantity of the voice runs: px in bytes, RTT in ms, rate of the link in percent of SR."""
    return value_at(run, name, "voice", flows, kind, px, rtt, forward)


def steps_at(
    run: Quantities, name: str, flows: str, kind: str, px: int, rtt: int, forward: int = NO_LOSS
) -> Bounds:
    """A quantity of the voice runs with two reroutes."""
    return value_at(run, name, "steps", flows, kind, px, rtt, forward)


def video_at(run: Quantities, name: str, video: str, bucket: tuple[int, int], rtt: int) -> Bounds:
    """A quantity of the video runs: size of the token bucket and px in kB, RTT in ms."""
    return value_at(run, name, "video", video, *bucket, rtt)


def good(load: Bounds) -> Truth:
    """A load, as a fraction of the wanted one, is close to it."""
    return surely_within(load, 1.0 - CLOSE, 1.0 + CLOSE)


def distance(first: Bounds, second: Bounds | float) -> Bounds:
    """|first - second|."""
    difference = first - second
    return Bounds(max(difference.low, -difference.high, 0.0), max(difference.high, -difference.low))


def near(first: Bounds, second: Bounds, limit: float) -> Truth:
    """The two are surely no further apart than the limit."""
    return surely_at_most(distance(first, second), limit)


def alike(values: Sequence[Bounds]) -> Truth:
    """No two of the values differ by more than 10 % of the smaller."""
    return all_of(
        surely_at_most(a, (1.0 + CLOSE) * b) & surely_at_most(b, (1.0 + CLOSE) * a)
        for a, b in combinations(values, 2)
    )
