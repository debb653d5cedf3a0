"""What the README's sentences mean in numbers.

- *Advantage*, *ahead*: more of the link. *Big*: more than twice as much, the word that the README
  has for 2 : 1. *Dominate*: four fifths of what both get, or more.
- *Very nearly equal*: within 10 %.
- *RTT ruled*: the ratio of the two rates is within 25 % of the inverse ratio of effective
  round-trip times, 410 : 260; *other effects dominate*: it is not.
- *Better elimination of RTT bias*: the ratio of the shorter to the longer is nearer to 1.
- *More apt to be driven to minimum cwnd*: Reno gets less than CUBIC in most of the queues.
- *A spike of 100 ms, for around 5 s*: within a factor of 2. It lasts while the round-trip time is
  longer than the path's by more than 20 ms. *Much longer*: twice as long, or more.
"""

from __future__ import annotations

import math

from forebay.study import (
    Bounds,
    Point,
    Quantities,
    Truth,
    all_of,
    at,
    most_of,
)

PAIRS = (("prague", "cubic"), ("cubic", "prague"))
SHARED = (
    "fq_codel_1q", "fq_codel_1q_1ms", "pie", "pie_100p_5ms", "red_150000b", "red_400000b",
)  # fmt: skip
"""Queues of scenario 6."""
STEADY: Point = {"test": "s6", "cc1": "prague", "rtt1_ms": 20, "rtt2_ms": 20}
STEP: Point = {"test": "s2", "queue": "fq_codel", "rtt1_ms": 80}

BIG = 2.0
DOMINANT = 4.0
"""Four fifths to one."""
EFFECTIVE = 410 / 260
RULED = 1.25


def pair(queue: str, cc1: str, rtt1: int, cc2: str, rtt2: int) -> Point:
    """A grid point of scenario 1."""
    return {
        "test": "s1", "queue": queue, "ecn2": True,
        "cc1": cc1, "rtt1_ms": rtt1, "cc2": cc2, "rtt2_ms": rtt2,
    }  # fmt: skip


def rates(run: Quantities, point: Point) -> tuple[Bounds, Bounds]:
    """Rates of the two flows."""
    return at(run, point, "rate1_bps"), at(run, point, "rate2_bps")


def of_prague_and_cubic(run: Quantities, queue: str, rtt: int) -> list[tuple[Bounds, Bounds]]:
    """Rates of Prague and of CUBIC, in both orders, at one round-trip time."""
    found = []
    for cc1, cc2 in PAIRS:
        first, second = rates(run, pair(queue, cc1, rtt, cc2, rtt))
        found.append((first, second) if cc1 == "prague" else (second, first))
    return found


def ahead(run: Quantities, queue: str, rtt: int, *, prague: bool, times: float = 1.0) -> Truth:
    """Prague, or CUBIC, gets more than `times` what the other gets."""
    both = of_prague_and_cubic(run, queue, rtt)
    return all_of(p > times * c if prague else c > times * p for p, c in both)


def prague_is_ahead_in_dualpi2(run: Quantities) -> Truth:
    """Prague gets more than CUBIC at every common round-trip time."""
    return all_of(ahead(run, "dualpi2", rtt, prague=True) for rtt in (10, 20, 80))


def prague_has_twice_as_much(run: Quantities) -> Truth:
    """At 20 ms Prague gets more than twice as much."""
    return ahead(run, "dualpi2", 20, prague=True, times=BIG)


def fifo20_cubic_is_ahead(run: Quantities) -> Truth:
    """At 20 ms CUBIC gets more through the FIFO."""
    return ahead(run, "pfifo", 20, prague=False)


def bias_holds_at_10_and_80_ms(run: Quantities) -> Truth:
    """At 10 and 80 ms as well DualPI2 has Prague ahead, and the FIFO CUBIC."""
    return all_of(
        ahead(run, queue, rtt, prague=queue == "dualpi2")
        for queue in ("dualpi2", "pfifo")
        for rtt in (10, 80)
    )


def fq_codel_is_nearly_equal(run: Quantities) -> Truth:
    """The rates of Prague and CUBIC differ by at most 10 % through fq_codel at 20 ms."""
    return all_of(p.similar(c) for p, c in of_prague_and_cubic(run, "fq_codel", 20))


def unequal(run: Quantities, queue: str) -> dict[tuple[str, str], tuple[Bounds, Bounds]]:
    """Rates of the flows of 160 and 10 ms, by their controls."""
    names = ("cubic", "prague")
    return {(a, b): rates(run, pair(queue, a, 160, b, 10)) for a in names for b in names}


def shorter_wins_in_dualpi2(run: Quantities) -> Truth:
    """The flow of 10 ms gets more than twice what that of 160 ms gets, whichever it is."""
    return all_of(short > BIG * long for long, short in unequal(run, "dualpi2").values())


def prague_exceeds_the_ratio_of_round_trips(run: Quantities) -> Truth:
    """Of two flows of Prague that of 10 ms gets more than 16 times what that of 160 ms gets."""
    long, short = unequal(run, "dualpi2")["prague", "prague"]
    return short > 16.0 * long


def ruled(long: Bounds, short: Bounds) -> Truth:
    """The ratio of rates is about that of effective round-trip times."""
    return (short * RULED >= EFFECTIVE * long) & (short <= EFFECTIVE * RULED * long)


def fifo_dilutes_round_trips(run: Quantities) -> Truth:
    """Effective round-trip times rule two flows of CUBIC in the FIFO, and no other pair."""
    return all_of(
        ruled(*both) if controls == ("cubic", "cubic") else ~ruled(*both)
        for controls, both in unequal(run, "pfifo").items()
    )


def inequality(both: tuple[Bounds, Bounds]) -> Bounds:
    """The larger of two rates over the smaller."""
    one, other = both
    least = [max(a.low, 0.0) / b.high for a, b in ((one, other), (other, one))]
    most = [a.high / b.low if b.low > 0.0 else math.inf for a, b in ((one, other), (other, one))]
    return Bounds(max(1.0, *least), max(most))


def less_biased(one: tuple[Bounds, Bounds], other: tuple[Bounds, Bounds]) -> Truth:
    """The first two rates are nearer to equal than the other two."""
    return inequality(one) < inequality(other)


def dualpi2_is_better_in_one_case(run: Quantities) -> Truth:
    """Of the pairs of 160 and 10 ms DualPI2's ratio is nearer to 1 than the FIFO's where Prague has
    the longer way beside CUBIC, and in no other."""
    dualpi2, fifo = unequal(run, "dualpi2"), unequal(run, "pfifo")
    return all_of(
        less_biased(dualpi2[controls], fifo[controls])
        if controls == ("prague", "cubic")
        else ~less_biased(dualpi2[controls], fifo[controls])
        for controls in dualpi2
    )


def dualpi2_is_less_fair_to_round_trips(run: Quantities) -> Truth:
    """At each pair of different round-trip times two flows of Prague through DualPI2 are further
    from equal than two of CUBIC through the FIFO."""
    return all_of(
        less_biased(
            rates(run, pair("pfifo", "cubic", long, "cubic", short)),
            rates(run, pair("dualpi2", "prague", long, "prague", short)),
        )
        for long, short in ((20, 10), (80, 20), (160, 10))
    )


def shared(queue: str, other: str, ecn: bool) -> Point:
    """A grid point of scenario 6."""
    return {**STEADY, "queue": queue, "cc2": other, "ecn2": ecn}


def prague_dominates(run: Quantities) -> Truth:
    """Prague has four fifths of the link or more, beside CUBIC and Reno, in every shared queue."""
    points = [
        shared(queue, other, ecn)
        for queue in SHARED
        for other in ("cubic", "reno")
        for ecn in (True, False)
    ]
    return all_of(p >= DOMINANT * c for p, c in (rates(run, point) for point in points))


def reno_gets_less_than_cubic(run: Quantities) -> Truth:
    """Beside Prague Reno gets less than CUBIC in most of the shared queues."""
    return most_of(
        at(run, shared(queue, "reno", ecn), "rate2_bps")
        < at(run, shared(queue, "cubic", ecn), "rate2_bps")
        for queue in SHARED
        for ecn in (True, False)
    )


def stepped(control: str, to_mbps: int) -> Point:
    """A grid point of scenario 2."""
    return {**STEP, "cc1": control, "to_mbps": to_mbps}


def prague_spikes(run: Quantities) -> Truth:
    """From 50 to 25 Mbit/s Prague's round trip is longer by 50 to 200 ms, for 2.5 to 10 s."""
    point = stepped("prague", 25)
    return at(run, point, "max_rtt_s").within(0.13, 0.28) & at(run, point, "spike_s").within(
        2.5, 10.0
    )


def cubic_spikes_briefly(run: Quantities) -> Truth:
    """Prague's spike lasts at least twice as long as CUBIC's."""
    ours, theirs = (at(run, stepped(cc, 25), "spike_s") for cc in ("prague", "cubic"))
    return ours >= BIG * theirs


def prague_spikes_to_the_end(run: Quantities) -> Truth:
    """From the step to 1 Mbit/s at 30 s the spike lasts to the end at 60 s, but for two seconds in
    which it builds up and is sampled."""
    return at(run, stepped("prague", 1), "spike_s") >= 28.0
