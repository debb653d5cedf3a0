"""The TOML files of a study: what is refused, and that the message says where."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from forebay.errors import UserError
from forebay.study.data_files import STRICT, read_data, refuse_twice, twice


class _Entry(BaseModel):
    model_config = STRICT

    id: str
    runs: int = 2


class _File(BaseModel):
    model_config = STRICT

    entry: list[_Entry]


def test_a_right_file_is_read(tmp_path: Path) -> None:
    """A right file is read with its values, and with defaults where it has none."""
    path = tmp_path / "data.toml"
    path.write_text('[[entry]]\nid = "a"\n[[entry]]\nid = "b"\nruns = 7\n', encoding="utf-8")
    file = read_data(path, "a list", _File)
    assert [(entry.id, entry.runs) for entry in file.entry] == [("a", 2), ("b", 7)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[entry]]\n", "data.toml: entry.0.id: missing; it is required"),
        ('[[entry]]\nid = "a"\nruns = "7"\n', "data.toml: entry.0.runs: read '7'"),
        ('[[entri]]\nid = "a"\n', 'entri: unknown key (did you mean "entry"?); keys are entry'),
        ("[[entry]\n", "data.toml: not valid TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    """A slip in a file is refused with its place and what is allowed."""
    path = tmp_path / "data.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_data(path, "a list", _File)
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A file that is not there is refused with its name."""
    with pytest.raises(UserError, match=r"data\.toml: no such file"):
        read_data(tmp_path / "data.toml", "a list", _File)


def test_names_that_are_there_more_than_once_are_refused() -> None:
    """Names that are there more than once are refused: the runs of two entries are not counted as
    those of one."""
    assert twice(["b", "a", "b", "c", "a", "b"]) == ["b", "a"]
    refuse_twice(Path("x.toml"), "entries", ["a", "b"])
    with pytest.raises(UserError, match=r"x\.toml: there are two entries 'b'"):
        refuse_twice(Path("x.toml"), "entries", ["a", "b", "b"])
