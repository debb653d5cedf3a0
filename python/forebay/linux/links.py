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

_INSTANT = "100000000000bit"
"""A rate at which packets take no time: 0.1 us for 1500 B."""

_PEEKED = ("cake", "codel", "dualpi2", "fq_codel", "fq_pie", "pie", "sfq")
"""Queues that give up a packet where they are asked which is next."""


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
    start = f"tc qdisc replace dev {device} root handle 1: {stab}"
    if _gives_up(link, "queue"):
        # tbf would take the next packet out while one is transmitted, and a queue would see that
        # wait less. htb asks when it may send; what it may send at once is next to nothing.
        shaper = [
            f"{start} htb default 1",
            f"tc class replace dev {device} parent 1: classid 1:1 htb rate {tc_rate(rate)} "
            f"burst 1 cburst 1 quantum {mtu}",
        ]
    else:
        # One packet and a little more: a larger burst lets two leave at once.
        burst = f"burst {mtu + 100} limit {UNLIMITED * mtu}"
        shaper = [f"{start} tbf rate {tc_rate(rate)} {burst}"]
    below = Place("parent 1:1 handle {handle}:")
    queue = queue_commands(link, "queue", below, Device(device, rate), remarks)
    return [*lines, *shaper, *queue]


def _gives_up(view: View, key: str) -> bool:
    """True if a queue gives up a packet where it is asked which is next; tbf asks the one in it."""
    name = view.chosen(key)
    return name in _PEEKED or (name == "tbf" and _gives_up(view.at(f"{key}.tbf"), "queue"))


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
        return [*words, *_jitter(link, remarks)]
    words += ["delay", delay]
    if name:
        path = f"{link.path}.impairment.{name}"
        if name not in _IMPAIRMENTS:
            remarks.refuse(path, f"netem has no {name}; the nearest is loss")
        words += _IMPAIRMENTS[name](link.at(f"impairment.{name}"))
    return words


def wire_words(link: View, remarks: Remarks) -> list[list[str]]:
    """The words of netem for the wire of one direction, one within the other.

    tbf lets a packet go when its transmission begins; it arrives when that has ended. A jitter is
    a netem of its own: one with the rate of the link, too, would send the packet behind a late one
    a transmission time later still, and under full load all would be as late as the latest.
    """
    words = delay_words(link, remarks)
    if (rate := link.get("rate")) is None:
        return [words] if words else []
    sending = ["rate", tc_rate(rate), f"-{ETHERNET}"]
    unlimited = ["netem", "limit", str(UNLIMITED)]
    if link.chosen("impairment") == "jitter":
        return [[*unlimited, *sending], words]
    return [[*(words or unlimited), *sending]]


def _percent(value: str | Fraction) -> str:
    return f"{float(Fraction(value) * 100):.12g}%"


def _jitter(link: View, remarks: Remarks) -> list[str]:
    path = f"{link.path}.impairment.jitter"
    law = link.at("impairment.jitter")
    if law.get("distribution") != "uniform":
        remarks.refuse(f"{path}.distribution", "netem has none; the nearest is uniform")
    mean = number(law.text("mean"))
    base = number(link.get("delay") or "0 s")
    # Uniform from 0 to twice the mean is netem's delay plus or minus its jitter.
    middle, spread = round((base + mean) * 10**6), round(mean * 10**6)
    words = ["delay", f"{middle}us", f"{spread}us"]
    # Without a rate netem sends each packet at the time that it has drawn, with one in order.
    return words if law.is_set("reorder") else [*words, "rate", _INSTANT]


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
