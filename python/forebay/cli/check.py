"""The command `check`: a scenario file, checked without running it."""

# ruff: noqa: T201 (the command prints)

from __future__ import annotations

from pathlib import Path

from forebay import text
from forebay.cli.terminal import print_json
from forebay.errors import printable
from forebay.run.jobs import check, load
from forebay.run.progress import say_warnings

__all__ = ["check_scenario"]


def check_scenario(scenario: Path | str, overrides: list[str], as_json: bool) -> None:
    """`forebay check`: says what the scenario consists of, or raises `UserError`."""
    found = check(load(scenario).but(overrides=overrides))
    say_warnings(found["warnings"])
    if as_json:
        print_json(found)
        return
    parts = ", ".join(text.counted(found[f"{part}s"], part) for part in ("node", "link", "flow"))
    print(
        f"{printable(str(scenario))}: fine. {printable(found['name'])}: {parts}; "
        f"{found['duration_s']:g} s, counted from "
        f"{found['warm_up_s']:g} s; scenario {found['scenario_hash']}"
    )
