"""Words of expressions: quantities, numbers with units and names, told apart before the rest.

What Python cannot read, such as `links."up link".drops` or `20 ms`, is replaced by an identifier of
the same length, so that places in what is left are places in what was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forebay.errors import UserError, nearest
from forebay.run.columns import kinds
from forebay.run.dimensions import BARE, LITERALS, Dimension, unknown_unit
from forebay.run.rows import Reference, field_names, has_column, resolved

__all__ = ["WORDS", "Known", "Literal", "Source", "complaint", "tokenised"]

WORDS = ("and", "or", "not")
"""Operators that are words."""

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_UNIT = re.compile(
    rf"\s*({'|'.join(map(re.escape, sorted(LITERALS, key=len, reverse=True)))})(?!\w|\s*\()"
)
_NO_UNIT = re.compile(r"\s*(?!(?:and|or|not)\b)([^\W\d_][\w/]*)")
_WORD = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"\s*\(")
_QUOTED = r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')"""
_LIST = re.compile(rf"\s*\[\s*(?:{_QUOTED}|(?P<bare>\*|[\w-]+))\s*\]\s*\.\s*(?P<column>\w+)")
_ROW = re.compile(rf"\s*\.\s*{_QUOTED}\s*\.\s*(?P<column>\w+)")
_PART = re.compile(r"\.([\w\[\]-]+)")
_COLUMN = re.compile(r"\w+")
_WHOLE = re.compile(r"(\w+)\.((?!.*(?: -|- | and | or ))[\w.\[\] -]* [\w.\[\] -]*)\.(\w+)")
_OTHERS = frozenset("+-*/()<>=!, \t\n")


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, in base units."""

    value: float
    dimension: Dimension


@dataclass(frozen=True, slots=True)
class Known:
    """A name that stands for another expression."""

    name: str


Token = Literal | Known | Reference


@dataclass(slots=True)
class Source:
    """What was written, and where: an error names both. `series` says that what was written is
    computed of recorded series."""

    place: str
    text: str
    series: bool = False

    def error(self, at: int, what: str) -> UserError:
        """The complaint about the text from character `at` on."""
        return complaint(self.place, self.text, what, at)


def complaint(place: str, text: str, what: str, at: int | None = None) -> UserError:
    """A complaint about an expression: the place it is at, in a file or among the options, what was
    written, and from which character on it is wrong, unless that is the whole."""
    rest = "" if at is None else text[at:].strip()
    where = f"at {_short(rest)}: " if rest and rest != text.strip() else ""
    return UserError(f'{place}: "{_short(text, 200)}": {where}{what}')


def _short(text: str, most: int = 30) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def tokenised(source: Source, names: Mapping[str, Any]) -> tuple[str, dict[str, Token]]:
    """The text with identifiers in place of quantities, numbers and `names`, and what each stands
    for. Raises `UserError` for what is none of these, and for unknown columns and units."""
    text = source.text
    whole = _WHOLE.fullmatch(text.strip())
    if whole and whole[1] in kinds() and has_column(whole[1], whole[3]):
        # Names of rows may have spaces in them where nothing else is there.
        column = resolved(whole[1], whole[3])
        token: Token = Reference(whole[1], whole[2], "", column, text.strip())
        return _stand_in(0, len(text)), {_stand_in(0, len(text)): token}
    tokens: dict[str, Token] = {}
    parts: list[str] = []
    at = 0
    while at < len(text):
        found = _token(source, at, names)
        if isinstance(found, str):
            parts.append(" " * len(found) if found.isspace() else found)
            at += len(found)
            continue
        token, end = found
        name = _stand_in(len(tokens), end - at)
        tokens[name] = token
        parts.append(name)
        at = end
    return "".join(parts), tokens


def _stand_in(number: int, length: int) -> str:
    """An identifier: each number has a Chinese character of its own, which nothing else has."""
    return chr(0x4E00 + number) + "_" * (length - 1)


def _token(source: Source, at: int, names: Mapping[str, Any]) -> tuple[Token, int] | str:
    """The token at a place with its end, or text that stays as it is."""
    text = source.text
    number = _NUMBER.match(text, at)
    if number is not None:
        return _literal(source, number)
    word = _WORD.match(text, at)
    if word is None:
        if text[at] not in _OTHERS:
            hint = '; names with other characters are in quotes, as flows."a b".goodput_bps'
            raise source.error(at, f'"{text[at]}" is not allowed here{hint}')
        return text[at]
    if word[0] in WORDS or _CALL.match(text, word.end()):
        return word[0]
    if word[0] in kinds() and text[word.end() : word.end() + 3].strip()[:1] in (".", "["):
        return _reference(source, word)
    if word[0] in names:
        return Known(word[0]), word.end()
    try:
        column = resolved("", word[0])
    except LookupError as error:
        near = nearest(word[0], [*names, *kinds()])
        raise source.error(at, f"{error}{near}") from None
    return Reference("", "", "", column, word[0]), word.end()


def _literal(source: Source, number: re.Match[str]) -> tuple[Token, int]:
    value = float(number[0])
    unit = _UNIT.match(source.text, number.end())
    if unit is not None:
        dimension, size = LITERALS[unit[1]]
        return Literal(value * size, dimension), unit.end()
    wrong = _NO_UNIT.match(source.text, number.end())
    if wrong is not None:
        raise source.error(number.start(), unknown_unit(wrong[1]))
    return Literal(value, BARE), number.end()


def _reference(source: Source, kind: re.Match[str]) -> tuple[Token, int]:
    """A quantity `KIND.NAME.COLUMN` or `KIND[TAG].COLUMN`."""
    text = source.text
    tagged = _LIST.match(text, kind.end())
    found = tagged or _ROW.match(text, kind.end())
    if found is not None:
        words = found.groupdict()
        quoted = [words.get(form) for form in ("double", "single", "bare")]
        name = next(word for word in quoted if word is not None)
        row, tag = ("", name) if tagged else (name, "")
        column, end = found["column"], found.end()
    else:
        (row, column, end), tag = _unquoted(source, kind), ""
    try:
        whole = resolved(kind[0], column)
    except LookupError as error:
        raise source.error(kind.start(), str(error)) from None
    return Reference(kind[0], row, tag, whole, text[kind.start() : end]), end


def _unquoted(source: Source, kind: re.Match[str]) -> tuple[str, str, int]:
    """Name, column and end of a quantity without quotes. Names may have dots and hyphens: the name
    ends before the first word that is a column and has no dot behind it."""
    parts: list[re.Match[str]] = []
    at = kind.end()
    while (part := _PART.match(source.text, at)) is not None:
        parts.append(part)
        at = part.end()
        column = _COLUMN.match(part[1])
        if len(parts) < 2 or column is None or not has_column(kind[0], column[0]):
            continue
        end = part.start(1) + column.end()
        if source.text[end : end + 1] not in (".", "["):
            return _name(parts), column[0], end
    if len(parts) < 2:
        raise source.error(
            kind.start(), f"write {kind[0]}.NAME.COLUMN or {kind[0]}[TAG].COLUMN; columns of "
            f"{kind[0]} are {', '.join(field_names(kind[0]))}",
        )  # fmt: skip
    return _name(parts), parts[-1][1], parts[-1].end()


def _name(parts: list[re.Match[str]]) -> str:
    return ".".join(part[1] for part in parts[:-1])
