"""Measures of recorded runs that functions of Python take: what expressions over final results
cannot say, such as how a state changes over time.

The files of a folder have the functions. Each is given a `Recording` and returns a number, or a
`Finding`: a number with words, or none and the reason. What a job asks for is a plan (`plan_of`), a
text that goes with the job to wherever it is run; there the answers are put into its document, as
`measured`, before the recorded series are dropped. `forebay.run.quantities.Measured` reads them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from forebay.errors import UserError, nearest, read_text

if TYPE_CHECKING:
    from forebay.run.jobs import Run

__all__ = ["Finding", "Recording", "calls_of", "measured", "part_of", "plan_of"]


class Finding(NamedTuple):
    """A value, or none, and what there is to say of it."""

    value: float | None
    told: str = ""


class Recording:
    """A finished run as a function sees it.

    `parameters` are numbers in base units (s, bit/s, B) that who asked for it gives, and `of` is
    the part of the network in question, if there are several.
    """

    def __init__(self, run: Run, parameters: Mapping[str, float], of: str = "") -> None:
        self.run = run
        self.parameters = parameters
        self.of = of

    def row(self, kind: str, name: str) -> Mapping[str, Any]:
        """The row of a kind with a name, as `Run.row`. Raises `KeyError`."""
        return self.run.row(kind, name)

    def series(self, place: str) -> Mapping[str, Any]:
        """The recorded series of a place such as `flows.bulk`: arrays by column, of which `time_s`
        is one. Raises `KeyError` if the scenario does not record it."""
        found = self.run.tables.get(f"series/{place}")
        if found is None:
            raise KeyError(f"no series of {place}: name it in record.series_of")
        return found


Function = Callable[[Recording], "float | Finding"]


def calls_of(folder: Path) -> dict[str, Function]:
    """The functions of all Python files of a folder, by name. Raises `UserError` if one of these
    cannot be read, is wrong, or has a function of a name that another has."""
    found: dict[str, Function] = {}
    for path in sorted(folder.glob("*.py")):
        module = _module(str(path), read_text(path, "functions of measures"))
        for name, value in vars(module).items():
            if not callable(value) or getattr(value, "__module__", "") != module.__name__:
                continue
            if not name.startswith("_") and name in found:
                raise UserError(f"{path}: another file has a function {name}, too")
            found[name] = value
    return found


def plan_of(
    folder: Path, calls: Mapping[str, tuple[str, str]], parameters: Mapping[str, float]
) -> str:
    """The plan of a job: by key, a function of a folder and the part that it is of.

    Raises `UserError` for a function that the folder does not have.
    """
    known = calls_of(folder)
    for name, _ in calls.values():
        if name not in known:
            raise UserError(f'{folder}: no function "{name}"{nearest(name, known)}')
    contents = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.glob("*.py")):
        contents.update(path.read_bytes())
    return json.dumps(
        {
            "folder": str(folder),
            "contents": contents.hexdigest(),
            "calls": calls,
            "parameters": parameters,
        }
    )


def part_of(plan: str) -> str:
    """A digest of all in a plan that its answers depend on, wherever the folder is; empty without a
    plan."""
    if not plan:
        return ""
    told = {name: value for name, value in json.loads(plan).items() if name != "folder"}
    return hashlib.blake2b(json.dumps(told).encode(), digest_size=8).hexdigest()


def measured(run: Run, plan: str) -> dict[str, tuple[float | None, str]]:
    """What a plan asks of a run: by key a value, or none, and words. Raises `UserError` if a
    function fails."""
    asked = json.loads(plan)
    path = Path(asked["folder"])
    functions = calls_of(path)
    found: dict[str, tuple[float | None, str]] = {}
    for key, (name, of) in asked["calls"].items():
        try:
            answer = functions[name](Recording(run, asked["parameters"], of))
        except Exception as error:
            raise UserError(f"{path}: {name}: {type(error).__name__}: {error}") from error
        value, told = answer if isinstance(answer, Finding) else (answer, "")
        found[key] = (None if value is None else float(value), told)
    return found


@cache
def _module(path: str, text: str) -> ModuleType:
    name = "forebay_measures_" + hashlib.blake2b(f"{path}{text}".encode()).hexdigest()[:16]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UserError(f"{path}: {type(error).__name__}: {error}") from error
    return module
