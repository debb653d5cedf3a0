"""The numeric vectors in `validation/vectors/`, and the models that computed what they expect."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "validation/vectors"
sys.path.insert(0, str(FOLDER / "derive"))

import derive  # noqa: E402

pytestmark = pytest.mark.long


@pytest.mark.parametrize("path", derive.paths(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_vectors_expect_what_the_models_compute(path: Path) -> None:
    """Vectors expect what the models compute."""
    assert tomllib.loads(path.read_text())["expected"] == derive.expected(path)


def test_every_mechanism_with_a_model_has_vectors() -> None:
    """Every model has vectors, and every folder of vectors a model."""
    folders = {path.parent.name for path in derive.paths()}
    known = {*derive.MODELS, *derive.CONTROLS, *derive.SAMPLED, *derive.SENDERS, *derive.MEMORIES}
    assert folders == known
