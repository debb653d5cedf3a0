"""What an environment is made of: a scenario, what is decided, observed and rewarded."""

# ruff: noqa: TID253 (this package works with arrays throughout)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from forebay.errors import LawError, UserError, nearest
from forebay.run.jobs import RunFailedError, load, native
from forebay.run.limits import LimitError
from forebay.scenario.network import Network

__all__ = ["Arrays", "Reward", "Setting", "Values", "raised", "scenario_text", "series"]

Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Mapping[str, Any]
"""Series by name: a number each, or in a `VectorEnv` an array with a number for each network."""
Bounds: TypeAlias = "tuple[float, float] | None"
RewardSpec: TypeAlias = "str | Mapping[str, float] | Callable[[Values], Any]"

LARGEST = 1e300
"""Bounds of observations: finite, as checkers of environments want them."""


class Reward:
    """What a step is worth: a series, a weighted sum of some, or a function of all that is
    measured. `names` are the series that it needs."""

    def __init__(self, given: RewardSpec) -> None:
        self.function: Callable[[Values], Any] | None = None
        self.weights: dict[str, float] = {}
        if isinstance(given, str):
            self.weights = {given: 1.0}
        elif isinstance(given, Mapping):
            self.weights = {str(name): _weight(name, value) for name, value in given.items()}
            if not self.weights:
                raise UserError("reward: a weighted sum of no series; name one")
        elif callable(given):
            self.function = given
        else:
            raise UserError(
                f"reward: read {given!r}; allowed are the name of a series, a mapping from such "
                "names to weights, and a function of the series that are measured"
            )

    @property
    def names(self) -> list[str]:
        """The series that it needs."""
        return list(self.weights)


@dataclass(frozen=True)
class Setting:
    """The arguments of an environment, read."""

    text: str
    name: str
    decides: list[tuple[str, str, Bounds]]
    observed: list[str]
    scales: Floats
    informed: list[str]
    reward: Reward
    every: str
    normalize: str
    measured: list[str] = field(init=False)

    def __post_init__(self) -> None:
        every = [*self.observed, *self.informed, *self.reward.names]
        object.__setattr__(self, "measured", list(dict.fromkeys(every)))

    @classmethod
    def read(
        cls,
        scenario: Network | str | Path,
        *,
        acts_on: str | Sequence[str],
        act: str | Sequence[str] = "",
        observe: Sequence[str] | Mapping[str, float],
        reward: RewardSpec,
        every: str = "10 ms",
        bounds: Any = None,
        normalize: bool | str = False,
        inform: Sequence[str] = (),
    ) -> Setting:
        """Read the arguments of `forebay.gym.make`. Raises `UserError`."""
        text, name = scenario_text(scenario)
        scales = observe if isinstance(observe, Mapping) else dict.fromkeys(_names(observe), 1.0)
        if not scales:
            raise UserError("observe: names of no series; an agent observes at least one")
        return cls(
            text,
            name,
            decisions(acts_on, act, bounds),
            list(scales),
            np.array([_scale(series, value) for series, value in scales.items()]),
            _names(inform),
            Reward(reward),
            _every(every),
            _normalization(normalize),
        )

    def make(self, count: int, threads: int) -> Any:
        """The engine's side of `count` environments. Raises `UserError`."""
        engine = native()
        parts = (self.decides, self.measured, self.every, self.normalize)
        with raised:
            return engine.Gym(self.text, self.name, *parts, count, threads)


class Arrays:
    """What the engine fills for `count` environments, and what is made of that."""

    def __init__(self, setting: Setting, count: int) -> None:
        names = setting.measured
        self.values = np.zeros((count, len(names)))
        self.times = np.zeros(count)
        self.outcomes = np.zeros(count, dtype=np.uint8)
        self._digits = np.zeros((count, 16), dtype=np.uint32)
        self.digests: NDArray[np.str_] = self._digits.view("U16").reshape(count)
        self.observations = np.zeros((count, len(setting.observed)))
        self.rewards = np.zeros(count)
        self._factors = 1.0 / setting.scales
        self._reward = setting.reward
        weights = setting.reward.weights.items()
        self._terms = [(names.index(name), weight) for name, weight in weights]
        self._term = np.zeros(count)
        self._observed = self.values[:, : len(setting.observed)]

    @property
    def filled(self) -> tuple[Any, ...]:
        """What the engine fills."""
        return self.values, self.times, self.outcomes, self._digits

    def observe(self) -> None:
        """Scale what is observed."""
        np.multiply(self._observed, self._factors, out=self.observations)

    def reward(self, values: Values) -> None:
        """Value the step, of which `values` are the series by name."""
        if self._reward.function is not None:
            self.rewards[:] = self._reward.function(values)
            return
        # Term by term: the same digits for one network and for many.
        self.rewards[:] = 0.0
        for place, weight in self._terms:
            np.multiply(self.values[:, place], weight, out=self._term)
            self.rewards += self._term


class _Raised:
    """Turns errors of the engine into those of this package, as a context."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is None:
            return
        engine = native()
        if isinstance(error, engine.ScenarioError):
            raise UserError(str(error)) from None
        if isinstance(error, engine.LimitError):
            raise LimitError(f"the episode ended: {error}", str(error)) from None
        if isinstance(error, engine.LawError):
            raise LawError(f"the episode ended: {error}", str(error)) from None
        if isinstance(error, engine.EngineError):
            raise RunFailedError(
                f"the engine failed on a step; this is a bug in Forebay, please report it to its "
                f"authors with the scenario and this message: {error}",
                str(error),
            ) from None
        if isinstance(error, OverflowError):
            raise UserError(f"seed: {error}; allowed are whole numbers below 2^64") from None


raised = _Raised()
"""Turns errors of the engine into those of this package: `with raised:`."""


def scenario_text(scenario: Network | str | Path) -> tuple[str, str]:
    """The text of a scenario and what errors call it: of a network, of a file by its path, or of a
    text, which has more than one line. Raises `UserError`."""
    if isinstance(scenario, Network):
        job = scenario.job()
    elif isinstance(scenario, str) and "\n" in scenario:
        return scenario, "scenario"
    elif isinstance(scenario, str | Path):
        job = load(scenario)
    else:
        raise UserError(
            f"scenario: read {scenario!r}; allowed are a forebay.Network, the path of a scenario "
            "file, and the text of one"
        )
    return job.text, job.name


def decisions(
    acts_on: str | Sequence[str], act: str | Sequence[str], bounds: Any
) -> list[tuple[str, str, Bounds]]:
    """Where agents act, what is decided there and between which bounds. Raises `UserError`."""
    places = [acts_on] if isinstance(acts_on, str) else list(acts_on)
    acts = [act] if isinstance(act, str) else list(act)
    if len(places) == 1:
        # Several things can be decided at one place.
        places *= len(acts)
    elif acts == [""]:
        acts *= len(places)
    if len(acts) != len(places):
        raise UserError(
            f"act: read {len(acts)} for {len(places)} places of acts_on; allowed are as many, or "
            "none for what is usual"
        )
    each = [None] * len(places)
    if isinstance(bounds, Sequence):
        each = list(bounds)
    elif bounds is not None:
        each = [bounds]
    if len(places) == 1 and len(each) == 2:
        # Of one decision the two stand alone, or as the only ones of a list.
        each = [bounds]
    if len(each) != len(places):
        raise UserError(
            f"bounds: read {len(each)} for {len(places)} actions; allowed are a lower and an upper "
            "bound for each, or None"
        )
    return [
        (str(on), str(what), _bounds(given))
        for on, what, given in zip(places, acts, each, strict=True)
    ]


def series(
    scenario: Network | str | Path, acts_on: str | Sequence[str] = ()
) -> dict[str, tuple[str, str]]:
    """Every series that can be observed in a scenario, by name: unit and meaning.

    With `acts_on`, those among them that agents in TCP measure of their flows. Of a group of flows
    the first one stands for each. Raises `UserError`.
    """
    text, name = scenario_text(scenario)
    engine = native()
    places = [acts_on] if isinstance(acts_on, str) else list(acts_on)
    with raised:
        if not places:
            return {each: (unit, told) for each, unit, told in engine.gym_series(text, name)}
        decides = [(on, "", None) for on in places]
        made = engine.Gym(text, name, decides, [], "1 s", "none", 0, 1)
        return {each: (unit, told) for each, unit, told in made.series()}


def _names(given: Sequence[str]) -> list[str]:
    if isinstance(given, str):
        raise UserError(f"read {given!r}; allowed is a list of names of series")
    return [str(name) for name in given]


def _scale(name: str, value: object) -> float:
    scale = _number(value)
    if scale is None or not 0 < abs(scale) < LARGEST:
        raise UserError(
            f"observe: {name}: read {value!r}; allowed is a number other than 0, by which it is "
            "divided"
        )
    return scale


def _weight(name: object, value: object) -> float:
    weight = _number(value)
    if weight is None or not abs(weight) < LARGEST:
        raise UserError(f"reward: {name}: read {value!r}; allowed is a finite number")
    return weight


def _number(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _bounds(given: Any) -> Bounds:
    if given is None:
        return None
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        raise UserError(
            f"bounds: read {given!r}; allowed are a lower and an upper bound, such as (1, 100)"
        ) from None
    return low, high


def _every(every: object) -> str:
    if not isinstance(every, str):
        raise UserError(f'every: read {every!r}; allowed are times such as "10 ms", and "rtt"')
    return every


def _normalization(normalize: object) -> str:
    known = {False: "none", True: "linear", "linear": "linear", "log": "log"}
    if not isinstance(normalize, bool | str) or normalize not in known:
        near = nearest(str(normalize), ("linear", "log"))
        raise UserError(
            f'normalize: read {normalize!r}{near}; allowed are False, True, "linear" and "log"'
        )
    return known[normalize]
