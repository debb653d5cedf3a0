"""Search of the largest or smallest value at which a condition holds, with a stated confidence.

A condition compares expectations: `flows.game.p99_delay < 20 ms` holds at a value of the parameter
if the mean of left side less right side, the *margin*, over all replications that there could be is
below 0. It is assumed to hold on one side of some value, and to fail on the other.

**Bisection.** The interval is divided into N steps of the precision asked for. Both ends are
decided first. Then the middle of what is left is, until a value that holds and one that does not
are next to each other: no more than M = 2 + ceil(log2 N) values are looked at.

**Decision at one value.** Replications are added until the numbers n_1 < n_2 < ... < n_K are
reached, and looked at each time. With the mean m of n margins, their deviation s and the quantile t
of Student's distribution with n - 1 degrees of freedom for the one-sided probability a, the value
holds if m + t s / sqrt(n) < 0, and fails if m - t s / sqrt(n) > 0. If none of the K looks decides,
it is undecided, and taken as one that does not hold. The interval is that of
`forebay.stats.replication_interval`: wider where margins look skewed. Where these are too few for
their skewness, no look decides but the last.

**Confidence.** At any value only one of the two decisions is wrong, so a look is wrong with a
probability of at most a, and one of the K looks with K a at most (Bonferroni; the looks share their
replications, and need not be independent). A condition of C comparisons is decided wrongly only if
one of these is: K C a. Let x be the value beyond which the condition fails. As long as decisions
are right, a value below x is decided to hold, or undecided, and one above x does not hold,
whichever of the other two it is. So before the first undecided value below x, the values that are
looked at depend on x alone, and not on chance: there are M of them at most. After it, all that are
looked at are below x. A value decided to hold wrongly is above x, and so is among those M:

    P(the value that is given does not hold) <= M K C a = 1 - confidence,

with a = (1 - confidence) / (M K C), whatever the values share, as they do with common random
numbers. The same M values, and the same sum, have all that are decided to fail before the first
undecided one; the first failing value is therefore taken from these. Decisions to fail after it can
only make the value that is given lower than need be. In the other direction, of the smallest value,
above and below change places.

This is as exact as Student's interval is for the margins at hand. Two cases it does not cover, and
they are told. If all margins are the same to the last bit and the runs are the same run, no chance
is involved and that value decides. If they are the same and the runs are not, as where nothing was
lost in any, the value is decided by them once there are as many as may be: a difference that is
seen in fewer than 1 - a^(1/n) of the replications may have been missed. Where a last look has the
note `too few`, nearly all are the same, and what is rarer may have been missed likewise.

Source: A. Wald, *Sequential Analysis*, 1947, has the problem; A. M. Law, *Simulation Modeling and
Analysis*, 5th ed. 2015, sec. 10.4, the bound by Bonferroni for selections.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from forebay.run.expressions import Comparison, Condition
from forebay.stats import Interval, replication_interval

__all__ = ["Decided", "Decision", "Found", "Rule", "combined", "looks", "most_points", "search"]

Decision: TypeAlias = Literal["holds", "fails", "undecided"]

GROWTH = 1.5
"""Factor from one look to the next: few looks cost little confidence, and large steps runs."""


def looks(first: int, most: int) -> tuple[int, ...]:
    """The numbers of replications at which a value is looked at."""
    found = [min(first, most)]
    while found[-1] < most:
        found.append(min(math.ceil(GROWTH * found[-1]), most))
    return tuple(found)


def most_points(steps: int) -> int:
    """The largest number of values that a search among so many steps looks at."""
    return 2 + math.ceil(math.log2(max(steps, 1)))


@dataclass(frozen=True, slots=True)
class Rule:
    """When a value is decided: `looks` are the numbers of replications after which it may be, and
    `points` and `parts` the numbers of values and comparisons that the confidence is for."""

    confidence: float
    looks: tuple[int, ...]
    points: int
    parts: int = 1

    @property
    def allowance(self) -> float:
        """Probability with which one look at one comparison may be wrong."""
        return (1.0 - self.confidence) / (len(self.looks) * self.points * self.parts)

    def decide(
        self, margins: Sequence[float], *, strict: bool = True, alike: bool = False
    ) -> tuple[Decision, Interval]:
        """The decision about a comparison after so many margins, with the interval that made it;
        `alike` tells that the runs were the same run."""
        interval = replication_interval(margins, level=1.0 - 2.0 * self.allowance)
        if interval.note == "equal":
            if not alike and len(margins) < self.looks[-1]:
                return "undecided", interval
            below = interval.mean < 0.0 or (interval.mean == 0.0 and not strict)
            return "holds" if below else "fails", interval
        if interval.note == "too few" and len(margins) < self.looks[-1]:
            return "undecided", interval
        if interval.high < 0.0:
            return "holds", interval
        return "fails" if interval.low > 0.0 else "undecided", interval

    def missed(self, replications: int) -> float:
        """The largest probability with which a replication may give something else, though so many
        gave the same."""
        return float(1.0 - self.allowance ** (1.0 / replications))


def combined(
    condition: Condition | Comparison, decisions: Mapping[Comparison, Decision]
) -> Decision:
    """The decision about a condition by those about its comparisons."""
    if isinstance(condition, Comparison):
        return decisions[condition]
    parts = {combined(part, decisions) for part in condition.parts}
    one: Decision = "fails" if condition.every else "holds"
    if one in parts:
        return one
    return "undecided" if "undecided" in parts else parts.pop()


@dataclass(frozen=True, slots=True)
class Decided:
    """A value, by its place among the steps, with what was decided of it."""

    place: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a search: what was decided, in order; places from the end that should hold on.

    `value` is the last place that holds, `None` if there is none. `failing` is the first that
    fails, with the stated confidence, `None` if there is none; `after` is the place next to `value`
    that does not hold, or was not decided to.
    """

    decided: tuple[Decided, ...]
    value: int | None
    after: int | None
    failing: int | None


def search(steps: int, evaluate: Callable[[int], Decision]) -> Found:
    """Search the last of the places 0, 1, ..., `steps` at which `evaluate` decides that the
    condition holds."""
    decided: list[Decided] = []

    def holds(place: int) -> bool:
        decided.append(Decided(place, evaluate(place)))
        return decided[-1].decision == "holds"

    value, after = None, None
    if not holds(0):
        after = 0
    elif steps == 0 or holds(steps):
        value = steps
    else:
        value, after = 0, steps
        while after - value > 1:
            middle = (value + after) // 2
            if holds(middle):
                value = middle
            else:
                after = middle
    return Found(tuple(decided), value, after, _failing(decided))


def _failing(decided: Sequence[Decided]) -> int | None:
    """The first place that fails, of those decided before one was not."""
    places = []
    for each in decided:
        if each.decision == "undecided":
            break
        if each.decision == "fails":
            places.append(each.place)
    return min(places, default=None)
