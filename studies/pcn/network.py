"""The networks of the draft's families of simulations, made of the parking lot of scenario.toml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forebay.study import Network, Point
from forebay_studies.pcn.draft import (
    MBPS,
    NO_LOSS,
    PEAK_BPS,
    VOICE_MBPS,
    codec_bps,
    px_bucket,
    whole,
)
from forebay_studies.pcn.measure import AGAIN_S, SURGE_S

Settings = dict[str, Any]
"""Keys of a scenario by their paths, with their values; or a section of it."""

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

ROW_LINK = {0.8: "3 Mbit/s", 4: "100 Mbit/s", 16: "100 Mbit/s", 40: "1 Gbit/s"}
PARKING_LINK = {0.8: "10 Mbit/s", 4: "100 Mbit/s", 16: "1 Gbit/s", 40: "1 Gbit/s"}
SINGLE_LINK = {0.8: "3 Mbit/s", 40: "100 Mbit/s"}
"""Section 2.2: the link is 3, 10, 100 Mbit/s or 1 Gbit/s, "depending on the tested load"."""

VIDEO = {"small": (4, 8, 10), "medium": (40, 80, 100), "large": (200, 400, 500)}
"""Section 4.7: preemption threshold in Mbit/s, flows at the start, flows in each reroute."""
VIDEO_BPS = 400e3

UNITS = {"ab": 2, "bc": 3, "cd": 2}
"""Load on the links of the parking lot, in units of the base SR."""
ACROSS_NODES = ("multi", "cross")


def grid_point(network: Network, point: Point) -> None:
    """Turn the parking lot of scenario.toml into a grid point."""
    family = str(point["family"])
    if family != "parking":
        network.remove("aggregates.eg", "aggregates.fh")
        network.remove("flows.eg", "flows.eg_added", "flows.fh", "flows.fh_added")
    if family in ("admission", "video"):
        network.remove("flows.eh_added")
    three = family == "parking" or point.get("nodes") == 3
    if not three and point.get("test") not in ACROSS_NODES:
        network.remove("links.bc", "links.cd")
    network.update(FAMILIES[family](point))
    if family == "steps":
        two_reroutes(network, point)


def _single(point: Point) -> Settings:
    rate = float(point["sr_mbps"])
    before = (int(point["load_pct"]) - 100) / 100
    return {
        "duration": "23 s",
        "record.series": "50 ms",
        **_one_link(SINGLE_LINK[rate]),
        "links.ab.conditioners": [_px_meter(rate, point, "s_bytes")],
        "aggregates.eh.rtt": _rtt(point, f"{point['rtt_ms']} ms"),
        **_mixed_flows(str(point["traffic"]), rate * MBPS, before, SURGE_S["single"]),
    }


def _row(point: Point) -> Settings:
    rate = float(point["sr_mbps"])
    found = {"record.series": "20 ms", **_calls("eh", point)}
    found["aggregates.eh.rtt"] = _rtt(point, "50 ms")
    if point["nodes"] == 1:
        found |= {"flows.eh.to": "B", "flows.eh_added.to": "B"}
    for link in ("ab", "bc", "cd") if point["nodes"] == 3 else ("ab",):
        found[f"links.{link}.rate"] = ROW_LINK[rate]
        found[f"links.{link}.conditioners"] = [_sr_meter(rate, point)]
    return found


def _parking(point: Point) -> Settings:
    rate = float(point["sr_mbps"])
    found: Settings = {"record.series": "20 ms"}
    for link, units in UNITS.items():
        found[f"links.{link}.rate"] = PARKING_LINK[rate]
        found[f"links.{link}.conditioners"] = [_sr_meter(units * rate, point)]
    for aggregate in ("eh", "eg", "fh"):
        found |= _calls(aggregate, point)
    return found


def _admission(point: Point) -> Settings:
    test, flows = str(point["test"]), BASE_FLOWS[str(point["size"])]
    base, codecs = base_bps(point), _admission_codecs(point)
    factor = 2 if test in OVERLOADED else 1
    links = ("ab", "bc", "cd") if test in ACROSS_NODES else ("ab",)
    control = {"rtt": "50 ms", "admission": {"stop_timer": {"timeout": "1 s"}}}
    found: Settings = {
        "duration": "219 s",
        "warm_up": "99 s",
        "record.series": "50 ms",
        "aggregates.eh": control,
        "flows.eh.to": "D" if len(links) == 3 else "B",
    }
    for link in links:
        crossed = 2 if test == "cross" and link != "ab" else 1
        admissible = base * crossed * (flows - 1) / flows
        if "ar_pct" in point:
            admissible = base * crossed * int(point["ar_pct"]) / 100
        bucket = int(point.get("ar_kb", 20))
        meter = {"rate": f"{admissible:.0f} bit/s", "size": f"{bucket} kB"}
        meter["threshold"] = f"{bucket / 2:g} kB"
        rate = 6 * base if crossed == 2 else 2 * factor * base
        found[f"links.{link}.conditioners"] = [{"ar_meter": meter}]
        found[f"links.{link}.rate"] = f"{rate:.0f} bit/s"
    hourly = 45 * flows / len(codecs)
    for number, codec in enumerate(codecs):
        name = "eh" if number == 0 else codec[0]
        calls = _arrivals(point, factor * hourly)
        found |= _flow(name, "eh", ("A", "B"), calls, _traffic(codec))
    if test == "cross":
        found["aggregates.cross"] = control
        calls = _arrivals(point, hourly)
        found |= _flow("cross", "cross", ("B", "D"), calls, _traffic(codecs[0]))
    return found


def _voice(point: Point) -> Settings:
    rate = VOICE_MBPS[str(point["flows"])]
    forward = int(point["forward_pct"])
    lossless = forward == NO_LOSS
    # Some room above twice the rate, for sources that vary.
    link_pct = 250 if lossless else forward
    found = {
        "duration": f"{30 if lossless else 40} s",
        "warm_up": "2 s",
        **_one_link(f"{rate * 1e3 * link_pct / 100:.0f} kbit/s"),
        "links.ab.conditioners": [_px_meter(rate, point, "px_bytes")],
        "aggregates.eh.rtt": f"{point['rtt_ms']} ms",
        **_mixed_flows(str(point["traffic"]), rate * MBPS, 1.0, SURGE_S["voice"]),
    }
    if not lossless:
        found["links.ab.queue"] = {"droptail": {"limit": "100 packets"}}
    return found


def _video(point: Point) -> Settings:
    rate, initial, more = VIDEO[str(point["video"])]
    surges = [{"at": f"{at} s", "calls": more} for at in (SURGE_S["video"], AGAIN_S["video"])]
    bucket = {"size": f"{point['tb_kb']} kB", "px": f"{point['px_kb']} kB"}
    return {
        "duration": "45 s",
        "warm_up": "1 s",
        "record.series": "50 ms",
        **_one_link(f"{2 * rate} Mbit/s"),
        "links.ab.conditioners": [{"px_meter": {"rate": f"{rate} Mbit/s", **bucket}}],
        "aggregates.eh.rtt": f"{point['rtt_ms']} ms",
        "flows.eh.calls": {"initial": initial, "surges": surges},
        "flows.eh.traffic": {"video": {"line_rate": f"{2 * rate} Mbit/s"}},
    }


FAMILIES: dict[str, Callable[[Point], Settings]] = {
    "single": _single,
    "row": _row,
    "parking": _parking,
    "admission": _admission,
    "voice": _voice,
    "steps": _voice,
    "video": _video,
}


def _one_link(rate: str) -> Settings:
    """A single node; service time a) of section 2.2."""
    link = {"from": "A", "to": "B", "duplex": False, "rate": rate}
    return {"links.ab": link, "flows.eh.to": "B"}


def _px_meter(mbps: float, point: Point, key: str) -> Settings:
    """The algorithm of Figure 14, with the buckets of sections 3.1.1.1 and 3.1.1.2."""
    size = f"{point['bucket_kb']} kB" if "bucket_kb" in point else px_bucket(mbps)
    rate = {"rate": f"{mbps} Mbit/s", "size": size}
    return {"px_meter": {**rate, "px": f"{point[key]} B"}}


def _sr_meter(mbps: float, point: Point) -> Settings:
    rate = {"rate": f"{mbps * 1e3:.0f} kbit/s", "size": "50 kB"}
    marking = {"slow_down": f"{point['s_bytes']} B", "preferential": point["preferential"]}
    return {"sr_meter": {**rate, **marking}}


def _traffic(codec: tuple[str, bool]) -> Settings:
    """Section 2.1: a source with silence suppression "may start in either the ON or OFF state":
    with the probabilities that it is in them at any time."""
    name, silent = codec
    silence = {"silence_suppression": True, "start": "stationary"} if silent else {}
    return {"voice": {"codec": name, **silence}}


def _calls(aggregate: str, point: Point) -> Settings:
    """Section 3.1.2: 95 % of a unit of load, then "a 100 % SR load", added instantaneously."""
    (codec,) = CODECS[str(point["traffic"])]
    flows = float(point["sr_mbps"]) * MBPS / codec_bps(*codec)
    calls: Settings = {"initial": whole(0.95 * flows)}
    if "new_per_s_pct" in point:
        calls["rate"] = f"{36 * int(point['new_per_s_pct']) * flows:.6f} /h"
    slow = point.get("reroute") == "slow"
    return {
        f"flows.{aggregate}.calls": calls,
        f"flows.{aggregate}.traffic": _traffic(codec),
        f"flows.{aggregate}_added.calls": {"surges": _surges(SURGE_S["row"], whole(flows), slow)},
        f"flows.{aggregate}_added.traffic": _traffic(codec),
    }


def _surges(at: float, flows: int, slow: bool) -> list[Settings]:
    """A reroute, at once or as that of section 4.1: 80 % within 1 s, the rest within 5 s more."""
    if not slow:
        return [{"at": f"{at} s", "calls": flows}]
    soon = whole(0.8 * flows)
    return [
        {"at": f"{at} s", "calls": soon, "over": "1 s"},
        {"at": f"{at + 1} s", "calls": max(flows - soon, 1), "over": "5 s"},
    ]


def _rtt(point: Point, fixed: str) -> Settings | str:
    """Section 2.2: a fixed time for all flows, or a random one for each."""
    return {"uniform": ["10 ms", "50 ms"]} if point.get("rtts") == "random" else fixed


def _mixed_flows(traffic: str, bps: float, before: float, at: float) -> Settings:
    """A share of `bps` at the start and all of it again with the reroute, split over the codecs."""
    found: Settings = {"flows.eh_added.to": "B"}
    codecs = CODECS[traffic]
    for number, codec in enumerate(codecs):
        flows = bps / len(codecs) / codec_bps(*codec)
        name = "eh" if number == 0 else codec[0]
        initial = {"initial": whole(before * flows)}
        added = {"surges": [{"at": f"{at} s", "calls": whole(flows)}]}
        found |= _flow(name, "eh", ("A", "B"), initial, _traffic(codec))
        found |= _flow(f"{name}_added", "eh", ("A", "B"), added, _traffic(codec))
    return found


def _flow(
    name: str, aggregate: str, ends: tuple[str, str], calls: Settings, traffic: Settings
) -> Settings:
    """A group of flows: one of scenario.toml, or a new one."""
    if name in ("eh", "eh_added"):
        return {f"flows.{name}.calls": calls, f"flows.{name}.traffic": traffic}
    group = {"from": ends[0], "to": ends[1], "aggregate": aggregate}
    return {f"flows.{name}": {**group, "calls": calls, "traffic": traffic}}


def _arrivals(point: Point, hourly: float) -> Settings:
    """Section 3.2: Poisson arrivals, one minute of holding time, media delay; as many calls at the
    start as there are on average. Section 2.1: an arrival may be a batch of calls."""
    batch = int(point.get("batch", 1))
    return {
        "rate": f"{hourly / batch:.6f} /h",
        "batch": batch,
        "holding": "60 s",
        "initial": whole(hourly / 60),
        "media_delay": f"{point['media_delay_s']} s",
    }


def _admission_codecs(point: Point) -> tuple[tuple[str, bool], ...]:
    return ADMISSION_CODECS.get(str(point["test"]), CODECS["cbr"])


def base_bps(point: Point) -> float:
    """The data rate of the base load: N flows, split evenly over the codecs."""
    codecs = _admission_codecs(point)
    rates = [MEAN_BPS[name] if silent else PEAK_BPS[name] for name, silent in codecs]
    return BASE_FLOWS[str(point["size"])] * sum(rates) / len(rates)


def two_reroutes(network: Network, point: Point) -> None:
    """Section 4.1: a second reroute, 80 % of it within 1 s and the rest within 5 s more."""
    bps = VOICE_MBPS[str(point["flows"])] * MBPS
    codecs = CODECS[str(point["traffic"])]
    network.set("duration", "50 s")
    for number, codec in enumerate(codecs):
        name = "eh" if number == 0 else codec[0]
        flows = whole(bps / len(codecs) / codec_bps(*codec))
        first = _surges(SURGE_S["voice"], flows, slow=False)
        surges = [*first, *_surges(AGAIN_S["steps"], flows, slow=True)]
        network.set(f"flows.{name}_added.calls.surges", surges)


# Sensitivity runs.


def text_form(network: Network, point: Point) -> None:
    """The SR-meter of section 1.2 in section 3.1.1."""
    rate = {"rate": f"{point['sr_mbps']} Mbit/s", "size": px_bucket(float(point["sr_mbps"]))}
    meter = {"sr_meter": {**rate, "slow_down": f"{point['s_bytes']} B"}}
    network.set("links.ab.conditioners", [meter])


def links_twice(network: Network, point: Point) -> None:
    """Links of twice the supportable rate in section 3.1.2."""
    units = UNITS if point["family"] == "parking" else {}
    for link in network.section("links"):
        rate = units.get(link, 1) * 2e3 * float(point["sr_mbps"])
        network.set(f"links.{link}.rate", f"{rate:.0f} kbit/s")


def all_on(network: Network, point: Point) -> None:
    """As many flows as make up the added load by their packets at once; their mean is 39 % of it.
    Of the mix, 4 codecs share the load."""
    bps = float(point["sr_mbps"]) * MBPS / (4 if point["traffic"] == "mix" else 1)
    for name, group in network.section("flows").items():
        voice = group["traffic"]["voice"]
        if name.endswith("_added") and voice.get("silence_suppression"):
            calls = whole(bps / PEAK_BPS[voice["codec"]])
            surge = {"at": f"{SURGE_S[str(point['family'])]} s", "calls": calls}
            network.set(f"flows.{name}.traffic.voice.start", "on")
            network.set(f"flows.{name}.calls.surges", [surge])
