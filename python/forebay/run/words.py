"""Names of quantities and axes as people read them: no raw keys, and a unit that fits."""

# ruff: noqa: PLC0415 (tables of results need no reader of TOML, which is slow to import)

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forebay.errors import UserError
from forebay.paths import SECTIONS, names_of, parted
from forebay.run.columns import unit_in
from forebay.units import UNITS, Unit, of_name

__all__ = ["axis_scale", "name_of", "quantity_words", "setting_words", "unit_at", "value_words"]

_WORDS = {
    "cwnd": "congestion window",
    "srtt": "smoothed round-trip time",
    "rtt": "round-trip time",
    "p50": "median",
    "p95": "95th percentile of",
    "p99": "99th percentile of",
    "p999": "99.9th percentile of",
    "mean": "mean",
    "max": "largest",
    "min": "least",
    "tcp": "TCP",
    "udp": "UDP",
    "ecn": "ECN",
    "mss": "MSS",
    "rto": "RTO",
    "red": "RED",
}
_BY_PRECEDENCE = ("throughput_bps", "arrived_packets", "departed_packets", "dropped_packets")
_PACKETS = ("drops", "marks", "early_drops", "forced_drops", "threshold_marks")
_WHOLE = {
    "arrived_bps": "arriving traffic",
    "mean_flight_packets": "packets in flight",
    "active_flows": "active flows",
    "present_flows": "flows present",
    "mean_queue_packets": "mean queue",
    "queue_packets": "queue",
    "queue_bytes": "queue",
}


def name_of(column: str) -> str:
    """A column in words, without its unit: `mean_cwnd_bytes` is `mean congestion window`."""
    whole, _, index = column.partition(".")
    words = _WHOLE.get(whole)
    if words is None:
        parts = whole.split("_")
        if len(parts) > 1 and parts[-1] in UNITS and parts[-1] not in ("packets", "calls"):
            parts = parts[:-1]
        words = " ".join(_WORDS.get(part, part) for part in parts)
    if not index:
        return words
    by_precedence = whole in _BY_PRECEDENCE and index.isdecimal()
    return f"{words}, precedence {index}" if by_precedence else f"{words} {index}"


def unit_at(place: str, column: str) -> Unit | None:
    """The unit of a column of a series or of a kind of rows."""
    whole = column.partition(".")[0]
    if whole.removeprefix("class_") in _PACKETS:
        return UNITS["packets"]
    if whole.endswith("_flows"):
        return UNITS["count"]
    return unit_in(place, whole) or of_name(whole)


def axis_scale(unit: Unit | None, values: Iterable[float]) -> tuple[float, str]:
    """Factor that values are multiplied by so that the largest is read without powers of ten, and
    the unit.

    The unit of values that are all zero is that of the unit's usual axis; of plain numbers it is
    empty.
    """
    if unit is None or unit.symbol == "number":
        return 1.0, ""
    largest = max((abs(value) for value in values if value == value), default=0.0)
    if not unit.spoken or largest == 0.0:
        return unit.scale, unit.axis
    # An axis up to 1.2 s reads better in ms than one up to 2 ms in us.
    factor, symbol = next(
        ((size, name) for size, name in unit.spoken if largest >= 2.0 * size), unit.spoken[-1]
    )
    return 1.0 / factor, symbol


def quantity_words(quantity: str) -> str:
    """A quantity of a sweep: `links.core.drops` is `core: drops`."""
    _, name, column = parted(quantity)
    if not column:
        return name_of(quantity)
    return f"{name}: {name_of(column)}" if name else name_of(column)


def setting_words(path: str) -> str:
    """A key of a scenario: `links.core.queue.red.max_threshold` is `core: RED max threshold`."""
    first, *rest = names_of(path)
    if first not in SECTIONS or len(rest) < 2:
        return " ".join(_WORDS.get(word, word) for word in path.replace(".", "_").split("_"))
    name, *keys = rest
    shown = [key for key in keys if key not in ("queue", "control") or key == keys[-1]][-2:]
    words = [_WORDS.get(w, w) if w in ("tcp", "udp", "ecn", "mss", "rto", "red", "rtt") else w
             for key in shown for w in key.split("_")]  # fmt: skip
    return f"{name}: {' '.join(words)}"


def value_words(value: Any) -> str:
    """A value of a parameter: `red (min_threshold 20 packets)` of a law with what is set of it.

    Tables and lists may also be written as TOML has them.
    """
    if isinstance(value, str) and value[:1] in ("{", "["):
        from forebay.toml import parse

        try:
            value = parse(f"value = {value}", "value")["value"]
        except UserError:
            return str(value)
    if isinstance(value, dict):
        return ", ".join(_entry_words(str(name), inner) for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(value_words, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _entry_words(name: str, inner: Any) -> str:
    if isinstance(inner, dict):
        return f"{name} ({value_words(inner)})" if inner else name
    return f"{name} {value_words(inner)}"
