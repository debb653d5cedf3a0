"""`forebay.law`, which makes a class a law, and `add`, which takes addresses of C functions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from forebay.errors import UserError, nearest
from forebay.laws.declared import Declared, declare
from forebay.laws.interpreted import shown
from forebay.laws.loading import register, register_addresses
from forebay.laws.numbers import FLAGS, KINDS

__all__ = ["add", "law"]

C = TypeVar("C", bound=type)


def law(
    *,
    kind: str,
    source: str = "-",
    example: str = "",
    name: str | None = None,
    summary: str | None = None,
    compile: str = "auto",
    **flags: bool,
) -> Callable[[C], C]:
    """Make a class a law that scenarios can choose by its name.

    `kind` is `queue`, `discipline`, `scheduler`, `conditioner`, `control`, `traffic` or
    `impairment`; it says which methods the class has. `source` is the publication that defines the
    law, `example` has parameters with which it works, as lines of a scenario. `name` is that of
    the class if it is not given, `summary` the first paragraph of its docstring. `compile` is
    `auto` (by numba if it is installed and can), `numba` (or an error) or `no`. Flags, such as
    `draws=True`, are those of the interface, in small letters.

    Raises `UserError` for what is wrong with the class, and for a name that is taken.
    """
    for flag in flags:
        if flag not in FLAGS:
            raise UserError(
                f"forebay.law: there is no {flag!r}{nearest(flag, FLAGS)}; flags are "
                f"{', '.join(FLAGS)}"
            )
    options = Declared(kind, name, summary, source, example, flags)
    frame = sys._getframe(1)
    place = f"{shown(frame.f_code.co_filename)}, line {frame.f_lineno}"
    names = frame.f_locals

    def decorate(cls: C) -> C:
        register(declare(cls, options, names, place), compile)
        return cls

    return decorate


def add(
    kind: str,
    name: str,
    calls: Mapping[str, Any],
    *,
    contents: str,
    state: type | None = None,
    ran_as: str = "compiled",
    source: str = "-",
    summary: str | None = None,
    example: str = "",
    **flags: bool,
) -> None:
    """Add a law of which there are addresses of C functions, such as Cython, cffi or numba give.

    `calls` has them by the names of the methods of its `kind`, `create` among them: numbers, or
    what has an `address`, or functions of ctypes. They take two pointers, state and facts, as in
    `forebay_law.h`, and give an `int32_t`. `contents` is a text that decides what the law does,
    such as its source: it enters the hash of scenarios. `state` is a class with the annotations
    that a law in Python has, whose parameters and state lie in memory in their order. `ran_as`
    says how it runs; of `python`, whose functions need the interpreter, runs are waited for.

    Raises `UserError` for what is wrong, and for a name that is taken.
    """
    frame = sys._getframe(1)
    place = f"{shown(frame.f_code.co_filename)}, line {frame.f_lineno}"
    if kind not in KINDS:
        raise UserError(f'{place}: there is no kind "{kind}"{nearest(kind, KINDS)}')
    allowed = ["create", *KINDS[kind].calls]
    for call in calls:
        if call not in allowed:
            raise UserError(
                f"{place}: a law of the kind {kind} has no {call!r}{nearest(call, allowed)}; there "
                f"are {', '.join(allowed)}"
            )
    members = {"__doc__": getattr(state, "__doc__", None), **dict.fromkeys(calls, _placeholder)}
    like = type(name, (state,) if state else (), members)
    declared = declare(
        like, Declared(kind, name, summary, source, example, flags), frame.f_locals, place
    )
    register_addresses(declared, dict(calls), contents, ran_as)


def _placeholder(law: Any, at: Any) -> int:
    """Stands for a method of which there is an address."""
    raise NotImplementedError
