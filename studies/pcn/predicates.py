"""What the draft's sentences mean in numbers: one predicate per qualitative claim of paper.toml.

Each predicate is given the measured quantities as bounds (see `forebay.grades`) and answers true,
false or unknown. The readings below are fixed from the draft's own words and tables:

- *Good* and *works well*: what is left after flow termination is within 10 % of SR, either side
  (the draft calls 0.74 of 0.8 Mbit/s good).
- *Similar*, *not sensitive*, *not very different* rates and utilisations differ by at most 10 % of
  the smaller; probabilities, differences of utilisation and overshoots by at most 5 points (the
  draft calls blocking of 12 % similar to 10 %).
- *Settled* and *restored to the supportable rate* is the end of the scale of Figures 3 to 8: the
  first 50 ms window with load at or below 100 % of SR. *Faster* and *longer* compare that time.
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

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise, product

from forebay.grades import (
    CLOSE,
    EXACT,
    Bounds,
    Parameter,
    Quantities,
    Truth,
    all_of,
    any_of,
    most_of,
    surely_at_most,
    surely_greater,
    surely_less,
    surely_within,
)

MBPS = 1e6
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

RTTS = (50, 200, 800)
NUMBERS = ("large", "small")
PX = {"large": (2064, 4064, 8064), "small": (2064, 8064)}
RULE_RTT = {2064: (50,), 4064: (50, 200), 8064: (50, 200)}
"""RTT in ms at which each px is at least 2 * 10000 byte/s * RTT."""
NO_LOSS = 200
LOSS = (120, 100)
LOSS_RTTS = {"large": (200, 800), "small": (800,)}

SIZES = ("S", "M", "L")
ONE_NODE = ("erlang", "vbr", "mix")
ACROSS_NODES = ("multi", "cross")

VIDEOS = ("small", "medium", "large")
STABLE_BUCKET = (400, 200)
BUCKETS = (STABLE_BUCKET, (200, 100), (300, 200), (250, 50))


# Section 1.


def alike_over_nodes(run: Quantities, *, names: Sequence[str]) -> Truth:
    """Over three nodes, with and without cross traffic, the quantities are within 5 points of those
    of the single node under the same overload, at every size."""
    return all_of(
        _near(_admission(run, name, test, size), _admission(run, name, "overload", size), POINTS)
        for name, test, size in product(names, ACROSS_NODES, SIZES)
    )


utilization_alike_over_nodes = partial(alike_over_nodes, names=("utilization_ratio",))
protection_alike_over_nodes = partial(alike_over_nodes, names=("blocking_ratio", "overshoot_ratio"))


def small_load_less_precise(run: Quantities, *, test: str) -> Truth:
    """Utilisation is further from the theoretical at S than at M and at L."""
    small, *larger = (_error(run, "utilization_ratio", test, size) for size in SIZES)
    return all_of(surely_greater(small, other) for other in larger)


small_load_less_precise_mix = partial(small_load_less_precise, test="mix")
small_load_less_precise_cbr = partial(small_load_less_precise, test="erlang")


def good_single(run: Quantities) -> Truth:
    """In Figures 3 and 6 what is left is within 10 % of SR, for both traffic types."""
    return all_of(_good(_tail(run, *at)) for at in product(SINGLE_RATES, SINGLE_TRAFFIC))


def good_row(run: Quantities, kinds: Sequence[str] = TRAFFIC) -> Truth:
    """Three nodes in a row with preferential metering end within 10 % of SR, at every SR."""
    return all_of(_good(_row(run, rate, kind) + 1.0) for rate, kind in product(RATES, kinds))


good_row_cbr = partial(good_row, kinds=("cbr",))


def good_at_every_rtt(run: Quantities) -> Truth:
    """At each RTT one of the simulated px leaves the load within 10 % of SR, for both numbers of
    flows, CBR and VBR: "works" is taken with px set for the RTT, as the draft asks."""
    return all_of(
        any_of(_good(_voice(run, "tail_ratio", flows, kind, px, rtt)) for px in PX[flows])
        for flows, kind, rtt in product(NUMBERS, TRAFFIC, RTTS)
    )


def good_with_loss(run: Quantities) -> Truth:
    """With packet loss the load left is within 10 % of SR at every setting simulated but one, CBR
    at 800 ms, which the draft itself excepts."""
    return all_of(
        _good(_voice(run, "tail_ratio", *setting, forward))
        for setting, forward in _loss_settings()
        if setting[1:] != ("cbr", 8064, 800)
    )


def good_by_formula(run: Quantities) -> Truth:
    """With s = 2 * 80 kbit/s * RTT, which is 1064 at 50 ms and 4064 at 200 ms, CBR ends within
    10 % of SR: at one node, and at three in a row with preferential metering at every SR."""
    one_node = ((0.8, 1064, 50), (40, 1064, 50), (40, 4064, 200))
    single = all_of(_good(_tail(run, rate, "cbr", s, rtt)) for rate, s, rtt in one_node)
    return single & good_row_cbr(run)


def marks_proportional(run: Quantities) -> Truth:
    """When the excess has fallen to a quarter, so has the marking rate, within a quarter: large
    numbers of CBR and VBR flows where px follows the rule."""
    return all_of(
        surely_within(
            _voice(run, "marks_per_s_early_ratio", *setting),
            (1.0 - QUARTER) * 4.0,
            (1.0 + QUARTER) * 4.0,
        )
        for setting in _rule_settings(("large",))
    )


def decays_exponentially(run: Quantities) -> Truth:
    """The second halving of the excess takes as long as the first did once flows began to end, one
    RTT after the reroute, within a quarter and one window: large numbers of CBR and VBR flows where
    px follows the rule."""
    return all_of(
        surely_within(
            _voice(run, "quarter_s", *setting) - half,
            (1.0 - QUARTER) * first - WINDOW,
            (1.0 + QUARTER) * first + WINDOW,
        )
        for setting in _rule_settings(("large",))
        for half in [_voice(run, "half_s", *setting)]
        for first in [half - setting[-1] / 1e3]
    )


def aggregates_interfere_cbr(run: Quantities) -> Truth:
    """With preferential metering some link of the parking lot ends further below SR than three
    nodes with a single aggregate, for CBR at every SR."""
    return all_of(
        any_of(surely_less(_link(run, link, rate, "cbr"), _row(run, rate, "cbr")) for link in LINKS)
        for rate in RATES
    )


def row_worse_without_preferential_cbr(run: Quantities) -> Truth:
    """Three nodes end further below SR without preferential metering, for CBR at every SR."""
    return all_of(
        surely_less(_row(run, rate, "cbr", preferential=False), _row(run, rate, "cbr"))
        for rate in RATES
    )


# Section 3.1.1.


def mix_settles_later(run: Quantities) -> Truth:
    """In Figures 3 and 6 the mix reaches SR later than CBR."""
    return all_of(
        surely_less(*(_single(run, "to100_s", rate, traffic) for traffic in SINGLE_TRAFFIC))
        for rate in SINGLE_RATES
    )


def larger_s_settles_later(run: Quantities) -> Truth:
    """With s = 2064 (Figures 4, 7) both traffic types reach SR later than with 1064 (3, 6)."""
    return all_of(
        surely_less(*(_single(run, "to100_s", rate, traffic, s) for s in (1064, 2064)))
        for rate, traffic in product(SINGLE_RATES, SINGLE_TRAFFIC)
    )


def tail_alike(run: Quantities, *, rate: float, other: tuple[int, int]) -> Truth:
    """Mean, maximum and minimum of what is left are similar with s = 1064 at 50 ms and with the
    other s and RTT. Times are not meant: the draft expects those to grow."""
    return all_of(
        _alike([_single(run, name, rate, traffic), _single(run, name, rate, traffic, *other)])
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
        _alike(tails) & all_of(_good(tail) for tail in tails)
        for traffic, s in product(SINGLE_TRAFFIC, (1064, 2064))
        for tails in [[_tail(run, rate, traffic, s) for rate in SINGLE_RATES]]
    )


# Section 3.1.2.1: three nodes in a row.


def row_cbr_similar_to_single(run: Quantities) -> Truth:
    """What is left of CBR over three nodes is similar to Figures 3 and 6, as a fraction of SR."""
    return all_of(
        _alike([_row(run, rate, "cbr") + 1.0, _tail(run, rate, "cbr")]) for rate in SINGLE_RATES
    )


def row_similar_to_one_node(run: Quantities) -> Truth:
    """With preferential metering and s = 1064 three nodes leave a load similar to one, for CBR
    and VBR at every SR."""
    return all_of(
        _alike([_row(run, rate, kind, nodes=nodes) + 1.0 for nodes in (1, 3)])
        for rate, kind in product(RATES, TRAFFIC)
    )


def larger_s_cures_vbr(run: Quantities) -> Truth:
    """Some larger s, 2064 or 4064, at least halves VBR's under-utilisation, at one node and at
    three with preferential metering, at every SR."""
    return all_of(
        any_of(
            surely_at_most(_below(run, rate, "vbr", s=s, nodes=nodes), MUCH * error)
            for s in LARGER_S
        )
        for rate, nodes in product(RATES, (1, 3))
        for error in [_below(run, rate, "vbr", nodes=nodes)]
    )


def larger_s_cures_nothing_without_preferential(run: Quantities) -> Truth:
    """Without preferential metering neither 2064 nor 4064 halves the under-utilisation of CBR, at
    0.8 and 16 Mbit/s, the SRs at which Figure 10 has it above 2 %."""
    return all_of(
        surely_greater(
            _below(run, rate, "cbr", preferential=False, s=s),
            MUCH * _below(run, rate, "cbr", preferential=False),
        )
        for rate, s in product((0.8, 16), LARGER_S)
    )


def error_smaller_with_many_flows(run: Quantities) -> Truth:
    """Without preferential metering the under-utilisation at 40 Mbit/s is at most half that at
    0.8 Mbit/s, for CBR and VBR."""
    return all_of(
        surely_at_most(large, MUCH * small)
        for kind in TRAFFIC
        for small, large in [[_below(run, rate, kind, preferential=False) for rate in (0.8, 40)]]
    )


def vbr_error_alike_without_preferential(run: Quantities) -> Truth:
    """VBR's utilisation differs by at most 5 points with and without preferential metering, at
    every SR."""
    return all_of(
        _near(_row(run, rate, "vbr"), _row(run, rate, "vbr", preferential=False), POINTS)
        for rate in RATES
    )


def row_settles_within_1s(run: Quantities) -> Truth:
    """With preferential metering every settling time is below 1 s, for CBR and VBR at every SR."""
    return all_of(
        surely_less(_value(run, "settling_s", "row", rate, kind, True, 1064, 3), 1.0)
        for rate, kind in product(RATES, TRAFFIC)
    )


# Section 3.1.2.2: the parking lot.


def link1_worst(run: Quantities) -> Truth:
    """Link 1 is further below SR than Links 2 and 3, for CBR and VBR at every SR."""
    return all_of(
        surely_less(_link(run, "link1", rate, kind), _link(run, other, rate, kind))
        for rate, kind, other in product(RATES, TRAFFIC, ("link2", "link3"))
    )


def link1_not_cured_by_flows(run: Quantities, kinds: Sequence[str] = TRAFFIC) -> Truth:
    """Link 1 is at 40 Mbit/s no less below SR than at 0.8, but for 10 %."""
    return all_of(
        surely_at_most(
            _link(run, "link1", 40, kind), (1.0 - CLOSE) * _link(run, "link1", 0.8, kind)
        )
        for kind in kinds
    )


link1_not_cured_by_flows_cbr = partial(link1_not_cured_by_flows, kinds=("cbr",))


def links_1_and_2_below(run: Quantities, *, preferential: bool = True) -> Truth:
    """Links 1 and 2 end below SR and Link 1 further than Link 2, for CBR and VBR at every SR."""
    return all_of(
        surely_less(first, second) & surely_less(second, 0.0)
        for rate, kind in product(RATES, TRAFFIC)
        for first, second in [[_link(run, link, rate, kind, preferential) for link in LINKS[:2]]]
    )


links_1_and_2_below_without_preferential = partial(links_1_and_2_below, preferential=False)


def aggregates_ordered(run: Quantities) -> Truth:
    """Least is left of (e,h), then of (e,g), most of (f,h), for CBR at every SR: the order of the
    re-marked 9/6, 8/6 and 3/6 M."""
    return all_of(
        surely_less(_parking(run, less, rate, "cbr"), _parking(run, more, rate, "cbr"))
        for less, more in pairwise(("eh_bps", "eg_bps", "fh_bps"))
        for rate in RATES
    )


def large_vbr_better_without_preferential(run: Quantities) -> Truth:
    """For VBR at 40 Mbit/s every link is better used without preferential metering."""
    return all_of(
        surely_greater(_link(run, link, 40, "vbr", False), _link(run, link, 40, "vbr"))
        for link in LINKS
    )


# Section 3.1.3.


def rule_prevents_over_termination(run: Quantities) -> Truth:
    """CBR is not over-terminated where px is at least 2 * flow rate * RTT, for both numbers of
    flows."""
    return all_of(
        ~_over_terminates(run, flows, px, rtt)
        for flows, _, px, rtt in _rule_settings(kinds=("cbr",))
    )


def px_matters_more_than_rtt(run: Quantities) -> Truth:
    """From px = 2064 and an RTT of 50 ms, a fourfold px delays settling more than a fourfold RTT,
    for large numbers of CBR flows."""
    slower = [_voice(run, "to100_s", "large", "cbr", *at) for at in ((8064, 50), (2064, 200))]
    return surely_greater(*slower)


# Section 3.2.1.


def blocking_like_erlang(run: Quantities) -> Truth:
    """Blocking of CBR is within 5 points of Erlang's at every size."""
    errors = [_error(run, "blocking_ratio", "erlang", size) for size in SIZES]
    return all_of(surely_at_most(error, POINTS) for error in errors)


def overshoot_at_most_20(run: Quantities) -> Truth:
    """Under twice the base load the worst overshoot is at most 20 % at every size."""
    return all_of(surely_at_most(_overshoot(run, size), 0.20) for size in SIZES)


def vbr_and_mix_behave_alike(run: Quantities) -> Truth:
    """With the size of the load blocking falls and utilisation grows, for VBR and the mix as for
    CBR."""
    return all_of(
        surely_less(_admission(run, name, test, less), _admission(run, name, test, more))
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
        surely_less(_overshoot(run, size, media_delay=0), _overshoot(run, size)) for size in SIZES
    )


def admits_expected_rate(run: Quantities) -> Truth:
    """The data rate of CBR, VBR and the mix is within 10 % of the theoretical at M and L; the
    second conclusion excepts small loads."""
    return all_of(_rate_expected(run, test, size) for test in ONE_NODE for size in ("M", "L"))


def small_vbr_misses_rate(run: Quantities) -> Truth:
    """At S the data rate of VBR and of the mix is more than 10 % off the theoretical."""
    return all_of(~_rate_expected(run, test, "S") for test in ("vbr", "mix"))


# Sections 4.2 to 4.5: voice. The draft makes each observation of both numbers of flows.


def shorter_rtt_faster(run: Quantities) -> Truth:
    """CBR and VBR settle earlier the shorter the RTT, at every px simulated."""
    return all_of(
        surely_less(*(_voice(run, "to100_s", flows, kind, px, rtt) for rtt in pair))
        for flows, kind, px in _settings()
        for pair in pairwise(RTTS)
    )


def smaller_px_faster(run: Quantities) -> Truth:
    """CBR and VBR settle earlier the smaller px, at every RTT simulated."""
    return all_of(
        surely_less(*(_voice(run, "to100_s", flows, kind, px, rtt) for px in pair))
        for flows, kind, rtt in product(NUMBERS, TRAFFIC, RTTS)
        for pair in pairwise(PX[flows])
    )


def marking_slows_and_stable(run: Quantities) -> Truth:
    """Packets are marked more often at the highest excess than at a quarter of it, and the load
    left is within 10 % of SR, for CBR and VBR where px follows the rule."""
    return all_of(
        surely_greater(_voice(run, "marks_per_s_early_ratio", *setting), 1.0)
        & _good(_voice(run, "tail_ratio", *setting))
        for setting in _rule_settings()
    )


def cbr_faster(run: Quantities) -> Truth:
    """CBR settles earlier than VBR, at every px and RTT simulated."""
    return all_of(
        surely_less(*(_voice(run, "to100_s", flows, kind, px, rtt) for kind in TRAFFIC))
        for flows, px in ((flows, px) for flows in NUMBERS for px in PX[flows])
        for rtt in RTTS
    )


def vbr_peak_rounded(run: Quantities) -> Truth:
    """With VBR the load peaks later after the reroute than with CBR, at px = 8064, where
    termination cuts the peak least, and every RTT."""
    return all_of(
        surely_less(*(_voice(run, "rise_s", flows, kind, 8064, rtt) for kind in TRAFFIC))
        for flows, rtt in product(NUMBERS, RTTS)
    )


def high_rate_marked_more(run: Quantities) -> Truth:
    """Of the mix a larger share of the 144 kbit/s flows than of the G.729 flows is terminated, and
    more flows are active after the failure than before, where px follows the rule."""
    return all_of(
        surely_greater(_voice(run, more, *setting), _voice(run, less, *setting))
        for setting in _rule_settings(kinds=("mix",))
        for more, less in (
            ("high_rate_terminated_ratio", "low_rate_terminated_ratio"),
            ("after_flows_count", "before_flows_count"),
        )
    )


def numbers_alike(run: Quantities) -> Truth:
    """The load left is similar for small and large numbers of flows, CBR and VBR, at the px and
    RTT simulated for both."""
    return all_of(
        _alike([_voice(run, "tail_ratio", flows, kind, px, rtt) for flows in PX])
        for kind, px, rtt in product(TRAFFIC, PX["small"], RTTS)
    )


def loss_slows(run: Quantities) -> Truth:
    """CBR and VBR settle later with packet loss than without, and what is left is similar, at
    every setting but CBR at 800 ms for the latter: its over-termination is told separately."""
    later = all_of(
        surely_greater(_voice(run, "to100_s", *setting, forward), _voice(run, "to100_s", *setting))
        for setting, forward in _loss_settings()
    )
    similar = all_of(
        _alike([_voice(run, "tail_ratio", *setting, rate) for rate in (forward, NO_LOSS)])
        for setting, forward in _loss_settings()
        if setting[1:] != ("cbr", 8064, 800)
    )
    return later & similar


def loss_over_terminates(run: Quantities) -> Truth:
    """CBR is over-terminated with px = 8064 at 800 ms, at one of the forwarding rates ("can")."""
    return all_of(
        any_of(_over_terminates(run, flows, 8064, 800, forward) for forward in LOSS)
        for flows in NUMBERS
    )


def loss_over_termination_removed(run: Quantities) -> Truth:
    """CBR is not over-terminated with px = 16064 at 800 ms nor with 8064 at 200 ms, at both
    forwarding rates."""
    return all_of(
        ~_over_terminates(run, flows, px, rtt, forward)
        for flows, (px, rtt), forward in product(NUMBERS, ((16064, 800), (8064, 200)), LOSS)
    )


# Section 4.6: corner cases.


def small_px_over_terminates(run: Quantities) -> Truth:
    """px = 2064, an eighth of what the rule asks for 800 ms, over-terminates CBR, for both numbers
    of flows."""
    return all_of(_over_terminates(run, flows, 2064, 800) for flows in NUMBERS)


def synchronised_marking_slower(run: Quantities) -> Truth:
    """CBR settles later with px = 2000, ten packets, than with 2064, at 50 ms, and still within
    10 % of SR, for both numbers of flows."""
    return all_of(
        surely_greater(*(_voice(run, "to100_s", flows, "cbr", px, 50) for px in (2000, 2064)))
        & _good(_voice(run, "tail_ratio", flows, "cbr", 2000, 50))
        for flows in NUMBERS
    )


# Section 4.7: video.


def video_terminates(run: Quantities) -> Truth:
    """The load left is at most 110 % of SR at every size, RTT and combination."""
    return all_of(
        surely_at_most(_video(run, "tail_ratio", *setting), 1.0 + CLOSE)
        for setting in product(VIDEOS, BUCKETS, RTTS)
    )


def video_combinations_alike(run: Quantities) -> Truth:
    """The load left is similar with any two of the combinations, at every size and RTT."""
    return all_of(
        _alike([_video(run, "tail_ratio", video, bucket, rtt) for bucket in BUCKETS])
        for video, rtt in product(VIDEOS, RTTS)
    )


def video_most_stable(run: Quantities) -> Truth:
    """The load left varies least with 400 and 200 kB, at most sizes and RTTs ("seemingly")."""
    return most_of(
        all_of(surely_at_most(best, other) for other in others)
        for video, rtt in product(VIDEOS, RTTS)
        for best, *others in [[_video(run, "tail_spread_ratio", video, b, rtt) for b in BUCKETS]]
    )


def video_more_consistent(run: Quantities) -> Truth:
    """The share of the excess terminated is nearer to 1 with 400 and 200 kB than with 250 and
    50 kB, at most sizes and RTTs: the sentence is about the over- and under-preemption error."""
    return most_of(
        surely_less(*(_distance(_video(run, _TERMINATED, video, b, rtt), 1.0) for b in pair))
        for video, rtt in product(VIDEOS, RTTS)
        for pair in [(BUCKETS[0], BUCKETS[-1])]
    )


_TERMINATED = "excess_terminated_ratio"

Setting = tuple[str, str, int, int]
"""Of voice: the number of flows, the traffic, px in bytes and the RTT in ms."""


def _settings(
    numbers: Sequence[str] = NUMBERS, kinds: Sequence[str] = TRAFFIC
) -> Iterator[tuple[str, str, int]]:
    for flows, kind in product(numbers, kinds):
        yield from ((flows, kind, px) for px in PX[flows])


def _rule_settings(
    numbers: Sequence[str] = NUMBERS, kinds: Sequence[str] = TRAFFIC
) -> Iterator[Setting]:
    for flows, kind, px in _settings(numbers, kinds):
        yield from ((flows, kind, px, rtt) for rtt in RULE_RTT[px])


def _loss_settings() -> Iterator[tuple[Setting, int]]:
    for flows, kind, forward in product(NUMBERS, TRAFFIC, LOSS):
        yield from (((flows, kind, 8064, rtt), forward) for rtt in LOSS_RTTS[flows])


def _over_terminates(
    run: Quantities, flows: str, px: int, rtt: int, forward: int = NO_LOSS
) -> Truth:
    return surely_less(_voice(run, "low_ratio", flows, "cbr", px, rtt, forward), REACHED)


POINT = {
    "single": ("sr_mbps", "traffic", "s_bytes", "rtt_ms", "load_pct"),
    "row": ("sr_mbps", "traffic", "preferential", "s_bytes", "nodes"),
    "parking": ("sr_mbps", "traffic", "preferential", "s_bytes"),
    "admission": ("test", "size", "media_delay_s"),
    "voice": ("flows", "traffic", "px_bytes", "rtt_ms", "forward_pct"),
    "video": ("video", "tb_kb", "px_kb", "rtt_ms"),
}
"""The parameters of each family of grid points, in the order in which the readers below have
them."""


def _value(run: Quantities, name: str, family: str, *values: Parameter) -> Bounds:
    return run.value(name, family=family, **dict(zip(POINT[family], values, strict=True)))


def _single(
    run: Quantities, name: str, rate: float, kind: str, s: int = 1064, rtt: int = 50
) -> Bounds:
    return _value(run, name, "single", rate, kind, s, rtt, 200)


def _tail(run: Quantities, rate: float, kind: str, s: int = 1064, rtt: int = 50) -> Bounds:
    """The mean load left as a fraction of SR."""
    return (1.0 / (rate * MBPS)) * _single(run, "tail_mean_bps", rate, kind, s, rtt)


def _row(
    run: Quantities,
    rate: float,
    kind: str,
    preferential: bool = True,
    s: int = 1064,
    nodes: int = 3,
) -> Bounds:
    """How far the load left is above SR, as a fraction of it."""
    return _value(run, "tail_delta_ratio", "row", rate, kind, preferential, s, nodes)


def _below(
    run: Quantities,
    rate: float,
    kind: str,
    preferential: bool = True,
    s: int = 1064,
    nodes: int = 3,
) -> Bounds:
    """Under-utilisation: how far the load left is below SR, 0 if it is not."""
    return (-1.0 * _row(run, rate, kind, preferential, s, nodes)).clamped(0.0)


def _parking(
    run: Quantities, name: str, rate: float, kind: str, preferential: bool = True
) -> Bounds:
    return _value(run, name, "parking", rate, kind, preferential, 1064)


def _link(run: Quantities, link: str, rate: float, kind: str, preferential: bool = True) -> Bounds:
    return _parking(run, f"{link}_delta_ratio", rate, kind, preferential)


def _admission(run: Quantities, name: str, test: str, size: str, media_delay: int = 10) -> Bounds:
    return _value(run, name, "admission", test, size, media_delay)


def _overshoot(run: Quantities, size: str, media_delay: int = 10) -> Bounds:
    return _admission(run, "overshoot_ratio", "overload", size, media_delay)


def _error(run: Quantities, name: str, test: str, size: str) -> Bounds:
    """How far a quantity is from the theoretical one."""
    theory = _admission(run, f"theory_{name}", test, size)
    return _distance(_admission(run, name, test, size), theory)


def _rate_expected(run: Quantities, test: str, size: str) -> Truth:
    theory = _admission(run, "theory_data_bps", test, size)
    error = _error(run, "data_bps", test, size)
    return surely_at_most(error, CLOSE * theory)


def _voice(
    run: Quantities, name: str, flows: str, kind: str, px: int, rtt: int, forward: int = NO_LOSS
) -> Bounds:
    return _value(run, name, "voice", flows, kind, px, rtt, forward)


def _video(run: Quantities, name: str, video: str, bucket: tuple[int, int], rtt: int) -> Bounds:
    return _value(run, name, "video", video, *bucket, rtt)


def _good(load: Bounds) -> Truth:
    return surely_within(load, 1.0 - CLOSE, 1.0 + CLOSE)


def _distance(first: Bounds, second: Bounds | float) -> Bounds:
    """|first - second|."""
    difference = first - second
    return Bounds(max(difference.low, -difference.high, 0.0), max(difference.high, -difference.low))


def _near(first: Bounds, second: Bounds, limit: float) -> Truth:
    return surely_at_most(_distance(first, second), limit)


def _alike(values: Sequence[Bounds]) -> Truth:
    """No two of the values differ by more than 10 % of the smaller."""
    return all_of(
        surely_at_most(a, (1.0 + CLOSE) * b) & surely_at_most(b, (1.0 + CLOSE) * a)
        for a, b in combinations(values, 2)
    )
