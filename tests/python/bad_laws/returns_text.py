"""Answers with a text."""

import forebay


@forebay.law(kind="queue", source="tests", compile="no")
class returns_text:
    """A bad law."""

    def enqueue(law, at):
        return "drop"
