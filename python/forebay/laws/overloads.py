"""What numba must know to compile laws: their memory, the functions of the engine, C functions.

It uses parts of numba that are below its documented interface (`call_internal_no_propagate`), to
learn of an exception that a method raises; without them it can only be printed.
"""

# ruff: noqa: TID253 (imported by what compiles a law, and by nothing else)

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from forebay.laws import helpers
from forebay.laws.host import compiled_host
from forebay.laws.layout import Fact

__all__ = ["c_function", "install", "list_of", "record", "whole"]

_FORMATS = {"u32": "u4", "i64": "i8", "f64": "f8"}
_WORD = ir.IntType(64)
_STRICT = {"error_model": "python", "boundscheck": True}


def _overload(function: Any) -> Any:
    """Decorator of what gives the compiled form of a function."""
    # Parameters are compared by their names, not by annotations, which numba does not read.
    return overload(function, jit_options=_STRICT, strict=False)


def record(fields: Sequence[Fact], size: int) -> Any:
    """The type of a struct."""
    formats = [(_FORMATS[f.type], (f.number,)) if f.number else _FORMATS[f.type] for f in fields]
    layout: Any = {
        "names": [f.name for f in fields],
        "formats": formats,
        "offsets": [f.offset for f in fields],
        "itemsize": size,
    }
    return numba.from_dtype(np.dtype(layout, align=True))


def c_function(method: Any, arguments: tuple[Any, Any], explain: Any) -> Any:
    """A compiled method as a C function of two pointers.

    What it returns beyond 32 bits, and exceptions, go to `explain`.
    """
    address = ctypes.cast(explain, ctypes.c_void_p).value

    @intrinsic
    def guarded(context: Any, state: Any, facts: Any) -> Any:
        return types.int32(types.voidptr, types.voidptr), _call(method, arguments, address)

    def call(state: Any, facts: Any) -> Any:
        return guarded(state, facts)

    made = numba.cfunc(types.int32(types.voidptr, types.voidptr), **_STRICT)(call)
    # What it points to must stay.
    made.forebay_keeps = (method, explain)
    return made


def _call(method: Any, arguments: tuple[Any, Any], explain: int | None) -> Callable[..., Any]:
    """Code that calls a method and turns its result, or its exception, into an answer."""
    result_type = method.signature.return_type

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        pointers = [
            builder.bitcast(pointer, context.get_value_type(kind))
            for pointer, kind in zip(given, arguments, strict=True)
        ]
        context.add_linking_libs([method.library])
        before = _copied(builder, given[0], arguments[0].size)
        status, result = context.call_internal_no_propagate(
            builder, method.fndesc, method.signature, pointers
        )
        failed = ir.FunctionType(ir.IntType(32), [_WORD] * 4).as_pointer()
        function = builder.inttoptr(ir.Constant(_WORD, explain), failed)
        addresses = [builder.ptrtoint(pointer, _WORD) for pointer in given]
        answer = cgutils.alloca_once(builder, ir.IntType(32))
        with builder.if_else(status.is_error) as (wrong, right):
            with wrong:
                exception = builder.ptrtoint(status.excinfoptr, _WORD)
                told = builder.call(function, [*addresses, exception, before])
                builder.store(told, answer)
            with right:
                number = _number(context, builder, result, result_type)
                narrow = builder.trunc(number, ir.IntType(32))
                builder.store(narrow, answer)
                wide = builder.icmp_signed("!=", builder.sext(narrow, _WORD), number)
                with builder.if_then(wide, likely=False):
                    zero = ir.Constant(_WORD, 0)
                    builder.store(builder.call(function, [*addresses, zero, number]), answer)
        return builder.load(answer)

    return generate


MAX_COPIED = 512
"""Maximum size of a state of which a copy is made before each call, to repeat it by."""


def _copied(builder: Any, state: Any, size: int) -> Any:
    """Address of a copy of the state, or 0 of a large one."""
    if size > MAX_COPIED:
        return ir.Constant(_WORD, 0)
    copy = cgutils.alloca_once(builder, ir.ArrayType(_WORD, size // 8))
    cgutils.raw_memcpy(builder, copy, state, ir.Constant(_WORD, size), 1, align=8)
    return builder.ptrtoint(copy, _WORD)


def _number(context: Any, builder: Any, result: Any, kind: Any) -> Any:
    """A result as a whole number: none is 0."""
    if isinstance(kind, types.NoneType):
        return ir.Constant(_WORD, 0)
    if isinstance(kind, types.Optional):
        optional = context.make_helper(builder, kind, value=result)
        number = _number(context, builder, optional.data, kind.type)
        return builder.select(optional.valid, number, ir.Constant(_WORD, 0))
    return context.cast(builder, result, kind, types.int64)


def list_of(name: str, of_c: str, words: int, start: int) -> Any:
    """The function that gives a list of a law as an array."""
    dtype = types.float64 if of_c == "f64" else types.int64

    @intrinsic
    def memory(context: Any, law: Any) -> Any:
        pointer = types.CPointer(dtype)

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            at = law.offset(f"{name}_at")
            place = cgutils.pointer_add(builder, given[0], at, _WORD.as_pointer())
            return builder.inttoptr(builder.load(place), context.get_value_type(pointer))

        return pointer(law), generate

    @intrinsic
    def length(context: Any, law: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            at = law.offset(f"{name}_count")
            place = cgutils.pointer_add(builder, given[0], at, _WORD.as_pointer())
            return builder.load(place)

        return types.int64(law), generate

    if words == 1:

        @numba.njit(**_STRICT)
        def values(law: Any) -> Any:
            return numba.carray(memory(law), (length(law),))

        return values

    @numba.njit(**_STRICT)
    def each(law: Any) -> Any:
        return numba.carray(memory(law), (length(law), words))[:, start]

    return each


def whole(x: Any) -> Any:
    """`int` of compiled laws: an error for NaN and what has no 64 bits, as in the interpreter."""
    return int(x)


@_overload(whole)
def _whole(x: Any) -> Any:
    if not isinstance(x, types.Float):
        return lambda x: int(x)

    def checked(x: float) -> int:
        if not -9.2233720368547758e18 <= x < 9.2233720368547758e18:
            raise ValueError("no whole number of 64 bits")
        return int(x)

    return checked


@intrinsic
def _address(context: Any, at: Any) -> Any:
    """Where a struct lies."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.ptrtoint(given[0], _WORD)

    return types.int64(at), generate


_INSTALLED: list[Any] = []


def install() -> None:
    """Let numba know the functions that laws call."""
    if _INSTALLED:
        return
    _install_arithmetic()
    _install_draws()
    dropped = compiled_host("drop")

    @_overload(helpers.drop)
    def drop(at: Any, handle: Any, verdict: Any) -> Any:
        def impl(at: Any, handle: int, verdict: int) -> None:
            dropped(_address(at), handle, verdict)

        return impl

    @_overload(helpers.refuse)
    def refuse(parameter: Any, message: Any) -> Any:
        def impl(parameter: Any, message: Any) -> None:
            raise ValueError("refused")

        return impl

    _INSTALLED.append((drop, refuse))


def _install_arithmetic() -> None:
    for name, function in (
        ("ln", helpers.ln),
        ("ln_1p", helpers.ln_1p),
        ("exp", helpers.exp),
        ("exp_m1", helpers.exp_m1),
        ("cbrt", helpers.cbrt),
    ):
        _install_function(function, compiled_host(name))
    power = compiled_host("pow")
    _overload(helpers.power)(lambda x, y: lambda x, y: power(x, y))

    @_overload(helpers.sqrt)
    def sqrt(x: Any) -> Any:
        def impl(x: float) -> float:
            if x < 0.0:
                raise ValueError("math domain error")
            return np.sqrt(x)

        return impl

    @_overload(helpers.seconds)
    def seconds(ps: Any) -> Any:
        return lambda ps: ps / 1e12

    @_overload(helpers.span)
    def span(s: Any) -> Any:
        most, message = helpers.MAX_SPAN, helpers.TOO_LARGE

        def impl(s: float) -> int:
            ps = s * 1e12 + 0.5
            if not 0.0 <= ps < most:
                raise ValueError(message)
            return int(ps)

        return impl


def _install_function(function: Any, host: Any) -> None:
    _overload(function)(lambda x: lambda x: host(x))


def _install_draws() -> None:
    message = helpers.NO_STREAM
    uniform, below = compiled_host("uniform"), compiled_host("below")

    @numba.njit(**_STRICT)
    def stream(at: Any) -> Any:
        if at.random == 0:
            raise RuntimeError(message)
        return at.random

    for name, function in (
        ("uniform", helpers.uniform),
        ("exponential", helpers.exponential),
        ("normal", helpers.normal),
    ):
        _install_draw(function, compiled_host(name), stream)

    @_overload(helpers.happens)
    def happens(at: Any, p: Any) -> Any:
        return lambda at, p: uniform(stream(at)) < p

    @_overload(helpers.below)
    def under(at: Any, n: Any) -> Any:
        return lambda at, n: below(stream(at), n)


def _install_draw(function: Any, host: Any, stream: Any) -> None:
    _overload(function)(lambda at: lambda at: host(stream(at)))
