"""Predicates of the draft's section 4, the simulations prior to the 69th IETF meeting.

The readings are those of `section3.py`.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product

from forebay.study.grades import (
    CLOSE,
    Quantities,
    Truth,
    all_of,
    any_of,
    most_of,
    surely_at_most,
    surely_greater,
    surely_less,
)
from forebay_studies.pcn.criteria import (
    AFTER_EACH,
    BUCKETS,
    LOSS,
    MUCH,
    NUMBERS,
    PX,
    RTTS,
    RULE_800,
    RULE_RTT,
    TERMINATED,
    TRAFFIC,
    VIDEO_RULE_KB,
    VIDEOS,
    alike,
    distance,
    good,
    loss_settings,
    over_terminates,
    rule_settings,
    settings,
    steps_at,
    video_at,
    voice_at,
)
from forebay_studies.pcn.draft import NO_LOSS
from forebay_studies.pcn.measure import AGAIN_S, SURGE_S

# Sections 4.2 to 4.5: voice. The draft makes each observation of both numbers of flows.


def shorter_rtt_faster(run: Quantities) -> Truth:
    """CBR and VBR settle earlier the shorter the RTT, at every RTT at which px follows the rule:
    two of 4064 and 8064 bytes, all three of 16064."""
    return all_of(
        surely_less(*(voice_at(run, "to105_s", flows, kind, px, rtt) for rtt in pair))
        for flows, kind in product(NUMBERS, TRAFFIC)
        for px in {*PX[flows], RULE_800}
        for pair in pairwise(RULE_RTT[px])
    )


def shorter_rtt_faster_by(run: Quantities, time: str) -> Truth:
    """A time is less the shorter the RTT, CBR and VBR, at every px and RTT that section 4 lists."""
    return all_of(
        surely_less(*(voice_at(run, time, flows, kind, px, rtt) for rtt in pair))
        for flows, kind, px in settings()
        for pair in pairwise(RTTS)
    )


shorter_rtt_faster_everywhere = partial(shorter_rtt_faster_by, time="to105_s")
shorter_rtt_halves_faster = partial(shorter_rtt_faster_by, time="half_s")


def smaller_px_faster(run: Quantities) -> Truth:
    """CBR and VBR settle earlier the smaller px, at every RTT simulated."""
    return all_of(
        surely_less(*(voice_at(run, "to105_s", flows, kind, px, rtt) for px in pair))
        for flows, kind, rtt in product(NUMBERS, TRAFFIC, RTTS)
        for pair in pairwise(PX[flows])
    )


def marking_slows_and_stable(run: Quantities) -> Truth:
    """Packets are marked more often until half of the excess is gone than from then until 5 % of SR
    are left, and the load left is within 10 % of SR, for CBR and VBR where px follows the rule."""
    return all_of(
        surely_greater(voice_at(run, "marks_per_s_slowing_ratio", *setting), 1.0)
        & good(voice_at(run, "tail_ratio", *setting))
        for setting in rule_settings()
    )


def cbr_faster(run: Quantities) -> Truth:
    """CBR settles earlier than VBR, at every px and RTT simulated."""
    return all_of(
        surely_less(*(voice_at(run, "to105_s", flows, kind, px, rtt) for kind in TRAFFIC))
        for flows, px in ((flows, px) for flows in NUMBERS for px in PX[flows])
        for rtt in RTTS
    )


def vbr_peak_rounded(run: Quantities) -> Truth:
    """With VBR the number of active flows, those that have sent a packet, peaks later after the
    reroute than with CBR, at px = 8064, where termination cuts the peak least, and every RTT."""
    return all_of(
        surely_less(*(voice_at(run, "rise_s", flows, kind, 8064, rtt) for kind in TRAFFIC))
        for flows, rtt in product(NUMBERS, RTTS)
    )


def high_rate_marked_more(run: Quantities) -> Truth:
    """Of the mix a larger share of the 144 kbit/s flows than of the G.729 flows is terminated, and
    more flows are active after the failure than before, where px follows the rule."""
    return all_of(
        surely_greater(voice_at(run, more, *setting), voice_at(run, less, *setting))
        for setting in rule_settings(kinds=("mix",))
        for more, less in (
            ("high_rate_terminated_ratio", "low_rate_terminated_ratio"),
            ("after_flows_count", "before_flows_count"),
        )
    )


def numbers_alike(run: Quantities) -> Truth:
    """The load left is similar for small and large numbers of flows, CBR and VBR, at the px and
    RTT simulated for both."""
    return all_of(
        alike([voice_at(run, "tail_ratio", flows, kind, px, rtt) for flows in PX])
        for kind, px, rtt in product(TRAFFIC, PX["small"], RTTS)
    )


def loss_slows(run: Quantities) -> Truth:
    """CBR and VBR settle later with packet loss than without, and what is left is similar, at
    every setting but CBR at 800 ms for the latter: its over-termination is told separately."""
    later = all_of(
        surely_greater(
            voice_at(run, "to105_s", *setting, forward), voice_at(run, "to105_s", *setting)
        )
        for setting, forward in loss_settings()
    )
    similar = all_of(
        alike([voice_at(run, "tail_ratio", *setting, rate) for rate in (forward, NO_LOSS)])
        for setting, forward in loss_settings()
        if setting[1:] != ("cbr", 8064, 800)
    )
    return later & similar


def loss_over_terminates(run: Quantities) -> Truth:
    """CBR is over-terminated with px = 8064 at 800 ms, at one of the forwarding rates ("can")."""
    return all_of(
        any_of(over_terminates(run, flows, 8064, 800, forward) for forward in LOSS)
        for flows in NUMBERS
    )


def loss_over_termination_removed(run: Quantities) -> Truth:
    """CBR is not over-terminated with px = 16064 at 800 ms nor with 8064 at 200 ms, at both
    forwarding rates."""
    return all_of(
        ~over_terminates(run, flows, px, rtt, forward)
        for flows, (px, rtt), forward in product(NUMBERS, ((16064, 800), (8064, 200)), LOSS)
    )


def restored_whenever_in_excess(run: Quantities) -> Truth:
    """After the sudden reroute of section 4.1, and after the slow one, the load returns to within
    5 % of SR and is at most 110 % of it in the 12 s before the next and before the end, at every px
    and RTT simulated, CBR and VBR: packets are marked and flows terminated until the excess is
    gone."""
    return all_of(
        surely_less(steps_at(run, settling, flows, kind, px, rtt), longest)
        & surely_at_most(steps_at(run, left, flows, kind, px, rtt), 1.0 + CLOSE)
        for flows, kind, px in settings()
        for rtt in RTTS
        for settling, left, longest in (
            ("settling_s", "between_ratio", AGAIN_S["steps"] - SURGE_S["voice"]),
            ("again_settling_s", "left_ratio", AGAIN_S["steps"]),
        )
    )


def slow_reroute_lower_peak(run: Quantities) -> Truth:
    """The largest load over a second is less in the slow reroute than in the sudden one, where px
    follows the rule: the slow one is already being terminated while it comes."""
    return all_of(
        surely_less(
            steps_at(run, "again_peak_ratio", *setting), steps_at(run, "peak_ratio", *setting)
        )
        for setting in rule_settings()
    )


# Section 4.6: corner cases.


def over_termination_noticeable_cbr(run: Quantities) -> Truth:
    """With px = 2064 at 800 ms, an eighth of what the rule asks for, what CBR misses to SR is more
    than the load swings by, as a mean over 1 s, in the last 12 s, for both numbers of flows:
    anyone sees it who looks at the load."""
    return all_of(
        surely_greater(
            1.0 - voice_at(run, "tail_ratio", flows, "cbr", 2064, 800),
            voice_at(run, "swing_ratio", flows, "cbr", 2064, 800),
        )
        for flows in NUMBERS
    )


def twice_px_takes_too_long(run: Quantities) -> Truth:
    """At 200 ms, for which 4064 bytes are enough, CBR settles at least half as late again with
    px = 8064, for both numbers of flows: px "2x bigger then needed"."""
    return all_of(
        surely_greater(
            voice_at(run, "to105_s", flows, "cbr", 8064, 200),
            (1.0 + MUCH) * voice_at(run, "to105_s", flows, "cbr", 4064, 200),
        )
        for flows in NUMBERS
    )


def small_px_over_terminates(run: Quantities) -> Truth:
    """px = 2064, an eighth of what the rule asks for 800 ms, over-terminates CBR, for both numbers
    of flows."""
    return all_of(over_terminates(run, flows, 2064, 800) for flows in NUMBERS)


def synchronised_marking_slower(run: Quantities) -> Truth:
    """CBR settles later with px = 2000, ten packets, than with 2064, at 50 ms, and still within
    10 % of SR, for both numbers of flows."""
    return all_of(
        surely_greater(*(voice_at(run, "to105_s", flows, "cbr", px, 50) for px in (2000, 2064)))
        & good(voice_at(run, "tail_ratio", flows, "cbr", 2000, 50))
        for flows in NUMBERS
    )


# Section 4.7: video.


def video_terminates(run: Quantities) -> Truth:
    """The load left is at most 110 % of SR at every size, RTT and combination, after the reroute
    at 3 s and after that at 24 s."""
    return all_of(
        surely_at_most(video_at(run, left, *setting), 1.0 + CLOSE)
        for setting in product(VIDEOS, BUCKETS, RTTS)
        for left in AFTER_EACH["tail_ratio"]
    )


def video_like_voice(run: Quantities) -> Truth:
    """The first observation of sections 4.2 and 4.3: the load is down at 110 % of SR earlier the
    shorter the RTT, with the RTTs at which px follows the rule (50 kB for 800 ms is too small), and
    earlier with px of 100 kB than of 200 kB, after both reroutes, at most sizes."""
    shorter = (
        surely_less(*(video_at(run, time, video, bucket, rtt) for rtt in pair))
        for video, bucket in product(VIDEOS, BUCKETS)
        for pair in pairwise(RTTS if bucket[1] >= VIDEO_RULE_KB else RTTS[:2])
        for time in AFTER_EACH["to110_s"]
    )
    smaller = (
        surely_less(
            *(video_at(run, time, video, bucket, rtt) for bucket in (BUCKETS[1], BUCKETS[0]))
        )
        for video, rtt in product(VIDEOS, RTTS)
        for time in AFTER_EACH["to110_s"]
    )
    return most_of(shorter) & most_of(smaller)


def video_second_like_first(run: Quantities) -> Truth:
    """The load left after the reroute at 24 s is similar to that left after the one at 3 s, at
    every size, RTT and combination."""
    return all_of(
        alike([video_at(run, left, *setting) for left in AFTER_EACH["tail_ratio"]])
        for setting in product(VIDEOS, BUCKETS, RTTS)
    )


def video_error_hard_to_measure(run: Quantities) -> Truth:
    """The load varies by more, as means over 1 s, than its mean is off SR, after both reroutes, at
    most sizes, RTTs and combinations."""
    return most_of(
        surely_greater(
            video_at(run, spread, *setting), distance(video_at(run, left, *setting), 1.0)
        )
        for setting in product(VIDEOS, BUCKETS, RTTS)
        for left, spread in zip(
            AFTER_EACH["tail_ratio"], AFTER_EACH["tail_spread_ratio"], strict=True
        )
    )


def video_combinations_alike(run: Quantities) -> Truth:
    """The load left is similar with any two of the combinations, at every size and RTT, after both
    reroutes."""
    return all_of(
        alike([video_at(run, left, video, bucket, rtt) for bucket in BUCKETS])
        for video, rtt in product(VIDEOS, RTTS)
        for left in AFTER_EACH["tail_ratio"]
    )


def video_most_stable(run: Quantities) -> Truth:
    """The load left varies least with 400 and 200 kB, at most sizes and RTTs, after both reroutes
    ("seemingly")."""
    return most_of(
        all_of(surely_at_most(best, other) for other in others)
        for video, rtt in product(VIDEOS, RTTS)
        for spread in AFTER_EACH["tail_spread_ratio"]
        for best, *others in [[video_at(run, spread, video, b, rtt) for b in BUCKETS]]
    )


def video_more_consistent(run: Quantities) -> Truth:
    """The share of the excess terminated is nearer to 1 with 400 and 200 kB than with 250 and
    50 kB, at most sizes and RTTs, after both reroutes: the sentence is about the over- and
    under-preemption error."""
    return most_of(
        surely_less(*(distance(video_at(run, share, video, b, rtt), 1.0) for b in pair))
        for video, rtt in product(VIDEOS, RTTS)
        for share in AFTER_EACH[TERMINATED]
        for pair in [(BUCKETS[0], BUCKETS[-1])]
    )
