"""The command `law-check`: a battery of checks for laws of one's own."""

# ruff: noqa: T201 (the command prints)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from forebay.battery import examine
from forebay.cli.terminal import WIDTH, print_json
from forebay.errors import UserError, printable
from forebay.run.laws import law_facts, load_files, near
from forebay.run.progress import say_warnings

if TYPE_CHECKING:
    from forebay.battery import Check

__all__ = ["check_laws"]

STATES = {True: "passed", False: "FAILED", None: "-"}
"""Words for what came of a check."""

NAME_WIDTH = 13
"""Width of the names of checks."""


def check_laws(file: str, pattern: str, out: Path | None, as_json: bool) -> int:
    """`forebay law-check`: 0 if all checks of all laws of a file pass, 1 if one fails.

    Scenarios that failed are written to `out`. Raises `UserError` for a file that cannot be loaded,
    and if no check matches `pattern`.
    """
    say_warnings(load_files([file], "law-check"))
    documents = []
    passed = failed = 0
    for law, checks in examine(file, out or Path("out/law-check"), pattern):
        if not as_json:
            print(f"{law['name']}  ({law['category']} of {near(file)}, {law_facts(law)})")
        made = []
        for check in checks:
            made.append(check)
            if not as_json:
                print("\n".join(_lines(check)), flush=True)
        passed += sum(check.passed is True for check in made)
        failed += sum(check.passed is False for check in made)
        documents.append(_document(law, made))
    if not passed + failed:
        raise UserError(f'--checks: no check matches "{pattern}"; such are {_names(documents)}')
    if as_json:
        print_json({"file": file, "passed": passed, "failed": failed, "laws": documents})
    else:
        laws = "1 law" if len(documents) == 1 else f"{len(documents)} laws"
        print(f"{near(file)}: {laws}, {passed} checks passed, {failed} failed")
    return 1 if failed else 0


def _names(documents: list[dict[str, Any]]) -> str:
    return ", ".join(f"{document['name']}/table" for document in documents)


def _document(law: Mapping[str, Any], checks: list[Check]) -> dict[str, Any]:
    rows = [
        {
            "name": check.name,
            "passed": check.passed,
            "told": check.told,
            "numbers": check.numbers,
            **({"repeat": check.repeat} if check.repeat else {}),
        }
        for check in checks
    ]
    return {**law, "checks": rows}


def _lines(check: Check) -> list[str]:
    """A check as lines of at most `WIDTH` columns; a command that is longer stays on one."""
    head = f"  {check.name:{NAME_WIDTH}} {STATES[check.passed]:6}  "
    indent = " " * len(head)
    told = wrap(head + printable(check.told), WIDTH, subsequent_indent=indent,
                break_on_hyphens=False)  # fmt: skip
    return told + ([f"{indent}repeat: {printable(check.repeat)}"] if check.repeat else [])
