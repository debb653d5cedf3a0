"""The command `tcp-script`: scripts of packets, run on the model of TCP."""

# ruff: noqa: T201 (the command prints)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forebay.cli.terminal import print_json
from forebay.errors import UserError, read_text
from forebay.run.scripts import run_script

__all__ = ["run_scripts"]


def run_scripts(files: Sequence[str], overrides: Sequence[str], as_json: bool) -> int:
    """`forebay tcp-script`: 0 if all scripts pass, 1 if one fails.

    Raises `UserError`, after all have run, if some cannot be read.
    """
    documents: list[dict[str, Any]] = []
    problems: list[str] = []
    for file in files:
        try:
            text = read_text(file, "a script", ".pkt")
            documents.append(run_script(text, file, overrides))
        except UserError as error:
            problems.append(str(error))
        else:
            if not as_json:
                print("\n".join(_lines(documents[-1])))
    failed = sum(not document["passed"] for document in documents)
    if as_json and not problems:
        print_json({"scripts": documents, "passed": len(documents) - failed, "failed": failed})
    if len(documents) > 1 and not as_json:
        print(f"{len(documents)} scripts: {len(documents) - failed} passed, {failed} failed")
    if problems:
        raise UserError("\n".join(problems))
    return 1 if failed else 0


def _lines(document: dict[str, Any]) -> list[str]:
    name, checks = document["name"], document["checks"]
    if document["passed"]:
        return [f"{name}: passed ({checks} checks)"]
    return [f"{name}: failed; expected (-) and seen (+):", *document["difference"]]
