"""Takes more from the window than there is."""

import forebay


@forebay.law(kind="control", source="tests")
class negative_window:
    """A bad law."""

    def acknowledged(law, at):
        at.cwnd -= 100 * at.smss
