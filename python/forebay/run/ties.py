"""Effect of the order of simultaneous events on results.

Events of one instant are ordered by the numbers of the links and senders that they concern, which
are given as the scenario lists these. That order is arbitrary: a result that another one changes
says something about the list, not about the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from forebay.run.jobs import Job, Run

__all__ = ["ORDERS", "compare_orders", "in_other_orders"]

ORDERS = 3
"""In how many other orders a run is repeated."""


def in_other_orders(job: Job) -> list[Job]:
    """The job in random orders, of which nothing is recorded."""
    return [job.but(ties=number, record=False, check=False) for number in range(1, ORDERS + 1)]


def compare_orders(runs: Sequence[Run]) -> dict[str, Any]:
    """Results of runs in other orders, beside the first.

    Keys: `packets` that reached a link at the instant at which one of another flow did; these by
    link in `links`; how many other `orders` were run and how many numbers compared (`quantities`);
    and of those that are `differing`, the one as listed and the least and greatest in other orders,
    beginning with the one that differs most, relative to what is listed.
    """
    table = runs[0].tables["ties"]
    links = {name: int(count) for name, count in zip(table["link"], table["packets"], strict=True)}
    listed, *others = [dict(_numbers(run.document)) for run in runs]
    differing = []
    for name, value in listed.items():
        values = [other.get(name) for other in others]
        if any(other != value for other in values):
            known = [other for other in values if other is not None]
            low, high = (min(known), max(known)) if known else (None, None)
            row = {"quantity": name, "listed": value, "low": low, "high": high}
            differing.append(row)
    differing.sort(key=_relative, reverse=True)
    return {
        "packets": sum(links.values()),
        "links": links,
        "orders": len(others),
        "quantities": len(listed),
        "differing": differing,
    }


def _numbers(document: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of all rows, by kind, name and column."""
    for kind, rows in document.items():
        if isinstance(rows, list):
            for row in rows:
                for column, value in row.items():
                    yield from _parts(f"{kind}.{row['name']}.{column}", value)


def _parts(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, value
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _parts(f"{name}[{number}]", part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _parts(f"{name}.{key}", part)


def _relative(row: Mapping[str, Any]) -> float:
    listed, low, high = row["listed"], row["low"], row["high"]
    if low is None:
        return float("inf")
    spread = max(listed, high) - min(listed, low)
    return float(spread / abs(listed)) if listed else float("inf")
