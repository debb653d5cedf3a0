"""Loading laws: files of Python and libraries, classes that are decorated, addresses.

What is loaded stays: the engine knows it as long as the process runs. Loading the same contents
again does nothing. A law is code, and runs with the rights of the user: load what you
trust.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

from forebay.errors import UserError, nearest, warn_of
from forebay.extras import is_installed
from forebay.laws import table
from forebay.laws.compiled import compiled, version
from forebay.laws.declared import Declaration
from forebay.laws.interpreted import callbacks, described, place_of, shown
from forebay.laws.rewriting import UncompilableError
from forebay.laws.sources import Files, files_of, hash_of, hash_of_class
from forebay.native import native

__all__ = [
    "COMPILE",
    "NOTEBOOK",
    "Law",
    "LawWarning",
    "files",
    "header",
    "load",
    "loaded",
    "register",
    "register_addresses",
]

NOTEBOOK = "notebook"
"""Where laws come from that no file holds."""

COMPILE = ("auto", "numba", "no")
"""Ways to run a law: compiled where numba is there and can; compiled or an error; interpreted.
`FOREBAY_LAWS_COMPILE` says which is meant by `auto`."""


class LawWarning(UserWarning):
    """A law that works, and runs slower than its author may think."""


@dataclass(frozen=True, slots=True)
class Law:
    """A law from outside that the engine knows.

    `category` and `name` are those by which a scenario chooses it. `contents` is the hash of its
    source; `ran_as` says how it runs: `python`, `numba` with its version, or `library`; `abi` is
    the version of the interface.
    """

    category: str
    name: str
    file: str
    contents: str
    ran_as: str
    abi: int


@dataclass(slots=True)
class _Known:
    """What was loaded from one place: a path, or a notebook's class."""

    path: Path | None
    contents: str
    laws: list[Law]


_KNOWN: list[_Known] = []
_PENDING: list[list[tuple[Declaration, str]]] = []
_BESIDE: dict[tuple[str, str, str], ModuleType] = {}


def load(path: Path | str) -> list[Law]:
    """Load the laws of a file: Python (`.py`), whose classes are decorated by `forebay.law`, or a
    shared library (`.so`, `.dylib`, `.dll`). Its code is run: load what you trust.

    Raises `UserError` if it cannot be read, is wrong, has no laws, or has changed since it was
    loaded in this process; and for a name that Forebay has already.
    """
    path = Path(path)
    if path.suffix == ".py":
        return _load_python(path)
    if not path.exists():
        raise UserError(f"{path}: there is no such file of laws")
    if path.suffix not in (".so", ".dylib", ".dll"):
        raise UserError(f"{path}: is no file of laws; these end in .py, .so, .dylib or .dll")
    files = files_of(path)
    known = _find(path, files.contents)
    if known is None:
        laws = _engine("load_laws", str(path))
        known = _Known(path.resolve(), files.contents, laws)
        _KNOWN.append(known)
    return known.laws


def loaded() -> list[Law]:
    """The laws from outside that this process knows, in the order in which they were loaded."""
    return [Law(**law) for law in json.loads(native().laws())]


def files() -> list[tuple[str, list[Law]]]:
    """The files from which another process can load the laws of this one, with their laws. A file
    that runs as the program is none: to load it would run the program."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    program = None if main is None else Path(main).resolve()
    paths = ((known.path, known.laws) for known in _KNOWN)
    return [(str(path), laws) for path, laws in paths if path is not None and path != program]


def header() -> Path:
    """The C header of the interface, `forebay_law.h`, for laws in C and C++."""
    return Path(__file__).parent / "include" / "forebay_law.h"


def _load_python(path: Path) -> list[Law]:
    files = files_of(path)
    known = _find(path, files.contents)
    if known is not None:
        return known.laws
    _PENDING.append([])
    try:
        _run(files)
    finally:
        pending = _PENDING.pop()
    if not pending:
        raise UserError(f"{path}: has no laws; decorate a class: @forebay.law(kind=...)")
    laws = _add(pending, str(path), files.contents)
    _KNOWN.append(_Known(path.resolve(), files.contents, laws))
    return laws


def _find(path: Path, contents: str) -> _Known | None:
    """What was loaded with the same contents. Raises `UserError` if a file has changed."""
    for known in _KNOWN:
        if known.contents == contents and known.path is not None:
            return known
    for known in _KNOWN:
        if known.path == path.resolve():
            names = ", ".join(law.name for law in known.laws)
            raise UserError(
                f"{path}: has changed since {names} was loaded from it in this process; start "
                "another process (restart the notebook's kernel), or save it as another file with "
                "another name for the law"
            )
    return None


def _run(files: Files) -> None:
    """Run a file as a module of its own. Raises `UserError` with file and line."""
    path = files.path
    name = f"forebay_laws_{files.contents}"
    spec = spec_from_loader(name, None, origin=str(path))
    module = module_from_spec(spec)  # type: ignore[arg-type]
    module.__file__ = str(path)
    sys.modules[name] = module
    done = False
    try:
        code = compile(files.data, str(path), "exec", dont_inherit=True)
        with _importable(path.resolve().parent, files.modules):
            exec(code, module.__dict__)
        done = True
    except (UserError, KeyboardInterrupt):
        raise
    except SyntaxError as error:
        where = f"{shown(error.filename or str(path))}, line {error.lineno}"
        raise UserError(f"{where}: SyntaxError: {error.msg}") from None
    except BaseException as error:
        where = place_of(error.__traceback__) or f"{path}: "
        raise UserError(f"{where}{described(error)}") from None
    finally:
        if not done:
            del sys.modules[name]


@contextmanager
def _importable(folder: Path, modules: Mapping[str, Path]) -> Iterator[None]:
    """Modules below a folder can be imported, and are no others of the same name. They are kept,
    with their contents, for other files of the folder."""
    keys = {
        name: (str(folder), name, hash_of([file.read_bytes()])) for name, file in modules.items()
    }
    hidden = {name: sys.modules.pop(name) for name in modules if name in sys.modules}
    sys.modules.update({name: _BESIDE[key] for name, key in keys.items() if key in _BESIDE})
    sys.path.insert(0, str(folder))
    imported: dict[str, ModuleType] = {}
    try:
        yield
        imported = {name: sys.modules[name] for name in modules if name in sys.modules}
    finally:
        sys.path.remove(str(folder))
        for name in modules:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
    _BESIDE.update({keys[name]: module for name, module in imported.items()})


def register(law: Declaration, compile: str) -> None:
    """Make a decorated class known: at once, or with the others of the file that is loaded."""
    if _PENDING:
        _PENDING[-1].append((law, compile))
        return
    path = _file_of(law)
    if path is not None:
        files = files_of(path)
        contents, file = files.contents, shown(str(path))
    else:
        functions = [*law.methods.values(), *law.helpers.values(), *filter(None, [law.create])]
        contents, file = hash_of_class(law.of, functions), NOTEBOOK
    for known in _KNOWN:
        if (law.about.category, law.name) in [(each.category, each.name) for each in known.laws]:
            if known.contents == contents:
                return
            if known.path is not None or path is not None:
                raise UserError(_changed(law, known))
            # A cell that was edited and run again: the law is what it says now.
            _KNOWN.remove(known)
            break
    laws = _add([(law, compile)], file, contents)
    at = path.resolve() if path else None
    for known in _KNOWN:
        if at is not None and (known.path, known.contents) == (at, contents):
            known.laws += laws
            return
    _KNOWN.append(_Known(at, contents, laws))


def register_addresses(law: Declaration, functions: Mapping[str, Any], text: str, how: str) -> None:
    """Make a law known of which only the addresses of C functions are given; `text` decides what
    it does, and `how` says how it runs: those that are `python` are waited for."""
    contents = hash_of([law.name.encode(), text.encode()])
    for known in _KNOWN:
        if (law.about.category, law.name) in [(each.category, each.name) for each in known.laws]:
            if known.contents == contents:
                return
            raise UserError(_changed(law, known))
    address = table.add([(law, functions, contents)])
    file = shown(law.place.rpartition(", line ")[0])
    laws = _engine("add_laws", address, file, how, how == "python")
    _KNOWN.append(_Known(None, contents, laws))


def _changed(law: Declaration, known: _Known) -> str:
    whence = f"from {known.laws[0].file}" if known.path is not None else "with other contents"
    return (
        f"{law.place}: {law.name} was loaded already, {whence}; what is loaded stays as it is: "
        "give the law another name (name=...), or start another process (restart the notebook's "
        "kernel)"
    )


def _file_of(law: Declaration) -> Path | None:
    """The file that holds a class, if one does."""
    module = sys.modules.get(law.of.__module__)
    file = getattr(module, "__file__", None)
    code = next(iter(law.methods.values())).__code__.co_filename
    # In a notebook that was started from a file, cells are no part of it.
    return Path(file) if file and os.path.abspath(code) == os.path.abspath(file) else None


def _add(pending: list[tuple[Declaration, str]], file: str, contents: str) -> list[Law]:
    """Add declared laws to the engine, compiled ones and others."""
    made = [(law, *_functions(law, compile)) for law, compile in pending]
    found: list[Law] = []
    for how in dict.fromkeys(each[2] for each in made):
        group = [each for each in made if each[2] == how]
        address = table.add([(law, functions, contents) for law, functions, *_ in group])
        waits = any(each[3] for each in group)
        found += _engine("add_laws", address, file, how, waits)
    return found


def _functions(law: Declaration, compile: str) -> tuple[dict[str, Any], str, bool]:
    """The C functions of a law, how it runs, and if the interpreter takes part in that."""
    what = f"{law.place}: compile"
    if compile == "auto" and "FOREBAY_LAWS_COMPILE" in os.environ:
        what, compile = "FOREBAY_LAWS_COMPILE", os.environ["FOREBAY_LAWS_COMPILE"]
    if compile not in COMPILE:
        near = nearest(compile, COMPILE)
        raise UserError(f"{what} is {compile!r}{near}; allowed are {', '.join(COMPILE)}")
    if compile == "no":
        return callbacks(law), "python", True
    if not is_installed("numba"):
        lacking = f"law {law.name}: numba is not installed (pip install 'forebay[laws]')"
        if compile == "numba":
            raise UserError(f"{law.place}: {lacking}")
        _warn(f"{lacking}; laws in Python run interpreted, many times slower", "numba")
        return callbacks(law), "python", True
    try:
        made = compiled(law)
    except UncompilableError as error:
        told = f"law {law.name}: numba cannot compile it: {error}"
        if compile == "numba":
            raise UserError(f"{law.place}: {told}") from None
        _warn(f"{told}; it runs interpreted, many times slower", law.place)
        return callbacks(law), "python", True
    return made.functions, version(), bool(made.interpreted)


_WARNED: set[str] = set()


def _warn(text: str, once: str) -> None:
    if once not in _WARNED:
        _WARNED.add(once)
        warn_of([text], LawWarning)


def _engine(call: str, *arguments: Any) -> list[Law]:
    """The laws that the engine has added. Raises `UserError` for what it refuses."""
    engine = native()
    try:
        return [Law(**law) for law in json.loads(getattr(engine, call)(*arguments))]
    except engine.LawError as error:
        raise UserError(str(error)) from None
