"""The battery for laws of one's own: what the engine's own laws are held to.

Each law of a file is tried in small networks of every kind that its category has, checked against
the invariants of any run; with extreme values of its parameters; again, in other processes and in
threads beside others; interpreted and compiled. Runs are made in processes of their own, so that a
law that crashes or does not return fails a check, and the others are made all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forebay.battery.checks import Check, Examination
from forebay.battery.runs import Bench
from forebay.laws import load
from forebay.native import native

__all__ = ["Check", "examine"]


def examine(
    path: str, folder: Path, pattern: str = "*"
) -> Iterator[tuple[Mapping[str, Any], Iterator[Check]]]:
    """The laws of a file, each with what `forebay.laws.Law` says of it and its checks, which are
    made as they are asked for.

    Raises `UserError` for a file that cannot be loaded. Scenarios of those that fail are written to
    `folder`. `pattern` says which checks are made: those whose name and law, `LAW/CHECK`, it
    matches.
    """
    laws = [asdict(law) for law in load(path)]
    entries = _entries()
    for law in laws:
        page = entries[law["category"], law["name"]]
        with closing(Bench(path, folder, law["name"])) as bench:
            yield law, Examination(law, page, bench, pattern).checks()


def _entries() -> dict[tuple[str, str], dict[str, Any]]:
    """The entries of the engine's catalogue by category and name; those of schedulers say under
    `shared` which parameters all of them have."""
    categories = json.loads(native().catalogue())["categories"]
    entries = {
        (category["name"], entry["name"]): entry
        for category in categories
        for entry in category["entries"]
    }
    shared = [field["name"] for field in entries["queue", "priority"]["fields"]]
    return {key: {**entry, "shared": shared} for key, entry in entries.items()}
