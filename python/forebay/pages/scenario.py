"""The section of a page that says what was run: links and flows in short, every value folded."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from forebay.native import native
from forebay.pages.sections import Section, Table
from forebay.paths import names_of
from forebay.run.axes import VARIANT
from forebay.run.resolved import ABSENT, CHOSEN, names_in
from forebay.run.words import value_words
from forebay.units import size_of

__all__ = ["scenario_section", "varied_tables"]

TITLES = {
    "links": "Links",
    "flows": "Groups of flows",
    "rings": "Rings",
    "fabrics": "Fabrics",
    "switches": "Switches",
    "aggregates": "Aggregates",
}
VARIED = "varied"
"""Word that stands for what a sweep varies."""
MAX_ROWS = 16
"""Sorts of links or flows in a table at most."""
MAX_NAMES = 3
"""Names that are written out; of more, the first and the last are."""
MAX_VALUES = 500
"""Values in a folded table at most."""
MAX_LETTERS = 300
"""Letters of a cell; all values are below."""


def scenario_section(scenario: Mapping[str, Any], varied: Sequence[str] = ()) -> Section:
    """What was run (`forebay.run.resolved`): of a sweep its first point, where what its points set
    (`varied`) is told apart."""
    entries = list(_entries(scenario, varied))
    tables = []
    for kind, heads in HEADS.items():
        of = [each for each in entries if each.kind == kind]
        shown = [[cell(each) for _, cell in heads] for each in of]
        kept = [at for at in range(len(heads)) if any(row[at] for row in shown)]
        rows = [[row[at] or "-" for at in kept] for row in shown]
        if len(rows) > MAX_ROWS:
            rows = _merged(of, rows, sum(at < OWN[kind] for at in kept))
        title = TITLES[kind]
        if len(rows) > MAX_ROWS:
            title += f": {len(rows) - MAX_ROWS} more sorts are in the file of results"
        if rows:
            heads_kept = [heads[at][0] for at in kept]
            tables.append(Table(heads_kept, rows[:MAX_ROWS], title, words=True))
    return Section("Scenario", _sentence(scenario["settings"]), tables=[*tables, *_all(scenario)])


def varied_tables(
    grid: Mapping[str, Sequence[Any]], variants: Mapping[str, Mapping[str, Any]]
) -> list[Table]:
    """What a sweep varies: parameters with their values, and variants with what they set."""
    tables = []
    named = [(name, values) for name, values in grid.items() if name != VARIANT]
    if named:
        rows = [[name, ", ".join(dict.fromkeys(map(value_words, of)))] for name, of in named]
        tables.append(Table(["parameter", "values"], rows, "Varied", words=True))
    if variants:
        settings = {
            name: ", ".join(f"{key} = {value_words(value)}" for key, value in keys.items())
            for name, keys in variants.items()
        }
        rows = [[name, sets or "as given"] for name, sets in settings.items()]
        tables.append(Table(["variant", "sets"], rows, "Variants", words=True))
    return tables


def _merged(entries: Sequence[_Entry], rows: Sequence[Sequence[str]], own: int) -> list[list[str]]:
    """The rows of many sorts, where those that differ in their first cells alone are one."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for at, row in enumerate(rows):
        alike.setdefault(tuple(row[own:]), []).append(at)
    found = []
    for same, places in alike.items():
        names = [name for at in places for name in entries[at].names]
        one = _Entry("", names, [ends for at in places for ends in entries[at].ends])
        name = _name(one) if len(places) == 1 else _name(one).replace(" alike)", ")")
        cells = [name, _ends(one)] if one.ends else [name]
        for column in range(len(cells), own):
            values = list(dict.fromkeys(rows[at][column] for at in places))
            cells.append(values[0] if len(values) == 1 else _range(values))
        found.append([*cells, *same])
    return found


def _range(values: Sequence[str]) -> str:
    """Values that differ, by the first, the last and their number."""
    ranked = sorted(values, key=lambda words: (size_of(words) or 0.0, words))
    return f"{ranked[0]} to {ranked[-1]} ({len(values)} values)"


class _Tree(dict[str, "_Tree"]):
    """The values of a section, key by key; `leaf` is the value at a place."""

    leaf: str | None = None
    given = False

    def put(self, path: str, value: str, given: bool) -> None:
        at = self
        for name in names_in(path):
            at = at.setdefault(name, _Tree())
        at.leaf, at.given = value, given

    def holds_given(self) -> bool:
        """Returns true if something here was given."""
        return self.given or any(below.holds_given() for below in self.values())


@dataclass(slots=True)
class _Entry:
    """Sections that differ in their names and ends alone."""

    kind: str
    names: Sequence[str]
    ends: Sequence[Sequence[str]]
    values: _Tree = field(default_factory=_Tree)
    varied: set[tuple[str, ...]] = field(default_factory=set)

    def leaf(self, key: str) -> str:
        """The value of a key as it is shown; nothing if there is none."""
        if self.varies(key):
            return VARIED
        found = self.values.get(key, _Tree()).leaf
        return "" if found in (None, ABSENT) else _shown(str(found))

    def laws(self, *keys: str) -> str:
        """The laws at a key, with their main parameters."""
        if self.varies(*keys):
            return VARIED
        at = self.values
        for key in keys:
            at = at.get(key, _Tree())
        return _cut(_laws(at))

    def varies(self, *keys: str) -> bool:
        """Returns true if a sweep sets this key, or one below it."""
        return any(each[: len(keys)] == keys for each in self.varied)


def _entries(scenario: Mapping[str, Any], varied: Sequence[str]) -> Iterator[_Entry]:
    paths = [tuple(names_of(path)) for path in varied]
    for kind, listed in scenario["sections"].items():
        for row in listed:
            entry = _Entry(kind, row["names"], row["ends"])
            for path, value in scenario["defaults"][row["defaults"]].items():
                entry.values.put(path, value, False)
            for path, value in row["given"].items():
                entry.values.put(path, value, True)
            entry.varied = {
                p[2:] for p in paths if p[0] == kind and p[1:2] and p[1] in row["names"]
            }
            yield entry


def _within(at: _Tree, depth: int) -> str:
    """The laws in a table that is none itself, such as a class with a rate and a queue."""
    return ", ".join(filter(None, (_laws(below, depth) for below in at.values())))


def _laws(at: _Tree, depth: int = 0) -> str:
    """Laws that are chosen at a place, in a list each."""
    places = sorted(filter(str.isdecimal, at), key=int)
    numbered = [_laws(at[place], depth) or _within(at[place], depth) for place in places]
    listed = [(law, len(list(same))) for law, same in itertools.groupby(filter(None, numbered))]
    words = [law if number == 1 else f"{number} of {law}" for law, number in listed]
    for name, below in at.items():
        if below.leaf == CHOSEN:
            inner = list(_parameters(below, depth))
            words.append(f"{name} ({', '.join(inner)})" if inner else name)
    return ", ".join(word for word in words if word)


def _parameters(law: _Tree, depth: int = 0) -> Iterator[str]:
    """The parameters of a law that were given, its limit, and laws inside it with their limits."""
    for name, below in law.items():
        if below.leaf is not None and below.leaf != CHOSEN:
            if name == "limit":
                yield "no limit" if below.leaf == ABSENT else f"limit {below.leaf}"
            elif below.given and depth < 2:
                yield f"{name} {_shown(below.leaf)}"
        elif inner := _laws(below, depth + 1):
            yield f"{name}: {inner}"
        elif depth < 2 and below.holds_given():
            yield f"{name}: {', '.join(_parameters(below, depth + 1))}"


def _further(entry: _Entry, told: Sequence[str]) -> str:
    """What else was given, or is a law, beside the keys that are told elsewhere."""
    words = []
    for key, below in entry.values.items():
        if key in told:
            continue
        if entry.varies(key):
            words.append(f"{key} {VARIED}")
        elif below.leaf is not None:
            words += [f"{key} {_shown(below.leaf)}"] if below.given else []
        elif laws := _laws(below):
            words.append(f"{key}: {laws}")
        elif below.holds_given():
            words.append(f"{key}: {', '.join(_parameters(below))}")
    return _cut("; ".join(words))


def _name(entry: _Entry) -> str:
    names = entry.names
    if len(names) == 1:
        return names[0]
    if len(names) <= MAX_NAMES:
        return f"{', '.join(names)} ({len(names)} alike)"
    return f"{names[0]} to {names[-1]} ({len(names)} alike)"


def _ends(entry: _Entry) -> str:
    found = list(dict.fromkeys(" → ".join(ends) for ends in entry.ends))
    return ", ".join(found) if len(found) <= MAX_NAMES else f"{found[0]} to {found[-1]}"


def _rate(entry: _Entry) -> str:
    varying = (key for key in ("profile", "schedule", "trace") if entry.leaf(key))
    return entry.leaf("rate") or next((f"{key} {entry.leaf(key)}" for key in varying), "")


def _way_back(entry: _Entry) -> str:
    """Other values than those of the way there; nothing if there is no way back."""
    if entry.varies("reverse"):
        return VARIED
    return _cut("; ".join(_reverse(entry.values.get("reverse", _Tree()))))


def _reverse(at: _Tree) -> Iterator[str]:
    for key, below in at.items():
        if key == "queue":
            yield _laws(below)
        elif below.leaf is not None:
            if below.given:
                yield f"{key} {_shown(below.leaf)}"
        elif laws := _laws(below):
            yield f"{key}: {laws}"


def _transport(entry: _Entry) -> str:
    key = _transport_key(entry)
    at = entry.values.get(key, _Tree())
    words = [key.upper() if key in ("tcp", "udp") else key]
    if key == "tcp" and "profile" in at:
        words.append(f"profile {at['profile'].leaf}")
    words += [
        f"{name} {_shown(str(below.leaf))}"
        for name, below in at.items()
        if below.given and below.leaf not in (None, CHOSEN) and name != "profile"
    ]
    varied = {names[1] for names in entry.varied if names[0] == key and len(names) > 1}
    words += [f"{name} {VARIED}" for name in sorted(varied - {"control"})]
    return _cut(", ".join(word for word in words if word))


@cache
def _transports() -> tuple[str, ...]:
    """The keys of transports that the engine has."""
    return tuple(json.loads(native().catalogue())["transports"])


def _transport_key(entry: _Entry) -> str:
    return next((key for key in _transports() if key in entry.values), "")


def _control(entry: _Entry) -> str:
    key = _transport_key(entry)
    found = []
    for name, below in entry.values.get(key, _Tree()).items():
        laws = VARIED if entry.varies(key, name) and below else _laws(below)
        found += [laws if name == "control" else f"{name}: {laws}"] if laws else []
    return _cut("; ".join(found))


def _traffic(entry: _Entry) -> str:
    linked = entry.laws("linked")
    return ", ".join(word for word in (entry.laws("traffic"), linked) if word)


def _shape(entry: _Entry) -> str:
    """The shape of a fabric, with its parameters."""
    words = []
    for key, below in entry.values.items():
        if key in FABRIC_KEYS or key in FABRIC_SECTIONS or below.leaf is not None:
            continue
        inner = ", ".join(_parameters(below))
        words.append(VARIED if entry.varies(key) else f"{key} ({inner})" if inner else key)
    return _cut(", ".join(words))


def _beside_fabric(entry: _Entry) -> str:
    others = [key for key in entry.values if key not in FABRIC_SECTIONS]
    return _further(entry, others)


LINK_KEYS = ("rate", "delay", "queue", "reverse", "duplex", "profile", "schedule", "trace")
FLOW_KEYS = ("count", "traffic", "linked")
FABRIC_KEYS = ("rate", "delay", "path", "queue")
FABRIC_SECTIONS = ("hosts", "buffer", "failures", "conditioner", "conditioners")
"""Keys of a fabric that are neither its shape nor columns."""

HEADS: Mapping[str, Sequence[tuple[str, Callable[[_Entry], str]]]] = {
    "links": (
        ("name", _name),
        ("ends", _ends),
        ("rate", _rate),
        ("delay", lambda entry: entry.leaf("delay")),
        ("queue", lambda entry: entry.laws("queue")),
        ("way back", _way_back),
        ("besides", lambda entry: _further(entry, LINK_KEYS)),
    ),
    "rings": (
        ("name", _name),
        ("stations", lambda entry: entry.leaf("stations")),
        ("rate", lambda entry: entry.leaf("rate")),
        ("fairness", lambda entry: entry.laws("fairness")),
        ("besides", lambda entry: _further(entry, ("stations", "rate", "fairness"))),
    ),
    "fabrics": (
        ("name", _name),
        ("shape", _shape),
        ("rate", lambda entry: entry.leaf("rate")),
        ("delay", lambda entry: entry.leaf("delay")),
        ("path", lambda entry: entry.laws("path")),
        ("queue", lambda entry: entry.laws("queue")),
        ("besides", _beside_fabric),
    ),
    "switches": (
        ("name", _name),
        ("memory", lambda entry: entry.leaf("memory")),
        ("sharing", lambda entry: entry.laws("sharing")),
        ("besides", lambda entry: _further(entry, ("memory", "sharing"))),
    ),
    "aggregates": (
        ("name", _name),
        ("round-trip time", lambda entry: entry.leaf("rtt")),
        ("admission", lambda entry: entry.laws("admission")),
        ("termination", lambda entry: entry.laws("termination")),
        ("besides", lambda entry: _further(entry, ("rtt", "admission", "termination"))),
    ),
    "flows": (
        ("name", _name),
        ("ends", _ends),
        ("flows", lambda entry: "" if "calls" in entry.values else entry.leaf("count")),
        ("transport", _transport),
        ("control", _control),
        ("traffic", _traffic),
        ("besides", lambda entry: _further(entry, (*FLOW_KEYS, _transport_key(entry)))),
    ),
}
"""Columns of the short tables; those with nothing in them are left out."""

OWN = {"links": 4, "rings": 3, "fabrics": 2, "switches": 1, "aggregates": 2, "flows": 3}
"""The first columns, in which sections may differ that are merged where there are many."""


def _sentence(settings: Mapping[str, Mapping[str, str]]) -> str:
    """Duration, warm-up and seed, and what was recorded."""
    values = {**settings["defaults"], **settings["given"]}
    told = (
        f"{values.get('duration', '?')} simulated, counted from "
        f"{_shown(values.get('warm_up', '0 s'))}, seed {values.get('seed', '1')}."
    )
    recorded = [
        f"{path.removeprefix('record.')} {value}"
        for path, value in settings["given"].items()
        if path.startswith("record.")
    ]
    return f"{told} Recorded: {', '.join(recorded)}." if recorded else told


def _all(scenario: Mapping[str, Any]) -> Iterator[Table]:
    """Every value that held, folded: what was given, and the defaults."""
    settings = scenario["settings"]
    given = [["scenario", path, value] for path, value in settings["given"].items()]
    having: dict[int, list[str]] = {}
    for kind, listed in scenario["sections"].items():
        for row in listed:
            name = f"{kind} {_name(_Entry(kind, row['names'], row['ends']))}"
            having.setdefault(row["defaults"], []).append(name)
            given += [[name, path, value] for path, value in row["given"].items()]
    yield _folded("All that was given", given)
    defaults = list(_defaults("scenario", settings["defaults"]))
    for place, names in having.items():
        shown = names if len(names) <= MAX_NAMES else [*names[:MAX_NAMES], f"{len(names)} in all"]
        defaults += _defaults(", ".join(shown), scenario["defaults"][place])
    yield _folded("Defaults that held", defaults)


def _folded(title: str, rows: Sequence[Sequence[str]]) -> Table:
    if len(rows) > MAX_VALUES:
        title += f": the first {MAX_VALUES} of {len(rows)}"
    heads = ["section", "parameter", "value"]
    return Table(heads, rows[:MAX_VALUES], title, folded=True, words=True)


def _defaults(whose: str, values: Mapping[str, str]) -> Iterator[list[str]]:
    yield from ([whose, path, _shown(value)] for path, value in values.items() if value != ABSENT)
    if without := [path for path, value in values.items() if value == ABSENT]:
        yield [whose, "absent", ", ".join(without)]


def _shown(value: str) -> str:
    """A value as people write it: no time is zero in picoseconds, and words have no quotes."""
    return re.sub(r"\b0 ps\b", "0 s", value).replace('"', "")


def _cut(words: str) -> str:
    return words if len(words) <= MAX_LETTERS else f"{words[:MAX_LETTERS]}… (all below)"
