"""A link: its rate and queue where it sends, its delay and impairments behind that."""

from __future__ import annotations

from fractions import Fraction

from forebay.linux.queues import UNLIMITED, qdisc
from forebay.linux.values import Remarks, View, number, tc_rate, tc_time

__all__ = ["delay_words", "rate_commands"]

BURST = 1600
"""One packet of 1500 B with its Ethernet header: a larger burst lets two leave at once."""


def rate_commands(link: View, device: str, remarks: Remarks) -> list[str]:
    """The commands of tc for the rate and the queue of one direction, on `device`."""
    for part in ("conditioner", "shaper", "detector", "explicit_rate"):
        if name := link.chosen(part):
            near = "tc filter ... action police" if part == "conditioner" else "tbf"
            remarks.refuse(f"{link.path}.{part}.{name}", f"not mapped; the nearest is {near}")
    for part in ("schedule", "trace", "rate_steps", "failure", "profile"):
        if link.get(part) or link.below(part):
            remarks.refuse(f"{link.path}.{part}", "a link of tc is constant; the nearest is rate")
    words = qdisc(link, remarks)
    rate = link.get("rate")
    if rate is None:
        return [f"tc qdisc replace dev {device} root handle 1: {' '.join(words)}"]
    remarks.note(f"{link.path}.rate", "Linux counts the Ethernet header, 14 B a packet, too")
    shaper = f"tbf rate {tc_rate(rate)} burst {BURST} limit {UNLIMITED * 1500}"
    return [
        f"tc qdisc replace dev {device} root handle 1: {shaper}",
        f"tc qdisc replace dev {device} parent 1:1 handle 10: {' '.join(words)}",
    ]


def delay_words(link: View, remarks: Remarks) -> list[str]:
    """The words of netem for the delay and the impairment of one direction."""
    words = ["netem", "limit", str(UNLIMITED)]
    delay = tc_time(link.get("delay") or "0 s", f"{link.path}.delay", remarks)
    name = link.chosen("impairment")
    if name == "jitter":
        return [*words, *_jitter(link, delay, remarks)]
    words += ["delay", delay]
    if name:
        path = f"{link.path}.impairment.{name}"
        if name not in _IMPAIRMENTS:
            remarks.refuse(path, f"netem has no {name}; the nearest is loss")
        words += _IMPAIRMENTS[name](link.at(f"impairment.{name}"))
    return words


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
    if not law.is_set("reorder"):
        remarks.approximate(f"{path}.reorder", "netem's jitter reorders packets")
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
