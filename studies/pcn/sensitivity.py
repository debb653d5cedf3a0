"""Sensitivity runs of the study: one assumption chosen otherwise, where it matters."""

from __future__ import annotations

from forebay.study import Point, Variant
from forebay_studies.pcn.draft import MBPS, codec_bps, px_bucket

__all__ = ["VARIANTS"]

SINGLE = ("f3/*", "f4/*", "f6/*", "f8/*")
ROW = ("f9/*/sr0.8/*", "f9/*/sr16/*", "f10/*/sr0.8/*", "f10/*/sr16/*")
PARKING = ("f12/*/sr0.8/*", "f12/*/sr16/*", "f13/*/sr0.8/*", "f13/*/sr16/*")
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


def _stationary(point: Point) -> list[str]:
    if point["traffic"] == "cbr":
        return []
    if point["traffic"] == "mix":
        members = ("eh", "g711_10ms", "g729_20ms")
        return [f'flows.{name}_added.traffic.voice.start="stationary"' for name in members]
    # As many flows as are 100 % of SR in the mean, not at once.
    flows = round(float(point["sr_mbps"]) * MBPS / codec_bps("g711_20ms", silence_suppression=True))
    return [
        assignment
        for name in _members(point)
        for assignment in (
            f'flows.{name}_added.traffic.voice.start="stationary"',
            f'flows.{name}_added.calls.surges=[{{ at = "5 s", calls = {flows} }}]',
        )
    ]


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
        "stationary",
        "sources with silence suppression begin in their stationary state",
        "An ON-OFF flow may start in either state (section 2.1): with which probability?",
        _stationary,
        SINGLE + ROW + PARKING,
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
