"""Looks for a key that is not there when it is created."""

import forebay


@forebay.law(kind="queue", source="tests")
class raises_in_create:
    """A bad law."""

    def create(law, at):
        return {}["limit"]

    def enqueue(law, at):
        return 0
