"""One network as a gymnasium environment."""

# ruff: noqa: TID253 (this package works with arrays throughout)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsInt

import gymnasium
import numpy as np
from numpy.typing import NDArray

from forebay.errors import UserError
from forebay.gym.setting import LARGEST, Arrays, RewardSpec, Setting, raised
from forebay.scenario.network import Network

__all__ = ["ForebayEnv", "make"]

Floats = NDArray[np.float64]

RUNNING, TERMINATED, TRUNCATED, BEGUN = range(4)
"""Outcomes of a step, as the engine numbers them."""


class ForebayEnv(gymnasium.Env[Floats, Floats]):
    """A network in which an agent decides, step by step; see `make` for its arguments.

    `action_space` holds an action each (`action_names`), between its bounds, or from -1 to 1 where
    it is normalized; what lies beyond a bound is that bound. `observation_space` holds what is
    observed, over the step that has just ended (`observation_names`). An episode is one replication
    of the scenario from its beginning to its `duration`, where it is truncated; it terminates
    where all flows of its agents have ended before.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium declares it so)

    def __init__(self, scenario: Network | str | Path, **arguments: Any) -> None:
        self.render_mode = None
        self._setting = Setting.read(scenario, **arguments)
        self._gym = self._setting.make(1, 1)
        self._arrays = Arrays(self._setting, 1)
        actions = self._gym.actions()
        self.action_names = [name for name, *_ in actions]
        self.action_space = action_space(actions, self._setting.normalize)
        self.observation_names = list(self._setting.observed)
        self.observation_space = observation_space(len(self.observation_names))
        self._drawn: tuple[int | None, int] = (None, -1)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode: nothing has happened yet, and all that is observed is 0.

        `seed` is the root seed of the scenario, whose replication 0 begins. Without one the next
        replication does; the first without any is that of the scenario's own seed. `options` may
        hold `replication`, the number of one, so that an episode can be repeated: with the `seed`
        and `replication` of its `info`, and the same actions, it has the same `digest`.
        """
        super().reset(seed=seed)
        root, replication = self._drawn
        root, replication = (root, replication + 1) if seed is None else (int(seed), 0)
        replication = wanted_replication(options, replication)
        with raised:
            self._gym.reset([(root, replication, 1)], self._arrays.filled)
        self._drawn = (root, replication)
        self._arrays.observe()
        return self._arrays.observations[0].copy(), self._info()

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Have `action` hold until the end of the next step.

        `info` holds `time_s`, the simulated time reached, `digest` of the run up to then, `seed`
        and `replication`, and the series of `inform`. Raises `UserError` for an action that is no
        number, before the first `reset` and after the end of an episode.
        """
        actions = given_actions(action, (1, len(self.action_names)))
        arrays = self._arrays
        with raised:
            self._gym.step(actions, False, arrays.filled)
        arrays.observe()
        arrays.reward(self._values())
        outcome = arrays.outcomes[0]
        return (
            arrays.observations[0].copy(),
            float(arrays.rewards[0]),
            bool(outcome == TERMINATED),
            bool(outcome == TRUNCATED),
            self._info(),
        )

    def _values(self) -> dict[str, float]:
        """The series by name, if the reward is a function of them."""
        if self._setting.reward.function is None:
            return {}
        return dict(zip(self._setting.measured, self._arrays.values[0].tolist(), strict=True))

    def _info(self) -> dict[str, Any]:
        arrays, setting = self._arrays, self._setting
        ((seed, replication),) = self._gym.drawn()
        info: dict[str, Any] = {
            "digest": str(arrays.digests[0]),
            "time_s": float(arrays.times[0]),
            "seed": seed,
            "replication": replication,
        }
        for name in setting.informed:
            info[name] = float(arrays.values[0, setting.measured.index(name)])
        return info


def make(
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
) -> ForebayEnv:
    """Make an environment of a scenario: a `forebay.Network`, the path of a file, or a text.

    `acts_on` is where the agent acts, in the place of what the scenario has there, whose `limit` it
    keeps: `"links.NAME.queue"`, `"links.NAME.shaper"`, `"flows.NAME.tcp"` (all flows of a group
    alike), `"flows.NAME[0].tcp"` (one of them), `"aggregates.NAME.admission"`; the way back of a
    link is `NAME.reverse`. `act` is what it decides there:

    - at a queue `"drop_probability"` (0 to 1), `"mark_probability"` (0 to 1; packets that are not
      ECN-capable are dropped), or `"weights"` (0.1 to 10) of the classes of a scheduler;
    - in TCP `"cwnd"`, in segments (1 to four times what bandwidth and delay of the way hold, and
      at least 20), or `"rate"`, the pacing rate of data in bit/s (1 % to 200 % of the slowest link
      on the way), which leaves the window at twice what it needs;
    - in a shaper its `"rate"` in bit/s (1 % to 100 % of the link's);
    - at an admission `"admission_probability"` (0 to 1) of new calls.

    The first of each is usual. Both can be lists: of places, with what is decided at each, or of
    what is decided at one. In parentheses are the usual bounds; `bounds` replaces them: a lower and
    an upper one, or a list of such where there are several actions. `normalize=True` has actions
    go from -1 to 1 instead, and `"log"` does so in equal ratios, as suits windows and rates.

    `observe` names the series that are observed (`forebay.gym.series` lists them), or maps them to
    the numbers by which they are divided. `every` is how long a step lasts: `"10 ms"`, or `"rtt"`,
    the smoothed round-trip time of the first flow that acts as it is when the step begins, and
    that of its empty way before one is known. `reward` is a series, a weighted sum of some as a
    mapping, or a function of all that are measured, given as a mapping. `inform` names more series,
    for that function and for `info`.

    Raises `UserError` for what is wrong, with what is allowed.
    """
    return ForebayEnv(
        scenario,
        acts_on=acts_on,
        act=act,
        observe=observe,
        reward=reward,
        every=every,
        bounds=bounds,
        normalize=normalize,
        inform=inform,
    )


def action_space(
    actions: Sequence[tuple[str, float, float, int]], normalize: str
) -> gymnasium.Space[Floats]:
    """The space of these actions: name, lower and upper bound, and decision of each."""
    if normalize != "none":
        return _box(-1.0, 1.0, len(actions))
    low, high = np.array([(low, high) for _, low, high, _ in actions]).T
    return _box(low, high, len(actions))


def observation_space(count: int) -> gymnasium.Space[Floats]:
    """The space of so many series."""
    return _box(-LARGEST, LARGEST, count)


def _box(low: float | Floats, high: float | Floats, count: int) -> gymnasium.Space[Floats]:
    """So many numbers between bounds."""
    space: Any = gymnasium.spaces.Box(low, high, (count,), np.float64)
    numbers: gymnasium.Space[Floats] = space
    return numbers


def given_actions(actions: Any, shape: tuple[int, int]) -> Floats:
    """Actions as an array of this shape. Raises `UserError` for another one, and for what is no
    number."""
    try:
        read = np.asarray(actions, dtype=np.float64)
        return read.reshape(shape)
    except (TypeError, ValueError):
        text = " ".join(str(actions).split())
        shown = text if len(text) <= 60 else f"{text[:60]}..."
        environments, each = shape
        what = f"{each} numbers" if environments == 1 else f"{each} numbers for each network"
        raise UserError(f"action: read {shown}; allowed are {what}") from None


def wanted_replication(options: Mapping[str, Any] | None, usual: int) -> int:
    """The replication that `options` of a reset ask for. Raises `UserError`."""
    asked = (options or {}).get("replication")
    if asked is None:
        return usual
    if isinstance(asked, bool) or not isinstance(asked, SupportsInt) or not 0 <= int(asked) < 2**63:
        raise UserError(f"options: replication: read {asked!r}; allowed are whole numbers from 0")
    return int(asked)
