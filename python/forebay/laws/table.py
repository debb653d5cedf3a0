"""The table of laws that the engine reads, in memory that stays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from forebay.laws.declared import Declaration, Parameter, Remembered
from forebay.laws.layout import CLaw, CLaws, CParameter, CProbe, CWord, state_fields, state_struct

__all__ = ["VERSION", "add"]

VERSION = 1
"""Version of the interface of laws."""

_LIST, _OPTIONAL = 1, 2
_WHOLE, _DOUBLE, _TIME = 1, 2, 3

_KEPT: list[Any] = []
"""What the engine has addresses of."""


def add(laws: Sequence[tuple[Declaration, Mapping[str, Any], str]]) -> int:
    """Address of a table of laws: each with its C functions by name, objects or addresses, and its
    contents."""
    tables = [_law(*law) for law in laws]
    pointers = (ctypes.POINTER(CLaw) * len(tables))(*map(ctypes.pointer, tables))
    table = CLaws(ctypes.sizeof(CLaws), VERSION, len(tables), pointers)
    _KEPT.append((tables, pointers, table, laws))
    return ctypes.addressof(table)


def address_of(function: Any) -> int:
    """Address of a C function: of numba, of ctypes, or the number itself."""
    if isinstance(function, int):
        return function
    address = getattr(function, "address", None)
    return int(address) if address is not None else _cast(function)


def _cast(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _law(law: Declaration, functions: Mapping[str, Any], contents: str) -> CLaw:
    places = {fact.name: fact.offset for fact in state_fields(law)}
    probed = [quantity for quantity in law.quantities if quantity.probe]
    parameters = (CParameter * len(law.parameters))(*map(_parameter, law.parameters))
    probes = (CProbe * len(probed))(*(_probe(each, places[each.name]) for each in probed))
    decide = (ctypes.c_void_p * 8)()
    for name, place in law.about.calls.items():
        if name in functions:
            decide[place] = address_of(functions[name])
    _KEPT.append((parameters, probes, functions))
    made = CLaw(
        size=ctypes.sizeof(CLaw),
        kind=law.about.number,
        flags=law.flags,
        state_bytes=ctypes.sizeof(state_struct(law)),
        name=law.name.encode(),
        summary=law.summary.encode(),
        source=law.source.encode(),
        example=law.example.encode(),
        contents=contents.encode(),
        parameters=parameters,
        probes=probes,
        parameter_count=len(law.parameters),
        probe_count=len(probed),
        decide=decide,
    )
    if "create" in functions:
        made.create = address_of(functions["create"])
    return made


def _parameter(parameter: Parameter) -> CParameter:
    meanings = parameter.choice_meanings
    pairs = zip(parameter.choices, meanings, strict=True)
    words = (CWord * len(meanings))(*(CWord(word.encode(), told.encode()) for word, told in pairs))
    _KEPT.append(words)
    default = parameter.default
    return CParameter(
        size=ctypes.sizeof(CParameter),
        type=parameter.type.number,
        flags=_LIST * parameter.list | _OPTIONAL * parameter.optional,
        word_count=len(meanings),
        name=parameter.name.encode(),
        meaning=(parameter.text.meaning or UNSAID).encode(),
        source=parameter.text.source.encode(),
        default_value=None if default is None else default.encode(),
        words=words,
    )


UNSAID = "Not described."
"""Meaning of what the docstring of a law does not describe."""


def _probe(quantity: Remembered, place: int) -> CProbe:
    kind = _TIME if quantity.is_time else _DOUBLE if quantity.of_c == "f64" else _WHOLE
    return CProbe(
        size=ctypes.sizeof(CProbe),
        type=kind,
        offset=place,
        name=quantity.name.encode(),
        unit=quantity.unit.encode(),
        meaning=(quantity.text.meaning or UNSAID).encode(),
    )
