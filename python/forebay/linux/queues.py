"""Queue mechanisms as qdiscs: one function for each, and a table of them."""

from __future__ import annotations

import math
from collections.abc import Callable

from forebay.linux.values import Remarks, View, number, tc_rate, tc_time, whole_seconds

__all__ = ["QUEUES", "qdisc", "red_burst"]

UNLIMITED = 1_000_000
"""Packets of a queue that is not limited: tc has no word for that."""


def qdisc(view: View, key: str, rate: str | None, remarks: Remarks) -> list[str]:
    """The words of the qdisc that `view`, a link or a class, has at `key`, sending at `rate`."""
    name = view.chosen(key) or "droptail"
    path = f"{view.path}.{key}.{name}"
    if name not in QUEUES:
        if name in _UNMAPPED:
            remarks.refuse(path, f"not mapped to Linux's {_UNMAPPED[name]}, which is the nearest")
        near = _NEAREST.get(name, "pfifo")
        title = _TITLES.get(name, name)
        remarks.refuse(path, f"Linux has no {title}; the nearest is {near}")
    words = QUEUES[name](view.at(f"{key}.{name}"), remarks)
    # How many packets an idle time is worth: tc takes 10 Mbit/s where nothing is said.
    idle = ["bandwidth", tc_rate(rate)] if rate and words[0] in ("red", "choke") else []
    return [*words, *idle]


def red_burst(weight: float, minimum: int, average: int) -> tuple[int, int]:
    """The least `burst` of which tc makes the power of two nearest to `weight`, and its exponent.

    tc takes the least exponent for which burst + 1 - min / avpkt is at most
    (1 - (1 - W)^burst) / W, with W = 2^-exponent.
    """
    wanted = max(1, round(-math.log2(weight)))
    burst = max(1, math.ceil(minimum / average))
    while True:
        made = _exponent(burst, minimum, average)
        if made >= wanted:
            return burst, made
        burst += 1


def _exponent(burst: int, minimum: int, average: int) -> int:
    room = burst + 1 - minimum / average
    for exponent in range(1, 32):
        weight = 2.0**-exponent
        if room <= (1 - (1 - weight) ** burst) / weight:
            return exponent
    return 32


def _packets(view: View, remarks: Remarks) -> str:
    limit = view.get("limit")
    if limit is None:
        remarks.note(f"{view.path}.limit", f"not limited; tc gets {UNLIMITED} packets")
        return str(UNLIMITED)
    if limit.endswith("B"):
        size = 1500
        count = max(1, int(number(limit) / size))
        remarks.approximate(f"{view.path}.limit", f"tc counts packets: {count} of {size} B")
        return str(count)
    return str(int(number(limit)))


def _bytes(text: str, packet: int) -> int:
    return round(number(text)) * (1 if text.endswith("B") else packet)


def _differs(view: View, key: str, same: str, text: str, remarks: Remarks) -> None:
    if view.get(key) not in (same, None):
        remarks.approximate(f"{view.path}.{key}", text)


def _ecn(view: View) -> list[str]:
    return ["ecn"] if view.is_set("ecn") else []


def _droptail(view: View, remarks: Remarks) -> list[str]:
    limit = view.get("limit")
    if limit and limit.endswith("B"):
        remarks.note(f"{view.path}.limit", "Linux counts the frame being transmitted, too")
        return ["bfifo", "limit", str(round(number(limit)))]
    if limit:
        remarks.note(
            f"{view.path}.limit", "Linux counts the packet being transmitted: one waits less"
        )
    return ["pfifo", "limit", _packets(view, remarks)]


def _red(view: View, remarks: Remarks) -> list[str]:
    for key in ("min_threshold", "max_threshold", "weight"):
        if view.get(key) is None:
            remarks.refuse(f"{view.path}.{key}", "tc derives none; the nearest is a number")
    mean = round(number(view.text("mean_packet")))
    least = _bytes(view.text("min_threshold"), mean)
    most = _bytes(view.text("max_threshold"), mean)
    limit = view.get("limit")
    total = _bytes(limit, mean) if limit else UNLIMITED * mean
    weight = float(view.text("weight"))
    burst, exponent = red_burst(weight, least, mean)
    if 2.0**-exponent != weight:
        remarks.note(f"{view.path}.weight", f"{weight} becomes 2^-{exponent} = {2.0**-exponent}")
    _first_above(view, remarks)
    remarks.note(view.path, f"thresholds are bytes in Linux: packets are taken as {mean} B")
    if view.is_set("gentle"):
        remarks.approximate(
            f"{view.path}.gentle", "Linux's red drops all above max; there is no gentle part"
        )
    if view.get("spacing") == "uniform":
        remarks.note(f"{view.path}.spacing", 'Linux draws each gap once, as "drawn"')
    else:
        _differs(view, "spacing", "drawn", "Linux draws each gap once", remarks)
    _differs(view, "byte_mode", "off", "Linux drops packets of all sizes alike", remarks)
    numbers = ["min", str(least), "max", str(most), "limit", str(total), "avpkt", str(mean)]
    chance = ["burst", str(burst), "probability", view.text("max_probability")]
    # Above the maximum Linux marks, too, unless it is told to drop.
    hard = [] if view.get("harddrop") == "false" else ["harddrop"]
    ecn = ["ecn", *hard] if view.is_set("ecn") else []
    return ["red", *numbers, *chance, *ecn]


def _first_above(view: View, remarks: Remarks) -> None:
    if view.get("count") != "linux":
        text = "Linux never drops the packet with which the average crosses min_threshold"
        remarks.note(f"{view.path}.count", f'{text}, as "linux"')


def _adaptive_red(view: View, remarks: Remarks) -> list[str]:
    for key, fixed in (
        ("alpha", "0.01"),
        ("beta", "0.9"),
        ("bottom", "0.01"),
        ("top", "0.5"),
        ("interval", "500 ms"),
    ):
        _differs(view, key, fixed, f"Linux's adaptive RED has {fixed}", remarks)
    return [*_red(view, remarks), "adaptive"]


def _choke(view: View, remarks: Remarks) -> list[str]:
    if view.chosen("of") != "red":
        remarks.refuse(f"{view.path}.of.{view.chosen('of')}", "Linux's choke is around red alone")
    if view.get("region"):
        remarks.refuse(f"{view.path}.region", "Linux's choke has none; the nearest is candidates 1")
    law = view.at("of.red")
    mean = round(number(law.text("mean_packet")))
    least, most = (_bytes(law.text(f"{end}_threshold"), mean) / mean for end in ("min", "max"))
    for key, same in (("candidates", "1"), ("weight", law.text("weight"))):
        _differs(view, key, same, f"Linux's choke has {same}", remarks)
    same = law.text("min_threshold")
    _differs(view, "threshold", same, f"Linux's choke has that of red, {same}", remarks)
    if law.is_set("gentle"):
        remarks.approximate(f"{law.path}.gentle", "Linux's choke drops all above max")
    _first_above(law, remarks)
    burst, exponent = red_burst(float(law.text("weight")), round(least) * mean, mean)
    remarks.note(f"{law.path}.weight", f"{law.text('weight')} becomes 2^-{exponent}")
    words = ["choke", "limit", _packets(law, remarks), "min", str(round(least))]
    words += ["max", str(round(most)), "avpkt", str(mean), "burst", str(burst)]
    return [*words, "probability", law.text("max_probability"), *_ecn(law)]


def _codel(view: View, remarks: Remarks) -> list[str]:
    return ["codel", "limit", _packets(view, remarks), *_delays(view, remarks), *_noecn(view)]


def _delays(view: View, remarks: Remarks) -> list[str]:
    words = []
    for key in ("target", "interval"):
        words += [key, tc_time(view.text(key), f"{view.path}.{key}", remarks)]
    return words


def _noecn(view: View) -> list[str]:
    return ["ecn" if view.is_set("ecn") else "noecn"]


def _fq_codel(view: View, remarks: Remarks) -> list[str]:
    _refuse_keys(view, remarks)
    words = ["fq_codel", "limit", _packets(view, remarks), "flows", view.text("queues")]
    words += ["quantum", str(round(number(view.text("quantum")))), *_delays(view, remarks)]
    if threshold := view.get("ce_threshold"):
        words += ["ce_threshold", tc_time(threshold, f"{view.path}.ce_threshold", remarks)]
    if view.get("mtu_scope") != "all":
        text = "Linux spares a packet while an mtu waits in all queues together"
        remarks.note(f"{view.path}.mtu_scope", f'{text}, as "all"')
    memory = str(round(number(view.text("memory_limit"))))
    return [*words, "memory_limit", memory, "drop_batch", view.text("drop_batch"), *_noecn(view)]


def _pie_gains(view: View, remarks: Remarks) -> list[str]:
    words = ["target", tc_time(view.text("target"), f"{view.path}.target", remarks)]
    words += ["tupdate", tc_time(view.text("update_interval"), view.path, remarks)]
    for key in ("alpha", "beta"):
        scaled = number(view.text(key)) * 16
        if scaled.denominator != 1:
            text = f"tc has sixteenths: {round(scaled)}/16"
            remarks.approximate(f"{view.path}.{key}", text)
        words += [key, str(round(scaled))]
    remarks.note(
        f"{view.path}.update_interval",
        "Linux rounds it up to ticks and adds one: 15 ms are 30 ms at 100 Hz",
    )
    for key, same in (("decay", "empty"), ("high_delay", "250 ms")):
        if view.get(key) != same:
            remarks.note(f"{view.path}.{key}", f"Linux has {same}")
    _differs(view, "max_burst", "150 ms", "Linux's burst allowance is 150 ms", remarks)
    if view.is_set("bytemode"):
        words.append("bytemode")
        remarks.note(f"{view.path}.bytemode", "Linux divides by the MTU, not by mean_packet")
    return words


def _pie(view: View, remarks: Remarks) -> list[str]:
    words = ["pie", "limit", _packets(view, remarks), *_pie_gains(view, remarks)]
    estimator = "dq_rate_estimator" if view.get("delay") == "departure_rate" else ""
    _differs(view, "derandomize", "true", "Linux always derandomises", remarks)
    return [*words, *_noecn(view), estimator or "no_dq_rate_estimator"]


def _fq_pie(view: View, remarks: Remarks) -> list[str]:
    _refuse_keys(view, remarks)
    words = ["fq_pie", "limit", _packets(view, remarks), "flows", view.text("queues")]
    words += [*_pie_gains(view, remarks), "quantum", str(round(number(view.text("quantum"))))]
    words += ["memory_limit", str(round(number(view.text("memory_limit"))))]
    ecn_prob = round(number(view.text("mark_limit")) * 100)
    return [*words, "ecn_prob", str(ecn_prob), *_noecn(view)]


def _sfq(view: View, remarks: Remarks) -> list[str]:
    _refuse_keys(view, remarks)
    words = ["sfq", "limit", _packets(view, remarks), "divisor", view.text("queues")]
    words += ["quantum", str(round(number(view.text("quantum")))), "depth", view.text("depth")]
    if perturb := view.get("perturb"):
        words += ["perturb", whole_seconds(perturb, f"{view.path}.perturb", remarks)]
    return [*words, *(["headdrop"] if view.is_set("head_drop") else [])]


def _cake(view: View, remarks: Remarks) -> list[str]:
    rate = view.get("rate")
    words = ["cake", *(["bandwidth", tc_rate(rate)] if rate else ["unlimited"])]
    words += ["rtt", tc_time(view.text("interval"), f"{view.path}.interval", remarks)]
    words += [view.text("tins"), _ISOLATION.get(view.text("isolation"), view.text("isolation"))]
    words += ["overhead", str(round(number(view.text("overhead"))))]
    words += ["mpu", str(round(number(view.text("mpu"))))]
    words += [_FRAMING[view.text("framing")], "wash" if view.is_set("wash") else "nowash"]
    words += [_ACK_FILTER[view.text("ack_filter")]]
    remarks.note(f"{view.path}.ecn", "Linux's cake always marks packets that are ECN-capable")
    if view.text("isolation") not in ("none", "flows") and _hosts_differ(view):
        text = "each group of flows has hosts of its own on Linux, at either end"
        remarks.note(f"{view.path}.isolation", text)
    _differs(view, "target", "5 ms", "cake takes its target from rtt: a twentieth", remarks)
    _differs(view, "queues", "1024", "cake has 1024 queues", remarks)
    return words


def _hosts_differ(view: View) -> bool:
    """True if flows have other hosts here than in the script, where each group has two."""
    if view.get("flows_per_source") or view.get("flows_per_destination"):
        return True
    ends = (".host", ".to_host")
    hosts = [
        value
        for key, value in view.values.items()
        if key.startswith("flows.") and key.endswith(ends)
    ]
    return len(set(hosts)) < len(hosts)


def _refuse_keys(view: View, remarks: Remarks) -> None:
    """Queues by host need a filter of tc."""
    if view.get("keys") not in (None, "flow"):
        text = "not mapped to tc's filters (tc-flow); the nearest is a queue for each flow"
        remarks.refuse(f"{view.path}.keys", text)


_ISOLATION = {
    "none": "flowblind",
    "triple_isolate": "triple-isolate",
    "dual_srchost": "dual-srchost",
    "dual_dsthost": "dual-dsthost",
}
_FRAMING = {"none": "noatm", "atm": "atm", "ptm": "ptm"}
_ACK_FILTER = {
    "off": "no-ack-filter",
    "conservative": "ack-filter",
    "aggressive": "ack-filter-aggressive",
}


def _dualpi2(view: View, remarks: Remarks) -> list[str]:
    remarks.note(view.path, "needs Linux 6.17 and an iproute2 of that time")
    words = ["dualpi2", "limit", _packets(view, remarks)]
    words += ["target", tc_time(view.text("target"), f"{view.path}.target", remarks)]
    words += ["tupdate", tc_time(view.text("update_interval"), view.path, remarks)]
    words += ["alpha", view.text("alpha"), "beta", view.text("beta")]
    words += ["coupling_factor", f"{float(number(view.text('coupling'))):g}"]
    if packets := view.get("step_packets"):
        words += ["step_thresh", f"{packets}p"]
    else:
        words += ["step_thresh", tc_time(view.text("step"), f"{view.path}.step", remarks)]
    words += ["min_qlen_step", view.text("min_step_queue")]
    words += ["classic_protection", f"{view.text('classic_share')}%"]
    words += ["drop_on_overload" if view.is_set("drop_overload") else "overflow"]
    words += ["drop_enqueue" if view.is_set("drop_early") else "drop_dequeue"]
    return [*words, "l4s_ect" if view.get("low_latency") == "ect1" else "any_ect"]


QUEUES: dict[str, Callable[[View, Remarks], list[str]]] = {
    "adaptive_red": _adaptive_red,
    "cake": _cake,
    "choke": _choke,
    "codel": _codel,
    "droptail": _droptail,
    "dualpi2": _dualpi2,
    "fq_codel": _fq_codel,
    "fq_pie": _fq_pie,
    "pie": _pie,
    "red": _red,
    "sfq": _sfq,
}
"""The function that gives the words of tc, by the name of the mechanism."""

_UNMAPPED = {"gred": "gred"}
"""Queues that Linux has, but for which no words are written here."""

_TITLES = {"rio": "RIO", "wred": "WRED", "cobalt": "COBALT alone", "sred": "SRED"}
_NEAREST = {
    "cobalt": "cake besteffort flowblind",
    "rio": "gred",
    "wred": "gred",
    "redn": "gred",
    "adaptive_redn": "gred",
    "self_configuring": "gred",
    "sred": "red",
    "partial_buffer_sharing": "gred",
    "scfq": "drr",
    "stfq": "drr",
    "wfq": "drr",
    "wf2q_plus": "qfq",
    "wrr": "drr",
}
