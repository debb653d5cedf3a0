"""Draw a table of a reproduced study as an SVG file of its own: published values over ours.

    forebay reproduce af --claims 't3.2/*'
    python docs/images/table.py out/af t3.2 docs/images/af-table-3.2.svg

The drawing is the one of the study's HTML report; there it takes its colours from the page, here
they are fixed, on white.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from forebay.drawing import COLOURS, INK
from forebay.report.paper_tables import paper_tables
from forebay.report.plot import GRID, draw_table
from forebay.run.store import write_text
from forebay.study.files import load_outcome
from forebay.study.loading import load_study

MARGIN = 8
SCALE = 1.4


def main(folder: Path, table_id: str, target: Path) -> None:
    """Draw table `table_id` of the results in `folder` into `target`."""
    study_id = json.loads((folder / "result.json").read_text(encoding="utf-8"))["study"]
    study = load_study(study_id)
    outcome, _ = load_outcome(study, folder)
    text = (study.folder / "paper.toml").read_text(encoding="utf-8")
    table = next(table for table in paper_tables(study.paper, text) if table.id == table_id)
    figure = draw_table(outcome, table)
    if figure is None:
        raise SystemExit(f"{folder}: nothing of table {table_id} was measured")
    write_text(target, alone(figure.svg))


def alone(svg: str) -> str:
    """A report's drawing as a file: fixed colours, a font, a size and a white ground."""
    for number, colour in enumerate(COLOURS, 1):
        svg = svg.replace(f"var(--c{number})", colour)
    svg = svg.replace("var(--grid)", GRID).replace("currentColor", INK)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if box is None:
        raise SystemExit("the drawing has no viewBox")
    width, height = (float(size) + 2 * MARGIN for size in box.groups())
    svg = svg.replace(box[0], f'viewBox="-{MARGIN} -{MARGIN} {width:g} {height:g}"', 1)
    svg = re.sub(r'(<svg[^>]*?)\s*style="[^"]*"', r"\1", svg, count=1)
    if "xmlns=" not in svg:
        svg = svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    size = f'width="{SCALE * width:g}" height="{SCALE * height:g}"'
    svg = svg.replace("<svg", f'<svg {size} font-family="sans-serif" fill="{INK}"', 1)
    head, mark, rest = svg.partition(">")
    ground = f'x="-{MARGIN}" y="-{MARGIN}" width="{width:g}" height="{height:g}" fill="#ffffff"'
    return f"{head}{mark}<rect {ground}/>{rest}\n"


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
