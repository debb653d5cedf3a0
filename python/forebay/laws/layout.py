"""Memory of laws: structs of facts, of the state, and of the table that the engine reads.

Facts lie as the engine says (`law_layout`); the table as `forebay_law.h` has it.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from forebay.laws.numbers import NEVER
from forebay.native import native

if TYPE_CHECKING:
    from forebay.laws.declared import Declaration

__all__ = [
    "CALL",
    "CREATE_FACTS",
    "CLaw",
    "CLaws",
    "CParameter",
    "CProbe",
    "CWord",
    "Fact",
    "facts_layout",
    "facts_struct",
    "state_struct",
]

CREATE_FACTS = "forebay_create_facts"
"""Facts of the creation of a law."""

CALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
"""A decision: state and facts in, what is decided out."""


class Fact(NamedTuple):
    """A field of facts or of a state: its name, its type, where it lies, how many there are.

    Types are `u32`, `i64` and `f64`; pointers are `i64`."""

    name: str
    type: str
    offset: int
    number: int | None = None


_FACT_TYPES = {
    "Uint32": ("u32", None),
    "Int64": ("i64", None),
    "Double": ("f64", None),
    "Pointer": ("i64", None),
    "Classes": ("i64", 64),
}
_C_TYPES: dict[str, Any] = {"u32": ctypes.c_uint32, "i64": ctypes.c_int64, "f64": ctypes.c_double}


@lru_cache(maxsize=1)
def layout() -> dict[str, Any]:
    """The layout of the engine: `facts`, `sizes` and `numbers`."""
    found: dict[str, Any] = json.loads(native().law_layout())
    return found


def facts_layout(struct: str) -> tuple[Sequence[Fact], int]:
    """The fields of a struct of facts, and its size in bytes."""
    fields = [
        Fact(name, _FACT_TYPES[kind][0], offset, _FACT_TYPES[kind][1])
        for name, kind, offset in layout()["facts"][struct]
    ]
    return fields, layout()["sizes"][struct]


@cache
def facts_struct(struct: str) -> type[ctypes.Structure]:
    """The struct of facts as Python sees it."""
    fields, size = facts_layout(struct)
    made = _struct(struct, [(fact.name, fact) for fact in fields])
    if ctypes.sizeof(made) != size:
        raise RuntimeError(f"{struct} is {ctypes.sizeof(made)} B here and {size} B in the engine")
    return made


def _struct(name: str, fields: Sequence[tuple[str, Fact]], **others: Any) -> type[ctypes.Structure]:
    """A struct whose fields, under the names that are given, lie where they should."""
    of_c = [
        (given, _C_TYPES[fact.type] * fact.number if fact.number else _C_TYPES[fact.type])
        for given, fact in fields
    ]
    made = type(name, (ctypes.Structure,), {"__slots__": (), "_fields_": of_c, **others})
    for given, fact in fields:
        found = getattr(made, given).offset
        if found != fact.offset:
            raise RuntimeError(f"{name}.{fact.name} lies at {found}, not at {fact.offset}")
    return made


def state_fields(law: Declaration) -> list[Fact]:
    """The words of the state: parameters in their order, then what the law remembers."""
    fields: list[Fact] = []

    def add(name: str, kind: str, count: int | None = None) -> None:
        last = fields[-1] if fields else None
        at = last.offset + 8 * (last.number or 1) if last else 0
        fields.append(Fact(name, kind, at, count))

    for parameter in law.parameters:
        if parameter.list:
            add(f"{parameter.name}_at", "i64")
            add(f"{parameter.name}_count", "i64")
            continue
        add(parameter.name, parameter.type.of_c)
        if parameter.type.words == 2:
            add(f"{parameter.name}_in_packets", "i64")
    for quantity in law.quantities:
        add(quantity.name, quantity.of_c, quantity.count)
    return fields


def state_struct(law: Declaration) -> type[ctypes.Structure]:
    """The state of a law as its methods see it: words of closed sets and texts are texts, lists
    are sequences, and its own methods can be called."""
    hidden: set[str] = set()
    views: dict[str, Any] = dict(law.helpers)
    for parameter in law.parameters:
        name = parameter.name
        if parameter.list:
            hidden |= {f"{name}_at", f"{name}_count"}
            views[name] = property(_list_of(parameter))
            if parameter.type.words == 2:
                views[f"{name}_in_packets"] = property(_list_of(parameter, second=True))
        elif parameter.choices:
            hidden.add(name)
            views[name] = property(_word_of(f"_{name}", parameter.choices))
        elif parameter.type.is_text:
            hidden.add(name)
            views[name] = property(_text_of(f"_{name}"))
    fields = [(f"_{f.name}" if f.name in hidden else f.name, f) for f in state_fields(law)]
    return _struct(law.name, fields, **views)


def _word_of(field: str, words: Sequence[str]) -> Any:
    named: dict[int, str | None] = {**dict(enumerate(words)), NEVER: None}
    return lambda law: named[getattr(law, field)]


def _text_of(field: str) -> Any:
    return lambda law: _text_at(getattr(law, field))


def _text_at(address: int) -> str | None:
    return ctypes.string_at(address).decode("utf-8") if address else None


def _list_of(parameter: Any, second: bool = False) -> Any:
    """The sequence of a parameter that is a list; of lengths the amounts, or if they count packets
    where `second`."""
    at, count = f"_{parameter.name}_at", f"_{parameter.name}_count"
    kind: Any = _C_TYPES[parameter.type.of_c]
    code: Literal["d", "q"] = "d" if parameter.type.of_c == "f64" else "q"
    words, start, choices = parameter.type.words, int(second), parameter.choices

    def view(law: Any) -> Any:
        address, length = getattr(law, at), getattr(law, count)
        if not address or not length:
            return ()
        memory = memoryview((kind * (words * length)).from_address(address))
        values: Any = memory.cast("B").cast(code).toreadonly()[start::words]
        if choices:
            return tuple(choices[value] for value in values)
        return tuple(map(_text_at, values)) if parameter.type.is_text else values

    return view


class CWord(ctypes.Structure):
    """`forebay_word`."""

    _fields_ = (("name", ctypes.c_char_p), ("meaning", ctypes.c_char_p))


class CParameter(ctypes.Structure):
    """`forebay_parameter`."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("type", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("word_count", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("meaning", ctypes.c_char_p),
        ("source", ctypes.c_char_p),
        ("default_value", ctypes.c_char_p),
        ("words", ctypes.POINTER(CWord)),
    )


class CProbe(ctypes.Structure):
    """`forebay_probe`."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("type", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("unit", ctypes.c_char_p),
        ("meaning", ctypes.c_char_p),
    )


class CLaw(ctypes.Structure):
    """`forebay_law`."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("state_bytes", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("summary", ctypes.c_char_p),
        ("source", ctypes.c_char_p),
        ("example", ctypes.c_char_p),
        ("contents", ctypes.c_char_p),
        ("parameters", ctypes.POINTER(CParameter)),
        ("probes", ctypes.POINTER(CProbe)),
        ("parameter_count", ctypes.c_uint32),
        ("probe_count", ctypes.c_uint32),
        ("create", ctypes.c_void_p),
        ("destroy", ctypes.c_void_p),
        ("decide", ctypes.c_void_p * 8),
        ("probe", ctypes.c_void_p),
    )


class CLaws(ctypes.Structure):
    """`forebay_laws`."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("count", ctypes.c_uint64),
        ("laws", ctypes.POINTER(ctypes.POINTER(CLaw))),
    )
