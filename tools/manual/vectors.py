"""The page that lists the numeric vectors."""

from __future__ import annotations

import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

from forebay.scenario.catalogue import Page, catalogue
from manual.mechanisms import address

__all__ = ["vectors"]

ROOT = Path(__file__).parents[2]

_HEAD = """\
What arrives at a queue, and which packets must depart, be dropped or be marked at which time; what
is reported to a congestion control, or sent and delivered, and which window and rate follow; which
acknowledgements reach a TCP sender, and what it sends: as the standards have it, test data for any
implementation, in the public domain. The
[fields](../../validation/vectors/README.md) are explained beside the files. Every case is computed
by hand or by a model in exact arithmetic, and held against the mechanisms here by `cargo test -p
forebay-elements --test vectors`.
"""


def vectors() -> str:
    """Returns the page of vectors: by mechanism every case with what it shows."""
    lines = ["# Vectors", "", *_HEAD.splitlines()]
    paths = sorted((ROOT / "validation/vectors").glob("*/*.toml"))
    for mechanism, group in groupby(paths, key=lambda path: path.parent.name):
        cases = [(path, tomllib.loads(path.read_text(encoding="utf-8"))) for path in group]
        page = _page(mechanism, cases[0][1])
        link = address(page).replace("#", ".md#")
        lines += ["", f"## {mechanism}", "", f"[Parameters]({link}).", ""]
        lines += ["| case | what it shows |", "|---|---|"]
        for path, case in cases:
            link = f"../../validation/vectors/{mechanism}/{path.name}"
            lines.append(f"| [{path.stem}]({link}) | {case['title']} |")
    return "\n".join(lines) + "\n"


def _page(mechanism: str, case: dict[str, Any]) -> Page:
    """The page of what a case is of: a whole sender has that of its section."""
    if "seeds" in case:
        (page,) = (page for page in catalogue().sections if page.name.endswith(f".{mechanism}"))
    else:
        category = "control" if "acks" in case else "sharing" if "memory" in case else "queue"
        (page,) = catalogue().named(f"{category}.{mechanism}")
    return page
