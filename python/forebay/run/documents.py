"""Documents of results, read back: a damaged one is named, with the place where it is wrong.

A shape says what a document must hold, as far as something is made of it. It is a type (`float`
stands for every number), a list of one shape for its entries, a mapping from keys to shapes, `ANY`,
or a tuple of shapes of which one must fit. A key that ends in `?` may be left out; `"*"` is the
shape of every key that the mapping does not name. More keys than those may be there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from forebay.errors import UserError

__all__ = ["ANY", "check_shape", "read_document"]

ANY = object

NAMES = {
    str: "words",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    None: "null",
}


def read_document(path: Path, shape: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON document in a file. Raises `UserError` if there is none of that shape."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; it belongs to the results there") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: damaged: not JSON: {error}") from None
    check_shape(path, document, shape)
    found: dict[str, Any] = document
    return found


def check_shape(path: Path, document: Any, shape: Any) -> None:
    """Raise `UserError` for the first place at which a document has not this shape."""
    for place, value, wanted in _misfits(document, shape, ""):
        read = json.dumps(value)
        read = read if len(read) <= 60 else f"{read[:60]}..."
        if place and value is MISSING:
            raise UserError(f"{path}: damaged: {place}: missing; it is required")
        where = f"{place}: " if place else ""
        raise UserError(f"{path}: damaged: {where}read {read}; allowed is {_described(wanted)}")


MISSING: Any = "(missing)"


def _misfits(value: Any, shape: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Places at which a value has not a shape, with what is there and what should be."""
    if isinstance(shape, tuple):
        if not any(next(_misfits(value, each, place), None) is None for each in shape):
            # Where only one of them can be meant, it tells more than all.
            likely = [each for each in shape if type(each) is type(value)]
            yield from _misfits(value, likely[0], place) if likely else [(place, value, shape)]
    elif isinstance(shape, Mapping):
        if not isinstance(value, dict):
            yield place, value, shape
            return
        for key, inner in shape.items():
            name = key.removesuffix("?")
            if name in value:
                yield from _misfits(value[name], inner, f"{place}.{name}" if place else name)
            elif name == key and key != "*":
                yield (f"{place}.{name}" if place else name), MISSING, inner
        for key in value.keys() - {key.removesuffix("?") for key in shape} if "*" in shape else ():
            yield from _misfits(value[key], shape["*"], f"{place}.{key}" if place else key)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield place, value, shape
            return
        for index, entry in enumerate(value):
            yield from _misfits(entry, shape[0], f"{place}[{index}]")
    elif not _is(value, shape):
        yield place, value, shape


def _is(value: Any, kind: Any) -> bool:
    if kind is ANY:
        return True
    if kind is None:
        return value is None
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def _described(shape: Any) -> str:
    if isinstance(shape, tuple):
        return " or ".join(map(_described, shape))
    if isinstance(shape, Mapping):
        return "an object"
    return "a list" if isinstance(shape, list) else NAMES[shape]
