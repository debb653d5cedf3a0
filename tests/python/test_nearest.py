"""Answers to unknown names."""

from __future__ import annotations

import front
import pytest

from forebay.errors import nearest


@pytest.mark.parametrize(
    ("name", "allowed", "answer"),
    [
        ("codl", ["red", "codel"], ' (did you mean "codel"?)'),
        ("Codel", ["red", "codel"], ' (did you mean "codel"?)'),
        ("pie", ["fq_pie", "red"], ' (did you mean "fq_pie"?)'),
        # Of "fq" two letters are too few to look for names that hold them.
        ("fq", ["fq_long_name"], ""),
        ("x", ["codel"], ""),
        ("aa0", [f"aa{n}" for n in range(1, 10)], None),
    ],
)
def test_the_nearest_names_are_offered(name: str, allowed: list[str], answer: str | None) -> None:
    """The nearest names are offered, and not more than a few."""
    found = nearest(name, allowed)
    if answer is None:
        assert (found.count('"'), found.count(" or ")) == (2 * 5, 1)
    else:
        assert found == answer


def test_commands_and_mechanisms_are_answered_alike(forebay: front.Forebay) -> None:
    """Commands and mechanisms are answered alike."""
    assert 'did you mean "fq_codel" or "codel"?' in forebay.refused("mechanisms", "fqcodel")
    assert 'did you mean "sweep"?' in forebay.refused("sweeep")
