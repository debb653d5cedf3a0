"""The page that lists the numeric vectors: `docs/pages.py` writes it."""

from __future__ import annotations

import tomllib
from itertools import groupby
from pathlib import Path

__all__ = ["vectors"]

ROOT = Path(__file__).parents[1]

_HEAD = """\
What arrives at a queue, and which packets must depart, be dropped or be marked at which time; what
is reported to a congestion control, or sent and delivered, and which window and rate follow: as the
standards have it, test data for any implementation, in the public domain. The
[fields](../../validation/vectors/README.md) are explained beside the files. Every case is computed by hand
or by a model in exact arithmetic, and held against the mechanisms here by `cargo test -p
forebay-mechanisms --test vectors`.
"""


def vectors(generated: str) -> str:
    """By mechanism: every case with what it shows; `generated` says what wrote the page."""
    lines = ["# Vectors", "", generated, "", *_HEAD.splitlines()]
    paths = sorted((ROOT / "validation/vectors").glob("*/*.toml"))
    for mechanism, group in groupby(paths, key=lambda path: path.parent.name):
        cases = [(path, tomllib.loads(path.read_text(encoding="utf-8"))) for path in group]
        category = "control" if "acks" in cases[0][1] else "queue"
        page = f"{category}-{mechanism.replace('_', '-')}.md"
        lines += ["", f"## {mechanism}", "", f"[Parameters]({page}).", ""]
        lines += ["| case | what it shows |", "|---|---|"]
        for path, case in cases:
            link = f"../../validation/vectors/{mechanism}/{path.name}"
            lines.append(f"| [{path.stem}]({link}) | {case['title']} |")
    return "\n".join(lines) + "\n"
