"""The folders of all studies, and what a list of them says of each.

Of a `paper.toml` only what the list shows is read: `forebay studies` answers at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forebay.errors import UserError, read_text
from forebay.toml import parse

__all__ = ["describe", "own_studies", "study_folders"]


def own_studies() -> str:
    """The folder that `FOREBAY_STUDIES` names; empty if it names none."""
    return os.environ.get("FOREBAY_STUDIES", "")


def study_folders() -> dict[str, Path]:
    """The folders of all studies, by id.

    Those that come with Forebay, or those below the folder that the environment variable
    `FOREBAY_STUDIES` names: code in them is run when a study is. Raises `UserError` if there are
    none.
    """
    own = own_studies()
    root = Path(own) if own else Path(__file__).parents[1] / "studies"
    found = {path.parent.name: path.parent.resolve() for path in sorted(root.glob("*/paper.toml"))}
    if not found:
        named = "FOREBAY_STUDIES: " if own else ""
        raise UserError(f"{named}no studies in {root}; a study is a folder with a paper.toml")
    return found


def describe(folder: Path) -> dict[str, Any]:
    """Returns the entry of the study in a folder for the list. Raises `UserError` for a wrong
    `paper.toml`."""
    path = folder / "paper.toml"
    try:
        document = parse(read_text(path, "a paper.toml"), path)
        paper = document["paper"]
        numbers = [kind for table in document.get("table", []) for kind in _kinds(table)]
        statements = [entry.get("kind", RESULT) for entry in document.get("statement", [])]
        results = numbers.count(RESULT), statements.count(RESULT)
        return {
            "id": folder.name,
            "title": paper["title"].rstrip("."),
            "authors": ", ".join(paper["authors"]),
            "venue": paper["venue"],
            "date": paper["date"],
            "numbers": results[0],
            "statements": results[1],
            "checks": len(numbers) + len(statements) - sum(results),
        }
    except (KeyError, TypeError, AttributeError):
        # Only a part of the file was looked at: what reads all of it tells the place.
        raise UserError(
            f"{path}: not a paper's description; "
            f"`forebay reproduce {folder.name}` says what is wrong"
        ) from None


RESULT = "result"


def _kinds(table: dict[str, Any]) -> Iterator[str]:
    """The kind of every value that a table prints, as `forebay.study.claims` has it."""
    for row in table["rows"]:
        for column, value in zip(table["columns"], row["values"], strict=False):
            if value != "-":
                above = (row.get("kind"), column.get("kind"), table.get("kind"), RESULT)
                yield row.get("kinds", {}).get(column["id"]) or next(filter(None, above))
