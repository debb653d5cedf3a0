"""The page that lists the numeric vectors: `docs/pages.py` writes it."""

from __future__ import annotations

import tomllib
from itertools import groupby
from pathlib import Path

__all__ = ["vectors"]

ROOT = Path(__file__).parents[1]

_HEAD = """\
What arrives at a queue, and which packets must depart, be dropped or be marked at which time, as
the standards have it: test data for any implementation, in the public domain. The
[fields](../../vectors/README.md) are explained beside the files. Every case is computed by hand
or by a model in exact arithmetic, and held against the queues here by `cargo test -p
forebay-mechanisms --test vectors`.
"""


def vectors(generated: str) -> str:
    """By mechanism: every case with what it shows; `generated` says what wrote the page."""
    lines = ["# Vectors for queues", "", generated, "", *_HEAD.splitlines()]
    paths = sorted((ROOT / "vectors").glob("*/*.toml"))
    for mechanism, group in groupby(paths, key=lambda path: path.parent.name):
        page = f"queue-{mechanism.replace('_', '-')}.md"
        lines += ["", f"## {mechanism}", "", f"[Parameters]({page}).", ""]
        lines += ["| case | what it shows |", "|---|---|"]
        for path in group:
            title = tomllib.loads(path.read_text(encoding="utf-8"))["title"]
            link = f"../../vectors/{mechanism}/{path.name}"
            lines.append(f"| [{path.stem}]({link}) | {title} |")
    return "\n".join(lines) + "\n"
