"""Measurements by others as reference curves in plots: data of flent and of irtt.

Of a file of flent (`NAME.flent.gz`, or its JSON) every data series with values is a curve, by its
name there. Of what `irtt client -o` wrote (JSON, gzipped or not) the curves are the round-trip
times `rtt` and, where both clocks were read, the one-way delays `send` and `receive`.

The formats: https://flent.org/data-format.html; irtt's doc/irtt-client.md, "JSON output".
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from forebay.errors import UserError, nearest

__all__ = ["Curve", "Reference", "curves_for", "read_curves"]

Reference: TypeAlias = "str | Path | Mapping[str, str | Path | tuple[str | Path, str]]"
"""A file, or files by what the legend calls them, each alone or with the name of a curve in it."""

MAX_BYTES = 256 << 20
"""Bytes of a file, unpacked."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A measured curve: seconds from its beginning, and values in `unit`, `s` or `bit/s`."""

    name: str
    unit: str
    time: Sequence[float]
    values: Sequence[float]


def curves_for(reference: Reference | None, unit: str) -> list[Curve]:
    """The curves of references in `unit`, named as in the legend.

    Raises `UserError` for a file that cannot be read, and for one without such a curve.
    """
    if reference is None:
        return []
    if not isinstance(reference, Mapping):
        return _in_unit(Path(reference), read_curves(reference), unit)
    found = []
    for label, given in reference.items():
        path, wanted = given if isinstance(given, tuple) else (given, None)
        all_curves = read_curves(path)
        if wanted is not None:
            names = [curve.name for curve in all_curves]
            if wanted not in names:
                raise UserError(
                    f"{path}: no series {wanted!r}{nearest(wanted, names)}; there are "
                    f"{', '.join(names)}"
                )
            all_curves = [curve for curve in all_curves if curve.name == wanted]
        chosen = _in_unit(Path(path), all_curves, unit)
        for curve in chosen:
            name = label if len(chosen) == 1 else f"{label}, {curve.name}"
            found.append(Curve(name, curve.unit, curve.time, curve.values))
    return found


def read_curves(path: str | Path) -> list[Curve]:
    """All curves of a file. Raises `UserError` for one that holds none that can be read."""
    document = _document(Path(path))
    try:
        if "round_trips" in document:
            found = list(_of_irtt(document["round_trips"]))
        elif "results" in document and "x_values" in document:
            found = list(_of_flent(document))
        else:
            raise UserError(
                f"{path}: neither flent's data, which has results and x_values, nor irtt's, which "
                f"has round_trips; it has {', '.join(map(str, document)) or 'nothing'}"
            )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: damaged: {type(error).__name__}: {error}") from None
    if not found:
        raise UserError(f"{path}: no values: nothing was measured, or all of it was lost")
    return found


def _document(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            with gzip.open(file) if packed else file as stream:
                content = stream.read(MAX_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path}: damaged: {error}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(content) > MAX_BYTES:
        raise UserError(f"{path}: more than {MAX_BYTES:,} bytes; a reference has at most so many")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: no JSON, which flent and irtt write: {error}") from None
    if not isinstance(document, Mapping):
        raise UserError(f"{path}: neither flent's data nor irtt's: JSON without names")
    return document


def _of_flent(document: Mapping[str, Any]) -> Iterator[Curve]:
    times = [float(time) for time in document["x_values"]]
    about = document.get("metadata", {}).get("SERIES_META", {})
    for name, values in document["results"].items():
        told = str(about.get(name, {}).get("UNITS") or ("ms" if "(ms)" in name else "Mbits/s"))
        if told not in ("ms", "Mbits/s", "Mbit/s"):
            continue
        unit, scale = ("s", 1e-3) if told == "ms" else ("bit/s", 1e6)
        points = [
            (time, scale * float(value))
            for time, value in zip(times, values, strict=True)
            if value is not None and math.isfinite(float(value))
        ]
        if points:
            yield Curve(name, unit, *zip(*points, strict=True))


def _of_irtt(trips: Sequence[Mapping[str, Any]]) -> Iterator[Curve]:
    arrived = [trip for trip in trips if str(trip.get("lost", "false")) == "false"]
    if not arrived:
        return
    sent = [float(trip["timestamps"]["client"]["send"]["wall"]) for trip in arrived]
    for name in ("rtt", "send", "receive"):
        points = [
            ((time - sent[0]) * 1e-9, float(trip["delay"][name]) * 1e-9)
            for time, trip in zip(sent, arrived, strict=True)
            if trip["delay"].get(name) is not None
        ]
        if points:
            yield Curve(name, "s", *zip(*points, strict=True))


def _in_unit(path: Path, curves: Sequence[Curve], unit: str) -> list[Curve]:
    found = [curve for curve in curves if curve.unit == unit]
    if not found:
        there = ", ".join(f"{curve.name} ({curve.unit})" for curve in curves)
        raise UserError(f"{path}: nothing in {unit or 'numbers'} to compare with; it has {there}")
    return found
