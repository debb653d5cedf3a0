"""Contents of laws: a hash of the text that decides what they do.

Of a file it covers the file and those below its folder that it imports, so that a law that has
changed is another; of a notebook the class, and the functions and constants that it uses.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from forebay.errors import UserError

__all__ = ["Files", "files_of", "hash_of", "hash_of_class", "names_of"]


class Files:
    """A file of laws with the modules beside it that it imports, by their names."""

    __slots__ = ("contents", "data", "modules", "path")

    def __init__(self, path: Path, data: bytes, modules: Mapping[str, Path], contents: str) -> None:
        self.path = path
        self.data = data
        self.modules = modules
        self.contents = contents


def files_of(path: Path) -> Files:
    """Read a file of laws. Raises `UserError` if it cannot be read; what is wrong in it is found
    when it is run."""
    data = _read(path)
    folder = path.resolve().parent
    modules: dict[str, Path] = {}
    texts = {"": data}
    waiting = list(_imported(data, "", folder))
    while waiting:
        name, file = waiting.pop()
        if name in modules:
            continue
        modules[name] = file
        text = _read(file)
        texts[file.relative_to(folder).as_posix()] = text
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        waiting += _imported(text, package, folder)
    parts = [part for key in sorted(texts) for part in (key.encode(), texts[key])]
    return Files(path, data, modules, hash_of(parts))


def hash_of(parts: Iterable[bytes]) -> str:
    """16 hexadecimal digits of the parts in their order."""
    digest = blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file of laws") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder; laws are a .py file or a library") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None


def _imported(data: bytes, package: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """The modules below a folder that a text imports, with their files."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = [*(above if node.level else []), *(node.module or "").split(".")]
            base = ".".join(filter(None, start))
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            yield from _below(name, folder)


def _below(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """A module and the packages that it is in, as far as they lie below a folder."""
    parts = name.split(".")
    if parts[0] in ("", "forebay"):
        return
    for length in range(1, len(parts) + 1):
        base = folder.joinpath(*parts[:length])
        for file in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if file.is_file():
                yield ".".join(parts[:length]), file
                break


def hash_of_class(cls: type, functions: Iterable[Callable[..., Any]]) -> str:
    """The contents of a class without a file: its text, and what its functions use."""
    waiting = [*functions]
    parts = [_text_of(cls, waiting)]
    seen: dict[int, Any] = {}
    while waiting:
        for name, value in sorted(names_of(waiting.pop()).items()):
            if id(value) in seen:
                continue
            seen[id(value)] = value
            if isinstance(value, types.FunctionType) and not _is_ours(value):
                parts.append(_text_of(value, [value]))
                waiting.append(value)
            elif isinstance(value, int | float | str | tuple):
                parts.append(f"{name} = {value!r}".encode())
    return hash_of(parts)


def _is_ours(value: types.FunctionType) -> bool:
    return (value.__module__ or "").partition(".")[0] == "forebay"


def _text_of(value: Any, functions: Sequence[Callable[..., Any]]) -> bytes:
    """The text of a class or function; if it is not at hand, what its functions do."""
    try:
        return inspect.getsource(value).encode()
    except (OSError, TypeError):
        return repr([_code_of(function.__code__) for function in functions]).encode()


def _code_of(code: types.CodeType) -> Any:
    """What a code object does, without its place in memory."""
    inner = [_code_of(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, inner


def names_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The names of its module and of functions around it that a function uses, with their
    values."""
    found = {}
    for name in _globals_in(function.__code__):
        if name in function.__globals__:
            found[name] = function.__globals__[name]
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return found | {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}


def _globals_in(code: types.CodeType) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _globals_in(constant)
    return found


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
