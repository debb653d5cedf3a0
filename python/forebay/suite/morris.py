"""Screening of parameters by elementary effects: which matter, and which interact.

M. D. Morris, "Factorial sampling plans for preliminary computational experiments", Technometrics
33(2), 1991, 161-174. Parameters are scaled to [0, 1], of which a grid of levels is seen. A
trajectory begins at a random point of the grid and changes each parameter once, in random order, by
a little more than half of its range. The change of the output over that of the parameter is an
elementary effect, of which every trajectory gives one for each parameter.

The mean of their sizes, mu*, ranks parameters: F. Campolongo, J. Cariboni and A. Saltelli, "An
effective screening design for sensitivity analysis of large models", Environmental Modelling &
Software 22(10), 2007. Where their standard deviation, sigma, is as large, an effect is not
linear, or depends on other parameters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator

__all__ = ["Screening", "effects", "screened", "trajectory"]

Point = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Screening:
    """The elementary effects of a parameter, in units of the output over the whole range: `mean`
    (Morris's mu), `size` (mu*) and `deviation` (sigma)."""

    mean: float
    size: float
    deviation: float


def trajectory(parameters: int, levels: int, random: Generator) -> list[Point]:
    """The points of a trajectory, one more than there are parameters.

    A step is p / (2 (p - 1)) for p levels, an even number: every level is then as often at an end
    of a step as any other (Morris 1991, section 3)."""
    half = levels // 2
    at = random.integers(levels, size=parameters).tolist()
    points = [at]
    for number in random.permutation(parameters).tolist():
        at = [*at]
        at[number] += half if at[number] < half else -half
        points.append(at)
    return [tuple(level / (levels - 1) for level in point) for point in points]


def effects(points: Sequence[Point], outputs: Sequence[float | None]) -> dict[int, float]:
    """The elementary effect of each parameter along a trajectory; none beside an output without a
    value."""
    found = {}
    for (before, y), (after, z) in zip(
        zip(points[:-1], outputs[:-1], strict=True),
        zip(points[1:], outputs[1:], strict=True),
        strict=True,
    ):
        (number,) = (n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
        if y is not None and z is not None:
            found[number] = (z - y) / (after[number] - before[number])
    return found


def screened(of: Sequence[float]) -> Screening:
    """The measures of two or more elementary effects. Raises `ValueError` for fewer."""
    if len(of) < 2:
        raise ValueError(f"{len(of)} elementary effects; a deviation needs two")
    mean = math.fsum(of) / len(of)
    variance = math.fsum((each - mean) ** 2 for each in of) / (len(of) - 1)
    return Screening(mean, math.fsum(map(abs, of)) / len(of), math.sqrt(variance))
