"""The folders of all suites, and what a list of them says of each."""

from __future__ import annotations

import os
from pathlib import Path

from forebay.errors import UserError, nearest

__all__ = ["own_suites", "suite_folder", "suite_folders"]

FILE = "suite.toml"
"""The file of a suite by which its folder is known."""


def own_suites() -> str:
    """The folder that `FOREBAY_SUITES` names; empty if it names none."""
    return os.environ.get("FOREBAY_SUITES", "")


def suite_folders() -> dict[str, Path]:
    """The folders of all suites, by name.

    Those that come with Forebay, or those below the folder that the environment variable
    `FOREBAY_SUITES` names. Raises `UserError` if there are none.
    """
    own = own_suites()
    root = Path(own) if own else Path(__file__).parents[1] / "suites"
    found = {path.parent.name: path.parent.resolve() for path in sorted(root.glob(f"*/{FILE}"))}
    if not found:
        named = "FOREBAY_SUITES: " if own else ""
        raise UserError(f"{named}no suites in {root}; a suite is a folder with a {FILE}")
    return found


def suite_folder(name: str) -> Path:
    """The folder of a suite. Raises `UserError` for an unknown name."""
    known = suite_folders()
    if name not in known:
        raise UserError(f'no suite "{name}"{nearest(name, known)}; there are {", ".join(known)}')
    return known[name]
