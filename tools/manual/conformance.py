"""The pages on TCP's conformance and on the language of its scripts.

What a script claims stands in its first comment, whether it passes is asked of the engine. What is
claimed by no script, and why a script does not pass, stands in `conformance.toml` beside them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forebay.run.scripts import run_script, script_language

__all__ = ["conformance", "language"]

SCRIPTS = Path(__file__).parents[2] / "validation/tcp-scripts"
TABLE = "validation/tcp-scripts/conformance.toml"


@dataclass(frozen=True, order=True)
class Row:
    """A row of the page: a statement of an RFC and what became of it."""

    rfc: int
    section: tuple[tuple[int, str], ...]
    place: str
    claim: str
    script: str
    status: str


def conformance() -> str:
    """Returns the table of conformance by RFC: paragraph, claim, script, and whether it passes."""
    table = tomllib.loads((SCRIPTS / "conformance.toml").read_text(encoding="utf-8"))
    titles = {int(number): title for number, title in table["titles"].items()}
    rows = sorted([*_claimed(table), *_unclaimed(table)])
    numbers = sorted({row.rfc for row in rows})
    if numbers != sorted(titles):
        odd = sorted(set(numbers) ^ set(titles))
        raise SystemExit(f"{TABLE}: titles: named or claimed, not both: {odd}")
    lines = ["# TCP conformance", "", *_HEAD.splitlines(), ""]
    lines += ["| RFC | title | passed | deviates | not claimed |", "|---|---|---|---|---|"]
    for number in numbers:
        counts = [str(_count(rows, number, word)) for word in ("passed", "deviates", "not claimed")]
        link = f"[{number}](#rfc-{number})"
        lines.append(f"| {link} | {titles[number]} | {' | '.join(counts)} |")
    for number in numbers:
        lines += ["", f"## RFC {number}", "", f"{titles[number]}.", ""]
        lines += ["| paragraph | claim | script | |", "|---|---|---|---|"]
        for row in rows:
            if row.rfc == number:
                cells = (row.place, row.claim, row.script, row.status)
                lines.append(f"| {' | '.join(map(_escaped, cells))} |")
    return "\n".join(lines) + "\n"


def language() -> str:
    """Returns the page of what scripts may hold beside packets, as the reader has it."""
    known = script_language()
    lines = ["# Scripts of packets", "", *_LANGUAGE_HEAD.splitlines(), ""]
    lines += ["## Quantities", "", *_QUANTITIES_HEAD.splitlines(), ""]
    lines += ["| quantity | meaning |", "|---|---|"]
    lines += [f"| `{each['name']}` | {each['meaning']} |" for each in known["names"]]
    lines += ["", f"Constants: {', '.join(f'`{name}`' for name in known['constants'])}.", ""]
    lines += ["## Ignored", "", *_IGNORED_HEAD.splitlines()]
    for kind, title in _KINDS.items():
        lines += ["", f"### {title}", "", "| written | why |", "|---|---|"]
        for each in known["ignored"][kind]:
            lines.append(f"| {_code(each['what'])} | {each['why']} |")
    return "\n".join(lines) + "\n"


def _claimed(table: Mapping[str, Any]) -> Iterator[Row]:
    """A row for each claim of each script."""
    reasons = {each["script"]: each["why"] for each in table.get("deviation", ())}
    for path in sorted(SCRIPTS.glob("*/*.pkt")):
        name = f"{path.parent.name}/{path.stem}"
        document = run_script(path.read_text(encoding="utf-8"), name)
        why = reasons.pop(name, None)
        if document["passed"] != (why is None):
            raise SystemExit(f"{path}: passes or deviates otherwise than conformance.toml says")
        status = "passed" if why is None else f"deviates: {why}"
        link = f"[{path.stem}](../../validation/tcp-scripts/{path.parent.name}/{path.name})"
        for claim in document["claims"]:
            yield _row(claim["rfc"], claim["section"], claim["text"], link, status)
    if reasons:
        raise SystemExit(f"{TABLE}: deviation: no scripts {sorted(reasons)}")


def _unclaimed(table: Mapping[str, Any]) -> Iterator[Row]:
    for each in table["not_claimed"]:
        status = f"not claimed: {each['why']}"
        yield _row(each["rfc"], each["section"], each["claim"], "", status)


def _row(rfc: int, section: str, claim: str, script: str, status: str) -> Row:
    """A row whose place sorts by numbers: 3.10 behind 3.2."""
    words = section.replace(",", " ").replace(".", " ").split()
    key = tuple((int(word), "") if word.isdigit() else (0, word) for word in words)
    return Row(rfc, key, section, claim, script, status)


def _count(rows: Sequence[Row], number: int, word: str) -> int:
    return sum(row.rfc == number and row.status.startswith(word) for row in rows)


def _escaped(cell: str) -> str:
    """A cell of a table, in which signs of Markdown stand for themselves."""
    for sign in "|*<":
        cell = cell.replace(sign, f"\\{sign}")
    return cell


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


_HEAD = """\
What the standards say of TCP, beside the scripts that hold the model to it: `passed` means that
every packet of the script is sent at the instant that the script names, none besides, and that all
its assertions hold. Claims are shortened, in the words of the RFC where these are short. What the
expected numbers follow from is written in each script. `forebay tcp-script FILE...` runs them
([guide](../guides/tcp-scripts.md))."""

_LANGUAGE_HEAD = """\
What `forebay tcp-script` reads beside packets and writes; packets, times and parameters are
described in the [guide](../guides/tcp-scripts.md)."""

_QUANTITIES_HEAD = """\
What `%{ assert ... }%` can name. Beside them there are numbers, `+ - * / // %`, comparisons, which
can be chained, `and`, `or`, `not` and parentheses, with the meaning that they have in Python."""

_IGNORED_HEAD = """\
What scripts for other implementations hold and the model does not have. It is read and ignored
where it is listed here; all else that is not of the language is refused with line and column."""

_KINDS = {
    "options": "TCP options",
    "flags": "Flags",
    "calls": "Calls",
    "lines": "Lines at the head",
    "else": "Others",
}
