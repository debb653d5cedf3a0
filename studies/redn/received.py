"""Predicates of flows: what they get, how they are conditioned, how they react to marks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from forebay.study.grades import (
    CLOSE,
    EXACT,
    Bounds,
    Quantities,
    Truth,
    all_of,
    any_of,
    at_least_count,
    most_of,
    surely_at_least,
    surely_at_most,
    surely_greater,
    surely_less,
    surely_within,
    total,
)
from forebay_studies.redn.gateway import (
    delay_mostly_short,
    full_utilization,
    probability_follows_load,
)
from forebay_studies.redn.readings import (
    ADAPTIVE,
    ARCHITECTURE,
    ASSURED,
    COLOURS,
    CONDITIONED,
    DUAL,
    FACTOR,
    FAST,
    LONG,
    MBPS,
    MIX,
    PHASES,
    REACHED,
    REDN,
    RTTS,
    SELF_CONFIGURING,
    SLOW,
    STARTING,
    VERY_CLOSE,
    Setting,
    at,
    attains,
    class_attains,
    flows,
    misses,
    similar,
    throughput,
)

UDP_FAIR = 0.42
MIX_LINK = 273.6 * MBPS


# What flows get: Table 4.1, attained, missed or exceeded.


def all_attain(
    run: Quantities,
    *,
    setting: Setting,
    rtts: Sequence[int] = RTTS,
    phases: Sequence[str] = PHASES,
    rates: Sequence[int] = (1, 3, 5, 10),
    route: str = "",
    share: float = REACHED,
    but: int = 0,
) -> Truth:
    """Every one of the flows gets at least `share` of its assured throughput, `but` so many."""
    chosen = [
        attains(run, setting, flow, share) for flow in flows(rtts, phases, rates, route=route)
    ]
    return at_least_count(len(chosen) - but, chosen)


def redn_most_long_miss(run: Quantities) -> Truth:
    """Under REDn most flows of 160 and 200 ms do not attain their assured throughput."""
    return most_of(misses(run, REDN, flow) for flow in flows(LONG))


def redn_only_1mbps_of_long(run: Quantities) -> Truth:
    """Under REDn no flow of 160 and 200 ms attains its throughput but those expecting 1 Mbit/s."""
    return all_attain(run, setting=REDN, rtts=LONG, rates=(1,)) & all_of(
        misses(run, REDN, flow) for flow in flows(LONG, rates=(3, 5, 10))
    )


def redn_long_well_below(run: Quantities) -> Truth:
    """Under REDn the flows of 160 and 200 ms that expect 5 and 10 Mbit/s get less than 90 % of what
    Table 4.1 assures, wherever they are active."""
    return all_of(misses(run, REDN, flow, VERY_CLOSE) for flow in flows(LONG, rates=(5, 10)))


def redn_long_3mbps_fail_in_o(run: Quantities) -> Truth:
    """Under REDn the flows of 160 and 200 ms that expect 3 Mbit/s do not attain it in the
    oversubscribed case."""
    return all_of(misses(run, REDN, flow) for flow in flows(LONG, ("o",), (3,)))


def redn_distribution_fails(run: Quantities) -> Truth:
    """Under REDn some flow is not even very close to its assured throughput."""
    return any_of(misses(run, REDN, flow, VERY_CLOSE) for flow in flows())


def slow_start_premature(run: Quantities) -> Truth:
    """Under REDn the 10 Mbit/s flows of 160 and 200 ms had not reached the window of their expected
    throughput at their first reduction in the baseline case."""
    return all_of(
        surely_less(at(run, REDN, f"b_10mbps_{rtt}ms_first_window_ratio"), 1.0) for rtt in LONG
    )


def slow_start_smooth(run: Quantities) -> Truth:
    """Under Self-Configuring REDn every flow had reached the window of its expected throughput at
    its first reduction in the baseline case."""
    return all_of(
        surely_at_least(at(run, SELF_CONFIGURING, f"b_{rate}mbps_{rtt}ms_first_window_ratio"), 1.0)
        for rate, rtt in product(STARTING["b"], RTTS)
    )


def undersubscribed_above_higher(run: Quantities) -> Truth:
    """In the undersubscribed case every flow gets more than twice its baseline, its higher expected
    throughput."""
    return all_of(
        surely_greater(throughput(run, ADAPTIVE, flow), 2.0 * flow.rate * MBPS)
        for flow in flows(phases=("u",))
    )


def oversubscribed_shares(run: Quantities) -> Truth:
    """In the oversubscribed case flows expecting 1 and 3 Mbit/s attain that; the class means of
    those expecting 5 and 10 are similar, and below 10."""
    five, ten = (at(run, ADAPTIVE, f"o_{rate}mbps_bps") for rate in (5, 10))
    scarce = similar(five, ten) & surely_less(ten, 10.0 * MBPS)
    return scarce & all_of(
        attains(run, ADAPTIVE, flow) for flow in flows(phases=("o",), rates=(1, 3))
    )


def increasing_order(run: Quantities) -> Truth:
    """In every phase the mean throughput of a class of flows grows with the expected one, down to
    the level of Table 4.1's equal shares; equal shares are similar."""
    verdicts = []
    for phase in PHASES:
        assured = ASSURED[phase]
        for less, more in pairwise(sorted(assured)):
            low, high = (at(run, ADAPTIVE, f"{phase}_{rate}mbps_bps") for rate in (less, more))
            equal = assured[less] == assured[more]
            verdicts.append(similar(low, high) if equal else surely_greater(high, low))
    return all_of(verdicts)


def no_share_above_expected(run: Quantities) -> Truth:
    """In the oversubscribed case, where bandwidth is scarce, no flow gets more than 110 % of its
    baseline expected throughput."""
    return all_of(
        surely_at_most(throughput(run, ADAPTIVE, flow), (1.0 + CLOSE) * flow.rate * MBPS)
        for flow in flows(phases=("o",))
    )


def distribution_assured(run: Quantities, *, setting: Setting) -> Truth:
    """In every phase the flows of each expected throughput get, on average over the RTTs, at least
    90 % of what Table 4.1 assures them; a dual network's two sets of flows each for themselves."""
    return class_attains(run, setting, VERY_CLOSE)


def slow_take_longer(run: Quantities) -> Truth:
    """Among flows that start together the slow ones (120 ms and above) take longer on average to
    first attain their throughput than the fast ones, for most expected throughputs."""
    return most_of(
        surely_greater(
            _mean_attain_time(run, phase, rate, SLOW), _mean_attain_time(run, phase, rate, FAST)
        )
        for phase, rates in STARTING.items()
        for rate in rates
    )


def fast_exceed(run: Quantities) -> Truth:
    """In each phase most fast flows get more than Table 4.1 assures them, by over 2 %."""
    return all_of(
        most_of(
            surely_greater(throughput(run, ADAPTIVE, flow), (1.0 + EXACT) * flow.assured)
            for flow in flows(FAST, (phase,))
        )
        for phase in PHASES
    )


def fast_marked_most(run: Quantities) -> Truth:
    """More than half of all marked packets are of fast flows."""
    return surely_greater(at(run, ADAPTIVE, "fast_marked_ratio"), 0.5)


def slow_zigzag(run: Quantities) -> Truth:
    """The throughput of some slow flow varies in steady state by more than 10 % of its mean."""
    return surely_greater(at(run, ADAPTIVE, "slow_variation_ratio"), CLOSE)


def marks_halve(run: Quantities) -> Truth:
    """The three flows that the thesis names each halve their window without a timeout in the
    baseline case at least once."""
    named = ("10mbps_70ms", "10mbps_120ms", "3mbps_120ms")
    return all_of(
        surely_at_least(at(run, ADAPTIVE, f"b_{flow}_halvings_count"), 1.0) for flow in named
    )


def largely_goodput(run: Quantities) -> Truth:
    """At least 98 % of what receivers get is new data."""
    return surely_at_least(at(run, ADAPTIVE, "goodput_ratio"), REACHED)


def timeouts_only_at_starts(run: Quantities) -> Truth:
    """A run has on average less than one retransmission timeout after the beginnings of the
    baseline and the oversubscribed case, over all flows."""
    return surely_less(at(run, ADAPTIVE, "timeouts_later_count"), 1.0)


def timeouts_at_start(run: Quantities) -> Truth:
    """Some flow has a retransmission timeout in the beginning of the baseline case."""
    return surely_at_least(at(run, ADAPTIVE, "timeouts_start_count"), 1.0)


def replicas_alike(run: Quantities) -> Truth:
    """Most pairs of replicated flows differ by at most 10 %, over all phases."""
    return surely_greater(at(run, ADAPTIVE, "replicas_alike_ratio"), 0.5)


def marked_like_share(run: Quantities) -> Truth:
    """Each class of flows has a share of the marked packets within a factor of two of its share of
    the packets that arrive."""
    return all_of(
        surely_within(at(run, ADAPTIVE, f"{rate}mbps_marks_per_share_ratio"), 1 / FACTOR, FACTOR)
        for rate in (1, 3, 5, 10)
    )


def green_marked_rarely(run: Quantities) -> Truth:
    """Less than half of the marked packets are green, over the whole run."""
    return surely_less(at(run, ADAPTIVE, "green_marked_ratio"), 0.5)


def routes_without_bias(run: Quantities) -> Truth:
    """For most classes, the flows through two gateways get on average at least 90 % of what those
    through one get of their assured throughput."""
    return most_of(
        surely_at_least(
            at(run, DUAL, f"{phase}_two_{rate}mbps_assured_bps"),
            VERY_CLOSE * at(run, DUAL, f"{phase}_one_{rate}mbps_assured_bps"),
        )
        for phase in PHASES
        for rate in ASSURED[phase]
    )


def no_retransmission(run: Quantities, *, setting: Setting) -> Truth:
    """Not a single packet is sent again in any run."""
    return surely_at_most(at(run, setting, "retransmissions_count"), 0.0)


def no_timeout(run: Quantities, *, setting: Setting) -> Truth:
    """Not a single retransmission timer expires in any run."""
    return surely_at_most(at(run, setting, "timeouts_count"), 0.0)


# Conditioning (Figure 4.2).


def conditioning_matched(run: Quantities) -> Truth:
    """For the conditioners of Figure 4.2, in every phase, green is within 10 % of what conforms to
    3 Mbit/s, and green and yellow together of what conforms to 6: second by second, the flow's rate
    or the expected one, whichever is less."""
    return all_of(
        surely_within(
            at(run, ADAPTIVE, f"{phase}_3mbps_{rtt}ms_{part}_match_ratio"), 1 - CLOSE, 1 + CLOSE
        )
        for phase, rtt, part in product(PHASES, CONDITIONED, ("green", "conforming"))
    )


def conditioning_exact_without_red(run: Quantities) -> Truth:
    """For the conditioners of Figure 4.2, over the seconds in which they tag nothing with red, the
    same to 2 %."""
    return all_of(
        surely_within(
            at(run, ADAPTIVE, f"3mbps_{rtt}ms_{part}_without_red_ratio"), 1 - EXACT, 1 + EXACT
        )
        for rtt, part in product(CONDITIONED, ("green", "conforming"))
    )


def conditioning_adds_up(run: Quantities) -> Truth:
    """For the conditioners of Figure 4.2 the colours' rates sum to the flow's, to 0.1 %."""
    return all_of(
        surely_within(
            at(run, ADAPTIVE, f"{phase}_3mbps_{rtt}ms_sum_match_ratio"), 1 - 1e-3, 1 + 1e-3
        )
        for phase, rtt in product(PHASES, CONDITIONED)
    )


def conditioning_never_exceeds(run: Quantities) -> Truth:
    """For the conditioners of Figure 4.2 green is at most 2 % above 3 Mbit/s and green and yellow
    together above 6, in every phase: burstiness buys nothing."""
    return all_of(
        surely_at_most(
            at(run, ADAPTIVE, f"{phase}_3mbps_{rtt}ms_{part}_bps"), (1.0 + EXACT) * mbps * MBPS
        )
        for phase, rtt in product(PHASES, CONDITIONED)
        for part, mbps in (("green", 3), ("conforming", 6))
    )


def conditioning_alike(run: Quantities, *, setting: Setting) -> Truth:
    """Of the flows of a run most have green within 2 % of what conforms to the baseline, and green
    and yellow together of what conforms to the higher expected throughput."""
    return surely_greater(at(run, setting, "conditioned_exactly_ratio"), 0.5)


# Multiplexed TCP and UDP (section 4.3).


def udp_extreme_bias(run: Quantities) -> Truth:
    """UDP gets more than twice its fair share of 42 % of the link."""
    return surely_greater(at(run, MIX, "udp_share_ratio"), FACTOR * UDP_FAIR)


def udp_near_sending_rates(run: Quantities) -> Truth:
    """Every UDP flow gets within 10 % of what it sends: 8 Mbit/s, and 12."""
    return all_of(
        surely_within(at(run, MIX, f"b_{rate}mbps_{rtt}ms_bps"), VERY_CLOSE * sent, sent)
        for rtt in RTTS
        for rate in (3, 5)
        for sent in [(2 * rate + 2) * MBPS]
    )


def udp_spans_colours(run: Quantities) -> Truth:
    """UDP's conditioners send packets of every colour."""
    return all_of(surely_greater(at(run, MIX, f"udp_{colour}_bps"), 0.0) for colour in COLOURS)


def mix_only_1mbps_tcp(run: Quantities) -> Truth:
    """Of the TCP flows those expecting 1 Mbit/s get it, to 2 %, and none of those expecting 10."""
    return all_of(
        surely_at_least(_mix(run, 1, rtt), REACHED * MBPS)
        & surely_less(_mix(run, 10, rtt), REACHED * 10 * MBPS)
        for rtt in RTTS
    )


def mix_tcp_shares_rest(run: Quantities) -> Truth:
    """At every RTT the TCP flow expecting 10 Mbit/s gets more than the one expecting 1, and TCP
    together what UDP leaves of the link, to 10 %."""
    rest = similar(at(run, MIX, "tcp_share_ratio"), 1.0 + -1.0 * at(run, MIX, "udp_share_ratio"))
    return rest & all_of(surely_greater(_mix(run, 10, rtt), _mix(run, 1, rtt)) for rtt in RTTS)


def mix_supposed_to_attain(run: Quantities) -> Truth:
    """Every TCP and UDP flow gets at least 98 % of its baseline expected throughput."""
    return all_of(
        surely_at_least(_mix(run, rate, rtt), REACHED * rate * MBPS)
        for rate, rtt in product((1, 3, 5, 10), RTTS)
    )


def drop_of_a_fifth_insufficient(run: Quantities) -> Truth:
    """With a fifth of what it sends taken away, UDP would still get more than its 42 %."""
    return surely_greater(0.8 * at(run, MIX, "udp_sent_bps"), UDP_FAIR * MIX_LINK)


# The whole.


def architecture_attains_goals(
    run: Quantities, settings: Sequence[Setting] = ARCHITECTURE
) -> Truth:
    """In each of the runs of Adaptive REDn the queuing delay is mostly short at every gateway, and
    the distribution is the assured one, to 10 % in the mean over the RTTs."""
    return all_of(
        delay_mostly_short(run, setting=setting) & distribution_assured(run, setting=setting)
        for setting in settings
    )


def algorithm_correct(run: Quantities) -> Truth:
    """The thesis's evidence together: all attain, delay moderate, link full, and the effective
    maximum probability greater where the load is."""
    return (
        all_attain(run, setting=ADAPTIVE)
        & delay_mostly_short(run, setting=ADAPTIVE)
        & full_utilization(run, setting=ADAPTIVE)
        & probability_follows_load(run, setting=ADAPTIVE)
    )


def _mean_attain_time(run: Quantities, phase: str, rate: int, rtts: Sequence[int]) -> Bounds:
    times = (at(run, ADAPTIVE, f"{phase}_{rate}mbps_{rtt}ms_attain_s") for rtt in rtts)
    return (1.0 / len(rtts)) * total(times)


def _mix(run: Quantities, rate: int, rtt: int) -> Bounds:
    return at(run, MIX, f"b_{rate}mbps_{rtt}ms_bps")
