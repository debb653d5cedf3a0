"""The draft's sentences in numbers: one predicate per qualitative claim of paper.toml.

Each predicate is given the measured quantities as bounds (see `forebay.study.grades`) and answers
true, false or unknown. The readings below are fixed from the draft's own words and tables:

- *Good* and *works well*: what is left after flow termination is within 10 % of SR, either side
  (the draft calls 0.74 of 0.8 Mbit/s good).
- *Similar*, *not sensitive*, *not very different* rates and utilisations differ by at most 10 % of
  the smaller; probabilities, differences of utilisation and overshoots by at most 5 points (the
  draft calls blocking of 12 % similar to 10 %).
- *Settled* in section 3.1.1 is the end of the scale of Figures 3 to 8: the first 50 ms window with
  load at or below 100 % of SR. *Restored* and *settled* in section 4 are within 5 % of SR, which is
  what section 3.1.2 calls settling: an exponential has no end, and the last per cent of varying
  traffic are noise. *Faster* and *longer* compare these times.
- *Over-termination*: the load falls below 98 % of SR, as a mean over 1 s, for CBR traffic, whose
  load is otherwise constant; 2 % is what grades call exact.
- *Much* and *significantly* less is at most half. *Significant*, of one error, is above 2 %.
- Numbers for which the draft prints none (decay, proportionality) may be a quarter off, and times
  one 50 ms window more.
- The draft makes the observations of section 4 twice, of large and of small numbers of flows; one
  predicate holds if both do.
- Observations on stability and decay are judged where px is at least 2 * flow rate * RTT with the
  80 kbit/s of G.711 CBR (section 3.1.3): section 4.6 excepts smaller ones. Comparisons of settings
  are judged on all of them. Section 4 simulated px of 2064, 4064 and 8064 bytes (8064 alone with
  loss, no 4064 with small numbers) and an RTT of 50, 200 and 800 ms. 16064 bytes, the next of that
  series, is what the rule gives for 800 ms.

Rates are in bit/s, times in seconds, ratios are fractions of SR unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise, product

from forebay.study.grades import (
    CLOSE,
    Quantities,
    Truth,
    all_of,
    any_of,
    surely_at_most,
    surely_greater,
    surely_less,
    surely_within,
)
from forebay_studies.pcn.criteria import (
    ACROSS_NODES,
    CURING_S,
    LARGER_S,
    LINKS,
    MUCH,
    NUMBERS,
    ONE_NODE,
    POINTS,
    PX,
    QUARTER,
    RATES,
    RTTS,
    SINGLE_RATES,
    SINGLE_TRAFFIC,
    SIZES,
    TRAFFIC,
    WINDOW,
    admission,
    alike,
    below,
    deviation,
    good,
    link_delta,
    loss_settings,
    near,
    over_terminates,
    overshoot,
    parking,
    rate_expected,
    row,
    rule_settings,
    single,
    tail,
    value_at,
    voice_at,
)

# Section 1.


def alike_over_nodes(run: Quantities, *, names: Sequence[str]) -> Truth:
    """Over three nodes, with and without cross traffic, the quantities are within 5 points of those
    of the single node under the same overload, at every size."""
    return all_of(
        near(admission(run, name, test, size), admission(run, name, "overload", size), POINTS)
        for name, test, size in product(names, ACROSS_NODES, SIZES)
    )


utilization_alike_over_nodes = partial(alike_over_nodes, names=("utilization_ratio",))
protection_alike_over_nodes = partial(alike_over_nodes, names=("blocking_ratio", "overshoot_ratio"))


def small_load_less_precise(run: Quantities, *, test: str) -> Truth:
    """Utilisation is further from the theoretical at S than at M and at L."""
    small, *larger = (deviation(run, "utilization_ratio", test, size) for size in SIZES)
    return all_of(surely_greater(small, other) for other in larger)


small_load_less_precise_mix = partial(small_load_less_precise, test="mix")
small_load_less_precise_cbr = partial(small_load_less_precise, test="erlang")


def good_single(run: Quantities) -> Truth:
    """In Figures 3 and 6 what is left is within 10 % of SR, for both traffic types."""
    return all_of(good(tail(run, *at)) for at in product(SINGLE_RATES, SINGLE_TRAFFIC))


def good_row(run: Quantities, kinds: Sequence[str] = TRAFFIC) -> Truth:
    """Three nodes in a row with preferential metering end within 10 % of SR, at every SR."""
    return all_of(good(row(run, rate, kind) + 1.0) for rate, kind in product(RATES, kinds))


good_row_cbr = partial(good_row, kinds=("cbr",))


def good_at_every_rtt(run: Quantities) -> Truth:
    """At each RTT one of the simulated px leaves the load within 10 % of SR, for both numbers of
    flows, CBR and VBR: "works" is taken with px set for the RTT, as the draft asks."""
    return all_of(
        any_of(good(voice_at(run, "tail_ratio", flows, kind, px, rtt)) for px in PX[flows])
        for flows, kind, rtt in product(NUMBERS, TRAFFIC, RTTS)
    )


def good_with_loss(run: Quantities) -> Truth:
    """With packet loss the load left is within 10 % of SR at every setting simulated but one, CBR
    at 800 ms, which the draft itself excepts."""
    return all_of(
        good(voice_at(run, "tail_ratio", *setting, forward))
        for setting, forward in loss_settings()
        if setting[1:] != ("cbr", 8064, 800)
    )


def good_by_formula(run: Quantities) -> Truth:
    """With s = 2 * 80 kbit/s * RTT, which is 1064 at 50 ms and 4064 at 200 ms, CBR ends within
    10 % of SR: at one node, and at three in a row with preferential metering at every SR."""
    one_node = ((0.8, 1064, 50), (40, 1064, 50), (40, 4064, 200))
    single = all_of(good(tail(run, rate, "cbr", s, rtt)) for rate, s, rtt in one_node)
    return single & good_row_cbr(run)


def marks_proportional(run: Quantities) -> Truth:
    """The marking rate has fallen to a quarter, within a quarter, when the excess has: large
    numbers of CBR and VBR flows where px follows the rule."""
    return all_of(
        surely_within(
            voice_at(run, "marks_per_s_early_ratio", *setting),
            (1.0 - QUARTER) * 4.0,
            (1.0 + QUARTER) * 4.0,
        )
        for setting in rule_settings(("large",))
    )


def decays_exponentially(run: Quantities) -> Truth:
    """The second halving of the excess takes as long as the first did once flows began to end, one
    RTT after the reroute, within a quarter and one window: large numbers of CBR and VBR flows where
    px follows the rule."""
    return all_of(
        surely_within(
            voice_at(run, "quarter_s", *setting) - half,
            (1.0 - QUARTER) * first - WINDOW,
            (1.0 + QUARTER) * first + WINDOW,
        )
        for setting in rule_settings(("large",))
        for half in [voice_at(run, "half_s", *setting)]
        for first in [half - setting[-1] / 1e3]
    )


def aggregates_interfere_cbr(run: Quantities) -> Truth:
    """With preferential metering some link of the parking lot ends further below SR than three
    nodes with a single aggregate, for CBR at every SR."""
    return all_of(
        any_of(
            surely_less(link_delta(run, link, rate, "cbr"), row(run, rate, "cbr")) for link in LINKS
        )
        for rate in RATES
    )


def row_worse_without_preferential_cbr(run: Quantities) -> Truth:
    """Three nodes end further below SR without preferential metering, for CBR at every SR."""
    return all_of(
        surely_less(row(run, rate, "cbr", preferential=False), row(run, rate, "cbr"))
        for rate in RATES
    )


# Section 3.1.1.


def mix_settles_later(run: Quantities) -> Truth:
    """In Figures 3 and 6 the mix reaches SR later than CBR."""
    return all_of(
        surely_less(*(single(run, "to100_s", rate, traffic) for traffic in SINGLE_TRAFFIC))
        for rate in SINGLE_RATES
    )


def larger_s_settles_later(run: Quantities) -> Truth:
    """With s = 2064 (Figures 4, 7) both traffic types reach SR later than with 1064 (3, 6)."""
    return all_of(
        surely_less(*(single(run, "to100_s", rate, traffic, s) for s in (1064, 2064)))
        for rate, traffic in product(SINGLE_RATES, SINGLE_TRAFFIC)
    )


def tail_alike(run: Quantities, *, rate: float, other: tuple[int, int]) -> Truth:
    """Mean, maximum and minimum of what is left are similar with s = 1064 at 50 ms and with the
    other s and RTT. Times are not meant: the draft expects those to grow."""
    return all_of(
        alike([single(run, name, rate, traffic), single(run, name, rate, traffic, *other)])
        for name in ("tail_mean_bps", "tail_max_bps", "tail_min_bps")
        for traffic in SINGLE_TRAFFIC
    )


tail_insensitive_to_s_large = partial(tail_alike, rate=40, other=(2064, 50))
tail_insensitive_to_s_small = partial(tail_alike, rate=0.8, other=(2064, 50))
tail_similar_at_200ms = partial(tail_alike, rate=40, other=(4064, 200))


def s_insensitive_to_flows(run: Quantities) -> Truth:
    """With the same s, 1064 or 2064, what is left is similar at 0.8 and 40 Mbit/s as a fraction of
    SR, and within 10 % of SR, for both traffic types."""
    return all_of(
        alike(tails) & all_of(good(tail) for tail in tails)
        for traffic, s in product(SINGLE_TRAFFIC, (1064, 2064))
        for tails in [[tail(run, rate, traffic, s) for rate in SINGLE_RATES]]
    )


# Section 3.1.2.1: three nodes in a row.


def row_cbr_similar_to_single(run: Quantities) -> Truth:
    """The load left of CBR over three nodes is similar to Figures 3 and 6, as a fraction of SR."""
    return all_of(
        alike([row(run, rate, "cbr") + 1.0, tail(run, rate, "cbr")]) for rate in SINGLE_RATES
    )


def row_similar_to_one_node(run: Quantities) -> Truth:
    """With preferential metering and s = 1064 three nodes leave a load similar to one, for CBR
    and VBR at every SR."""
    return all_of(
        alike([row(run, rate, kind, nodes=nodes) + 1.0 for nodes in (1, 3)])
        for rate, kind in product(RATES, TRAFFIC)
    )


def larger_s_cures_vbr(run: Quantities) -> Truth:
    """Some larger s, 2064, 4064 or 8064, at least halves VBR's under-utilisation, at one node and
    at three with preferential metering, at every SR."""
    return all_of(
        any_of(
            surely_at_most(below(run, rate, "vbr", s=s, nodes=nodes), MUCH * error)
            for s in CURING_S
        )
        for rate, nodes in product(RATES, (1, 3))
        for error in [below(run, rate, "vbr", nodes=nodes)]
    )


def larger_s_cures_nothing_without_preferential(run: Quantities) -> Truth:
    """Without preferential metering neither 2064 nor 4064 halves the under-utilisation of CBR, at
    0.8 and 16 Mbit/s, the SRs at which Figure 10 has it above 2 %."""
    return all_of(
        surely_greater(
            below(run, rate, "cbr", preferential=False, s=s),
            MUCH * below(run, rate, "cbr", preferential=False),
        )
        for rate, s in product((0.8, 16), LARGER_S)
    )


def error_smaller_with_many_flows(run: Quantities) -> Truth:
    """Without preferential metering the under-utilisation at 40 Mbit/s is at most half that at
    0.8 Mbit/s, for CBR and VBR."""
    return all_of(
        surely_at_most(large, MUCH * small)
        for kind in TRAFFIC
        for small, large in [[below(run, rate, kind, preferential=False) for rate in (0.8, 40)]]
    )


def vbr_error_alike_without_preferential(run: Quantities) -> Truth:
    """VBR's utilisation differs by at most 5 points with and without preferential metering, at
    every SR."""
    return all_of(
        near(row(run, rate, "vbr"), row(run, rate, "vbr", preferential=False), POINTS)
        for rate in RATES
    )


def row_settles_within_1s(run: Quantities) -> Truth:
    """With preferential metering every settling time is below 1 s, for CBR and VBR at every SR."""
    return all_of(
        surely_less(value_at(run, "settling_s", "row", rate, kind, True, 1064, 3), 1.0)
        for rate, kind in product(RATES, TRAFFIC)
    )


# Section 3.1.2.2: the parking lot.


def link1_worst(run: Quantities) -> Truth:
    """Link 1 is further below SR than Links 2 and 3, for CBR and VBR at every SR."""
    return all_of(
        surely_less(link_delta(run, "link1", rate, kind), link_delta(run, other, rate, kind))
        for rate, kind, other in product(RATES, TRAFFIC, ("link2", "link3"))
    )


def link1_not_cured_by_flows(run: Quantities, kinds: Sequence[str] = TRAFFIC) -> Truth:
    """Link 1 is at 40 Mbit/s no less below SR than at 0.8, but for 10 %."""
    return all_of(
        surely_at_most(
            link_delta(run, "link1", 40, kind), (1.0 - CLOSE) * link_delta(run, "link1", 0.8, kind)
        )
        for kind in kinds
    )


link1_not_cured_by_flows_cbr = partial(link1_not_cured_by_flows, kinds=("cbr",))


def links_1_and_2_below(run: Quantities, *, preferential: bool = True) -> Truth:
    """Links 1 and 2 end below SR and Link 1 further than Link 2, for CBR and VBR at every SR."""
    return all_of(
        surely_less(first, second) & surely_less(second, 0.0)
        for rate, kind in product(RATES, TRAFFIC)
        for first, second in [
            [link_delta(run, link, rate, kind, preferential) for link in LINKS[:2]]
        ]
    )


links_1_and_2_below_without_preferential = partial(links_1_and_2_below, preferential=False)


def aggregates_ordered(run: Quantities) -> Truth:
    """Least is left of (e,h), then of (e,g), most of (f,h), for CBR at every SR: the order of the
    re-marked 9/6, 8/6 and 3/6 M."""
    return all_of(
        surely_less(parking(run, less, rate, "cbr"), parking(run, more, rate, "cbr"))
        for less, more in pairwise(("eh_bps", "eg_bps", "fh_bps"))
        for rate in RATES
    )


def large_vbr_better_without_preferential(run: Quantities) -> Truth:
    """For VBR at 40 Mbit/s every link is better used without preferential metering."""
    return all_of(
        surely_greater(link_delta(run, link, 40, "vbr", False), link_delta(run, link, 40, "vbr"))
        for link in LINKS
    )


# Section 3.1.3.


def rule_prevents_over_termination(run: Quantities) -> Truth:
    """CBR is not over-terminated where px is at least 2 * flow rate * RTT, for both numbers of
    flows."""
    return all_of(
        ~over_terminates(run, flows, px, rtt) for flows, _, px, rtt in rule_settings(kinds=("cbr",))
    )


def px_matters_more_than_rtt(run: Quantities) -> Truth:
    """From px = 2064 and an RTT of 50 ms, a fourfold px delays settling more than a fourfold RTT,
    for large numbers of CBR flows."""
    slower = [voice_at(run, "to105_s", "large", "cbr", *at) for at in ((8064, 50), (2064, 200))]
    return surely_greater(*slower)


# Section 3.2.1.


def blocking_like_erlang(run: Quantities) -> Truth:
    """Blocking of CBR is within 5 points of Erlang's at every size."""
    errors = [deviation(run, "blocking_ratio", "erlang", size) for size in SIZES]
    return all_of(surely_at_most(error, POINTS) for error in errors)


def overshoot_at_most_20(run: Quantities) -> Truth:
    """Under twice the base load the worst overshoot is at most 20 % at every size."""
    return all_of(surely_at_most(overshoot(run, size), 0.20) for size in SIZES)


def vbr_and_mix_behave_alike(run: Quantities) -> Truth:
    """With the size of the load blocking falls and utilisation grows, for VBR and the mix as for
    CBR."""
    return all_of(
        surely_less(admission(run, name, test, less), admission(run, name, test, more))
        for test, (small, large) in product(ONE_NODE, pairwise(SIZES))
        for name, less, more in (
            ("blocking_ratio", large, small),
            ("utilization_ratio", small, large),
        )
    )


def media_delay_worsens_overshoot(run: Quantities) -> Truth:
    """Under twice the base load the worst overshoot is smaller without the media delay than with
    up to 10 s of it, at every size."""
    return all_of(
        surely_less(overshoot(run, size, media_delay=0), overshoot(run, size)) for size in SIZES
    )


def admits_expected_rate(run: Quantities) -> Truth:
    """The data rate of CBR, VBR and the mix is within 10 % of the theoretical at M and L; the
    second conclusion excepts small loads."""
    return all_of(rate_expected(run, test, size) for test in ONE_NODE for size in ("M", "L"))


def small_vbr_misses_rate(run: Quantities) -> Truth:
    """At S the data rate of VBR and of the mix is more than 10 % off the theoretical."""
    return all_of(~rate_expected(run, test, "S") for test in ("vbr", "mix"))
