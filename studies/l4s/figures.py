"""Prague beside CUBIC: what is drawn."""

from __future__ import annotations

from forebay.drawing import Figure
from forebay.study import Outcome


def figures(outcome: Outcome) -> list[Figure]:
    """No figure beside those of the tables."""
    return []
