"""Predicates of gateways: queues, queuing delays, utilisation, drop ratios, probabilities."""

from __future__ import annotations

from itertools import product

from forebay.study.grades import (
    CLOSE,
    Bounds,
    Quantities,
    Truth,
    all_of,
    most_of,
    surely_at_least,
    surely_at_most,
    surely_greater,
    surely_less,
    surely_within,
)
from forebay_studies.redn.readings import (
    ADAPTIVE,
    AROUND,
    COLOURS,
    FACTOR,
    MAXIMUM,
    MID_DELAY,
    MIDDLE,
    MINIMUM,
    MIX,
    MUCH,
    PHASES,
    REDN,
    SELF_CONFIGURING,
    WITHOUT_ACTUAL,
    WITHOUT_MIDDLE,
    Setting,
    at,
    gateways,
    similar,
)

LOW_RATIO = 1e-3
ALMOST_ALL = 0.9
FULL = 1.0 - CLOSE
# Between 0.1/3 and 0.1/9, so that the last bit of a quotient decides nothing.
DIVIDED_TWICE = 0.1 / 6


def delay_mostly_short(run: Quantities, *, setting: Setting) -> Truth:
    """At every gateway and in every phase more than half of the steady-state samples of the overall
    queuing delay are at most 16.5 ms: 15 ms, or around it."""
    return all_of(
        surely_greater(at(run, setting, f"{gateway}{phase}_delay_short_ratio"), 0.5)
        for gateway, phase in product(gateways(setting), PHASES)
    )


def averages_mostly_below_middle(run: Quantities, *, setting: Setting) -> Truth:
    """At every gateway, of every colour and in every phase more than half of the steady-state
    samples of the average queue length are at most 10 % above the middle threshold."""
    return all_of(
        surely_greater(at(run, setting, f"{gateway}{phase}_{colour}_below_middle_ratio"), 0.5)
        for gateway, phase, colour in product(gateways(setting), PHASES, COLOURS)
    )


def full_utilization(run: Quantities, *, setting: Setting) -> Truth:
    """Every bottleneck link is used to at least 90 % in the steady state of every phase."""
    return all_of(
        surely_at_least(at(run, setting, f"{gateway}{phase}_utilization_ratio"), FULL)
        for gateway, phase in product(gateways(setting), PHASES)
    )


def utilization_drops_at_shutdown(run: Quantities, *, setting: Setting) -> Truth:
    """At every link some sample in the beginning of the undersubscribed case is below 90 %."""
    return all_of(
        surely_less(at(run, setting, f"{gateway}u_utilization_start_min_ratio"), FULL)
        for gateway in gateways(setting)
    )


def no_synchronisation(run: Quantities, *, setting: Setting) -> Truth:
    """The thesis's own evidence: links full, and no steady-state sample of the queuing delay 0."""
    return full_utilization(run, setting=setting) & all_of(
        surely_greater(at(run, setting, f"{gateway}{phase}_delay_min_s"), 0.0)
        for gateway, phase in product(gateways(setting), PHASES)
    )


def low_points_of_averages_nonzero(run: Quantities) -> Truth:
    """No sample of an average queue length in the undersubscribed case is 0, of any colour."""
    return all_of(
        surely_greater(at(run, ADAPTIVE, f"u_{colour}_average_min_packets"), 0.0)
        for colour in COLOURS
    )


def low_points_of_delay_nonzero(run: Quantities) -> Truth:
    """No sample of the queuing delay in the beginning of the undersubscribed case is 0."""
    return surely_greater(at(run, ADAPTIVE, "u_delay_start_min_s"), 0.0)


def flow_delays_alike(run: Quantities) -> Truth:
    """The least and the greatest mean queuing delay of any flow are similar to the overall one, in
    every phase."""
    return all_of(
        similar(at(run, ADAPTIVE, f"{phase}_flow_delay_{end}_s"), _delay(run, ADAPTIVE, phase))
        for phase, end in product(PHASES, ("min", "max"))
    )


def transient_at_starts(run: Quantities, *, setting: Setting) -> Truth:
    """At every gateway the greatest sample of the queuing delay in the beginnings of the baseline
    and the oversubscribed case is above all of the steady state."""
    return all_of(
        surely_greater(
            at(run, setting, f"{gateway}{phase}_delay_start_max_s"),
            at(run, setting, f"{gateway}{phase}_delay_steady_max_s"),
        )
        for gateway, phase in product(gateways(setting), ("b", "o"))
    )


def transient_drops_at_starts(run: Quantities, *, setting: Setting) -> Truth:
    """At every gateway the early drop ratio has a greater sample in the beginnings of the baseline
    and the oversubscribed case, each, than outside both."""
    return all_of(
        surely_greater(
            at(run, setting, f"{gateway}{phase}_drop_start_max_ratio"),
            at(run, setting, f"{gateway}drop_steady_max_ratio"),
        )
        for gateway, phase in product(gateways(setting), ("b", "o"))
    )


def drop_ratio_low(run: Quantities) -> Truth:
    """Outside the beginnings of the baseline and the oversubscribed case the early drop ratio is on
    average at most 0.1 %."""
    return surely_at_most(at(run, ADAPTIVE, "drop_steady_mean_ratio"), LOW_RATIO)


def drop_ratio_touches_zero(run: Quantities, *, setting: Setting) -> Truth:
    """At every gateway some steady-state sample of the early drop ratio is 0, in every run."""
    return all_of(
        surely_at_most(at(run, setting, f"{gateway}drop_steady_min_ratio"), 0.0)
        for gateway in gateways(setting)
    )


def never_overflows(run: Quantities, *, setting: Setting) -> Truth:
    """No packet finds a bottleneck's queue full, in any run."""
    return all_of(
        surely_at_most(at(run, setting, f"{gateway}overflow_count"), 0.0)
        for gateway in gateways(setting)
    )


def reverse_path_clear(run: Quantities) -> Truth:
    """No acknowledgment is dropped, in any run."""
    return surely_at_most(at(run, ADAPTIVE, "reverse_dropped_count"), 0.0)


def static_or_dynamic_adopted(run: Quantities, *, setting: Setting) -> Truth:
    """At every gateway yellow and red have for a part of the run a static probability above the
    dynamic one in effect, for the rest the dynamic one; green never the static."""
    adopted = [
        at(run, setting, f"{gateway}{colour}_static_ratio")
        for gateway, colour in product(gateways(setting), ("yellow", "red"))
    ]
    return all_of(surely_greater(share, 0.0) & surely_less(share, 1.0) for share in adopted) & (
        all_of(
            surely_at_most(at(run, setting, f"{gateway}green_static_ratio"), 0.0)
            for gateway in gateways(setting)
        )
    )


def both_gateways_mark(run: Quantities, *, setting: Setting) -> Truth:
    """Flows through two gateways have packets marked at the first and at the second."""
    share = at(run, setting, "two_marked_first_ratio")
    return surely_greater(share, 0.0) & surely_less(share, 1.0)


def probability_follows_load(run: Quantities, *, setting: Setting) -> Truth:
    """The time-average of red's effective maximum probability is greater in the oversubscribed case
    than in the undersubscribed one, at every gateway, as is the load."""
    return all_of(
        surely_greater(
            at(run, setting, f"{gateway}o_red_effective_mean_ratio"),
            at(run, setting, f"{gateway}u_red_effective_mean_ratio"),
        )
        for gateway in gateways(setting)
    )


# REDn.


def redn_around_minimum(run: Quantities) -> Truth:
    """Under REDn the steady-state mean of the red average queue length, of all packets, is within
    half of the minimum threshold of it, in most phases."""
    return most_of(
        surely_within(
            _average(run, REDN, phase, "red"), (1 - AROUND) * MINIMUM, (1 + AROUND) * MINIMUM
        )
        for phase in PHASES
    )


def redn_not_above_minimum(run: Quantities) -> Truth:
    """Under REDn most of the nine average queue lengths (three colours, three phases) have a
    steady-state mean of at most one and a half times the minimum threshold."""
    return most_of(
        surely_at_most(_average(run, REDN, phase, colour), (1 + AROUND) * MINIMUM)
        for phase, colour in product(PHASES, COLOURS)
    )


def redn_longest_in_o(run: Quantities) -> Truth:
    """Under REDn every colour's steady-state mean average queue length is greatest in the
    oversubscribed case."""
    return all_of(
        surely_greater(_average(run, REDN, "o", colour), _average(run, REDN, phase, colour))
        for phase, colour in product(("b", "u"), COLOURS)
    )


# Self-Configuring REDn.


def sc_probability_falls_at_once(run: Quantities) -> Truth:
    """After 5 s every colour's dynamic maximum probability has been divided at least twice."""
    return all_of(
        surely_less(at(run, SELF_CONFIGURING, f"{colour}_dynamic_5s_ratio"), DIVIDED_TWICE)
        for colour in COLOURS
    )


def sc_probability_falls_in_u(run: Quantities) -> Truth:
    """Every colour's dynamic maximum probability is lower at the end of the undersubscribed case
    than at that of the baseline case."""
    return all_of(
        surely_less(_dynamic(run, "u", colour), _dynamic(run, "b", colour)) for colour in COLOURS
    )


def sc_probability_rises_in_o(run: Quantities) -> Truth:
    """Every colour's dynamic maximum probability is greater at the end of the oversubscribed case
    than at its beginning."""
    return all_of(
        surely_greater(_dynamic(run, "o", colour), _dynamic(run, "u", colour)) for colour in COLOURS
    )


def sc_only_falls_then_rises(run: Quantities) -> Truth:
    """Table 3.1's pattern: no increment of any colour in the first two phases, no decrement in the
    third, and at least one change in each."""
    return all_of(
        surely_at_most(_changes(run, phase, colour, other), 0.0)
        & surely_at_least(_changes(run, phase, colour, kind), 1.0)
        for colour in COLOURS
        for phase, kind, other in (
            ("b", "decrements", "increments"),
            ("u", "decrements", "increments"),
            ("o", "increments", "decrements"),
        )
    )


def sc_colours_ordered(run: Quantities) -> Truth:
    """At the end of every phase green's dynamic maximum probability is at most yellow's, and
    yellow's at most red's, as in Table 3.1."""
    return all_of(
        surely_at_most(_dynamic(run, phase, lower), _dynamic(run, phase, higher))
        for phase in PHASES
        for lower, higher in (("green", "yellow"), ("yellow", "red"))
    )


def sc_averages_beyond_maximum(run: Quantities) -> Truth:
    """In the oversubscribed case every colour's average queue length exceeds the maximum
    threshold."""
    return all_of(
        surely_greater(at(run, SELF_CONFIGURING, f"o_{colour}_average_max_packets"), MAXIMUM)
        for colour in COLOURS
    )


def sc_slightly_below_maximum(run: Quantities) -> Truth:
    """In the steady state of the oversubscribed case the red average queue length is on average
    between one half and the whole of the maximum threshold."""
    average = _average(run, SELF_CONFIGURING, "o", "red")
    return surely_within(average, AROUND * MAXIMUM, MAXIMUM)


def sc_delay_roughly_fixed(run: Quantities) -> Truth:
    """Most steady-state samples of the queuing delay in the oversubscribed case are within 10 % of
    their mean."""
    return surely_greater(at(run, SELF_CONFIGURING, "o_delay_fixed_ratio"), 0.5)


def sc_delay_long(run: Quantities) -> Truth:
    """In the oversubscribed case the queuing delay is more than twice the 15 ms that the thesis
    calls short."""
    return surely_greater(_delay(run, SELF_CONFIGURING, "o"), FACTOR * MID_DELAY)


# The parts of Adaptive REDn.


def adaptive_resolves_delay(run: Quantities) -> Truth:
    """In the oversubscribed case the queuing delay of Adaptive REDn is at most half of
    Self-Configuring REDn's."""
    return surely_at_most(_delay(run, ADAPTIVE, "o"), MUCH * _delay(run, SELF_CONFIGURING, "o"))


def middle_threshold_resolves_delay(run: Quantities) -> Truth:
    """In the oversubscribed case the queuing delay is at most half of that without the middle
    threshold algorithm, all else being equal."""
    return surely_at_most(_delay(run, ADAPTIVE, "o"), MUCH * _delay(run, WITHOUT_MIDDLE, "o"))


def actual_threshold_keeps_throughput(run: Quantities) -> Truth:
    """In no phase is the link used less than without the minimum actual queue length threshold,
    and in the beginning of the undersubscribed case its least sample is greater."""
    better = surely_greater(
        *(at(run, setting, "u_utilization_start_min_ratio") for setting in _WITH_AND_WITHOUT)
    )
    return better & all_of(
        surely_at_least(
            *(at(run, setting, f"{phase}_utilization_ratio") for setting in _WITH_AND_WITHOUT)
        )
        for phase in PHASES
    )


def actual_threshold_marks_less(run: Quantities) -> Truth:
    """Fewer packets are marked than without the minimum actual queue length threshold."""
    return surely_less(*(at(run, setting, "marked_ratio") for setting in _WITH_AND_WITHOUT))


def around_middle_in_b(run: Quantities) -> Truth:
    """While the number of flows stays that of the baseline case, the red average queue length is
    on average within half of the middle threshold of it."""
    average = _average(run, ADAPTIVE, "b", "red")
    return surely_within(average, (1 - AROUND) * MIDDLE, (1 + AROUND) * MIDDLE)


def delay_follows_load(run: Quantities) -> Truth:
    """The steady-state queuing delay is longer in the oversubscribed than in the undersubscribed
    case, yet at most twice the middle threshold's 15 ms."""
    busy = _delay(run, ADAPTIVE, "o")
    return surely_greater(busy, _delay(run, ADAPTIVE, "u")) & surely_at_most(
        busy, FACTOR * MID_DELAY
    )


# Multiplexed TCP and UDP (section 4.3).


def mix_averages_above_middle(run: Quantities) -> Truth:
    """Every colour's average queue length is above the middle threshold for at least 90 % of the
    run."""
    return all_of(
        surely_at_least(at(run, MIX, f"{colour}_above_middle_ratio"), ALMOST_ALL)
        for colour in COLOURS
    )


def mix_maximum_stays(run: Quantities) -> Truth:
    """Every colour's effective maximum probability is 0.1 for at least 90 % of the run."""
    return all_of(
        surely_at_least(at(run, MIX, f"{colour}_effective_static_ratio"), ALMOST_ALL)
        for colour in COLOURS
    )


_WITH_AND_WITHOUT = (ADAPTIVE, WITHOUT_ACTUAL)


def _delay(run: Quantities, setting: Setting, phase: str) -> Bounds:
    return at(run, setting, f"{phase}_delay_mean_s")


def _average(run: Quantities, setting: Setting, phase: str, colour: str) -> Bounds:
    return at(run, setting, f"{phase}_{colour}_average_mean_packets")


def _dynamic(run: Quantities, phase: str, colour: str) -> Bounds:
    return at(run, SELF_CONFIGURING, f"{phase}_{colour}_dynamic_end_ratio")


def _changes(run: Quantities, phase: str, colour: str, kind: str) -> Bounds:
    return at(run, SELF_CONFIGURING, f"{phase}_{colour}_{kind}_count")
