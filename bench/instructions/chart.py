"""The history of instruction counts as a picture: a curve for each benchmark."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drawing import COLOURS, LINES, MARKERS, blank, save
from history import Record

__all__ = ["draw"]

LETTERS = 112
"""So many have room side by side below the axis: longer labels are cut into lines."""


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw the records, oldest on the left; a dotted line stands where the compiler changed."""
    drawing, axes = blank(height=4.4)
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
    letters = LETTERS // max(4, len(records))
    labels = [_wrapped(record, letters) for record in records]
    axis.set_xticks(range(len(records)), labels, fontsize=8)
    axis.set_xlim(-0.5, max(0.5, len(records) - 0.5))
    axis.set_ylim(0, 1.08 * max(axis.get_ylim()))
    axis.set_ylabel("instructions for each packet hop")
    save(drawing, axes, path)


def _wrapped(record: Record, letters: int) -> str:
    import textwrap

    compiler = f"{record.version}, rustc {record.compiler.rustc}"
    return "\n".join(textwrap.wrap(record.label, letters) + textwrap.wrap(compiler, letters))
