"""The gym: environments over scenarios, alone and many at once, as gymnasium and PettingZoo want
them."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forebay import Network, UserError, control, queue, traffic
from forebay.run.jobs import Job, run_jobs

gymnasium = pytest.importorskip("gymnasium")

import forebay.gym  # noqa: E402 (gymnasium may be missing)
from forebay.gym import Learner, make, make_vec  # noqa: E402

QUEUE = ["links.bn.queue_delay_s", "links.bn.utilization", "links.bn.drops"]
FLOW = [
    "flows.bulk.delivery_rate_bps",
    "flows.bulk.mean_rtt_s",
    "flows.bulk.min_rtt_s",
    "flows.bulk.losses",
    "flows.bulk.in_flight_packets",
    "flows.bulk.cwnd_packets",
]


def network(duration: str = "2 s", seed: int = 7) -> Network:
    """One TCP flow and datagrams over a bottleneck of 10 Mbit/s."""
    net = Network("gym", duration=duration, seed=seed)
    law = queue.droptail(limit="50 packets")
    net.link("bn", "A", "B", rate="10 Mbit/s", delay="10 ms", queue=law)
    net.flows("bulk", "A", "B", tcp={"control": control.cubic()})
    source = traffic.poisson(rate="3 Mbit/s", size="500 B")
    return net.flows("chatter", "A", "B", udp={}, traffic=source)


def at_queue(scenario: Any = None, **others: Any) -> forebay.gym.ForebayEnv:
    """An environment whose agent is the queue."""
    arguments = {"acts_on": "links.bn.queue", "observe": QUEUE, "reward": "links.bn.utilization"}
    return make(network() if scenario is None else scenario, **{**arguments, **others})


def in_tcp(count: int | None = None, **others: Any) -> Any:
    """An environment, or `count` of them, whose agent is the congestion control."""
    arguments = {
        "acts_on": "flows.bulk.tcp",
        "act": "cwnd",
        "observe": FLOW,
        "reward": {"flows.bulk.delivery_rate_bps": 1e-6, "flows.bulk.losses": -0.1},
        "normalize": "log",
        **others,
    }
    if count is None:
        return make(network(), **arguments)
    return make_vec(network(), count, **arguments)


def played(env: forebay.gym.ForebayEnv, actions: Any, **reset: Any) -> list[str]:
    """The digests of an episode."""
    _, info = env.reset(**reset)
    digests = [info["digest"]]
    for action in actions:
        *_, truncated, info = env.step(action)
        digests.append(info["digest"])
        if truncated:
            break
    return digests


@pytest.mark.parametrize("env", ["queue", "tcp", "rate", "both", "registered"])
def test_environments_pass_the_checker_of_gymnasium(env: str) -> None:
    """Environments pass gymnasium's checker without a warning about them: what learns in others
    learns in these."""
    from gymnasium.utils.env_checker import check_env

    arguments: dict[str, Any] = {
        "queue": lambda: at_queue(),
        "tcp": lambda: in_tcp(),
        "rate": lambda: in_tcp(act="rate", every="rtt"),
        "both": lambda: at_queue(
            acts_on=["links.bn.queue", "flows.bulk.tcp"], observe=QUEUE + FLOW, normalize=True
        ),
        "registered": lambda: (
            gymnasium.make(
                "forebay.gym:forebay/Network-v0",
                scenario=network(),
                acts_on="links.bn.queue",
                observe=QUEUE,
                reward="links.bn.drops",
            ).unwrapped
        ),
    }
    with warnings.catch_warnings():
        # What is made without gymnasium.make has no spec to try other ways of drawing with.
        warnings.filterwarnings("ignore", message=".*not having a spec")
        check_env(arguments[env]())


def test_registered_environments_pass_the_passive_checker() -> None:
    """An environment made by its name is watched by gymnasium's passive checker, which is silent,
    and as a vector it is ours: the same actions give the same digests."""
    arguments = {
        "acts_on": "links.bn.queue",
        "observe": QUEUE,
        "reward": lambda values: -values["links.bn.queue_delay_s"],
    }
    env = gymnasium.make(forebay.gym.ENVIRONMENT, scenario=network(), **arguments)
    many = gymnasium.make_vec(
        forebay.gym.ENVIRONMENT, 2, scenario=network(), vectorization_mode=None, **arguments
    )
    assert isinstance(many.unwrapped, forebay.gym.ForebayVectorEnv)
    env.reset(seed=3)
    many.reset(seed=3)
    for _ in range(30):
        _, reward, *_, info = env.step(np.array([0.02]))
        _, rewards, *_, infos = many.step(np.full((2, 1), 0.02))
        assert (info["digest"], reward) == (infos["digest"][0], rewards[0])
    assert reward < 0
    env.close()
    many.close()


def test_an_episode_held_is_a_run(tmp_path: Path) -> None:
    """An episode with probability 0 has the digest of `forebay run` with tail drop, from a network,
    a path and a text alike: an agent learns in the simulator that everybody else runs."""
    net = network("1 s")
    path = tmp_path / "gym.toml"
    net.save(path)
    found = []
    for replication in (0, 1):
        job = Job(path.read_text(encoding="utf-8"), "gym.toml", replication=replication)
        run_jobs([job], lambda _, run: found.append(run.document["digest"]))
    for scenario in (net, path, str(path), path.read_text(encoding="utf-8")):
        env = at_queue(scenario)
        still = [np.zeros(1)] * 200
        digests = [played(env, still)[-1] for _ in range(2)]
        assert digests == found
    _, info = env.reset(options={"replication": 1})
    assert (info["seed"], info["replication"], info["time_s"]) == (7, 1, 0.0)


def test_an_episode_is_repeated_by_its_info() -> None:
    """The seed and replication of `info` and the same actions repeat an episode elsewhere, and the
    next one is another: what a paper reports can be checked."""
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (150, 1))
    env = in_tcp()
    first, second = played(env, actions, seed=11), played(env, actions)
    assert first[1:] != second[1:]
    *_, info = env.step(actions[0])
    again = {"seed": info["seed"], "options": {"replication": info["replication"]}}
    assert again == {"seed": 11, "options": {"replication": 1}}
    assert played(in_tcp(observe=QUEUE), actions, **again) == second


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_vector_is_so_many_environments(threads: int) -> None:
    """A vector environment gives what as many single ones do, number by number, through the end of
    episodes and the next ones, in however many threads."""
    count = 5
    rng = np.random.default_rng(2)
    many = in_tcp(count, threads=threads, copy=False, inform=QUEUE)
    single = [in_tcp(inform=QUEUE) for _ in range(count)]
    observations, infos = many.reset(seed=40)
    buffer = observations
    given = [env.reset(seed=40 + at) for at, env in enumerate(single)]
    over = [False] * count
    for step in range(230):
        for at, (observation, info) in enumerate(given):
            assert np.array_equal(observations[at], observation), (step, at)
            assert all(infos[key][at] == value for key, value in info.items()), (step, at)
        actions = rng.uniform(-1, 1, (count, 1))
        observations, rewards, terminated, truncated, infos = many.step(actions)
        for at, env in enumerate(single):
            if over[at]:
                given[at], reward, ended, cut = env.reset(), 0.0, False, False
            else:
                observation, reward, ended, cut, info = env.step(actions[at])
                given[at] = (observation, info)
            assert (rewards[at], terminated[at], truncated[at]) == (reward, ended, cut), (step, at)
            over[at] = ended or cut
    assert set(infos["replication"]) == {1}
    assert observations is buffer
    assert many.observation_space.contains(observations)


def test_a_vector_draws_replications_of_one_seed() -> None:
    """Without a seed the networks of a vector are replications of the scenario, each once, also
    after a reset and for some of them: a batch is a sample and no repetition."""
    many = in_tcp(3)
    _, infos = many.reset()
    assert (list(infos["replication"]), set(infos["seed"])) == ([0, 1, 2], {7})
    _, infos = many.reset()
    assert list(infos["replication"]) == [3, 4, 5]
    _, infos = many.reset(options={"reset_mask": np.array([False, True, False])})
    assert list(infos["replication"]) == [3, 7, 5]
    _, infos = many.reset(options={"replication": 20})
    assert list(infos["replication"]) == [20, 21, 22]
    _, infos = many.reset(seed=[1, None, 5])
    assert list(zip(infos["seed"], infos["replication"], strict=True)) == [(1, 0), (7, 24), (5, 0)]


def test_arrays_are_copied_if_asked() -> None:
    """Arrays that a step returned stay as they are, unless copies were declined."""
    for copy in (True, False):
        many = in_tcp(2, copy=copy, normalize=False)
        first, _ = many.reset(seed=1)
        for _ in range(10):
            second, *_ = many.step(np.full((2, 1), 10.0))
        assert (first is second) is not copy
        assert bool(first.any()) is not copy


def test_steps_show_what_a_control_needs() -> None:
    """What a congestion control needs to know is there and consistent: at a window above what the
    path holds, the rate is that of the link's share, the round-trip time exceeds that of the path,
    and data in flight are the window."""
    env = in_tcp(normalize=False, every="100 ms", bounds=(1, 200))
    env.reset(seed=1)
    for _ in range(15):
        seen, *_ = env.step([40.0])
    rate, rtt, least, losses, flight, window = seen
    # 7 Mbit/s are left beside the datagrams on average; headers take some.
    assert 4e6 < rate < 10e6
    assert 0.02 < least < rtt < 0.1
    assert window == 40
    assert flight <= 40
    assert losses >= 0
    # Little's law over the step, with acknowledgements that come a little later than data.
    assert rate * rtt / (8 * 1448) == pytest.approx(40, rel=0.15)


def test_actions_have_bounds_of_the_path() -> None:
    """Bounds follow the path unless given: four times what it holds, and shares of its rate."""
    env = in_tcp(act=["cwnd", "rate"], normalize=False)
    assert env.action_names == ["flows.bulk.tcp.cwnd", "flows.bulk.tcp.rate"]
    # 20 ms and the 1.2 ms of a packet of 1500 B, at 10 Mbit/s: 26500 B, 18.3 segments of 1448 B.
    assert list(env.action_space.low) == [1.0, 1e5]
    assert list(env.action_space.high) == [74.0, 2e7]
    both = [(2, 30), None]
    env = in_tcp(act=["cwnd", "rate"], bounds=both, normalize=False)
    assert list(env.action_space.high) == [30.0, 2e7]


def test_weights_and_shapers_and_the_way_back() -> None:
    """Schedulers are steered by a weight for each class, and shapers by a rate, there and on the
    way back."""
    net = network()
    classes = [queue.droptail(limit="20 packets"), queue.droptail(limit="20 packets")]
    law = queue.stfq(classes=classes, classify="precedence")
    net.set("links.bn.queue", law)
    net.set("flows.chatter.precedence", 1)
    acts = {"acts_on": ["links.bn.queue", "links.bn.reverse.shaper"], "act": ["weights", "rate"]}
    env = at_queue(net, **acts)
    names = ["links.bn.queue.weights.0", "links.bn.queue.weights.1"]
    assert env.action_names == [*names, "links.bn.reverse.shaper.rate"]
    env.reset(seed=1)
    seen, *_ = env.step([1.0, 1.0, 1e6])
    assert seen.shape == (3,)


def test_several_learners_share_a_network() -> None:
    """Several learners pass PettingZoo's test, and act on one network: its digest is that of one
    agent with the actions of both."""
    pettingzoo = pytest.importorskip("pettingzoo.test")
    learners = {
        "queue": Learner("links.bn.queue", QUEUE, "links.bn.utilization"),
        "sender": Learner(
            "flows.bulk.tcp",
            FLOW,
            lambda values: -values["flows.bulk.mean_rtt_s"],
            ["cwnd", "rate"],
        ),
    }
    env = forebay.gym.parallel(network("300 ms"), learners)
    pettingzoo.parallel_api_test(env, num_cycles=50)
    _, infos = env.reset(seed=3)
    one = at_queue(
        network("300 ms"),
        acts_on=["links.bn.queue", "flows.bulk.tcp", "flows.bulk.tcp"],
        act=["drop_probability", "cwnd", "rate"],
    )
    _, info = one.reset(seed=3)
    while env.agents:
        assert infos["sender"] == info
        actions = {"queue": [0.01], "sender": [20.0, 5e6]}
        seen, rewards, _, _, infos = env.step(actions)
        alone, *_, info = one.step([0.01, 20.0, 5e6])
        assert np.array_equal(seen["queue"], alone)
    assert infos["queue"] == info
    assert rewards["sender"] == -seen["sender"][1]
    with pytest.raises(UserError, match="reset first"):
        env.step({})


def test_series_lists_what_can_be_observed() -> None:
    """Every series that is listed can be observed, and has a unit and a meaning unless a law alone
    knows it."""
    listed = forebay.gym.series(network(), acts_on="flows.bulk.tcp")
    assert set(QUEUE + FLOW) <= set(listed)
    assert forebay.gym.series(network()).keys() < listed.keys()
    assert listed["flows.bulk.mean_rtt_s"][0] == "s"
    env = in_tcp(observe=list(listed))
    env.reset()
    seen, *_ = env.step([0.0])
    assert seen.shape == (len(listed),)
    assert all(told for name, (_, told) in listed.items() if name in QUEUE + FLOW)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"acts_on": "links.bm.queue"}, ['did you mean "links.bn.queue"', "flows.bulk.tcp"]),
        ({"acts_on": "flows.chatter.tcp"}, ["flows.chatter has udp"]),
        ({"act": "drop_probabilty"}, ['did you mean "drop_probability"']),
        ({"act": "weights"}, ["droptail, which has no classes"]),
        ({"act": ["drop_probability"] * 2}, ["decided twice"]),
        ({"acts_on": ["links.bn.queue"] * 3, "act": ["a", "b"]}, ["read 2 for 3 places"]),
        ({"observe": ["links.bn.drop"]}, ['did you mean "drops"', "links.bn has"]),
        ({"observe": ["flows.bulk.losses"]}, ["on which an agent acts"]),
        ({"observe": "links.bn.drops"}, ["a list of names"]),
        ({"observe": []}, ["at least one"]),
        ({"observe": {"links.bn.drops": 0}}, ["a number other than 0"]),
        ({"reward": "links.bn.goodput"}, ["unknown series"]),
        ({"reward": 7}, ["the name of a series"]),
        ({"reward": {"links.bn.drops": float("nan")}}, ["a finite number"]),
        ({"every": "10"}, ["every", '"rtt"']),
        ({"every": "rtt"}, ["no agent acts on flows"]),
        ({"every": 0.01}, ["every"]),
        ({"bounds": (0.5, 2)}, ["read 0.5 to 2", "from 0 to 1"]),
        ({"bounds": 3}, ["a lower and an upper bound"]),
        ({"bounds": [(0, 1), (0, 1)]}, ["a lower and an upper bound"]),
        ({"normalize": "logs"}, ['did you mean "log"']),
        ({"normalize": "log"}, ["bounds above 0"]),
        ({"scenario": 3}, ["a forebay.Network"]),
        ({"scenario": "missing.toml"}, ["no such file"]),
        ({"scenario": 'duration = "1 s"\n'}, ["links"]),
    ],
)
def test_slips_are_refused(changes: dict[str, Any], parts: list[str]) -> None:
    """A wrong argument is a `UserError` that says what was read and what is allowed."""
    with pytest.raises(UserError) as refused:
        at_queue(**changes)
    assert all(part in str(refused.value) for part in parts), str(refused.value)


def test_slips_in_steps_are_refused() -> None:
    """A step that cannot be made is refused with the reason, and the episode continues."""
    env, many = at_queue(), in_tcp(3)
    with pytest.raises(UserError, match="reset first"):
        env.step([0.0])
    env.reset()
    many.reset()
    with pytest.raises(UserError, match=r"drop_probability: read NaN; .* from 0 to 1"):
        env.step([float("nan")])
    with pytest.raises(UserError, match=r"environment 1: flows.bulk.tcp.cwnd"):
        many.step([[0.0], [float("nan")], [0.0]])
    *_, infos = many.step(np.zeros((3, 1)))
    assert list(infos["time_s"]) == [0.01] * 3
    for wrong in ([0.0, 1.0], "much"):
        with pytest.raises(UserError, match="allowed are 1 numbers"):
            env.step(wrong)
    env.step([0.0])
    with pytest.raises(UserError, match="replication"):
        env.reset(options={"replication": -1})
    with pytest.raises(UserError, match="below 2"):
        many.reset(seed=2**64)
    for n in (0, True, 1.5):
        with pytest.raises(UserError, match="whole numbers from 1"):
            in_tcp(n)
    at_end = at_queue(network("10 ms"))
    at_end.reset()
    assert at_end.step([0.0])[3]
    with pytest.raises(UserError, match="over: reset first"):
        at_end.step([0.0])


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who lacks PettingZoo or gymnasium reads what to install."""
    learners = {"queue": Learner("links.bn.queue", QUEUE, "links.bn.drops")}
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(ImportError, match="pip install pettingzoo"):
        forebay.gym.parallel(network(), learners)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for name in [name for name in sys.modules if name.startswith("forebay.gym")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install 'forebay\[gym\]'"):
        import_module("forebay.gym")
