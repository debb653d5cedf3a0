"""Sources of datagrams as laws of datagrams.py, with their numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from forebay.linux.values import Remarks, View, number

__all__ = ["largest_packet", "source_words"]

_HEADERS = 28
"""Bytes of IP and UDP in front of the data of a datagram."""

_STAMP = 12
"""Bytes of a datagram that its sender's number and time take."""

_CODECS = {
    "g711_20ms": (200, 20),
    "g711_10ms": (120, 10),
    "g729_20ms": (60, 20),
    "dual_rate": (360, 20),
}
"""Bytes of a codec's packets, and ms between them (draft-babiarz-pcn-explicit-marking-02, 3.1)."""


def source_words(flow: View, remarks: Remarks) -> list[str]:
    """The law of the sources of a flow, and its numbers, as datagrams.py takes them."""
    kind = flow.chosen("traffic") or ""
    law = flow.at(f"traffic.{kind}")
    if kind not in _SOURCES:
        remarks.refuse(law.path, "not mapped; the nearest is traffic.cbr")
    return _SOURCES[kind](law, remarks)


def largest_packet(flow: View) -> int:
    """The size of the largest datagram of a flow, with its IP header."""
    law = flow.at(f"traffic.{flow.chosen('traffic')}")
    return round(number(law.get("size") or law.get("mtu") or "0 B"))


def _regular(law: View, remarks: Remarks) -> list[str]:
    """The interval at a rate, and the data in a packet."""
    size, rate = round(number(law.text("size"))), number(law.text("rate"))
    if size < _HEADERS + _STAMP:
        text = f"a datagram has {_STAMP} B at least; the nearest is {_STAMP + _HEADERS} B"
        remarks.refuse(f"{law.path}.size", text)
    if law.get("sizes") not in ("fixed", None):
        remarks.approximate(f"{law.path}.sizes", "all datagrams have the mean size")
    return [_seconds(size * 8 / rate), str(size - _HEADERS)]


def _seconds(value: object) -> str:
    return f"{float(value):.9g}"  # type: ignore[arg-type]


def _phase(law: View) -> str:
    return str(int(law.is_set("random_phase")))


def _cbr(law: View, remarks: Remarks) -> list[str]:
    return ["cbr", *_regular(law, remarks), law.get("jitter") or "0", _phase(law)]


def _poisson(law: View, remarks: Remarks) -> list[str]:
    return ["poisson", *_regular(law, remarks)]


def _on_off(law: View, remarks: Remarks) -> list[str]:
    times = [_seconds(number(law.text(key))) for key in ("on", "off")]
    return ["on_off", *_regular(law, remarks), *times]


def _pulses(law: View, remarks: Remarks) -> list[str]:
    on, off = (number(law.text(key)) for key in ("on", "off"))
    count = math.ceil(on * number(law.text("rate")) / (8 * round(number(law.text("size")))))
    return ["pulses", *_regular(law, remarks), str(count), _seconds(on + off), _phase(law)]


def _video(law: View, remarks: Remarks) -> list[str]:
    header, mtu = (round(number(law.text(key))) for key in ("header", "mtu"))
    if header < _HEADERS:
        text = f"a datagram has {_HEADERS} B of IP and UDP; the nearest is {_HEADERS} B"
        remarks.refuse(f"{law.path}.header", text)
    if header < _HEADERS + _STAMP:
        text = f"a packet has {_STAMP + _HEADERS} B at least on Linux"
        remarks.note(f"{law.path}.header", text)
    process = ("frames_per_second", "pixels", "correlation", "gain", "innovation_mean")
    rate = _seconds(number(law.text("line_rate")))
    return ["video", *map(law.text, process), str(mtu - header), str(header), rate]


def _voice(law: View, remarks: Remarks) -> list[str]:
    if law.is_set("silence_suppression"):
        text = "not mapped; the nearest is traffic.on_off"
        remarks.refuse(f"{law.path}.silence_suppression", text)
    size, interval = _CODECS[law.text("codec")]
    return ["cbr", _seconds(interval / 1000), str(size - _HEADERS), "0", "1"]


_SOURCES: dict[str, Callable[[View, Remarks], list[str]]] = {
    "cbr": _cbr,
    "on_off": _on_off,
    "poisson": _poisson,
    "pulses": _pulses,
    "video": _video,
    "voice": _voice,
}
