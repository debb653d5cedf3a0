"""What the article's sentences mean in numbers.

- *Almost the same*, *very close*, *similar*: within 10 %, as in grades. *Much less*: under half.
- Shares of packets, not of time, are what the percentiles of the dynamic runs are taken of.
- *After changes*: the mean delay by time in the ten seconds after each fall of the rate.
- *About 75 % less*: within 10 % of that.
- Static runs are at round trips of 100 ms, at the smaller rates of 30 and 100 ms. Packets there
  have the sizes of the script: 500 B below 1 Mbit/s.
- *Approaches the target*: the longest median over the numbers of FTPs falls with the rate, and at
  100 Mbit/s is no more than a target above it.
- What box plots compare at one rate or round trip, *over the loads*, are means over them.
- *Not significantly different* between round trips: each mean lies within the others' range over
  the loads, and utilizations are within 10 %.
- Round trips are compared at 10 Mbit/s.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from forebay.study import (
    CLOSE,
    EXACT,
    Bounds,
    Point,
    Quantities,
    Truth,
    Values,
    all_of,
    at,
    every,
    for_each,
)

TARGET_S = 5e-3
MUCH = 0.5
QUARTERS = 0.75

SMALL_KBPS = (128, 256, 512, 1500)
LARGE_KBPS = (3000, 10_000, 45_000, 100_000)
SMALL_RTTS_MS = (30, 100)
FTPS = ("ftp1", "ftp4", "ftp20")
LARGE_LOADS = (*FTPS, "mixed")
SMALL_LOADS = ("ftp1", "ftp4", "light")
WEB_LOADS = ("web2", "web5", "web10")
SHARED = ("ftp4", "ftp20", "mixed")
"""Loads of more than one source, whose shares of drops can differ."""
RTTS_MS = (10, 30, 50, 100, 200, 500)

QUEUES = ("codel", "droptail", "red")

RATIOS = {
    (512, "down"): {"drops_ratio": 100, "p50_s": 25, "data_bytes": 95, "jain_ratio": 98},
    (512, "up"): {"drops_ratio": 25, "p50_s": 25, "data_bytes": 92, "jain_ratio": 104},
    (1500, "down"): {"drops_ratio": 75, "p50_s": 17, "data_bytes": 92, "jain_ratio": 84},
    (1500, "up"): {"drops_ratio": 56, "p50_s": 100, "data_bytes": 103, "jain_ratio": 85},
}
"""Percentages that the table prints: CoDel over tail drop."""

NAMES = {"drops_ratio": "drops", "p50_s": "delay", "data_bytes": "data", "jain_ratio": "fairness"}


def edge(kbps: int, queue: str) -> Point:
    """A grid point of the consumer edge."""
    return {"family": "edge", "rate_kbps": kbps, "queue": queue}


def dynamic(queue: str, buffer: int = 830) -> Point:
    """A grid point of the link whose rate changes."""
    return {"family": "dynamic", "buffer": buffer, "queue": queue}


def static(kbps: int, load: str, queue: str, rtt_ms: int = 100, packet: int = 0) -> Point:
    """A grid point of a static rate, with packets of the script's size if none is told."""
    return {
        "family": "static", "rate_kbps": kbps, "rtt_ms": rtt_ms, "load": load, "queue": queue,
        "packet": packet or (500 if kbps < 1000 else 1500),
    }  # fmt: skip


def over_loads(
    run: Quantities, quantity: str, loads: tuple[str, ...], queue: str, kbps: int, rtt_ms: int = 100
) -> Values:
    """A quantity of one rate, round trip and queue, for each of the loads."""
    return Values(at(run, static(kbps, load, queue, rtt_ms), quantity) for load in loads)


def codel_delay_is_below_90_ms(run: Quantities) -> Truth:
    """95 % of packets wait for less than 90 ms."""
    return at(run, dynamic("codel"), "p95_s") < 90e-3


def tail_drop_reaches_10_s(run: Quantities) -> Truth:
    """The longest wait is within 10 % of 10 s."""
    return at(run, dynamic("droptail"), "max_s").around(10.0)


def codel_transfers_as_much(run: Quantities) -> Truth:
    """CoDel's bytes are within 10 % of tail drop's."""
    codel, tail = (at(run, dynamic(queue), "data_bytes") for queue in ("codel", "droptail"))
    return codel.similar(tail)


def delays_are_ordered(run: Quantities) -> Truth:
    """CoDel's mean delay after falls of the rate is below RED's, and that below tail drop's."""
    codel, tail, red = (at(run, dynamic(queue), "after_falls_s") for queue in QUEUES)
    return (codel < red) & (red < tail)


def small_buffers_lose_three_quarters(run: Quantities) -> Truth:
    """With each queue what is missing is within 10 % of 75 % of its bytes with 830 packets."""
    low, high = (QUARTERS * (1 + sign * CLOSE) for sign in (-1, 1))
    return all_of(
        at(run, dynamic(queue, 10), "data_bytes").within((1 - high) * large, (1 - low) * large)
        for queue in QUEUES
        for large in [at(run, dynamic(queue), "data_bytes")]
    )


def small_buffers_do_the_same(run: Quantities) -> Truth:
    """With 10 packets the bytes of CoDel and tail drop are within 10 %."""
    codel, tail = (at(run, dynamic(queue, 10), "data_bytes") for queue in ("codel", "droptail"))
    return codel.similar(tail)


def small_tail_drop_has_a_quarter(run: Quantities) -> Truth:
    """Tail drop with 10 packets has a quarter of CoDel's bytes with 830, within 10 %."""
    large = at(run, dynamic("codel"), "data_bytes")
    return at(run, dynamic("droptail", 10), "data_bytes").similar((1 - QUARTERS) * large)


def red_is_slow_at_low_rates(run: Quantities) -> Truth:
    """The mean of RED's medians over the smaller rates, round trips and loads is 100 to 200 ms."""
    medians = [
        at(run, static(kbps, load, "red", rtt), "p50_s")
        for kbps in SMALL_KBPS
        for rtt in SMALL_RTTS_MS
        for load in SMALL_LOADS
    ]
    return Values(medians).mean().within(0.1, 0.2)


def codel_approaches_the_target(run: Quantities) -> Truth:
    """The longest of CoDel's medians falls from rate to rate, to at most twice the target."""
    longest = [over_loads(run, "p50_s", FTPS, "codel", kbps).highest() for kbps in LARGE_KBPS]
    falls = all_of(later < before for before, later in pairwise(longest))
    return falls & (longest[-1] <= 2 * TARGET_S)


def red_overcontrols(run: Quantities) -> Truth:
    """At 10 Mbit/s and above RED's median delay and utilization are below CoDel's."""
    mean = partial(_mean, run)
    return all_of(
        mean(quantity, kbps, "red") < mean(quantity, kbps, "codel")
        for quantity in ("p50_s", "utilization_ratio")
        for kbps in LARGE_KBPS[1:]
    )


def red_is_like_codel_at_3_mbps(run: Quantities) -> Truth:
    """At 3 Mbit/s both are within 10 % of each other."""
    mean = partial(_mean, run)
    return all_of(
        mean(quantity, LARGE_KBPS[0], "red").similar(mean(quantity, LARGE_KBPS[0], "codel"))
        for quantity in ("p50_s", "utilization_ratio")
    )


def _mean(run: Quantities, quantity: str, kbps: int, queue: str) -> Bounds:
    """The mean over the loads of the larger rates."""
    return over_loads(run, quantity, LARGE_LOADS, queue, kbps).mean()


def large_packets_wait_longer(run: Quantities) -> Truth:
    """CoDel's median delay with packets of 1500 B is above that with 500 B at every smaller rate,
    and by less at the highest than at the lowest."""
    more = []
    for kbps in SMALL_KBPS:
        small, large = (
            Values(at(run, static(kbps, load, "codel", 100, size), "p50_s") for load in SMALL_LOADS)
            for size in (500, 1500)
        )
        more.append(large.mean() - small.mean())
    return (every(more) > 0.0) & (more[-1] < more[0])


def web_alone_needs_drops(run: Quantities) -> Truth:
    """Wherever web traffic alone uses more than 60 %, CoDel drops more than 10 %."""
    return all_of(
        (at(run, point, "utilization_ratio") <= 0.6) | (at(run, point, "drops_ratio") > 0.1)
        for kbps in SMALL_KBPS
        for rtt in SMALL_RTTS_MS
        for load in WEB_LOADS
        for point in [static(kbps, load, "codel", rtt)]
    )


def codel_uses_the_link_like_tail_drop(run: Quantities) -> Truth:
    """From 10 to 200 ms CoDel's utilization is within 10 % of tail drop's, at less than half of
    its median delay, with every load."""
    answers = []
    for rtt in RTTS_MS[:-1]:
        for load in LARGE_LOADS:
            points = [static(10_000, load, queue, rtt) for queue in ("codel", "droptail")]
            used, other = (at(run, point, "utilization_ratio") for point in points)
            waits, longer = (at(run, point, "p50_s") for point in points)
            answers += [used.similar(other), waits < MUCH * longer]
    return all_of(answers)


def codel_is_flat_in_rtt(run: Quantities) -> Truth:
    """From 30 to 200 ms no mean delay is outside the range of another round trip's loads, and no
    mean utilization differs by more than 10 %."""
    rtts = RTTS_MS[1:-1]
    delays = [_at_10_mbps(run, "p50_s", rtt) for rtt in rtts]
    used = Values(_at_10_mbps(run, "utilization_ratio", rtt).mean() for rtt in rtts)
    inside = all_of(
        one.mean().within(other.lowest(), other.highest()) for one in delays for other in delays
    )
    return inside & used.alike()


def utilization_falls_and_spreads(run: Quantities) -> Truth:
    """From 10 over 100 to 500 ms the mean utilization falls, and its spread over loads grows."""
    used = [_at_10_mbps(run, "utilization_ratio", rtt) for rtt in (10, 100, 500)]
    spreads = [each.highest() - each.lowest() for each in used]
    return all_of(
        (longer.mean() < shorter.mean()) & (wider > narrower)
        for (shorter, longer), (narrower, wider) in zip(
            pairwise(used), pairwise(spreads), strict=True
        )
    )


def single_ftps_use_least(run: Quantities) -> Truth:
    """At 500 ms a single FTP uses less than any other load."""
    single, *others = _at_10_mbps(run, "utilization_ratio", 500)
    return every(others) > single


def codel_drops_more_fairly(run: Quantities) -> Truth:
    """Jain's index of drop shares is higher with CoDel, as a mean over loads and round trips."""
    codel, red = (
        Values(
            at(run, static(10_000, load, queue, rtt), "jain_ratio")
            for load in SHARED
            for rtt in RTTS_MS
        ).mean()
        for queue in ("codel", "red")
    )
    return codel > red


def _at_10_mbps(run: Quantities, quantity: str, rtt_ms: int) -> Values:
    return over_loads(run, quantity, LARGE_LOADS, "codel", 10_000, rtt_ms)


def codel_never_drops_more(run: Quantities) -> Truth:
    """In all four columns CoDel's drop rate is not above tail drop's, but for the 2 % that grades
    call exact."""
    return all_of(
        at(run, edge(kbps, "codel"), f"{way}_drops_ratio")
        <= (1 + EXACT) * at(run, edge(kbps, "droptail"), f"{way}_drops_ratio")
        for kbps, way in RATIOS
    )


@for_each(
    {
        f"r{kbps}k_{way}_{NAMES[quantity]}": (kbps, way, quantity)
        for (kbps, way), printed in RATIOS.items()
        for quantity in printed
    }
)
def ratio(run: Quantities, of: tuple[int, str, str]) -> Truth:
    """CoDel's value is the printed share of tail drop's, within 10 %."""
    kbps, way, quantity = of
    codel, tail = (at(run, edge(kbps, queue), f"{way}_{quantity}") for queue in QUEUES[:2])
    return codel.similar(RATIOS[kbps, way][quantity] / 100 * tail)
