"""Answers with a verdict that there is not."""

import forebay


@forebay.law(kind="queue", source="tests")
class returns_7:
    """A bad law."""

    def enqueue(law, at):
        return 7
