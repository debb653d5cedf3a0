"""Laws of one's own: in Python, or as libraries by the interface of `forebay_law.h`.

    import forebay
    from forebay.laws import PASS, DROP_EARLY, Length, Probe, happens

    @forebay.law(kind="queue", source="Hashem 1989", draws=True)
    class early_random:
        \"""Drops with a fixed probability while the queue is longer than a threshold.

        threshold: Queue from which on packets are dropped.
        probability: Probability with which each is, 0 to 1.
        drops (packets): Packets dropped since the start of the run.
        \"""

        threshold: Length = "10 packets"
        probability: float = 0.02
        drops: Probe[int]

        def enqueue(law, at):
            if at.waiting_packets < law.threshold or not happens(at, law.probability):
                return PASS
            law.drops += 1
            return DROP_EARLY

From then on scenarios choose it by its name, in Python as `forebay.queue.early_random(...)`. The
methods of each kind, and the facts that `at` has, are those of the header (`header()`); a method
that returns nothing decides 0. Methods see no time but `at.now`, and keep what they remember in
the state alone: networks run side by side.

Where numba is installed (`pip install 'forebay[laws]'`) methods are compiled, with the functions of
the module that they call; else, or if it cannot, the interpreter runs them, to the same digest. Two
differences are left: whole numbers of more than 64 bits, which Python has and compiled laws have
not, and the division or comparison of whole numbers above 2^53 with fractions, which Python does
exactly. `create` is run by the interpreter where it alone cannot be compiled.
"""

from __future__ import annotations

from forebay.laws.decorator import add, law
from forebay.laws.helpers import (
    below,
    cbrt,
    drop,
    exp,
    exp_m1,
    exponential,
    happens,
    ln,
    ln_1p,
    normal,
    power,
    refuse,
    seconds,
    span,
    sqrt,
    uniform,
)
from forebay.laws.loading import Law, LawWarning, header, load, loaded
from forebay.laws.numbers import (
    ACK,
    CORRUPTED,
    DATA,
    DELAYED,
    DOUBLED,
    DROP_EARLY,
    DROP_FORCED,
    DROP_OVERFLOW,
    LOST_ON_WIRE,
    MARK,
    NEVER,
    NO_CLASS,
    NONE,
    NOTIFICATION,
    PASS,
    PASSES,
    POLICE,
    PROBE,
    REPORT,
    RESOURCE_CELL,
    SECOND,
    SEND,
    SEND_MARKED,
    SIGNAL_ECN,
    SIGNAL_LOSS,
    SIGNAL_TIMEOUT,
    SIGNAL_TIMEOUT_AGAIN,
)
from forebay.laws.types import Frequency, Length, Probe, Rate, Size, Span, State, Time

__all__ = [
    "ACK",
    "CORRUPTED",
    "DATA",
    "DELAYED",
    "DOUBLED",
    "DROP_EARLY",
    "DROP_FORCED",
    "DROP_OVERFLOW",
    "LOST_ON_WIRE",
    "MARK",
    "NEVER",
    "NONE",
    "NOTIFICATION",
    "NO_CLASS",
    "PASS",
    "PASSES",
    "POLICE",
    "PROBE",
    "REPORT",
    "RESOURCE_CELL",
    "SECOND",
    "SEND",
    "SEND_MARKED",
    "SIGNAL_ECN",
    "SIGNAL_LOSS",
    "SIGNAL_TIMEOUT",
    "SIGNAL_TIMEOUT_AGAIN",
    "Frequency",
    "Law",
    "LawWarning",
    "Length",
    "Probe",
    "Rate",
    "Size",
    "Span",
    "State",
    "Time",
    "add",
    "below",
    "cbrt",
    "drop",
    "exp",
    "exp_m1",
    "exponential",
    "happens",
    "header",
    "law",
    "ln",
    "ln_1p",
    "load",
    "loaded",
    "normal",
    "power",
    "refuse",
    "seconds",
    "span",
    "sqrt",
    "uniform",
]
