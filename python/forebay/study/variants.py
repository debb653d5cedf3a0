"""Sensitivity runs of a study: reading and checking `sensitivity.toml`.

    [[variant]]
    id = "delayed-ack"
    title = "delayed acknowledgements"
    why = "The paper does not say whether receivers delay acknowledgements."
    set = { "flows.*.tcp.delayed_ack" = true }      # see forebay.study.change.Change
    claims = ["t3.2/*", "t4.4/cbs50/*"]             # tried at the grid points of these

A list of patterns that several variants need gets a name, which stands for it in their `claims`:

    [claims]
    tcp-alone = ["t3.2/udp0/*", "t4.2/*"]

`change` names a function of study.py, `def NAME(network, point)`, for what cannot be said so; it
is called before keys are set.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from forebay.errors import UserError, nearest
from forebay.study.change import Change
from forebay.study.data_files import STRICT, read_data, refuse_twice
from forebay.study.definition import Variant

__all__ = ["function_named", "load_variants"]


class _Variant(BaseModel):
    model_config = STRICT

    id: str
    title: str
    why: str
    claims: list[str]
    set: dict[str, Any] = {}
    change: str = ""


class _File(BaseModel):
    model_config = STRICT

    claims: dict[str, list[str]] = {}
    variant: list[_Variant] = []


def load_variants(path: Path, module: Mapping[str, Any]) -> tuple[Variant, ...]:
    """The sensitivity runs of a study, none if it has no such file.

    `module` holds the functions that `change` names. Raises `UserError` for anything wrong.
    """
    if not path.is_file():
        return ()
    file = read_data(path, "a list of variants", _File)
    refuse_twice(path, "variants", [entry.id for entry in file.variant])
    return tuple(_variant(path, entry, file.claims, module) for entry in file.variant)


def _variant(
    path: Path, entry: _Variant, named: Mapping[str, list[str]], module: Mapping[str, Any]
) -> Variant:
    by = None
    if entry.change:
        by = function_named(f"{path}: variant {entry.id!r}", "change", entry.change, module)
    elif not entry.set:
        raise UserError(f"{path}: variant {entry.id!r}: changes nothing; give set or change")
    why = " ".join(entry.why.split())
    claims = [pattern for name in entry.claims for pattern in named.get(name, [name])]
    return Variant(entry.id, entry.title, why, Change(entry.set, by=by), tuple(claims))


def function_named(place: str, key: str, name: str, module: Mapping[str, Any]) -> Any:
    """The function of a study's module that a key of a TOML file names.

    Raises `UserError` with the nearest one if there is none; `place` says where it was read.
    """
    functions = [known for known, entry in module.items() if callable(entry)]
    if name not in functions:
        raise UserError(f"{place}: {key}: no function {name!r}{nearest(name, functions)}")
    return module[name]
