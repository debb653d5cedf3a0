"""The pages whose source is the program."""

from __future__ import annotations

from forebay.scenario.catalogue import catalogue
from manual.conformance import conformance, language
from manual.mechanisms import mechanisms
from manual.program import command_line, invariants
from manual.results import results
from manual.vectors import vectors

__all__ = ["reference"]


def reference() -> dict[str, str]:
    """The Markdown of every page, by file name without its suffix, in the order of navigation."""
    return {
        **mechanisms(catalogue()),
        "command-line": command_line(),
        "results": results(),
        "invariants": invariants(),
        "tcp-conformance": conformance(),
        "tcp-scripts": language(),
        "vectors": vectors(),
    }
