"""Says nothing about which class is next."""

import forebay


@forebay.law(kind="scheduler", source="tests")
class returns_nothing:
    """A bad law."""

    def select(law, at):
        pass
