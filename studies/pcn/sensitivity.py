"""Sensitivity runs of the study: one assumption chosen otherwise, where it matters."""

from __future__ import annotations

from forebay.study.definition import Point, Variant
from forebay_studies.pcn.draft import MBPS, PEAK_BPS, px_bucket, whole
from forebay_studies.pcn.measure import SURGE_S

__all__ = ["VARIANTS"]

SINGLE = ("f3/*", "f4/*", "f6/*", "f8/*")
ROW = ("f9/*/sr0.8/*", "f9/*/sr16/*", "f10/*/sr0.8/*", "f10/*/sr16/*")
PARKING = ("f12/*/sr0.8/*", "f12/*/sr16/*", "f13/*/sr0.8/*", "f13/*/sr16/*")
VARYING = ("f[3-8]/mix/*", "f9/*/vbr/*", "f10/*/vbr/*", "f12/*/vbr/*", "f13/*/vbr/*")
"""All with silence suppression of section 3.1."""
ADMISSION = ("t321/blocking/*", "t321/utilization/*")


def _text_form(point: Point) -> list[str]:
    rate, slow_down = point["sr_mbps"], point["s_bytes"]
    bucket = px_bucket(float(rate))
    meter = f'rate = "{rate} Mbit/s", size = "{bucket}", slow_down = "{slow_down} B"'
    return [f"links.ab.conditioners=[{{ sr_meter = {{ {meter} }} }}]"]


def _links(point: Point) -> tuple[str, ...]:
    alone = point["family"] == "row" and point["nodes"] == 1
    return ("ab",) if alone else ("ab", "bc", "cd")


def _twice(point: Point) -> list[str]:
    units = {"ab": 2, "bc": 3, "cd": 2} if point["family"] == "parking" else {}
    rate = 2e3 * float(point["sr_mbps"])
    return [f'links.{link}.rate="{units.get(link, 1) * rate:.0f} kbit/s"' for link in _links(point)]


def _option_a(point: Point) -> list[str]:
    """As good as no traffic of lower priority: the rest of a packet of one byte."""
    return [f'links.{link}.residual="1 B"' for link in _links(point)]


def _members(point: Point) -> tuple[str, ...]:
    if point["family"] == "parking":
        return ("eh", "eg", "fh")
    if point["family"] == "admission" and point["test"] == "mix":
        return ("eh", "g711_10ms", "g729_20ms")
    return ("eh", "cross") if point.get("test") == "cross" else ("eh",)


def _random_rtt(point: Point) -> list[str]:
    spread = '{ uniform = ["10 ms", "50 ms"] }'
    return [f"aggregates.{name}.rtt={spread}" for name in _members(point)]


def _added(point: Point) -> tuple[tuple[str, str], ...]:
    """The groups of flows that the reroute adds and that have silences: name and codec."""
    if point["traffic"] == "mix":
        codecs = ("g711_20ms", "g711_10ms", "g729_20ms")
        return tuple(zip(("eh", *codecs[1:]), codecs, strict=True))
    return tuple((name, "g711_20ms") for name in _members(point))


def _all_on(point: Point) -> list[str]:
    """As many flows as make up the added load by their packets at once; their mean is 39 % of it.
    Of the mix, 4 codecs share the load."""
    at = SURGE_S[str(point["family"])]
    share = 4 if point["traffic"] == "mix" else 1
    bps = float(point["sr_mbps"]) * MBPS / share
    return [
        assignment
        for name, codec in _added(point)
        for assignment in (
            f'flows.{name}_added.traffic.voice.start="on"',
            f"flows.{name}_added.calls.surges="
            f'[{{ at = "{at} s", calls = {whole(bps / PEAK_BPS[codec])} }}]',
        )
    ]


def _either(point: Point) -> list[str]:
    return [f'flows.{name}_added.traffic.voice.start="either"' for name, _ in _added(point)]


def _holding(point: Point) -> list[str]:
    return [f'flows.{name}.calls.holding_from="arrival"' for name in _members(point)]


def _marking_change(point: Point) -> list[str]:
    aggregates = ("eh", "cross") if point["test"] == "cross" else ("eh",)
    return [f'aggregates.{name}.admission="marking_change"' for name in aggregates]


VARIANTS = [
    Variant(
        "text-form",
        "the SR-meter of section 1.2 in section 3.1.1",
        "Section 3.1.1 names s, as section 1.2 does; its times are those of Figure 14.",
        _text_form,
        SINGLE,
    ),
    Variant(
        "link-twice",
        "links of twice the supportable rate in section 3.1.2",
        "Section 2.2 lists link rates without saying which test had which.",
        _twice,
        ROW + PARKING,
    ),
    Variant(
        "service-a",
        "service time a) in section 3.1.2",
        "Without jitter the meters of nodes in a row see the same packets in the same state.",
        _option_a,
        ROW + PARKING,
    ),
    Variant(
        "random-rtt",
        "a random RTT of 10 to 50 ms for each flow",
        "The draft expects shorter delays from RTTs that vary (section 3.1.1.1).",
        _random_rtt,
        ("f3/*", "f6/*", *ROW),
    ),
    Variant(
        "all-on",
        "added sources with silence suppression all begin ON, as many as make up SR at once",
        "Section 3.1.2 adds the load instantaneously, and its load is gone in less than a second.",
        _all_on,
        VARYING,
    ),
    Variant(
        "either-equally",
        "added sources with silence suppression begin ON or OFF with equal odds",
        "An ON-OFF flow may start in either state (section 2.1), with odds that are not told.",
        _either,
        VARYING,
    ),
    Variant(
        "holding-from-arrival",
        "holding times count from the arrival",
        "The draft does not say whether the media delay is part of the holding time.",
        _holding,
        ADMISSION,
    ),
    Variant(
        "marking-change",
        "admission restarts when marking ends (option 2)",
        "Section 2.3 has two options; section 3.2 has a stop blocking timer, that of option 1.",
        _marking_change,
        ADMISSION,
    ),
]
