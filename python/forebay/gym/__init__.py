"""Environments for agents that learn, over any scenario: gymnasium's interface to the engine.

    import forebay.gym

    env = forebay.gym.make(
        "bottleneck.toml",
        acts_on="flows.bulk.tcp",
        act="cwnd",
        observe=["flows.bulk.delivery_rate_bps", "flows.bulk.mean_rtt_s", "flows.bulk.losses"],
        every="rtt",
        reward={"flows.bulk.delivery_rate_bps": 1e-6, "flows.bulk.losses": -0.1},
    )

An *agent* is a law whose decision is held from step to step: a queue, a scheduler, a shaper, a
congestion control or an admission. It takes the place of what the scenario has there; the file
itself stays as it is. `make` gives one environment, `make_vec` many that are stepped in threads
without the interpreter lock, `parallel` one with several learners (PettingZoo), and `series` what
can be observed. `gymnasium.make("forebay.gym:forebay/Network-v0", scenario=...)` does what `make`
does. The guide is `docs/guides/gym.md`; the extra `forebay[gym]` installs what it needs.
"""

from __future__ import annotations

from forebay.extras import need

need("forebay.gym", "gymnasium")

from gymnasium.envs.registration import register, registry  # noqa: E402 (asked for above)

from forebay.gym.environment import ForebayEnv, make  # noqa: E402
from forebay.gym.learners import Learner, parallel  # noqa: E402
from forebay.gym.setting import series  # noqa: E402
from forebay.gym.vector import ForebayVectorEnv, make_vec  # noqa: E402

__all__ = [
    "ENVIRONMENT",
    "ForebayEnv",
    "ForebayVectorEnv",
    "Learner",
    "make",
    "make_vec",
    "parallel",
    "series",
]

ENVIRONMENT = "forebay/Network-v0"
"""The name under which gymnasium knows the environment once this package is imported."""

if ENVIRONMENT not in registry:
    register(
        id=ENVIRONMENT,
        entry_point="forebay.gym.environment:ForebayEnv",
        vector_entry_point="forebay.gym.vector:ForebayVectorEnv",
    )
