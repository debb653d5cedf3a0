"""Many networks as one vector environment, stepped in threads without the interpreter lock."""

# ruff: noqa: TID253 (this package works with arrays throughout)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsInt

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from forebay.errors import UserError
from forebay.gym.environment import (
    BEGUN,
    TERMINATED,
    TRUNCATED,
    action_space,
    given_actions,
    observation_space,
    wanted_replication,
)
from forebay.gym.setting import Arrays, RewardSpec, Setting, raised
from forebay.run.jobs import cores
from forebay.scenario.network import Network

__all__ = ["ForebayVectorEnv", "make_vec"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class ForebayVectorEnv(gymnasium.vector.VectorEnv[Floats, Floats, Any]):
    """`num_envs` networks of one scenario; see `make_vec` for its arguments.

    Each does what a `ForebayEnv` of its own does, with the same digests. Where an episode is over,
    the next step begins the next one, whatever its action (`metadata["autoreset_mode"]`): that has
    the reward 0, and is not counted in the episode. What is returned are the same arrays in each
    step, unless `copy` is set.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (gymnasium declares it so)
        "render_modes": [],
        "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        scenario: Network | str | Path,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        copy: bool = True,
        render_mode: None = None,
        **arguments: Any,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise UserError(f"n: read {num_envs!r}; allowed are whole numbers from 1")
        threads = cores() if threads is None else threads
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise UserError(f"threads: read {threads!r}; allowed are whole numbers from 1")
        self.num_envs, self.copy, self.render_mode = num_envs, copy, render_mode
        self._setting = Setting.read(scenario, **arguments)
        self._gym = self._setting.make(num_envs, threads)
        self._arrays = Arrays(self._setting, num_envs)
        actions = self._gym.actions()
        self.action_names = [name for name, *_ in actions]
        self.observation_names = list(self._setting.observed)
        self.single_action_space = action_space(actions, self._setting.normalize)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = observation_space(len(self.observation_names))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._shape = (num_envs, len(actions))
        self._every: Flags = np.ones(num_envs, dtype=np.bool_)
        self._terminated: Flags = np.zeros(num_envs, dtype=np.bool_)
        self._truncated: Flags = np.zeros(num_envs, dtype=np.bool_)
        self._drawn: list[tuple[int, int]] = []
        self._strides = [1] * num_envs
        self._seeds = np.zeros(num_envs, dtype=np.uint64)
        self._replications = np.zeros(num_envs, dtype=np.uint64)
        values, measured = self._arrays.values, self._setting.measured
        self._values = {name: values[:, at] for at, name in enumerate(measured)}

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode in each network.

        With `seed` network i begins as a `ForebayEnv` that is reset with `seed + i`, or with the
        one of a list, whose None is as no seed; later episodes are its next replications. Without,
        all have the seed of the scenario, or that which they had: then network i begins with
        replication i, and continues with every `num_envs`-th. `options` may hold `replication`, the
        first of all networks, and `reset_mask`, an array of flags: only those networks begin.
        """
        mask = self._masked(options)
        orders = [self._order(at, root, options) for at, root in enumerate(self._roots(seed))]
        wanted = [order if begins else None for order, begins in zip(orders, mask, strict=True)]
        with raised:
            self._gym.reset(wanted, self._arrays.filled)
        for at, order in enumerate(wanted):
            if order is not None:
                self._strides[at] = order[2]
        self._drawn = self._gym.drawn()
        self._keep_drawn()
        self._arrays.observe()
        return self._given(self._arrays.observations), self._infos()

    def step(self, actions: Any) -> tuple[Floats, Floats, Flags, Flags, dict[str, Any]]:
        """Step every network by its row of `actions`; see `ForebayEnv.step`.

        `infos` holds an array for each key of its `info`, and beside it one of flags. Raises
        `UserError`, which names the network.
        """
        given = given_actions(actions, self._shape)
        arrays = self._arrays
        with raised:
            self._gym.step(given, True, arrays.filled)
        arrays.observe()
        arrays.reward(self._values)
        np.equal(arrays.outcomes, TERMINATED, out=self._terminated)
        np.equal(arrays.outcomes, TRUNCATED, out=self._truncated)
        begun = arrays.outcomes == BEGUN
        if begun.any():
            arrays.rewards[begun] = 0.0
            self._drawn = self._gym.drawn()
            self._keep_drawn()
        return (
            self._given(arrays.observations),
            self._given(arrays.rewards),
            self._given(self._terminated),
            self._given(self._truncated),
            self._infos(),
        )

    def _roots(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, SupportsInt):
            return [int(seed) + at for at in range(self.num_envs)]
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise UserError(
                f"seed: read {len(seeds)} for {self.num_envs} networks; allowed are as many, or "
                "one whole number"
            )
        return [None if each is None else int(each) for each in seeds]

    def _order(
        self, at: int, root: int | None, options: Mapping[str, Any] | None
    ) -> tuple[int | None, int, int]:
        """The episode that network `at` begins: seed, replication, and by how many the one after
        it is later."""
        if root is not None:
            return root, wanted_replication(options, 0), 1
        if not self._drawn:
            return None, wanted_replication(options, 0) + at, self.num_envs
        (root, replication), stride = self._drawn[at], self._strides[at]
        asked = wanted_replication(options, -1)
        if asked < 0:
            return root, replication + stride, stride
        # Networks of one seed are different replications of it.
        return root, asked + (at if stride > 1 else 0), stride

    def _masked(self, options: Mapping[str, Any] | None) -> Flags:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return self._every
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise UserError(
                f"options: reset_mask: read an array of shape {mask.shape} and kind {mask.dtype}; "
                f"allowed are {self.num_envs} flags, one of them true"
            )
        return mask

    def _keep_drawn(self) -> None:
        for at, (seed, replication) in enumerate(self._drawn):
            self._seeds[at], self._replications[at] = seed, replication

    def _given(self, array: Any) -> Any:
        return array.copy() if self.copy else array

    def _infos(self) -> dict[str, Any]:
        arrays, every = self._arrays, self._every
        infos: dict[str, Any] = {
            "digest": self._given(arrays.digests),
            "_digest": every,
            "time_s": self._given(arrays.times),
            "_time_s": every,
            "seed": self._given(self._seeds),
            "_seed": every,
            "replication": self._given(self._replications),
            "_replication": every,
        }
        for name in self._setting.informed:
            infos[name] = self._given(self._values[name])
            infos[f"_{name}"] = every
        return infos


def make_vec(
    scenario: Network | str | Path,
    n: int,
    *,
    acts_on: str | Sequence[str],
    act: str | Sequence[str] = "",
    observe: Sequence[str] | Mapping[str, float],
    reward: RewardSpec,
    every: str = "10 ms",
    bounds: Any = None,
    normalize: bool | str = False,
    inform: Sequence[str] = (),
    threads: int | None = None,
    copy: bool = True,
) -> ForebayVectorEnv:
    """Make `n` environments of a scenario that are stepped together.

    The other arguments are those of `forebay.gym.make`. A function of a reward gets arrays with a
    number for each network, and gives one. `threads` (default: all cores) step them, without the
    interpreter lock; no result depends on how many. `copy=False` returns the same arrays in each
    step, which the next one overwrites. Raises `UserError`.
    """
    return ForebayVectorEnv(
        scenario,
        n,
        threads=threads,
        copy=copy,
        acts_on=acts_on,
        act=act,
        observe=observe,
        reward=reward,
        every=every,
        bounds=bounds,
        normalize=normalize,
        inform=inform,
    )
