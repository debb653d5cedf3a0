"""Answers with a negative number."""

import forebay


@forebay.law(kind="queue", source="tests")
class returns_minus_5:
    """A bad law."""

    def enqueue(law, at):
        return -5
