"""What methods of laws must not do, found in their code before any of it is run."""

from __future__ import annotations

import dis
from collections.abc import Callable, Collection, Iterator
from types import CodeType
from typing import Any

from forebay.errors import UserError

__all__ = ["check_code", "line_of"]


def check_code(function: Callable[..., Any], absent: Collection[str]) -> None:
    """Refuse a function that writes a variable of its module, which networks would share, or asks
    whether a parameter in `absent` is `None`, which no number is."""
    for code in _codes(function.__code__):
        instructions = list(dis.get_instructions(code))
        for at, instruction in enumerate(instructions):
            line = getattr(instruction.positions, "lineno", code.co_firstlineno)
            where = f"{function.__name__}, line {line}"
            if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                raise UserError(
                    f"{where}: writes {instruction.argval}, a variable of the module; what a law "
                    "remembers is its State[...]"
                )
            asked = instruction.opname == "LOAD_ATTR" and instruction.argval in absent
            if asked and _compares_to_none(instructions[at + 1 : at + 3]):
                raise UserError(
                    f"{where}: {instruction.argval} is a number, also where a scenario leaves it "
                    "out: NEVER then, or NaN of a float; compare it to NEVER, or to itself"
                )


def _compares_to_none(following: list[dis.Instruction]) -> bool:
    if not following:
        return False
    first, *others = following
    if first.opname.endswith(("IF_NONE", "IF_NOT_NONE")):
        return True
    loads = first.opname == "LOAD_CONST" and first.argval is None
    return loads and bool(others) and others[0].opname == "IS_OP"


def line_of(function: Callable[..., Any], name: str) -> int:
    """The line of a function that names an attribute first; its own if none does."""
    for code in _codes(function.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.argval == name and instruction.opname.endswith("_ATTR"):
                return int(getattr(instruction.positions, "lineno", 0) or code.co_firstlineno)
    return function.__code__.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
