"""The queue of a link as commands of tc: one qdisc, or a scheduler with its classes and filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forebay.linux.queues import UNLIMITED, qdisc
from forebay.linux.values import Remarks, View, number, tc_rate, whole_seconds

__all__ = ["Device", "Place", "codepoint", "codepoints", "queue_commands"]

_AVERAGING = {
    "adaptive_red": "idle_correction",
    "choke": "of.red.idle_correction",
    "red": "idle_correction",
}
"""Mechanisms with an average that decays while the queue is idle, and the key of that."""

_NAMED = {"DF": 0, "BE": 0, "LE": 1, "VOICE-ADMIT": 44, "VA": 44, "EF": 46}


@dataclass
class Device:
    """A device that sends for a link: its name, its rate, and the handles that it has given."""

    name: str
    rate: str | None
    given: int = 0xF

    def handle(self) -> str:
        """A handle that no qdisc of the device has; tc's handles are hexadecimal."""
        self.given += 1
        return f"{self.given:x}"


@dataclass
class Place:
    """Place of a queue: the words of tc for it, and whether the discipline above tells it of idle
    times.

    Linux's RED takes an idle time as begun when it is asked for a packet and has none. tbf and
    prio only look at what is there first, and drr, htb and the round of ets ask no empty class.
    """

    words: str
    tells_idle: bool = True


def queue_commands(
    view: View, key: str, place: Place, device: Device, remarks: Remarks
) -> list[str]:
    """The commands for the queue that `view` has at `key`."""
    handle = device.handle()
    start = f"tc qdisc replace dev {device.name} {place.words.format(handle=handle)} "
    name = view.chosen(key)
    if name in _SCHEDULERS:
        law = view.at(f"{key}.{name}")
        return _SCHEDULERS[name](_Scheduler(law, handle, device, start, remarks, place.tells_idle))
    lines = []
    if name in _AVERAGING and not place.words.startswith("root"):
        if place.tells_idle:
            # To look at what is there, ets takes a packet out: it asks.
            lines = [f"{start}ets bands 1 strict 1"]
            below = device.handle()
            start = f"tc qdisc replace dev {device.name} parent {handle}:1 handle {below}: "
        else:
            text = "in a class of Linux that is asked only while it has packets, no idle time"
            remarks.approximate(f"{view.path}.{key}.{name}.{_AVERAGING[name]}", text)
    return [*lines, start + " ".join(qdisc(view, key, device.rate, remarks))]


def codepoint(name: str) -> int:
    """The number of a differentiated services codepoint."""
    if name in _NAMED:
        return _NAMED[name]
    if name.startswith("CS"):
        return 8 * int(name[2:])
    if name.startswith("AF"):
        return 8 * int(name[2]) + 2 * int(name[3])
    return int(name)


def codepoints(entry: str) -> list[int]:
    """The codepoints of one class, such as "AF41 AF42 AF43"."""
    return [codepoint(name) for name in entry.split()]


@dataclass
class _Scheduler:
    """A scheduler: its parameters, its handle, its device, how its command starts, and whether
    it learns of idle times itself."""

    law: View
    handle: str
    device: Device
    start: str
    remarks: Remarks
    is_told: bool

    def queues(self, keys: list[str], minors: list[int], telling: int = 0) -> list[str]:
        """The commands for the queues of its classes; the first `telling` learn of idle times."""
        lines = []
        for index, (key, minor) in enumerate(zip(keys, minors, strict=True)):
            told = self.is_told and index < telling
            place = Place(f"parent {self.handle}:{minor:x} handle {{handle}}:", told)
            lines += queue_commands(self.law, key, place, self.device, self.remarks)
        return lines

    def filters(self, minors: list[int]) -> tuple[list[str], int]:
        """The commands that classify, and the class of what no filter matches."""
        if self.law.get("classify") == "flow_hash":
            return [_by_hash(self, minors[0], len(minors))], 0
        matches, default = _matches(self.law, len(minors), self.remarks)
        lines = [
            f"tc filter add dev {self.device.name} parent {self.handle}: protocol ip prio 1 "
            f"u32 match ip dsfield {value:#04x} {mask:#04x} flowid {self.handle}:{minors[index]:x}"
            for value, mask, index in matches
        ]
        return lines, default


def _by_hash(scheduler: _Scheduler, first: int, count: int) -> str:
    """The filter that spreads flows over classes whose identifiers follow one another."""
    law, handle = scheduler.law, scheduler.handle
    if law.get("salt"):
        scheduler.remarks.note(f"{law.path}.salt", "Linux draws the key of its hash at random")
    # "flow", the default, or the hosts that are meant, in tc's own words.
    chosen = law.get("keys") or "flow"
    if chosen == "group":
        scheduler.remarks.refuse(f"{law.path}.keys", "tc knows no groups; the nearest is dst")
    keys = "src,dst,proto,proto-src,proto-dst" if chosen == "flow" else chosen
    words = f"divisor {count} baseclass {handle}:{first:x}"
    if perturb := law.get("perturb"):
        words += f" perturb {whole_seconds(perturb, f'{law.path}.perturb', scheduler.remarks)}"
    return (
        f"tc filter add dev {scheduler.device.name} parent {handle}: protocol ip prio 1 "
        f"handle 1 flow hash keys {keys} {words}"
    )


def _matches(law: View, count: int, remarks: Remarks) -> tuple[list[tuple[int, int, int]], int]:
    """Values and masks of the field of DSCP and ECN with their classes; the class of the rest."""
    chosen = law.get("classify")
    if law.list("dscp") and chosen in (None, "dscp"):
        found = [
            (point << 2, 0xFC, index)
            for index, entry in enumerate(law.list("dscp"))
            for point in codepoints(entry)
        ]
        return found, int(law.get("otherwise") or count - 1)
    if law.list("ecn_classes") and chosen in (None, "ecn"):
        classes = [int(entry) for entry in law.list("ecn_classes")]
        return [(value, 0x03, index) for value, index in enumerate(classes)], 0
    others = [key for key in ("rules", "flow_groups") if law.get(key) or law.below(key)]
    if chosen in (None, "precedence") and not others:
        remarks.note(f"{law.path}.map", "precedence p travels as the codepoint CSp (RFC 2474)")
        classes = [int(entry) for entry in law.list("map")] or list(range(count))
        of = [min(classes[min(p, len(classes) - 1)], count - 1) for p in range(8)]
        return [(p << 5, 0xFC, of[p]) for p in range(1, 8)], of[0]
    path = f"{law.path}.{[*others, 'classify'][0]}"
    return remarks.refuse(path, "not mapped to tc's filters; the nearest is dscp")


def _bands(scheduler: _Scheduler, words: list[str], strict: int) -> list[str]:
    """prio or ets, with so many strict classes: the first is band 0, whose identifier is 1."""
    law = scheduler.law
    count = law.count("classes")
    minors = [index + 1 for index in range(count)]
    filters, default = scheduler.filters(minors)
    # What no filter matches has the band of its Linux priority, one of 16.
    mapped = ["priomap", *[str(default)] * 16]
    keys = [f"classes[{index}]" for index in range(count)]
    line = scheduler.start + " ".join([*words, *mapped])
    return [line, *filters, *scheduler.queues(keys, minors, strict)]


def _priority(scheduler: _Scheduler) -> list[str]:
    count = scheduler.law.count("classes")
    if count > 16:
        text = "prio has 16 bands at most; the nearest is 16 classes"
        scheduler.remarks.refuse(f"{scheduler.law.path}.classes", text)
    return _bands(scheduler, ["prio", "bands", str(max(2, count))], count)


def _ets(scheduler: _Scheduler) -> list[str]:
    law = scheduler.law
    count, strict = law.count("classes"), int(law.get("strict") or 0)
    if count > 16:
        text = "ets has 16 bands at most; the nearest is 16 classes"
        scheduler.remarks.refuse(f"{law.path}.classes", text)
    words = ["ets", "bands", str(count)]
    words += ["strict", str(strict)] if strict else []
    if count > strict:
        words += ["quanta", *_quanta(law, count - strict)]
    return _bands(scheduler, words, strict)


def _quanta(law: View, count: int) -> list[str]:
    given = law.list("quanta") or ["1500 B"] * count
    return [str(round(number(entry))) for entry in given]


def _drr(scheduler: _Scheduler) -> list[str]:
    law, dev, handle = scheduler.law, scheduler.device.name, scheduler.handle
    count = law.count("classes")
    minors = [index + 1 for index in range(count)]
    lines = [f"{scheduler.start}drr"]
    for minor, quantum in zip(minors, _quanta(law, count), strict=True):
        start = f"tc class replace dev {dev} parent {handle}: classid {handle}:{minor:x}"
        lines.append(f"{start} drr quantum {quantum}")
    filters, default = scheduler.filters(minors)
    # drr drops what no filter classifies, ARP included.
    rest = (
        f"tc filter add dev {dev} parent {handle}: protocol all prio 2 "
        f"matchall flowid {handle}:{minors[default]:x}"
    )
    keys = [f"classes[{index}]" for index in range(count)]
    return [*lines, *filters, rest, *scheduler.queues(keys, minors)]


def _htb(scheduler: _Scheduler) -> list[str]:
    law, handle = scheduler.law, scheduler.handle
    parts = [law.at(f"classes[{index}]") for index in range(law.count("classes"))]
    leaves = [index for index, part in enumerate(parts) if part.chosen("queue")]
    # Those of classes with a queue come first: a filter by hash counts on from the first.
    inner = [index for index in range(len(parts)) if index not in leaves]
    minor = {index: at for at, index in enumerate([*leaves, *inner], start=1)}
    numbers = {part.text("name"): minor[index] for index, part in enumerate(parts)}
    minors = [minor[index] for index in leaves]
    filters, default = scheduler.filters(minors)
    lines = [f"{scheduler.start}htb default {minors[default]:x}"]
    for index, part in enumerate(parts):
        above = part.get("parent")
        parent = f"{handle}:{numbers[above]:x}" if above else f"{handle}:"
        rate = number(part.text("rate"))
        # What a class of HTB has where nothing is given: a tenth of a second (r2q 10), bounded.
        usual = min(max(round(rate / 80), 1000), 200_000)
        quantum = round(number(part.get("quantum") or f"{usual} B"))
        lines.append(
            f"tc class replace dev {scheduler.device.name} parent {parent} "
            f"classid {handle}:{minor[index]:x} htb rate {tc_rate(part.text('rate'))} "
            f"ceil {tc_rate(part.get('ceil') or part.text('rate'))} "
            f"burst {round(number(part.text('burst')))} "
            f"cburst {round(number(part.text('ceil_burst')))} "
            f"prio {part.get('priority') or 0} quantum {quantum}"
        )
    keys = [f"classes[{index}].queue" for index in leaves]
    return [*lines, *filters, *scheduler.queues(keys, minors)]


def _tbf(scheduler: _Scheduler) -> list[str]:
    """The queue inside has a qdisc of its own; one of bytes is what tbf has by itself."""
    law = scheduler.law
    limit = law.get("queue.droptail.limit") or ""
    own = str(round(number(limit))) if limit.endswith("B") else str(UNLIMITED * 1500)
    words = ["tbf", "rate", tc_rate(law.text("rate"))]
    words += ["burst", str(round(number(law.text("burst")))), "limit", own]
    if peak := law.get("peak_rate"):
        words += ["peakrate", tc_rate(peak), "mtu", str(round(number(law.text("peak_burst"))))]
    line = scheduler.start + " ".join(words)
    if limit.endswith("B"):
        return [line]
    return [line, *scheduler.queues(["queue"], [1], 1)]


_SCHEDULERS: dict[str | None, Callable[[_Scheduler], list[str]]] = {
    "drr": _drr,
    "ets": _ets,
    "htb": _htb,
    "priority": _priority,
    "tbf": _tbf,
}
