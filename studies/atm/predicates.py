"""What the thesis's sentences mean in numbers: one predicate per qualitative claim of paper.toml.

Each predicate is given the measured quantities as bounds (see `forebay.study.grades`) and answers
true, false or unknown. The readings below are fixed from the thesis's own words and graphs:

- *Overloaded* numbers of sources are those whose unconstrained traffic exceeds the capacity: from
  96, 25 and 57 on (chapter 8). They are also the *higher loads*. A sentence that compares two
  curves is judged at each of them, because below there is nothing to control; one that compares
  file times, where the text does: with 29 and with 113 sources.
- The thesis finds a cell loss ratio of 10^-4 not acceptable and calls 1.5 % of late cells a
  violation. *Near zero* is a tenth of these, *zero* a fiftieth: what grades call close and exact,
  of these full scales. The requirement is satisfied with near zero of both. The thesis saw three
  runs of each number of sources (section 7.4). That Case 2 loses near nothing is judged as what
  three runs may show: true of a share of runs of which three all lose near nothing with a
  probability of 2.5 % or more. (The mean loss of data in the mixture is that of few runs.) That
  another case does lose is judged by the mean.
- *On the order of 10^-4* is from 10^-4.5 up to, not including, 10^-3: the axis of Figure 29, of
  which it is said, ends at 0.08 %.
- Loads and throughput are percentages of the link capacity, and "10 % higher" is 10 points of it,
  in the mean over the overloaded numbers. *Approximately* is within half; *around* a load or a
  throughput within 10 %.
- *Clearly* superior is by a factor of two in losses and late cells, by 10 % in throughput;
  *considerably* more slowed is at most half the rate; *significantly lower* is by 10 %.
- A curve *increases* if each third of it is higher than the one before. *Fairly constant* is within
  10 points: what section 8.1 says of 70 to 80 %.
- How much a kind of traffic is *slowed* shows in its rate over its nominal rate, averaged over its
  sessions (slow start is part of them, in all cases).

Rates are in bit/s, times in seconds.
"""

from __future__ import annotations

from forebay_studies.atm.data import (
    data_case1_file_time_slightly_above,
    data_case1_loss_grows,
    data_case2_best_given_loss,
    data_case2_file_time_grows,
    data_case2_load_constant,
    data_case3_files_faster,
    data_case3_load_10_higher,
    data_case3_loss_order,
    data_case3_superior_to_case1,
    data_case3_throughput_10_higher,
    data_only_case2_satisfies,
    data_overload_from_25,
    data_slowed_before_discard,
    larger_data_queue_slight_delay,
    longer_queues_delay_more_and_lose_less,
)
from forebay_studies.atm.mixture import (
    data_slowed_first,
    low_priority_harmless,
    mix_all_slowed,
    mix_case2_best_given_loss,
    mix_case2_file_time_grows,
    mix_case2_input_around_90,
    mix_case2_load_levels_off,
    mix_case2_no_data_loss,
    mix_case2_no_loss_and_faster,
    mix_case2_throughput_superior,
    mix_case3_file_time_grows,
    mix_case3_files_slower,
    mix_case3_load_10_higher,
    mix_case3_loss_order,
    mix_case3_utilisation_higher,
    mix_data_harmless,
    mix_data_slowed_more,
    mix_deterioration_by_discards,
    mix_jitter_only_case2,
    mix_only_case2_satisfies,
    mix_others_lose,
    mix_overload_from_57,
    mix_realtime_slowed_more_in_case2,
    mix_slowed_before_discard,
    mix_throughput_sometimes_higher,
    priorities_help,
    realtime_share,
)
from forebay_studies.atm.realtime import (
    realtime_case1_fails,
    realtime_case1_late_grows,
    realtime_case1_loss_grows,
    realtime_case1_seeds_differ,
    realtime_case2_load,
    realtime_case3_fails,
    realtime_case3_load_10_higher,
    realtime_case3_load_between,
    realtime_case3_loss_order,
    realtime_case3_overflows,
    realtime_case3_slowed_less,
    realtime_case3_superior_to_case1,
    realtime_case3_utilisation_higher,
    realtime_case3_worse_than_case2,
    realtime_controlled_below_capacity,
    realtime_keeps_half,
    realtime_occasionally_at_half,
    realtime_only_case2_satisfies,
    realtime_overload_from_96,
    realtime_slowed_before_discard,
    voice_and_video_slowed,
)
from forebay_studies.atm.whole import (
    bucket_queue_breaks_jitter,
    case2_jitter_and_throughput,
    case2_no_loss_everywhere,
    case2_satisfies_everywhere,
    case2_superior_to_case3,
    case3_more_realtime_but_fails,
    control_delay_near_zero,
    higher_loads,
    many_retransmissions_needed,
    notifications_spaced,
    others_fail_everywhere_overloaded,
    user_node_never_drops,
    utilisation_80_to_90,
    utilisation_80_to_90_with_data,
    video_share,
)

__all__ = [
    "bucket_queue_breaks_jitter",
    "case2_jitter_and_throughput",
    "case2_no_loss_everywhere",
    "case2_satisfies_everywhere",
    "case2_superior_to_case3",
    "case3_more_realtime_but_fails",
    "control_delay_near_zero",
    "data_case1_file_time_slightly_above",
    "data_case1_loss_grows",
    "data_case2_best_given_loss",
    "data_case2_file_time_grows",
    "data_case2_load_constant",
    "data_case3_files_faster",
    "data_case3_load_10_higher",
    "data_case3_loss_order",
    "data_case3_superior_to_case1",
    "data_case3_throughput_10_higher",
    "data_only_case2_satisfies",
    "data_overload_from_25",
    "data_slowed_before_discard",
    "data_slowed_first",
    "higher_loads",
    "larger_data_queue_slight_delay",
    "longer_queues_delay_more_and_lose_less",
    "low_priority_harmless",
    "many_retransmissions_needed",
    "mix_all_slowed",
    "mix_case2_best_given_loss",
    "mix_case2_file_time_grows",
    "mix_case2_input_around_90",
    "mix_case2_load_levels_off",
    "mix_case2_no_data_loss",
    "mix_case2_no_loss_and_faster",
    "mix_case2_throughput_superior",
    "mix_case3_file_time_grows",
    "mix_case3_files_slower",
    "mix_case3_load_10_higher",
    "mix_case3_loss_order",
    "mix_case3_utilisation_higher",
    "mix_data_harmless",
    "mix_data_slowed_more",
    "mix_deterioration_by_discards",
    "mix_jitter_only_case2",
    "mix_only_case2_satisfies",
    "mix_others_lose",
    "mix_overload_from_57",
    "mix_realtime_slowed_more_in_case2",
    "mix_slowed_before_discard",
    "mix_throughput_sometimes_higher",
    "notifications_spaced",
    "others_fail_everywhere_overloaded",
    "priorities_help",
    "realtime_case1_fails",
    "realtime_case1_late_grows",
    "realtime_case1_loss_grows",
    "realtime_case1_seeds_differ",
    "realtime_case2_load",
    "realtime_case3_fails",
    "realtime_case3_load_10_higher",
    "realtime_case3_load_between",
    "realtime_case3_loss_order",
    "realtime_case3_overflows",
    "realtime_case3_slowed_less",
    "realtime_case3_superior_to_case1",
    "realtime_case3_utilisation_higher",
    "realtime_case3_worse_than_case2",
    "realtime_controlled_below_capacity",
    "realtime_keeps_half",
    "realtime_occasionally_at_half",
    "realtime_only_case2_satisfies",
    "realtime_overload_from_96",
    "realtime_share",
    "realtime_slowed_before_discard",
    "user_node_never_drops",
    "utilisation_80_to_90",
    "utilisation_80_to_90_with_data",
    "video_share",
    "voice_and_video_slowed",
]
