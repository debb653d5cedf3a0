"""Pilot runs: when a law does something that a stimulus of a cell goes by.

A cell with a pilot becomes one cell for each law with the values that its pilot run gave. Up to the
stimulus both runs are the same, so that the law does the same at that moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from forebay.run.axes import VARIANT
from forebay.run.executors import Executor
from forebay.run.journal import Journal
from forebay.run.rows import Document
from forebay.run.summary import finished
from forebay.run.sweep import Planned, plan, run_all
from forebay.suite.cells import Cell
from forebay.suite.laws import Law

__all__ = ["Part", "settled"]

Part = tuple[Cell, Sequence[Planned]]
"""A cell with the points of its sweep."""


def settled(
    parts: Sequence[Part], laws: Sequence[Law], name: str, journal: Journal, where: Executor
) -> list[Part]:
    """The cells, those with a pilot as one for each law, after the pilot runs that `journal` does
    not hold are made. A law for which these have no value is in `lacking`."""
    pilots = [(cell.sweep, planned) for cell, planned in parts if cell.settle is not None]
    run_all(pilots, f"{name}: pilots", journal, where)
    return [
        found
        for part in parts
        for found in ([part] if part[0].settle is None else _settled(*part, laws, journal))
    ]


def _settled(
    cell: Cell, planned: Sequence[Planned], laws: Sequence[Law], journal: Journal
) -> Iterator[Part]:
    """The cells of a cell with a pilot, one for each law, and one of the laws without a value,
    which has the pilot runs that failed."""
    assert cell.settle is not None
    lacking = dict(cell.lacking)
    failed = []
    for entry in planned:
        column = str(entry.values[VARIANT])
        document = next((found for _, found in finished(cell.sweep, entry, journal)), None)
        if document is None:
            failed.append(entry)
            continue
        found = _given(cell, document)
        if isinstance(found, str):
            lacking[column] = found
        else:
            own = cell.settle([law for law in laws if law.label == column], found)
            yield own, plan(own.sweep)
    if lacking or failed:
        sweep = replace(cell.sweep, axes=([entry.combination for entry in failed],))
        yield replace(cell, sweep=sweep, measures=[], lacking=lacking, settle=None), failed


def _given(cell: Cell, document: Document) -> dict[str, str] | str:
    """The parameters that the pilot run of a law gave, or why it has none."""
    given = {}
    for each in cell.measures:
        answer = each.quantity.of(document)
        if answer.value is None:
            return answer.reason
        given[each.key] = f"{answer.value!r} {each.quantity.unit.symbol}"
    return given
