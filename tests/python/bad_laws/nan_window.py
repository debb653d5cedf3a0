"""Divides nothing by nothing, in its window."""

import math

import forebay


@forebay.law(kind="control", source="tests")
class nan_window:
    """A bad law."""

    def acknowledged(law, at):
        at.cwnd = math.inf - math.inf
