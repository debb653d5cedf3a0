"""Three-state PCN marking (draft-babiarz-pcn-explicit-marking-02): seven families of simulations.

A grid point names its `family` and that family's parameters:

- `single` (3.1.1): sr_mbps, traffic (cbr, mix), s_bytes, load_pct, rtt_ms; and, where a sentence
  asks for it, bucket_kb (of the SR-meter) or rtts = "random";
- `row` (3.1.2.1): sr_mbps, traffic (cbr, vbr), preferential, s_bytes, nodes; or with
  rtts = "random" and reroute = "slow";
- `parking` (3.1.2.2): sr_mbps, traffic, preferential, s_bytes; or with new_per_s_pct, the flows
  that enter each second in per cent of an aggregate's;
- `admission` (3.2): test, size (S, M, L), media_delay_s; or with ar_pct (AR in per cent of the base
  load), ar_kb (the bucket of the AR-meter, half of it the threshold) or batch (flows an arrival);
- `voice` (4.1 to 4.6): flows (large, small), traffic (cbr, vbr, mix), px_bytes, rtt_ms,
  forward_pct;
- `steps` (4.1): those of voice, with the second reroute, the slow one;
- `video` (4.7): video (small, medium, large), tb_kb, px_kb, rtt_ms.
"""

from __future__ import annotations

from forebay.study import Point, Replications, Run
from forebay_studies.pcn import measure, observed
from forebay_studies.pcn.draft import MBPS, VOICE_MBPS
from forebay_studies.pcn.figures import RECORDINGS, figures
from forebay_studies.pcn.network import (
    BASE_FLOWS,
    VIDEO,
    VIDEO_BPS,
    all_on,
    base_bps,
    grid_point,
    links_twice,
    text_form,
)

__all__ = [
    "RECORDINGS",
    "RECORD_RUNS",
    "REPLICATIONS",
    "all_on",
    "figures",
    "grid_point",
    "links_twice",
    "quantities",
    "text_form",
]

RECORD_RUNS = True
"""Every quantity but counts of calls comes from a run's time series."""

COSTS_S = {
    "single": 0.25,
    "row": 0.4,
    "parking": 0.35,
    "voice": 0.7,
    "steps": 1.2,
    "admission": 0.25,
    "video": 1.3,
}
"""Cost of a run of the largest point of each family, weighed by what its claims need."""


DECIDING = 96
"""Number of runs that decide most comparisons of two settings, and, as 40 do, whether a published
number may be one of theirs where they are not normal (`forebay.study.prediction`), as times on a
grid are not."""


def _cap(point: Point) -> int:
    """Runs with few flows cost little, and vary much: more of them. Voice and video have sentences,
    and of numbers the loss only."""
    family = str(point["family"])
    size = {"S": 0.05, "M": 0.25, "L": 1.0, "small": 0.05, "medium": 0.3, "large": 1.0}
    key = point.get("size") or point.get("flows") or point.get("video")
    share = size[str(key)] if key else max(float(point["sr_mbps"]) / 40, 0.05)
    least = {"voice": 64, "steps": 8, "video": 16}.get(family, DECIDING)
    return int(min(max(6 / (COSTS_S[family] * share), least), 120))


REPLICATIONS = Replications(
    first=8,
    cap=_cap,
    quick_first=2,
    quick_cap=lambda point: max(_cap(point) // 10, 3),
    quick_events=2_000_000_000,
    variant=8,
)


def quantities(run: Run, point: Point) -> dict[str, float]:
    """Quantities that the draft prints, from one run; in SI units."""
    match point["family"]:
        case "single":
            return measure.single(run, point) | observed.single(run, point)
        case "row":
            return measure.row(run, point) | observed.row(run, point)
        case "parking":
            return measure.parking(run, point) | observed.parking(run, point)
        case "admission":
            found = measure.admission(run, base_bps(point), "eh") | _theory(point)
            return found | observed.admission(run, point, base_bps(point))
        case "voice":
            return measure.voice(run, VOICE_MBPS[str(point["flows"])] * MBPS)
        case "steps":
            return measure.steps(run, VOICE_MBPS[str(point["flows"])] * MBPS)
        case _:
            return measure.video(run, VIDEO[str(point["video"])][0] * MBPS, VIDEO_BPS)


def _theory(point: Point) -> dict[str, float]:
    """Erlang's blocking, and the offered load: 45 N calls an hour of one minute."""
    flows = BASE_FLOWS[str(point["size"])]
    offered = 0.75 * flows
    return {
        "theory_blocking_ratio": measure.erlang_b(offered, flows),
        "theory_utilization_ratio": offered / flows,
        "theory_data_bps": 0.75 * base_bps(point),
    }
