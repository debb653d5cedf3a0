"""Divides by zero when a packet arrives."""

import forebay


@forebay.law(kind="queue", source="tests")
class raises:
    """A bad law."""

    def enqueue(law, at):
        return 1 // at.waiting_packets
