"""The history of instruction counts as a picture: a curve for each benchmark."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drawing import COLOURS, LINES, MARKERS, blank, save
from history import Record

__all__ = ["draw"]

LINE = 0.17
"""Height of a line of the list, in inches."""


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw the records, oldest on the left, numbered as in the list below the axis.

    A dotted line stands where the compiler changed.
    """
    drawing, axes = blank(height=4.2 + LINE * len(records))
    (axis,) = axes
    names = sorted({name for record in records for name in record.counts})
    for index, name in enumerate(names):
        known = [
            (at, record.counts[name]) for at, record in enumerate(records) if name in record.counts
        ]
        axis.plot(
            [at for at, _ in known],
            [count for _, count in known],
            color=COLOURS[index % len(COLOURS)],
            # Beyond as many as there are colours, curves of one colour still differ in their lines.
            linestyle=LINES[(index + index // len(COLOURS)) % len(LINES)],
            marker=MARKERS[(index + index // len(COLOURS)) % len(MARKERS)],
            label=name,
        )
    for at in range(1, len(records)):
        if records[at].compiler != records[at - 1].compiler:
            axis.axvline(at - 0.5, color="black", linestyle=":", linewidth=0.8)
    axis.set_xticks(range(len(records)), [str(number) for number in range(1, len(records) + 1)])
    texts = [f"{number}  {_text(record)}" for number, record in enumerate(records, 1)]
    axis.set_xlabel("\n".join(texts), loc="left", fontsize=8, multialignment="left", labelpad=8)
    axis.set_xlim(-0.5, max(0.5, len(records) - 0.5))
    axis.set_ylim(0, 1.08 * max(axis.get_ylim()))
    axis.set_ylabel("instructions for each packet hop")
    save(drawing, axes, path)


def _text(record: Record) -> str:
    return f"{record.label} ({record.version}, rustc {record.compiler.rustc})"
