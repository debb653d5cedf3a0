"""The policy: what a round trip of a flow looks like, and by which factor it changes the window.

Training (`train.py`) and law (`learned.py`) call these functions, the one with arrays that hold a
number for each network, the other with numbers. They consist of sums, products and quotients alone,
so that both get the same digits, interpreted or compiled.
"""

FEATURES = 6
UNITS = 8
SIZE = UNITS * (FEATURES + 2) + 1
"""Number of weights: for each hidden unit its bias, one for each feature and that of its output;
then the bias of the output."""

INITIAL = 10.0
"""Window that a flow begins with, in segments (RFC 6928)."""
LEAST = 2.0
MOST = 2000.0
"""Least and greatest window, in segments."""


def squash(x):
    """Softsign, x / (1 + |x|): like tanh from -1 to 1, without an exponential (Glorot and Bengio,
    AISTATS 2010, section 3)."""
    return x / (1.0 + abs(x))


def waiting(mean_rtt, min_rtt):
    """Share of a round trip that was spent in queues, 0 to 1."""
    return 1.0 - min_rtt / mean_rtt


def features(queued, before, loss, rate, min_rtt, cwnd, last):
    """What the policy sees of the round trip that has ended, each about -1 to 1.

    `queued` and `before` are `waiting` of this one and of that before it, `loss` the share of
    segments found to be lost, `rate` the data delivered in segments per second, `min_rtt` the least
    round-trip time so far in seconds, `cwnd` the window in segments, `last` the decision before.
    The fifth is the flow's own packets in the queue, by which Vegas goes (Brakmo, O'Malley and
    Peterson, SIGCOMM 1994, section 3.2): they alone differ between flows that share a queue.
    """
    filled = rate * min_rtt / cwnd
    own = cwnd * queued
    return (
        queued,
        4.0 * (queued - before),
        loss / (loss + 0.05),
        filled / (1.0 + filled),
        own / (own + 10.0),
        last,
    )


def decide(weights, seen):
    """The decision, -1 to 1: one hidden layer over what is seen."""
    total = weights[SIZE - 1]
    for unit in range(UNITS):
        first = unit * (FEATURES + 2)
        level = weights[first]
        for place in range(FEATURES):
            level = level + weights[first + 1 + place] * seen[place]
        total = total + weights[first + 1 + FEATURES] * squash(level)
    return squash(total)


def factor(decision):
    """Factor to the window: 1 + d to grow by a decision d, and 1 / (1 + |d|) to shrink by it, as in
    Aurora (Jay et al., ICML 2019, section 4.1), though by up to 2 there as in slow start."""
    up = 0.5 * (abs(decision) + decision)
    down = 0.5 * (abs(decision) - decision)
    return (1.0 + up) / (1.0 + down)
