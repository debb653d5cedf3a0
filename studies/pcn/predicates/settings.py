"""Predicates of sections 1 and 3 beside the figures: other settings of the meters, batches, random
RTTs, slow reroutes, new flows, and what is marked.

The readings are those of `section3.py`. Where the draft names no value, these are taken: a bucket
of the SR-meter five times as large at 0.8 Mbit/s and twenty times at 40, which take a few windows
of 50 ms more to empty; an AR-meter with buckets of twice and ten times 20 kB, or an AR of 90 % of
the base load; batches of five flows in the mean; RTTs of 10 to 50 ms at random; the slow reroute of
section 4.1; new flows of 1 % of an aggregate's a second. Where it names no size, the medium one.
"""

from __future__ import annotations

from itertools import combinations, pairwise, product

from forebay.study.grades import (
    EXACT,
    Bounds,
    Parameter,
    Quantities,
    Truth,
    all_of,
    any_of,
    most_of,
    surely_at_least,
    surely_at_most,
    surely_greater,
    surely_less,
)
from forebay_studies.pcn.criteria import (
    LARGER_S,
    LINKS,
    MUCH,
    POINT,
    POINTS,
    RATES,
    SINGLE_RATES,
    SINGLE_TRAFFIC,
    SIZES,
    WINDOW,
    admission,
    alike,
    below,
    deviation,
    distance,
    good,
    link_delta,
    near,
    row,
    single,
    tail,
    value_at,
    voice_at,
)
from forebay_studies.pcn.draft import MBPS

LARGER_BUCKET_KB = {0.8: 50, 40: 1000}
"""Of the SR-meter, by SR."""
AR_SETTINGS: tuple[dict[str, Parameter], ...] = ({}, {"ar_kb": 40}, {"ar_kb": 200}, {"ar_pct": 90})
"""The AR-meter as section 3.2 has it, and otherwise."""
WORST = 0.20
"""The draft's "worst case" of overshoot, and what its smallest utilisation leaves free."""
NON_PREFERENTIAL = (0.8, 16)
"""SR at which Figure 10 has errors of CBR above 2 %."""


def _at(
    run: Quantities, name: str, family: str, *values: Parameter, **changed: Parameter
) -> Bounds:
    """A quantity at a grid point of `POINT`, with something changed."""
    return run.value(
        name, family=family, **dict(zip(POINT[family], values, strict=True)), **changed
    )


def _single(run: Quantities, name: str, rate: float, kind: str, **changed: Parameter) -> Bounds:
    return _at(run, name, "single", rate, kind, 1064, 50, 200, **changed)


def _admission(run: Quantities, name: str, test: str, size: str, **changed: Parameter) -> Bounds:
    return _at(run, name, "admission", test, size, 10, **changed)


def _off(run: Quantities, name: str, test: str, size: str, **changed: Parameter) -> Bounds:
    """Distance of a quantity of admission from the theoretical one."""
    theory = admission(run, f"theory_{name}", test, size)
    return distance(_admission(run, name, test, size, **changed), theory)


# Section 1.


def meters_adjustable(run: Quantities) -> Truth:
    """In most of the cases ("to a certain degree") one of the settings tried limits the load: the
    SR-meter to within 10 % of SR, after less than 1 s above 110 % of it; the AR-meter, under twice
    the base load, to at most 20 % of overshoot at a utilisation of at least 80 %."""
    supportable = [
        any_of(
            good(tail(run, rate, kind, s)) & surely_less(single(run, "to110_s", rate, kind, s), 1.0)
            for s in (1064, 2064)
        )
        for rate, kind in product(SINGLE_RATES, SINGLE_TRAFFIC)
    ]
    admissible = [
        any_of(
            surely_at_most(_admission(run, "overshoot_ratio", "overload", size, **setting), WORST)
            & surely_at_least(
                _admission(run, "utilization_ratio", "overload", size, **setting), 1.0 - WORST
            )
            for setting in (AR_SETTINGS if size == "M" else AR_SETTINGS[:2])
        )
        for size in SIZES
    ]
    return most_of(supportable + admissible)


def meters_insensitive(run: Quantities) -> Truth:
    """In most cases ("usually") a load left is similar with twice s and with the larger bucket of
    the SR-meter, and the utilisation under twice the base load within 5 points with twice the
    bucket of the AR-meter, at every number of flows."""
    left = [
        alike([tail(run, rate, kind), other])
        for rate, kind in product(SINGLE_RATES, SINGLE_TRAFFIC)
        for other in (tail(run, rate, kind, 2064), _tail_with_bucket(run, rate, kind))
    ]
    carried = [
        near(first, second, POINTS)
        for size in SIZES
        for first, second in [
            [
                _admission(run, "utilization_ratio", "overload", size, **setting)
                for setting in AR_SETTINGS[:2]
            ]
        ]
    ]
    return most_of(left + carried)


def precision_affected(run: Quantities) -> Truth:
    """Each of the four counts, by more than 2 %: VBR ends further below SR than CBR, and is blocked
    more at N = 50; three nodes without preferential metering end further below than one; a link of
    the parking lot further than three nodes with one aggregate; and with px = 2064 an RTT of 800 ms
    further than one of 50."""
    kinds = [
        surely_greater(below(run, rate, "vbr"), below(run, rate, "cbr") + EXACT) for rate in RATES
    ]
    blocked = [admission(run, "blocking_ratio", test, "M") for test in ("vbr", "erlang")]
    nodes = [
        surely_greater(
            below(run, rate, "cbr", preferential=False), below(run, rate, "cbr", nodes=1) + EXACT
        )
        for rate in NON_PREFERENTIAL
    ]
    aggregates = [
        any_of(
            surely_less(link_delta(run, link, rate, "cbr"), row(run, rate, "cbr") - EXACT)
            for link in LINKS
        )
        for rate in RATES
    ]
    far, short = (voice_at(run, "low_ratio", "large", "cbr", 2064, rtt) for rtt in (800, 50))
    return all_of(
        [
            *kinds,
            surely_greater(blocked[0], blocked[1] + EXACT),
            *nodes,
            *aggregates,
            surely_less(far, short - EXACT),
        ]
    )


def realistic_settings_improve(run: Quantities) -> Truth:
    """For CBR each realistic setting brings the results nearer to what is wanted: random RTTs, at
    40 Mbit/s, less overload; random RTTs with a slow reroute a smaller error of three nodes without
    preferential metering; new flows a smaller error of Link 1."""
    rates = (4, 16)
    return all_of(
        [
            surely_less(
                _single(run, "overload_s", 40, "cbr", rtts="random"),
                _single(run, "overload_s", 40, "cbr"),
            ),
            *(
                surely_less(_realistic_error(run, rate), below(run, rate, "cbr", False))
                for rate in NON_PREFERENTIAL
            ),
            *(surely_less(_link1_late(run, rate, 1), _link1_late(run, rate)) for rate in rates),
        ]
    )


def batches_less_precise(run: Quantities) -> Truth:
    """With five flows an arrival in the mean the mix overshoots more at N = 50, and its blocking is
    further from Erlang's, than with one."""
    return surely_greater(
        _admission(run, "overshoot_ratio", "mix", "M", batch=5),
        admission(run, "overshoot_ratio", "mix", "M"),
    ) & surely_greater(
        _off(run, "blocking_ratio", "mix", "M", batch=5),
        deviation(run, "blocking_ratio", "mix", "M"),
    )


# Section 3.1.1.


def _random_rtt_shorter(run: Quantities, rate: float) -> Truth:
    return all_of(
        surely_less(
            _single(run, "overload_s", rate, kind, rtts="random"),
            _single(run, "overload_s", rate, kind),
        )
        for kind in SINGLE_TRAFFIC
    )


def random_rtt_shorter_large(run: Quantities) -> Truth:
    """At 40 Mbit/s a flow in excess stays shorter in the mean, until the load is at 110 % of SR,
    with RTTs of 10 to 50 ms than with 50 ms for all, for both traffic types."""
    return _random_rtt_shorter(run, 40)


def random_rtt_shorter_small(run: Quantities) -> Truth:
    """The same at 0.8 Mbit/s."""
    return _random_rtt_shorter(run, 0.8)


# Section 3.1.2.


def re_marks_more_than_needed(run: Quantities) -> Truth:
    """Without preferential metering the three nodes together re-mark more packets than there are
    CBR flows in excess, and more than with it, at most SRs ("tend to")."""
    return most_of(
        surely_greater(without, 1.0) & surely_greater(without, with_it)
        for rate in RATES
        for with_it, without in [
            [
                value_at(run, "remarked_ratio", "row", rate, "cbr", preferential, 1064, 3)
                for preferential in (True, False)
            ]
        ]
    )


def larger_s_overloads_longer(run: Quantities) -> Truth:
    """Without preferential metering CBR is above 105 % of SR the longer the larger s, at the SRs at
    which larger s are tried."""
    return all_of(
        surely_less(
            *(value_at(run, "settling_s", "row", rate, "cbr", False, s, 3) for s in neighbours)
        )
        for rate in NON_PREFERENTIAL
        for neighbours in pairwise((1064, *LARGER_S))
    )


def _realistic_error(run: Quantities, rate: float, preferential: bool = False) -> Bounds:
    """Final shortfall of CBR over three nodes below SR, with random RTTs and a slow reroute."""
    at = (rate, "cbr", preferential, 1064, 3)
    left = _at(run, "late_delta_ratio", "row", *at, rtts="random", reroute="slow")
    return (-1.0 * left).clamped(0.0)


def preferential_metering_weak(run: Quantities) -> Truth:
    """With random RTTs and a slow reroute CBR ends at most 5 points lower without preferential
    metering than with it, at the SRs at which Figure 10 has errors above 2 %."""
    return all_of(
        near(_realistic_error(run, rate), _realistic_error(run, rate, preferential=True), POINTS)
        for rate in NON_PREFERENTIAL
    )


def _link1_late(run: Quantities, rate: float, new_per_s_pct: int = 0) -> Bounds:
    """Shortfall of Link 1 below SR in the last 40 s, with new flows or without."""
    changed: dict[str, Parameter] = {"new_per_s_pct": new_per_s_pct} if new_per_s_pct else {}
    left = _at(run, "link1_late_delta_ratio", "parking", rate, "cbr", True, 1064, **changed)
    return (-1.0 * left).clamped(0.0)


def new_flows_correct_link1(run: Quantities) -> Truth:
    """With new flows the error of Link 1 is, in the last 40 s, at most half of what it is without,
    for CBR at 4 and 16 Mbit/s."""
    return all_of(
        surely_at_most(_link1_late(run, rate, 1), MUCH * _link1_late(run, rate)) for rate in (4, 16)
    )


# Section 3.1.3.


def _with_bucket(run: Quantities, name: str, rate: float, kind: str) -> Bounds:
    """A quantity of one link with the larger bucket of the SR-meter."""
    return _single(run, name, rate, kind, bucket_kb=LARGER_BUCKET_KB[rate])


def _tail_with_bucket(run: Quantities, rate: float, kind: str) -> Bounds:
    """The mean load left with the larger bucket, as a fraction of SR."""
    return (1.0 / (rate * MBPS)) * _with_bucket(run, "tail_mean_bps", rate, kind)


def bucket_only_delays(run: Quantities) -> Truth:
    """With the larger bucket the first packet is marked later, and from then on the load falls to
    110 % of SR in no more than one window of 50 ms more, at both SRs and for both traffic types."""
    return all_of(
        surely_greater(
            _with_bucket(run, "first_mark_s", rate, kind), _single(run, "first_mark_s", rate, kind)
        )
        & surely_at_most(
            _with_bucket(run, "fall_s", rate, kind), _single(run, "fall_s", rate, kind) + WINDOW
        )
        for rate, kind in product(SINGLE_RATES, SINGLE_TRAFFIC)
    )


def bucket_cures_nothing(run: Quantities) -> Truth:
    """The larger bucket leaves more than half of what the codec mix ends below SR, at both SRs."""
    return all_of(
        surely_greater(
            (1.0 - _tail_with_bucket(run, rate, "mix")).clamped(0.0),
            MUCH * (1.0 - tail(run, rate, "mix")).clamped(0.0),
        )
        for rate in SINGLE_RATES
    )


# Section 3.2.1.


def varying_traffic_needs_other_settings(run: Quantities) -> Truth:
    """At N = 50 the blocking of VBR and of the mix is further from Erlang's than that of CBR with
    the same bucket, and nearer to it with one of ten times the size."""
    cbr = deviation(run, "blocking_ratio", "erlang", "M")
    return all_of(
        surely_greater(same, cbr) & surely_less(other, same)
        for test in ("vbr", "mix")
        for same, other in [
            [_off(run, "blocking_ratio", test, "M", **setting) for setting in ({}, {"ar_kb": 200})]
        ]
    )


def settings_differ(run: Quantities) -> Truth:
    """Under twice the base load at N = 50, some two of the settings differ in each: flows carried,
    blocking, utilisation, overshoot and reaction time."""
    names = (
        "carried_count",
        "blocking_ratio",
        "utilization_ratio",
        "overshoot_ratio",
        "reaction_s",
    )
    return all_of(
        any_of(
            surely_greater(first, second) | surely_less(first, second)
            for first, second in combinations(
                [_admission(run, name, "overload", "M", **setting) for setting in AR_SETTINGS], 2
            )
        )
        for name in names
    )


def settings_reduce_shoot(run: Quantities) -> Truth:
    """At N = 50, an AR of 90 % of the base load lessens the overshoot under twice that load, and a
    bucket of ten times the size what VBR and the mix carry below the theoretical."""
    over = surely_less(
        _admission(run, "overshoot_ratio", "overload", "M", ar_pct=90),
        admission(run, "overshoot_ratio", "overload", "M"),
    )
    under = [
        surely_less(
            _off(run, "utilization_ratio", test, "M", ar_kb=200),
            deviation(run, "utilization_ratio", test, "M"),
        )
        for test in ("vbr", "mix")
    ]
    return all_of([over, *under])


def settings_change_reaction(run: Quantities) -> Truth:
    """Under twice the base load at N = 50, admission stops later with a bucket of ten times the
    size, once the flows that send are above AR."""
    return surely_greater(
        *(_admission(run, "reaction_s", "overload", "M", **at) for at in ({"ar_kb": 200}, {}))
    )
