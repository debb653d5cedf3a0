"""Reading TOML files, and values as TOML writes them on one line, for `PATH=VALUE` assignments."""

from __future__ import annotations

import datetime
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from forebay.errors import UserError
from forebay.paths import as_key

__all__ = ["inline", "parse"]

DATES = (datetime.date, datetime.time)
"""Types that TOML's dates and times are read as; a date with a time is a date."""


def parse(
    text: str, path: Path | str, *, parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """The tables of a TOML file; `path` appears in messages.

    No file of Forebay holds dates or times: they are refused with their key path. Raises
    `UserError`.
    """
    try:
        document = tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise UserError(f"{path}: not valid TOML: nested too deeply") from None
    except ValueError as error:
        # Not only `TOMLDecodeError`: a number may have too many digits.
        raise UserError(f"{path}: not valid TOML: {error}") from None
    for place, value in _values(document):
        if isinstance(value, DATES):
            what = "time" if isinstance(value, datetime.time) else "date"
            raise UserError(
                f"{path}: {place}: read the {what} {value.isoformat()}; allowed are words, "
                "numbers, true, false, lists and tables"
            )
    return document


def _values(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every value in a document that is no table or list, with its key path."""
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from _values(entry, f"{place}.{as_key(name)}" if place else as_key(name))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _values(entry, f"{place}[{index}]")
    else:
        yield place, value


def inline(value: Any) -> str:
    """`value` on one line: a number, a string, a truth value, or lists and tables of these.

    JSON's forms of all but tables are TOML's. Raises `TypeError` for what neither can write.
    """
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {inline(entry)}" for key, entry in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value)
