"""Reading a study's folder: its files, and its modules as a package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from forebay.errors import UserError, nearest, read_text
from forebay.study.claims import Paper, PaperFileError, bind_predicates, load_paper
from forebay.study.comparison import FILE, Comparison
from forebay.study.definition import Replications, Study
from forebay.study.extensions import load_extensions
from forebay.study.folders import study_folders
from forebay.study.grades import (
    MissingMeasurementError,
    Predicate,
    UnknownPointError,
    points_needed,
)
from forebay.study.guard import guard, guarded
from forebay.study.variants import load_variants

__all__ = ["PACKAGE", "load_study"]


def load_study(study_id: str) -> Study:
    """Read a study's files.

    Raises `UserError` for an unknown study or a wrong file in it.
    """
    folders = study_folders()
    if study_id not in folders:
        known = ", ".join([*folders, "all"])
        raise UserError(f'no study "{study_id}"{nearest(study_id, folders)}; there are {known}')
    folder = folders[study_id]
    _package(study_id, folder)
    try:
        paper = load_paper(folder / "paper.toml")
        predicates = bind_predicates(paper, _predicates(study_id, folder))
    except PaperFileError as error:
        raise UserError(*error.lines) from None
    _check_grid(paper, predicates, folder)
    scenario = read_text(folder / "scenario.toml")
    module = _module(study_id, folder, "study")
    code = str(folder / "study.py")
    figures = getattr(module, "figures", None)
    return Study(
        id=study_id,
        folder=folder,
        paper=paper,
        predicates={
            name: guard(predicate, folder, _statement(paper, name), (MissingMeasurementError,))
            for name, predicate in predicates.items()
        },
        scenario=scenario,
        grid_point=_required(module, "grid_point"),
        quantities=guard(_required(module, "quantities"), folder, code),
        figures=None if figures is None else guard(figures, folder, code),
        replications=getattr(module, "REPLICATIONS", Replications()),
        variants=load_variants(folder / "sensitivity.toml", vars(module)),
        recordings=tuple(
            each if each.keep is None else replace(each, keep=guard(each.keep, folder, code))
            for each in getattr(module, "RECORDINGS", ())
        ),
        record_runs=bool(getattr(module, "RECORD_RUNS", False)),
        comparisons=_comparisons(study_id, folder),
    )


PACKAGE = "forebay_studies"
"""The package that studies' modules belong to; it exists in memory only."""


def _package(study_id: str, folder: Path) -> None:
    """Make a study's folder the package `forebay_studies.<id>`, with no module of it loaded yet."""
    name = f"{PACKAGE}.{study_id}"
    for loaded in [module for module in sys.modules if module.startswith(f"{name}.")]:
        del sys.modules[loaded]
    # Finders keep lists of a folder's files; a file written a moment ago may not be in them.
    importlib.invalidate_caches()
    above = sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE))
    above.__path__ = []
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    setattr(above, study_id, package)


def _module(study_id: str, folder: Path, name: str) -> ModuleType:
    """A module of a study whose `_package` was made."""
    path = folder / f"{name.replace('.', '/')}.py"
    if not path.is_file():
        raise UserError(f"{path}: no such file; a study needs it")
    with guarded(folder, str(path)):
        return importlib.import_module(f"{PACKAGE}.{study_id}.{name}")


def _predicates(study_id: str, folder: Path) -> dict[str, Predicate]:
    """Definitions of `predicates.py`, or of the modules of `predicates/`.

    Of a function for several grid points, those for each of them (`criteria.for_each`).
    """
    names = ["predicates"]
    if (folder / "predicates").is_dir():
        files = sorted((folder / "predicates").glob("*.py"))
        names = [f"predicates.{file.stem}" for file in files if file.stem != "__init__"]
    found: dict[str, Predicate] = {}
    for name in names:
        defined = vars(_module(study_id, folder, name))
        found |= defined
        for entry in list(defined.values()):
            found |= getattr(entry, "predicates", {})
    return found


def _check_grid(paper: Paper, predicates: Mapping[str, Predicate], folder: Path) -> None:
    """See that predicates ask for grid points of the paper only; raises `UserError`."""
    grid = paper.values()
    for name, predicate in predicates.items():
        place = _statement(paper, name)
        with guarded(folder, place, told=(UnknownPointError,)):
            points_needed(predicate, grid)


def _statement(paper: Paper, name: str) -> str:
    return f'{paper.path}: statement "{name}"'


def _comparisons(study_id: str, folder: Path) -> tuple[Comparison, ...]:
    if not (folder / FILE).is_file():
        return ()
    return load_extensions(folder / FILE, _module(study_id, folder, "extensions"))


def _required(module: ModuleType, name: str) -> Any:
    function = getattr(module, name, None)
    if not callable(function):
        raise UserError(f"{module.__file__}: defines no function {name}; a study needs it")
    return function
