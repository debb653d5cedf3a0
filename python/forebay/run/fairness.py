"""Time to fairness: from when on shares of recorded throughput stay near what is fair.

RFC 5166, section 2.3, has it as the delta-fair convergence time: two flows have converged when
their shares are within (1 - delta)/2 and (1 + delta)/2. Here there may be more of them, and groups
of several: fair is what gives each flow the same. Shares are those of a sample of a series, so that
the interval of the series is the time over which they are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forebay.run.rows import AbsentError, Document, Lack, Number, Recorded, Reference

__all__ = ["NO_SERIES", "groups_in", "time_to_fairness"]

COLUMNS = ("throughput_bps", "goodput_bps")
"""Columns of series of which there are shares."""
TAKES = (
    "takes throughput or goodput of groups and how near to the fair share is near, as in "
    "time_to_fairness(groups[*].goodput, 10 %)"
)
NO_SERIES = 'it needs recorded series: give the scenario record.series, such as "1 s"'


def groups_in(tokens: Sequence[object]) -> list[Reference]:
    """The arguments of the function but the last: rates of groups. Raises `ValueError`."""
    found = [each for each in tokens if isinstance(each, Reference) and each.column in COLUMNS]
    if not found or len(found) < len(tokens):
        raise ValueError(TAKES)
    if any(each.kind != "groups" and (each.kind, each.tag) != ("flows", "") for each in found):
        raise ValueError(f"{TAKES}; there are no series of single flows, hosts or links")
    return found


def time_to_fairness(document: Document, references: Sequence[Reference], within: float) -> Number:
    """Simulated time in seconds of the last sample in which a share is further than `within` of the
    fair one from it; 0 if none is.

    Raises `AbsentError` if a run has not such groups.
    """
    flows = {str(row["name"]): int(row["flows"]) for row in document["groups"]}
    columns = {name: each.column for each in references for name in each.names(document)}
    for name in columns:
        if name not in flows:
            raise AbsentError(f"flows {name!r} is one of a group, and series are of groups")
    if len(columns) < 2:
        return Lack("a single group shares with none")
    tables = document.tables if isinstance(document, Recorded) else {}
    series = {name: tables.get(f"series/flows.{name}") for name in columns}
    lacking = [name for name, table in series.items() if table is None]
    if lacking:
        return Lack(f"no series of flows {lacking[0]!r} is there; {NO_SERIES}")
    return _time(
        [_samples(table, columns[name]) for name, table in series.items()],
        [flows[name] for name in columns],
        list(columns),
        within,
    )


def _samples(table: Any, column: str) -> dict[float, float]:
    pairs = zip(table["time_s"], table[column], strict=True)
    return {float(time): float(value) for time, value in pairs}


def _time(
    series: Sequence[dict[float, float]], flows: Sequence[int], names: Sequence[str], within: float
) -> Number:
    times = sorted(set.intersection(*(set(each) for each in series)))
    fair = [number / sum(flows) for number in flows]
    for time in reversed(times):
        values = [each[time] for each in series]
        total = sum(values)
        if not total:
            told = "nothing is delivered"
        else:
            shares = [value / total for value in values]
            far = [abs(share / part - 1.0) for share, part in zip(shares, fair, strict=True)]
            worst = max(range(len(far)), key=far.__getitem__)
            if far[worst] <= within:
                continue
            has, part = 100 * shares[worst], 100 * fair[worst]
            told = f"the share of {names[worst]} is {has:.1f} %, and fair is {part:.1f} %"
        return Lack(f"at the end, {time:g} s, {told}") if time == times[-1] else time
    return 0.0 if times else Lack(f"the series have no samples in common; {NO_SERIES}")
