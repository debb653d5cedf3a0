"""The learned control of `examples/gym`: training repeats, and its law is what was trained."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forebay import Network, control, queue, tcp, traffic

pytest.importorskip("gymnasium")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "gym"
LAW = FOLDER / "learned.py"

NETWORKS = ("alone", "losses", "datagrams", "cubic")


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script of the training, with the modules beside it, as its folder has them."""
    names = ("train", "policy", "weights")
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module("train")
    for name in names:
        monkeypatch.setitem(sys.modules, name, importlib.import_module(name))
    return module


def network(kind: str) -> Network:
    """A flow over 10 Mbit/s and 40 ms: without losses, with some, and beside other traffic."""
    net = Network(kind, duration="8 s")
    limit = {"losses": "8 packets", "cubic": "40 packets"}.get(kind, "100 packets")
    net.link("bn", "A", "B", rate="10 Mbit/s", delay="20 ms", queue=queue.droptail(limit=limit))
    net.flows("one", "A", "B", tcp=tcp(mss="1448 B"))
    if kind == "cubic":
        net.flows("other", "A", "B", tcp=tcp(control=control.cubic()))
    if kind == "datagrams":
        source = traffic.poisson(rate="2 Mbit/s", size="1000 B")
        net.flows("other", "A", "B", udp={}, traffic=source)
    return net


def environment(train: Any, kind: str) -> tuple[str, float, int]:
    """An episode under the policy: its digest, when the step of the first acknowledgement began,
    and the losses."""
    gym, policy = importlib.import_module("forebay.gym"), importlib.import_module("policy")
    weights = np.array(importlib.import_module("weights").WEIGHTS)[:, np.newaxis]
    names = [f"flows.one.{series}" for series in train.SERIES]
    env = gym.make(
        network(kind),
        acts_on="flows.one.tcp",
        act="cwnd",
        observe=names,
        reward=names[0],
        every="rtt",
        bounds=(policy.LEAST, policy.MOST),
    )
    steered = train.Flows(weights, (1, 1))
    _, info = env.reset()
    window, over, first, losses, then = steered.window[0], False, None, 0.0, 0.0
    while not over:
        seen, _, terminated, truncated, info = env.step(window)
        if first is None and seen[0] > 0:
            first = then
        losses += seen[train.SERIES.index("losses")]
        window = steered.act(seen.reshape(1, 1, -1), train.SEGMENT)[0]
        then, over = info["time_s"], terminated or truncated
    assert first is not None
    return info["digest"], first, int(losses)


RUN = """
import json, sys
from forebay import Network, control, laws
laws.load(sys.argv[1])
answer = []
for file, begins in json.loads(sys.stdin.read()):
    law = control.learned(begins=f"{round(begins * 1e12)} ps")
    found = Network.from_toml(file).set("flows.one.tcp.control", law).run()
    row = next(row for row in found.groups.to_pylist() if row["name"] == "one")
    answer.append([found.digests[0], row["timeouts"]])
print(json.dumps(answer))
"""


def law_runs(tmp_path: Path, begins: dict[str, float], mode: str) -> dict[str, tuple[str, int]]:
    """Digest and timeouts of runs of the law, interpreted (`no`) or compiled where numba is there
    (`auto`). They have a process of their own, as laws stay loaded."""
    files = []
    for kind, begin in begins.items():
        path = tmp_path / f"{kind}.toml"
        path.write_text(network(kind).to_toml(), encoding="utf-8")
        files.append((str(path), begin))
    words = [sys.executable, "-c", RUN, str(LAW)]
    given = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "FOREBAY_LAWS_COMPILE": mode}
    done = subprocess.run(
        words, input=json.dumps(files), capture_output=True, text=True, env=given, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(begins, map(tuple, json.loads(done.stdout)), strict=True))


def test_law_is_what_the_environment_trained(tmp_path: Path, train: Any) -> None:
    """The law does to the last bit what the policy does in the environment, interpreted and
    compiled: features, decisions and the moments at which windows change are the same, so that what
    the training reached holds for the law.

    Timeouts are the one thing that the law answers and the environment cannot, so there are none.
    """
    episodes = {kind: environment(train, kind) for kind in NETWORKS}
    assert episodes["alone"][2] == 0
    assert episodes["losses"][2] > 0
    begins = {kind: first for kind, (_, first, _) in episodes.items()}
    for mode in ("no", "auto"):
        runs = law_runs(tmp_path, begins, mode)
        for kind, (digest, _, _) in episodes.items():
            assert runs[kind] == (digest, 0), (kind, mode)


def test_training_repeats(train: Any) -> None:
    """Two generations give the same weights again, and others from another seed: no number of the
    training depends on threads or on time."""
    short = {"PAIRS": 3, "ROUNDS": 20, "KINDS": ("alone", "pair")}
    for name, value in short.items():
        setattr(train, name, value)
    reported: list[tuple[int, float]] = []
    first = train.train(2, 1, lambda *told: reported.append(told))
    assert [number for number, _ in reported] == [1, 2]
    assert np.array_equal(first, train.train(2, 1))
    assert not np.array_equal(first, train.train(2, 2))


def test_kept_weights_are_small_and_whole(train: Any) -> None:
    """The kept weights are as many as the policy has, below 100 kB, and say how they were made."""
    kept = importlib.import_module("weights")
    assert (FOLDER / "weights.py").stat().st_size < 100_000
    policy = importlib.import_module("policy")
    assert len(kept.WEIGHTS) == policy.SIZE == train.Strategy(1, 1).weights.size
    written = train.written(np.array(kept.WEIGHTS), train.GENERATIONS, train.SEED)
    assert written == (FOLDER / "weights.py").read_text(encoding="utf-8")


def test_policy_decides_within_its_bounds(train: Any) -> None:
    """Factors to the window are 1/2 to 2, and equal steps up and down cancel.

    By the definition: 1 + d up, 1 / (1 + |d|) down, for decisions -1 to 1, which softsign gives.
    """
    policy = importlib.import_module("policy")
    assert [policy.factor(each) for each in (-1.0, 0.0, 1.0)] == [0.5, 1.0, 2.0]
    decisions = np.linspace(-1, 1, 41)
    assert np.allclose(policy.factor(decisions) * policy.factor(-decisions), 1, rtol=1e-15)
    rng = np.random.default_rng(5)
    weights, seen = rng.normal(0, 10, policy.SIZE), rng.normal(0, 10, (policy.FEATURES, 100))
    assert np.all(np.abs(policy.decide(weights, seen)) < 1)
    one = [float(policy.decide(tuple(weights), tuple(column))) for column in seen.T]
    assert one == policy.decide(weights, seen).tolist()


def command(*words: str) -> str:
    """What the command line prints."""
    given = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "FOREBAY_LAWS_COMPILE": "no"}
    line = [sys.executable, "-m", "forebay", *words, "--laws", str(LAW)]
    done = subprocess.run(line, capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_law_keeps_all_invariants() -> None:
    """The law breaks no invariant, beside a CUBIC flow and with a buffer that loses packets."""
    shorter = ["duration='5 s'", "warm_up='1 s'", "links.line.queue.droptail.limit='20 packets'"]
    changes = [word for change in shorter for word in ("--set", change.replace("'", '"'))]
    law = ("--set", 'flows.flow.tcp.control="learned"')
    assert "none broken" in command("run", str(FOLDER / "rival.toml"), *law, *changes, "--check")


@pytest.mark.long
@pytest.mark.parametrize("name", ["compare", "together", "against-cubic"])
def test_comparisons_can_be_repeated(name: str, tmp_path: Path) -> None:
    """The sweeps that README.md quotes run: each network with each control."""
    short = ['duration="1 s"', 'warm_up="0.4 s"', 'flows.flow.start="0 s"']
    if name == "against-cubic":
        short.append('flows.rival.start="0 s"')
    changes = [word for change in short for word in ("--set", change)]
    out = command("sweep", str(FOLDER / f"{name}.toml"), "--out", str(tmp_path / "out"), *changes)
    for law in ("learned", "cubic", "bbr3"):
        assert law in out
