"""`forebay studies`: what can be reproduced. Reads only what it prints, to answer at once."""

from __future__ import annotations

import os
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from forebay.errors import UserError, read_text
from forebay.terminal import print_json

__all__ = ["list_studies", "study_folders"]


def list_studies(as_json: bool) -> None:
    """Print every study: its id, the paper, and how many claims are checked."""
    rows = [_describe(folder) for folder in study_folders().values()]
    if as_json:
        print_json({"studies": rows})
        return
    width = max(len(row["id"]) for row in rows)
    for row in rows:
        about = f"{row['title']}. {row['authors']}; {row['venue']}, {row['date']}"
        lines = textwrap.wrap(about, 98 - width)
        print(f"{row['id']:<{width}}  {lines[0]}")
        for line in lines[1:]:
            print(" " * (width + 2) + line)
        print(f"{'':<{width}}  {row['numbers']} numbers and {row['statements']} statements checked")
    print("\nre-do one: forebay reproduce STUDY (within two minutes: --quick)")


def study_folders() -> dict[str, Path]:
    """The folders of all studies, by id.

    Those that come with Forebay, or those below the folder that the environment variable
    `FOREBAY_STUDIES` names. Raises `UserError` if there are none.
    """
    own = os.environ.get("FOREBAY_STUDIES")
    root = Path(own) if own else Path(__file__).parent / "studies"
    found = {path.parent.name: path.parent.resolve() for path in sorted(root.glob("*/paper.toml"))}
    if not found:
        named = "FOREBAY_STUDIES: " if own else ""
        raise UserError(f"{named}no studies in {root}; a study is a folder with a paper.toml")
    return found


def _describe(folder: Path) -> dict[str, Any]:
    path = folder / "paper.toml"
    try:
        document = tomllib.loads(read_text(path, "a paper.toml"))
        paper = document["paper"]
        numbers = sum(
            value != "-"
            for table in document.get("table", [])
            for row in table["rows"]
            for value in row["values"]
        )
        return {
            "id": folder.name,
            "title": paper["title"].rstrip("."),
            "authors": ", ".join(paper["authors"]),
            "venue": paper["venue"],
            "date": paper["date"],
            "numbers": numbers,
            "statements": len(document.get("statement", [])),
        }
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: not a paper's description: {error!r}") from None
