"""Three-state PCN marking (draft-babiarz-pcn-explicit-marking-02): its six families of simulations.

A grid point names its `family` and that family's parameters:

- `single` (3.1.1): sr_mbps, traffic (cbr, mix), s_bytes, load_pct, rtt_ms;
- `row` (3.1.2.1): sr_mbps, traffic (cbr, vbr), preferential, s_bytes, nodes;
- `parking` (3.1.2.2): sr_mbps, traffic, preferential, s_bytes;
- `admission` (3.2): test, size (S, M, L), media_delay_s;
- `voice` (4.1 to 4.6): flows (large, small), traffic (cbr, vbr, mix), px_bytes, rtt_ms,
  forward_pct;
- `video` (4.7): video (small, medium, large), tb_kb, px_kb, rtt_ms.
"""

from __future__ import annotations

from collections.abc import Callable

from forebay.study.definition import Point, Replications, Run
from forebay_studies.pcn import measure
from forebay_studies.pcn.draft import (
    MBPS,
    NO_LOSS,
    PEAK_BPS,
    VOICE_MBPS,
    codec_bps,
    px_bucket,
    whole,
)
from forebay_studies.pcn.drawings import figures, recordings
from forebay_studies.pcn.sensitivity import VARIANTS

__all__ = [
    "RECORDINGS",
    "RECORD_RUNS",
    "REPLICATIONS",
    "VARIANTS",
    "figures",
    "overrides",
    "quantities",
    "without",
]

RECORD_RUNS = True
"""Every quantity but counts of calls comes from a run's time series."""

COSTS_S = {
    "single": 0.25,
    "row": 0.4,
    "parking": 0.35,
    "voice": 0.7,
    "admission": 0.25,
    "video": 0.7,
}
"""What a run of the largest point of each family costs, weighed by what its claims need."""


DECIDING = 40
"""How many runs decide whether a published number may be one of theirs where they are not normal
(`forebay.study.prediction`), as times on a grid are not."""


def _cap(point: Point) -> int:
    """Runs with few flows cost little, and vary much: more of them. Voice and video have no
    numbers, only sentences."""
    family = str(point["family"])
    size = {"S": 0.05, "M": 0.25, "L": 1.0, "small": 0.05, "medium": 0.3, "large": 1.0}
    key = point.get("size") or point.get("flows") or point.get("video")
    share = size[str(key)] if key else max(float(point["sr_mbps"]) / 40, 0.05)
    least = 8 if family in ("voice", "video") else DECIDING
    return int(min(max(6 / (COSTS_S[family] * share), least), 120))


REPLICATIONS = Replications(
    first=8,
    cap=_cap,
    quick_first=2,
    quick_cap=lambda point: max(_cap(point) // 10, 3),
    quick_events=2_000_000_000,
    variant=8,
)

MEAN_BPS = {"g711_20ms": 31e3, "g711_10ms": 37.2e3, "g729_20ms": 9.3e3}
"""Data rates with silence suppression as section 3.2 prints them."""

CODECS = {
    "cbr": (("g711_20ms", False),),
    "vbr": (("g711_20ms", True),),
    "mix": (("g711_20ms", True), ("g711_10ms", True), ("g729_20ms", True), ("dual_rate", False)),
}
"""Codec and silence suppression of each type of traffic; the mix of section 3.1 (3VBR+CBR)."""

ADMISSION_CODECS = {
    "vbr": CODECS["vbr"],
    "mix": (("g711_20ms", True), ("g711_10ms", True), ("g729_20ms", True)),
}
"""The mix of section 3.2 has three types of flows."""

BASE_FLOWS = {"S": 10, "M": 50, "L": 200}
OVERLOADED = ("overload", "multi", "cross")
OVERSHOOT_S = 10.0
"""Overshoot is the largest load over windows of this length: see deviations.toml."""

ROW_LINK = {0.8: "3 Mbit/s", 4: "100 Mbit/s", 16: "100 Mbit/s", 40: "1 Gbit/s"}
PARKING_LINK = {0.8: "10 Mbit/s", 4: "100 Mbit/s", 16: "1 Gbit/s", 40: "1 Gbit/s"}
SINGLE_LINK = {0.8: "3 Mbit/s", 40: "100 Mbit/s"}
"""Section 2.2: the link is 3, 10, 100 Mbit/s or 1 Gbit/s, "depending on the tested load"."""

VIDEO = {"small": (4, 8, 10), "medium": (40, 80, 100), "large": (200, 400, 500)}
"""Section 4.7: preemption threshold in Mbit/s, flows at the start, flows in each reroute."""
VIDEO_BPS = 400e3


def overrides(point: Point) -> list[str]:
    """Turn the parking lot of scenario.toml into a grid point."""
    return FAMILIES[str(point["family"])](point)


def without(point: Point) -> list[str]:
    """Sections that a grid point does not have: all but its links and its aggregates."""
    family = point["family"]
    if family == "parking":
        return []
    others = [
        *(f"aggregates.{name}" for name in ("eg", "fh")),
        *(f"flows.{name}" for name in ("eg", "eg_added", "fh", "fh_added")),
    ]
    if family in ("admission", "video"):
        others.append("flows.eh_added")
    three = family == "row" and point["nodes"] == 3
    if three or (family == "admission" and point["test"] in ("multi", "cross")):
        return others
    return ["links.bc", "links.cd", *others]


def quantities(run: Run, point: Point) -> dict[str, float]:
    """What the draft prints, from one run; in SI units."""
    match point["family"]:
        case "single":
            return measure.single(run, point)
        case "row":
            return measure.row(run, point)
        case "parking":
            return measure.parking(run, point)
        case "admission":
            found = measure.admission(run, _base_bps(point), "eh", OVERSHOOT_S)
            return found | _theory(point)
        case "voice":
            return measure.voice(run, VOICE_MBPS[str(point["flows"])] * MBPS)
        case _:
            return measure.video(run, VIDEO[str(point["video"])][0] * MBPS, VIDEO_BPS)


def _single(point: Point) -> list[str]:
    rate = float(point["sr_mbps"])
    before = (int(point["load_pct"]) - 100) / 100
    return [
        'duration="23 s"',
        'record.series="50 ms"',
        *_one_link(SINGLE_LINK[rate]),
        f"links.ab.conditioners=[{_px_meter(rate, point, 's_bytes')}]",
        _rtt(point),
        *_mixed_flows(str(point["traffic"]), rate * MBPS, before, measure.SURGE_S["single"]),
    ]


def _row(point: Point) -> list[str]:
    rate = float(point["sr_mbps"])
    links = ("ab", "bc", "cd") if point["nodes"] == 3 else ("ab",)
    assignments = ['record.series="20 ms"', *_calls("eh", point)]
    if point["nodes"] == 1:
        assignments += ['flows.eh.to="B"', 'flows.eh_added.to="B"']
    for link in links:
        assignments.append(f'links.{link}.rate="{ROW_LINK[rate]}"')
        assignments.append(f"links.{link}.conditioners=[{_sr_meter(rate, point)}]")
    return assignments


def _parking(point: Point) -> list[str]:
    rate = float(point["sr_mbps"])
    assignments = ['record.series="20 ms"']
    for link, units in (("ab", 2), ("bc", 3), ("cd", 2)):
        assignments.append(f'links.{link}.rate="{PARKING_LINK[rate]}"')
        assignments.append(f"links.{link}.conditioners=[{_sr_meter(units * rate, point)}]")
    for aggregate in ("eh", "eg", "fh"):
        assignments += _calls(aggregate, point)
    return assignments


def _admission(point: Point) -> list[str]:
    test, flows = str(point["test"]), BASE_FLOWS[str(point["size"])]
    base, codecs = _base_bps(point), _admission_codecs(point)
    factor = 2 if test in OVERLOADED else 1
    links = ("ab", "bc", "cd") if test in ("multi", "cross") else ("ab",)
    end = "D" if len(links) == 3 else "B"
    control = '{ rtt = "50 ms", admission = { stop_timer = { timeout = "1 s" } } }'
    assignments = [
        'duration="219 s"',
        'warm_up="99 s"',
        'record.series="50 ms"',
        f"aggregates.eh={control}",
        f'flows.eh.to="{end}"',
    ]
    for link in links:
        crossed = 2 if test == "cross" and link != "ab" else 1
        admissible = base * crossed * (flows - 1) / flows
        meter = f'{{ rate = "{admissible:.0f} bit/s", size = "20 kB", threshold = "10 kB" }}'
        assignments.append(f"links.{link}.conditioners=[{{ ar_meter = {meter} }}]")
        assignments.append(f'links.{link}.rate="{2 * factor * crossed * base:.0f} bit/s"')
        if crossed == 2:
            assignments.append(f'links.{link}.rate="{6 * base:.0f} bit/s"')
    hourly = 45 * flows / len(codecs)
    for number, codec in enumerate(codecs):
        calls = _arrivals(point, factor * hourly)
        name = "eh" if number == 0 else codec[0]
        assignments += _flow(name, "eh", ("A", "B"), calls, _traffic(codec))
    if test == "cross":
        assignments.append(f"aggregates.cross={control}")
        calls = _arrivals(point, hourly)
        assignments += _flow("cross", "cross", ("B", "D"), calls, _traffic(codecs[0]))
    return assignments


def _voice(point: Point) -> list[str]:
    rate = VOICE_MBPS[str(point["flows"])]
    forward = int(point["forward_pct"])
    lossless = forward == NO_LOSS
    # Some room above twice the rate, for sources that vary.
    link_pct = 250 if lossless else forward
    assignments = [
        f'duration="{30 if lossless else 40} s"',
        'warm_up="2 s"',
        *_one_link(f"{rate * 1e3 * link_pct / 100:.0f} kbit/s"),
        f"links.ab.conditioners=[{_px_meter(rate, point, 'px_bytes')}]",
        _rtt(point),
        *_mixed_flows(str(point["traffic"]), rate * MBPS, 1.0, measure.SURGE_S["voice"]),
    ]
    if not lossless:
        assignments.append('links.ab.queue={ droptail = { limit = "100 packets" } }')
    return assignments


def _video(point: Point) -> list[str]:
    rate, initial, more = VIDEO[str(point["video"])]
    calls = f'{{ initial = {initial}, surges = [{{ at = "3 s", calls = {more} }}] }}'
    tb, px = point["tb_kb"], point["px_kb"]
    meter = f'{{ px_meter = {{ rate = "{rate} Mbit/s", size = "{tb} kB", px = "{px} kB" }} }}'
    return [
        'duration="24 s"',
        'warm_up="1 s"',
        'record.series="50 ms"',
        *_one_link(f"{2 * rate} Mbit/s"),
        f"links.ab.conditioners=[{meter}]",
        _rtt(point),
        f"flows.eh.calls={calls}",
        f'flows.eh.traffic={{ video = {{ line_rate = "{2 * rate} Mbit/s" }} }}',
    ]


FAMILIES: dict[str, Callable[[Point], list[str]]] = {
    "single": _single,
    "row": _row,
    "parking": _parking,
    "admission": _admission,
    "voice": _voice,
    "video": _video,
}


def _one_link(rate: str) -> list[str]:
    """A single node; service time a) of section 2.2."""
    link = f'{{ from = "A", to = "B", duplex = false, rate = "{rate}" }}'
    return [f"links.ab={link}", 'flows.eh.to="B"']


def _rtt(point: Point) -> str:
    milliseconds = point["rtt_ms"]
    return f'aggregates.eh.rtt="{milliseconds} ms"'


def _px_meter(mbps: float, point: Point, key: str) -> str:
    """The algorithm of Figure 14, with the buckets of sections 3.1.1.1 and 3.1.1.2."""
    bucket, px = px_bucket(mbps), point[key]
    return f'{{ px_meter = {{ rate = "{mbps} Mbit/s", size = "{bucket}", px = "{px} B" }} }}'


def _sr_meter(mbps: float, point: Point) -> str:
    preferential = "true" if point["preferential"] else "false"
    slow_down = point["s_bytes"]
    return (
        f'{{ sr_meter = {{ rate = "{mbps * 1e3:.0f} kbit/s", size = "50 kB", '
        f'slow_down = "{slow_down} B", preferential = {preferential} }} }}'
    )


def _traffic(codec: tuple[str, bool]) -> str:
    """Section 2.1: a source with silence suppression "may start in either the ON or OFF state":
    with the probabilities that it is in them at any time."""
    name, silent = codec
    if not silent:
        return f'{{ voice = {{ codec = "{name}" }} }}'
    return f'{{ voice = {{ codec = "{name}", silence_suppression = true, start = "stationary" }} }}'


def _calls(aggregate: str, point: Point) -> list[str]:
    """Section 3.1.2: 95 % of a unit of load, then "a 100 % SR load", added instantaneously."""
    (codec,) = CODECS[str(point["traffic"])]
    flows = float(point["sr_mbps"]) * MBPS / codec_bps(*codec)
    surge = f'{{ at = "{measure.SURGE_S["row"]} s", calls = {whole(flows)} }}'
    return [
        f"flows.{aggregate}.calls={{ initial = {whole(0.95 * flows)} }}",
        f"flows.{aggregate}.traffic={_traffic(codec)}",
        f"flows.{aggregate}_added.calls={{ surges = [{surge}] }}",
        f"flows.{aggregate}_added.traffic={_traffic(codec)}",
    ]


def _mixed_flows(traffic: str, bps: float, before: float, at: float) -> list[str]:
    """A share of `bps` at the start and all of it again with the reroute, split over the codecs."""
    assignments = ['flows.eh_added.to="B"']
    codecs = CODECS[traffic]
    for number, codec in enumerate(codecs):
        flows = bps / len(codecs) / codec_bps(*codec)
        name = "eh" if number == 0 else codec[0]
        surge = f'{{ at = "{at} s", calls = {whole(flows)} }}'
        ends = ("A", "B")
        initial = f"{{ initial = {whole(before * flows)} }}"
        assignments += _flow(name, "eh", ends, initial, _traffic(codec))
        added = f"{{ surges = [{surge}] }}"
        assignments += _flow(f"{name}_added", "eh", ends, added, _traffic(codec))
    return assignments


def _flow(name: str, aggregate: str, ends: tuple[str, str], calls: str, traffic: str) -> list[str]:
    """A group of flows: one of scenario.toml, or a new one."""
    if name in ("eh", "eh_added"):
        return [f"flows.{name}.calls={calls}", f"flows.{name}.traffic={traffic}"]
    begin, end = ends
    return [
        f'flows.{name}={{ from = "{begin}", to = "{end}", aggregate = "{aggregate}", '
        f"calls = {calls}, traffic = {traffic} }}"
    ]


def _arrivals(point: Point, hourly: float) -> str:
    """Section 3.2: Poisson arrivals, one minute of holding time, media delay; as many calls at the
    start as there are on average."""
    delay = point["media_delay_s"]
    return (
        f'{{ rate = "{hourly:.6f} /h", holding = "60 s", initial = {whole(hourly / 60)}, '
        f'media_delay = "{delay} s" }}'
    )


def _admission_codecs(point: Point) -> tuple[tuple[str, bool], ...]:
    return ADMISSION_CODECS.get(str(point["test"]), CODECS["cbr"])


def _base_bps(point: Point) -> float:
    """The data rate of the base load: N flows, split evenly over the codecs."""
    codecs = _admission_codecs(point)
    rates = [MEAN_BPS[name] if silent else PEAK_BPS[name] for name, silent in codecs]
    return BASE_FLOWS[str(point["size"])] * sum(rates) / len(rates)


def _theory(point: Point) -> dict[str, float]:
    """Erlang's blocking, and the offered load: 45 N calls an hour of one minute."""
    flows = BASE_FLOWS[str(point["size"])]
    offered = 0.75 * flows
    return {
        "theory_blocking_ratio": measure.erlang_b(offered, flows),
        "theory_utilization_ratio": offered / flows,
        "theory_data_bps": 0.75 * _base_bps(point),
    }


def _two_reroutes(point: Point) -> list[str]:
    """Section 4.1: a second reroute, 80 % of it within 1 s and the rest within 5 s more."""
    bps = VOICE_MBPS[str(point["flows"])] * MBPS
    codecs = CODECS[str(point["traffic"])]
    assignments = ['duration="50 s"']
    for number, codec in enumerate(codecs):
        name = "eh" if number == 0 else codec[0]
        flows = whole(bps / len(codecs) / codec_bps(*codec))
        soon = whole(0.8 * flows)
        surges = (
            f'{{ at = "3 s", calls = {flows} }}, {{ at = "25 s", calls = {soon}, over = "1 s" }}, '
            f'{{ at = "26 s", calls = {max(flows - soon, 1)}, over = "5 s" }}'
        )
        assignments.append(f"flows.{name}_added.calls.surges=[{surges}]")
    return assignments


RECORDINGS = recordings(_two_reroutes)
