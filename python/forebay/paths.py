"""Key paths: names with dots between them, as `links.core.queue.red.weight`.

A name that is not letters, digits, `_` and `-` alone is in quotes, as in TOML and in what the
engine says: `links."up.link 1".rate`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["SECTIONS", "as_key", "joined", "names_below", "names_of", "parted"]

SECTIONS = ("links", "flows", "rings", "fabrics", "switches", "aggregates")
"""Sections whose keys are names that a scenario gives."""

_BARE = re.compile(r"[\w-]*")
_NAME = re.compile(r"""\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^."']*))\s*""")


def as_key(name: str) -> str:
    """`name` as a key path has it: in quotes if it needs them."""
    return name if _BARE.fullmatch(name) else f'"{name}"'


def joined(names: Iterable[str]) -> str:
    """The key path of `names`."""
    return ".".join(map(as_key, names))


def names_of(path: str) -> list[str]:
    """The names of a key path, without quotes. Raises `ValueError` for a quote without an end, or
    with something beside it; what the names must be is for the engine to say."""
    names = []
    at = 0
    while True:
        found = _NAME.match(path, at)
        end = found.end() if found else 0
        if found is None or path[end : end + 1] not in ("", "."):
            raise ValueError(
                f'read "{path}"; allowed is a key path such as links.core.rate, where a name with '
                'a dot is in quotes: links."up.link".rate'
            )
        name = next(text for text in found.groups() if text is not None)
        names.append(name if found["bare"] is None else name.strip())
        if end == len(path):
            return names
        at = end + 1


def names_below(paths: Iterable[str], section: str) -> list[str]:
    """The names that `paths` have behind `section`, in their order, each once."""
    start = f"{section}."
    return list(dict.fromkeys(names_of(path)[1] for path in paths if path.startswith(start)))


def parted(quantity: str) -> tuple[str, str, str]:
    """Kind, name and column of a quantity such as `links.core.drops`.

    All between the first dot and the last is the name, also without quotes. Of what has fewer dots
    name and column are empty.
    """
    kind, _, rest = quantity.partition(".")
    name, dot, column = rest.rpartition(".")
    if not dot:
        return kind, "", rest
    quoted = re.fullmatch(r"""(["'])(.*)\1""", name)
    return kind, quoted[2] if quoted else name, column
