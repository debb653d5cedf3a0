"""Predicates of gateways: queues, queuing delays, utilisation, drop ratios, probabilities."""

from __future__ import annotations

from collections.abc import Iterable

from forebay.study import (
    CLOSE,
    Bounds,
    Point,
    Quantities,
    Truth,
    Values,
    all_of,
    at,
    every,
    for_each,
    most,
    values,
)
from forebay_studies.redn import criteria as thesis
from forebay_studies.redn.criteria import gateways

LOW_RATIO = 1e-3
ALMOST_ALL = 0.9
FULL = 1.0 - CLOSE
# Between 0.1/3 and 0.1/9, so that the last bit of a quotient decides nothing.
DIVIDED_TWICE = 0.1 / 6


def _gateways(
    run: Quantities,
    point: Point,
    quantity: str,
    phases: Iterable[str] = thesis.PHASES,
    colours: Iterable[str] = thesis.COLOURS,
) -> Values:
    """A quantity of every gateway, for each phase and colour that its name has a place for."""
    named = {"gateway": gateways(point), "phase": phases, "colour": colours}
    return values(run, point, "{gateway}" + quantity, **named)


@for_each(thesis.ARCHITECTURE)
def delay_short(run: Quantities, point: Point) -> Truth:
    """At every gateway and in every phase more than half of the steady-state samples of the overall
    queuing delay are at most 16.5 ms: 15 ms, or around it."""
    return every(_gateways(run, point, "{phase}_delay_short_ratio")) > 0.5


@for_each(thesis.ARCHITECTURE)
def averages_moderate(run: Quantities, point: Point) -> Truth:
    """At every gateway, of every colour and in every phase more than half of the steady-state
    samples of the average queue length are at most 10 % above the middle threshold."""
    return every(_gateways(run, point, "{phase}_{colour}_below_middle_ratio")) > 0.5


@for_each(thesis.ARCHITECTURE)
def full_utilization(run: Quantities, point: Point) -> Truth:
    """Every bottleneck link is used to at least 90 % in the steady state of every phase."""
    return every(_gateways(run, point, "{phase}_utilization_ratio")) >= FULL


@for_each(thesis.ARCHITECTURE)
def shutdown(run: Quantities, point: Point) -> Truth:
    """At every link some sample in the beginning of the undersubscribed case is below 90 %."""
    return every(_gateways(run, point, "u_utilization_start_min_ratio")) < FULL


@for_each(thesis.ARCHITECTURE)
def no_synchronisation(run: Quantities, point: Point) -> Truth:
    """The thesis's own evidence: links full, and no steady-state sample of the queuing delay 0."""
    waiting = every(_gateways(run, point, "{phase}_delay_min_s")) > 0.0
    return full_utilization(run, point) & waiting


def low_points_of_averages_nonzero(run: Quantities) -> Truth:
    """No sample of an average queue length in the undersubscribed case is 0, of any colour."""
    return every(_gateways(run, thesis.ADAPTIVE, "u_{colour}_average_min_packets")) > 0.0


def low_points_of_delay_nonzero(run: Quantities) -> Truth:
    """No sample of the queuing delay in the beginning of the undersubscribed case is 0."""
    return at(run, thesis.ADAPTIVE, "u_delay_start_min_s") > 0.0


def flow_delays_alike(run: Quantities) -> Truth:
    """The least and the greatest mean queuing delay of any flow are similar to the overall one, in
    every phase."""
    overall = _gateways(run, thesis.ADAPTIVE, "{phase}_delay_mean_s")
    return all_of(
        every(_gateways(run, thesis.ADAPTIVE, f"{{phase}}_flow_delay_{end}_s")).similar(overall)
        for end in ("min", "max")
    )


@for_each(thesis.ARCHITECTURE)
def transient(run: Quantities, point: Point) -> Truth:
    """At every gateway the greatest sample of the queuing delay in the beginnings of the baseline
    and the oversubscribed case is above all of the steady state."""
    steady = _gateways(run, point, "{phase}_delay_steady_max_s", "bo")
    return every(_gateways(run, point, "{phase}_delay_start_max_s", "bo")) > steady


@for_each(thesis.ARCHITECTURE)
def transient_drops(run: Quantities, point: Point) -> Truth:
    """At every gateway the early drop ratio has a greater sample in the beginnings of the baseline
    and the oversubscribed case, each, than outside both."""
    steady = _gateways(run, point, "drop_steady_max_ratio")
    return all_of(
        every(_gateways(run, point, f"{phase}_drop_start_max_ratio")) > steady for phase in "bo"
    )


def drop_ratio_low(run: Quantities) -> Truth:
    """Outside the beginnings of the baseline and the oversubscribed case the early drop ratio is on
    average at most 0.1 %."""
    return at(run, thesis.ADAPTIVE, "drop_steady_mean_ratio") <= LOW_RATIO


@for_each(thesis.ARCHITECTURE)
def drops_touch_zero(run: Quantities, point: Point) -> Truth:
    """At every gateway some steady-state sample of the early drop ratio is 0, in every run."""
    return every(_gateways(run, point, "drop_steady_min_ratio")) <= 0.0


@for_each(thesis.ARCHITECTURE)
def never_overflows(run: Quantities, point: Point) -> Truth:
    """No packet finds a bottleneck's queue full, in any run."""
    return every(_gateways(run, point, "overflow_count")) <= 0.0


def reverse_path_clear(run: Quantities) -> Truth:
    """No acknowledgment is dropped, in any run."""
    return at(run, thesis.ADAPTIVE, "reverse_dropped_count") <= 0.0


@for_each(thesis.ARCHITECTURE)
def static_or_dynamic(run: Quantities, point: Point) -> Truth:
    """At every gateway yellow and red have for a part of the run a static probability above the
    dynamic one in effect, for the rest the dynamic one; green never the static."""
    adopted = every(_gateways(run, point, "{colour}_static_ratio", colours=("yellow", "red")))
    green = every(_gateways(run, point, "green_static_ratio"))
    return (adopted > 0.0) & (adopted < 1.0) & (green <= 0.0)


def dual_both_gateways_mark(run: Quantities) -> Truth:
    """Flows through two gateways have packets marked at the first and at the second."""
    share = at(run, thesis.ARCHITECTURE["dual"], "two_marked_first_ratio")
    return (share > 0.0) & (share < 1.0)


@for_each(thesis.ARCHITECTURE)
def probability_follows(run: Quantities, point: Point) -> Truth:
    """The time-average of red's effective maximum probability is greater in the oversubscribed case
    than in the undersubscribed one, at every gateway, as is the load."""
    light = _gateways(run, point, "u_red_effective_mean_ratio")
    return every(_gateways(run, point, "o_red_effective_mean_ratio")) > light


# REDn.


def _averages(
    run: Quantities,
    point: Point,
    phases: Iterable[str] = thesis.PHASES,
    colours: Iterable[str] = thesis.COLOURS,
) -> Values:
    """Steady-state means of average queue lengths."""
    return _gateways(run, point, "{phase}_{colour}_average_mean_packets", phases, colours)


def redn_around_minimum(run: Quantities) -> Truth:
    """Under REDn the steady-state mean of the red average queue length, of all packets, is within
    half of the minimum threshold of it, in most phases."""
    return most(_averages(run, thesis.REDN, colours=("red",))).around(thesis.MINIMUM, thesis.AROUND)


def redn_not_above_minimum(run: Quantities) -> Truth:
    """Under REDn most of the nine average queue lengths (three colours, three phases) have a
    steady-state mean of at most one and a half times the minimum threshold."""
    return most(_averages(run, thesis.REDN)) <= (1 + thesis.AROUND) * thesis.MINIMUM


def redn_longest_in_o(run: Quantities) -> Truth:
    """Under REDn every colour's steady-state mean average queue length is greatest in the
    oversubscribed case."""
    longest = every(_averages(run, thesis.REDN, "o"))
    return all_of(longest > _averages(run, thesis.REDN, phase) for phase in "bu")


# Self-Configuring REDn.


def _configured(run: Quantities, quantity: str) -> Values:
    """A quantity of every colour under Self-Configuring REDn."""
    return _gateways(run, thesis.SELF_CONFIGURING, quantity)


def sc_probability_falls_at_once(run: Quantities) -> Truth:
    """After 5 s every colour's dynamic maximum probability has been divided at least twice."""
    return every(_configured(run, "{colour}_dynamic_5s_ratio")) < DIVIDED_TWICE


def _dynamic(run: Quantities, phase: str) -> Values:
    return _configured(run, phase + "_{colour}_dynamic_end_ratio")


def sc_probability_falls_in_u(run: Quantities) -> Truth:
    """Every colour's dynamic maximum probability is lower at the end of the undersubscribed case
    than at that of the baseline case."""
    return every(_dynamic(run, "u")) < _dynamic(run, "b")


def sc_probability_rises_in_o(run: Quantities) -> Truth:
    """Every colour's dynamic maximum probability is greater at the end of the oversubscribed case
    than at its beginning."""
    return every(_dynamic(run, "o")) > _dynamic(run, "u")


def sc_only_falls_then_rises(run: Quantities) -> Truth:
    """Table 3.1's pattern: no increment of any colour in the first two phases, no decrement in the
    third, and at least one change in each."""
    pattern = (
        ("b", "decrements", "increments"),
        ("u", "decrements", "increments"),
        ("o", "increments", "decrements"),
    )
    return all_of(
        (every(_configured(run, f"{phase}_{{colour}}_{other}_count")) <= 0.0)
        & (every(_configured(run, f"{phase}_{{colour}}_{kind}_count")) >= 1.0)
        for phase, kind, other in pattern
    )


def sc_colours_ordered(run: Quantities) -> Truth:
    """At the end of every phase green's dynamic maximum probability is at most yellow's, and
    yellow's at most red's, as in Table 3.1."""
    ends = [_dynamic(run, phase) for phase in thesis.PHASES]
    return all_of((green <= yellow) & (yellow <= red) for green, yellow, red in ends)


def sc_averages_beyond_maximum(run: Quantities) -> Truth:
    """In the oversubscribed case every colour's average queue length exceeds the maximum
    threshold."""
    return every(_configured(run, "o_{colour}_average_max_packets")) > thesis.MAXIMUM


def sc_slightly_below_maximum(run: Quantities) -> Truth:
    """In the steady state of the oversubscribed case the red average queue length is on average
    between one half and the whole of the maximum threshold."""
    (average,) = _averages(run, thesis.SELF_CONFIGURING, "o", ("red",))
    return average.within(thesis.AROUND * thesis.MAXIMUM, thesis.MAXIMUM)


def sc_delay_roughly_fixed(run: Quantities) -> Truth:
    """Most steady-state samples of the queuing delay in the oversubscribed case are within 10 % of
    their mean."""
    return at(run, thesis.SELF_CONFIGURING, "o_delay_fixed_ratio") > 0.5


def sc_delay_long(run: Quantities) -> Truth:
    """In the oversubscribed case the queuing delay is more than twice the 15 ms that the thesis
    calls short."""
    return _delay(run, thesis.SELF_CONFIGURING) > thesis.FACTOR * thesis.MID_DELAY


# The parts of Adaptive REDn.


def _delay(run: Quantities, point: Point, phase: str = "o") -> Bounds:
    return at(run, point, f"{phase}_delay_mean_s")


def adaptive_resolves_delay(run: Quantities) -> Truth:
    """In the oversubscribed case the queuing delay of Adaptive REDn is at most half of
    Self-Configuring REDn's."""
    return _delay(run, thesis.ADAPTIVE) <= thesis.MUCH * _delay(run, thesis.SELF_CONFIGURING)


def middle_threshold_resolves_delay(run: Quantities) -> Truth:
    """In the oversubscribed case the queuing delay is at most half of that without the middle
    threshold algorithm, all else being equal."""
    return _delay(run, thesis.ADAPTIVE) <= thesis.MUCH * _delay(run, thesis.WITHOUT_MIDDLE)


def actual_threshold_keeps_throughput(run: Quantities) -> Truth:
    """In no phase is the link used less than without the minimum actual queue length threshold,
    and in the beginning of the undersubscribed case its least sample is greater."""
    least, least_without = (
        at(run, point, "u_utilization_start_min_ratio")
        for point in (thesis.ADAPTIVE, thesis.WITHOUT_ACTUAL)
    )
    used, used_without = (
        _gateways(run, point, "{phase}_utilization_ratio")
        for point in (thesis.ADAPTIVE, thesis.WITHOUT_ACTUAL)
    )
    return (least > least_without) & (every(used) >= used_without)


def actual_threshold_marks_less(run: Quantities) -> Truth:
    """Fewer packets are marked than without the minimum actual queue length threshold."""
    return at(run, thesis.ADAPTIVE, "marked_ratio") < at(run, thesis.WITHOUT_ACTUAL, "marked_ratio")


def around_middle_in_b(run: Quantities) -> Truth:
    """While the number of flows stays that of the baseline case, the red average queue length is
    on average within half of the middle threshold of it."""
    (average,) = _averages(run, thesis.ADAPTIVE, "b", ("red",))
    return average.around(thesis.MIDDLE, thesis.AROUND)


def delay_follows_load(run: Quantities) -> Truth:
    """The steady-state queuing delay is longer in the oversubscribed than in the undersubscribed
    case, yet at most twice the middle threshold's 15 ms."""
    busy = _delay(run, thesis.ADAPTIVE)
    return (busy > _delay(run, thesis.ADAPTIVE, "u")) & (busy <= thesis.FACTOR * thesis.MID_DELAY)


# Multiplexed TCP and UDP (section 4.3).


def mix_averages_above_middle(run: Quantities) -> Truth:
    """Every colour's average queue length is above the middle threshold for at least 90 % of the
    run."""
    return every(_gateways(run, thesis.MIX, "{colour}_above_middle_ratio")) >= ALMOST_ALL


def mix_maximum_stays(run: Quantities) -> Truth:
    """Every colour's effective maximum probability is 0.1 for at least 90 % of the run."""
    return every(_gateways(run, thesis.MIX, "{colour}_effective_static_ratio")) >= ALMOST_ALL
