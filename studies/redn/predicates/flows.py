"""Predicates of flows: what they get, how they are conditioned, how they react to marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise, product

from forebay.study import (
    CLOSE,
    EXACT,
    Point,
    Quantities,
    Truth,
    Values,
    all_of,
    any_of,
    at,
    at_least_count,
    every,
    for_each,
    most_of,
    values,
)
from forebay_studies.redn.criteria import (
    ADAPTIVE,
    ARCHITECTURE,
    ASSURED,
    CONDITIONED,
    DUAL,
    FACTOR,
    FAST,
    LONG,
    MBPS,
    PHASES,
    REACHED,
    REDN,
    RTTS,
    SELF_CONFIGURING,
    SHORT,
    SLOW,
    STARTING,
    VERY_CLOSE,
    Flow,
    attains,
    attains_higher,
    averages,
    flows,
    routes,
    throughput,
)

Judge = Callable[[Quantities, Point, Flow], Truth]
"""Judge of whether a flow attains what Table 4.1 assures it."""

# What flows get: Table 4.1, attained, missed or exceeded.


def attain(
    run: Quantities,
    *,
    point: Point,
    rtts: Sequence[int] = RTTS,
    phases: Sequence[str] = PHASES,
    rates: Sequence[int] = (1, 3, 5, 10),
    route: str = "",
    by: Judge = attains,
    but: int = 0,
) -> Truth:
    """Every one of the flows attains its throughput, as `by` has it, `but` so many."""
    chosen = [by(run, point, flow) for flow in flows(rtts, phases, rates, route)]
    return at_least_count(len(chosen) - but, chosen)


averages_closely = partial(averages, share=VERY_CLOSE)


def attains_or_close(run: Quantities, point: Point, flow: Flow) -> Truth:
    """A pair of flows attains Table 4.1's throughput, or an average of at least 90 % of it."""
    return attains(run, point, flow) | averages_closely(run, point, flow)


def attains_higher_or_close(run: Quantities, point: Point, flow: Flow) -> Truth:
    """The same, with the higher expected throughput in the undersubscribed case."""
    return attains_higher(run, point, flow) | averages_closely(run, point, flow)


redn_short_attain = partial(attain, point=REDN, rtts=SHORT)
redn_long_1mbps_attain = partial(attain, point=REDN, rtts=LONG, rates=(1,))
sc_all_very_close = partial(attain, point=SELF_CONFIGURING, by=attains_or_close)
adaptive_all_attain = partial(attain, point=ADAPTIVE)
adaptive_baseline_attain = partial(attain, point=ADAPTIVE, phases=("b",))
dual_all_but_one_attain = partial(attain, point=DUAL, route="two_", but=1)
dual_second_attain = partial(attain, point=DUAL, route="one_")

# The same sentences under other readings: on average over the second half of a phase; with the
# higher expected throughput as the line in U.

redn_short_average = partial(attain, point=REDN, rtts=SHORT, by=averages)
sc_all_average = partial(attain, point=SELF_CONFIGURING, by=averages_closely)
sc_all_higher = partial(attain, point=SELF_CONFIGURING, by=attains_higher_or_close)
adaptive_all_average = partial(attain, point=ADAPTIVE, by=averages)
adaptive_all_higher = partial(attain, point=ADAPTIVE, by=attains_higher)
dual_all_but_one_average = partial(attain, point=DUAL, route="two_", but=1, by=averages)
dual_all_but_one_higher = partial(attain, point=DUAL, route="two_", but=1, by=attains_higher)
dual_second_average = partial(attain, point=DUAL, route="one_", by=averages)
dual_second_higher = partial(attain, point=DUAL, route="one_", by=attains_higher)


def redn_most_long_miss(run: Quantities, by: Judge = attains) -> Truth:
    """Under REDn most flows of 160 and 200 ms do not attain their assured throughput."""
    return most_of(~by(run, REDN, flow) for flow in flows(LONG))


def redn_only_1mbps_of_long(run: Quantities, by: Judge = attains) -> Truth:
    """Under REDn no flow of 160 and 200 ms attains its throughput but those expecting 1 Mbit/s."""
    others = [~by(run, REDN, flow) for flow in flows(LONG, rates=(3, 5, 10))]
    return redn_long_1mbps_attain(run, by=by) & all_of(others)


def redn_long_well_below(run: Quantities) -> Truth:
    """Under REDn the flows of 160 and 200 ms that expect 5 and 10 Mbit/s get less than 90 % of what
    Table 4.1 assures, wherever they are active."""
    return all_of(~averages_closely(run, REDN, flow) for flow in flows(LONG, rates=(5, 10)))


def redn_long_3mbps_fail_in_o(run: Quantities, by: Judge = attains) -> Truth:
    """Under REDn the flows of 160 and 200 ms that expect 3 Mbit/s do not attain it in the
    oversubscribed case."""
    return all_of(~by(run, REDN, flow) for flow in flows(LONG, ("o",), (3,)))


redn_most_long_miss_average = partial(redn_most_long_miss, by=averages)
redn_only_1mbps_of_long_average = partial(redn_only_1mbps_of_long, by=averages)
redn_long_3mbps_fail_in_o_average = partial(redn_long_3mbps_fail_in_o, by=averages)


def redn_distribution_fails(run: Quantities) -> Truth:
    """Under REDn some flow is not even very close to its assured throughput."""
    return any_of(~averages_closely(run, REDN, flow) for flow in flows())


def slow_start_premature(run: Quantities) -> Truth:
    """Under REDn the 10 Mbit/s flows of 160 and 200 ms had not reached the window of their expected
    throughput at their first reduction in the baseline case."""
    return every(values(run, REDN, "b_10mbps_{rtt}ms_first_window_ratio", rtt=LONG)) < 1.0


def slow_start_smooth(run: Quantities) -> Truth:
    """Under Self-Configuring REDn every flow had reached the window of its expected throughput at
    its first reduction in the baseline case."""
    windows = "b_{rate}mbps_{rtt}ms_first_window_ratio"
    return every(values(run, SELF_CONFIGURING, windows, rate=STARTING["b"], rtt=RTTS)) >= 1.0


def undersubscribed_above_higher(run: Quantities) -> Truth:
    """In the undersubscribed case every flow gets more than twice its baseline, its higher expected
    throughput."""
    return all_of(
        throughput(run, ADAPTIVE, flow) > 2.0 * flow.rate * MBPS for flow in flows(phases=("u",))
    )


def oversubscribed_shares(run: Quantities) -> Truth:
    """In the oversubscribed case flows expecting 1 and 3 Mbit/s attain that; the class means of
    those expecting 5 and 10 are similar, and below 10."""
    five, ten = values(run, ADAPTIVE, "o_{rate}mbps_bps", rate=(5, 10))
    scarce = five.similar(ten) & (ten < 10.0 * MBPS)
    return scarce & attain(run, point=ADAPTIVE, phases=("o",), rates=(1, 3))


def increasing_order(run: Quantities) -> Truth:
    """In every phase the mean throughput of a class of flows grows with the expected one, down to
    the level of Table 4.1's equal shares; equal shares are similar."""
    verdicts = []
    for phase in PHASES:
        assured = ASSURED[phase]
        for less, more in pairwise(sorted(assured)):
            low, high = values(run, ADAPTIVE, f"{phase}_{{rate}}mbps_bps", rate=(less, more))
            equal = assured[less] == assured[more]
            verdicts.append(low.similar(high) if equal else high > low)
    return all_of(verdicts)


def no_share_above_expected(run: Quantities) -> Truth:
    """In the oversubscribed case, where bandwidth is scarce, no flow gets more than 110 % of its
    baseline expected throughput."""
    return all_of(
        throughput(run, ADAPTIVE, flow) <= (1.0 + CLOSE) * flow.rate * MBPS
        for flow in flows(phases=("o",))
    )


@for_each(ARCHITECTURE)
def distribution(run: Quantities, point: Point) -> Truth:
    """In every phase the flows of each expected throughput get, on average over the RTTs, at least
    90 % of what Table 4.1 assures them; a dual network's two sets of flows each for themselves."""
    return all_of(
        at(run, point, f"{phase}_{route}{rate}mbps_assured_bps") >= VERY_CLOSE * mbps * MBPS
        for route, phase in product(routes(point), PHASES)
        for rate, mbps in ASSURED[phase].items()
    )


def slow_take_longer(run: Quantities) -> Truth:
    """Among flows that start together the slow ones (120 ms and above) take longer on average to
    first attain their throughput than the fast ones, for most expected throughputs."""

    def times(phase: str, rate: int, rtts: Sequence[int]) -> Values:
        return values(run, ADAPTIVE, f"{phase}_{rate}mbps_{{rtt}}ms_attain_s", rtt=rtts)

    return most_of(
        times(phase, rate, SLOW).mean() > times(phase, rate, FAST).mean()
        for phase, rates in STARTING.items()
        for rate in rates
    )


def fast_exceed(run: Quantities) -> Truth:
    """In each phase most fast flows get more than Table 4.1 assures them, by over 2 %."""
    return all_of(
        most_of(
            throughput(run, ADAPTIVE, flow) > (1.0 + EXACT) * flow.assured
            for flow in flows(FAST, (phase,))
        )
        for phase in PHASES
    )


def fast_marked_most(run: Quantities) -> Truth:
    """More than half of all marked packets are of fast flows."""
    return at(run, ADAPTIVE, "fast_marked_ratio") > 0.5


def slow_zigzag(run: Quantities) -> Truth:
    """The throughput of some slow flow varies in steady state by more than 10 % of its mean."""
    return at(run, ADAPTIVE, "slow_variation_ratio") > CLOSE


def marks_halve(run: Quantities) -> Truth:
    """The three flows that the thesis names each halve their window without a timeout in the
    baseline case at least once."""
    named = ("10mbps_70ms", "10mbps_120ms", "3mbps_120ms")
    return every(values(run, ADAPTIVE, "b_{flow}_halvings_count", flow=named)) >= 1.0


def largely_goodput(run: Quantities) -> Truth:
    """At least 98 % of what receivers get is new data."""
    return at(run, ADAPTIVE, "goodput_ratio") >= REACHED


def timeouts_only_at_starts(run: Quantities) -> Truth:
    """A run has on average less than one retransmission timeout after the beginnings of the
    baseline and the oversubscribed case, over all flows."""
    return at(run, ADAPTIVE, "timeouts_later_count") < 1.0


def timeouts_at_start(run: Quantities) -> Truth:
    """Some flow has a retransmission timeout in the beginning of the baseline case."""
    return at(run, ADAPTIVE, "timeouts_start_count") >= 1.0


def replicas_alike(run: Quantities) -> Truth:
    """Most pairs of replicated flows differ by at most 10 %, over all phases."""
    return at(run, ADAPTIVE, "replicas_alike_ratio") > 0.5


def marked_like_share(run: Quantities) -> Truth:
    """Each class of flows has a share of the marked packets within a factor of two of its share of
    the packets that arrive."""
    shares = values(run, ADAPTIVE, "{rate}mbps_marks_per_share_ratio", rate=(1, 3, 5, 10))
    return every(shares).within(1 / FACTOR, FACTOR)


def green_marked_rarely(run: Quantities) -> Truth:
    """Less than half of the marked packets are green, over the whole run."""
    return at(run, ADAPTIVE, "green_marked_ratio") < 0.5


def routes_without_bias(run: Quantities) -> Truth:
    """For most classes, the flows through two gateways get on average at least 90 % of what those
    through one get of their assured throughput."""
    names = [f"{phase}_{{}}_{rate}mbps_assured_bps" for phase in PHASES for rate in ASSURED[phase]]
    return most_of(
        at(run, DUAL, name.format("two")) >= VERY_CLOSE * at(run, DUAL, name.format("one"))
        for name in names
    )


@for_each(ARCHITECTURE)
def no_retransmission(run: Quantities, point: Point) -> Truth:
    """Not a single packet is sent again in any run."""
    return at(run, point, "retransmissions_count") <= 0.0


@for_each(ARCHITECTURE)
def no_timeout(run: Quantities, point: Point) -> Truth:
    """Not a single retransmission timer expires in any run."""
    return at(run, point, "timeouts_count") <= 0.0


# Conditioning (Figure 4.2).


def _conditioned(run: Quantities, quantity: str, parts: Sequence[str] = ("",)) -> Values:
    """A quantity of the conditioners of Figure 4.2, in every phase."""
    name = f"{{phase}}_3mbps_{{rtt}}ms_{quantity}"
    return values(run, ADAPTIVE, name, phase=PHASES, rtt=CONDITIONED, part=parts)


def conditioning_matched(run: Quantities) -> Truth:
    """For the conditioners of Figure 4.2, in every phase, green is within 10 % of what conforms to
    3 Mbit/s, and green and yellow together of what conforms to 6: second by second, the flow's rate
    or the expected one, whichever is less."""
    matches = _conditioned(run, "{part}_match_ratio", ("green", "conforming"))
    return every(matches).within(1 - CLOSE, 1 + CLOSE)


def conditioning_exact_without_red(run: Quantities) -> Truth:
    """For the conditioners of Figure 4.2, over the seconds in which they tag nothing with red, the
    same to 2 %."""
    name = "3mbps_{rtt}ms_{part}_without_red_ratio"
    matches = values(run, ADAPTIVE, name, rtt=CONDITIONED, part=("green", "conforming"))
    return every(matches).within(1 - EXACT, 1 + EXACT)


def conditioning_adds_up(run: Quantities) -> Truth:
    """For the conditioners of Figure 4.2 the colours' rates sum to the flow's, to 0.1 %."""
    return every(_conditioned(run, "sum_match_ratio")).within(1 - 1e-3, 1 + 1e-3)


def conditioning_never_exceeds(run: Quantities) -> Truth:
    """For the conditioners of Figure 4.2 green is at most 2 % above 3 Mbit/s and green and yellow
    together above 6, in every phase: burstiness buys nothing."""
    return all_of(
        every(_conditioned(run, f"{part}_bps")) <= (1.0 + EXACT) * mbps * MBPS
        for part, mbps in (("green", 3), ("conforming", 6))
    )


def single_conditioning_alike(run: Quantities) -> Truth:
    """Of the flows of a run most have green within 2 % of what conforms to the baseline, and green
    and yellow together of what conforms to the higher expected throughput."""
    return at(run, ADAPTIVE, "conditioned_exactly_ratio") > 0.5
