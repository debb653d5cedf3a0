"""Conditioners that drop as policers: filters of tc before the queue of a device."""

from __future__ import annotations

from forebay.linux.classes import codepoints
from forebay.linux.values import Remarks, View, number, tc_rate

__all__ = ["police_commands"]


def police_commands(link: View, device: str, remarks: Remarks) -> list[str]:
    """The commands for the conditioners of a link, in their order."""
    keys = ["conditioner"] if link.chosen("conditioner") else []
    keys += [f"conditioners[{index}]" for index in range(link.count("conditioners"))]
    lines = [f"tc qdisc replace dev {device} clsact"] if keys else []
    for index, key in enumerate(keys, start=1):
        words, points = _policer(link, key, remarks)
        start = f"tc filter add dev {device} egress"
        # What conforms is handed to the filters behind; one policer may have several filters.
        action = f"action police {words} conform-exceed drop/continue index {index}"
        if not points:
            lines.append(f"{start} protocol ip prio {index} matchall {action}")
        for number_, point in enumerate(points):
            match = f"u32 match ip dsfield {point << 2:#04x} 0xfc"
            shared = f"action police index {index}" if number_ else action
            lines.append(f"{start} protocol ip prio {index} {match} {shared}")
    if keys:
        path = f"{link.path}.{keys[0]}"
        remarks.note(path, "Linux's police counts the Ethernet header, 14 B a packet, too")
    return lines


def _policer(view: View, key: str, remarks: Remarks) -> tuple[str, list[int]]:
    """The words of a policer, and the codepoints that it sees (none: all)."""
    name = view.chosen(key)
    law = view.at(f"{key}.{name}")
    if name == "only":
        for end in ("src", "dst"):
            if law.get(end):
                text = "not mapped to tc's filters; the nearest is dscp"
                remarks.refuse(f"{law.path}.{end}", text)
        words, _ = _policer(law, "of", remarks)
        return words, [point for entry in law.list("dscp") for point in codepoints(entry)]
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
    return f"rate {tc_rate(law.text(rate))} burst {round(size)}", []


# What trTCM has as red exceeds the peak rate, whatever the committed one leaves.
_BUCKETS = {"token_bucket": ("cir", "cbs"), "srtcm": ("cir", "cbs"), "trtcm": ("pir", "pbs")}
