"""The TOML files of a study besides its paper and scenario: reading them, and refusing slips.

Whatever is wrong is a `UserError` that names the file and the key path, says what was read and what
is allowed, and gives the nearest key where one is misspelt.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from forebay.errors import UserError, located, read_text
from forebay.toml import parse

__all__ = ["STRICT", "read_data", "refuse_twice", "twice"]


STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)
"""Of the tables of such a file: no other keys, no conversion of types, no change afterwards."""

Model = TypeVar("Model", bound=BaseModel)


def read_data(path: Path, what: str, model: type[Model]) -> Model:
    """The file as `model` describes it; `what` says in errors what the file should be.

    Raises `UserError` if it cannot be read or holds anything that `model` does not allow.
    """
    try:
        return model.model_validate(parse(read_text(path, what), path))
    except ValidationError as error:
        raise located(path, error.errors(), model.model_fields) from None


def twice(names: Sequence[str]) -> list[str]:
    """The names that are there more than once."""
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def refuse_twice(path: Path, what: str, names: Sequence[str]) -> None:
    """Raise `UserError` if two entries of a file have one name; `what` they are, in the plural."""
    for name in twice(names):
        raise UserError(f"{path}: there are two {what} {name!r}")
