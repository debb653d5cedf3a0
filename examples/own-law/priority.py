"""Strict priority over classes, as a scheduler of one's own."""

import forebay
from forebay.laws import Probe


@forebay.law(
    kind="scheduler",
    source="Cobham, Operations Research 2(1), 1954",
    example="""
        classes = [{ droptail = { limit = "9 kB" } }, { red = { limit = "25 packets" } }]
        classify = "precedence"
    """,
)
class my_priority:
    """Strict priority, without preemption: lower classes are served first.

    served_first (packets): Packets of the first class that were sent.
    """

    served_first: Probe[int]

    def select(law, at):
        for number in range(at.classes):
            if at.active >> number & 1:
                return number
        return 0

    def served(law, at):
        law.served_first += at.class_number == 0
