"""A scenario as it was run, for pages: every value that held, what was given and what is default.

    {"settings": {"given": {"duration": "40 s"}, "defaults": {"seed": "1"}},
     "sections": {"flows": [{"names": ["web", "mail"], "ends": [["A", "B"], ["A", "C"]],
                             "given": {"tcp.ecn": "true"}, "defaults": 0}]},
     "defaults": [{"count": "1", "tcp.mss": "1.448 kB"}]}

Sections that differ in their names and ends alone are one entry, and equal defaults stand there
once, so that a thousand sites that are alike take no more room than their names. Keys are those of
the scenario below its section, values as the engine writes them: `chosen` is a law, `absent` what
has no value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from forebay.errors import UserError
from forebay.paths import SECTIONS, joined, names_of
from forebay.run.jobs import Job, check, expanded
from forebay.toml import parse

__all__ = ["ABSENT", "CHOSEN", "SHAPE", "assigned_value", "names_in", "resolved_scenario"]

ABSENT, CHOSEN = "absent", "chosen"
ENDS = ("from", "to")
"""Keys by which sections that are alike may differ."""
MACHINES = {"host": "from", "to_host": "to"}
"""Keys that are the nodes of the ends unless they are given."""

SHAPE = {
    "settings": {"given": {"*": str}, "defaults": {"*": str}},
    "sections": {
        "*": [{"names": [str], "ends": [[str]], "given": {"*": str}, "defaults": int}],
    },
    "defaults": [{"*": str}],
}
"""Shape of it in a document of results."""

_PART = re.compile(r'"[^"]*"|[^.\[\]]+')

Names = tuple[str, ...]


def resolved_scenario(job: Job) -> dict[str, Any]:
    """What a job runs. Raises `UserError` for a wrong scenario."""
    resolved = check(job)["resolved"]
    given = _given(job)
    settings: dict[str, dict[str, str]] = {"given": {}, "defaults": {}}
    found: dict[str, dict[str, dict[Names, str]]] = {}
    for path, value in resolved.items():
        names = names_in(path)
        if names[0] in SECTIONS and len(names) > 2:
            found.setdefault(names[0], {}).setdefault(names[1], {})[names[2:]] = _plain(value)
        else:
            settings["given" if names in given else "defaults"][path] = _plain(value)
    if job.seed is not None:
        settings["defaults"].pop("seed", None)
        settings["given"]["seed"] = str(job.seed)
    tails: dict[Names, set[Names]] = {}
    for names in given:
        tails.setdefault(names[:2], set()).add(names[2:])
    sections: dict[str, list[dict[str, Any]]] = {}
    defaults: dict[str, int] = {}
    for kind, named in found.items():
        alike: dict[str, dict[str, Any]] = {}
        for name in sorted(named, key=_counted):
            values = named[name]
            entry = _entry(tails.get((kind, name), set()), values, defaults)
            first = alike.setdefault(json.dumps(entry), {"names": [], "ends": [], **entry})
            first["names"].append(name)
            ends = [values[(end,)] for end in ENDS if (end,) in values]
            first["ends"] += [ends] if ends else []
        sections[kind] = list(alike.values())
    return {
        "settings": settings,
        "sections": sections,
        "defaults": [json.loads(each) for each in defaults],
    }


def names_in(path: str) -> Names:
    """The names of a path as the engine writes it, numbers in lists among them."""
    return tuple(part.strip('"') for part in _PART.findall(path))


def assigned_value(written: str) -> Any:
    """The value of an assignment as `--set` takes it: words need no quotes."""
    try:
        return parse(f"value = {written}", "command")["value"]
    except UserError:
        return written.strip()


def _entry(given: set[Names], values: Mapping[Names, str], sets: dict[str, int]) -> dict[str, Any]:
    """What a section says beside its name and ends; its defaults are put among `sets`."""
    own: dict[str, str] = {}
    others: dict[str, str] = {}
    for names, value in values.items():
        machine = MACHINES.get(names[0])
        if names[0] in ENDS or (machine and value == values.get((machine,))):
            continue
        (own if names in given else others)[_key(names)] = value
    place = sets.setdefault(json.dumps(others), len(sets))
    return {"given": own, "defaults": place}


def _counted(name: str) -> list[tuple[int, str]]:
    """A key for sorting by which `home2` comes before `home10`."""
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _key(names: Names) -> str:
    """A path below a section: `conditioners[1].only.dscp`."""
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", joined(names))


def _plain(value: str) -> str:
    """A value without the quotes that a word is in."""
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        # The engine has escapes of its own for what cannot be printed.
        return value.strip('"')


def _given(job: Job) -> set[Names]:
    """The paths of all that a job's scenario and its command say."""
    found = set(_leaves(expanded(job.text, job.name), ()))
    for assignment in job.overrides:
        path, _, written = assignment.partition("=")
        found |= set(_leaves(assigned_value(written), tuple(names_of(path.strip()))))
    return found | ({("duration",)} if job.until is not None else set())


def _leaves(value: Any, names: Names) -> Iterator[Names]:
    """A path, and all below it; a law that is given by its name alone is a key as well."""
    yield names
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield from _leaves(below, (*names, name))
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from _leaves(below, (*names, str(number)))
    elif isinstance(value, str):
        yield (*names, value)
