"""Laws that the interpreter runs, and what is said of an exception in one."""

from __future__ import annotations

import ctypes
import operator
import re
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from forebay.errors import nearest, printable
from forebay.laws.declared import Declaration
from forebay.laws.helpers import RefusalError
from forebay.laws.host import HOST
from forebay.laws.layout import CALL, CREATE_FACTS, facts_struct, state_struct

__all__ = ["callbacks", "creation", "fail", "reason"]

MAX_VIEWS = 4096
"""Maximum number of views of memory that are kept."""

_OURS = str(Path(__file__).parent)


def callbacks(law: Declaration) -> dict[str, Any]:
    """The methods of a law as C functions, with its creation if it has one."""
    state, made = state_struct(law), {}
    for name, method in law.methods.items():
        made[name] = CALL(_guarded(method, state, facts_struct(law.about.facts)))
    create = creation(law, law.create)
    if create is not None:
        made["create"] = CALL(_guarded(create, state, facts_struct(CREATE_FACTS)))
    return made


def creation(law: Declaration, create: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """The method that makes a state: it sets what does not begin with 0, then calls `create`."""
    lines = []
    for each in law.quantities:
        if each.start in (0, [0] * (each.count or 0)):
            continue
        if each.count is None:
            lines.append(f" law.{each.name} = {each.start!r}")
        elif isinstance(each.start, list | tuple):
            lines += [f" law.{each.name}[{i}] = {value!r}" for i, value in enumerate(each.start)]
        else:
            lines.append(f" for i in range({each.count}): law.{each.name}[i] = {each.start!r}")
    if not lines:
        return create
    lines.append(" create(law, at)" if create else "")
    names: dict[str, Any] = {"create": create}
    exec("\n".join(("def created(law, at):", *lines)), names)
    made: Callable[..., Any] = names["created"]
    return made


def _guarded(
    method: Callable[..., Any], state: type[ctypes.Structure], facts: type[ctypes.Structure]
) -> Callable[[int, int], int]:
    """A method that is given addresses, and never raises."""
    _STRUCTS[state.__name__], _STRUCTS[facts.__name__] = state, facts
    views: dict[int, Any] = {}
    seen: dict[int, Any] = {}

    def call(at_state: int, at_facts: int) -> int:
        try:
            law, at = views.get(at_state), seen.get(at_facts)
            if law is None:
                if len(views) >= MAX_VIEWS:
                    views.clear()
                law = views[at_state] = state.from_address(at_state)
            if at is None:
                if len(seen) >= MAX_VIEWS:
                    seen.clear()
                at = seen[at_facts] = facts.from_address(at_facts)
            decided = method(law, at)
            if decided.__class__ is int and -MAX_DECIDED <= decided < MAX_DECIDED:
                return decided
            return 0 if decided is None else _whole(decided)
        except BaseException as error:
            fail(at_facts, error)
            return -1

    return call


MAX_DECIDED = 2**31

_STRUCTS: dict[str, type[ctypes.Structure]] = {}
_ABSENT = re.compile(r"'(\w+)' object has no attribute '(\w+)'.*")


def _whole(decided: Any) -> int:
    """A decision that is another whole number than most, such as a `bool`."""
    try:
        number = operator.index(decided)
    except TypeError:
        number = MAX_DECIDED
    if not -MAX_DECIDED <= number < MAX_DECIDED:
        raise _ReturnedError(
            f"returned {decided!r}; allowed are whole numbers as they are in its kind"
        )
    return number


class _ReturnedError(Exception):
    """A method returned what is no decision."""


def fail(facts: int, error: BaseException) -> None:
    """Tell the engine why a call returns an error."""
    parameter = error.parameter if isinstance(error, RefusalError) else None
    told = error.message if isinstance(error, RefusalError) else reason(error)
    HOST.fail(facts, parameter.encode() if parameter else None, told.encode())


def reason(error: BaseException) -> str:
    """What went wrong, with file and line: `codel.py, line 12: ZeroDivisionError: ...`."""
    if isinstance(error, _ReturnedError):
        return str(error)
    where = place_of(error.__traceback__)
    return f"{where}{described(error)}"


def described(error: BaseException) -> str:
    """An exception in one line, with the nearest name where one is wrong."""
    text = str(error)
    found = _ABSENT.fullmatch(text) if isinstance(error, AttributeError) else None
    if found and found[1] in _STRUCTS:
        known = [name for name in dir(_STRUCTS[found[1]]) if not name.startswith("_")]
        text = f"there is no {found[2]}{nearest(found[2], known)}"
    return printable(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def place_of(traceback: TracebackType | None) -> str:
    """File and line of the innermost frame that is the user's, `codel.py, line 12: `."""
    found = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code.co_filename):
            found = f"{shown(code.co_filename)}, line {traceback.tb_lineno}: "
        traceback = traceback.tb_next
    return found


def is_ours(file: str) -> bool:
    """True for a file of this package, and for code that it has made."""
    return file.startswith((_OURS, "<string>"))


def shown(file: str) -> str:
    """Name of a file of code; cells of notebooks have none that says anything."""
    if file.startswith("<") or "ipykernel_" in file:
        return "notebook"
    path = Path(file)
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return file
