"""Laws that numba compiles.

Each method becomes a C function over the same memory that the interpreter would use. Functions that
it calls are compiled with it. Division by zero, an index out of range, a fraction for a whole
number are errors, as they are in the interpreter; what is left is arithmetic of whole numbers
beyond 64 bits, which Python has and compiled laws have not.
"""

# ruff: noqa: PLC0415 (numba may not be installed, and takes half a second to import)

from __future__ import annotations

import ctypes
import types as pytypes
from collections.abc import Callable, Iterator
from typing import Any

from forebay.errors import UserError, nearest
from forebay.laws.checks import line_of
from forebay.laws.declared import Declaration
from forebay.laws.interpreted import callbacks, creation, shown
from forebay.laws.layout import (
    CREATE_FACTS,
    Fact,
    facts_layout,
    state_fields,
    state_struct,
)
from forebay.laws.raised import explanation
from forebay.laws.rewriting import LIST, METHOD, UncompilableError, rewritten
from forebay.laws.sources import names_of

__all__ = ["Compiled", "compiled", "version"]


class Compiled:
    """The methods of a law as C functions, by name. Those in `interpreted` could not be compiled,
    with the reason."""

    __slots__ = ("functions", "interpreted")

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}
        self.interpreted: dict[str, str] = {}


def version() -> str:
    """How compiled laws ran: `numba 0.68.1`."""
    import numba

    return f"numba {numba.__version__}"


def compiled(law: Declaration) -> Compiled:
    """Compile a law.

    Raises `UncompilableError` if a decision cannot be; a creation that cannot is left to the
    interpreter. Raises `UserError` for what would be an error in the interpreter as well.
    """
    from forebay.laws import overloads

    overloads.install()
    compiler, made = _Compiler(law), Compiled()
    plain = callbacks(law)
    for name, method in law.methods.items():
        made.functions[name] = compiler.function(name, method, law.about.facts)
    create = creation(law, law.create)
    if create is not None:
        try:
            made.functions["create"] = compiler.function("create", create, CREATE_FACTS)
        except UncompilableError as error:
            made.functions["create"] = plain["create"]
            made.interpreted["create"] = str(error)
    return made


class _Compiler:
    """Compiles the functions of one law, each once."""

    def __init__(self, law: Declaration) -> None:
        from forebay.laws import overloads

        self.law = law
        fields, size = state_fields(law), ctypes.sizeof(state_struct(law))
        self.state = overloads.record(fields, size)
        self.dispatchers: dict[Any, Any] = {}
        self.given = {
            **{LIST + name: made for name, made in _lists(law, fields)},
            **{METHOD + name: method for name, method in law.helpers.items()},
        }

    def function(self, name: str, method: Callable[..., Any], facts: str) -> Any:
        """A method as a C function."""
        from numba.core.errors import NumbaError

        from forebay.laws import overloads

        arguments = self.state, overloads.record(*facts_layout(facts))
        try:
            dispatcher = self.dispatcher(method)
            dispatcher.compile(arguments)
            self._check_types(name, dispatcher.overloads[arguments])
            explain = explanation(self.law, name, facts)
            function = overloads.c_function(dispatcher.overloads[arguments], arguments, explain)
        except (UncompilableError, UserError):
            raise
        except NumbaError as error:
            raise UncompilableError(_first_line(error)) from None
        except KeyError as error:
            raise self._unknown(method, error.args[0], facts) from None
        except Exception as error:
            # A part of numba that this uses may be another in another version of it.
            raise UncompilableError(f"{type(error).__name__}: {error}") from None
        return function

    def _unknown(self, method: Callable[..., Any], name: Any, facts: str) -> Exception:
        """The error for a name that neither the law nor its facts have."""
        known = [f.name for f in (*state_fields(self.law), *facts_layout(facts)[0])]
        if not isinstance(name, str) or name in known:
            return UncompilableError(f"KeyError: {name!r}")
        functions = [method, *self.dispatchers]
        using = [each for each in functions if name in each.__code__.co_names]
        where = using[0] if using else method
        file = shown(where.__code__.co_filename)
        told = f"{file}, line {line_of(where, name)}: there is no {name}{nearest(name, known)}"
        return UserError(told)

    def dispatcher(self, function: Any) -> Any:
        """A function as numba compiles it, together with those that it calls."""
        from numba import njit

        from forebay.laws import overloads

        if function in self.dispatchers:
            return self.dispatchers[function]
        code = rewritten(function, self.law)
        names: dict[str, Any] = {"__builtins__": __builtins__, "__name__": function.__module__}
        cells = tuple(pytypes.CellType() for _ in code.co_freevars)
        made = pytypes.FunctionType(
            code, names, function.__name__, function.__defaults__, cells or None
        )
        made.__kwdefaults__ = function.__kwdefaults__
        made.__module__ = function.__module__
        made.__qualname__ = function.__qualname__
        dispatcher = njit(error_model="python", boundscheck=True)(made)
        # Before those that it calls: functions may call each other in a circle.
        self.dispatchers[function] = dispatcher
        used = names_of(function)
        for name, value in {"int": overloads.whole, **used, **self._used_of(code)}.items():
            value = self._value(value, code)
            names[name] = value
            if name in code.co_freevars:
                cells[code.co_freevars.index(name)].cell_contents = value
        return dispatcher

    def _used_of(self, code: pytypes.CodeType) -> dict[str, Any]:
        return {name: self.given[name] for name in code.co_names if name in self.given}

    def _value(self, value: Any, code: pytypes.CodeType) -> Any:
        """A value that a function uses: functions are compiled, and those of modules as well."""
        if isinstance(value, pytypes.FunctionType):
            return value if _is_ours(value.__module__) else self.dispatcher(value)
        if isinstance(value, pytypes.ModuleType) and _is_users(value):
            module = pytypes.ModuleType(value.__name__)
            for name in code.co_names:
                if hasattr(value, name):
                    setattr(module, name, self._value(getattr(value, name), code))
            return module
        return value

    def _check_types(self, name: str, method: Any) -> None:
        """Refuse what the interpreter would: a fraction for a whole number, a result that is no
        whole number."""
        from numba import types
        from numba.core import ir

        result = method.signature.return_type
        result = result.type if isinstance(result, types.Optional) else result
        if not isinstance(result, types.Integer | types.Boolean | types.NoneType):
            raise UserError(
                f"{self.law.place}: {name} returns a {result}; allowed are whole numbers"
            )
        for compiled in (method, *self._others()):
            annotation = compiled.type_annotation
            for statement in _statements(annotation):
                into = _place_of(statement, annotation.typemap, ir)
                if into is None:
                    continue
                what, kind = into
                value = annotation.typemap[statement.value.name]
                if isinstance(kind, types.Integer) and isinstance(value, types.Float):
                    where = f"{shown(statement.loc.filename)}, line {statement.loc.line}"
                    raise UserError(
                        f"{where}: {what} holds whole numbers and is given one with a fraction; "
                        "write int(...)"
                    )

    def _others(self) -> Iterator[Any]:
        for dispatcher in self.dispatchers.values():
            yield from dispatcher.overloads.values()


def _statements(annotation: Any) -> Iterator[Any]:
    for block in annotation.blocks.values():
        yield from block.body


def _place_of(statement: Any, types: Any, ir: Any) -> tuple[str, Any] | None:
    """What a statement writes to, and of which type it is."""
    if isinstance(statement, ir.SetAttr):
        record = types[statement.target.name]
        if hasattr(record, "typeof") and statement.attr in getattr(record, "fields", {}):
            return statement.attr, record.typeof(statement.attr)
    elif isinstance(statement, ir.SetItem | ir.StaticSetItem):
        array = types[statement.target.name]
        if hasattr(array, "dtype"):
            return "an array", array.dtype
    return None


def _lists(law: Declaration, fields: list[Fact]) -> Iterator[tuple[str, Any]]:
    """A function for each list of a law that gives it as an array."""
    from forebay.laws import overloads

    for parameter in law.parameters:
        if parameter.list and not parameter.type.is_text and not parameter.choices:
            words, of_c = parameter.type.words, parameter.type.of_c
            yield parameter.name, overloads.list_of(parameter.name, of_c, words, 0)
            if words == 2:
                second = overloads.list_of(parameter.name, of_c, words, 1)
                yield f"{parameter.name}_in_packets", second


def _is_ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "forebay"


def _is_users(module: pytypes.ModuleType) -> bool:
    """True for a module that numba does not know by itself."""
    known = ("math", "cmath", "operator", "numpy", "numba", "builtins", "forebay")
    return module.__name__.partition(".")[0] not in known


def _first_line(error: Exception) -> str:
    """What numba says is the reason, and where."""
    lines = [line.strip() for line in str(error).splitlines()]
    empty = ("Failed in", "- Resol", "During")
    told = [line for line in lines if line and not line.startswith(empty)]
    where = next((line for line in lines if line.startswith('File "')), "")
    reason = told[0] if told else type(error).__name__
    return f"{reason} ({_in_words(where)})" if where else reason


def _in_words(where: str) -> str:
    """`File "codel.py", line 12:` as `codel.py, line 12`."""
    _, file, line = where.split('"', 2)
    return f"{shown(file)}{line.rstrip(':')}"
