"""A congestion control learned by an evolution strategy, in NumPy.

    python examples/gym/train.py                    # writes weights.py beside it
    python examples/gym/train.py --generations 2 --out other.py

Each generation draws networks, and tries pairs of weights around the present ones on all of them:
weights + s e and weights - s e for the same normal e (antithetic sampling). The weights move along
the sum of e, weighted by centred ranks of what was achieved (Salimans, Ho, Chen, Sidor and
Sutskever, Evolution Strategies as a Scalable Alternative to Reinforcement Learning,
arXiv 1703.03864). All draws come from `SEED`, and no number depends on threads or on time: the same
generations give the same weights.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import policy
from numpy.typing import NDArray

from forebay import Network, control, queue, tcp, traffic
from forebay.gym import make_vec

HERE = Path(__file__).resolve().parent
Floats = NDArray[np.float64]

SEED = 1
PAIRS = 20
"""Pairs of weights in a generation."""
SPREAD = 0.15
"""Standard deviation of a weight around the present one."""
STEP = 0.06
"""Size of a step of Adam (Kingma and Ba, ICLR 2015), which falls to a tenth of it."""
GENERATIONS = 300

KINDS = ("alone", "alone", "datagrams", "pair", "pair", "cubic")
"""What a generation's networks have beside the flow, each once: nothing, Poisson datagrams, a flow
that learns as well and begins later, a CUBIC flow."""

ROUNDS = 100
"""Round trips, without queueing, that each network is simulated for."""

LATENCY = 0.5
LOSS = 10.0
"""Weights of delay and loss in what is to be achieved."""


@dataclass(frozen=True)
class Drawn:
    """A network of the training. Rate in bit/s, round-trip time without queueing in s, buffer in
    bandwidth-delay products, datagrams as a share of the rate."""

    kind: str
    rate: float
    rtt: float
    buffer: float
    share: float
    seed: int

    @classmethod
    def draw(cls, kind: str, rng: np.random.Generator) -> Drawn:
        """5 to 50 Mbit/s, 20 to 100 ms and 0.5 to 4 bandwidth-delay products, in equal ratios."""
        rate = 5e6 * 10 ** rng.uniform()
        rtt = 0.02 * 5 ** rng.uniform()
        buffer = 0.5 * 8 ** rng.uniform()
        return cls(kind, rate, rtt, buffer, rng.uniform(0.1, 0.4), int(rng.integers(2**31)))

    @property
    def learners(self) -> list[str]:
        """Flows that the policy steers."""
        return ["one", "two"] if self.kind == "pair" else ["one"]

    def network(self) -> Network:
        """The network, for `ROUNDS` round trips."""
        duration = ROUNDS * self.rtt
        net = Network("training", duration=f"{duration:.6f} s", seed=self.seed)
        limit = max(10, round(self.buffer * self.rate * self.rtt / 12000))
        net.link(
            "bn",
            "A",
            "B",
            rate=f"{round(self.rate)} bit/s",
            delay=f"{1e6 * self.rtt / 2:.0f} us",
            queue=queue.droptail(limit=f"{limit} packets"),
        )
        for place, name in enumerate(self.learners):
            start = place * 0.3 * duration
            net.flows(name, "A", "B", tcp=tcp(mss="1448 B"), start=f"{start:.6f} s")
        if self.kind == "cubic":
            net.flows("other", "A", "B", tcp=tcp(control=control.cubic()))
        if self.kind == "datagrams":
            source = traffic.poisson(rate=f"{round(self.share * self.rate)} bit/s", size="1000 B")
            net.flows("other", "A", "B", udp={}, traffic=source)
        return net


SERIES = ("delivery_rate_bps", "mean_rtt_s", "min_rtt_s", "loss_share", "losses", "cwnd_packets")


class Flows:
    """What the policy does in a vector environment, round trip by round trip."""

    def __init__(self, weights: Floats, shape: tuple[int, int]) -> None:
        self.weights = weights[:, :, np.newaxis]
        self.before = np.zeros(shape)
        self.last = np.zeros(shape)
        self.window = np.full(shape, policy.INITIAL)

    def act(self, seen: Floats, segment: float) -> Floats:
        """The windows for the next step, after one in which `seen` (networks, flows, series) was
        observed. Where nothing arrived and nothing was lost, nothing changes."""
        rate, mean, least, loss, lost, _ = np.moveaxis(seen, 2, 0)
        told = ((rate > 0) | (lost > 0)) & (mean > 0)
        queued = policy.waiting(np.where(told, mean, 1.0), np.where(told, least, 1.0))
        found = policy.features(
            queued, self.before, loss, rate / 8.0 / segment, least, self.window, self.last
        )
        decision = policy.decide(self.weights, found)
        window = np.clip(self.window * policy.factor(decision), policy.LEAST, policy.MOST)
        self.window = np.where(told, window, self.window)
        self.before = np.where(told, queued, self.before)
        self.last = np.where(told, decision, self.last)
        return self.window


def utility(seen: Floats, capacity: float) -> Floats:
    """What a step achieved, for each network and flow.

    The logarithm of throughput less that of delay, as in Remy (Winstein and Balakrishnan, SIGCOMM
    2013, section 3.3, with alpha = beta = 1 and delta = 0.5), less ten times the share of losses: a
    hundredth of loss is worth a tenth of throughput. With logarithms equal shares are best (Kelly,
    Maulloo and Tan, 1998).
    """
    rate, mean, least, loss, lost, _ = np.moveaxis(seen, 2, 0)
    delay = np.where(mean > 0, mean, 1.0) / np.where(least > 0, least, 1.0)
    share = np.where((rate > 0) | (lost > 0), loss, 0.0)
    return np.asarray(np.log(0.01 + rate / capacity) - LATENCY * np.log(delay) - LOSS * share)


SEGMENT = 1448.0
"""Data of a segment, in bytes."""


def achieved(drawn: Drawn, weights: Floats) -> Floats:
    """What each column of `weights` achieves in a network: utility, averaged over time and flows.

    All columns see the same draws.
    """
    flows, count = drawn.learners, weights.shape[1]
    names = [f"flows.{flow}.{series}" for flow in flows for series in SERIES]
    bounds = (policy.LEAST, policy.MOST)
    many: Any = make_vec(
        drawn.network(),
        count,
        acts_on=[f"flows.{flow}.tcp" for flow in flows],
        act=["cwnd"] * len(flows),
        observe=names,
        reward={names[0]: 1.0},
        every="rtt",
        bounds=bounds if len(flows) == 1 else [bounds] * len(flows),
        copy=False,
    )
    shape = (count, len(flows))
    steered = Flows(weights, shape)
    _, infos = many.reset(seed=[drawn.seed] * count)
    total, begun = np.zeros(shape), np.zeros(shape)
    running, then, windows = np.ones(count, dtype=bool), np.zeros(count), steered.window
    while running.any():
        seen, _, terminated, truncated, infos = many.step(windows)
        series = seen.reshape(count, len(flows), len(SERIES))
        # A flow counts from the first round trip in which it delivers.
        begun = np.maximum(begun, series[:, :, 0] > 0)
        length = (infos["time_s"] - then) * running
        then = infos["time_s"].copy()
        total += utility(series, drawn.rate) * length[:, np.newaxis] * begun
        windows = steered.act(series, SEGMENT)
        running &= ~(terminated | truncated)
    many.close()
    return np.asarray(total.mean(axis=1) / (ROUNDS * drawn.rtt))


def ranks(values: Floats) -> Floats:
    """Centred ranks, -0.5 to 0.5."""
    placed = np.empty(len(values))
    placed[np.argsort(values, kind="stable")] = np.arange(len(values))
    return placed / (len(values) - 1) - 0.5


class Strategy:
    """The evolution strategy: present weights, and the moments of Adam."""

    def __init__(self, seed: int, generations: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.generations = generations
        self.weights: Floats = self.rng.normal(0.0, 0.7, policy.SIZE)
        # Outputs of nothing: to begin with the window stays as it is.
        self.weights[policy.FEATURES + 1 :: policy.FEATURES + 2] = 0.0
        self.weights[-1] = 0.0
        self.mean = np.zeros(policy.SIZE)
        self.square = np.zeros(policy.SIZE)

    def generation(self, number: int) -> float:
        """One generation, from 1; returns what was achieved in the mean."""
        noise = self.rng.normal(size=(policy.SIZE, PAIRS))
        noise = np.concatenate([noise, -noise], axis=1)
        tried = self.weights[:, np.newaxis] + SPREAD * noise
        values = [achieved(Drawn.draw(kind, self.rng), tried) for kind in KINDS]
        # By rank in each network, so that none counts for more.
        worth = np.mean([ranks(each) for each in values], axis=0)
        gradient = noise @ worth / (len(worth) * SPREAD)
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.99 * self.square + 0.01 * gradient**2
        step = STEP * (1 - 0.9 * number / self.generations)
        mean, square = self.mean / (1 - 0.9**number), self.square / (1 - 0.99**number)
        self.weights = self.weights + step * mean / (np.sqrt(square) + 1e-8)
        return float(np.mean(values))


def train(generations: int, seed: int = SEED, report: Any = None) -> Floats:
    """The weights after so many generations. `report` is called with each and what it achieved."""
    strategy = Strategy(seed, generations)
    for number in range(1, generations + 1):
        mean = strategy.generation(number)
        if report is not None:
            report(number, mean)
    return strategy.weights


def written(weights: Floats, generations: int, seed: int) -> str:
    """The weights as a module."""
    lines = [
        f'"""Weights of the policy: {generations} generations of train.py from seed {seed}."""',
        "",
        "WEIGHTS = (",
        *(f"    {weight:.6f}," for weight in weights),
        ")",
    ]
    return "\n".join(lines) + "\n"


def main(given: Sequence[str] | None = None) -> int:
    """Train, and write the weights."""
    about = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--generations", type=int, default=GENERATIONS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=HERE / "weights.py")
    options = parser.parse_args(given)
    begun = time.monotonic()
    recent: list[float] = []

    def report(number: int, mean: float) -> None:
        recent.append(mean)
        if number % 10 == 0 or number == options.generations:
            passed = time.monotonic() - begun
            mean = float(np.mean(recent))
            print(f"generation {number:4}: {mean:7.3f} in the mean, {passed:4.0f} s", flush=True)
            recent.clear()

    weights = train(options.generations, options.seed, report)
    options.out.write_text(written(weights, options.generations, options.seed), encoding="utf-8")
    print(f"{options.out}: {len(weights)} weights")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
