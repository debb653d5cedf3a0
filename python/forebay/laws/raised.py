"""Errors of compiled laws, in the words in which the interpreter has them.

numba keeps of an exception its class, its text and, where a `raise` made it, the line. Where it
keeps no line, the method is repeated by the interpreter on a copy of its memory.
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable
from typing import Any

from forebay.laws.declared import Declaration
from forebay.laws.helpers import without_drops
from forebay.laws.host import HOST
from forebay.laws.interpreted import creation, described, fail, is_ours, place_of, shown
from forebay.laws.layout import CREATE_FACTS, facts_struct, state_fields, state_struct

__all__ = ["EXPLAIN", "explanation"]

EXPLAIN = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)
"""What a compiled law calls that has failed: state, facts, the exception, and a copy of the state
before the call; or 0 instead of an exception, and what it returned."""


class _Exception(ctypes.Structure):
    """What numba keeps of an exception."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_int32),
        ("hash", ctypes.c_void_p),
        ("unwrap", ctypes.c_void_p),
        ("dynamic", ctypes.c_int32),
    )


def explanation(law: Declaration, name: str, facts: str) -> Any:
    """The function that tells the engine why a method of a compiled law has failed."""
    state_of, facts_of = state_struct(law), facts_struct(facts)
    creates = facts == CREATE_FACTS
    method: Any = creation(law, law.create) if creates else law.methods[name]

    def explain(state: int, facts: int, exception: int, other: int) -> int:
        try:
            if not exception:
                text = f"returned {other}; allowed are whole numbers as they are in its kind"
                HOST.fail(facts, None, text.encode())
            elif creates:
                _create_again(law, method, state_of.from_address(state), facts_of, facts)
                HOST.fail(facts, None, _kept(exception)[1].encode())
            else:
                before = state_of.from_address(other or state)
                told = _found(method, before, facts_of.from_address(facts), exception)
                HOST.fail(facts, None, told.encode())
        except BaseException as error:
            fail(facts, error)
        return -1

    return EXPLAIN(explain)


def _create_again(law: Declaration, method: Any, state: Any, facts_of: Any, facts: int) -> None:
    """Raise what creating a state raises, from its parameters on."""
    fields = state_fields(law)
    first = next((f.offset for f in fields if f.name in {q.name for q in law.quantities}), None)
    if first is not None:
        ctypes.memset(ctypes.addressof(state) + first, 0, ctypes.sizeof(state) - first)
    method(state, facts_of.from_address(facts))


def _found(method: Callable[..., Any], state: Any, facts: Any, exception: int) -> str:
    """The message for an exception: as numba kept it, with the line that repeating it finds."""
    name, text, where = _kept(exception)
    if not where:
        again = _repeated(method, _copy(state), _copy(facts))
        if again is not None and type(again).__name__ == name:
            return f"{place_of(again.__traceback__)}{described(again)}"
        code = method.__code__
        where = f"{shown(code.co_filename)}, in {code.co_name} from line {code.co_firstlineno}: "
    return f"{where}{text}"


def _kept(exception: int) -> tuple[str, str, str]:
    """Class of an exception, its description, and where it was raised, if that is known."""
    found = _Exception.from_address(exception)
    kind, values, place = pickle.loads(ctypes.string_at(found.data, found.bytes))
    text = kind.__name__ if found.dynamic or not values else described(kind(*values))
    known = place and not is_ours(place[1])
    where = f"{shown(place[1])}, line {place[2]}: " if known else ""
    return kind.__name__, text, where


def _copy(memory: Any) -> Any:
    made = type(memory)()
    ctypes.memmove(ctypes.addressof(made), ctypes.addressof(memory), ctypes.sizeof(made))
    return made


def _repeated(method: Callable[..., Any], law: Any, at: Any) -> BaseException | None:
    """What a method raises when it is repeated."""
    try:
        with without_drops():
            method(law, at)
    except BaseException as error:
        return error
    return None
