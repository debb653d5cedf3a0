"""Comparison with an earlier result of a suite: what became better or worse beyond chance.

Runs of one cell, column and replication have the same random numbers in both, so that differences
are taken by replication: the paired t interval. A table has hundreds of these, of which one in
twenty would exclude 0 by chance alone; so something counts as better or worse only by the method of
Holm (Scandinavian Journal of Statistics 6, 1979), with which a comparison of two results that do
not differ has a chance of 5 % of any such line. What excludes 0 at its own 95 % only is named
apart, as `perhaps`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any

from forebay.errors import UserError
from forebay.run.documents import read_document
from forebay.stats import finite, paired_difference, paired_probability

__all__ = ["compared", "differences", "read_earlier", "worse"]

CHANCE = 0.05
"""Probability that a comparison of two results that do not differ names anything."""

ROWS = {
    "suite": str,
    "version": str,
    "command": str,
    "seeds": [int],
    "settings": {"*": str},
    "rows": [
        {
            **dict.fromkeys(("cell", "column", "quantity", "unit", "better", "words"), str),
            "runs": [int],
            "values": [(float, None)],
        }
    ],
}
"""Shape of what a comparison reads of a document."""

Rows = Sequence[Mapping[str, Any]]


def read_earlier(
    path: Path, suite: str, seeds: Sequence[int], option: str = "--against"
) -> dict[str, Any]:
    """The earlier document in a file. Raises `UserError`, which names the `option`, if there is
    none, it is of another suite, or of other seeds, whose runs are no pairs."""
    try:
        found = read_document(path, ROWS)
    except UserError as error:
        raise UserError(f"{option}: {error}") from None
    if found["suite"] != suite:
        raise UserError(f'{option}: {path}: is of the suite "{found["suite"]}", not "{suite}"')
    if found["seeds"] != [*seeds]:
        had, has = (", ".join(map(str, each)) for each in (found["seeds"], seeds))
        raise UserError(
            f"{option}: {path}: has seed {had}, and this run {has}: differences are taken between "
            "runs of one seed"
        )
    return found


def compared(now: Mapping[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """What became better or worse: a document with `compared`, the number of quantities in both,
    and rows `changes`, each with the difference, its interval and what it `is`: `better`, `worse`,
    `changed` (of quantities with no better direction), or these with `perhaps`."""
    before = {_key(row) for row in earlier["rows"]}
    found = differences(now["rows"], earlier["rows"])
    settings = {**earlier["settings"], **now["settings"]}
    return {
        "command": earlier["command"],
        "version": earlier["version"],
        "compared": len(found),
        "missing": len(before - {_key(row) for row in now["rows"]}),
        "settings": [
            name for name in settings if earlier["settings"].get(name) != now["settings"].get(name)
        ],
        "changes": [change for change in found if change["is"]],
    }


def differences(now: Rows, earlier: Rows) -> list[dict[str, Any]]:
    """The differences of what both have, by replication, each with its interval and what it `is`,
    as in `compared`; that is empty where chance alone may be the reason."""
    before = {_key(row): row for row in earlier}
    found = [
        change
        for row in now
        if (old := before.get(_key(row))) is not None
        and (change := _difference(row, old)) is not None
    ]
    certain = _holm([change["p"] for change in found])
    return [
        {**change, "is": _told(change, sure)} for change, sure in zip(found, certain, strict=True)
    ]


def _told(change: Mapping[str, Any], sure: bool) -> str:
    if not sure and change["p"] >= CHANCE:
        return ""
    told = _direction(change["difference"], change["better"])
    return told if sure else f"perhaps {told}"


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["cell"], row["column"], row["quantity"]


def _difference(now: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any] | None:
    """The difference of a quantity, over the replications in which both have a value; `None` if
    they are fewer than two."""
    then = dict(zip(old["runs"], old["values"], strict=True))
    pairs = [
        (value, then[run])
        for run, value in zip(now["runs"], now["values"], strict=True)
        if value is not None and then.get(run) is not None
    ]
    if len(pairs) < 2:
        return None
    sides = [a for a, _ in pairs], [b for _, b in pairs]
    interval = paired_difference(*sides)
    return {
        **{name: now[name] for name in ("cell", "column", "quantity", "words", "unit", "better")},
        "before": fsum(sides[1]) / len(pairs),
        "now": fsum(sides[0]) / len(pairs),
        "difference": interval.mean,
        "low": finite(interval.low),
        "high": finite(interval.high),
        "replications": len(pairs),
        "p": paired_probability(*sides),
    }


def _holm(probabilities: Sequence[float]) -> list[bool]:
    """For each of several p-values, whether it is rejected by Holm's method at `CHANCE`."""
    order = sorted(range(len(probabilities)), key=lambda at: probabilities[at])
    rejected = [False] * len(probabilities)
    for rank, at in enumerate(order):
        if probabilities[at] > CHANCE / (len(order) - rank):
            break
        rejected[at] = True
    return rejected


def _direction(difference: float, better: str) -> str:
    if better == "neither":
        return "changed"
    return "better" if (difference > 0) == (better == "more") else "worse"


def worse(changes: Iterable[Mapping[str, Any]]) -> int:
    """The number of changes that are worse beyond chance."""
    return sum(change["is"] == "worse" for change in changes)
