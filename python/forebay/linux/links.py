"""A link: its rate and queue where it sends, its delay and impairments behind that."""

from __future__ import annotations

from fractions import Fraction

from forebay.linux.classes import Device, Place, queue_commands
from forebay.linux.police import police_commands
from forebay.linux.queues import UNLIMITED
from forebay.linux.values import Remarks, View, number, tc_rate, tc_time

__all__ = ["delay_words", "rate_commands", "wire_words"]

ETHERNET = 14
"""Bytes of the header that Linux counts as part of a packet."""


def rate_commands(link: View, device: str, mtu: int, remarks: Remarks) -> list[str]:
    """The commands of tc for the rate and the queue of one direction, on `device`.

    `mtu` is the largest packet of the scenario, with its IP header.
    """
    for part in ("shaper", "detector", "explicit_rate"):
        if name := link.chosen(part):
            remarks.refuse(f"{link.path}.{part}.{name}", "not mapped; the nearest is tbf")
    for part in ("schedule", "trace", "rate_steps", "failure", "profile"):
        if link.get(part) or link.below(part):
            remarks.refuse(f"{link.path}.{part}", "a link of tc is constant; the nearest is rate")
    lines = police_commands(link, device, remarks)
    rate = link.get("rate")
    # A size table takes the Ethernet header off: rates and thresholds count IP packets.
    stab = f"stab overhead -{ETHERNET}"
    if rate is None:
        root = Place(f"root handle {{handle}}: {stab}")
        return [*lines, *queue_commands(link, "queue", root, Device(device, rate), remarks)]
    # One packet and a little more: a larger burst lets two leave at once.
    shaper = f"tbf rate {tc_rate(rate)} burst {mtu + 100} limit {UNLIMITED * mtu}"
    below = Place("parent 1:1 handle {handle}:")
    return [
        *lines,
        f"tc qdisc replace dev {device} root handle 1: {stab} {shaper}",
        *queue_commands(link, "queue", below, Device(device, rate), remarks),
    ]


def delay_words(link: View, remarks: Remarks) -> list[str]:
    """The words of netem for the delay and impairment of one direction; none without them."""
    if link.count("impairments"):
        text = "netem has an order of its own; the nearest is one impairment"
        remarks.refuse(f"{link.path}.impairments", text)
    words = ["netem", "limit", str(UNLIMITED)]
    delay = tc_time(link.get("delay") or "0 s", f"{link.path}.delay", remarks)
    name = link.chosen("impairment")
    if name is None and delay == "0us":
        return []
    if name == "jitter":
        return [*words, *_jitter(link, delay, remarks)]
    words += ["delay", delay]
    if name:
        path = f"{link.path}.impairment.{name}"
        if name not in _IMPAIRMENTS:
            remarks.refuse(path, f"netem has no {name}; the nearest is loss")
        words += _IMPAIRMENTS[name](link.at(f"impairment.{name}"))
    return words


def wire_words(link: View, remarks: Remarks) -> list[str]:
    """The words of netem for the wire of one direction: transmission, and what comes behind it.

    tbf lets a packet go when its transmission begins; it arrives when that has ended.
    """
    words = delay_words(link, remarks)
    rate = link.get("rate")
    if rate is None:
        return words
    return [*(words or ["netem", "limit", str(UNLIMITED)]), "rate", tc_rate(rate), f"-{ETHERNET}"]


def _percent(value: str | Fraction) -> str:
    return f"{float(Fraction(value) * 100):.12g}%"


def _jitter(link: View, delay: str, remarks: Remarks) -> list[str]:
    path = f"{link.path}.impairment.jitter"
    law = link.at("impairment.jitter")
    if law.get("distribution") != "uniform":
        remarks.refuse(f"{path}.distribution", "netem has none; the nearest is uniform")
    mean = number(law.text("mean"))
    base = number(link.get("delay") or "0 s")
    # Uniform from 0 to twice the mean is netem's delay plus or minus its jitter.
    middle, spread = round((base + mean) * 10**6), round(mean * 10**6)
    # With a rate netem sends in order, and without at the time that each packet has drawn.
    keeps_order = link.get("rate") is not None
    if law.is_set("reorder") == keeps_order:
        does = "keeps packets in order" if keeps_order else "reorders packets"
        remarks.approximate(f"{path}.reorder", f"netem's jitter {does}")
    return ["delay", f"{middle}us", f"{spread}us"]


_IMPAIRMENTS = {
    "loss": lambda law: ["loss", "random", _percent(law.text("probability"))],
    "duplication": lambda law: ["duplicate", _percent(law.text("probability"))],
    "gilbert_elliott": lambda law: [
        "loss",
        "gemodel",
        _percent(law.text("to_bad")),
        _percent(law.text("to_good")),
        # netem's 1-h is the loss in the bad state, its 1-k that in the good one.
        _percent(law.text("loss_in_bad")),
        _percent(law.text("loss_in_good")),
    ],
}
