"""What the thesis's sentences mean in numbers: one predicate per qualitative claim of paper.toml.

Each predicate is given the measured quantities as bounds (see `forebay.study.grades`) and answers
true, false or unknown. The readings below are fixed from the thesis's own words and tables:

- The *beginning* of a phase is its first fifth (10 s of 50 s, 5 s of 25 s); the *steady state* of
  queues, delays, utilisation and drop ratios is the rest. What a flow gets is judged on the second
  half of the phase, because slow flows "took longer time than the others to attain" it (4.1.1).
- A flow *attains* a throughput with at least 98 % of it (what grades call exact), as in the af
  study; 90 % (close) is *very close*; what is *well below* is not very close. Its throughput is
  counted up to the assured one of Table 4.1: the excess that fast flows take is no part of it.
- *Around* a number is within half of it. *Around or below* allows 10 %. *Mostly* is more than half
  of the 1 s samples. *Roughly* 100 % of the link, and *approximately equal*, is within 10 %.
- *Similar* differs by at most 10 % of the smaller; *no bias* is the same between two averages.
- *Greatly*, *resolved*, *extreme*: by a factor of two. *Roughly proportional*: within one.
- A transient is a 1 s sample in the beginning above all of the steady state.
- *Low* of a drop ratio is at most 0.1 %: the thesis calls up to 0.066 % low. Its *norm* is the
  mean.
- *Matched* is within 10 %, *exactly matched* within 2 %.
- *Almost the entire run* is at least 90 % of it.

Sentences on single packets of single runs ("at seconds 1, 15, 29, and 39") are judged on whether
such events occur to the flow they name. Rates are in bit/s, times in seconds.
"""

from __future__ import annotations

from functools import partial

from forebay_studies.redn.gateway import (
    actual_threshold_keeps_throughput,
    actual_threshold_marks_less,
    adaptive_resolves_delay,
    around_middle_in_b,
    averages_mostly_below_middle,
    both_gateways_mark,
    delay_follows_load,
    delay_mostly_short,
    drop_ratio_low,
    drop_ratio_touches_zero,
    flow_delays_alike,
    full_utilization,
    low_points_of_averages_nonzero,
    low_points_of_delay_nonzero,
    middle_threshold_resolves_delay,
    mix_averages_above_middle,
    mix_maximum_stays,
    never_overflows,
    no_synchronisation,
    probability_follows_load,
    redn_around_minimum,
    redn_longest_in_o,
    redn_not_above_minimum,
    reverse_path_clear,
    sc_averages_beyond_maximum,
    sc_colours_ordered,
    sc_delay_long,
    sc_delay_roughly_fixed,
    sc_only_falls_then_rises,
    sc_probability_falls_at_once,
    sc_probability_falls_in_u,
    sc_probability_rises_in_o,
    sc_slightly_below_maximum,
    static_or_dynamic_adopted,
    transient_at_starts,
    transient_drops_at_starts,
    utilization_drops_at_shutdown,
)
from forebay_studies.redn.readings import (
    ADAPTIVE,
    ADAPTIVE_BOU,
    ADAPTIVE_BOU_ECN,
    ADAPTIVE_ECN,
    DUAL,
    DUAL_BOU,
    DUAL_BOU_ECN,
    DUAL_ECN,
    LONG,
    REDN,
    SELF_CONFIGURING,
    SHORT,
    VERY_CLOSE,
)
from forebay_studies.redn.received import (
    algorithm_correct,
    all_attain,
    architecture_attains_goals,
    conditioning_adds_up,
    conditioning_alike,
    conditioning_exact_without_red,
    conditioning_matched,
    conditioning_never_exceeds,
    distribution_assured,
    drop_of_a_fifth_insufficient,
    fast_exceed,
    fast_marked_most,
    green_marked_rarely,
    increasing_order,
    largely_goodput,
    marked_like_share,
    marks_halve,
    mix_only_1mbps_tcp,
    mix_supposed_to_attain,
    mix_tcp_shares_rest,
    no_retransmission,
    no_share_above_expected,
    no_timeout,
    oversubscribed_shares,
    redn_distribution_fails,
    redn_long_3mbps_fail_in_o,
    redn_long_well_below,
    redn_most_long_miss,
    redn_only_1mbps_of_long,
    replicas_alike,
    routes_without_bias,
    slow_start_premature,
    slow_start_smooth,
    slow_take_longer,
    slow_zigzag,
    timeouts_at_start,
    timeouts_only_at_starts,
    udp_extreme_bias,
    udp_near_sending_rates,
    udp_spans_colours,
    undersubscribed_above_higher,
)

__all__ = [
    "actual_threshold_keeps_throughput",
    "actual_threshold_marks_less",
    "adaptive_all_attain",
    "adaptive_averages_moderate",
    "adaptive_baseline_attain",
    "adaptive_delay_short",
    "adaptive_distribution",
    "adaptive_drops_touch_zero",
    "adaptive_never_overflows",
    "adaptive_no_synchronisation",
    "adaptive_probability_follows",
    "adaptive_resolves_delay",
    "adaptive_shutdown",
    "adaptive_static_or_dynamic",
    "adaptive_transient",
    "adaptive_transient_drops",
    "algorithm_correct",
    "architecture_attains_goals",
    "around_middle_in_b",
    "bou_averages_moderate",
    "bou_delay_short",
    "bou_distribution",
    "bou_drops_touch_zero",
    "bou_ecn_averages_moderate",
    "bou_ecn_delay_short",
    "bou_ecn_distribution",
    "bou_ecn_full_utilization",
    "bou_full_utilization",
    "bou_never_overflows",
    "conditioning_adds_up",
    "conditioning_exact_without_red",
    "conditioning_matched",
    "conditioning_never_exceeds",
    "delay_follows_load",
    "drop_of_a_fifth_insufficient",
    "drop_ratio_low",
    "dual_all_but_one_attain",
    "dual_attains_goals",
    "dual_averages_moderate",
    "dual_both_gateways_mark",
    "dual_bou_averages_moderate",
    "dual_bou_delay_short",
    "dual_bou_distribution",
    "dual_bou_drops_touch_zero",
    "dual_bou_ecn_averages_moderate",
    "dual_bou_ecn_delay_short",
    "dual_bou_ecn_distribution",
    "dual_bou_ecn_full_utilization",
    "dual_bou_full_utilization",
    "dual_bou_never_overflows",
    "dual_delay_short",
    "dual_distribution",
    "dual_drops_touch_zero",
    "dual_ecn_averages_moderate",
    "dual_ecn_delay_short",
    "dual_ecn_distribution",
    "dual_ecn_full_utilization",
    "dual_never_overflows",
    "dual_no_synchronisation",
    "dual_others_attain_goals",
    "dual_second_attain",
    "dual_shutdown",
    "dual_static_or_dynamic",
    "dual_transient",
    "dual_transient_drops",
    "ecn_averages_moderate",
    "ecn_delay_short",
    "ecn_distribution",
    "ecn_full_utilization",
    "ecn_no_retransmission",
    "ecn_no_timeout",
    "fast_exceed",
    "fast_marked_most",
    "flow_delays_alike",
    "green_marked_rarely",
    "increasing_order",
    "largely_goodput",
    "low_points_of_averages_nonzero",
    "low_points_of_delay_nonzero",
    "marked_like_share",
    "marks_halve",
    "middle_threshold_resolves_delay",
    "mix_averages_above_middle",
    "mix_maximum_stays",
    "mix_only_1mbps_tcp",
    "mix_supposed_to_attain",
    "mix_tcp_shares_rest",
    "no_share_above_expected",
    "oversubscribed_shares",
    "redn_around_minimum",
    "redn_distribution_fails",
    "redn_long_1mbps_attain",
    "redn_long_3mbps_fail_in_o",
    "redn_long_well_below",
    "redn_longest_in_o",
    "redn_most_long_miss",
    "redn_not_above_minimum",
    "redn_only_1mbps_of_long",
    "redn_short_attain",
    "replicas_alike",
    "reverse_path_clear",
    "routes_without_bias",
    "sc_all_very_close",
    "sc_averages_beyond_maximum",
    "sc_colours_ordered",
    "sc_delay_long",
    "sc_delay_roughly_fixed",
    "sc_only_falls_then_rises",
    "sc_probability_falls_at_once",
    "sc_probability_falls_in_u",
    "sc_probability_rises_in_o",
    "sc_slightly_below_maximum",
    "single_attains_goals",
    "single_conditioning_alike",
    "single_others_attain_goals",
    "slow_start_premature",
    "slow_start_smooth",
    "slow_take_longer",
    "slow_zigzag",
    "timeouts_at_start",
    "timeouts_only_at_starts",
    "udp_extreme_bias",
    "udp_near_sending_rates",
    "udp_spans_colours",
    "undersubscribed_above_higher",
]

redn_short_attain = partial(all_attain, setting=REDN, rtts=SHORT)
redn_long_1mbps_attain = partial(all_attain, setting=REDN, rtts=LONG, rates=(1,))
sc_all_very_close = partial(all_attain, setting=SELF_CONFIGURING, share=VERY_CLOSE)
adaptive_all_attain = partial(all_attain, setting=ADAPTIVE)
adaptive_baseline_attain = partial(all_attain, setting=ADAPTIVE, phases=("b",))
dual_all_but_one_attain = partial(all_attain, setting=DUAL, route="two_", but=1)
dual_second_attain = partial(all_attain, setting=DUAL, route="one_")
adaptive_distribution = partial(distribution_assured, setting=ADAPTIVE)
ecn_distribution = partial(distribution_assured, setting=ADAPTIVE_ECN)
bou_distribution = partial(distribution_assured, setting=ADAPTIVE_BOU)
bou_ecn_distribution = partial(distribution_assured, setting=ADAPTIVE_BOU_ECN)
dual_distribution = partial(distribution_assured, setting=DUAL)
dual_ecn_distribution = partial(distribution_assured, setting=DUAL_ECN)
dual_bou_distribution = partial(distribution_assured, setting=DUAL_BOU)
dual_bou_ecn_distribution = partial(distribution_assured, setting=DUAL_BOU_ECN)
ecn_no_retransmission = partial(no_retransmission, setting=ADAPTIVE_ECN)
ecn_no_timeout = partial(no_timeout, setting=ADAPTIVE_ECN)
single_conditioning_alike = partial(conditioning_alike, setting=ADAPTIVE)
single_attains_goals = partial(architecture_attains_goals, settings=(ADAPTIVE,))
single_others_attain_goals = partial(
    architecture_attains_goals, settings=(ADAPTIVE_ECN, ADAPTIVE_BOU, ADAPTIVE_BOU_ECN)
)
dual_attains_goals = partial(architecture_attains_goals, settings=(DUAL,))
dual_others_attain_goals = partial(
    architecture_attains_goals, settings=(DUAL_ECN, DUAL_BOU, DUAL_BOU_ECN)
)


# Predicates of gateways, by run.

adaptive_delay_short = partial(delay_mostly_short, setting=ADAPTIVE)
ecn_delay_short = partial(delay_mostly_short, setting=ADAPTIVE_ECN)
bou_delay_short = partial(delay_mostly_short, setting=ADAPTIVE_BOU)
bou_ecn_delay_short = partial(delay_mostly_short, setting=ADAPTIVE_BOU_ECN)
dual_delay_short = partial(delay_mostly_short, setting=DUAL)
dual_ecn_delay_short = partial(delay_mostly_short, setting=DUAL_ECN)
dual_bou_delay_short = partial(delay_mostly_short, setting=DUAL_BOU)
dual_bou_ecn_delay_short = partial(delay_mostly_short, setting=DUAL_BOU_ECN)
adaptive_averages_moderate = partial(averages_mostly_below_middle, setting=ADAPTIVE)
ecn_averages_moderate = partial(averages_mostly_below_middle, setting=ADAPTIVE_ECN)
bou_averages_moderate = partial(averages_mostly_below_middle, setting=ADAPTIVE_BOU)
bou_ecn_averages_moderate = partial(averages_mostly_below_middle, setting=ADAPTIVE_BOU_ECN)
dual_averages_moderate = partial(averages_mostly_below_middle, setting=DUAL)
dual_ecn_averages_moderate = partial(averages_mostly_below_middle, setting=DUAL_ECN)
dual_bou_averages_moderate = partial(averages_mostly_below_middle, setting=DUAL_BOU)
dual_bou_ecn_averages_moderate = partial(averages_mostly_below_middle, setting=DUAL_BOU_ECN)
ecn_full_utilization = partial(full_utilization, setting=ADAPTIVE_ECN)
bou_full_utilization = partial(full_utilization, setting=ADAPTIVE_BOU)
bou_ecn_full_utilization = partial(full_utilization, setting=ADAPTIVE_BOU_ECN)
dual_ecn_full_utilization = partial(full_utilization, setting=DUAL_ECN)
dual_bou_full_utilization = partial(full_utilization, setting=DUAL_BOU)
dual_bou_ecn_full_utilization = partial(full_utilization, setting=DUAL_BOU_ECN)
adaptive_shutdown = partial(utilization_drops_at_shutdown, setting=ADAPTIVE)
dual_shutdown = partial(utilization_drops_at_shutdown, setting=DUAL)
adaptive_no_synchronisation = partial(no_synchronisation, setting=ADAPTIVE)
dual_no_synchronisation = partial(no_synchronisation, setting=DUAL)
adaptive_transient = partial(transient_at_starts, setting=ADAPTIVE)
dual_transient = partial(transient_at_starts, setting=DUAL)
adaptive_transient_drops = partial(transient_drops_at_starts, setting=ADAPTIVE)
dual_transient_drops = partial(transient_drops_at_starts, setting=DUAL)
adaptive_drops_touch_zero = partial(drop_ratio_touches_zero, setting=ADAPTIVE)
dual_drops_touch_zero = partial(drop_ratio_touches_zero, setting=DUAL)
bou_drops_touch_zero = partial(drop_ratio_touches_zero, setting=ADAPTIVE_BOU)
dual_bou_drops_touch_zero = partial(drop_ratio_touches_zero, setting=DUAL_BOU)
adaptive_never_overflows = partial(never_overflows, setting=ADAPTIVE)
dual_never_overflows = partial(never_overflows, setting=DUAL)
bou_never_overflows = partial(never_overflows, setting=ADAPTIVE_BOU)
dual_bou_never_overflows = partial(never_overflows, setting=DUAL_BOU)
adaptive_static_or_dynamic = partial(static_or_dynamic_adopted, setting=ADAPTIVE)
dual_static_or_dynamic = partial(static_or_dynamic_adopted, setting=DUAL)
adaptive_probability_follows = partial(probability_follows_load, setting=ADAPTIVE)
dual_both_gateways_mark = partial(both_gateways_mark, setting=DUAL)
