"""Several learners in one network, as PettingZoo has them."""

# ruff: noqa: PLC0415, TID253 (PettingZoo is imported where it is used; arrays are everywhere)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forebay.errors import UserError
from forebay.extras import MissingExtraError, is_installed
from forebay.gym.environment import (
    TERMINATED,
    TRUNCATED,
    action_space,
    given_actions,
    observation_space,
    wanted_replication,
)
from forebay.gym.setting import Arrays, RewardSpec, Setting, raised
from forebay.scenario.network import Network

__all__ = ["Learner", "parallel"]


@dataclass(frozen=True)
class Learner:
    """What one of several learners decides, observes and is rewarded by: arguments of
    `forebay.gym.make`."""

    acts_on: str | Sequence[str]
    observe: Sequence[str] | Mapping[str, float]
    reward: RewardSpec
    act: str | Sequence[str] = ""
    bounds: Any = None


def parallel(
    scenario: Network | str | Path,
    learners: Mapping[str, Learner],
    *,
    every: str = "10 ms",
    normalize: bool | str = False,
) -> Any:
    """Make an environment with several learners: a `pettingzoo.ParallelEnv`, whose agents are the
    names of `learners`.

    All act at once, every `every`; the episode is over for all at the same time. `info` of each is
    that of a `ForebayEnv`, with the same digest. Raises `UserError`, and where PettingZoo is not
    installed `MissingExtraError`.
    """
    if not is_installed("pettingzoo"):
        raise MissingExtraError(
            "forebay.gym.parallel needs pettingzoo, which is not installed: pip install pettingzoo"
        )
    return _parallel_class()(scenario, learners, every, normalize)


def _parallel_class() -> Any:
    """The class of such environments, which PettingZoo's is the base of."""
    from pettingzoo import ParallelEnv

    class ForebayParallelEnv(ParallelEnv):  # type: ignore[misc]
        """A network with several learners."""

        metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo declares it so)
            "name": "forebay",
            "render_modes": [],
        }

        def __init__(
            self,
            scenario: Network | str | Path,
            learners: Mapping[str, Learner],
            every: str,
            normalize: bool | str,
        ) -> None:
            if not learners:
                raise UserError("learners: there are none; an environment has at least one")
            self.render_mode = None
            self.possible_agents = list(learners)
            self.agents: list[str] = []
            self._parts = _Parts(scenario, learners, every, normalize)
            self._drawn: tuple[int | None, int] = (None, -1)

        def observation_space(self, agent: str) -> Any:
            return self._parts.observation_spaces[agent]

        def action_space(self, agent: str) -> Any:
            return self._parts.action_spaces[agent]

        def reset(
            self, seed: int | None = None, options: Mapping[str, Any] | None = None
        ) -> tuple[dict[str, Any], dict[str, Any]]:
            root, replication = self._drawn
            root, replication = (root, replication + 1) if seed is None else (int(seed), 0)
            self._drawn = (root, wanted_replication(options, replication))
            self._parts.reset(*self._drawn)
            self.agents = list(self.possible_agents)
            return self._parts.observations(), self._parts.infos()

        def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
            if not self.agents:
                raise UserError("no episode is under way: reset first")
            outcome = self._parts.step(actions)
            every = self.possible_agents
            if outcome in (TERMINATED, TRUNCATED):
                self.agents = []
            return (
                self._parts.observations(),
                self._parts.rewards(),
                dict.fromkeys(every, bool(outcome == TERMINATED)),
                dict.fromkeys(every, bool(outcome == TRUNCATED)),
                self._parts.infos(),
            )

        def render(self) -> None:
            return None

        def close(self) -> None:
            pass

    return ForebayParallelEnv


class _Parts:
    """The engine's side of an environment with several learners, by their names."""

    def __init__(
        self,
        scenario: Network | str | Path,
        learners: Mapping[str, Learner],
        every: str,
        normalize: bool | str,
    ) -> None:
        self._settings = {
            name: Setting.read(
                scenario,
                acts_on=learner.acts_on,
                act=learner.act,
                observe=learner.observe,
                reward=learner.reward,
                bounds=learner.bounds,
                every=every,
                normalize=normalize,
            )
            for name, learner in learners.items()
        }
        first = next(iter(self._settings.values()))
        decides = [each for setting in self._settings.values() for each in setting.decides]
        series = [name for setting in self._settings.values() for name in setting.measured]
        whole = Setting(
            first.text, first.name, decides, series, np.ones(len(series)), [], first.reward,
            first.every, first.normalize,
        )  # fmt: skip
        self._gym = whole.make(1, 1)
        self._whole = Arrays(whole, 1)
        self._arrays = {name: Arrays(setting, 1) for name, setting in self._settings.items()}
        self._columns = {
            name: [whole.measured.index(each) for each in setting.measured]
            for name, setting in self._settings.items()
        }
        self._actions: dict[str, list[int]] = {}
        self.action_spaces: dict[str, Any] = {}
        actions = self._gym.actions()
        self._count = len(actions)
        owners = [name for name, setting in self._settings.items() for _ in setting.decides]
        for name in self._settings:
            places = [at for at, (*_, decision) in enumerate(actions) if owners[decision] == name]
            self._actions[name] = places
            self.action_spaces[name] = action_space([actions[at] for at in places], first.normalize)
        self.observation_spaces = {
            name: observation_space(len(setting.observed))
            for name, setting in self._settings.items()
        }

    def reset(self, seed: int | None, replication: int) -> None:
        with raised:
            self._gym.reset([(seed, replication, 1)], self._whole.filled)
        self._share()

    def step(self, actions: Mapping[str, Any]) -> int:
        row = np.zeros((1, self._count))
        for name, places in self._actions.items():
            if name not in actions:
                raise UserError(f"actions: none of {name}; each learner that is left acts")
            row[:, places] = given_actions(actions[name], (1, len(places)))
        with raised:
            self._gym.step(row, False, self._whole.filled)
        self._share()
        return int(self._whole.outcomes[0])

    def observations(self) -> dict[str, Any]:
        return {name: arrays.observations[0].copy() for name, arrays in self._arrays.items()}

    def rewards(self) -> dict[str, float]:
        given = {}
        for name, arrays in self._arrays.items():
            measured = self._settings[name].measured
            arrays.reward(dict(zip(measured, arrays.values[0].tolist(), strict=True)))
            given[name] = float(arrays.rewards[0])
        return given

    def infos(self) -> dict[str, Any]:
        ((seed, replication),) = self._gym.drawn()
        told = {
            "digest": str(self._whole.digests[0]),
            "time_s": float(self._whole.times[0]),
            "seed": seed,
            "replication": replication,
        }
        return {name: dict(told) for name in self._settings}

    def _share(self) -> None:
        for name, arrays in self._arrays.items():
            arrays.values[0] = self._whole.values[0, self._columns[name]]
            arrays.observe()
