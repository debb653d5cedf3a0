"""Conditioners that drop or remark: filters of tc before the queue of a device."""

from __future__ import annotations

from forebay.linux.classes import codepoint, codepoints
from forebay.linux.values import Remarks, View, number, tc_rate

__all__ = ["police_commands"]

_FIELD = 0xFC
"""The bits of the codepoint in its field; the others are those of ECN."""


def police_commands(link: View, device: str, remarks: Remarks) -> list[str]:
    """The commands for the conditioners of a link, in their order."""
    keys = ["conditioner"] if link.chosen("conditioner") else []
    keys += [f"conditioners[{index}]" for index in range(link.count("conditioners"))]
    lines = [f"tc qdisc replace dev {device} clsact"] if keys else []
    for index, key in enumerate(keys, start=1):
        law, points = _innermost(link, key, remarks)
        write = _remarking if law.path.endswith(".remark") else _policing
        for match, action in write(law, points, index, remarks):
            start = f"tc filter add dev {device} egress protocol ip prio {index}"
            lines.append(f"{start} {match} action {action}")
    return lines


def _innermost(view: View, key: str, remarks: Remarks) -> tuple[View, list[int] | None]:
    """The conditioner at `key`, or that of which `only` shows it some codepoints."""
    name = view.chosen(key)
    law = view.at(f"{key}.{name}")
    if name != "only":
        return law, None
    for end in ("flows", "src", "dst"):
        if law.get(end):
            text = "not mapped to tc's filters; the nearest is dscp"
            remarks.refuse(f"{law.path}.{end}", text)
    shown = [point for entry in law.list("dscp") for point in codepoints(entry)]
    inner, further = _innermost(law, "of", remarks)
    return inner, shown if further is None else [point for point in shown if point in further]


def _match(point: int) -> str:
    return f"u32 match ip dsfield {point << 2:#04x} {_FIELD:#04x}"


def _policing(
    law: View, points: list[int] | None, index: int, remarks: Remarks
) -> list[tuple[str, str]]:
    """Matches and actions of a policer, which all share one with the number `index`."""
    # What conforms is handed to the filters behind.
    action = f"police {_policer(law, remarks)} conform-exceed drop/continue index {index}"
    if points is None:
        return [("matchall", action)]
    shared = f"police index {index}"
    return [(_match(point), shared if at else action) for at, point in enumerate(points)]


def _policer(law: View, remarks: Remarks) -> str:
    """The words of a policer."""
    name = law.path.rpartition(".")[2]
    if name not in _BUCKETS:
        remarks.refuse(law.path, "not mapped to tc; the nearest is token_bucket that drops")
    if law.get("excess") != "drop":
        text = "tc carries no colours from packet to packet; the nearest is drop"
        remarks.refuse(f"{law.path}.excess", text)
    rate, burst = _BUCKETS[name]
    if law.get("mode") == "aware":
        remarks.refuse(f"{law.path}.mode", "police sees no colours; the nearest is blind")
    size = number(law.text(burst))
    if name == "srtcm" and number(law.text("ebs")):
        size += number(law.text("ebs"))
        remarks.approximate(
            f"{law.path}.ebs", f"police has one bucket: of {round(size)} B, cbs and ebs together"
        )
    if name != "token_bucket":
        remarks.note(law.path, "police drops what is red; green and yellow are alike behind it")
    remarks.note(law.path, "Linux's police counts the Ethernet header, 14 B a packet, too")
    return f"rate {tc_rate(law.text(rate))} burst {round(size)}"


# What trTCM has as red exceeds the peak rate, whatever the committed one leaves.
_BUCKETS = {"token_bucket": ("cir", "cbs"), "srtcm": ("cir", "cbs"), "trtcm": ("pir", "pbs")}


def _remarking(
    law: View, points: list[int] | None, _index: int, remarks: Remarks
) -> list[tuple[str, str]]:
    """Matches and actions of a marker: the codepoint is written, and the checksum renewed."""
    to = [codepoint(entry) for entry in law.list("to")]
    if any(key.endswith(".precedence") and value != "0" for key, value in law.values.items()):
        text = "a precedence travels as a class selector, which is a codepoint as others"
        remarks.note(f"{law.path}.to", text)
    if law.list("found"):
        becomes = {
            point: target
            for entry, target in zip(law.list("found"), to, strict=True)
            for point in codepoints(entry)
            if points is None or point in points
        }
    elif len(to) > 1:
        text = "tc carries no colours from packet to packet; the nearest is found"
        remarks.refuse(f"{law.path}.to", text)
    elif points is None:
        return [("matchall", _written(to[0]))]
    else:
        becomes = dict.fromkeys(points, to[0])
    return [(_match(point), _written(becomes[point])) for point in _in_turn(becomes, law, remarks)]


def _in_turn(becomes: dict[int, int], law: View, remarks: Remarks) -> list[int]:
    """The codepoints that change, each before those that become it: a filter of tc sees what the
    filters before it have written."""
    waiting = {point: to for point, to in becomes.items() if point != to}
    order: list[int] = []
    while waiting:
        ready = [point for point, to in waiting.items() if to not in waiting]
        if not ready:
            text = "codepoints that become each other need one filter; the nearest is two links"
            remarks.refuse(f"{law.path}.found", text)
        order += ready
        waiting = {point: to for point, to in waiting.items() if point not in ready}
    return order


def _written(point: int) -> str:
    field = f"ip dsfield set {point << 2:#04x} retain {_FIELD:#04x}"
    return f"pedit ex munge {field} pipe action csum ip4h continue"
