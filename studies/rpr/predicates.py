"""The slides' sentences in numbers: one predicate per qualitative claim of paper.toml.

Each predicate is given the measured quantities as bounds (see `forebay.study.grades`) and answers
true, false or unknown. The figures that the sentences describe are lost, so every reading is stated
here and was fixed before anything ran:

- *Bandwidth utilization*, *BW efficiency*: what the link behind D carries, over its rate. It is
  *low* where it is not within 10 % of the rate (what grades call close): F alone would fill the
  link in every scenario.
- *Oscillation*: F's throughput in 1 ms samples swings by more than half of the line rate although
  D's traffic has not changed for 2 ms. F always has packets, so nothing but flow control can make
  it do so. *Due to reactive flow control*: without any law it is *steady*, a swing of at most 10 %.
- *A burst causes congestion*: at least 90 % of the onsets of congestion at D fall between the start
  of a burst and the start of the OFF time's second half, and there are such onsets. The sentence
  names the cause, "burst of inserted traffic", with no word for each or every burst. *Each burst*,
  the stricter reading: at least half of the bursts are answered by an onset as well.
- *Triggers a message*: at least 90 % of the onsets are followed by a usage message that is not NULL
  within one decay interval.
- *Panic backoff to a low value even though the burst is gone*: F's allowed rate falls to at most
  10 % of the line in the mean of the cuts, and is below half of the line for longer after D has
  ceased to send than D sent.
- *Slow ramp up*: from its least value the allowed rate takes at least half of the OFF time to reach
  90 % of the line. *Independent of traffic conditions*: that time, corrected for where the ramp
  starts, differs by at most 2 % (exact) between scenarios and lines.
- *55 %*: between 54.5 and 55.5 %, as printed. *As low as* asks that of the lowest run; *reaches*
  that some run lies at or below 55.5 %.
- *Low priority affects high priority*: the longest wait of a high-priority packet at its own host
  is more than two packets' transmission times, and is not so long on a ring without F. *Can*: with
  one of the transit buffers that the slides leave open.
- *The selection matters*: the two mechanisms differ in utilisation by more than 10 % of the smaller
  in a bursty scenario.

Rates are in bit/s, times in seconds, ratios are fractions of the line rate.
"""

from __future__ import annotations

from functools import partial

from forebay.study.grades import (
    CLOSE,
    EXACT,
    Bounds,
    Quantities,
    Truth,
    all_of,
    any_of,
    surely_at_least,
    surely_at_most,
    surely_greater,
    surely_within,
)
from forebay_studies.rpr.criteria import (
    BURSTY,
    FIFTY_FIVE,
    FOLLOWS,
    LINES,
    LOW,
    OC48,
    OFF_S,
    ON_S,
    SETS,
    STEADY,
    SWING,
    WELL,
    Setting,
    at,
    fills,
    gandalf,
    over_distance,
    over_lp_allow,
    over_stations,
    voq,
    waits,
)


def oscillates(run: Quantities, scenario: int) -> Truth:
    """F's throughput swings under SRP-fa at both speeds, and does not without a law."""
    swings = [
        surely_greater(at(run, setting, "settled_swing_ratio"), SWING)
        for setting in gandalf("rfc", (scenario,))
    ]
    steady = [
        surely_at_most(
            at(run, Setting(scenario, line, "none", "rfc"), "settled_swing_ratio"), STEADY
        )
        for line in LINES
    ]
    return all_of(swings) & all_of(steady)


def utilization_low(run: Quantities, buffers: str, scenarios: tuple[int, ...]) -> Truth:
    """The link behind D is not filled in any of the scenarios."""
    return all_of(~fills(run, setting) for setting in gandalf(buffers, scenarios))


def burst_congests(run: Quantities, buffers: str) -> Truth:
    """Congestion at D begins with bursts, and with nothing else."""
    return all_of(
        surely_at_least(at(run, setting, "congested_in_burst_ratio"), WELL)
        & surely_greater(at(run, setting, "bursts_congesting_ratio"), 0.0)
        for setting in gandalf(buffers, (1,))
    )


def each_burst_congests(run: Quantities, buffers: str) -> Truth:
    """Congestion at D begins with bursts, and most bursts bring it."""
    return burst_congests(run, buffers) & all_of(
        surely_at_least(at(run, setting, "bursts_congesting_ratio"), 0.5)
        for setting in gandalf(buffers, (1,))
    )


def congestion_triggers_message(run: Quantities) -> Truth:
    """Congestion is followed by a usage message that is not NULL."""
    return all_of(
        surely_at_least(at(run, setting, "congestion_answered_ratio"), WELL)
        for buffers in SETS
        for setting in gandalf(buffers, (1,))
    )


def panic_backoff(run: Quantities, buffers: str) -> Truth:
    """F is cut to a low rate, and is still throttled long after the burst has ended."""
    return all_of(
        surely_at_most(at(run, setting, "cut_to_ratio"), LOW)
        & surely_greater(at(run, setting, "throttled_after_burst_s"), ON_S)
        for setting in gandalf(buffers, (1,))
    )


def ramp_independent(run: Quantities) -> Truth:
    """The ramp takes the same time whatever the scenario, the speed and the traffic."""
    times = [at(run, setting, "ramp_90_s") for setting in gandalf("rfc")]
    return all_of(
        surely_at_most(first, (1.0 + EXACT) * second) for first in times for second in times
    )


def ramp_slow(run: Quantities) -> Truth:
    """The ramp takes at least half of the time for which bursts pause."""
    return all_of(
        surely_at_least(at(run, setting, "ramp_90_s"), 0.5 * OFF_S) for setting in gandalf("rfc")
    )


def mechanism_matters(run: Quantities, buffers: str) -> Truth:
    """Utilisation of SRP-fa and VoQ differs by more than 10 % in a bursty scenario."""
    return any_of(
        surely_greater(
            at(run, Setting(scenario, line, "voq", "single"), "utilization_ratio"),
            (1.0 + CLOSE)
            * at(run, Setting(scenario, line, "srp-fa", buffers), "utilization_ratio"),
        )
        for scenario in BURSTY
        for line in LINES
    )


def as_low_as_55(run: Quantities, buffers: str) -> Truth:
    """The lowest utilisation of SRP-fa on the ring of the slides is 55 %."""
    return _lowest_is_55([at(run, s, "utilization_ratio") for s in gandalf(buffers)])


def reaches_55(run: Quantities) -> Truth:
    """A longer way, more stations or a lower threshold bring utilisation down to 55 %."""
    points = [*over_distance(run), *over_stations(run)]
    return any_of(surely_at_most(point, FIFTY_FIVE[1]) for point in points)


def reaches_55_lp_allow(run: Quantities) -> Truth:
    """A larger LP_ALLOW brings utilisation down to 55 % on a short ring."""
    return any_of(surely_at_most(point, FIFTY_FIVE[1]) for point in over_lp_allow(run))


def f_gets_55_of_offered(run: Quantities) -> Truth:
    """The least that F gets of its offered load is 55 %, where every burst triggers."""
    return _lowest_is_55([at(run, s, "f_over_offered_ratio") for s in gandalf("small")])


def low_affects_high(run: Quantities, buffers: str) -> Truth:
    """High priority waits because of F in a scenario that has it, at either speed."""
    return any_of(
        _affected(run, Setting(scenario, line, "srp-fa", buffers))
        for scenario in (3, 4)
        for line in LINES
    )


def low_affects_high_full(run: Quantities) -> Truth:
    """High priority waits because of F where the transit buffer is small enough to fill."""
    return any_of(
        waits(
            run.value(
                "hp_wait_max_s",
                family="full",
                scenario=4,
                line=OC48,
                law="srp-fa",
                fd_us=250,
                full_kb=full,
            ),
            OC48,
        )
        & _calm(run, 4, OC48)
        for full in (64, 128)
    )


def low_affects_high_somewhere(run: Quantities) -> Truth:
    """High priority waits because of F with at least one of the transit buffers left open."""
    return (
        low_affects_high(run, "rfc") | low_affects_high_full(run) | low_affects_high(run, "single")
    )


def pattern_causes_problems(run: Quantities, scenario: int) -> Truth:
    """Utilisation is lost, or high priority waits, with one of the sets of buffers."""
    problems = [
        ~fills(run, setting) for buffers in SETS for setting in gandalf(buffers, (scenario,))
    ]
    if scenario != 1:
        problems += [
            _affected(run, Setting(scenario, line, "srp-fa", buffers))
            for buffers in (*SETS, "single")
            for line in LINES
        ]
    return any_of(problems)


def voq_steady(run: Quantities) -> Truth:
    """F's throughput does not swing under VoQ while D's traffic does not change."""
    return all_of(surely_at_most(at(run, s, "settled_swing_ratio"), STEADY) for s in voq())


def voq_utilization_high(run: Quantities) -> Truth:
    """VoQ fills the link behind D in the bursty scenarios."""
    return all_of(fills(run, setting) for setting in voq(BURSTY))


def voq_recovers(run: Quantities) -> Truth:
    """Under VoQ F has its rate back sooner after a burst than the burst lasted."""
    return all_of(
        surely_at_most(at(run, setting, "throttled_after_burst_s"), ON_S) for setting in voq((1,))
    )


def voq_keeps_high_unaffected(run: Quantities) -> Truth:
    """No high-priority packet waits because of F under VoQ."""
    return all_of(~_affected(run, setting) for setting in voq((3, 4)))


def ramp_follows_formula(run: Quantities) -> Truth:
    """No step of the ramp departs from the formula."""
    return all_of(
        surely_at_most(at(run, setting, "ramp_error_max_ratio"), FOLLOWS)
        & surely_greater(at(run, setting, "ramp_steps_count"), 0.0)
        for setting in gandalf("rfc")
    )


def rcf_follows_formula(run: Quantities) -> Truth:
    """No RCF departs from (link capacity - SUM r) / SUM w of the active sources."""
    return all_of(surely_at_most(at(run, s, "rcf_error_max_ratio"), FOLLOWS) for s in voq())


def allocation_follows_formula(run: Quantities) -> Truth:
    """No allocation departs from r + w times the least RCF of the path."""
    return all_of(surely_at_most(at(run, s, "allocation_error_max_ratio"), FOLLOWS) for s in voq())


def _lowest_is_55(values: list[Bounds]) -> Truth:
    low = Bounds(min(v.low for v in values), min(v.high for v in values))
    return surely_within(low, *FIFTY_FIVE)


def _affected(run: Quantities, setting: Setting) -> Truth:
    wait = waits(at(run, setting, "hp_wait_max_s"), setting.line)
    return wait & _calm(run, setting.scenario, setting.line)


def _calm(run: Quantities, scenario: int, line: str) -> Truth:
    """On a ring without F high priority does not wait."""
    alone = run.value("hp_wait_max_s", family="idle", scenario=scenario, line=line)
    return ~waits(alone, line)


oscillates_s1 = partial(oscillates, scenario=1)
oscillates_s3 = partial(oscillates, scenario=3)
oscillates_s4 = partial(oscillates, scenario=4)
bursty_utilization_low_rfc = partial(utilization_low, buffers="rfc", scenarios=BURSTY)
bursty_utilization_low_small = partial(utilization_low, buffers="small", scenarios=BURSTY)
s1_efficiency_low_rfc = partial(utilization_low, buffers="rfc", scenarios=(1,))
s1_efficiency_low_small = partial(utilization_low, buffers="small", scenarios=(1,))
burst_congests_rfc = partial(burst_congests, buffers="rfc")
burst_congests_small = partial(burst_congests, buffers="small")
each_burst_congests_rfc = partial(each_burst_congests, buffers="rfc")
each_burst_congests_small = partial(each_burst_congests, buffers="small")
panic_backoff_rfc = partial(panic_backoff, buffers="rfc")
panic_backoff_small = partial(panic_backoff, buffers="small")
mechanism_matters_rfc = partial(mechanism_matters, buffers="rfc")
mechanism_matters_small = partial(mechanism_matters, buffers="small")
as_low_as_55_rfc = partial(as_low_as_55, buffers="rfc")
as_low_as_55_small = partial(as_low_as_55, buffers="small")
low_affects_high_rfc = partial(low_affects_high, buffers="rfc")
low_affects_high_single = partial(low_affects_high, buffers="single")
pattern_causes_problems_s1 = partial(pattern_causes_problems, scenario=1)
pattern_causes_problems_s3 = partial(pattern_causes_problems, scenario=3)
pattern_causes_problems_s4 = partial(pattern_causes_problems, scenario=4)
