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

from pydantic import BaseModel, ConfigDict, ValidationError

from forebay.errors import UserError, located, nearest, read_text
from forebay.study.change import Change
from forebay.study.definition import Variant
from forebay.toml import parse

__all__ = ["function_named", "load_variants"]


class _Variant(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: str
    title: str
    why: str
    claims: list[str]
    set: dict[str, Any] = {}
    change: str = ""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    claims: dict[str, list[str]] = {}
    variant: list[_Variant] = []


def load_variants(path: Path, module: Mapping[str, Any]) -> tuple[Variant, ...]:
    """The sensitivity runs of a study, none if it has no such file.

    `module` holds the functions that `change` names. Raises `UserError` for anything wrong.
    """
    if not path.is_file():
        return ()
    try:
        file = _File.model_validate(parse(read_text(path, "a list of variants"), path))
    except ValidationError as error:
        raise located(path, error.errors(), _File.model_fields) from None
    ids = [entry.id for entry in file.variant]
    for twice in dict.fromkeys(name for name in ids if ids.count(name) > 1):
        raise UserError(f"{path}: there are two variants {twice!r}")
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
